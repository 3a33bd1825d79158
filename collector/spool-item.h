/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One item of the process file: a header, a fixed part, strings (preload/spool.h).
 *
 *	for (off = 0; cm_item_next(data, n_bytes, &off, &item);)
 *		... item.n_fixed, cm_item_next_text(&item) ...
 *
 * Hostile bytes: nothing outside the item is ever read. Nothing can fail.
 */
#ifndef CALLMARK_COLLECTOR_SPOOL_ITEM_H
#define CALLMARK_COLLECTOR_SPOOL_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/spool-reader.h"

struct cm_item {
	uint32_t type;
	size_t n_fixed;	  /* bytes of the fixed part; 0: an unknown type, or shorter than that */
	const char *data; /* 8-aligned, in the file's copy */
	const char *text; /* strings that were not taken yet */
	const char *end;
};

/* The item at *off, which is moved behind it. False at the end, or what must count as it. */
bool cm_item_next(const char *data, size_t n_bytes, size_t *off, struct cm_item *ret_item);

/* The next string; "" when there is none (left). */
const char *cm_item_next_text(struct cm_item *item);

/* Is there another string? Padding is none. */
bool cm_item_has_text(const struct cm_item *item);

size_t cm_item_count_texts(struct cm_item item);

/* The items of hardware counters, in spool-counters.c: count, make the tables, fill them in. */
void cm_spool_counters_count(struct cm_spool_reader *reader, const struct cm_item *item);
int cm_spool_counters_make(struct cm_spool_reader *reader);
void cm_spool_counters_take(struct cm_spool_reader *reader, struct cm_item *item);

/* The items of call paths, in spool-paths.c: the same. */
void cm_spool_paths_count(struct cm_spool_reader *reader, const struct cm_item *item);
int cm_spool_paths_make(struct cm_spool_reader *reader);
void cm_spool_paths_take(struct cm_spool_reader *reader, struct cm_item *item);

#endif
