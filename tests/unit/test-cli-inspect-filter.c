/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/inspect-filter.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <string.h>

struct match_row {
	char include[16]; /* "": none */
	char exclude[16];
	char tag[16];
	bool is_shown;
};

ParameterizedTestParameters(filter, matches_at_the_start_of_the_tag)
{
	static struct match_row rows[] = {
		{"", "", "anything", true},	      {"MPI_", "", "MPI_Send", true},
		{"Send", "", "MPI_Send", false},      {"MPI_Send$", "", "MPI_Sendrecv", false},
		{"MPI_Send$", "", "MPI_Send", true},  {"x|MPI", "", "MPI_Send", true},
		{"x|Send", "", "MPI_Send", false},    {".*Send", "", "MPI_Send", true},
		{"^MPI", "", "MPI_Send", true},	      {"[[:lower:]]+_", "", "cblas_dgemm", true},
		{"MPI_", "MPI_W", "MPI_Wait", false}, {"MPI_", "Wait", "MPI_Wait", true},
		{"", "MPI_", "MPI_Wait", false},      {"mpi", "", "MPI_Wait", false},
	};

	return cr_make_param_array(struct match_row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct match_row *row, filter, matches_at_the_start_of_the_tag)
{
	struct cm_filter filter = {0};

	if (*row->include)
		cr_assert_eq(cm_filter_add(&filter, CM_FILTER_INCLUDE, row->include, NULL), 0);
	if (*row->exclude)
		cr_assert_eq(cm_filter_add(&filter, CM_FILTER_EXCLUDE, row->exclude, NULL), 0);
	cr_expect_eq(cm_filter_matches(&filter, row->tag), row->is_shown);
	cm_filter_fini(&filter);
}

Test(filter, shows_what_any_include_matches)
{
	struct cm_filter filter = {0};

	cr_assert_eq(cm_filter_add(&filter, CM_FILTER_INCLUDE, "a", NULL), 0);
	cr_assert_eq(cm_filter_add(&filter, CM_FILTER_INCLUDE, "b", NULL), 0);
	cr_expect(cm_filter_matches(&filter, "apple"));
	cr_expect(cm_filter_matches(&filter, "berry"));
	cr_expect_not(cm_filter_matches(&filter, "cherry"));
	cm_filter_fini(&filter);
}

Test(filter, names_the_option_and_the_bad_expression)
{
	struct cm_filter filter = {0};
	struct cm_diag diag = {0};

	cr_expect_eq(cm_filter_add(&filter, CM_FILTER_EXCLUDE, "a(", &diag), -EINVAL);
	cr_expect(strstr(diag.text, "--exclude 'a('"));
	cr_expect_eq(filter.n_patterns[CM_FILTER_EXCLUDE], 0);
	cm_filter_fini(&filter);
}

Test(filter, parses_ranges_of_ranks)
{
	struct cm_rank_set set = {0};

	cr_expect(cm_rank_set_has(&set, 7), "an empty set means all");
	cr_assert_eq(cm_rank_set_parse(&set, "0-3,5", NULL), 0);
	cr_assert_eq(cm_rank_set_parse(&set, "9", NULL), 0);
	cr_expect(cm_rank_set_has(&set, 0));
	cr_expect(cm_rank_set_has(&set, 3));
	cr_expect_not(cm_rank_set_has(&set, 4));
	cr_expect(cm_rank_set_has(&set, 5));
	cr_expect(cm_rank_set_has(&set, 9));
	cm_rank_set_fini(&set);
}

struct bad_ranks {
	char text[32];
};

ParameterizedTestParameters(filter, refuses_what_is_no_list_of_ranks)
{
	static struct bad_ranks rows[] = {
		{""},	 {"a"},	 {"1,"}, {",1"},  {"1-"},   {"-1"},    {"3-1"},
		{"1 2"}, {" 1"}, {"+1"}, {"0x1"}, {"1--2"}, {"1-2-3"}, {"99999999999999999999"},
	};

	return cr_make_param_array(struct bad_ranks, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct bad_ranks *row, filter, refuses_what_is_no_list_of_ranks)
{
	struct cm_rank_set set = {0};
	struct cm_diag diag = {0};

	cr_expect_eq(cm_rank_set_parse(&set, row->text, &diag), -EINVAL);
	cr_expect(strstr(diag.text, "--ranks"));
	cm_rank_set_fini(&set);
}
