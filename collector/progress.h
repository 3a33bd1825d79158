/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One line on stderr that says how far long work is, on a terminal only, rewritten in place.
 *
 *	cm_progress_start(&progress, is_wanted, "collecting", total);
 *	cm_progress_add(&progress, n);          often: it looks at the clock itself
 *	cm_progress_stop(&progress);            the line is gone
 *
 * A zeroed struct is silent. Threads: one at a time. Nothing can fail.
 */
#ifndef CALLMARK_COLLECTOR_PROGRESS_H
#define CALLMARK_COLLECTOR_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cm_progress {
	bool is_shown;
	bool has_line;
	const char *what;
	uint64_t total;
	uint64_t n_done;
	int64_t next_ns; /* not before then again */
};

/* what is borrowed until stop; total in any unit, 0: no percentage. */
void cm_progress_start(struct cm_progress *progress, bool is_wanted, const char *what,
		       uint64_t total);
void cm_progress_add(struct cm_progress *progress, uint64_t n);
void cm_progress_stop(struct cm_progress *progress);

#endif
