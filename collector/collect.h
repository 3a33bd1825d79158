/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collector's command line, which the preload (at exit), `callmark run` and `callmark recover`
 * use. A contract header: nothing but this description and the exit codes.
 *
 *	callmark-collect [--output=PATH] [--compress=HOW] [--progress] [--keep] [--only-main] DIR...
 *	callmark-collect --run [the same options] RUN_DIR...
 *
 * DIR is the spool of one process (preload/spool.h). Each is folded into its file and removed
 * (unless --keep). Without --output the path comes from the spool (CALLMARK_OUTPUT of the target),
 * %r %p %h replaced. Which name a process gets (design: "Runs and files"):
 *   - a process with a launcher's rank joins the main name as that rank, unless `run` itself is
 *     inside the rank (CALLMARK_RANKED in the spool's environment) and started another process;
 *   - without a rank: the process `run` started, or without `run` the first one, has the main name;
 *   - all others, and a second process of a rank: <stem>.<exe>-<pid>.h5.
 * Every file made is noted in <run folder>/outputs, a line each: rank TAB pid TAB main(0|1) TAB
 *path.
 *
 * --run takes over every process folder of a run whose process has ended (pid and start time), the
 * one that `run` started first; then, when no process got the main name, renames the first other
 * one (serial) to it; completes a rank file that waits for ranks that will not come; and removes
 * the run folder when it is empty of spools. Spools of living processes are left alone.
 *
 * Without --run, for a process that lives (it waits at its exit), also what that process left when
 * it executed other programs, and, when its `run` has ended before it, what is left of that run.
 *
 * A spool that another user owns or can write is refused. Messages: one line on stderr each,
 * "callmark-collect: ...", only when something is wrong; they name the spool that is kept and say
 * `callmark recover DIR`.
 */
#ifndef CALLMARK_COLLECTOR_COLLECT_H
#define CALLMARK_COLLECTOR_COLLECT_H

enum cm_collect_exit {
	CM_COLLECT_OK = 0,
	CM_COLLECT_FAILED = 1, /* at least one spool could not be taken over; it is kept */
	CM_COLLECT_USAGE = 2,
};

#endif
