/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank's file: open, append, commit (writer/writer.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-profile.h"
#include "writer/h5-schema.h"
#include "writer/h5-sink.h"
#include "writer/h5-trace.h"
#include "writer/region-name.h"
#include "writer/tempfile.h"
#include "writer/writer.h"

/* What the callers' row buffers may take together, and the bounds of one region's. */
#define ROW_BYTES 20
#define BUDGET_ROWS ((UINT64_C(48) << 20) / ROW_BYTES)
#define MAX_ROWS 65536
#define MIN_ROWS 512
#define LEAST_ROWS 64 /* where even MIN_ROWS for each would be too much */

/* Above this many records compression costs more than recording did. */
#define DEFAULT_COMPRESS_RECORDS UINT64_C(1000000)

/* Compressed regions whose datasets are open at a time. */
#define N_OPEN_TRACES 128

struct region_state {
	struct cm_h5_trace trace;
	uint64_t n_done; /* rows appended */
};

struct cm_writer {
	const struct cm_profile *profile; /* borrowed */
	struct cm_tempfile temp;
	struct cm_h5_sink sink;
	hid_t file, rank, regions; /* the file, /rank<N>, /rank<N>/regions */
	int level;		   /* of deflate; 0: none */
	uint64_t n_records;	   /* of all regions */
	char **names;		   /* of the regions' groups */
	struct region_state *states;
	struct region_state *open_traces[N_OPEN_TRACES]; /* the oldest is closed first */
	unsigned next_open;
};

/* rc < 0: put the reason that fits into diag. */
static int fail(struct cm_writer *writer, struct cm_diag *diag, int rc, const char *what)
{
	const char *path = writer->temp.final_path;

	if (rc != -EIO && !writer->sink.error)
		return cm_diag_set(diag, rc, "%s: %s: %s", path, what, strerror(-rc));
	return cm_h5_sink_fail(&writer->sink, diag, path, what);
}

static int close_file(struct cm_writer *writer, struct cm_diag *diag)
{
	hid_t file = writer->file;

	for (size_t i = 0; i < N_OPEN_TRACES; i++)
		if (writer->open_traces[i])
			cm_h5_trace_close(&writer->open_traces[i]->trace);
	cm_h5_close(writer->regions);
	cm_h5_close(writer->rank);
	writer->file = H5I_INVALID_HID;
	return cm_h5_sink_close(&writer->sink, file, writer->temp.final_path, diag);
}

static void free_writer(struct cm_writer *writer)
{
	cm_tempfile_discard(&writer->temp);
	cm_region_names_free(writer->names, writer->profile->n_regions);
	free(writer->states);
	free(writer);
}

void cm_writer_discard(struct cm_writer *writer)
{
	if (!writer)
		return;
	cm_h5_sink_drop(&writer->sink);
	(void)close_file(writer, NULL); /* it is not wanted */
	free_writer(writer);
}

static int level_of(enum cm_compress compress, uint64_t n_records)
{
	switch (compress) {
	case CM_COMPRESS_NONE:
		return 0;
	case CM_COMPRESS_FAST:
		return 1;
	case CM_COMPRESS_SMALL:
		return 9;
	case CM_COMPRESS_DEFAULT:
		break;
	}
	return n_records <= DEFAULT_COMPRESS_RECORDS ? 1 : 0;
}

static const char *tag_of(const void *ctx, size_t i)
{
	return ((const struct cm_profile *)ctx)->regions[i].tag;
}

static int make_tables(struct cm_writer *writer, const struct cm_writer_options *options)
{
	const struct cm_profile *profile = writer->profile;

	for (size_t i = 0; i < profile->n_regions; i++)
		if (__builtin_add_overflow(writer->n_records, profile->regions[i].n_trace,
					   &writer->n_records) ||
		    writer->n_records > INT64_MAX / ROW_BYTES)
			return -EOVERFLOW;
	writer->level =
		level_of(options ? options->compress : CM_COMPRESS_DEFAULT, writer->n_records);
	writer->states = calloc(profile->n_regions + 1, sizeof(*writer->states));
	if (!writer->states)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_regions; i++)
		for (int k = 0; k < CM_H5_N_COLUMNS; k++)
			writer->states[i].trace.sets[k] = H5I_INVALID_HID;
	return cm_region_names_new(tag_of, profile, profile->n_regions, &writer->names);
}

static int make_groups(struct cm_writer *writer)
{
	char name[32];

	snprintf(name, sizeof(name), CM_H5_RANK_PREFIX "%lld", (long long)writer->profile->rank);
	writer->rank = cm_h5_make_group(writer->file, name);
	if (writer->rank < 0)
		return -EIO;
	writer->regions =
		H5Gcreate2(writer->rank, CM_H5_REGIONS, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	return writer->regions < 0 ? -EIO : 0;
}

int cm_writer_open(struct cm_writer **ret_writer, const char *path,
		   const struct cm_profile *profile, const struct cm_writer_options *options,
		   struct cm_diag *diag)
{
	struct cm_writer *writer;
	int rc = cm_h5_init(diag);

	if (rc < 0)
		return rc;
	if (profile->rank < 0)
		return cm_diag_set(diag, -EINVAL, "%s: a rank below 0", path);
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return cm_diag_set(diag, -ENOMEM, "%s: out of memory", path);
	writer->profile = profile;
	writer->file = writer->rank = writer->regions = H5I_INVALID_HID;
	rc = cm_tempfile_open(&writer->temp, path, diag);
	if (rc < 0) {
		free_writer(writer);
		return rc;
	}
	cm_h5_sink_init(&writer->sink, writer->temp.fd);
	rc = make_tables(writer, options);
	if (rc == 0)
		rc = cm_h5_sink_create(&writer->sink, path, &writer->file, diag);
	if (rc == 0)
		rc = make_groups(writer);
	if (rc < 0) {
		rc = fail(writer, diag, rc, "cannot start the file");
		cm_writer_discard(writer);
		return rc;
	}
	*ret_writer = writer;
	return 0;
}

size_t cm_writer_rows(const struct cm_writer *writer, size_t region)
{
	const struct cm_profile *profile = writer->profile;
	uint64_t n_trace = profile->regions[region].n_trace, rows, least = MIN_ROWS;

	if (profile->n_regions > BUDGET_ROWS / MIN_ROWS)
		least = BUDGET_ROWS / profile->n_regions;
	if (least < LEAST_ROWS)
		least = LEAST_ROWS;
	rows = (uint64_t)((double)n_trace / (double)(writer->n_records | 1) * BUDGET_ROWS);
	rows -= rows % MIN_ROWS; /* whole pages */
	if (rows < least)
		rows = least;
	if (rows > MAX_ROWS)
		rows = MAX_ROWS;
	return rows < n_trace ? rows : n_trace;
}

/* Keep a trace's datasets open, and close the oldest for it. */
static void remember_open(struct cm_writer *writer, struct region_state *state)
{
	struct region_state **slot = &writer->open_traces[writer->next_open++ % N_OPEN_TRACES];

	if (*slot)
		cm_h5_trace_close(&(*slot)->trace);
	*slot = state;
}

static void forget_open(struct cm_writer *writer, struct region_state *state)
{
	cm_h5_trace_close(&state->trace);
	for (size_t i = 0; i < N_OPEN_TRACES; i++)
		if (writer->open_traces[i] == state)
			writer->open_traces[i] = NULL;
}

/* Make a region's datasets, or open the compressed ones again. */
static int prepare(struct cm_writer *writer, size_t region)
{
	struct region_state *state = &writer->states[region];
	const struct cm_profile_region *stats = &writer->profile->regions[region];
	struct cm_h5_trace *trace = &state->trace;
	hid_t group;
	int rc;

	if (trace->is_made && (!trace->is_chunked || trace->is_open))
		return 0;
	group = trace->is_made ? H5Gopen2(writer->regions, writer->names[region], H5P_DEFAULT)
			       : cm_h5_make_group(writer->regions, writer->names[region]);
	if (group < 0)
		return -EIO;
	rc = trace->is_made ? cm_h5_trace_open(trace, group)
			    : cm_h5_trace_create(trace, group, stats,
						 cm_writer_rows(writer, region), writer->level);
	cm_h5_close(group);
	if (rc == 0 && trace->is_open)
		remember_open(writer, state);
	return rc;
}

int cm_writer_append(struct cm_writer *writer, size_t region, const int64_t *starts,
		     const int64_t *ends, const int32_t *threads, size_t n, struct cm_diag *diag)
{
	const struct cm_profile_region *stats = &writer->profile->regions[region];
	struct region_state *state = &writer->states[region];
	int rc;

	if (n == 0)
		return 0;
	if (n > stats->n_trace - state->n_done || (!threads && !stats->one_thread))
		return cm_diag_set(
			diag, -EINVAL, "%s: region %s: %s", writer->temp.final_path, stats->tag,
			n > stats->n_trace - state->n_done ? "more calls than announced"
							   : "calls without their threads");
	rc = prepare(writer, region);
	if (rc == 0)
		rc = cm_h5_trace_write(&state->trace, &writer->sink, state->n_done, starts, ends,
				       threads, n);
	if (rc == 0)
		rc = writer->sink.error; /* HDF5 does not know (h5-driver.h) */
	if (rc < 0)
		return fail(writer, diag, rc, "cannot write");
	state->n_done += n;
	if (state->n_done == stats->n_trace && state->trace.is_open)
		forget_open(writer, state);
	return 0;
}

static int put_region(struct cm_writer *writer, size_t region)
{
	int rc = 0;
	hid_t group;

	if (!writer->states[region].trace.is_made)
		rc = prepare(writer, region); /* it has no calls in the trace */
	if (rc < 0)
		return rc;
	group = H5Gopen2(writer->regions, writer->names[region], H5P_DEFAULT);
	if (group < 0)
		return -EIO;
	rc = cm_h5_profile_put_region(group, &writer->profile->regions[region]);
	cm_h5_close(group);
	return rc;
}

static int put_everything(struct cm_writer *writer, struct cm_diag *diag)
{
	const struct cm_profile *profile = writer->profile;
	int rc = cm_h5_profile_put_root(writer->file, profile);

	if (rc == 0)
		rc = cm_h5_profile_put_rank(writer->rank, profile);
	for (size_t i = 0; i < profile->n_regions && rc == 0; i++) {
		if (writer->states[i].n_done != profile->regions[i].n_trace)
			return cm_diag_set(diag, -EINVAL,
					   "%s: region %s: %lu of %lu calls were written",
					   writer->temp.final_path, profile->regions[i].tag,
					   (unsigned long)writer->states[i].n_done,
					   (unsigned long)profile->regions[i].n_trace);
		rc = put_region(writer, i);
		if (rc == 0)
			rc = writer->sink.error;
	}
	return rc < 0 ? fail(writer, diag, rc, "cannot write") : 0;
}

int cm_writer_commit(struct cm_writer *writer, struct cm_diag *diag)
{
	int rc = put_everything(writer, diag);

	if (rc < 0) {
		cm_writer_discard(writer);
		return rc;
	}
	rc = close_file(writer, diag);
	if (rc == 0)
		rc = cm_tempfile_commit(&writer->temp, diag);
	free_writer(writer);
	return rc;
}
