/* SPDX-License-Identifier: BSD-3-Clause */
/* -g and -C of `callmark run`: the environment that makes LIKWID count. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cpu-list.h"
#include "cli/perfctr.h"
#include "cli/run.h"
#include "cli/say.h"

/* Those of likwid-perfctr's variables that hold lists of CPUs. */
static const char *const list_variables[] = {"LIKWID_THREADS", "LIKWID_HWTHREADS", "LIKWID_PIN"};
#define N_LIST_VARIABLES (sizeof(list_variables) / sizeof(list_variables[0]))

/* What -C, or its absence, means. */
struct wanted_cpus {
	bool is_list; /* numbers, not one of LIKWID's expressions */
	bool pin;
	struct cm_cpu_list list;
	char argument[256]; /* for likwid-perfctr */
};

/* Is there a marker environment already (likwid-mpirun, likwid-perfctr around us)? */
static bool has_environment(const struct cm_run *run)
{
	const char *set, *missing;

	cm_perfctr_look_around(&set, &missing);
	if (set && missing)
		cm_say("%s is set, but not %s: -g replaces them", set, missing);
	if (!set || missing)
		return false;
	cm_say("-g %s is not used: LIKWID was already told to count %s on the CPUs %s",
	       run->groups[0], getenv("LIKWID_EVENTS"), getenv("LIKWID_THREADS"));
	return true;
}

/*
 * Numbers are those of the kernel. LIKWID takes them so as well where we may use every CPU, else
 * as places in the set of allowed CPUs: then it is asked for as many as there are, and what it
 * answers is translated.
 */
static int want_cpus(struct wanted_cpus *wanted, const struct cm_run *run, struct cm_diag *diag)
{
	cpu_set_t allowed, both;
	char text[256];
	int rc;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return cm_diag_set(diag, -errno, "the allowed CPUs: %s", strerror(errno));
	cm_cpu_list_format(text, sizeof(text), &allowed);
	snprintf(wanted->argument, sizeof(wanted->argument), "%s", run->cpus ? run->cpus : text);
	rc = cm_cpu_list_parse(&wanted->list, wanted->argument);
	wanted->is_list = !rc;
	if (rc == -EINVAL)
		return 0; /* LIKWID will say what it makes of it */
	if (rc == -EEXIST)
		return cm_diag_set(diag, rc, "-C %s: a CPU is named twice", run->cpus);
	CPU_AND(&both, &allowed, &wanted->list.set);
	if (rc < 0 || !CPU_EQUAL(&both, &wanted->list.set))
		return cm_diag_set(diag, -EINVAL, "-C %s: only the CPUs %s may be used here",
				   run->cpus, text);
	if (CPU_COUNT(&allowed) < sysconf(_SC_NPROCESSORS_CONF))
		snprintf(wanted->argument, sizeof(wanted->argument), "E:N:%zu", wanted->list.n);
	return 0;
}

/* The CPU that stands in `wanted` where LIKWID's stands in `given`. */
static unsigned translate(const struct cm_cpu_list *given, const struct cm_cpu_list *wanted,
			  unsigned cpu)
{
	for (size_t i = 0; i < given->n; i++)
		if (given->cpus[i] == cpu)
			return wanted->cpus[i];
	return cpu;
}

static int translate_variable(struct cm_run *run, const char *name, const struct cm_cpu_list *given,
			      const struct cm_cpu_list *wanted)
{
	const char *old = cm_environ_get(&run->env, name);
	struct cm_cpu_list list;
	char text[8 * CPU_SETSIZE] = "";
	size_t n = 0;

	if (!old || cm_cpu_list_parse(&list, old))
		return 0;
	for (size_t i = 0; i < list.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", i ? "," : "",
				      translate(given, wanted, list.cpus[i]));
	return cm_environ_set(&run->env, name, text);
}

/* LIKWID may use fewer CPUs than were wanted, as OMP_NUM_THREADS says. */
static int place(struct cm_run *run, const struct wanted_cpus *wanted, const cpu_set_t *pinned)
{
	const char *threads = cm_environ_get(&run->env, "LIKWID_THREADS");
	struct cm_cpu_list given;
	int rc = 0;

	run->is_placed = wanted->pin;
	run->allowed = *pinned;
	if (!wanted->is_list || !threads || cm_cpu_list_parse(&given, threads))
		return 0;
	if (given.n < wanted->list.n && wanted->pin)
		cm_say("-C %s: LIKWID counts on %zu of these CPUs only", run->cpus, given.n);
	if (given.n > wanted->list.n || strncmp(wanted->argument, "E:", 2))
		return 0;
	for (size_t i = 0; !rc && i < N_LIST_VARIABLES; i++)
		rc = translate_variable(run, list_variables[i], &given, &wanted->list);
	CPU_ZERO(&run->allowed);
	for (size_t i = 0; i < given.n; i++)
		CPU_SET(wanted->list.cpus[i], &run->allowed);
	return rc;
}

/* What likwid-perfctr changed; what it loads into the program comes after ours. */
static int merge(struct cm_run *run, const struct cm_perfctr *perfctr, struct cm_diag *diag)
{
	const char *pinning = NULL;
	int rc = 0;

	for (const char *var = perfctr->vars; !rc && *var; var += strlen(var) + 1) {
		const char *value = strchr(var, '=');
		char *name = value ? strndup(var, (size_t)(value - var)) : NULL;
		const char *own = name ? getenv(name) : NULL;

		if (!value)
			continue;
		if (!name)
			rc = -ENOMEM;
		else if (!strcmp(name, "LD_PRELOAD"))
			pinning = value + 1;
		else if (!own || strcmp(own, value + 1))
			rc = cm_environ_set(&run->env, name, value + 1);
		free(name);
	}
	return rc < 0 ? rc : cm_run_set_preload(run, pinning, diag);
}

/*
 * A marker file of our own: likwid-perfctr's is named after its process id, which another one may
 * have by the time the program ends.
 */
static int name_marker_file(struct cm_run *run)
{
	char host[256] = "";

	(void)gethostname(host, sizeof(host) - 1); /* "" would do as well */
	if (asprintf(&run->marker_file, "%s/" CM_SPOOL_MARKERS_PREFIX "%s-%d.txt", run->folder.path,
		     host, (int)getpid()) < 0) {
		run->marker_file = NULL;
		return -ENOMEM;
	}
	return cm_environ_set(&run->env, "LIKWID_FILEPATH", run->marker_file);
}

static void say_command(const struct cm_perfctr_request *request)
{
	char groups[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < request->n_groups && n < sizeof(groups); i++)
		n += (size_t)snprintf(groups + n, sizeof(groups) - n, " -g %s", request->groups[i]);
	cm_say("asking %s -m%s %s %s for the environment of markers", request->path, groups,
	       request->pin ? "-C" : "-c", request->cpus);
}

static int ask(struct cm_run *run, struct cm_diag *diag)
{
	struct wanted_cpus wanted = {.pin = run->cpus};
	struct cm_perfctr perfctr = {0};
	struct cm_program tool;
	struct cm_perfctr_request request = {.path = tool.path,
					     .groups = run->groups,
					     .n_groups = run->n_groups,
					     .cpus = wanted.argument,
					     .pin = wanted.pin};
	int rc = want_cpus(&wanted, run, diag);

	if (!rc)
		rc = cm_perfctr_find(&tool, diag);
	if (rc < 0)
		return rc;
	if (run->verbosity)
		say_command(&request);
	rc = cm_perfctr_ask(&perfctr, &run->supervise, &request, diag);
	if (!rc)
		rc = merge(run, &perfctr, diag);
	if (!rc)
		rc = place(run, &wanted, &perfctr.cpus);
	if (!rc)
		rc = name_marker_file(run);
	cm_perfctr_free(&perfctr);
	return cm_diag_set(rc < 0 ? diag : NULL, rc, "%s", strerror(-rc));
}

int cm_run_counters(struct cm_run *run)
{
	struct cm_diag diag = {0};
	int rc;

	if (!run->n_groups || has_environment(run))
		return 0;
	rc = ask(run, &diag);
	if (rc == -EINTR)
		return rc;
	if (rc < 0)
		cm_say("no counters, timings only: %s; callmark doctor says more", diag.text);
	return 0;
}
