/* SPDX-License-Identifier: BSD-3-Clause */
/* What `callmark doctor` finds out about LIKWID, by asking and by trying. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/environ.h"
#include "cli/perfctr.h"
#include "preload/environment.h"

#define CHECK_SECONDS 30

/* PROGRAM ARGUMENT in this environment. Its output, or NULL where there is none. */
static char *ask(struct cm_doctor *doctor, const char *path, const char *argument,
		 const struct cm_environ *env, int *ret_status)
{
	char program[PATH_MAX], option[16];
	char *argv[] = {program, option, NULL};
	struct cm_command command = {
		.path = path, .argv = argv, .envp = env->vars, .n_seconds = CHECK_SECONDS};
	struct cm_command_output output;
	int rc;

	snprintf(program, sizeof(program), "%s", path);
	snprintf(option, sizeof(option), "%s", argument);
	fflush(stdout); /* a child must not have it as well */
	rc = cm_command_run(&output, &doctor->supervise, &command);
	*ret_status = rc < 0 ? -1 : output.status;
	if (rc == -EINTR)
		doctor->is_interrupted = true;
	return output.text;
}

/* The rest of the first line that begins like this, trimmed; false where there is none. */
static bool find_line(const char *text, const char *start, char *buf, size_t n_bytes)
{
	const char *line = text ? strstr(text, start) : NULL;

	if (!line)
		return false;
	line += strlen(start);
	line += strspn(line, " \t");
	snprintf(buf, n_bytes, "%.*s", (int)strcspn(line, "\n"), line);
	return true;
}

/* likwid-perfctr -v: "... Version 5.2.2 (commit: ...)". */
static bool look_at_perfctr(struct cm_doctor *doctor, const struct cm_environ *env,
			    struct cm_program *tool)
{
	struct cm_diag diag = {0};
	char version[64] = "unknown";
	char *text;
	int status;

	if (cm_perfctr_find(tool, &diag) < 0) {
		cm_doctor_say(CM_FINDING_BAD, "LIKWID", "%s", diag.text);
		cm_doctor_advise(
			"Debian: apt-get install likwid; on a cluster: module load likwid");
		return false;
	}
	text = ask(doctor, tool->path, "-v", env, &status);
	if (find_line(text, "Version ", version, sizeof(version)))
		version[strcspn(version, " (")] = '\0';
	free(text);
	cm_doctor_say(CM_FINDING_OK, "LIKWID", "%s, version %s", tool->path, version);
	return true;
}

static bool try_library(const char *name)
{
	void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;
	char path[PATH_MAX];
	bool is_found =
		handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map) && realpath(map->l_name, path);

	if (is_found)
		cm_doctor_say(CM_FINDING_OK, "liblikwid", "%s", path);
	if (handle)
		dlclose(handle);
	return is_found;
}

static bool try_prefix(const char *prefix)
{
	static const char *const folders[] = {"lib", "lib64", "lib/x86_64-linux-gnu"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (snprintf(path, sizeof(path), "%s/%s/liblikwid.so", prefix, folders[i]) <
			    (int)sizeof(path) &&
		    try_library(path))
			return true;
	return false;
}

/* In the order in which the preload searches. */
static void look_at_library(const char *perfctr)
{
	const char *home = getenv("LIKWID_HOME");
	char prefix[PATH_MAX] = "";
	char *slash;

	if (try_library("liblikwid.so.5") || try_library("liblikwid.so") ||
	    (home && home[0] && try_prefix(home)))
		return;
	snprintf(prefix, sizeof(prefix), "%s", perfctr);
	for (int i = 0; i < 2 && (slash = strrchr(prefix, '/')); i++)
		*slash = '\0';
	if (prefix[0] && try_prefix(prefix))
		return;
	cm_doctor_say(CM_FINDING_BAD, "liblikwid", "not found");
	cm_doctor_advise("put its folder into LD_LIBRARY_PATH, or its prefix into LIKWID_HOME");
}

/* likwid-perfctr -i: the CPU as LIKWID sees it; "nil" and "Unknown": not at all. */
static void look_at_cpu(struct cm_doctor *doctor, const struct cm_program *tool,
			const struct cm_environ *env)
{
	const char *topology = getenv("HWLOC_XMLFILE");
	char name[128] = "unknown", type[128] = "unknown";
	int status;
	char *text = ask(doctor, tool->path, "-i", env, &status);

	(void)find_line(text, "CPU name:", name, sizeof(name));
	(void)find_line(text, "CPU type:", type, sizeof(type));
	free(text);
	if (!strcmp(type, "nil") || strcasestr(type, "unknown")) {
		cm_doctor_say(CM_FINDING_BAD, "CPU", "%s is not known to this LIKWID", name);
		cm_doctor_advise("a newer LIKWID may know it: https://github.com/RRZE-HPC/likwid");
	} else {
		cm_doctor_say(CM_FINDING_OK, "CPU", "%s, %s", name, type);
	}
	if (topology && topology[0]) {
		doctor->is_simulated = true;
		cm_doctor_say(CM_FINDING_NOTE, "simulated",
			      "the CPU is the one that HWLOC_XMLFILE describes, %s", topology);
	}
}

/* From likwid-perfctr -a, "<blanks>NAME<tab>text" after two lines: CLOCK, else the first one. */
static bool choose_group(struct cm_doctor *doctor, const struct cm_program *tool,
			 const struct cm_environ *env, char *buf, size_t n_bytes)
{
	unsigned n_groups = 0;
	int status;
	char *text = ask(doctor, tool->path, "-a", env, &status);
	char *rest = text, *line;

	buf[0] = '\0';
	while (rest && (line = strsep(&rest, "\n"))) {
		char *tab = strchr(line, '\t');

		if (!tab || !strncmp(line, "Group name", 10))
			continue;
		*tab = '\0';
		line += strspn(line, " ");
		if (!n_groups++ || !strcmp(line, "CLOCK"))
			snprintf(buf, n_bytes, "%s", line);
	}
	free(text);
	if (n_groups) {
		cm_doctor_say(CM_FINDING_OK, "groups", "%u for this CPU: likwid-perfctr -a",
			      n_groups);
		return true;
	}
	cm_doctor_say(CM_FINDING_BAD, "groups", "none for this CPU");
	cm_doctor_advise("see CPU above; groups of your own go to ~/.likwid/groups");
	return false;
}

static void set_environment(struct cm_environ *env, const char *mode, const char *group,
			    const char *file)
{
	cpu_set_t cpus;
	char cpu[16];
	int first = 0;

	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &cpus))
			first++;
	snprintf(cpu, sizeof(cpu), "%d", first);
	cm_environ_set(env, "LIKWID_MODE", mode);
	cm_environ_set(env, "LIKWID_EVENTS", group);
	cm_environ_set(env, "LIKWID_THREADS", cpu);
	cm_environ_set(env, "LIKWID_FILEPATH", file); /* the last one's error would be seen */
}

/* Open markers as a program would. false: `why` says what was in the way. */
static bool try_markers(struct cm_doctor *doctor, const struct cm_environ *env, char *why,
			size_t n_bytes)
{
	int status;
	char *text = ask(doctor, doctor->reader, "--check", env, &status);

	if (!status) {
		free(text);
		return true;
	}
	if (text)
		text[strcspn(text, "\n")] = '\0';
	if (status > 0 && WIFSIGNALED(status))
		snprintf(why, n_bytes, "LIKWID died: %s", strsignal(WTERMSIG(status)));
	else
		snprintf(why, n_bytes, "%s", text && text[0] ? text : "LIKWID did not answer");
	free(text);
	return false;
}

/* With the access daemon, then with the registers themselves. */
static void attempt(struct cm_doctor *doctor, struct cm_environ *env, const char *group)
{
	char file[PATH_MAX], why[512], direct[512];

	snprintf(file, sizeof(file), "%s/callmark-doctor-%d", getenv("TMPDIR") ?: "/tmp",
		 (int)getpid());
	set_environment(env, "1", group, file);
	if (try_markers(doctor, env, why, sizeof(why))) {
		doctor->can_count = true;
	} else if (!access("/dev/cpu/0/msr", R_OK | W_OK)) {
		set_environment(env, "0", group, file);
		doctor->can_count = try_markers(doctor, env, direct, sizeof(direct));
	}
	if (doctor->can_count)
		cm_doctor_say(CM_FINDING_OK, "attempt", "group %s can be counted", group);
	else
		cm_doctor_say(CM_FINDING_BAD, "attempt", "%s", why);
}

/* One that likwid-perfctr or likwid-mpirun made counts as it is; a part of one helps nobody. */
static bool has_environment(struct cm_doctor *doctor, const struct cm_environ *env)
{
	const char *set, *missing;
	char why[512];

	cm_perfctr_look_around(&set, &missing);
	if (set && missing) {
		cm_doctor_say(CM_FINDING_NOTE, "variables", "%s is set, but not %s", set, missing);
		cm_doctor_advise("unset LIKWID_MODE LIKWID_EVENTS LIKWID_THREADS LIKWID_FILEPATH");
	}
	if (!set || missing)
		return false;
	cm_doctor_say(CM_FINDING_NOTE, "variables", "LIKWID is told to count %s on the CPUs %s",
		      getenv("LIKWID_EVENTS"), getenv("LIKWID_THREADS"));
	doctor->can_count = try_markers(doctor, env, why, sizeof(why));
	if (doctor->can_count)
		cm_doctor_say(CM_FINDING_OK, "attempt", "they can be counted");
	else
		cm_doctor_say(CM_FINDING_BAD, "attempt", "%s", why);
	return true;
}

void cm_doctor_look_at_likwid(struct cm_doctor *doctor)
{
	struct cm_program tool;
	struct cm_environ env;
	char group[128];

	if (cm_environ_init(&env) < 0) {
		cm_doctor_say(CM_FINDING_BAD, "memory", "%s", strerror(ENOMEM));
		goto out;
	}
	cm_environ_remove(&env, "LD_PRELOAD=");
	if (!look_at_perfctr(doctor, &env, &tool))
		goto out;
	look_at_library(tool.path);
	look_at_cpu(doctor, &tool, &env);
	if (doctor->reader[0] && !has_environment(doctor, &env) &&
	    choose_group(doctor, &tool, &env, group, sizeof(group)))
		attempt(doctor, &env, group);
out:
	cm_environ_fini(&env);
}
