/* SPDX-License-Identifier: BSD-3-Clause */
/* The ladder. */
#include "collector/counters.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/counters-map.h"
#include "collector/counters-run.h"
#include "collector/progress.h"
#include "preload/environment.h"

#define RESULT_NAME "counters.json" /* in the spool's folder, for a moment */
#define DEFAULT_TIMEOUT_S 120
#define MAX_TIMEOUT_S 86400
#define SHOW_NS 100000000L
#define REASON_BYTES 1024

struct cm_counters {
	struct cm_spool_reader *reader;
	char result_path[PATH_MAX];
	char reader_path[PATH_MAX];
	char *argv[6];
	char **envp;
	struct cm_counters_run run;
	bool is_wanted; /* there is a marker file to be read */
	bool has_thread;
	pthread_t thread;
	char reason[REASON_BYTES]; /* why full_api did not answer */
};

/* Reasons are joined: each rung of the ladder has its own. Paths may hold anything: one line. */
static void add_reason(struct cm_counters *counters, const char *text)
{
	size_t n = strlen(counters->reason);

	snprintf(counters->reason + n, sizeof(counters->reason) - n, "%s%s", n ? "; " : "", text);
	for (char *p = counters->reason + n; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
}

static void find_reader_path(struct cm_counters *counters)
{
	const char *given = getenv(CM_ENV_READER);
	char *slash;
	ssize_t n;

	if (given && *given) {
		snprintf(counters->reader_path, sizeof(counters->reader_path), "%s", given);
		return;
	}
	n = readlink("/proc/self/exe", counters->reader_path, sizeof(counters->reader_path) - 1);
	counters->reader_path[n < 0 ? 0 : n] = '\0';
	slash = strrchr(counters->reader_path, '/');
	n = slash ? slash + 1 - counters->reader_path : 0;
	snprintf(counters->reader_path + n, sizeof(counters->reader_path) - (size_t)n, "%s",
		 CM_READER_NAME);
}

static unsigned int find_timeout(struct cm_spool_reader *reader)
{
	const char *text = getenv(CM_ENV_READER_TIMEOUT);
	char *end;
	long seconds;

	if (!text)
		text = cm_spool_reader_getenv(reader, CM_ENV_READER_TIMEOUT);
	if (!text || !*text)
		return DEFAULT_TIMEOUT_S;
	seconds = strtol(text, &end, 10);
	if (*end || seconds < 1 || seconds > MAX_TIMEOUT_S) {
		fprintf(stderr, "callmark: %s=%s: expected seconds from 1 to %d, taking %d\n",
			CM_ENV_READER_TIMEOUT, text, MAX_TIMEOUT_S, DEFAULT_TIMEOUT_S);
		return DEFAULT_TIMEOUT_S;
	}
	return (unsigned int)seconds;
}

static bool is_this_host(const struct cm_spool_reader *reader)
{
	char host[256] = "";

	return gethostname(host, sizeof(host) - 1) < 0 || !strcmp(host, reader->hostname);
}

static void *run_reader(void *ctx)
{
	struct cm_counters *counters = ctx;

	cm_counters_run(&counters->run);
	return NULL;
}

/* In a thread, so that the traces are written meanwhile; without one, finish() does it. */
static int start_reader(struct cm_counters *counters)
{
	struct cm_spool_reader *reader = counters->reader;
	char text[REASON_BYTES];
	int n, rc = cm_counters_environment(reader, &counters->envp);

	if (rc < 0)
		return rc;
	if (!is_this_host(reader)) {
		snprintf(text, sizeof(text),
			 "the program ran on %s, callmark-reader cannot ask there",
			 reader->hostname);
		add_reason(counters, text);
		return 0;
	}
	n = snprintf(counters->result_path, sizeof(counters->result_path), "%s/" RESULT_NAME,
		     reader->path);
	if (n >= (int)sizeof(counters->result_path)) {
		add_reason(counters, "the spool's path is too long");
		return 0;
	}
	/* What an earlier attempt left is not ours. */
	(void)unlinkat(reader->dir_fd, RESULT_NAME, 0);
	(void)unlinkat(reader->dir_fd, RESULT_NAME ".tmp", 0);
	find_reader_path(counters);
	counters->argv[0] = counters->reader_path;
	counters->argv[1] = (char *)"--read";
	counters->argv[2] = counters->result_path;
	counters->argv[3] = (char *)"--library";
	counters->argv[4] = (char *)reader->likwid_path; /* execve() takes it as it is */
	counters->run.argv = counters->argv;
	counters->run.envp = counters->envp;
	counters->run.timeout_s = find_timeout(reader);
	counters->is_wanted = true;
	counters->has_thread = !pthread_create(&counters->thread, NULL, run_reader, counters);
	return 0;
}

int cm_counters_start(struct cm_counters **ret_counters, struct cm_spool_reader *reader,
		      struct cm_diag *diag)
{
	struct cm_counters *counters = calloc(1, sizeof(*counters));
	int rc = counters ? 0 : -ENOMEM;

	if (rc == 0) {
		counters->reader = reader;
		if (reader->has_counters && reader->counters.state == CM_COUNTERS_CLOSED)
			rc = start_reader(counters);
	}
	if (rc < 0) {
		cm_counters_free(counters);
		return cm_diag_set(diag, rc, "%s: not enough memory", reader->path);
	}
	*ret_counters = counters;
	return 0;
}

/* Until the thread has ended; a terminal sees that something is going on. */
static void wait_reader(struct cm_counters *counters, bool is_shown)
{
	struct cm_progress progress;
	struct timespec until;

	if (!counters->has_thread) {
		cm_counters_run(&counters->run);
		return;
	}
	cm_progress_start(&progress, is_shown, "callmark: reading the counters", 0);
	do {
		cm_progress_add(&progress, 0);
		(void)clock_gettime(CLOCK_MONOTONIC, &until); /* valid arguments */
		until.tv_nsec += SHOW_NS;
		if (until.tv_nsec >= 1000000000L) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000L;
		}
	} while (pthread_clockjoin_np(counters->thread, NULL, CLOCK_MONOTONIC, &until) ==
		 ETIMEDOUT);
	cm_progress_stop(&progress);
	counters->has_thread = false;
}

/* 1: full_api has answered; 0: it has not, with a reason. */
static int try_result(struct cm_counters *counters, struct cm_counters_map *map,
		      struct cm_profile *profile)
{
	struct cm_reader_result result;
	struct cm_diag diag = {0};
	char text[REASON_BYTES];
	int rc;

	rc = cm_reader_result_load(&result, counters->result_path, &counters->reader->arena, &diag);
	(void)unlinkat(counters->reader->dir_fd, RESULT_NAME, 0);
	(void)unlinkat(counters->reader->dir_fd, RESULT_NAME ".tmp", 0); /* of one that crashed */
	if (rc == -ENOMEM)
		return rc;
	if (rc == 0) {
		profile->likwid_cpu_name = result.cpu_name;
		rc = cm_counters_map_add_result(map, &result);
		return rc < 0 ? rc : 1;
	}
	add_reason(counters, cm_counters_run_explain(&counters->run, text, sizeof(text)));
	if (rc != -ENOENT)
		add_reason(counters, diag.text);
	return 0;
}

static const char *find_file_path(char *const *envp)
{
	static const char name[] = "LIKWID_FILEPATH=";

	for (; envp && *envp; envp++) {
		if (!strncmp(*envp, name, strlen(name)))
			return *envp + strlen(name);
	}
	return "";
}

static int try_file(struct cm_counters *counters, struct cm_counters_map *map)
{
	struct cm_marker_file file;
	struct cm_diag diag = {0};
	int rc = cm_marker_file_load(&file, find_file_path(counters->envp),
				     &counters->reader->arena, &diag);

	if (rc == -ENOMEM)
		return rc;
	if (rc < 0 || file.damage.text[0])
		add_reason(counters, rc < 0 ? diag.text : file.damage.text);
	return rc < 0 ? 0 : cm_counters_map_add_file(map, &file);
}

static int climb(struct cm_counters *counters, struct cm_counters_map *map,
		 struct cm_profile *profile)
{
	int rc = 0;

	if (counters->reader->counters.state == CM_COUNTERS_EMPTY)
		return 0;
	if (counters->reader->counters.state == CM_COUNTERS_LOST)
		add_reason(counters, counters->reader->counters_reason);
	if (counters->is_wanted)
		rc = try_result(counters, map, profile);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (counters->reader->counters.state == CM_COUNTERS_CLOSED)
		rc = try_file(counters, map);
	return rc < 0 ? rc : cm_counters_map_add_snapshots(map);
}

/* Every LIKWID_* variable, as attributes of the likwid group. */
static int add_environment(struct cm_profile *profile, struct cm_spool_reader *reader)
{
	struct cm_meta *list = cm_arena_array(&reader->arena, reader->n_env, sizeof(*list));
	size_t n = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_env; i++) {
		const char *entry = reader->env[i], *equals = strchr(entry, '=');

		if (strncmp(entry, "LIKWID_", 7) != 0 || !equals)
			continue;
		list[n].kind = CM_META_STRING;
		list[n].name = cm_arena_copy(&reader->arena, entry, (size_t)(equals - entry));
		list[n].string = equals + 1;
		if (!list[n++].name)
			return -ENOMEM;
	}
	profile->likwid_environment = list;
	profile->n_likwid_environment = n;
	return 0;
}

static void say_fallback(const struct cm_counters *counters, const struct cm_counters_map *map)
{
	const char *what = "there are no counters";

	if (map->n_counters && !strcmp(map->counters[0].source, "marker_file"))
		what = "counters without names and metrics, from LIKWID's marker file";
	else if (map->n_counters)
		what = "counters without names and metrics, as LIKWID had them before its end";
	fprintf(stderr, "callmark: %s: %s\n", what, counters->reason);
}

int cm_counters_finish(struct cm_counters *counters, struct cm_profile *profile, bool is_shown,
		       struct cm_diag *diag)
{
	struct cm_spool_reader *reader = counters->reader;
	uint32_t state = reader->counters.state;
	struct cm_counters_map map;
	int rc;

	if (!reader->has_counters || (state != CM_COUNTERS_CLOSED && state != CM_COUNTERS_EMPTY &&
				      state != CM_COUNTERS_LOST))
		return 0;
	if (counters->is_wanted)
		wait_reader(counters, is_shown);
	rc = cm_counters_map_init(&map, reader);
	if (rc == 0)
		rc = climb(counters, &map, profile);
	if (rc == 0)
		rc = add_environment(profile, reader);
	if (rc == 0 && counters->reason[0]) {
		say_fallback(counters, &map);
		profile->likwid_fallback =
			cm_arena_copy(&reader->arena, counters->reason, strlen(counters->reason));
		rc = profile->likwid_fallback ? 0 : -ENOMEM;
	}
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: not enough memory", reader->path);
	profile->has_likwid = true;
	profile->counters = map.counters;
	profile->n_counters = map.n_counters;
	return 0;
}

void cm_counters_free(struct cm_counters *counters)
{
	if (!counters)
		return;
	if (counters->has_thread) {
		atomic_store_explicit(&counters->run.is_cancelled, true, memory_order_relaxed);
		(void)pthread_join(counters->thread, NULL); /* it is ours and was not joined */
		(void)unlinkat(counters->reader->dir_fd, RESULT_NAME, 0);
		(void)unlinkat(counters->reader->dir_fd, RESULT_NAME ".tmp", 0);
	}
	free(counters);
}

const char *cm_counters_note(struct cm_spool_reader *reader, int *ret_rc)
{
	const char *note = NULL;

	if (!reader->has_counters)
		return NULL;
	if (reader->counters.state == CM_COUNTERS_ARMED)
		return "no hardware counters: the process ended before its markers were closed";
	if (reader->counters.state != CM_COUNTERS_REFUSED)
		return NULL;
	note = cm_arena_format(&reader->arena, "no hardware counters: %s",
			       *reader->counters_reason ? reader->counters_reason
							: "for a reason that is not known");
	*ret_rc = note ? 0 : -ENOMEM;
	return note;
}

int cm_counters_add_skips(struct cm_profile *profile, struct cm_spool_reader *reader)
{
	static const char *const names[] = {
#define CM_SKIP_NAME(name, text, meaning) text,
		CM_MARKER_SKIPS(CM_SKIP_NAME)
#undef CM_SKIP_NAME
	};
	struct cm_profile_skip *skips;
	size_t n = 0;

	skips = cm_arena_array(&reader->arena, CM_N_MARKER_SKIPS, sizeof(*skips));
	if (!skips)
		return -ENOMEM;
	for (size_t i = 0; i < CM_N_MARKER_SKIPS; i++) {
		uint64_t count = reader->skips.n[i];

		if (!count)
			continue;
		skips[n].reason = names[i];
		skips[n++].n = count > INT64_MAX ? INT64_MAX : (int64_t)count;
	}
	profile->skips = skips;
	profile->n_skips = n;
	return 0;
}
