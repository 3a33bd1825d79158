/* SPDX-License-Identifier: BSD-3-Clause */
/* --run: what is left of a run once its processes have ended. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/collect-spool.h"
#include "collector/liveness.h"
#include "collector/outputs.h"
#include "collector/spool-reader.h"
#include "collector/spool-run.h"
#include "preload/spool-path.h"

struct entry {
	char path[PATH_MAX];
	uint64_t pid;
	uint64_t start_ns;
	bool is_started; /* the process that `run` started */
};

struct entries {
	struct entry *list;
	size_t n;
	size_t n_room;
	size_t n_alive; /* not in the list */
};

/* Whether `run` started it: from the head of its process file, which is checked later. */
static bool find_is_started(const char *path)
{
	struct cm_spool_process process = {0};
	char name[PATH_MAX + 16];
	FILE *file;

	snprintf(name, sizeof(name), "%s/process", path);
	file = fopen(name, "re");
	if (!file)
		return false;
	if (fread(&process, sizeof(process), 1, file) != 1)
		process.main_pid = 0;
	fclose(file);
	return process.main_pid && process.main_pid == process.pid;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->is_started != y->is_started)
		return x->is_started ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int add_entry(struct entries *entries, const char *run_path, const char *name)
{
	struct entry entry = {0};

	if (!cm_liveness_parse(name, &entry.pid, &entry.start_ns))
		return 0;
	if (cm_liveness_is_alive(entry.pid, entry.start_ns)) {
		entries->n_alive++;
		return 0;
	}
	if (snprintf(entry.path, sizeof(entry.path), "%s/%s", run_path, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	entry.is_started = find_is_started(entry.path);
	if (entries->n == entries->n_room) {
		size_t n_room = entries->n_room ? 2 * entries->n_room : 16;
		struct entry *more = reallocarray(entries->list, n_room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		entries->list = more;
		entries->n_room = n_room;
	}
	entries->list[entries->n++] = entry;
	return 0;
}

static int list_entries(struct entries *entries, const char *run_path, struct cm_diag *diag)
{
	DIR *dir = opendir(run_path);
	struct dirent *found;
	int rc = dir ? 0 : -errno;

	while (rc == 0 && (found = readdir(dir)))
		rc = add_entry(entries, run_path, found->d_name);
	if (dir)
		closedir(dir);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", run_path, strerror(-rc));
	if (entries->n)
		qsort(entries->list, entries->n, sizeof(*entries->list), compare_entries);
	return 0;
}

/* Has this rank's place in the main name been taken, by any of n lines? */
static bool is_taken(const struct cm_output *outputs, size_t n, const struct cm_output *wanted)
{
	for (size_t i = 0; i < n; i++) {
		if (outputs[i].is_main && outputs[i].rank == wanted->rank &&
		    !strcmp(outputs[i].main_path, wanted->main_path))
			return true;
	}
	return false;
}

/* No process got the main name: the first other one has it. */
static int promote(const char *run_path, struct cm_output *outputs, size_t n, struct cm_diag *diag)
{
	for (size_t i = 0; i < n; i++) {
		struct cm_output *output = &outputs[i];
		struct cm_diag ignored = {0};
		int rc;

		if (is_taken(outputs, n, output) || access(output->path, F_OK) < 0)
			continue;
		rc = cm_writer_join(output->path, output->main_path, output->run_id, output->rank,
				    output->join_size, false, &ignored);
		if (rc < 0 && rc != -EEXIST)
			return cm_diag_set(diag, rc, "%s", ignored.text);
		if (rc == -EEXIST)
			continue; /* somebody was faster: it keeps the name it has */
		output->is_main = true;
		output->path = output->main_path;
		/* As in note_output(): the file counts, not the note. */
		(void)cm_outputs_append(run_path, output);
	}
	return 0;
}

/* Main names of several ranks get what has come; no more will. */
static int finish(const struct cm_output *outputs, size_t n, struct cm_diag *diag)
{
	for (size_t i = 0; i < n; i++) {
		bool is_first = true;
		int rc;

		for (size_t k = 0; k < i; k++)
			is_first &= outputs[k].join_size <= 1 ||
				    strcmp(outputs[k].main_path, outputs[i].main_path) != 0;
		if (outputs[i].join_size <= 1 || !is_first)
			continue;
		rc = cm_writer_finish(outputs[i].main_path, outputs[i].run_id, outputs[i].is_ranked,
				      diag);
		if (rc < 0 && rc != -ENOENT)
			return rc;
	}
	return 0;
}

static int finish_run(const char *run_path, bool has_alive, struct cm_diag *diag)
{
	struct cm_arena arena = {0};
	struct cm_output *outputs = NULL;
	size_t n = 0;
	int rc = cm_outputs_read(run_path, &arena, &outputs, &n);

	if (rc == 0)
		rc = promote(run_path, outputs, n, diag);
	if (rc == 0 && !has_alive)
		rc = finish(outputs, n, diag);
	cm_arena_fini(&arena);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", run_path, strerror(-rc));
	return 0;
}

int cm_collect_run(const char *run_path, const struct cm_collect_options *options,
		   void (*complain)(const struct cm_diag *diag, const char *path),
		   struct cm_diag *diag)
{
	struct entries entries = {0};
	bool has_failed = false;
	int rc = cm_spool_check_owner(run_path, diag);

	if (rc >= 0)
		rc = list_entries(&entries, run_path, diag);
	for (size_t i = 0; rc >= 0 && i < entries.n; i++) {
		struct cm_diag one = {0};
		int got = cm_collect_spool(entries.list[i].path, options, &one);

		if (got >= 0 || got == -ENOENT)
			continue; /* gone: another collector took it */
		complain(&one, entries.list[i].path);
		has_failed = true;
	}
	if (rc >= 0)
		rc = finish_run(run_path, entries.n_alive > 0, diag);
	if (rc >= 0 && !options->keep)
		cm_spool_run_remove(run_path, true);
	free(entries.list);
	if (rc == 0 && has_failed)
		return -EIO; /* each has been complained about */
	return rc;
}
