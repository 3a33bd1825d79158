/* SPDX-License-Identifier: BSD-3-Clause */
/* callmark recover: collect the spools that nobody collected. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/collect-start.h"
#include "cli/commands.h"
#include "cli/locate.h"
#include "cli/recover-scan.h"
#include "cli/say.h"
#include "collector/collect.h"
#include "preload/environment.h"
#include "preload/spool-path.h"

enum {
	KEY_KEEP = 0x100,
};

struct recover {
	const char *output;
	bool keep;
	char **dirs;
	size_t n_dirs;
	struct cm_recover found;
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0,
	 "Where to write the profile; default: where the run would have written it", 0},
	{"keep", KEY_KEEP, NULL, 0, "Leave the spool in place", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct recover *recover = state->input;

	switch (key) {
	case 'o':
		recover->output = arg;
		break;
	case KEY_KEEP:
		recover->keep = true;
		break;
	case ARGP_KEY_ARGS:
		recover->dirs = state->argv + state->next;
		recover->n_dirs = (size_t)(state->argc - state->next);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	options,
	parse_option,
	"[DIR...]",
	"Collect the profiles of programs that were killed, or that ran without `callmark run'.\v"
	"DIR is the spool of one process, the folder of a run, or the folder with all runs, which "
	"is the default: callmark-UID in $CALLMARK_SPOOL, $TMPDIR or /tmp.",
	NULL,
	NULL,
	NULL};

/* The user's own folder; none there is nothing to recover. */
static int scan_default(struct recover *recover, char *where, size_t n_bytes, struct cm_diag *diag)
{
	int rc;

	snprintf(where, n_bytes, "%s/callmark-%u",
		 cm_spool_base(getenv(CM_ENV_SPOOL), getenv("TMPDIR")), geteuid());
	rc = cm_recover_scan(&recover->found, where, diag);
	return rc == -ENOENT ? 0 : rc;
}

static int collect(const struct recover *recover, const struct cm_supervise *supervise,
		   const char *collector, bool is_run, const struct cm_recover_list *list)
{
	const char *options_for[CM_COLLECT_MAX_OPTIONS] = {NULL};
	char output[PATH_MAX + 16];
	size_t n = 0;
	int rc;

	if (!list->n)
		return CM_COLLECT_OK;
	if (is_run)
		options_for[n++] = "--run";
	if (recover->keep)
		options_for[n++] = "--keep";
	snprintf(output, sizeof(output), "--output=%s", recover->output ? recover->output : "");
	if (recover->output)
		options_for[n++] = output;
	rc = cm_collect_start(supervise, collector, options_for, (const char *const *)list->paths,
			      list->n, false);
	if (rc < 0 || rc > CM_COLLECT_FAILED)
		cm_say("%s failed (%s); the spool is kept: %s", collector,
		       rc < 0	  ? strerror(-rc)
		       : rc > 128 ? strsignal(rc - 128)
				  : "wrong options",
		       list->paths[0]);
	return rc;
}

static int collect_found(const struct recover *recover)
{
	struct cm_supervise supervise;
	struct cm_diag diag = {0};
	char collector[CM_SPOOL_PATH_BYTES];
	int rc = cm_locate(CM_PART_COLLECT, collector, sizeof(collector), &diag);

	if (rc < 0) {
		cm_say("%s", diag.text);
		return CM_EXIT_FAILED;
	}
	cm_supervise_init(&supervise);
	rc = collect(recover, &supervise, collector, false, &recover->found.processes);
	if (rc == CM_COLLECT_OK)
		rc = collect(recover, &supervise, collector, true, &recover->found.runs);
	cm_supervise_fini(&supervise);
	return rc == CM_COLLECT_OK ? CM_EXIT_OK : CM_EXIT_FAILED;
}

static int recover_all(struct recover *recover)
{
	struct cm_diag diag = {0};
	char where[CM_SPOOL_PATH_BYTES] = "";
	size_t n_busy;
	int rc = 0;

	if (!recover->n_dirs)
		rc = scan_default(recover, where, sizeof(where), &diag);
	for (size_t i = 0; rc >= 0 && i < recover->n_dirs; i++)
		rc = cm_recover_scan(&recover->found, recover->dirs[i], &diag);
	if (rc < 0) {
		cm_say("%s", diag.text);
		return CM_EXIT_FAILED;
	}
	n_busy = recover->found.n_busy;
	if (n_busy)
		cm_say("%zu %s still in use; left alone", n_busy,
		       n_busy > 1 ? "spools are" : "spool is");
	if (!recover->found.processes.n && !recover->found.runs.n) {
		if (!n_busy)
			cm_say("nothing to recover in %s",
			       recover->n_dirs ? recover->dirs[0] : where);
		return CM_EXIT_OK;
	}
	return collect_found(recover);
}

int cm_cmd_recover(int argc, char **argv)
{
	struct recover recover = {0};
	error_t error = argp_parse(&argp, argc, argv, 0, NULL, &recover);
	int status = CM_EXIT_USAGE;

	if (error)
		cm_say("%s", strerror(error));
	else
		status = recover_all(&recover);
	cm_recover_fini(&recover.found);
	return status;
}
