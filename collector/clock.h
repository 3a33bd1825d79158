/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ticks of the profiled process to nanoseconds of CLOCK_MONOTONIC.
 *
 *	cm_clock_map_init(&map, CM_CLOCK_TSC, points, n_points, NULL);
 *	ns = cm_clock_map_ns(&map, tick);
 *
 * Between two sync points the map is the straight line through them; before the first and behind
 * the last it goes on with the rate over all of them. It is monotone (a later tick is never an
 * earlier ns), meets every point it uses exactly, and is off by less than 1 ns from the line.
 * Points that contradict the others (a clock does not go back) are left out. Results beyond int64
 * saturate. For CM_CLOCK_MONOTONIC it is the identity.
 *
 * Threads: one at a time (it remembers where it was). Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_CLOCK_H
#define CALLMARK_COLLECTOR_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cm_clock_point {
	uint64_t tick;
	int64_t ns;
};

/* From `tick` up to `n_ticks` beyond it: ns + ((t - tick) * rate >> shift). */
struct cm_clock_piece {
	uint64_t tick;
	uint64_t n_ticks; /* the last that belongs to it, relative to tick */
	uint64_t rate;
	int64_t ns;
	unsigned int shift;
};

struct cm_clock_map {
	struct cm_clock_piece at; /* the piece last used */
	struct cm_clock_piece *pieces;
	size_t n_pieces;
	double ns_per_tick; /* over all points: what sums are scaled with */
	uint64_t rate;	    /* the same, as a fixed point number */
	unsigned int shift;
	bool is_identity;
	bool is_guessed; /* fewer than two good points, and no rate was given */
};

/*
 * clock: enum cm_spool_clock. ns_per_tick: the rate where the points do not tell (fewer than two
 * good ones), or 0: then 1 ns a tick is assumed and is_guessed set. -ENOMEM.
 */
int cm_clock_map_init(struct cm_clock_map *map, uint32_t clock, const struct cm_clock_point *points,
		      size_t n_points, double ns_per_tick);
void cm_clock_map_fini(struct cm_clock_map *map);

/* Out of the piece last used: find the right one, or saturate. */
int64_t cm_clock_map_find(struct cm_clock_map *map, uint64_t tick);

static inline int64_t cm_clock_map_ns(struct cm_clock_map *map, uint64_t tick)
{
	const struct cm_clock_piece *at = &map->at;
	uint64_t n = tick - at->tick;

	if (__builtin_expect(n > at->n_ticks, 0))
		return cm_clock_map_find(map, tick);
	return (int64_t)((uint64_t)at->ns +
			 (uint64_t)((unsigned __int128)n * at->rate >> at->shift));
}

/* A number of ticks (not a time) in ns, at the overall rate; saturates at INT64_MAX. */
int64_t cm_clock_map_span(const struct cm_clock_map *map, unsigned __int128 n_ticks);

/*
 * This machine's time-stamp counter and CLOCK_MONOTONIC, now, as one more sync point, and
 * CLOCK_REALTIME - CLOCK_MONOTONIC. False where there is no such counter.
 */
bool cm_clock_here(struct cm_clock_point *ret_point, int64_t *ret_offset_ns);

#endif
