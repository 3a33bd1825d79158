/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile with known contents, for the tests of writer/: every number is a function of region
 * and row, so that what comes back can be compared without keeping it.
 */
#ifndef CALLMARK_TESTS_WRITER_FIXTURE_H
#define CALLMARK_TESTS_WRITER_FIXTURE_H

#include <limits.h>

#include "writer/results.h"
#include "writer/writer.h"

struct fixture {
	struct cm_profile profile;
	struct cm_profile_region *regions; /* profile.regions, to be changed */
	char (*tags)[32];
	char folder[64];     /* a new temporary one */
	char path[PATH_MAX]; /* folder/profiling_data.h5 */
};

/* n_regions regions "region_<i>" of n_trace rows each, by turns with two threads and with one. */
void fixture_init(struct fixture *fixture, size_t n_regions, uint64_t n_trace);
void fixture_fini(struct fixture *fixture); /* removes the folder */
void fixture_free(struct fixture *fixture); /* for a test that has done that itself */

int64_t fixture_start(size_t region, uint64_t row);
int64_t fixture_end(size_t region, uint64_t row);
int32_t fixture_thread(const struct fixture *fixture, size_t region, uint64_t row);

/* Write the whole profile, round robin over its regions. */
int fixture_write(const struct fixture *fixture, const char *path, enum cm_compress compress,
		  struct cm_diag *diag);

/* The region of that tag in a rank, or a failed test. */
size_t fixture_find(const struct cm_result_rank *rank, const char *tag);

/* Assert that rank idx of the file holds this profile, to the last number. */
void fixture_check_rank(const struct fixture *fixture, struct cm_results *results, size_t idx);

/* Files and folders in the fixture's folder, hidden ones too. */
size_t fixture_count_files(const struct fixture *fixture);

#endif
