/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A damaged file must be one clear line, also where the HDF5 library itself crashes or hangs on it
 * (1.10 does, on 8 % of the files with a few bytes changed in their headers).
 *
 *	cm_guard_arm(path, CM_GUARD_SECONDS);
 *	... make the library read; cm_guard_go_on() after every piece of long work ...
 *	cm_guard_disarm();
 *
 * While armed, SIGSEGV, SIGBUS, SIGFPE, SIGABRT and the end of the time print "callmark: PATH:
 * damaged: ..." and end the process with CM_EXIT_FAILED; what stands in stdio buffers is lost. The
 * time is user CPU time, so that slow storage and a busy machine do not count.
 * A core dump of our own faults is to be had with CALLMARK_VERBOSE set: then nothing is armed.
 * No errors: without memory for the line, nothing is armed. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_GUARD_H
#define CALLMARK_CLI_GUARD_H

/* Opening takes less than 1 ms a region. */
#define CM_GUARD_SECONDS 120u

void cm_guard_arm(const char *path, unsigned n_seconds);
/* The time starts anew. Nothing happens while nothing is armed. */
void cm_guard_go_on(void);
void cm_guard_disarm(void);

#endif
