/* SPDX-License-Identifier: BSD-3-Clause */
/* What `callmark run` does once the program has ended. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/collect-start.h"
#include "cli/run.h"
#include "cli/say.h"
#include "collector/collect.h"
#include "preload/spool.h"

#define MAX_NAMED_RULES 10
#define MAX_NAMED_FILES 10

/* Append "a, b" to a bounded text; what does not fit is left out. */
static void append_name(char *text, size_t n_bytes, const char *name)
{
	size_t n = strlen(text);

	snprintf(text + n, n_bytes - n, "%s%s", n ? ", " : "", name);
}

/* Name the rules with this byte in `matched`; how many there are. */
static uint32_t say_rules(const struct cm_run *run, const uint8_t *matched, uint8_t byte,
			  const char *what)
{
	const struct cm_rules *rules = &run->set.rules;
	char names[2048] = "";
	uint32_t n = 0;

	for (uint32_t i = 0; i < rules->n_rules; i++) {
		char name[192];

		if (rules->rules[i].exclude || matched[i] != byte)
			continue;
		(void)cm_rule_set_name(&rules->rules[i], name, sizeof(name)); /* may be cut */
		if (n++ < MAX_NAMED_RULES)
			append_name(names, sizeof(names), name);
	}
	if (n > MAX_NAMED_RULES)
		cm_say("%u of %u rules matched %s: %s and %u more", n, run->set.n_patterns, what,
		       names, n - MAX_NAMED_RULES);
	else if (n)
		cm_say("%u of %u rule%s matched %s: %s", n, run->set.n_patterns,
		       run->set.n_patterns > 1 ? "s" : "", what, names);
	return n;
}

/* How many rules matched nothing that was intercepted; 0 also where that is not known. */
static uint32_t say_unmatched(const struct cm_run *run)
{
	uint8_t *matched = calloc(run->set.rules.n_rules, 1);
	uint32_t n = 0;

	if (matched && !cm_run_folder_read_matched(&run->folder, matched, run->set.rules.n_rules))
		n = say_rules(run, matched, 0, "nothing") +
		    say_rules(run, matched, CM_MATCHED_REFUSED,
			      "only what cannot be intercepted (callmark symbols says why)");
	free(matched);
	return n;
}

/* `outputs` names every file made, also under names they no longer have. */
static unsigned say_outputs(const struct cm_run *run)
{
	char said[MAX_NAMED_FILES][PATH_MAX];
	char *line = NULL;
	size_t n_room = 0;
	unsigned n = 0;
	struct stat st;
	ssize_t length;
	int fd = dup(run->folder.outputs_fd);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "re");

	if (!file) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	rewind(file);
	while ((length = getline(&line, &n_room, file)) > 0) {
		char *path = strrchr(line, '\t');
		unsigned k = 0;

		line[strcspn(line, "\n")] = '\0';
		if (!path || stat(++path, &st))
			continue;
		while (k < n && k < MAX_NAMED_FILES && strcmp(said[k], path))
			k++;
		if (k < n || k == MAX_NAMED_FILES)
			continue;
		snprintf(said[n++], PATH_MAX, "%s", path);
		if (run->verbosity)
			cm_say("wrote %s", path);
	}
	free(line);
	fclose(file);
	return n;
}

/* The spools of one process id: the program's own, one for each image it executed. */
static size_t find_spools(const struct cm_run *run, pid_t pid, char ***ret_paths)
{
	DIR *dir = opendir(run->folder.path);
	struct dirent *entry;
	char **paths = NULL;
	size_t n = 0;
	pid_t owner;

	while (dir && (entry = readdir(dir))) {
		char **grown;

		if (!cm_run_folder_is_process(entry->d_name, &owner) || owner != pid)
			continue;
		grown = reallocarray(paths, n + 1, sizeof(paths[0]));
		if (!grown)
			break;
		paths = grown;
		if (asprintf(&paths[n], "%s/%s", run->folder.path, entry->d_name) < 0)
			break;
		n++;
	}
	if (dir)
		closedir(dir);
	*ret_paths = paths;
	return n;
}

/* The collector says itself what it could not do; not when it was killed or never ran. */
static void say_failure(const struct cm_run *run, int status)
{
	char why[64];

	if (status == CM_COLLECT_OK || status == CM_COLLECT_FAILED)
		return;
	if (status < 0)
		snprintf(why, sizeof(why), "%s", strerror(-status));
	else if (status > 128)
		snprintf(why, sizeof(why), "%s", strsignal(status - 128));
	else
		snprintf(why, sizeof(why), "exit status %d", status);
	cm_say("the profile was not collected (%s: %s); it is kept, get it with: "
	       "callmark recover %s",
	       run->collect, why, run->folder.path);
}

static int collect_all(const struct cm_run *run)
{
	const char *options[] = {"--run", NULL};
	const char *folder = run->folder.path;
	struct stat st;

	cm_run_wait_ranks(run);
	if (!cm_run_folder_n_spools(folder) && (fstat(run->folder.outputs_fd, &st) || !st.st_size))
		return CM_COLLECT_OK; /* nothing recorded, or all of it taken over by others */
	return cm_collect_start(&run->supervise, run->collect, options, &folder, 1, run->is_ranked);
}

static int collect_own(const struct cm_run *run, pid_t pid)
{
	const char *options[] = {NULL};
	char **paths;
	size_t n = find_spools(run, pid, &paths);
	int rc = CM_COLLECT_OK;

	if (n)
		rc = cm_collect_start(&run->supervise, run->collect, options,
				      (const char *const *)paths, n, run->is_ranked);
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
	return rc;
}

void cm_run_finish(struct cm_run *run, pid_t pid)
{
	bool is_last = cm_run_folder_is_last(&run->folder);
	int rc = is_last ? collect_all(run) : collect_own(run, pid);
	uint32_t n_unmatched;
	unsigned n_files;
	int n_left;

	say_failure(run, rc);
	if (is_last) {
		n_unmatched = say_unmatched(run);
		n_files = say_outputs(run);
		n_left = cm_run_folder_n_spools(run->folder.path);
		if (rc == CM_COLLECT_OK && n_left) {
			/* They collect for themselves when they end. */
			if (run->verbosity)
				cm_say("%d process%s of this run still run%s", n_left,
				       n_left > 1 ? "es" : "", n_left > 1 ? "" : "s");
		} else if (rc == CM_COLLECT_OK && !n_files && n_unmatched < run->set.n_patterns) {
			cm_say("no file was written: no intercepted function was called");
		}
	}
	/* Absent where nothing was counted; kept with the spool where that is. */
	if (run->marker_file && rc == CM_COLLECT_OK)
		(void)unlink(run->marker_file);
	cm_run_folder_close(&run->folder, is_last && rc == CM_COLLECT_OK);
}
