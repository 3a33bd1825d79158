/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a process: freeze the spool, have the collector take it over, wait for it.
 *
 * Invisible to the program: no signal, no child that wait() finds, no output, no change of its exit
 * status. At most once a process; a forked child that recorded nothing and a vfork child do
 * nothing.
 */
#ifndef CALLMARK_PRELOAD_EXIT_H
#define CALLMARK_PRELOAD_EXIT_H

#include <stdbool.h>

/* Register the handlers that run after everything of the program's. Init only. */
int cm_exit_init(void);

/*
 * The process goes on, the recording does not: collect what there is, with a note that says why,
 * and make no system call from then on. Any thread; not in a hook.
 */
void cm_exit_stop(const char *why);

/* What the program calls through patched slots. */
void cm_exit_now(int status) __attribute__((noreturn));	  /* _exit, _Exit */
void cm_exit_quick(int status) __attribute__((noreturn)); /* quick_exit */

/*
 * exit-collect.c: run callmark-collect on the spool folder and wait. 0, its exit status, or a
 * negative errno: it could not be started, or (-ECHILD) was killed.
 */
int cm_exit_collect(const char *collect, const char *folder);

/* Environment of the collector, made at start-up: while `environ` can still be trusted. */
void cm_exit_keep_environment(char **envp);
char *const *cm_exit_environment(void);

#endif
