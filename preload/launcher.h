/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The programs that start the ranks of a parallel run: who they are, and the run that they make.
 *
 * A contract header: the preload leaves them alone, `callmark run` inside of a rank asks for the
 * run's id as well. No allocation, no stdio. Init only.
 */
#ifndef CALLMARK_PRELOAD_LAUNCHER_H
#define CALLMARK_PRELOAD_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is this process a launcher, a daemon of one, or a shell or interpreter that runs a script of one
 * (likwid-mpirun's among them)? Such a process records nothing. executable: its base name.
 */
bool cm_launcher_is(const char *executable, int argc, char *const *argv);

/*
 * One id for all ranks of a launcher's job: what the launcher's environment says
 * (cm_spool_launcher_run_id), except that MPICH's Hydra, which says nothing there, is known by the
 * port that its proxies on all nodes are connected to; else, for a process with a rank, the nearest
 * launcher among its ancestors, which is the same for the ranks of one node. "" and 0 where
 * this is no parallel run. get(ctx, name) is as getenv. Cut at n_bytes - 1. Returns the length.
 */
size_t cm_launcher_run_id(const char *(*get)(void *ctx, const char *name), void *ctx, char *buf,
			  size_t n_bytes);

#endif
