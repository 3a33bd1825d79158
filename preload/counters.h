/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether this process opens LIKWID markers, from its environment to what the collector finds.
 *
 *	cm_counters_start()	constructor, and after every dlopen: once a region wants markers and
 *				the marker environment (likwid-perfctr -m) is there, callmark-reader
 *				--check is asked, LIKWID loaded and initialised: about a second
 *	cm_counters_append()	the process file has just been made: say how it stands
 *	cm_counters_close()	destructor or exit work: snapshots, then LIKWID writes its file
 *
 * Never fails the program: what goes wrong becomes a line on stderr and in the file. A forked
 * child, and a process below one that has markers open, has none.
 */
#ifndef CALLMARK_PRELOAD_COUNTERS_H
#define CALLMARK_PRELOAD_COUNTERS_H

#include <stdint.h>

/* No lock held, signals as they are; not from hooks. */
void cm_counters_start(void);

/* Process lock held, signals blocked. */
void cm_counters_append(void);

/* counters-close.c: a new state, and why (NULL: as before). Signals blocked, process lock not held.
 */
void cm_counters_set(uint32_t state, const char *reason);

/* At most once a process. No lock held; not from hooks. */
void cm_counters_close(void);

#endif
