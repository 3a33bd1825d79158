/* SPDX-License-Identifier: BSD-3-Clause */
/* What callmark-worker hands over: what it writes is read back, everything else is refused. */
#include "collector/worker-reply.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/worker-request.h"
#include "collector/worker-steps.h"

#define PID 4711
#define IDENTITY                                                                                \
	"\"identity\":{\"source_sha256\":\"\",\"target_sha256\":\"\",\"target_build_id\":\"\"," \
	"\"target_soname\":\"\",\"target_version\":\"\"}"
#define WINDOW(values)                                                                         \
	"{\"status\":\"complete\",\"reason\":\"\",\"detail\":\"\",\"was_called\":true,"        \
	"\"fn_status\":0,\"values\":" values ",\"group_time_s\":0.5,\"access_mode\":\"PERF\"," \
	"\"perf_pid\":4711,\"allowed_cpuids\":[0,3],\"added_events\":[],\"variables\":[],"     \
	"\"cpu\":\"\",\"library\":\"\"}"
#define REPLY(status, reason, oracle, probes, window)                                  \
	"{\"callmark_worker\":1,\"status\":\"" status "\",\"reason\":\"" reason        \
	"\",\"detail\":\"\",\"oracle\":\"" oracle "\",\"probes\":" probes "," IDENTITY \
	",\"window\":" window ",\"complete\":true}"
#define GOOD REPLY("complete", "", "passed", "[\"held\"]", WINDOW("[1,18014398509481988.0,0.1,0]"))

static const int cpus[] = {0, 3};
static const struct cm_measure_event events[] = {{"A", "PMC0", "1"}, {"B", "PMC1", "s"}};
static const struct cm_measure_plan plan = {
	.event_set = "A:PMC0,B:PMC1", .events = events, .n_events = 2, .cpus = cpus, .n_cpus = 2};
static const struct cm_worker_probe probes[] = {{"probe", true}};
static const struct cm_worker_row row = {
	.oracle = "oracle", .is_oracle_required = true, .probes = probes, .n_probes = 1};

static struct cm_worker_outcome outcome;
static struct cm_diag diag;

static void init(void)
{
	cr_assert_eq(cm_worker_outcome_init(&outcome, &row), 0);
}

static void fini(void)
{
	cm_worker_outcome_fini(&outcome);
}

TestSuite(worker_reply, .init = init, .fini = fini);

static int parse(const char *text)
{
	return cm_worker_reply_parse(text, strlen(text), PID, &row, &plan, &outcome, &diag);
}

Test(worker_reply, takes_a_good_one_to_the_last_bit)
{
	cr_assert_eq(parse(GOOD), 0, "%s", diag.text);
	cr_assert_eq(outcome.status, CM_COUNTER_COMPLETE);
	cr_assert_eq(outcome.oracle, CM_ORACLE_PASSED);
	cr_assert_eq(outcome.probes[0], CM_PROBE_HELD);
	cr_assert_eq(outcome.window.n_records, 4);
	cr_assert_str_eq(outcome.window.records[1].event, "B");
	cr_assert_str_eq(outcome.window.records[1].unit, "s");
	cr_assert_eq(outcome.window.records[1].value, 18014398509481988.0);
	cr_assert_eq(outcome.window.records[2].cpu_id, 3);
	cr_assert_eq(outcome.window.records[2].value, 0.1);
	cr_assert_eq(outcome.window.perf_pid, PID);
	cr_assert_eq(outcome.window.n_allowed_cpuids, 2);
}

/* Each a change of the good one. */
struct bad_row {
	char from[40];
	char to[40];
};

static struct bad_row bad_rows[] = {
	{"\"callmark_worker\":1", "\"callmark_worker\":2"},
	{"\"complete\":true}", "\"complete\":false}"},
	{"\"complete\":true}", "\"complete\":true}x"},
	{"\"complete\":true}", ""},
	{"{\"callmark", "[{\"callmark"},
	{"\"status\":\"complete\",\"reason\":\"\"", "\"status\":\"better\",\"reason\":\"\""},
	{"\"status\":\"complete\",\"reason\":\"\"", "\"status\":\"complete\",\"reason\":\"x\""},
	{"\"status\":\"complete\",\"reason\":\"\"", "\"status\":\"complete\",\"reason\":1"},
	{"\"status\":\"complete\"", "\"status\":\"unavailable\""},
	{"\"status\":\"complete\"", "\"status\":\"blocked\""},
	{"\"oracle\":\"passed\"", "\"oracle\":\"failed\""},
	{"\"oracle\":\"passed\"", "\"oracle\":\"not_checked\""},
	{"\"oracle\":\"passed\"", "\"oracle\":\"not_declared\""},
	{"\"oracle\":\"passed\"", "\"oracle\":\"great\""},
	{"[\"held\"]", "[]"},
	{"[\"held\"]", "[\"held\",\"held\"]"},
	{"[\"held\"]", "[\"missed\"]"},
	{"[\"held\"]", "[1]"},
	{"[1,18014398509481988.0,0.1,0]", "[1,2,3]"},
	{"[1,18014398509481988.0,0.1,0]", "[1,2,3,4,5]"},
	{"[1,18014398509481988.0,0.1,0]", "[1,2,3,-1]"},
	{"[1,18014398509481988.0,0.1,0]", "[1,2,3,null]"},
	{"[1,18014398509481988.0,0.1,0]", "[1,2,3,1e999]"},
	{"[1,18014398509481988.0,0.1,0]", "[1,2,3,\"4\"]"},
	{"[1,18014398509481988.0,0.1,0]", "{}"},
	{"\"group_time_s\":0.5", "\"group_time_s\":null"},
	{"\"group_time_s\":0.5", "\"group_time_s\":-1"},
	{"\"group_time_s\":0.5", "\"group_time_s\":\"1\""},
	{"\"PERF\"", "\"NONE\""},
	{"\"perf_pid\":4711", "\"perf_pid\":4712"},
	{"\"perf_pid\":4711", "\"perf_pid\":\"4711\""},
	{"[0,3]", "[3,0]"},
	{"[0,3]", "[0,0]"},
	{"[0,3]", "[-1]"},
	{"[0,3]", "[2147483648]"},
	{"\"was_called\":true", "\"was_called\":false"},
	{"\"was_called\":true", "\"was_called\":1"},
	{"\"fn_status\":0", "\"fn_status\":1"},
	{"\"fn_status\":0", "\"fn_status\":99999999999"},
	{"\"source_sha256\":\"\"", "\"source_sha256\":null"},
	{"\"source_sha256\":\"\"", "\"source_sha256\":\"\\u0000\""},
	{"\"target_soname\":\"\"", "\"target_sonam\":\"\""},
	{"\"cpu\":\"\"", "\"cpu\":0"},
	{"\"added_events\":[]", "\"added_events\":[1]"},
	{"\"variables\":[]", "\"variables\":null"},
	{"\"oracle\":\"passed\"", "\"oracle\":\"passed\",\"oracle\":1"},
};

ParameterizedTestParameters(worker_reply, refuses_what_does_not_fit)
{
	return cr_make_param_array(struct bad_row, bad_rows, sizeof(bad_rows) / sizeof(*bad_rows));
}

ParameterizedTest(struct bad_row *bad, worker_reply, refuses_what_does_not_fit)
{
	static const char good[] = GOOD;
	const char *found = strstr(good, bad->from);
	char text[2048];

	cr_assert_not_null(found, "%s", bad->from);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(found - good), good, bad->to,
		 found + strlen(bad->from));
	cr_assert_eq(parse(text), -EINVAL, "%s -> %s", bad->from, bad->to);
	cr_assert(diag.text[0]);
	cr_assert_eq(outcome.status, CM_COUNTER_FAILED);
	cr_assert_eq(outcome.window.n_records, 0);
}

Test(worker_reply, takes_verdicts_without_a_window)
{
	cr_assert_eq(parse(REPLY("blocked", "why", "not_checked", "[\"missed\"]", "null")), 0);
	cr_assert_eq(outcome.status, CM_COUNTER_BLOCKED);
	cr_assert_not(outcome.has_window);
	cr_assert_eq(parse(REPLY("blocked", "why", "not_checked", "[\"held\"]", "null")), -EINVAL);
	cr_assert_eq(parse(REPLY("invalid", "why", "failed", "[\"held\"]", "null")), -EINVAL);
	cr_assert_eq(parse(REPLY("complete", "", "passed", "[\"held\"]", "null")), -EINVAL);
	cr_assert_eq(parse(REPLY("failed", "", "not_checked", "[\"held\"]", "null")), -EINVAL);
}

Test(worker_reply, reads_back_what_is_written)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct cm_worker_outcome again;
	const char *const added[] = {"X:FIXC2"};

	cr_assert_eq(cm_worker_outcome_init(&again, &row), 0);
	cr_assert_eq(cm_worker_reply_read(fd, PID, &row, &plan, &again, &diag), -ENODATA);
	cr_assert_eq(parse(GOOD), 0);
	outcome.window.backend_added_events = added;
	outcome.window.n_backend_added_events = 1;
	outcome.window.cpu_name = "caf\xe9"; /* no UTF-8 */
	cm_worker_reply_step(fd, CM_STEP_ORACLE);
	cr_assert_eq(cm_worker_reply_read(fd, PID, &row, &plan, &again, &diag), -ENODATA);
	cr_assert_eq(cm_worker_reply_write(fd, &outcome), 0);
	cr_assert_eq(cm_worker_reply_get_step(fd), CM_STEP_ORACLE);
	cr_assert_eq(cm_worker_reply_read(fd, PID, &row, &plan, &again, &diag), 0, "%s", diag.text);
	cr_assert_eq(again.status, CM_COUNTER_COMPLETE);
	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(again.window.records[i].value, outcome.window.records[i].value);
	cr_assert_str_eq(again.window.cpu_name, "caf?");
	cr_assert_str_eq(again.window.backend_added_events[0], "X:FIXC2");
	cr_assert(again.diagnostics.raw[0] == '{');
	cm_worker_outcome_fini(&again);
	close(fd);
}

Test(worker_request, arrives_as_it_was_sent)
{
	static const struct cm_worker_file files[] = {{"/a\xff\nb", "12"}, {"/c", "34"}};
	static const struct cm_worker_probe two[] = {{"p", false}, {"q", true}};
	static const struct cm_event_unit units[] = {{"A", "1"}, {"B", "s"}};
	static const char *const command[] = {"ls", "", "-l a", NULL};
	struct cm_worker_row sent = {.source = {"/w.so", "ab"},
				     .files = files,
				     .n_files = 2,
				     .target = {"/t", "cd", "ef", "so", "1.2"},
				     .oracle = "o",
				     .is_oracle_required = true,
				     .probes = two,
				     .n_probes = 2,
				     .declaration = {"A:PMC0", cpus, 2, units, 2, {NULL}},
				     .command = command};
	struct cm_worker_row got;
	struct cm_arena arena = {0};
	int fd = cm_worker_request_write(&sent);

	cr_assert_geq(fd, 0);
	cr_assert_eq(cm_worker_request_read(&got, fd, &arena), 0);
	cr_assert_str_eq(got.source.path, "/w.so");
	cr_assert_str_eq(got.source.sha256, "ab");
	cr_assert_eq(got.n_files, 2);
	cr_assert_str_eq(got.files[0].path, "/a\xff\nb");
	cr_assert_str_eq(got.files[1].sha256, "34");
	cr_assert_str_eq(got.target.version, "1.2");
	cr_assert_str_eq(got.oracle, "o");
	cr_assert(got.is_oracle_required);
	cr_assert_eq(got.n_probes, 2);
	cr_assert_not(got.probes[0].is_blocking);
	cr_assert(got.probes[1].is_blocking);
	cr_assert_eq(got.declaration.n_cpuids, 2);
	cr_assert_eq(got.declaration.cpuids[1], 3);
	cr_assert_str_eq(got.declaration.units[1].unit, "s");
	cr_assert_str_eq(got.command[1], "");
	cr_assert_str_eq(got.command[2], "-l a");
	cr_assert_null(got.command[3]);
	cm_arena_fini(&arena);
	close(fd);
}

Test(worker_request, refuses_what_is_none)
{
	static const char *const texts[] = {"",		 "source",  "source\0", "no_such_key\0x\0",
					    "unit\0x\0", "cpu\0x\0"};
	static const size_t sizes[] = {0, 6, 7, 14, 7, 6};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct cm_worker_row got;
		struct cm_arena arena = {0};
		int fd = memfd_create("test", MFD_CLOEXEC);

		cr_assert_eq(write(fd, texts[i], sizes[i]), (ssize_t)sizes[i]);
		cr_assert_eq(cm_worker_request_read(&got, fd, &arena), -EINVAL, "%zu", i);
		cm_arena_fini(&arena);
		close(fd);
	}
}
