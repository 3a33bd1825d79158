/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the preload: one arena that only grows, from the kernel, never from malloc (which may
 * be intercepted, replaced, or locked by the thread that we run in).
 *
 * The constructor and the loader hooks use it under the sites lock; hooks never do.
 * Nothing is freed: what is kept (rules, names, sites) lives as long as the process.
 */
#ifndef CALLMARK_PRELOAD_MEMORY_H
#define CALLMARK_PRELOAD_MEMORY_H

#include <stddef.h>

/* Zeroed, 16-aligned; NULL where the kernel has none. ctx is ignored (struct cm_rules_alloc). */
void *cm_memory_get(void *ctx, size_t n_bytes);

/* A copy of the string; NULL where there is no memory. */
char *cm_memory_string(const char *string);

/* The whole file as text, NUL-terminated; *ret_bytes its length. -ENOENT, -EFBIG, ... */
int cm_memory_read_file(const char *path, size_t max_bytes, char **ret_text, size_t *ret_bytes);

#endif
