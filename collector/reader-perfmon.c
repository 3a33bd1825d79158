/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "collector/reader-perfmon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/reader-log.h"

#define GROUP_BYTES 16384

static const char *need(const char *name, struct cm_diag *diag)
{
	const char *value = getenv(name);

	if (value && *value)
		return value;
	cm_diag_set(diag, -EINVAL,
		    "%s is not set: start the program with likwid-perfctr -m, or with "
		    "callmark run -g GROUP",
		    name);
	return NULL;
}

static int find_groups(struct cm_reader_perfmon *perfmon, struct cm_diag *diag)
{
	char group[GROUP_BYTES];

	perfmon->n_groups = cm_likwid_count_groups(perfmon->events);
	if (perfmon->n_groups > CM_LIKWID_MAX_GROUPS)
		return cm_diag_set(diag, -E2BIG, "LIKWID_EVENTS has %zu groups, at most %u work",
				   perfmon->n_groups, CM_LIKWID_MAX_GROUPS);
	for (size_t i = 0; i < perfmon->n_groups; i++) {
		int rc = cm_likwid_get_group(perfmon->events, i, group, sizeof(group));

		if (rc < 0)
			return cm_diag_set(diag, rc, "LIKWID_EVENTS: group %zu is too long", i + 1);
		if (cm_likwid_is_sound(group))
			continue;
		if (cm_likwid_is_custom(group))
			return cm_diag_set(diag, -EINVAL,
					   "LIKWID_EVENTS: \"%s\" is no list of EVENT:COUNTER,... "
					   "(likwid-perfctr -e lists both)",
					   group);
		return cm_diag_set(diag, -EINVAL,
				   "unknown group \"%s\" (likwid-perfctr -a lists them)", group);
	}
	return 0;
}

int cm_reader_perfmon_find(struct cm_reader_perfmon *perfmon, struct cm_diag *diag)
{
	const char *threads = need("LIKWID_THREADS", diag), *mode = need("LIKWID_MODE", diag);
	int n;

	perfmon->events = need("LIKWID_EVENTS", diag);
	perfmon->file_path = need("LIKWID_FILEPATH", diag);
	if (!threads || !mode || !perfmon->events || !perfmon->file_path)
		return -EINVAL;
	perfmon->mode = (int)strtol(mode, NULL, 10);
	n = cm_likwid_parse_cpus(threads, perfmon->cpus, CM_LIKWID_MAX_CPUS);
	if (n < 0)
		return cm_diag_set(diag, n,
				   "LIKWID_THREADS=%s: expected CPU numbers with ',' between",
				   threads);
	perfmon->n_cpus = (size_t)n;
	return find_groups(perfmon, diag);
}

static int check_cpu(const struct cm_likwid *likwid, const struct cm_reader_perfmon *perfmon,
		     struct cm_diag *diag)
{
	const struct cm_likwid_cpu_info *info = likwid->get_cpuInfo();
	const struct cm_likwid_topology *topology = likwid->get_cpuTopology();

	if (!info || !topology)
		return cm_diag_set(diag, -ENODEV, "LIKWID could not find out what CPU this is");
	if (!info->short_name || !strcmp(info->short_name, "unknown"))
		return cm_diag_set(diag, -ENODEV,
				   "this CPU is not supported by this LIKWID (family %u model %u, "
				   "%s): a newer LIKWID may know it",
				   info->family, info->model, info->osname ? info->osname : "?");
	for (size_t i = 0; i < perfmon->n_cpus; i++) {
		if ((unsigned int)perfmon->cpus[i] >= topology->n_hw_threads)
			return cm_diag_set(diag, -ERANGE,
					   "LIKWID_THREADS names CPU %d, this machine has %u",
					   perfmon->cpus[i], topology->n_hw_threads);
	}
	return 0;
}

/* An error that LIKWID returned, in its own words where it had some. */
static int refuse_access(struct cm_reader_report *report, int rc)
{
	char line[256];

	cm_reader_log_last(report->log_fd, 0, line, sizeof(line));
	return cm_diag_set(&report->diag, rc,
			   "LIKWID has no access to the counters (%s): see callmark doctor",
			   *line ? line : strerror(-rc));
}

int cm_reader_perfmon_start(const struct cm_likwid *likwid, const struct cm_reader_perfmon *perfmon,
			    struct cm_reader_report *report)
{
	int rc;

	cm_reader_step(report, "topology_init");
	(void)likwid->topology_init(); /* always 0; check_cpu looks at what it found */
	rc = check_cpu(likwid, perfmon, &report->diag);
	if (rc < 0)
		return rc;
	cm_reader_step(report, "numa_init");
	(void)likwid->numa_init(); /* no NUMA is no reason against counters */
	cm_reader_step(report, "affinity_init");
	likwid->affinity_init();
	if (likwid->HPMmode)
		likwid->HPMmode(perfmon->mode);
	cm_reader_step(report, "perfmon_init");
	rc = likwid->perfmon_init((int)perfmon->n_cpus, perfmon->cpus);
	(void)fflush(stdout); /* into the log, which is memory */
	return rc < 0 ? refuse_access(report, rc) : 0;
}

static int refuse_group(struct cm_reader_report *report, const char *group, int rc, off_t log_off)
{
	bool is_custom = cm_likwid_is_custom(group);
	char line[256];

	if (!is_custom && rc == -EACCES)
		return cm_diag_set(&report->diag, -EINVAL,
				   "unknown group \"%s\" (likwid-perfctr -a lists them)", group);
	if (rc == -ENODEV)
		return cm_diag_set(&report->diag, rc,
				   "group \"%s\" can be counted only with HyperThreading off",
				   group);
	cm_reader_log_warning(report->log_fd, log_off, line, sizeof(line));
	return cm_diag_set(&report->diag, -EINVAL, "group \"%s\" has no counter on this CPU%s%s%s",
			   group, *line ? " (" : "", line, *line ? ")" : "");
}

int cm_reader_perfmon_add_groups(const struct cm_likwid *likwid,
				 const struct cm_reader_perfmon *perfmon,
				 struct cm_reader_report *report)
{
	char group[GROUP_BYTES], step[64];

	for (size_t i = 0; i < perfmon->n_groups; i++) {
		off_t log_off = cm_reader_log_position(report->log_fd);
		int rc = cm_likwid_get_group(perfmon->events, i, group, sizeof(group));

		if (rc < 0)
			return rc; /* find_groups has seen it */
		snprintf(step, sizeof(step), "perfmon_addEventSet(%.30s)", group);
		cm_reader_step(report, step);
		rc = likwid->perfmon_addEventSet(group);
		(void)fflush(stdout);
		if (rc < 0)
			return refuse_group(report, group, rc, log_off);
		if ((size_t)rc != i)
			return cm_diag_set(&report->diag, -EIO,
					   "LIKWID gave group \"%s\" the number %d instead of %zu",
					   group, rc, i);
	}
	return 0;
}
