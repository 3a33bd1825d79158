/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * liblikwid, loaded at run time: neither its headers nor the library are needed to build callmark.
 *
 *	rc = cm_likwid_open(&likwid, NULL, &diag);
 *	likwid.topology_init();
 *
 * The prototypes below are those of LIKWID 5.0 to 5.5 (src/includes/likwid.h of each release; up
 * to 5.2 affinity_init returns nothing, its result is not used here). Nothing is ever closed:
 * LIKWID runs in a process that ends with it.
 *
 * Threads: one at a time. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_COLLECTOR_LIKWID_LIBRARY_H
#define CALLMARK_COLLECTOR_LIKWID_LIBRARY_H

#include <limits.h>
#include <stdint.h>

#include "preload/diag.h"

/* How LIKWID's CpuInfo starts, in all of these versions. */
struct cm_likwid_cpu_info {
	uint32_t family;
	uint32_t model;
	uint32_t stepping;
	uint32_t vendor;
	uint32_t part;
	uint64_t clock;
	int turbo;
	const char *osname;
	const char *name;
	const char *short_name;
};

/* How LIKWID's CpuTopology starts. */
struct cm_likwid_topology {
	uint32_t n_hw_threads;
};

/* How LIKWID's NumaTopology starts. */
struct cm_likwid_numa {
	uint32_t n_nodes;
};

/* LIKWID's Likwid_Configuration. */
struct cm_likwid_configuration {
	char *config_file;
	char *topology_file;
	char *daemon;
	char *groups;
	int access_mode; /* -1 perf_event, 0 direct, 1 daemon */
	int max_threads;
	int max_nodes;
};

/* X(result, name, parameters): all must be there. */
#define CM_LIKWID_CALLS(X)                                                               \
	X(int, topology_init, (void))                                                    \
	X(const struct cm_likwid_cpu_info *, get_cpuInfo, (void))                        \
	X(const struct cm_likwid_topology *, get_cpuTopology, (void))                    \
	X(int, numa_init, (void))                                                        \
	X(void, affinity_init, (void))                                                   \
	X(int, perfmon_init, (int n_threads, const int *cpus))                           \
	X(int, perfmon_addEventSet, (const char *events))                                \
	X(int, perfmon_getNumberOfEvents, (int group))                                   \
	X(int, perfmon_getNumberOfMetrics, (int group))                                  \
	X(char *, perfmon_getEventName, (int group, int event))                          \
	X(char *, perfmon_getCounterName, (int group, int event))                        \
	X(char *, perfmon_getMetricName, (int group, int metric))                        \
	X(char *, perfmon_getGroupName, (int group))                                     \
	X(int, perfmon_readMarkerFile, (const char *path))                               \
	X(int, perfmon_getNumberOfRegions, (void))                                       \
	X(int, perfmon_getGroupOfRegion, (int region))                                   \
	X(int, perfmon_getEventsOfRegion, (int region))                                  \
	X(int, perfmon_getMetricsOfRegion, (int region))                                 \
	X(int, perfmon_getThreadsOfRegion, (int region))                                 \
	X(int, perfmon_getCpulistOfRegion, (int region, int n, int *cpus))               \
	X(double, perfmon_getTimeOfRegion, (int region, int thread))                     \
	X(int, perfmon_getCountOfRegion, (int region, int thread))                       \
	X(double, perfmon_getResultOfRegionThread, (int region, int event, int thread))  \
	X(double, perfmon_getMetricOfRegionThread, (int region, int metric, int thread)) \
	X(int, init_configuration, (void))                                               \
	X(const struct cm_likwid_configuration *, get_configuration, (void))             \
	X(const struct cm_likwid_numa *, get_numaTopology, (void))                       \
	X(void, timer_init, (void))                                                      \
	X(int, perfmon_setupCounters, (int group))                                       \
	X(int, perfmon_startCounters, (void))                                            \
	X(int, perfmon_stopCounters, (void))                                             \
	X(int, perfmon_getNumberOfThreads, (void))                                       \
	X(double, perfmon_getResult, (int group, int event, int thread))                 \
	X(double, perfmon_getTimeOfGroup, (int group))                                   \
	X(void, perfmon_finalize, (void))                                                \
	X(void, timer_finalize, (void))                                                  \
	X(void, numa_finalize, (void))                                                   \
	X(void, affinity_finalize, (void))                                               \
	X(void, topology_finalize, (void))

struct cm_likwid {
	void *handle;
	char path[PATH_MAX];	   /* absolute, of what was loaded */
	void (*HPMmode)(int mode); /* NULL: built for perf_event only */
#define CM_LIKWID_MEMBER(result, name, parameters) result(*name) parameters;
	CM_LIKWID_CALLS(CM_LIKWID_MEMBER)
#undef CM_LIKWID_MEMBER
};

/*
 * Load `path`, or with NULL search: liblikwid.so.5 and liblikwid.so as the loader finds them, then
 * in lib, lib64 and lib/x86_64-linux-gnu of $LIKWID_HOME and of the prefix of the likwid-perfctr
 * on PATH. -ENOENT: not found; -ENOEXEC: not a LIKWID 5.
 */
int cm_likwid_open(struct cm_likwid *likwid, const char *path, struct cm_diag *diag);

#endif
