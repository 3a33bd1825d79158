/* SPDX-License-Identifier: BSD-3-Clause */
/* What `callmark run` sets up before the program starts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/locate.h"
#include "cli/run.h"
#include "collector/rank.h"
#include "preload/environment.h"
#include "preload/launcher.h"

static const char *get_own(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

/* An option, else its variable where that is not empty, else NULL. */
static const char *choose(const char *option, const char *name)
{
	const char *value = option ? option : getenv(name);

	return value && value[0] ? value : NULL;
}

/* The program may change its folder: everything it gets is absolute. NULL: out of memory. */
static char *make_absolute(const char *path)
{
	char *cwd, *text;

	if (path[0] == '/')
		return strdup(path);
	cwd = getcwd(NULL, 0);
	if (!cwd || asprintf(&text, "%s/%s", cwd, path) < 0)
		text = NULL;
	free(cwd);
	return text;
}

static int set_absolute(struct cm_run *run, const char *name, const char *path)
{
	char *text = path ? make_absolute(path) : NULL;
	int rc = path && !text ? -ENOMEM : cm_environ_set(&run->env, name, text);

	free(text);
	return rc;
}

/* Only trying is sure: root may write where the file system does not let anybody. */
static int try_to_write(const char *folder)
{
	char path[PATH_MAX];
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
		/* No such thing on this file system. */
		if (snprintf(path, sizeof(path), "%s/.callmark-XXXXXX", folder) >=
		    (int)sizeof(path))
			return -ENAMETOOLONG;
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			(void)unlink(path); /* empty, and nobody knows its name */
	}
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int check_folder(const char *folder, struct cm_diag *diag)
{
	struct stat st;
	int rc = stat(folder, &st) ? -errno : 0;

	if (!rc && !S_ISDIR(st.st_mode))
		rc = -ENOTDIR;
	if (!rc)
		rc = try_to_write(folder);
	if (rc == -ENOSPC || rc == -EDQUOT)
		rc = 0; /* may have changed by then; if not, the spool is kept */
	return cm_diag_set(rc < 0 ? diag : NULL, rc, "the output folder %s cannot be written: %s",
			   folder, strerror(-rc));
}

/* A folder with a placeholder in its name is known only later. */
static int check_output(const char *output, struct cm_diag *diag)
{
	const char *slash = strrchr(output, '/');
	char *folder = slash ? strndup(output, (size_t)(slash - output) + 1) : strdup(".");
	struct stat st;
	int rc = 0;

	if (!folder)
		return -ENOMEM;
	if (!strchr(folder, '%'))
		rc = check_folder(folder, diag);
	if (!rc && !stat(output, &st) && !S_ISREG(st.st_mode))
		rc = cm_diag_set(diag, -EINVAL, "the output %s exists and is not a regular file",
				 output);
	free(folder);
	return rc;
}

/*
 * The user's, else the launcher's, else one that nobody else has. A `run` inside of a `run` has its
 * own rules: it does not join the outer one.
 */
static void choose_run_id(struct cm_run *run)
{
	const char *given = getenv(CM_ENV_MAIN_PID) ? NULL : choose(NULL, CM_ENV_RUN_ID);
	time_t now = time(NULL);
	uint32_t random = 0;
	char text[32] = "";
	struct tm tm;

	if (given) {
		snprintf(run->run_id, sizeof(run->run_id), "%s", given);
		return;
	}
	if (cm_launcher_run_id(get_own, NULL, run->run_id, sizeof(run->run_id)))
		return;
	if (gmtime_r(&now, &tm))
		strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &tm);
	/* Time and pid would do on one machine; the random part is for shared spools. */
	(void)!getrandom(&random, sizeof(random), 0);
	snprintf(run->run_id, sizeof(run->run_id), "%s-%d-%04x", text, (int)getpid(),
		 random & 0xffff);
}

static int open_folder(struct cm_run *run, struct cm_diag *diag)
{
	char *base =
		make_absolute(cm_spool_base(choose(run->spool, CM_ENV_SPOOL), getenv("TMPDIR")));
	char path[CM_SPOOL_PATH_BYTES];
	int rc = base ? 0 : -ENOMEM;

	choose_run_id(run);
	if (!rc)
		rc = cm_spool_run_path(base, geteuid(), run->run_id, path, sizeof(path));
	if (rc < 0)
		(void)cm_diag_set(diag, rc, "spool folder %s: %s", base ? base : "", strerror(-rc));
	if (!rc)
		rc = cm_environ_set(&run->env, CM_ENV_SPOOL, base);
	if (!rc)
		rc = cm_run_folder_open(&run->folder, path, run->set.rules.n_rules, diag);
	free(base);
	return rc;
}

static int append_item(char **list, const char *item)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ":" : "", item) < 0)
		return -ENOMEM;
	free(*list);
	*list = longer;
	return 0;
}

/* Does a list for LD_PRELOAD hold this path? Items end at colons and blanks. */
static bool has_item(const char *list, const char *path)
{
	size_t n = strlen(path);

	for (;;) {
		list += strspn(list, ": ");
		if (!*list)
			return false;
		if (strcspn(list, ": ") == n && !strncmp(list, path, n))
			return true;
		list += strcspn(list, ": ");
	}
}

int cm_run_set_preload(struct cm_run *run, const char *pinning, struct cm_diag *diag)
{
	const char *asan = run->program.asan;
	const char *items[] = {asan, run->preload, pinning, choose(NULL, "LD_PRELOAD")};
	char *list = NULL;
	int rc = 0;

	if (strpbrk(run->preload, ": "))
		return cm_diag_set(diag, -EINVAL,
				   "%s: LD_PRELOAD cannot hold a path with a blank or a colon; "
				   "install callmark elsewhere",
				   run->preload);
	if (items[3] && has_item(items[3], run->preload) && !asan[0] && !pinning)
		return 0;
	for (size_t i = 0; !rc && i < sizeof(items) / sizeof(items[0]); i++)
		if (items[i] && items[i][0])
			rc = append_item(&list, items[i]);
	if (!rc)
		rc = cm_environ_set(&run->env, "LD_PRELOAD", list);
	free(list);
	return rc;
}

static int set_variables(struct cm_run *run)
{
	struct cm_environ *env = &run->env;
	struct cm_rank rank;

	/* What an outer `run` set is not ours. */
	cm_environ_remove(env, CM_ENV_RANKED "=");
	cm_environ_remove(env, CM_ENV_MAIN_PID "=");
	cm_rank_find(get_own, NULL, &rank);
	run->is_ranked = rank.has_rank;
	if (rank.has_rank)
		cm_environ_set(env, CM_ENV_RANKED, "1");
	if (run->verbosity > 1)
		cm_environ_set(env, CM_ENV_VERBOSE, "1");
	cm_environ_set(env, CM_ENV_SYMBOLS, run->symbols);
	cm_environ_set(env, CM_ENV_CLOCK, run->clock);
	cm_environ_set(env, CM_ENV_COMPRESS, run->compress);
	if (run->keep_shards)
		cm_environ_set(env, CM_ENV_SHARDS, "1");
	cm_environ_set(env, CM_ENV_RUN_ID, run->run_id);
	cm_environ_set(env, CM_ENV_COLLECT, run->collect);
	/* Room for a pid; the child writes its own. */
	return cm_environ_set(env, CM_ENV_MAIN_PID, "               ");
}

int cm_run_prepare(struct cm_run *run, struct cm_diag *diag)
{
	const char *output = choose(run->output, CM_ENV_OUTPUT);
	int rc;

	if (!output)
		output = CM_DEFAULT_OUTPUT;
	rc = cm_locate(CM_PART_PRELOAD, run->preload, sizeof(run->preload), diag);
	if (!rc)
		rc = cm_locate(CM_PART_COLLECT, run->collect, sizeof(run->collect), diag);
	if (!rc)
		rc = check_output(output, diag);
	if (!rc)
		rc = cm_run_set_preload(run, NULL, diag);
	if (!rc)
		rc = set_absolute(run, CM_ENV_OUTPUT, output);
	if (!rc)
		rc = set_absolute(run, CM_ENV_CONFIG, choose(run->config, CM_ENV_CONFIG));
	if (!rc)
		rc = set_absolute(run, CM_ENV_CACHE, choose(NULL, CM_ENV_CACHE));
	if (!rc)
		rc = open_folder(run, diag);
	if (!rc)
		rc = set_variables(run);
	return cm_diag_set(rc < 0 ? diag : NULL, rc, "%s", strerror(-rc));
}
