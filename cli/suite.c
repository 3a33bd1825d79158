/* SPDX-License-Identifier: BSD-3-Clause */
/* `callmark suite`: run the declared rows, and look at what a run left. */
#include "cli/suite.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/locate.h"
#include "cli/say.h"
#include "cli/suite-parse.h"
#include "cli/text.h"
#include "collector/suite-run.h"

static volatile sig_atomic_t cancelled; /* the signal */

static void cancel(int sig)
{
	cancelled = sig;
}

/* A worker is in a process group of its own: it would outlive us. Ignored ones stay so. */
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = cancel}, now;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &action, NULL); /* valid */
}

/* "3/200  dot/libm  unavailable: library_unavailable" */
static void show_row(void *ctx, const struct cm_bundle *bundle)
{
	const struct cm_suite *suite = ctx;
	char *reason = NULL;

	if (cm_text_escape(bundle->reason, &reason) < 0)
		reason = NULL; /* the evidence has it */
	printf("%ld/%zu  %s/%s  %s%s%s%s\n", (long)bundle->row, suite->n_rows, bundle->case_id,
	       bundle->target_id, bundle->verdict, bundle->n_warnings ? " with warnings" : "",
	       *bundle->reason ? ": " : "", reason ? reason : "");
	fflush(stdout);
	free(reason);
}

static void show_end(const struct cm_suite *suite, const char *output,
		     const struct cm_suite_tally *tally)
{
	printf("%s: %s;", suite->name, cm_suite_verdict_name(cm_suite_tally_verdict(tally)));
	for (int i = 0; i < CM_N_ROW_VERDICTS; i++)
		if (tally->n[i])
			printf(" %zu %s", tally->n[i], cm_row_verdict_name((enum cm_row_verdict)i));
	printf("%s evidence in %s\n", tally->n_rows ? ";" : " no rows;", output);
}

static bool has_failure(const struct cm_suite_tally *tally)
{
	for (int i = 0; i < CM_N_ROW_VERDICTS; i++)
		if (tally->n[i] && cm_row_verdict_is_failure((enum cm_row_verdict)i))
			return true;
	return false;
}

static int run(const struct cm_suite_job *job, struct cm_suite *suite)
{
	struct cm_suite_tally tally;
	struct cm_diag diag = {0};
	char helper[4096];
	struct cm_suite_run how = {
		.helper = helper, .is_cancelled = &cancelled, .progress = show_row, .ctx = suite};
	int rc = cm_locate(CM_PART_WORKER, helper, sizeof(helper), &diag);

	if (rc < 0) {
		cm_say("%s", diag.text);
		return CM_EXIT_USAGE; /* nothing was run */
	}
	catch_signals();
	rc = cm_suite_run(&how, suite, job->output, &tally, &diag);
	if (rc == -EINTR) {
		cm_say("%s: ended by signal %d; the rows that were done are kept", job->output,
		       (int)cancelled);
		return CM_EXIT_SIGNAL + (int)cancelled;
	}
	if (rc < 0) {
		cm_say("%s", diag.text[0] ? diag.text : strerror(-rc));
		return rc == -EEXIST ? CM_EXIT_USAGE : CM_EXIT_INCOMPLETE;
	}
	show_end(suite, job->output, &tally);
	return job->is_strict && has_failure(&tally) ? CM_EXIT_FAILED : CM_EXIT_OK;
}

int cm_suite_command_run(const struct cm_suite_job *job)
{
	struct cm_suite suite;
	struct cm_diag diag = {0}, own = {0};
	int status = CM_EXIT_USAGE;
	int rc = cm_suite_parse_file(&suite, job->path, &diag);

	if (rc == 0) {
		rc = cm_suite_check_rows(&suite, &own);
		if (rc < 0)
			cm_diag_set(&diag, rc, "%s: %s", job->path, own.text);
	}
	if (rc == 0)
		status = run(job, &suite);
	else
		cm_say("%s", diag.text);
	cm_suite_free(&suite);
	return status;
}

void cm_suite_say_findings(const struct cm_suite_check *check, const char *path)
{
	for (size_t i = 0; i < check->n_findings; i++)
		cm_say("%s/%s: %s", path, check->findings[i].path, check->findings[i].what);
}

/* What the folder has, in one line. */
static void show_check(const struct cm_suite_check *check, const char *path)
{
	if (check->n_findings)
		printf("%s: not as it was written: %zu finding%s\n", path, check->n_findings,
		       check->n_findings == 1 ? "" : "s");
	else if (check->is_complete)
		printf("%s: %zu files of %zu rows are as they were written; %s\n", path,
		       check->n_files, check->n_rows, check->verdict);
	else
		printf("%s: the run did not come to its end; %zu of %zu rows are there, as they "
		       "were written%s%s\n",
		       path, check->n_found, check->n_rows,
		       check->leftover ? "; no evidence: " : "",
		       check->leftover ? check->leftover : "");
}

int cm_suite_command_verify(const struct cm_suite_job *job)
{
	struct cm_suite_check check;
	struct cm_diag diag = {0};
	int status = CM_EXIT_FAILED;

	if (cm_suite_check(&check, job->path, &diag) < 0) {
		cm_say("%s", diag.text);
	} else {
		cm_suite_say_findings(&check, job->path);
		show_check(&check, job->path);
		if (!check.n_findings)
			status = check.is_complete ? CM_EXIT_OK : CM_EXIT_INCOMPLETE;
	}
	cm_suite_check_fini(&check);
	return status;
}

int cm_cmd_suite(int argc, char **argv)
{
	struct cm_suite_job job = {0};

	setlocale(LC_CTYPE, "C.UTF-8");
	cm_suite_options_parse(&job, argc, argv);
	switch (job.action) {
	case CM_SUITE_ACTION_VERIFY:
		return cm_suite_command_verify(&job);
	case CM_SUITE_ACTION_REPORT:
		return cm_suite_command_report(&job);
	default:
		return cm_suite_command_run(&job);
	}
}
