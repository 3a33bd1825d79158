/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/reader-result.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cm_arena arena;
static struct cm_reader_result result;

static void teardown(void)
{
	cm_arena_fini(&arena);
}

TestSuite(reader_result, .fini = teardown);

#define GROUPS                                                                                \
	"\"groups\":[{\"id\":0,\"name\":\"G\",\"events\":[\"E\",\"F\"],\"counters\":[\"P0\"," \
	"\"P1\"],\"metrics\":[\"CPI\"]}],"
#define REGION                                                                               \
	"{\"tag\":\"a/b\",\"group\":0,\"cpus\":[3,5],\"times\":[0.5,0.25],\"counts\":[2,1]," \
	"\"events\":[[1.5,null],[\"inf\",\"-inf\"]],\"metrics\":[[7,8.25]]}"
#define WHOLE                                                                                     \
	"{\"callmark_reader\":1,\"library\":\"l\",\"cpu\":\"Zen\"," GROUPS "\"regions\":[" REGION \
	"],\"complete\":true}"

static int parse(const char *text)
{
	struct cm_diag diag = {0};
	int rc = cm_reader_result_parse(&result, text, strlen(text), "result", &arena, &diag);

	cr_assert_eq(rc < 0, diag.text[0] != '\0', "%d %s", rc, diag.text);
	return rc;
}

Test(reader_result, gives_every_region_the_names_of_its_group)
{
	const struct cm_profile_counters *counters;

	cr_assert_eq(parse(WHOLE), 0);
	cr_assert_str_eq(result.cpu_name, "Zen");
	cr_assert_eq(result.n_counters, 1);
	counters = result.counters;
	cr_assert_str_eq(counters->tag, "a/b");
	cr_assert_str_eq(counters->source, "full_api");
	cr_assert_str_eq(counters->group_name, "G");
	cr_assert_eq(counters->group_id, 0);
	cr_assert_eq(counters->n_events, 2);
	cr_assert_str_eq(counters->event_names[1], "F");
	cr_assert_str_eq(counters->counter_names[0], "P0");
	cr_assert_str_eq(counters->metric_names[0], "CPI");
	cr_assert_eq(counters->n_cpus, 2);
	cr_assert_eq(counters->cpus[1], 5);
	cr_assert_eq(counters->times[1], 0.25);
	cr_assert_eq(counters->call_counts[0], 2);
	cr_assert_eq(counters->events[0], 1.5);
	cr_assert(isnan(counters->events[1]));
	cr_assert(isinf(counters->events[2]) && counters->events[2] > 0);
	cr_assert(isinf(counters->events[3]) && counters->events[3] < 0);
	cr_assert_eq(counters->metrics[0], 7);
	cr_assert_eq(counters->metrics[1], 8.25);
}

Test(reader_result, takes_the_bytes_of_a_tag_that_is_no_text)
{
	cr_assert_eq(parse("{\"callmark_reader\":1,\"cpu\":\"\"," GROUPS
			   "\"regions\":[{\"tag\":\"x?\",\"tag_hex\":\"78c3\",\"group\":0,"
			   "\"cpus\":[0],\"times\":[1],\"counts\":[1],\"events\":[[1],[2]],"
			   "\"metrics\":[[3]]}],\"complete\":true}"),
		     0);
	cr_assert_str_eq(result.counters[0].tag, "x\xc3");
}

Test(reader_result, refuses_the_beginning_of_one)
{
	char text[] = WHOLE;

	for (size_t n = sizeof(WHOLE) - 2; n; n--) {
		text[n] = '\0';
		cr_assert_eq(parse(text), -EINVAL, "%s", text);
	}
}

/* What is put in the place of what, in a whole result. */
struct change {
	char from[40];
	char to[64];
};

ParameterizedTestParameters(reader_result, refuses_parts_that_do_not_fit_one_another)
{
	static struct change rows[] = {
		{"true", "false"},
		{"callmark_reader\":1", "callmark_reader\":2"},
		{"\"cpus\":[3,5]", "\"cpus\":[3]"},
		{"\"cpus\":[3,5]", "\"cpus\":[]"},
		{"\"cpus\":[3,5]", "\"cpus\":[3,-1]"},
		{"\"cpus\":[3,5]", "\"cpus\":[3,5.5]"},
		{"\"cpus\":[3,5]", "\"cpus\":7"},
		{"\"counts\":[2,1]", "\"counts\":[2,1,0]"},
		{"\"times\":[0.5,0.25]", "\"times\":[0.5]"},
		{"\"times\":[0.5,0.25]", "\"times\":[0.5,\"x\"]"},
		{"\"metrics\":[[7,8.25]]", "\"metrics\":[[7]]"},
		{"\"metrics\":[[7,8.25]]", "\"metrics\":[]"},
		{"\"metrics\":[[7,8.25]]", "\"metrics\":[[7,8],[9,10]]"},
		{"\"metrics\":[[7,8.25]]", "\"metrics\":[7]"},
		{"\"events\":[[1.5,null]", "\"events\":[[1.5,{}]"},
		{"\"events\":[\"E\",\"F\"]", "\"events\":[\"E\"]"},
		{"\"events\":[\"E\",\"F\"]", "\"events\":[\"E\",7]"},
		{"\"id\":0", "\"id\":1"},
		{"\"group\":0", "\"group\":1"},
		{"\"group\":0", "\"group\":-1"},
		{"\"tag\":\"a/b\"", "\"tag\":7"},
		{"\"tag\":\"a/b\"", "\"tag\":\"a\",\"tag_hex\":\"7\""},
		{"\"tag\":\"a/b\"", "\"tag\":\"a\",\"tag_hex\":\"00\""},
		{"\"tag\":\"a/b\"", "\"tag\":\"a\",\"tag_hex\":\"zz\""},
		{"\"cpu\":\"Zen\"", "\"cpu\":null"},
		{"\"regions\":[", "\"regionen\":["},
	};

	return cr_make_param_array(struct change, rows, sizeof(rows) / sizeof(*rows));
}

ParameterizedTest(struct change *change, reader_result, refuses_parts_that_do_not_fit_one_another)
{
	const char *at = strstr(WHOLE, change->from);
	char text[2 * sizeof(WHOLE)];

	cr_assert_not_null(at, "%s", change->from);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - WHOLE), WHOLE, change->to,
		 at + strlen(change->from));
	cr_assert_eq(parse(text), -EINVAL, "%s", text);
}

Test(reader_result, says_that_there_is_no_file)
{
	struct cm_diag diag = {0};

	cr_assert_eq(cm_reader_result_load(&result, "/nonexistent", &arena, &diag), -ENOENT);
	cr_assert(strstr(diag.text, "/nonexistent"));
}
