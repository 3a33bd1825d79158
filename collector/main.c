/* SPDX-License-Identifier: BSD-3-Clause */
/* callmark-collect: see collector/collect.h for its command line. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/collect-spool.h"
#include "collector/collect.h"
#include "collector/spool-run.h"

#define PROGRAM "callmark-collect"

enum option_key {
	OPTION_OUTPUT = 'o',
	OPTION_COMPRESS = 0x100,
	OPTION_PROGRESS,
	OPTION_KEEP,
	OPTION_ONLY_MAIN,
	OPTION_RUN,
};

static const struct argp_option argp_options[] = {
	{"output", OPTION_OUTPUT, "FILE", 0,
	 "Main name; %r rank, %p pid, %h host (default: as the process was told)", 0},
	{"compress", OPTION_COMPRESS, "HOW", 0, "none, fast or small", 0},
	{"progress", OPTION_PROGRESS, NULL, 0, "Show how far it is, on a terminal", 0},
	{"keep", OPTION_KEEP, NULL, 0, "Leave the spools in place", 0},
	{"only-main", OPTION_ONLY_MAIN, NULL, 0, "Only spools that are for the main name", 0},
	{"run", OPTION_RUN, NULL, 0, "DIR is the folder of a whole run", 0},
	{0},
};

struct arguments {
	struct cm_collect_options options;
	bool is_run;
	char **dirs;
	int n_dirs;
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_OUTPUT:
		arguments->options.output = value;
		break;
	case OPTION_COMPRESS:
		if (cm_compress_parse(value, &arguments->options.compress) < 0)
			argp_error(state, "--compress=%s: expected none, fast or small", value);
		arguments->options.has_compress = true;
		break;
	case OPTION_PROGRESS:
		arguments->options.progress = true;
		break;
	case OPTION_KEEP:
		arguments->options.keep = true;
		break;
	case OPTION_ONLY_MAIN:
		arguments->options.only_main = true;
		break;
	case OPTION_RUN:
		arguments->is_run = true;
		break;
	case ARGP_KEY_ARGS:
		arguments->dirs = state->argv + state->next;
		arguments->n_dirs = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no spool named");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	argp_options, parse_option,
	"DIR...",     "Fold the spools of profiled processes into HDF5 files, and remove them.",
	NULL,	      NULL,
	NULL,
};

static void complain(const struct cm_diag *diag, const char *path)
{
	fprintf(stderr, PROGRAM ": %s; %s is kept, try again with: callmark recover %s\n",
		diag->text, path, path);
}

/* A process at its exit: what lies beside its spool may have nobody else to take it over. */
static int collect_process(const char *dir, const struct cm_collect_options *options,
			   struct cm_diag *diag)
{
	char path[PATH_MAX], run_path[PATH_MAX] = "";
	int rc;

	if (!options->keep && realpath(dir, path))
		cm_spool_run_find(path, run_path);
	rc = cm_collect_spool(dir, options, diag);
	if (rc >= 0 && *run_path)
		cm_collect_rest(run_path, path, options, complain);
	return rc;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {0};
	int status = CM_COLLECT_OK;

	argp_err_exit_status = CM_COLLECT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	for (int i = 0; i < arguments.n_dirs; i++) {
		struct cm_diag diag = {0};
		int rc;

		if (arguments.is_run)
			rc = cm_collect_run(arguments.dirs[i], &arguments.options, complain, &diag);
		else
			rc = collect_process(arguments.dirs[i], &arguments.options, &diag);
		if (rc >= 0)
			continue;
		status = CM_COLLECT_FAILED;
		if (diag.text[0])
			complain(&diag, arguments.dirs[i]);
	}
	return status;
}
