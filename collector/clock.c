/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One piece before the first point, one between each two, one behind the last. All arithmetic is
 * on integers: rates are fixed point numbers of up to 64 bits, so that rounding costs less than
 * 2^-63 ns a tick; rounding down in every piece keeps the whole monotone.
 */
#include "collector/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/spool.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

typedef unsigned __int128 u128;

static int compare_points(const void *a, const void *b)
{
	const struct cm_clock_point *x = a, *y = b;

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	/* The other way round: of two at one tick an ascending series takes but one. */
	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

/*
 * Keep the longest series that ascends in both, so that one wild point costs only itself.
 * points are sorted by tick; back[i] is the one before i in the best series that ends there,
 * tails[k] the end of the best one of length k + 1.
 */
static size_t keep_ascending(struct cm_clock_point *points, size_t n, size_t *back, size_t *tails)
{
	size_t length = 0, at;

	for (size_t i = 0; i < n; i++) {
		size_t low = 0, high = length;

		while (low < high) {
			size_t mid = (low + high) / 2;

			if (points[tails[mid]].ns < points[i].ns)
				low = mid + 1;
			else
				high = mid;
		}
		back[i] = low ? tails[low - 1] : 0;
		tails[low] = i;
		if (low == length)
			length++;
	}
	if (!length)
		return 0;
	at = tails[length - 1];
	for (size_t k = length; k-- > 0; at = back[at])
		tails[k] = at;
	for (size_t k = 0; k < length; k++)
		points[k] = points[tails[k]];
	return length;
}

/* n_ns / n_ticks as rate / 2^shift, rounded down, with as many bits as 64 hold. n_ticks > 0. */
static void make_rate(uint64_t n_ns, uint64_t n_ticks, uint64_t *ret_rate, unsigned int *ret_shift)
{
	unsigned int shift = 63;
	u128 rate = ((u128)n_ns << shift) / n_ticks;

	while (rate > UINT64_MAX) {
		rate >>= 1;
		shift--;
	}
	*ret_rate = (uint64_t)rate;
	*ret_shift = shift;
}

/* How far a piece may reach before its ns would leave int64. */
static uint64_t limit_ticks(const struct cm_clock_piece *piece, uint64_t n_ticks)
{
	u128 room = (u128)((uint64_t)INT64_MAX - (uint64_t)piece->ns);
	u128 limit;

	if (!piece->rate)
		return n_ticks;
	limit = (room << piece->shift) / piece->rate;
	return limit < n_ticks ? (uint64_t)limit : n_ticks;
}

static struct cm_clock_piece make_piece(struct cm_clock_point from, struct cm_clock_point to)
{
	struct cm_clock_piece piece = {.tick = from.tick, .ns = from.ns};

	make_rate((uint64_t)to.ns - (uint64_t)from.ns, to.tick - from.tick, &piece.rate,
		  &piece.shift);
	piece.n_ticks = limit_ticks(&piece, to.tick - from.tick - 1);
	return piece;
}

/* From tick 0 to before the first point, at the overall rate. */
static struct cm_clock_piece make_first(const struct cm_clock_map *map, struct cm_clock_point first)
{
	struct cm_clock_piece piece = {.rate = map->rate, .shift = map->shift};
	/* Rounded up, so that the piece ends at or before the point. */
	u128 before = ((u128)first.tick * map->rate >> map->shift) + 1;
	u128 room = (u128)((uint64_t)first.ns - (uint64_t)INT64_MIN);
	u128 n_ticks;

	if (before > room) {
		/* Not all of it has a time: it begins where int64 does. */
		n_ticks = map->rate ? (room << map->shift) / map->rate : 0;
		piece.tick = n_ticks < first.tick ? first.tick - (uint64_t)n_ticks : 0;
		before = ((u128)(first.tick - piece.tick) * map->rate >> map->shift) + 1;
		if (before > room)
			before = room;
	}
	piece.ns = (int64_t)((uint64_t)first.ns - (uint64_t)before);
	piece.n_ticks = first.tick - piece.tick ? first.tick - piece.tick - 1 : 0;
	return piece;
}

static int make_pieces(struct cm_clock_map *map, const struct cm_clock_point *points, size_t n)
{
	struct cm_clock_piece *piece;

	piece = calloc(n + 1, sizeof(*piece));
	if (!piece)
		return -ENOMEM;
	map->pieces = piece;
	if (points[0].tick > 0)
		*piece++ = make_first(map, points[0]);
	for (size_t i = 0; i + 1 < n; i++)
		*piece++ = make_piece(points[i], points[i + 1]);
	piece->tick = points[n - 1].tick;
	piece->ns = points[n - 1].ns;
	piece->rate = map->rate;
	piece->shift = map->shift;
	piece->n_ticks = limit_ticks(piece, UINT64_MAX - piece->tick);
	map->n_pieces = (size_t)(piece + 1 - map->pieces);
	map->at = map->pieces[map->n_pieces - 1];
	return 0;
}

static void set_rate(struct cm_clock_map *map, const struct cm_clock_point *points, size_t n,
		     double ns_per_tick)
{
	uint64_t n_ns = 1, n_ticks = 1;

	if (n >= 2) {
		n_ns = (uint64_t)points[n - 1].ns - (uint64_t)points[0].ns;
		n_ticks = points[n - 1].tick - points[0].tick;
	} else if (ns_per_tick > 1e-6 && ns_per_tick < 1e6) {
		n_ticks = UINT64_C(1) << 40;
		n_ns = (uint64_t)(ns_per_tick * (double)n_ticks);
	} else {
		map->is_guessed = !map->is_identity;
	}
	make_rate(n_ns, n_ticks, &map->rate, &map->shift);
	map->ns_per_tick = (double)n_ns / (double)n_ticks;
}

int cm_clock_map_init(struct cm_clock_map *map, uint32_t clock, const struct cm_clock_point *points,
		      size_t n_points, double ns_per_tick)
{
	struct cm_clock_point *kept, origin = {0, 0};
	size_t *work = NULL, n;
	int rc = -ENOMEM;

	memset(map, 0, sizeof(*map));
	map->is_identity = clock == CM_CLOCK_MONOTONIC;
	if (map->is_identity || !n_points) {
		set_rate(map, NULL, 0, map->is_identity ? 0 : ns_per_tick);
		return make_pieces(map, &origin, 1);
	}
	kept = malloc(n_points * sizeof(*kept));
	work = calloc(n_points, 2 * sizeof(*work));
	if (!kept || !work)
		goto out;
	memcpy(kept, points, n_points * sizeof(*kept));
	qsort(kept, n_points, sizeof(*kept), compare_points);
	n = keep_ascending(kept, n_points, work, work + n_points);
	set_rate(map, kept, n, ns_per_tick);
	rc = make_pieces(map, kept, n);
out:
	free(work);
	free(kept);
	return rc;
}

void cm_clock_map_fini(struct cm_clock_map *map)
{
	free(map->pieces);
	map->pieces = NULL;
	map->n_pieces = 0;
}

int64_t cm_clock_map_find(struct cm_clock_map *map, uint64_t tick)
{
	size_t low = 0, high = map->n_pieces;

	/* The last piece that begins at or before tick. */
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (map->pieces[mid].tick <= tick)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0)
		return INT64_MIN;
	if (tick - map->pieces[low - 1].tick > map->pieces[low - 1].n_ticks)
		return INT64_MAX;
	map->at = map->pieces[low - 1];
	return cm_clock_map_ns(map, tick);
}

int64_t cm_clock_map_span(const struct cm_clock_map *map, u128 n_ticks)
{
	u128 high, low;

	if (n_ticks >> 64)
		return INT64_MAX;
	high = n_ticks * map->rate;
	low = high >> map->shift;
	return low > INT64_MAX ? INT64_MAX : (int64_t)low;
}

bool cm_clock_here(struct cm_clock_point *ret_point, int64_t *ret_offset_ns)
{
#if defined(__x86_64__)
	struct timespec mono, real;
	uint64_t before, after, best = UINT64_MAX;

	/* The tightest of a few brackets: an interrupt between the reads only widens one. */
	for (int i = 0; i < 9; i++) {
		before = __rdtsc();
		if (clock_gettime(CLOCK_MONOTONIC, &mono) < 0 ||
		    clock_gettime(CLOCK_REALTIME, &real) < 0)
			return false;
		after = __rdtsc();
		if (after - before >= best)
			continue;
		best = after - before;
		ret_point->tick = before + best / 3;
		ret_point->ns = mono.tv_sec * INT64_C(1000000000) + mono.tv_nsec;
		*ret_offset_ns = real.tv_sec * INT64_C(1000000000) + real.tv_nsec - ret_point->ns;
	}
	return best != UINT64_MAX;
#else
	(void)ret_point; /* CLOCK_MONOTONIC is the clock there */
	(void)ret_offset_ns;
	return false;
#endif
}
