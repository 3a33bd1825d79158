/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which object was where, in order: what the collector needs to name the addresses of functions and
 * call paths (CM_ITEM_OBJECT). It outlives the objects, and forked children write it again.
 *
 * An object that is closed is listed as such only when another one takes its place: a library that
 * is opened and closed for ever, always at one address, adds nothing.
 */
#ifndef CALLMARK_PRELOAD_OBJECT_LOG_H
#define CALLMARK_PRELOAD_OBJECT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define CM_BUILD_ID_BYTES 32 /* longer ones are cut */

struct cm_object_event {
	uint64_t base;
	uint64_t low, high;
	const char *path; /* absolute, as far as the loader says */
	bool is_closed;
	char build_id[2 * CM_BUILD_ID_BYTES + 1]; /* hexadecimal; "" without one */
};

/*
 * List what is new in the registry: all of it, or only the objects of intercepted functions.
 * true: something was. Sites lock held.
 */
bool cm_object_log_update(bool all);

/* How many there are, and one of them. Any thread. */
uint32_t cm_object_log_count(void);
const struct cm_object_event *cm_object_log_at(uint32_t idx);

#endif
