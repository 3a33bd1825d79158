/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of the LIKWID_* variables that likwid-perfctr -m sets: LIKWID_THREADS is a list of
 * CPUs ("0,1"), LIKWID_EVENTS holds the event groups with '|' between ("CLOCK|MEM"). A group is a
 * name, or a set of EVENT:COUNTER pairs with ',' between.
 *
 * Pure functions, any thread. Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_LIKWID_ENVIRONMENT_H
#define CALLMARK_COLLECTOR_LIKWID_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#define CM_LIKWID_MAX_CPUS 4096
#define CM_LIKWID_MAX_GROUPS 256

/*
 * CPU numbers of a LIKWID_THREADS value, in its order, at most n_max of them. How many (at least
 * 1); -EINVAL: something else stands there; -E2BIG.
 */
int cm_likwid_parse_cpus(const char *text, int *ret_cpus, size_t n_max);

/* Groups in a LIKWID_EVENTS value: one more than it has '|'. 0 for NULL or "". */
size_t cm_likwid_count_groups(const char *events);

/* Group idx, NUL-terminated. Its length; -ENOENT: there are not so many; -E2BIG: buf is short. */
int cm_likwid_get_group(const char *events, size_t idx, char *buf, size_t n_bytes);

/* A set of EVENT:COUNTER pairs, which LIKWID itself calls CM_LIKWID_CUSTOM? */
bool cm_likwid_is_custom(const char *group);
#define CM_LIKWID_CUSTOM "Custom"

/*
 * Can this be given to LIKWID at all? A name of letters, digits and '_', or pairs without an empty
 * part. Others make LIKWID use what it does not have.
 */
bool cm_likwid_is_sound(const char *group);

#endif
