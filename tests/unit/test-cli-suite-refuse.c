/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong suite files: the row and the field are named. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <errno.h>
#include <string.h>

#include "cli/suite-parse.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"
#define CURRENT "\"target\": {\"id\": \"t\", \"kind\": \"current\"}"
#define COUNT "\"events\": \"A:PMC0\", \"cpus\": [0], \"units\": {\"A\": \"1\"}"
#define WORKER "\"worker\": {\"path\": \"w.so\"}"
#define ROW(members) "{\"case\": \"c\", " CURRENT ", " members "}"
#define SUITE(rows) "{\"callmark_suite\": 1, \"name\": \"n\", \"rows\": [" rows "]}"

struct bad_suite {
	char text[700];
	char said[96];
};

static struct bad_suite cases[] = {
	{"", "s.json:1:0: "},
	{"{\"callmark_suite\": 1,\n \"name\": }", "s.json:2:"},
	{"[]", "s.json: expected an object"},
	{"{\"name\": \"n\", \"rows\": []}", "s.json: callmark_suite: expected 1"},
	{"{\"callmark_suite\": 2, \"name\": \"n\", \"rows\": []}", "callmark_suite: "},
	{"{\"callmark_suite\": 1, \"rows\": []}", "s.json: name: missing"},
	{"{\"callmark_suite\": 1, \"name\": \"n\"}", "s.json: rows: expected an array"},
	{"{\"callmark_suite\": 1, \"name\": \"\", \"rows\": []}", "name: expected a text"},
	{"{\"callmark_suite\": 1, \"name\": \"a\\nb\", \"rows\": []}", "name: expected one line"},
	{"{\"callmark_suite\": 1, \"name\": \"n\", \"rows\": [], \"row\": 1}",
	 "s.json: row: there is no such field"},
	{"{\"callmark_suite\": 1, \"callmark_suite\": 1}", "s.json:1:"},
	{SUITE("7"), "s.json: row 1: expected an object"},
	{SUITE("{}"), "row 1: case: missing"},
	{SUITE("{\"case\": \"a/b\"}"), "row 1: case: expected letters"},
	{SUITE("{\"case\": \".a\"}"), "row 1: case: expected letters"},
	{SUITE("{\"case\": \"c\"}"), "row 1 (c): target: missing"},
	{SUITE("{\"case\": \"c\", \"target\": 1}"), "row 1 (c): target: expected an object"},
	{SUITE("{\"case\": \"c\", \"target\": {}}"), "row 1 (c): target.id: missing"},
	{SUITE("{\"case\": \"c\", \"target\": {\"id\": \"t\"}}"),
	 "row 1 (c/t): target.kind: missing"},
	{SUITE("{\"case\": \"c\", \"target\": {\"id\": \"t\", \"kind\": \"x\"}}"),
	 "row 1 (c/t): target.kind: expected release"},
	{SUITE("{\"case\": \"c\", \"target\": {\"id\": \"t\", \"kind\": \"release\"}}"),
	 "row 1 (c/t): target.source: missing"},
	{SUITE("{\"case\": \"c\", \"target\": {\"id\": \"t\", \"kind\": \"release\", "
	       "\"source\": \"s\"}}"),
	 "target.version: missing"},
	{SUITE("{\"case\": \"c\", \"target\": {\"id\": \"t\", \"kind\": \"development\", "
	       "\"source\": \"s\"}}"),
	 "target.sha256: a development"},
	{SUITE("{\"case\": \"c\", \"target\": {\"id\": \"t\", \"kind\": \"current\", "
	       "\"soname\": \"s\"}}"),
	 "target.kind: a target that is checked"},
	{SUITE("{\"case\": \"c\", \"target\": {\"id\": \"t\", \"kind\": \"current\", "
	       "\"x\": 1}}"),
	 "row 1 (c/t): target.x: there is no such field"},
	{SUITE(ROW(COUNT)), "row 1 (c/t): worker: missing"},
	{SUITE(ROW("\"worker\": \"w\", " COUNT)), "worker: expected an object"},
	{SUITE(ROW("\"worker\": {}, " COUNT)), "worker.path: missing"},
	{SUITE(ROW("\"worker\": {\"path\": \"w\", \"sha256\": \"12\"}, " COUNT)),
	 "worker.sha256: expected 64"},
	{SUITE(ROW("\"worker\": {\"path\": \"w\", \"files\": [{\"path\": \"f\"}]}, " COUNT)),
	 "worker.files[0].sha256: missing"},
	{SUITE(ROW(WORKER)), "row 1 (c/t): events: missing"},
	{SUITE(ROW(WORKER ", \"events\": \"A:PMC0\"")), "cpus: missing"},
	{SUITE(ROW(WORKER ", \"events\": \"A:PMC0\", \"cpus\": [0]")), "units: missing"},
	{SUITE(ROW("\"unavailable\": \"x\", \"cpus\": [0]")), "events: missing"},
	{SUITE(ROW("\"unavailable\": \"x\", \"events\": \"A:PMC0\"")), "cpus: missing"},
	{SUITE(ROW("\"unavailable\": \"\"")), "unavailable: expected a text"},
	{SUITE(ROW(WORKER ", \"events\": 1")), "events: expected a text"},
	{SUITE(ROW(WORKER ", \"events\": \"A:PMC0\", \"cpus\": \"0\", \"units\": {}")),
	 "cpus: expected an array"},
	{SUITE(ROW(WORKER ", \"events\": \"A:PMC0\", \"cpus\": [], \"units\": {}")),
	 "cpus: expected an array"},
	{SUITE(ROW(WORKER ", \"events\": \"A:PMC0\", \"cpus\": [0.0], \"units\": {}")),
	 "cpus: a CPU is"},
	{SUITE(ROW(WORKER ", \"events\": \"A:PMC0\", \"cpus\": [-1], \"units\": {}")),
	 "cpus: a CPU is"},
	{SUITE(ROW(WORKER ", \"events\": \"A:PMC0\", \"cpus\": [2147483648], "
			  "\"units\": {}")),
	 "cpus: a CPU is"},
	{SUITE(ROW(WORKER ", \"events\": \"A:PMC0\", \"cpus\": [0], \"units\": []")),
	 "units: expected an object"},
	{SUITE(ROW(WORKER ", \"events\": \"A:PMC0\", \"cpus\": [0], \"units\": {\"A\": 1}")),
	 "units: a unit is a text"},
	{SUITE(ROW(WORKER ", " COUNT ", \"timeout\": 0")), "timeout: expected whole seconds"},
	{SUITE(ROW(WORKER ", " COUNT ", \"timeout\": 1.5")), "timeout: expected"},
	{SUITE(ROW(WORKER ", " COUNT ", \"timeout\": 31536001")), "timeout: expected"},
	{SUITE(ROW(WORKER ", " COUNT ", \"oracle\": \"f\"")), "oracle: expected an object"},
	{SUITE(ROW(WORKER ", " COUNT ", \"oracle\": {\"function\": \"1f\"}")),
	 "oracle.function: expected the name"},
	{SUITE(ROW(WORKER ", " COUNT ", \"oracle\": {\"function\": \"f\", \"required\": 1}")),
	 "oracle.required: expected true"},
	{SUITE(ROW(WORKER ", " COUNT ", \"probes\": {}")), "probes: expected an array"},
	{SUITE(ROW(WORKER ", " COUNT ", \"probes\": [1]")), "probes[0]: expected an object"},
	{SUITE(ROW(WORKER ", " COUNT ", \"probes\": [{\"function\": \"f\"}, {}]")),
	 "probes[1].function: missing"},
	{SUITE(ROW(WORKER ", " COUNT ", \"probes\": [{\"function\": \"f\", \"x\": 1}]")),
	 "probes[0].x: there is no such field"},
	{SUITE(ROW(WORKER ", " COUNT ", \"cpu\": 1")), "row 1 (c/t): cpu: there is no such"},
	{SUITE(ROW("\"unavailable\": \"1\"") "," ROW("\"unavailable\": \"2\"")),
	 "row 2 (c/t): case, target.id: row 1 has the same"},
};

static int parse(struct cm_suite *suite, const char *text, struct cm_diag *diag)
{
	*suite = (struct cm_suite){0};
	return cm_suite_parse(suite, text, strlen(text), "s.json", "/folder", diag);
}

ParameterizedTestParameters(suite_refuse, what_is_wrong_names_row_and_field)
{
	return cr_make_param_array(struct bad_suite, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct bad_suite *it, suite_refuse, what_is_wrong_names_row_and_field)
{
	struct cm_suite suite;
	struct cm_diag diag = {0};

	cr_assert_eq(parse(&suite, it->text, &diag), -EINVAL, "%s", it->text);
	cr_assert_not_null(strstr(diag.text, it->said), "'%s' does not say '%s'", diag.text,
			   it->said);
	cm_suite_free(&suite);
}
