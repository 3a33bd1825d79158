/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process takes over when it ends, because nobody else may come for it. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/collect-spool.h"
#include "collector/liveness.h"
#include "collector/spool-run.h"

#define MAX_ROUNDS 10

/* The first program that this process was after `after` and before `before`: its spool. */
static bool find_earlier(const char *run_path, uint64_t pid, uint64_t after, uint64_t before,
			 char *ret_path, uint64_t *ret_start_ns)
{
	DIR *dir = opendir(run_path);
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir))) {
		uint64_t owner, start_ns;

		/* Of this process, not of one that had its pid before. */
		if (!cm_liveness_parse(entry->d_name, &owner, &start_ns) || owner != pid ||
		    start_ns <= after || start_ns >= before || !cm_liveness_is_alive(pid, start_ns))
			continue;
		if (snprintf(ret_path, PATH_MAX, "%s/%s", run_path, entry->d_name) >= PATH_MAX)
			continue;
		*ret_start_ns = before = start_ns;
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

void cm_collect_rest(const char *run_path, const char *spool_path,
		     const struct cm_collect_options *options,
		     void (*complain)(const struct cm_diag *diag, const char *path))
{
	const char *slash = strrchr(spool_path, '/');
	uint64_t pid, start_ns, earlier_ns = 0;
	char path[PATH_MAX];

	/* One that has ended is taken over by somebody who looks for the others as well. */
	if (!cm_liveness_parse(slash ? slash + 1 : spool_path, &pid, &start_ns) ||
	    !cm_liveness_is_alive(pid, start_ns))
		return;
	/* `run` would not do it if it ended now: the process lives. */
	while (find_earlier(run_path, pid, earlier_ns, start_ns, path, &earlier_ns)) {
		struct cm_diag diag = {0};
		int rc = cm_collect_spool(path, options, &diag);

		if (rc < 0 && rc != -ENOENT)
			complain(&diag, path);
	}
	for (int i = 0; i < MAX_ROUNDS; i++) {
		struct cm_diag diag = {0};
		int rc, fd = cm_spool_run_lock(run_path);

		if (fd < 0)
			return; /* a `run` stands, or somebody else does this */
		rc = cm_collect_run(run_path, options, complain, &diag);
		if (rc < 0 && diag.text[0])
			complain(&diag, run_path);
		close(fd);
		/* Who ends meanwhile cannot lock it; we may have looked before that spool went. */
		if (rc < 0 || !cm_spool_run_is_bare(run_path))
			return;
	}
}
