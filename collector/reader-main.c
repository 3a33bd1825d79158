/* SPDX-License-Identifier: BSD-3-Clause */
/* callmark-reader: see preload/environment.h for its command line. */
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "collector/reader-check.h"
#include "collector/reader-read.h"
#include "preload/environment.h"

#define CHECK_SECONDS 10

enum option_key {
	OPTION_CHECK = 0x100,
	OPTION_READ,
	OPTION_LIBRARY,
};

static const struct argp_option argp_options[] = {
	{"check", OPTION_CHECK, NULL, 0,
	 "Could markers be opened, in this environment? Print the path of liblikwid, or the reason",
	 0},
	{"read", OPTION_READ, "RESULT", 0,
	 "Read the marker file LIKWID_FILEPATH back and write RESULT (JSON)", 0},
	{"library", OPTION_LIBRARY, "PATH", 0, "The liblikwid to read with", 0},
	{0},
};

struct arguments {
	bool is_check;
	struct cm_reader_read read;
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_CHECK:
		arguments->is_check = true;
		break;
	case OPTION_READ:
		arguments->read.result = value;
		break;
	case OPTION_LIBRARY:
		arguments->read.library = value;
		break;
	case ARGP_KEY_END:
		if (arguments->is_check == (arguments->read.result != NULL))
			argp_error(state, "expected either --check or --read");
		if (arguments->read.result && !arguments->read.library)
			argp_error(state, "--read needs --library");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	argp_options, parse_option,
	NULL,	      "Ask LIKWID, in a process that may crash. Started by callmark itself.",
	NULL,	      NULL,
	NULL,
};

/* The one line of --check, on stdout; of a failed --read, on stderr. */
static int say(FILE *out, const char *text)
{
	return fprintf(out, "%s\n", text) < 0 || fflush(out) != 0 ? 1 : 0;
}

static int check(struct cm_reader_perfmon *perfmon)
{
	struct cm_reader_report *report;
	struct cm_diag diag = {0};
	int rc = cm_reader_perfmon_find(perfmon, &diag);

	if (rc < 0) {
		(void)say(stdout, diag.text); /* the status says it, too */
		return 1;
	}
	rc = cm_reader_guard(cm_reader_check, perfmon, CHECK_SECONDS, &report);
	if (rc < 0) {
		(void)say(stdout, strerror(-rc)); /* as above */
		return 1;
	}
	if (report->is_done)
		return say(stdout, report->library);
	(void)say(stdout, report->diag.text); /* as above */
	return 1;
}

static int read_back(struct cm_reader_read *read)
{
	struct cm_reader_report *report;
	struct cm_diag diag = {0};
	int rc;

	/* Whoever started us waits for us: without it nobody wants the result. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* With it, LIKWID would overwrite counters that another process uses. */
	(void)unsetenv("LIKWID_FORCE");
	rc = cm_reader_perfmon_find(&read->perfmon, &diag);
	if (rc >= 0)
		rc = cm_reader_guard(cm_reader_read, read, 0, &report);
	if (rc < 0) {
		(void)say(stderr, diag.text[0] ? diag.text : strerror(-rc)); /* as above */
		return 1;
	}
	if (report->is_done)
		return 0;
	(void)say(stderr, report->diag.text); /* as above */
	return 1;
}

int main(int argc, char **argv)
{
	static struct arguments arguments;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	/* A parent that ignores it would keep us from waiting for our child. */
	(void)signal(SIGCHLD, SIG_DFL);
	return arguments.is_check ? check(&arguments.read.perfmon) : read_back(&arguments.read);
}
