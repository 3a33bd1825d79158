/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts first, then the captured environment under its own names. */
#include "collector/metadata.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define MAX_VALUE ((size_t)60000) /* an attribute holds 64 KiB */
#define CUT_MARK "...[truncated]"
#define MAX_VARIABLES 1024
#define N_FACTS 16

struct list {
	struct cm_spool_reader *reader;
	struct cm_meta *metas;
	size_t n;
	bool failed; /* memory */
};

/* Captured when set, as scope-profiler does; the SLURM ones by their beginning. */
static bool is_captured(const char *variable, size_t n_name)
{
	static const char *const names[] = {"PATH",	     "LD_LIBRARY_PATH",
					    "LOADEDMODULES", "MODULEPATH",
					    "MODULESHOME",   "MODULES_CMD",
					    "VIRTUAL_ENV",   "PYTHON_HOME",
					    "PYTHON_INC",    "MODULES_RUN_QUARANTINE",
					    "PYTHON_LIB",    "PYTHON_INCLUDE"};

	if (!strncmp(variable, "SLURM_", 6) || !strncmp(variable, "SLURMD_", 7))
		return n_name > 7;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strlen(names[i]) == n_name && !strncmp(names[i], variable, n_name))
			return true;
	}
	return false;
}

/* text is borrowed unless it is too long; NULL: memory was short when it was made. */
static void add_string(struct list *list, const char *name, const char *text)
{
	struct cm_meta *meta = &list->metas[list->n++];

	if (text && strlen(text) > MAX_VALUE) {
		size_t n = MAX_VALUE - strlen(CUT_MARK);

		/* Not inside a character. */
		while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		text = cm_arena_format(&list->reader->arena, "%.*s" CUT_MARK, (int)n, text);
	}
	meta->name = name;
	meta->kind = CM_META_STRING;
	meta->string = text;
	list->failed |= !text;
}

static void add_int(struct list *list, const char *name, int64_t value)
{
	struct cm_meta *meta = &list->metas[list->n++];

	meta->name = name;
	meta->kind = CM_META_INT;
	meta->integer = value;
}

static char *format_timestamp(struct cm_spool_reader *reader)
{
	time_t seconds = (time_t)(reader->process.start_realtime_ns / 1000000000u);
	unsigned int us = (unsigned int)(reader->process.start_realtime_ns % 1000000000u / 1000u);
	char text[40] = "";
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		return cm_arena_copy(&reader->arena, "", 0);
	return cm_arena_format(&reader->arena, "%s.%06u+00:00", text, us);
}

static const char *find_user(struct cm_spool_reader *reader)
{
	const struct passwd *entry = getpwuid((uid_t)reader->process.uid);
	const char *name = entry ? entry->pw_name : cm_spool_reader_getenv(reader, "USER");

	if (name)
		return cm_arena_copy(&reader->arena, name, strlen(name));
	return cm_arena_format(&reader->arena, "%lu", (unsigned long)reader->process.uid);
}

/* "model name : Intel ..." of the first CPU; "cpu model" and such elsewhere; else the machine. */
static const char *find_chip(struct cm_spool_reader *reader, const char *machine)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	const char *chip = NULL;
	char line[512];

	while (file && !chip && fgets(line, sizeof(line), file)) {
		char *value = strchr(line, ':');

		if (!value ||
		    (strncasecmp(line, "model name", 10) && strncasecmp(line, "cpu model", 9)))
			continue;
		value += 1 + strspn(value + 1, " \t");
		chip = cm_arena_copy(&reader->arena, value, strcspn(value, "\n"));
	}
	if (file)
		fclose(file);
	return chip ? chip : cm_arena_copy(&reader->arena, machine, strlen(machine));
}

static void add_machine(struct list *list)
{
	struct cm_spool_reader *reader = list->reader;
	struct cm_arena *arena = &reader->arena;
	struct utsname uts;
	char here[256] = "";

	if (uname(&uts) < 0 || gethostname(here, sizeof(here) - 1) < 0 ||
	    (*reader->hostname && strcmp(here, reader->hostname))) {
		/* Collected elsewhere: nothing here describes the process's machine. */
		add_string(list, "hostname", reader->hostname);
		add_string(list, "platform", "unknown");
		add_string(list, "uname", "unknown");
		add_string(list, "chip_information", "unknown");
		return;
	}
	add_string(list, "hostname", cm_arena_copy(arena, here, strlen(here)));
	add_string(list, "platform",
		   cm_arena_format(arena, "%s-%s-%s-with-glibc%s", uts.sysname, uts.release,
				   uts.machine, gnu_get_libc_version()));
	add_string(list, "uname",
		   cm_arena_format(arena, "%s %s %s %s %s", uts.sysname, uts.nodename, uts.release,
				   uts.version, uts.machine));
	add_string(list, "chip_information", find_chip(reader, uts.machine));
}

/* LOADEDMODULES=a:b:c */
static void add_modules(struct list *list)
{
	const char *text = cm_spool_reader_getenv(list->reader, "LOADEDMODULES");
	struct cm_meta *meta = &list->metas[list->n++];
	struct cm_arena *arena = &list->reader->arena;
	size_t n_max = 1;
	const char **names;

	for (const char *p = text; p && *p; p++)
		n_max += *p == ':';
	names = cm_arena_array(arena, n_max, sizeof(*names));
	meta->name = "modules";
	meta->kind = CM_META_STRINGS;
	meta->strings = names;
	list->failed |= !names;
	while (names && text && *text) {
		size_t n = strcspn(text, ":");

		if (n) {
			names[meta->n_strings] = cm_arena_copy(arena, text, n);
			list->failed |= !names[meta->n_strings++];
		}
		text += n + (text[n] == ':');
	}
}

static void add_environment(struct list *list)
{
	size_t first = list->n;

	for (size_t i = 0; i < list->reader->n_env; i++) {
		const char *variable = list->reader->env[i];
		size_t n_name = strcspn(variable, "=");
		bool is_double = false;
		char *name;

		if (!variable[n_name] || !variable[n_name + 1] || !is_captured(variable, n_name))
			continue;
		for (size_t k = first; k < list->n; k++)
			is_double |= strlen(list->metas[k].name) == n_name &&
				     !strncmp(list->metas[k].name, variable, n_name);
		if (is_double || list->n - first == MAX_VARIABLES)
			continue;
		name = cm_arena_copy(&list->reader->arena, variable, n_name);
		list->failed |= !name;
		if (name)
			add_string(list, name, variable + n_name + 1);
	}
}

/* The first number of OMP_NUM_THREADS ("4,2" for nested teams); 1 as scope-profiler has it. */
static int64_t find_omp_threads(struct cm_spool_reader *reader)
{
	const char *text = cm_spool_reader_getenv(reader, "OMP_NUM_THREADS");
	long n = text ? strtol(text, NULL, 10) : 0;

	return n > 0 && n < 1000000 ? n : 1;
}

int cm_metadata_make(struct cm_spool_reader *reader, const struct cm_rank *rank,
		     const struct cm_meta **ret_metadata, size_t *ret_n)
{
	size_t n_max = N_FACTS + (reader->n_env < MAX_VARIABLES ? reader->n_env : MAX_VARIABLES);
	int64_t n_ranks = rank->size > 0 ? rank->size : 1, n_omp = find_omp_threads(reader);
	struct list list = {.reader = reader};

	list.metas = cm_arena_array(&reader->arena, n_max, sizeof(*list.metas));
	if (!list.metas)
		return -ENOMEM;
	add_string(&list, "source", "native");
	add_string(&list, "source_language", "c");
	add_string(&list, "timestamp", format_timestamp(reader));
	add_int(&list, "start_time_ns", (int64_t)reader->process.start_mono_ns);
	add_string(&list, "user", find_user(reader));
	add_machine(&list);
	add_string(&list, "working_directory", reader->cwd);
	add_int(&list, "omp_num_threads", n_omp);
	add_int(&list, "mpi_size", n_ranks);
	add_int(&list, "total_cores", n_ranks * n_omp);
	add_modules(&list);
	add_environment(&list);
	*ret_metadata = list.metas;
	*ret_n = list.n;
	return list.failed ? -ENOMEM : 0;
}
