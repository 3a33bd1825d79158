/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `callmark measure`. What is in the declaration is judged by the engine. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/measure.h"
#include "collector/likwid-environment.h"
#include "collector/sha256.h"

enum {
	KEY_CPUS = 0x100,
	KEY_ORACLE,
	KEY_PROBE,
	KEY_BLOCKING_PROBE,
	KEY_SHA256,
	KEY_TARGET,
	KEY_TARGET_SHA256,
	KEY_TARGET_BUILD_ID,
	KEY_TARGET_SONAME,
	KEY_TARGET_VERSION,
};

static const struct argp_option options[] = {
	{"events", 'e', "SET", 0, "EVENT:COUNTER,...; counters FIXC<n> or PMC<n>, no groups", 0},
	{"cpus", KEY_CPUS, "LIST", 0, "CPUs to count on, numbers with ',' between", 0},
	{"unit", 'u', "EVENT=UNIT", 0, "The unit of an event; once for each", 0},
	{"timeout", 't', "SECONDS", 0, "End the worker or command after this time, default 300", 0},
	{"oracle", KEY_ORACLE, "FUNCTION", 0, "Worker: decides whether the result is right", 0},
	{"probe", KEY_PROBE, "FUNCTION", 0, "Worker: a condition that should hold; may be repeated",
	 0},
	{"blocking-probe", KEY_BLOCKING_PROBE, "FUNCTION", 0,
	 "Worker: a condition without which nothing is counted; may be repeated", 0},
	{"sha256", KEY_SHA256, "DIGITS", 0, "Only if this is the worker's SHA-256", 0},
	{"target", KEY_TARGET, "FILE", 0, "The program or library that is measured", 0},
	{"target-sha256", KEY_TARGET_SHA256, "DIGITS", 0, "Only if this is the target's SHA-256",
	 0},
	{"target-build-id", KEY_TARGET_BUILD_ID, "DIGITS", 0, "The same of its build-id", 0},
	{"target-soname", KEY_TARGET_SONAME, "NAME", 0, "The same of its SONAME", 0},
	{"target-version", KEY_TARGET_VERSION, "VERSION", 0,
	 "The same of what follows .so. in its name, links resolved", 0},
	{"json", 'j', NULL, 0, "Print JSON with exact numbers instead of a table", 0},
	{"output", 'o', "FILE", 0, "Write the result to a file instead of standard output", 0},
	{0},
};

/* Numbers that are no CPU of this machine are for the declaration's checks. */
static void take_cpus(struct cm_measure *job, const char *text, struct argp_state *state)
{
	size_t n_room = strlen(text) / 2 + 1;
	int n;

	free(job->cpus);
	job->cpus = calloc(n_room, sizeof(*job->cpus));
	if (!job->cpus)
		argp_failure(state, 1, ENOMEM, "--cpus");
	n = cm_likwid_parse_cpus(text, job->cpus, n_room);
	if (n < 0)
		argp_error(state, "--cpus=%s: expected CPU numbers with ',' between", text);
	job->row.declaration.cpuids = job->cpus;
	job->row.declaration.n_cpuids = (size_t)n;
}

static void take_unit(struct cm_measure *job, const char *text, struct argp_state *state)
{
	size_t n = job->row.declaration.n_units;
	const char *equals = strchr(text, '=');
	struct cm_event_unit *units = reallocarray(job->units, n + 1, sizeof(*units));
	char *event;

	if (!units)
		argp_failure(state, 1, ENOMEM, "--unit");
	job->units = units;
	job->row.declaration.units = units;
	if (!equals)
		argp_error(state, "--unit=%s: expected EVENT=UNIT", text);
	event = strndup(text, (size_t)(equals - text));
	if (!event)
		argp_failure(state, 1, ENOMEM, "--unit");
	units[n] = (struct cm_event_unit){event, equals + 1};
	job->row.declaration.n_units = n + 1;
}

static void take_timeout(struct cm_measure *job, const char *text, struct argp_state *state)
{
	unsigned long seconds = 0;

	for (const char *p = text; *p; p++) {
		if (*p < '0' || *p > '9' || seconds > CM_WORKER_MAX_TIMEOUT_S) {
			seconds = 0;
			break;
		}
		seconds = seconds * 10 + (unsigned long)(*p - '0');
	}
	if (!seconds || seconds > CM_WORKER_MAX_TIMEOUT_S)
		argp_error(state, "--timeout=%s: expected whole seconds, 1 to %u", text,
			   CM_WORKER_MAX_TIMEOUT_S);
	job->row.timeout_s = (unsigned int)seconds;
}

static void take_probe(struct cm_measure *job, const char *name, bool is_blocking,
		       struct argp_state *state)
{
	struct cm_worker_probe *probes =
		reallocarray(job->probes, job->row.n_probes + 1, sizeof(*probes));

	if (!probes)
		argp_failure(state, 1, ENOMEM, "--probe");
	job->probes = probes;
	job->row.probes = probes;
	probes[job->row.n_probes++] = (struct cm_worker_probe){name, is_blocking};
}

static const char *take_sha256(const char *option, const char *text, struct argp_state *state)
{
	if (!cm_sha256_is_text(text))
		argp_error(state, "--%s=%s: expected 64 hexadecimal digits", option, text);
	return text;
}

/* A path; with -- before it, and all that follows, a command. */
static void take_argument(struct cm_measure *job, char *arg, struct argp_state *state)
{
	if (state->quoted && state->next - 1 >= state->quoted) {
		job->row.command = (const char *const *)&state->argv[state->next - 1];
		state->next = state->argc;
	} else if (job->row.source.path) {
		argp_error(state, "one worker at a time, and -- before a command");
	} else {
		job->row.source.path = arg;
	}
}

static void check(const struct cm_measure *job, struct argp_state *state)
{
	const struct cm_worker_row *row = &job->row;
	bool is_command = row->command != NULL;

	if (is_command == (row->source.path != NULL))
		argp_error(state, "expected WORKER.so or -- COMMAND");
	if (is_command && (row->oracle || row->n_probes || row->source.sha256))
		argp_error(state,
			   "--oracle, --probe, --blocking-probe and --sha256 are for a worker");
	if (!row->target.path && (row->target.sha256 || row->target.build_id ||
				  row->target.soname || row->target.version))
		argp_error(state, "name the target with --target as well");
}

static error_t parse_target(struct cm_worker_target *target, int key, char *arg,
			    struct argp_state *state)
{
	switch (key) {
	case KEY_TARGET:
		target->path = arg;
		break;
	case KEY_TARGET_SHA256:
		target->sha256 = take_sha256("target-sha256", arg, state);
		break;
	case KEY_TARGET_BUILD_ID:
		target->build_id = arg;
		break;
	case KEY_TARGET_SONAME:
		target->soname = arg;
		break;
	case KEY_TARGET_VERSION:
		target->version = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_worker(struct cm_measure *job, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case KEY_ORACLE:
		job->row.oracle = arg;
		job->row.is_oracle_required = true;
		break;
	case KEY_PROBE:
	case KEY_BLOCKING_PROBE:
		take_probe(job, arg, key == KEY_BLOCKING_PROBE, state);
		break;
	case KEY_SHA256:
		job->row.source.sha256 = take_sha256("sha256", arg, state);
		break;
	default:
		return parse_target(&job->row.target, key, arg, state);
	}
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct cm_measure *job = state->input;

	switch (key) {
	case 'e':
		job->row.declaration.event_set = arg;
		break;
	case KEY_CPUS:
		take_cpus(job, arg, state);
		break;
	case 'u':
		take_unit(job, arg, state);
		break;
	case 't':
		take_timeout(job, arg, state);
		break;
	case 'j':
		job->is_json = true;
		break;
	case 'o':
		job->output = arg;
		break;
	case ARGP_KEY_ARG:
		take_argument(job, arg, state);
		break;
	case ARGP_KEY_END:
		check(job, state);
		break;
	default:
		return parse_worker(job, key, arg, state);
	}
	return 0;
}

static const struct argp argp = {
	options,
	parse_option,
	"WORKER.so\n-- COMMAND [ARGUMENT...]",
	"Count hardware events once, on the CPUs and in the units declared: around the workload of "
	"a worker object, or from the start to the end of a command.\v"
	"The exit status is 0 when the window is complete, 1 when something failed, 2 when the "
	"declaration is refused (nothing was run then), 3 when there can be no counters, 4 when a "
	"blocking probe was missed, 5 when the oracle found the result wrong.",
	NULL,
	NULL,
	NULL};

void cm_measure_options_parse(struct cm_measure *job, int argc, char **argv)
{
	static const struct cm_event_unit no_unit;

	/* No --unit at all is a mapping without keys: the message names the first event. */
	job->row.declaration.units = &no_unit;
	(void)argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, job); /* exits on errors */
}

void cm_measure_options_fini(struct cm_measure *job)
{
	for (size_t i = 0; i < job->row.declaration.n_units; i++)
		free((char *)job->units[i].event);
	free(job->units);
	free(job->cpus);
	free(job->probes);
}
