/* SPDX-License-Identifier: BSD-3-Clause */
/* Site files for `callmark run`, made before the program starts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/locate.h"
#include "cli/run.h"
#include "cli/say.h"
#include "cli/sites-start.h"
#include "preload/environment.h"
#include "preload/launcher.h"
#include "preload/site-file.h"

#define FALLBACK_NAME "sites"

/* The binary that the kernel will load, by the name that the program has in /proc. */
static char *find_binary(const struct cm_run *run)
{
	const char *path = run->program.path;

	if (run->program.interpreter[0])
		path = run->program.interpreter;
	else if (run->program.is_text)
		path = "/bin/sh";
	return realpath(path, NULL);
}

/* A launcher is not profiled, and its ranks are other programs: their preloads ask. */
static bool is_launcher(const struct cm_run *run, const char *binary)
{
	int argc = 0;

	while (run->argv[argc])
		argc++;
	return cm_launcher_is(strrchr(binary, '/') + 1, argc, run->argv);
}

static int make_files(struct cm_run *run, const struct cm_closure *closure, struct cm_diag *diag)
{
	char sites[PATH_MAX], cache[PATH_MAX], fallback[CM_SPOOL_PATH_BYTES + 16];
	struct cm_sites_request request = {
		.path = sites,
		.config = cm_environ_get(&run->env, CM_ENV_CONFIG),
		.symbols = cm_environ_get(&run->env, CM_ENV_SYMBOLS),
		.progress = "callmark: looking for the entries of functions"};
	const char **paths = NULL;
	size_t n_paths = 0, n = 0;
	int rc = cm_locate(CM_PART_SITES, sites, sizeof(sites), diag);

	if (rc < 0)
		return rc;
	if (!cm_site_cache(cm_environ_get(&run->env, CM_ENV_CACHE), getenv("XDG_CACHE_HOME"),
			   getenv("HOME"), cache, sizeof(cache)))
		request.folders[n++] = cache;
	snprintf(fallback, sizeof(fallback), "%s/" FALLBACK_NAME, run->folder.path);
	request.folders[n] = fallback;
	if (request.config && !request.config[0])
		request.config = NULL;
	rc = cm_sites_choose(closure, &run->set.rules, &paths, &n_paths);
	if (!rc && n_paths)
		rc = cm_sites_start(&run->supervise, &request, paths, n_paths, diag);
	free(paths);
	return rc;
}

int cm_run_sites(struct cm_run *run)
{
	struct cm_closure closure = {0};
	struct cm_diag diag = {0};
	char *binary;
	int rc = 0;

	if (!run->set.rules.has_internal)
		return 0;
	binary = find_binary(run);
	if (!binary || is_launcher(run, binary))
		goto out; /* what cannot be found cannot be started either: that is said then */
	rc = cm_closure_load(&closure, binary, &diag);
	if (!rc)
		rc = make_files(run, &closure, &diag);
	if (rc && rc != -EINTR)
		cm_say("internal=yes: %s", diag.text[0] ? diag.text : strerror(-rc));
out:
	cm_closure_fini(&closure);
	free(binary);
	return rc == -EINTR ? rc : 0;
}
