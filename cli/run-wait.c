/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A launcher that gives up (MPI_Abort, a rank that was killed) may end before the ranks that it
 * has told to. They are waited for, for a moment: their data is complete once they are gone, and
 * nobody else would collect it.
 */
#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "cli/run.h"
#include "collector/liveness.h"
#include "preload/launcher.h"

#define MAX_WAITS 100 /* of 20 ms */

static bool has_alive(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		uint64_t pid, start_ns;

		found = cm_liveness_parse(entry->d_name, &pid, &start_ns) &&
			cm_liveness_is_alive(pid, start_ns);
	}
	if (dir)
		closedir(dir);
	return found;
}

void cm_run_wait_ranks(const struct cm_run *run)
{
	const char *slash = strrchr(run->argv[0], '/');
	int argc = 0;

	while (run->argv[argc])
		argc++;
	if (!cm_launcher_is(slash ? slash + 1 : run->argv[0], argc, run->argv))
		return;
	for (int i = 0; i < MAX_WAITS && has_alive(run->folder.path); i++) {
		struct timespec pause = {.tv_nsec = 20000000};

		(void)nanosleep(&pause, NULL); /* waking early is no harm */
	}
}
