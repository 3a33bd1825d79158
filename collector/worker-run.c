/* SPDX-License-Identifier: BSD-3-Clause */
/* One row: the declaration looked at, the process run, what came back judged. */
#include "collector/worker-run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/measure-plan.h"
#include "collector/worker-process.h"
#include "collector/worker-reply.h"
#include "collector/worker-request.h"
#include "collector/worker-steps.h"

struct run {
	struct cm_worker_row row; /* with absolute paths and a folder */
	struct cm_measure_plan plan;
	struct cm_worker_outcome *outcome;
	int request_fd;
	int reply_fd;
};

static int note_environment(struct cm_worker_outcome *outcome)
{
	struct cm_worker_diagnostics *diagnostics = &outcome->diagnostics;
	const char **names;
	size_t n = 0;

	while (environ && environ[n])
		n++;
	names = cm_arena_array(&outcome->arena, n, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		names[i] = cm_arena_copy(&outcome->arena, environ[i], strcspn(environ[i], "="));
		if (!names[i])
			return -ENOMEM;
	}
	diagnostics->environment = names;
	diagnostics->n_environment = n;
	return 0;
}

/* NULL stays NULL. A name without a slash must not be searched for by the loader. */
static int make_absolute(struct run *run, const char *folder, const char **path)
{
	if (!*path || **path == '/')
		return 0;
	*path = cm_arena_format(&run->outcome->arena, "%s/%s", folder, *path);
	return *path ? 0 : -ENOMEM;
}

static int make_paths(struct run *run, const char *folder)
{
	struct cm_worker_row *row = &run->row;
	struct cm_worker_file *files =
		cm_arena_array(&run->outcome->arena, row->n_files, sizeof(*files));
	int rc = files ? make_absolute(run, folder, &row->source.path) : -ENOMEM;

	if (rc == 0)
		rc = make_absolute(run, folder, &row->target.path);
	for (size_t i = 0; rc == 0 && i < row->n_files; i++) {
		files[i] = row->files[i];
		rc = make_absolute(run, folder, &files[i].path);
	}
	row->files = files;
	return rc;
}

/* Where it runs: as said, else beside the object; a command where we are. */
static int choose_folder(struct run *run)
{
	char cwd[PATH_MAX];
	const char *folder = run->row.folder, *slash;
	int rc;

	if (!folder)
		folder = getcwd(cwd, sizeof(cwd));
	if (!folder)
		return -errno;
	rc = make_paths(run, folder);
	if (rc < 0 || run->row.folder || run->row.command)
		return rc;
	slash = strrchr(run->row.source.path, '/');
	run->row.folder = cm_arena_copy(
		&run->outcome->arena, run->row.source.path,
		slash > run->row.source.path ? (size_t)(slash - run->row.source.path) : 1);
	return run->row.folder ? 0 : -ENOMEM;
}

static void fail(struct run *run, const char *reason)
{
	struct cm_worker_outcome *outcome = run->outcome;

	outcome->status = CM_COUNTER_FAILED;
	outcome->reason = reason ? reason : "out of memory";
	outcome->detail = "";
	outcome->window.records = NULL;
	outcome->window.n_records = 0;
	outcome->window.has_group_time = false;
	outcome->window.group_time_seconds = 0;
	if (outcome->window.status == CM_COUNTER_COMPLETE) {
		outcome->window.status = CM_COUNTER_FAILED;
		outcome->window.reason = outcome->reason;
	}
}

#define REASON(run, ...) cm_arena_format(&(run)->outcome->arena, __VA_ARGS__)

/* A process that did not end well has no result, whatever it has written. */
static bool is_bad_end(struct run *run)
{
	const struct cm_worker_diagnostics *from = &run->outcome->diagnostics;
	int status = from->wait_status;

	if (from->is_timed_out) {
		fail(run, REASON(run, "timed out after %u s", run->row.timeout_s));
		run->outcome->detail = REASON(run, "in %s", from->step) ?: "";
	} else if (WIFSIGNALED(status)) {
		fail(run, REASON(run, "the worker process was ended by signal %d (%s) in %s",
				 WTERMSIG(status), strsignal(WTERMSIG(status)), from->step));
	} else if (WEXITSTATUS(status)) {
		fail(run, REASON(run, "the worker process ended with status %d in %s",
				 WEXITSTATUS(status), from->step));
	} else {
		return false;
	}
	return true;
}

static int judge(struct run *run)
{
	struct cm_worker_outcome *outcome = run->outcome;
	struct cm_worker_diagnostics *diagnostics = &outcome->diagnostics;
	struct cm_diag diag = {0};
	int rc;

	diagnostics->step = cm_worker_step_name(cm_worker_reply_get_step(run->reply_fd));
	if (run->row.command && !strcmp(diagnostics->step, "perf_workload"))
		diagnostics->step = "the command";
	if (is_bad_end(run))
		return 0;
	rc = cm_worker_reply_read(run->reply_fd, diagnostics->pid, &run->row, &run->plan, outcome,
				  &diag);
	if (rc == -ENODATA)
		fail(run, REASON(run,
				 "the worker process ended with status 0 in %s, without a "
				 "result",
				 diagnostics->step));
	else if (rc == -EINVAL)
		fail(run, REASON(run, "malformed output: %s", diag.text));
	return rc == -ENODATA || rc == -EINVAL ? 0 : rc;
}

static int start(struct run *run, const char *helper, struct cm_diag *diag)
{
	struct cm_worker_process process = {.helper = helper,
					    .folder = run->row.folder,
					    .is_command = run->row.command != NULL,
					    .timeout_s = run->row.timeout_s,
					    .is_cancelled = run->row.is_cancelled};
	int rc;

	run->request_fd = cm_worker_request_write(&run->row);
	if (run->request_fd < 0)
		return cm_diag_set(diag, run->request_fd, "no memory file for the request: %s",
				   strerror(-run->request_fd));
	run->reply_fd = memfd_create("callmark-reply", MFD_CLOEXEC);
	if (run->reply_fd < 0)
		return cm_diag_set(diag, -errno, "no memory file for the reply: %s",
				   strerror(errno));
	process.request_fd = run->request_fd;
	process.reply_fd = run->reply_fd;
	run->outcome->diagnostics.folder = run->row.folder ? run->row.folder : "";
	rc = cm_worker_process_run(&process, &run->outcome->diagnostics, diag);
	return rc < 0 ? rc : judge(run);
}

int cm_worker_run(const struct cm_worker_row *row, const char *helper,
		  struct cm_worker_outcome *outcome, struct cm_diag *diag)
{
	struct run run = {.row = *row, .outcome = outcome, .request_fd = -1, .reply_fd = -1};
	int rc = cm_worker_outcome_init(outcome, row);

	cm_worker_fill_streams();
	if (!run.row.timeout_s)
		run.row.timeout_s = CM_WORKER_TIMEOUT_S;
	if (rc == 0)
		rc = cm_measure_plan_make(&run.plan, &row->declaration, &outcome->arena, diag);
	if (rc == 0)
		rc = note_environment(outcome);
	if (rc == 0)
		rc = choose_folder(&run);
	if (rc == 0)
		rc = start(&run, helper, diag);
	if (run.request_fd >= 0)
		close(run.request_fd);
	if (run.reply_fd >= 0)
		close(run.reply_fd);
	if (rc < 0)
		cm_diag_set(diag, rc, "the worker process: %s", strerror(-rc));
	return rc;
}
