/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a suite, one after another. */
#include "collector/suite-run.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "collector/suite-bundle.h"
#include "collector/suite-folder.h"

#define TIME_BYTES 40

struct running {
	const struct cm_suite_run *how;
	const struct cm_suite *suite;
	struct cm_suite_folder folder;
	struct cm_suite_about about;
	struct cm_suite_tally *tally;
	char run_id[CM_UUID_BYTES];
	char attempt_id[CM_UUID_BYTES];
	char started[TIME_BYTES];
	char host[sizeof(struct utsname)];
};

/* The fields' names in the suite file for those of callmark/measure.h. */
static const char *rename_field(const char *text, const char **ret_field)
{
	static const char *const names[][2] = {{"event_set", "events"}, {"cpuids", "cpus"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i][0]);

		if (!strncmp(text, names[i][0], n)) {
			*ret_field = names[i][1];
			return text + n;
		}
	}
	*ret_field = "";
	return text;
}

/* A row that is never run may leave it out, and name CPUs that we may not use, or do not have. */
static int check_planned(const struct cm_suite_row *row, struct cm_diag *diag)
{
	struct cm_declaration declaration = row->worker.declaration;
	int here = sched_getcpu();

	if (!declaration.event_set)
		return 0;
	for (size_t i = 0; i < declaration.n_cpuids; i++)
		for (size_t j = 0; j < i; j++)
			if (declaration.cpuids[i] == declaration.cpuids[j])
				return cm_diag_set(diag, -EINVAL, "cpuids: CPU %d is there twice",
						   declaration.cpuids[i]);
	declaration.cpuids = &here;
	declaration.n_cpuids = 1;
	return cm_declaration_check(&declaration, diag);
}

int cm_suite_check_rows(const struct cm_suite *suite, struct cm_diag *diag)
{
	for (size_t i = 0; i < suite->n_rows; i++) {
		const struct cm_suite_row *row = &suite->rows[i];
		struct cm_diag own = {0};
		const char *field, *text;
		int rc = row->planned ? check_planned(row, &own)
				      : cm_declaration_check(&row->worker.declaration, &own);

		if (rc == 0)
			continue;
		text = rename_field(own.text, &field);
		return cm_diag_set(diag, rc, "row %zu (%s/%s): %s%s", i + 1, row->case_id,
				   row->target_id, field, *own.text ? text : strerror(-rc));
	}
	return 0;
}

static void note_time(struct running *running)
{
	struct timespec now = {0};
	struct tm utc = {0};
	size_t n;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* it always can */
	(void)gmtime_r(&now.tv_sec, &utc);
	n = strftime(running->started, sizeof(running->started), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(running->started + n, sizeof(running->started) - n, ".%06ldZ", now.tv_nsec / 1000);
}

static void note_host(struct running *running)
{
	struct utsname name;

	if (uname(&name) == 0)
		snprintf(running->host, sizeof(running->host), "%s %s %s %s", name.nodename,
			 name.sysname, name.release, name.machine);
}

/* An outcome for what could not even be started, or whose outcome contradicts itself. */
static void make_failure(struct cm_worker_outcome *outcome, const struct cm_worker_row *row,
			 const char *reason)
{
	struct cm_worker_diagnostics diagnostics = outcome->diagnostics;
	struct cm_arena arena = outcome->arena;

	*outcome = (struct cm_worker_outcome){
		.status = CM_COUNTER_FAILED,
		.reason = reason,
		.detail = "",
		.window = {.status = CM_COUNTER_UNAVAILABLE, .reason = "", .detail = ""},
		.oracle = row->oracle ? CM_ORACLE_NOT_CHECKED : CM_ORACLE_NOT_DECLARED,
		.diagnostics = diagnostics,
		.arena = arena,
	};
}

static int keep(struct running *running, const struct cm_bundle *bundle, struct cm_diag *diag)
{
	struct cm_diag own = {0};
	int rc = cm_suite_folder_add(&running->folder, bundle, &own);

	if (rc < 0)
		return cm_diag_set(diag, rc, "row %ld (%s/%s) is not kept, and the run ends: %s",
				   (long)bundle->row, bundle->case_id, bundle->target_id, own.text);
	cm_suite_tally_add(running->tally, cm_row_verdict_find(bundle->verdict), bundle->oracle,
			   bundle->n_warnings, bundle->is_attempted);
	if (running->how->progress)
		running->how->progress(running->how->ctx, bundle);
	return 0;
}

/* The evidence of what was attempted, or of why it cannot be kept as it came. */
static int make_bundle(struct running *running, struct cm_bundle *bundle,
		       const struct cm_suite_row *row, struct cm_worker_outcome *outcome,
		       struct cm_diag *diag)
{
	struct cm_arena *arena = &outcome->arena;
	struct cm_diag own = {0};
	int rc = cm_suite_bundle_make(bundle, &running->about, row, outcome, arena, &own);

	if (rc != -EINVAL)
		return rc < 0 ? cm_diag_set(diag, rc, "%s", own.text) : 0;
	make_failure(outcome, &row->worker, cm_arena_format(arena, "%s", own.text));
	if (!outcome->reason)
		return -ENOMEM;
	return cm_suite_bundle_make(bundle, &running->about, row, outcome, arena, diag);
}

static int attempt(struct running *running, const struct cm_suite_row *row, struct cm_diag *diag)
{
	int (*run)(const struct cm_worker_row *, const char *, struct cm_worker_outcome *,
		   struct cm_diag *) =
		running->how->run_row ? running->how->run_row : cm_worker_run;
	struct cm_worker_row worker = row->worker;
	struct cm_worker_outcome outcome = {0};
	struct cm_diag own = {0};
	struct cm_bundle bundle;
	int rc;

	cm_suite_uuid_make(running->attempt_id);
	worker.is_cancelled = running->how->is_cancelled;
	rc = run(&worker, running->how->helper, &outcome, &own);
	if (rc < 0 && rc != -EINTR) {
		make_failure(&outcome, &row->worker, own.text[0] ? own.text : strerror(-rc));
		rc = 0;
	}
	if (rc == 0)
		rc = make_bundle(running, &bundle, row, &outcome, diag);
	if (rc == 0)
		rc = keep(running, &bundle, diag);
	cm_worker_outcome_fini(&outcome);
	return rc;
}

/* A row that is planned to be unavailable is kept, and never run. */
static int skip(struct running *running, const struct cm_suite_row *row, struct cm_diag *diag)
{
	struct cm_arena arena = {0};
	struct cm_bundle bundle;
	int rc = cm_suite_bundle_make(&bundle, &running->about, row, NULL, &arena, diag);

	if (rc == 0)
		rc = keep(running, &bundle, diag);
	cm_arena_fini(&arena);
	return rc;
}

static int run_rows(struct running *running, struct cm_diag *diag)
{
	const struct cm_suite *suite = running->suite;
	const volatile sig_atomic_t *is_cancelled = running->how->is_cancelled;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < suite->n_rows; i++) {
		const struct cm_suite_row *row = &suite->rows[i];

		if (is_cancelled && *is_cancelled)
			return -EINTR;
		running->about.row_idx = i;
		note_time(running);
		rc = row->planned ? skip(running, row, diag) : attempt(running, row, diag);
	}
	return rc;
}

int cm_suite_run(const struct cm_suite_run *how, const struct cm_suite *suite, const char *path,
		 struct cm_suite_tally *tally, struct cm_diag *diag)
{
	struct running running = {.how = how, .suite = suite, .tally = tally};
	int rc;

	*tally = (struct cm_suite_tally){0};
	cm_suite_uuid_make(running.run_id);
	note_host(&running);
	running.about = (struct cm_suite_about){
		.suite = suite->name,
		.run_id = running.run_id,
		.attempt_id = running.attempt_id,
		.host = running.host,
		.started = running.started,
	};
	rc = cm_suite_folder_create(&running.folder, path, suite, running.run_id, diag);
	if (rc == 0)
		rc = run_rows(&running, diag);
	if (rc == 0)
		rc = cm_suite_folder_seal(&running.folder,
					  cm_suite_verdict_name(cm_suite_tally_verdict(tally)),
					  diag);
	cm_suite_folder_fini(&running.folder);
	return rc;
}
