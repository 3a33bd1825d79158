/* SPDX-License-Identifier: BSD-3-Clause */
/* `callmark measure`: one declared window, around a worker's workload or a command. */
#include "cli/measure.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/locate.h"
#include "cli/output-file.h"
#include "cli/say.h"

static volatile sig_atomic_t cancelled; /* the signal */

static void cancel(int sig)
{
	cancelled = sig;
}

/* The worker is in a process group of its own: it would outlive us. Ignored ones stay so. */
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = cancel}, now;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &action, NULL); /* valid */
	}
}

/* What the worker said before it failed; its own lines, made safe. */
static void say_tail(const struct cm_worker_diagnostics *diagnostics)
{
	char line[CM_WORKER_TAIL_BYTES + 1];
	const char *text = diagnostics->tail;

	while (*text) {
		size_t n = strcspn(text, "\n");

		memcpy(line, text, n);
		line[n] = '\0';
		if (n)
			cm_say("| %s", line);
		text += n + (text[n] == '\n');
	}
}

static int exit_status(const struct cm_measure *job)
{
	static const int statuses[] = {
		[CM_COUNTER_COMPLETE] = CM_EXIT_OK,
		[CM_COUNTER_UNAVAILABLE] = CM_EXIT_UNAVAILABLE,
		[CM_COUNTER_BLOCKED] = CM_EXIT_BLOCKED,
		[CM_COUNTER_INVALID] = CM_EXIT_INVALID,
		[CM_COUNTER_FAILED] = CM_EXIT_FAILED,
	};

	return statuses[job->outcome.status];
}

static int show(struct cm_measure *job, struct cm_output *output)
{
	struct cm_diag diag = {0};
	int rc = job->is_json ? cm_measure_print_json(job, output->out)
			      : cm_measure_print_table(job, output->out);

	if (job->outcome.status == CM_COUNTER_FAILED)
		say_tail(&job->outcome.diagnostics);
	if (rc < 0)
		cm_output_abort(output);
	else
		rc = cm_output_commit(output, &diag);
	if (rc < 0)
		cm_say("%s", diag.text[0] ? diag.text : strerror(-rc));
	return rc < 0 ? CM_EXIT_FAILED : exit_status(job);
}

static int measure(struct cm_measure *job)
{
	char helper[4096];
	struct cm_output output;
	struct cm_diag diag = {0};
	int rc = cm_declaration_check(&job->row.declaration, &diag);

	if (rc == -EINVAL) {
		cm_say("%s", diag.text);
		return CM_EXIT_USAGE;
	}
	if (rc == 0)
		rc = cm_locate(CM_PART_WORKER, helper, sizeof(helper), &diag);
	/* Before anything runs: what was counted must have a place. */
	if (rc == 0)
		rc = cm_output_open(&output, job->output, &diag);
	if (rc < 0) {
		cm_say("%s", diag.text[0] ? diag.text : strerror(-rc));
		return CM_EXIT_FAILED;
	}
	fflush(stdout); /* a command writes there, too */
	catch_signals();
	job->row.is_cancelled = &cancelled;
	rc = cm_worker_run(&job->row, helper, &job->outcome, &diag);
	if (rc == 0)
		return show(job, &output);
	cm_output_abort(&output);
	if (rc == -EINTR)
		return CM_EXIT_SIGNAL + (int)cancelled;
	cm_say("%s", diag.text);
	return rc == -EINVAL ? CM_EXIT_USAGE : CM_EXIT_FAILED;
}

int cm_cmd_measure(int argc, char **argv)
{
	struct cm_measure job = {0};
	int status;

	setlocale(LC_CTYPE, "C.UTF-8");
	cm_worker_fill_streams();
	cm_measure_options_parse(&job, argc, argv);
	status = measure(&job);
	cm_worker_outcome_fini(&job.outcome);
	cm_measure_options_fini(&job);
	return status;
}
