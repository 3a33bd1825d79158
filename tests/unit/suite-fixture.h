/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows and outcomes made by hand, for the tests of suites: two events on two CPUs, values that only
 * exact arithmetic keeps.
 */
#ifndef CALLMARK_TESTS_SUITE_FIXTURE_H
#define CALLMARK_TESTS_SUITE_FIXTURE_H

#include <limits.h>

#include "collector/suite-bundle.h"
#include "collector/suite.h"

#define SUITE_RUN_ID "11111111-2222-4333-8444-555555555555"
#define SUITE_ATTEMPT_ID "66666666-7777-4888-8999-aaaaaaaaaaaa"
#define SUITE_N_RECORDS 4

/* Rows "case<i>" of target "target": complete, planned, unavailable, blocked, invalid, failed... */
#define SUITE_N_KINDS 6

struct suite_fixture {
	struct cm_suite suite;
	struct cm_suite_row *rows; /* the suite's, to be changed */
	char folder[64];	   /* a new temporary one */
	char path[80];		   /* folder/out: not there */
};

void suite_fixture_init(struct suite_fixture *fixture, size_t n_rows);
void suite_fixture_fini(struct suite_fixture *fixture); /* removes the folder */

/* The outcome of a row of that kind; nothing in it is allocated. */
struct cm_worker_outcome suite_outcome(enum cm_counter_status status);
extern const double suite_values[SUITE_N_RECORDS];

/* About row row_idx. */
struct cm_suite_about suite_about(size_t row_idx);

/* Stands for cm_worker_run(): the outcome that the case of the row asks for. */
int suite_run_row(const struct cm_worker_row *row, const char *helper,
		  struct cm_worker_outcome *outcome, struct cm_diag *diag);
extern size_t suite_n_run; /* how often it was called */

/* The status that row row_idx will have; its second is the planned one. */
enum cm_counter_status suite_status(size_t row_idx);

/* Write a file anew, or append to it. */
void suite_write_file(const char *folder, const char *name, const char *text, const char *mode);

#endif
