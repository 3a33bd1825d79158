/* SPDX-License-Identifier: BSD-3-Clause */
/* The result file (reader-result.h): everything perfmon knows, as JSON. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/reader-read.h"

#define N_DIGITS 17

/* A number JSON can hold, else null or a name. */
static json_t *make_number(double value)
{
	if (isnan(value))
		return json_null();
	if (isinf(value))
		return json_string(value > 0 ? "inf" : "-inf");
	return json_real(value);
}

/* JSON takes UTF-8 only; what is none is shown with question marks. */
static json_t *make_text(const char *text)
{
	char *copy;
	json_t *value = json_string(text ? text : "");

	if (value || !text)
		return value;
	copy = strdup(text);
	for (char *p = copy; copy && *p; p++) {
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	}
	value = copy ? json_string(copy) : NULL;
	free(copy);
	return value;
}

/* The exact bytes of a tag that is no UTF-8. */
static json_t *make_hex(const char *text)
{
	size_t n = strlen(text);
	char *hex = malloc(2 * n + 1);
	json_t *value;

	for (size_t i = 0; hex && i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)text[i]);
	value = hex ? json_stringn(hex, 2 * n) : NULL;
	free(hex);
	return value;
}

typedef char *(*get_name)(int group, int idx);

static json_t *make_names(get_name get, int group, int n)
{
	json_t *names = json_array();

	for (int i = 0; i < n; i++)
		(void)json_array_append_new(names, make_text(get(group, i))); /* sizes are checked
										 by the reader */
	return names;
}

static json_t *make_group(const struct cm_likwid *likwid, int group)
{
	int n_events = likwid->perfmon_getNumberOfEvents(group);
	int n_metrics = likwid->perfmon_getNumberOfMetrics(group);

	return json_pack("{s:i, s:o, s:o, s:o, s:o}", "id", group, "name",
			 make_text(likwid->perfmon_getGroupName(group)), "events",
			 make_names(likwid->perfmon_getEventName, group, n_events), "counters",
			 make_names(likwid->perfmon_getCounterName, group, n_events), "metrics",
			 make_names(likwid->perfmon_getMetricName, group, n_metrics));
}

typedef double (*get_value)(int region, int idx, int thread);

/* One row a name, one column a participant. */
static json_t *make_rows(get_value get, const struct cm_marker_region *from, int region, int n)
{
	json_t *rows = json_array();

	for (int i = 0; i < n; i++) {
		json_t *row = json_array();

		for (size_t t = 0; t < from->n_rows; t++) {
			if (from->counts[t] > 0)
				(void)json_array_append_new(
					row, make_number(get(region, i, (int)t))); /* as above */
		}
		(void)json_array_append_new(rows, row);
	}
	return rows;
}

static int add_hex(json_t *region, const char *tag)
{
	json_t *plain = json_string(tag);
	bool is_text = plain != NULL;

	json_decref(plain);
	return is_text ? 0 : json_object_set_new(region, "tag_hex", make_hex(tag));
}

/* NULL: no participant, or no memory (*ret_error). */
static json_t *make_region(const struct cm_likwid *likwid, const struct cm_marker_region *from,
			   int region, int *ret_error)
{
	json_t *cpus = json_array(), *times = json_array(), *counts = json_array(), *made;
	int listed[CM_LIKWID_MAX_CPUS];
	int n_metrics = likwid->perfmon_getMetricsOfRegion(region);
	int n = likwid->perfmon_getCpulistOfRegion(region, CM_LIKWID_MAX_CPUS, listed);

	for (int t = 0; t < n && t < (int)from->n_rows; t++) {
		if (from->counts[t] <= 0)
			continue;
		/* A failed append makes the lengths differ: the reader refuses that. */
		(void)json_array_append_new(cpus, json_integer(listed[t]));
		(void)json_array_append_new(
			times, make_number(likwid->perfmon_getTimeOfRegion(region, t)));
		(void)json_array_append_new(
			counts, json_integer(likwid->perfmon_getCountOfRegion(region, t)));
	}
	if (n < (int)from->n_rows || !json_array_size(cpus)) {
		*ret_error = n < (int)from->n_rows ? -EIO : *ret_error;
		json_decref(cpus);
		json_decref(times);
		json_decref(counts);
		return NULL;
	}
	made = json_pack(
		"{s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "tag", make_text(from->tag), "group",
		(int)from->group, "cpus", cpus, "times", times, "counts", counts, "events",
		make_rows(likwid->perfmon_getResultOfRegionThread, from, region,
			  (int)from->n_events),
		"metrics",
		make_rows(likwid->perfmon_getMetricOfRegionThread, from, region, n_metrics));
	if (made && add_hex(made, from->tag) < 0) {
		json_decref(made);
		made = NULL;
	}
	if (!made)
		*ret_error = -ENOMEM;
	return made;
}

static json_t *make_result(const struct cm_likwid *likwid, const struct cm_reader_read *read,
			   const struct cm_marker_file *file, int *ret_error)
{
	json_t *groups = json_array(), *regions = json_array(), *result;
	const struct cm_likwid_cpu_info *info = likwid->get_cpuInfo();

	for (size_t i = 0; i < read->perfmon.n_groups; i++) {
		if (json_array_append_new(groups, make_group(likwid, (int)i)) < 0)
			*ret_error = -ENOMEM;
	}
	for (size_t i = 0; *ret_error == 0 && i < file->n_regions; i++) {
		json_t *region = make_region(likwid, &file->regions[i], (int)i, ret_error);

		if (region && json_array_append_new(regions, region) < 0)
			*ret_error = -ENOMEM;
	}
	result = json_pack("{s:i, s:o, s:o, s:o, s:o, s:b}", "callmark_reader", 1, "library",
			   make_text(likwid->path), "cpu",
			   make_text(info && info->osname ? info->osname : ""), "groups", groups,
			   "regions", regions, "complete", 1);
	if (!result && *ret_error == 0)
		*ret_error = -ENOMEM;
	return result;
}

/* Beside its name, then renamed: what is there is complete. */
static int write_result(const json_t *result, const char *path)
{
	char beside[PATH_MAX];
	FILE *out;
	int rc = 0;

	if (snprintf(beside, sizeof(beside), "%s.tmp", path) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	out = fopen(beside, "wxe");
	if (!out)
		return -errno;
	if (json_dumpf(result, out,
		       JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(N_DIGITS)) < 0)
		rc = -EIO;
	if (fclose(out) != 0)
		rc = -errno;
	if (rc == 0 && rename(beside, path) < 0)
		rc = -errno;
	if (rc < 0)
		(void)unlink(beside); /* nobody would look at it */
	return rc;
}

int cm_reader_write(const struct cm_likwid *likwid, const struct cm_reader_read *read,
		    const struct cm_marker_file *file, struct cm_diag *diag)
{
	int rc = 0;
	json_t *result = make_result(likwid, read, file, &rc);

	if (rc == 0)
		rc = write_result(result, read->result);
	json_decref(result);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: cannot write LIKWID's results: %s", read->result,
				   strerror(-rc));
	return 0;
}
