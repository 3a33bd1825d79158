/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters with known contents, for the profiles of tests/unit/writer-fixture.h. */
#ifndef CALLMARK_TESTS_WRITER_COUNTERS_H
#define CALLMARK_TESTS_WRITER_COUNTERS_H

#include "tests/unit/writer-fixture.h"

/* "solve" in group 0: 3 events of which two have one name, 2 metrics, 2 threads; NaN among them. */
extern const struct cm_profile_counters counters_full;

/* The same for another tag and event group. */
struct cm_profile_counters counters_named(const char *tag, int64_t group_id);

/* Put n of them into the fixture's profile, with an environment; borrowed. */
void counters_set(struct fixture *fixture, const struct cm_profile_counters *counters, size_t n);

/* Write fixture->path and open it, or a failed test. */
struct cm_results *counters_store_and_load(struct fixture *fixture);

/* Write the profile as that rank of two and join it into fixture->path. */
int counters_join(struct fixture *fixture, int64_t rank, struct cm_diag *diag);

/* Assert that a rank has these counters and environment, to the last bit. */
void counters_check_rank(const struct cm_profile *want, const struct cm_result_rank *rank);

#endif
