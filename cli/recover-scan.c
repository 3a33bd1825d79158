/* SPDX-License-Identifier: BSD-3-Clause */
/* Tell the folders of the spool apart. */
#include "cli/recover-scan.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run-folder.h"
#include "collector/liveness.h"

#define PROCESS_NAME "process"
#define LEDGER_NAME ".ledger" /* collector/outputs.h: a run that was not completed */

static int append(struct cm_recover_list *list, const char *path)
{
	char **paths = reallocarray(list->paths, list->n + 1, sizeof(paths[0]));

	if (!paths)
		return -ENOMEM;
	list->paths = paths;
	list->paths[list->n] = realpath(path, NULL);
	if (!list->paths[list->n])
		return -errno;
	list->n++;
	return 0;
}

static bool has_file(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path) &&
	       !access(path, F_OK);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A spool that was moved elsewhere under another name is nobody's any more. */
static bool is_alive(const char *dir)
{
	uint64_t pid, start_ns;

	return cm_liveness_parse(base_name(dir), &pid, &start_ns) &&
	       cm_liveness_is_alive(pid, start_ns);
}

static int add_process(struct cm_recover *found, const char *dir)
{
	if (is_alive(dir)) {
		found->n_busy++;
		return 0;
	}
	return append(&found->processes, dir);
}

/* Does every spool in this run's folder belong to a process that still runs? */
static bool all_alive(const char *dir)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	bool alive = true;

	while (stream && alive && (entry = readdir(stream)))
		alive = !cm_run_folder_is_process(entry->d_name, NULL) || is_alive(entry->d_name);
	if (stream)
		closedir(stream);
	return alive;
}

static int add_run(struct cm_recover *found, const char *dir)
{
	bool has_ledger = has_file(dir, LEDGER_NAME);

	if (!cm_run_folder_n_spools(dir) && !has_ledger)
		return 0;
	if (cm_run_folder_in_use(dir) || (all_alive(dir) && !has_ledger)) {
		found->n_busy++;
		return 0;
	}
	return append(&found->runs, dir);
}

/* Some folder of a process in it, or the files that `run` makes. */
static bool is_run(const char *dir)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	bool found = false;

	while (stream && !found && (entry = readdir(stream))) {
		char path[PATH_MAX];

		found = cm_run_folder_is_process(entry->d_name, NULL) &&
			snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) <
				(int)sizeof(path) &&
			has_file(path, PROCESS_NAME);
	}
	if (stream)
		closedir(stream);
	return found || has_file(dir, CM_MATCHED_NAME) || has_file(dir, CM_OUTPUTS_NAME);
}

/* A user's folder: everything in it that is a run. */
static int add_user(struct cm_recover *found, const char *dir, struct cm_diag *diag)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	int rc = 0;

	if (!stream)
		return cm_diag_set(diag, -errno, "%s: %s", dir, strerror(errno));
	while (rc >= 0 && (entry = readdir(stream))) {
		char path[PATH_MAX];

		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) >=
			    (int)sizeof(path) ||
		    !is_run(path))
			continue;
		rc = cm_spool_check_owner(path, diag);
		if (rc >= 0)
			rc = add_run(found, path);
	}
	closedir(stream);
	return rc;
}

static int scan(struct cm_recover *found, const char *dir, struct cm_diag *diag)
{
	bool is_process = has_file(dir, PROCESS_NAME);
	char user[PATH_MAX];
	int rc = 0;

	if (snprintf(user, sizeof(user), "%s/callmark-%u", dir, geteuid()) >= (int)sizeof(user))
		return -ENAMETOOLONG;
	if (!is_process && is_run(dir)) {
		rc = cm_spool_check_owner(dir, diag);
		return rc < 0 ? rc : add_run(found, dir);
	}
	if (is_process || cm_run_folder_is_process(base_name(dir), NULL)) {
		rc = cm_spool_check_owner(dir, diag);
		return rc < 0 ? rc : add_process(found, dir);
	}
	if (!access(user, F_OK))
		dir = user; /* a base, shared with others: /tmp */
	if (!strncmp(base_name(dir), "callmark-", 9))
		rc = cm_spool_check_owner(dir, diag);
	return rc < 0 ? rc : add_user(found, dir, diag);
}

int cm_recover_scan(struct cm_recover *found, const char *dir, struct cm_diag *diag)
{
	char *real = realpath(dir, NULL);
	int rc;

	if (!real)
		return cm_diag_set(diag, -errno, "%s: %s", dir, strerror(errno));
	rc = scan(found, real, diag);
	free(real);
	return rc < 0 ? cm_diag_set(diag, rc, "%s: %s", dir, strerror(-rc)) : 0;
}

static void free_list(struct cm_recover_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->paths[i]);
	free(list->paths);
}

void cm_recover_fini(struct cm_recover *found)
{
	free_list(&found->processes);
	free_list(&found->runs);
	memset(found, 0, sizeof(*found));
}
