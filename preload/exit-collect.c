/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting the collector on the spool of this process, with an environment of its own. */
#include <errno.h>
#include <string.h>

#include "preload/exit.h"
#include "preload/memory.h"
#include "preload/say.h"
#include "preload/spawn.h"

#define CM_MAX_VARIABLES 64

static char *environment[CM_MAX_VARIABLES + 1];

void cm_exit_keep_environment(char **envp)
{
	static const char *const names[] = {"PATH=", "HOME=", "TMPDIR=",  "TERM=",     "LANG=",
					    "LC_",   "USER=", "COLUMNS=", "NO_COLOR=", "CALLMARK_"};
	int n = 0;

	for (; envp && *envp; envp++)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names) && n < CM_MAX_VARIABLES; i++)
			if (!strncmp(*envp, names[i], strlen(names[i])))
				environment[n++] = *envp;
	for (int i = 0; i < n; i++) /* programs overwrite theirs (setproctitle) */
		environment[i] = cm_memory_string(environment[i]);
}

char *const *cm_exit_environment(void)
{
	return environment;
}

int cm_exit_collect(const char *collect, const char *folder)
{
	char *const argv[] = {(char *)collect, (char *)"--progress", (char *)folder, NULL};
	struct cm_spawn spawn = {.path = collect,
				 .argv = argv,
				 .envp = environment,
				 .output = -1,
				 .keep_stderr = cm_say_has_stderr()};

	return *collect ? cm_spawn_run(&spawn) : -ENOENT;
}
