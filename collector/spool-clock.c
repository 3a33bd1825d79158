/* SPDX-License-Identifier: BSD-3-Clause */
/* One more point, taken now, is the best rate there is: its baseline is as long as can be. */
#include "collector/spool-clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MIN_SPAN_NS INT64_C(1000000)	  /* points closer together tell no rate */
#define MAX_STEP_NS INT64_C(120000000000) /* by which the wall clock may have been set since */

/* CLOCK_MONOTONIC began at this boot, so its distance to the wall clock tells boots apart. */
static bool is_this_boot(const struct cm_spool_reader *reader, int64_t offset_ns)
{
	const struct cm_spool_process *process = &reader->process;
	int64_t then_ns = (int64_t)(process->start_realtime_ns - process->start_mono_ns);
	char here[256] = "";
	int64_t step_ns;

	if (gethostname(here, sizeof(here) - 1) < 0 ||
	    (*reader->hostname && strcmp(here, reader->hostname)))
		return false;
	return !__builtin_sub_overflow(offset_ns, then_ns, &step_ns) && step_ns < MAX_STEP_NS &&
	       step_ns > -MAX_STEP_NS;
}

static bool is_short(const struct cm_clock_point *points, size_t n)
{
	int64_t low = INT64_MAX, high = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		low = points[i].ns < low ? points[i].ns : low;
		high = points[i].ns > high ? points[i].ns : high;
	}
	return n < 2 || (uint64_t)high - (uint64_t)low < (uint64_t)MIN_SPAN_NS;
}

int cm_spool_clock_init(struct cm_clock_map *map, const struct cm_spool_reader *reader)
{
	struct cm_clock_point *points = calloc(reader->n_syncs + 2, sizeof(*points));
	const struct timespec pause = {.tv_nsec = 20000000};
	int64_t offset_ns;
	size_t n = 0;
	int rc;

	if (!points)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_syncs; i++) {
		points[n].tick = reader->syncs[i].tick;
		points[n].ns = (int64_t)reader->syncs[i].mono_ns;
		n += reader->syncs[i].mono_ns <= INT64_MAX;
	}
	if (reader->process.clock == CM_CLOCK_TSC && is_short(points, n) &&
	    cm_clock_here(&points[n], &offset_ns) && is_this_boot(reader, offset_ns)) {
		n++;
		/* No point at all: two of our own, far enough apart. */
		if (n == 1 && nanosleep(&pause, NULL) == 0 && cm_clock_here(&points[n], &offset_ns))
			n++;
	}
	rc = cm_clock_map_init(map, reader->process.clock, points, n, 0);
	free(points);
	return rc;
}
