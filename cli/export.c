/* SPDX-License-Identifier: BSD-3-Clause */
/* `callmark export`: one table of a profile as CSV or JSON. */
#include "cli/export.h"

#include <errno.h>
#include <locale.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/guard.h"
#include "cli/input.h"
#include "cli/output-file.h"
#include "cli/say.h"

bool cm_export_has_counters(const struct cm_export *job)
{
	const struct cm_result_rank *rank;
	size_t i;

	for (i = 0; i < cm_results_n_ranks(job->results); i++) {
		rank = cm_results_rank(job->results, i);
		if (rank->n_counters && cm_rank_set_has(&job->selection.ranks, rank->rank))
			return true;
	}
	return false;
}

static int write_table(struct cm_export *job, struct cm_diag *diag)
{
	switch (job->what) {
	case CM_EXPORT_REGIONS:
		return cm_export_regions(job, diag);
	case CM_EXPORT_CALLS:
		return cm_export_calls(job, diag);
	case CM_EXPORT_CALLERS:
		return cm_export_callers(job, diag);
	case CM_EXPORT_LIKWID:
		return cm_export_likwid(job, diag);
	default:
		return cm_export_has_counters(job) ? cm_export_likwid(job, diag)
						   : cm_export_regions(job, diag);
	}
}

/* The profile would be replaced by its own table. */
static bool is_own_input(const struct cm_export *job)
{
	struct stat input, output;

	return job->output && !stat(job->path, &input) && !stat(job->output, &output) &&
	       input.st_dev == output.st_dev && input.st_ino == output.st_ino;
}

static int export(struct cm_export *job)
{
	struct cm_output output;
	struct cm_diag diag = {0}, output_diag = {0};
	int rc, status = CM_EXIT_OK;

	rc = cm_output_open(&output, job->output, &output_diag);
	if (rc < 0) {
		cm_say("%s", output_diag.text);
		return CM_EXIT_FAILED;
	}
	job->out = output.out;
	rc = cm_input_open(&job->results, job->path, &diag);
	if (rc >= 0)
		rc = cm_selection_check(&job->selection, job->results, &diag);
	if (rc >= 0)
		rc = write_table(job, &diag);
	cm_guard_disarm();
	/* -EIO without a text: writing failed, which commit (or main, for stdout) reports. */
	if (rc >= 0 || (rc == -EIO && !*diag.text))
		rc = cm_output_commit(&output, &output_diag);
	else
		cm_output_abort(&output);
	if (*output_diag.text)
		cm_say("%s", output_diag.text);
	else if (rc < 0)
		cm_input_complain(job->path, rc, &diag);
	if (rc < 0)
		status = CM_EXIT_FAILED;
	cm_input_close(job->results, job->path);
	return status;
}

int cm_cmd_export(int argc, char **argv)
{
	struct cm_export job = {0};
	int status = CM_EXIT_USAGE;

	/* As for inspect: tags are UTF-8 whatever the locale is. */
	setlocale(LC_CTYPE, "C.UTF-8");
	cm_export_options_parse(&job, argc, argv);
	if (is_own_input(&job))
		cm_say("%s is the profile itself: choose another --output", job.output);
	else
		status = export(&job);
	cm_selection_fini(&job.selection);
	return status;
}
