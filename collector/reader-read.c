/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "collector/reader-read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector/reader-log.h"

/* LIKWID's buffers (5.0 to 5.5): a line, its values, a tag with its group and newline. */
#define MAX_LINE 2046
#define MAX_VALUES 1023
#define MAX_EVENTS 78
#define MAX_TAG 97

static int check_region(const struct cm_marker_file *file, const struct cm_marker_region *region,
			struct cm_diag *diag)
{
	if (!region->tag)
		return cm_diag_set(diag, -EINVAL, "the marker file has a region without a tag");
	if (!region->n_rows)
		return cm_diag_set(diag, -EINVAL, "the marker file has no values of %s",
				   region->tag);
	if (region->n_rows > file->n_threads)
		return cm_diag_set(diag, -EINVAL, "the marker file has too many values of %s",
				   region->tag);
	if (strlen(region->tag) > MAX_TAG)
		return cm_diag_set(diag, -EINVAL, "LIKWID cannot read tags of %zu bytes",
				   strlen(region->tag));
	if (region->n_events > MAX_EVENTS)
		return cm_diag_set(diag, -EINVAL,
				   "LIKWID cannot read %zu events in one group back, at most %u",
				   region->n_events, MAX_EVENTS);
	return 0;
}

/* Will LIKWID's reader survive it? */
static int check_file(const struct cm_marker_file *file, const struct cm_reader_perfmon *perfmon,
		      struct cm_diag *diag)
{
	int rc = 0;

	if (file->damage.text[0])
		return cm_diag_set(diag, -EINVAL, "the marker file is damaged: %s",
				   file->damage.text);
	if (file->n_threads > perfmon->n_cpus)
		return cm_diag_set(diag, -EINVAL,
				   "the marker file has %zu threads, LIKWID_THREADS %zu",
				   file->n_threads, perfmon->n_cpus);
	if (file->n_groups > perfmon->n_groups)
		return cm_diag_set(diag, -EINVAL,
				   "the marker file has %zu groups, LIKWID_EVENTS %zu",
				   file->n_groups, perfmon->n_groups);
	for (size_t i = 0; rc == 0 && i < file->n_regions; i++)
		rc = check_region(file, &file->regions[i], diag);
	if (rc == 0 && (file->longest_line > MAX_LINE || file->longest_values > MAX_VALUES))
		rc = cm_diag_set(diag, -EINVAL, "LIKWID cannot read lines of %zu bytes",
				 file->longest_line);
	return rc;
}

/* Does perfmon see the file as we do? Metrics index by what it holds. */
static int check_agreement(const struct cm_likwid *likwid, const struct cm_marker_file *file,
			   struct cm_diag *diag)
{
	for (size_t i = 0; i < file->n_regions; i++) {
		const struct cm_marker_region *region = &file->regions[i];
		int idx = (int)i;

		if (likwid->perfmon_getGroupOfRegion(idx) != region->group ||
		    likwid->perfmon_getThreadsOfRegion(idx) != (int)region->n_rows ||
		    likwid->perfmon_getEventsOfRegion(idx) != (int)region->n_events)
			return cm_diag_set(diag, -EIO, "LIKWID misread the values of %s",
					   region->tag);
		if (likwid->perfmon_getNumberOfEvents((int)region->group) != (int)region->n_events)
			return cm_diag_set(diag, -EIO,
					   "LIKWID counts other events now than when %s was "
					   "measured",
					   region->tag);
	}
	return 0;
}

static int read_markers(const struct cm_likwid *likwid, const struct cm_reader_read *read,
			const struct cm_marker_file *file, struct cm_reader_report *report)
{
	char line[256];
	int n;

	cm_reader_step(report, "perfmon_readMarkerFile");
	n = likwid->perfmon_readMarkerFile(read->perfmon.file_path);
	if (n != (int)file->n_regions || likwid->perfmon_getNumberOfRegions() != n) {
		(void)fflush(stdout);
		cm_reader_log_last(report->log_fd, 0, line, sizeof(line));
		return cm_diag_set(&report->diag, -EIO,
				   "LIKWID found %d of the marker file's %zu regions%s%s", n,
				   file->n_regions, *line ? ": " : "", line);
	}
	return check_agreement(likwid, file, &report->diag);
}

int cm_reader_read(void *ctx, struct cm_reader_report *report)
{
	struct cm_reader_read *read = ctx;
	struct cm_arena arena = {0};
	struct cm_marker_file file;
	struct cm_likwid likwid;
	int rc;

	cm_reader_step(report, "reading the marker file");
	rc = cm_marker_file_load(&file, read->perfmon.file_path, &arena, &report->diag);
	if (rc >= 0)
		rc = check_file(&file, &read->perfmon, &report->diag);
	cm_reader_step(report, "dlopen");
	if (rc >= 0)
		rc = cm_likwid_open(&likwid, read->library, &report->diag);
	if (rc >= 0) {
		snprintf(report->library, sizeof(report->library), "%s", likwid.path);
		rc = cm_reader_perfmon_start(&likwid, &read->perfmon, report);
	}
	if (rc >= 0)
		rc = cm_reader_perfmon_add_groups(&likwid, &read->perfmon, report);
	if (rc >= 0)
		rc = read_markers(&likwid, read, &file, report);
	if (rc >= 0) {
		cm_reader_step(report, "calculating the metrics");
		rc = cm_reader_write(&likwid, read, &file, &report->diag);
	}
	cm_arena_fini(&arena);
	return rc;
}
