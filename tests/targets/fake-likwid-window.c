/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A FAKE liblikwid for the tests of measurement windows: no counters, only the paths that no real
 * one takes. Never used where something is measured. FAKE_LIKWID is a list of what goes wrong,
 * with ',' between (see has()); FAKE_LIKWID_LOG a file to which the calls of the process that
 * counts are appended. Without anything wrong, CPU c (by place) and event e read 1000 * (c + 1) +
 * e.
 */
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/likwid-library.h"

#define MAX_EVENTS 16

#define FAKE_PROTOTYPE(result, name, parameters) result name parameters;
CM_LIKWID_CALLS(FAKE_PROTOTYPE)
#undef FAKE_PROTOTYPE

static struct cm_likwid_cpu_info info = {
	.family = 1, .osname = "Fake CPU", .name = "fake", .short_name = "fake"};
static struct cm_likwid_topology topology;
static struct cm_likwid_numa numa;
static struct cm_likwid_configuration configuration = {.access_mode = 1};
static bool is_configured, is_perfmon, is_started, is_stopped;
static int n_perfmon_cpus, n_events;
static char set[1024], *events[MAX_EVENTS], *counters[MAX_EVENTS];

static bool has(const char *what)
{
	const char *list = getenv("FAKE_LIKWID");
	size_t n = strlen(what);

	for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
		if (!strncmp(list, what, n) && (list[n] == ',' || !list[n]))
			return true;
	}
	return false;
}

static void note(const char *call)
{
	const char *path = getenv("FAKE_LIKWID_LOG");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0) {
		dprintf(fd, "%d %s\n", (int)getpid(), call);
		close(fd);
	}
}

static void on_child(int sig)
{
	(void)sig;
}

int init_configuration(void)
{
	note(__func__);
	is_configured = !has("mode_null");
	configuration.access_mode = has("mode_unknown") ? 7 : has("mode_perf") ? -1 : 1;
	return 0;
}

const struct cm_likwid_configuration *get_configuration(void)
{
	return is_configured ? &configuration : NULL;
}

int topology_init(void)
{
	cpu_set_t one;

	note(__func__);
	topology.n_hw_threads = has("few_cpus") ? 1 : 1024;
	if (has("sigchld"))
		signal(SIGCHLD, on_child);
	if (has("environment"))
		setenv("FAKE_LIKWID_WAS_HERE", "1", 1);
	if (has("affinity")) {
		CPU_ZERO(&one);
		CPU_SET(0, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	return 0;
}

const struct cm_likwid_cpu_info *get_cpuInfo(void)
{
	info.short_name = has("unknown_cpu") ? "unknown" : "fake";
	return &info;
}

const struct cm_likwid_topology *get_cpuTopology(void)
{
	return &topology;
}

const struct cm_likwid_numa *get_numaTopology(void)
{
	return &numa;
}

int numa_init(void)
{
	note(__func__);
	numa.n_nodes = 1;
	return 0;
}

void affinity_init(void)
{
	note(__func__);
}

void timer_init(void)
{
	note(__func__);
}

int perfmon_init(int n_threads, const int *cpus)
{
	(void)cpus;
	note(__func__);
	if (has("init_exits"))
		exit(3);
	if (has("init_crashes"))
		raise(SIGSEGV);
	if (has("init_hangs"))
		pause();
	if (has("init_fails")) {
		fprintf(stderr, "ERROR - [./src/fake.c:1] No access, says the fake\n");
		return -13;
	}
	is_perfmon = true;
	n_perfmon_cpus = has("other_cpus") ? n_threads + 1 : n_threads;
	return 0;
}

int perfmon_getNumberOfThreads(void)
{
	if (!is_perfmon)
		fprintf(stderr, "ERROR - perfmon was asked before it was there\n");
	return is_perfmon ? n_perfmon_cpus : -22;
}

int perfmon_addEventSet(const char *text)
{
	note(__func__);
	if (has("add_fails"))
		return -22;
	snprintf(set, sizeof(set), "%s%s%s", text, has("extra_fixc") ? ",EXTRA:FIXC2" : "",
		 has("extra_pmc") ? ",EXTRA:PMC7" : "");
	n_events = 0;
	for (char *pair = strtok(set, ","); pair && n_events < MAX_EVENTS;
	     pair = strtok(NULL, ",")) {
		events[n_events] = pair;
		counters[n_events] = strchr(pair, ':');
		*counters[n_events]++ = '\0';
		n_events++;
	}
	if (has("other_event"))
		events[0] = "OTHER";
	if (has("other_counter"))
		counters[n_events - 1] = "PMC9";
	return 0;
}

int perfmon_getNumberOfEvents(int group)
{
	(void)group;
	return has("fewer") ? n_events - 1 : n_events;
}

char *perfmon_getEventName(int group, int event)
{
	(void)group;
	return has("no_names") ? NULL : events[event];
}

char *perfmon_getCounterName(int group, int event)
{
	(void)group;
	return counters[event];
}

int perfmon_setupCounters(int group)
{
	(void)group;
	note(__func__);
	return has("setup_fails") ? -1 : 0;
}

int perfmon_startCounters(void)
{
	note(__func__);
	is_started = true;
	return has("start_fails") ? -1 : 0;
}

int perfmon_stopCounters(void)
{
	note(__func__);
	is_stopped = true;
	return has("stop_fails") ? -2 : 0;
}

double perfmon_getResult(int group, int event, int thread)
{
	(void)group;
	if (has("nan_before") && !is_started)
		return NAN;
	if (is_stopped && event == 0) {
		if (has("nan"))
			return NAN;
		if (has("negative"))
			return -1;
		if (has("infinite"))
			return INFINITY;
		if (has("big"))
			return 18014398509481988.0; /* 2^54 + 4 */
		if (has("fraction"))
			return 0.1;
	}
	return is_stopped ? 1000 * (thread + 1) + event : 0;
}

double perfmon_getTimeOfGroup(int group)
{
	(void)group;
	return has("time_infinite")   ? INFINITY
	       : has("time_nan")      ? NAN
	       : has("time_negative") ? -0.5
				      : 0.25;
}

void perfmon_finalize(void)
{
	note(__func__);
	is_perfmon = is_started = is_stopped = false;
}

void timer_finalize(void)
{
	note(__func__);
}

void numa_finalize(void)
{
	note(__func__);
	numa.n_nodes = has("numa_stays") ? 1 : 0;
}

void affinity_finalize(void)
{
	note(__func__);
}

void topology_finalize(void)
{
	note(__func__);
	topology.n_hw_threads = has("topology_stays") ? 1 : 0;
}

/* What windows do not use. */
#define UNUSED_INT(name, parameters) \
	int name parameters          \
	{                            \
		return 0;            \
	}
#define UNUSED_NUMBER(name, parameters) \
	double name parameters          \
	{                               \
		return 0;               \
	}

#pragma GCC diagnostic ignored "-Wunused-parameter"
UNUSED_INT(perfmon_getNumberOfMetrics, (int group))
UNUSED_INT(perfmon_readMarkerFile, (const char *path))
UNUSED_INT(perfmon_getNumberOfRegions, (void))
UNUSED_INT(perfmon_getGroupOfRegion, (int region))
UNUSED_INT(perfmon_getEventsOfRegion, (int region))
UNUSED_INT(perfmon_getMetricsOfRegion, (int region))
UNUSED_INT(perfmon_getThreadsOfRegion, (int region))
UNUSED_INT(perfmon_getCpulistOfRegion, (int region, int n, int *cpus))
UNUSED_INT(perfmon_getCountOfRegion, (int region, int thread))
UNUSED_NUMBER(perfmon_getTimeOfRegion, (int region, int thread))
UNUSED_NUMBER(perfmon_getResultOfRegionThread, (int region, int event, int thread))
UNUSED_NUMBER(perfmon_getMetricOfRegionThread, (int region, int metric, int thread))

char *perfmon_getMetricName(int group, int metric)
{
	(void)group;
	(void)metric;
	return NULL;
}

char *perfmon_getGroupName(int group)
{
	(void)group;
	return NULL;
}
