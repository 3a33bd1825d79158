/* SPDX-License-Identifier: BSD-3-Clause */
/* One region: its attributes, or what they would be, from its trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-get.h"
#include "writer/h5-load.h"
#include "writer/h5-open.h"
#include "writer/h5-schema.h"

#ifdef CM_SMALL_PIECES /* fuzzers */
#define N_PIECE 4
#else
#define N_PIECE 65536 /* rows read at once */
#endif

int cm_load_rows(hid_t set, uint64_t first, size_t n, int64_t *values)
{
	hsize_t start = first, count = n;
	hid_t file_space = H5Dget_space(set), memory = H5Screate_simple(1, &count, NULL);
	int rc = -EINVAL;

	if (file_space >= 0 && memory >= 0 &&
	    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
	    H5Dread(set, H5T_NATIVE_INT64, memory, file_space, H5P_DEFAULT, values) >= 0)
		rc = 0;
	cm_h5_close(memory);
	cm_h5_close(file_space);
	return rc;
}

static void add_duration(struct cm_profile_region *stats, int64_t start, int64_t end)
{
	int64_t ns = 0;

	if (end > start && __builtin_sub_overflow(end, start, &ns))
		ns = INT64_MAX;
	if (__builtin_add_overflow(stats->total_ns, ns, &stats->total_ns))
		stats->total_ns = INT64_MAX;
	if (stats->calls == 0 || ns < stats->min_ns)
		stats->min_ns = ns;
	if (ns > stats->max_ns)
		stats->max_ns = ns;
	stats->sum_sq_ns2 += (double)ns * (double)ns;
	stats->histogram[ns ? 63 - __builtin_clzll((uint64_t)ns) : 0]++;
	stats->calls++;
}

static int compute(hid_t starts, hid_t ends, struct cm_result_region *region)
{
	int64_t *rows = calloc(2 * N_PIECE, sizeof(*rows));
	int rc = rows ? 0 : -ENOMEM;

	for (uint64_t first = 0, n; first < region->n_calls && rc == 0; first += n) {
		n = region->n_calls - first < N_PIECE ? region->n_calls - first : N_PIECE;
		rc = cm_load_rows(starts, first, n, rows);
		if (rc == 0)
			rc = cm_load_rows(ends, first, n, rows + N_PIECE);
		for (uint64_t i = 0; i < n && rc == 0; i++)
			add_duration(&region->stats, rows[i], rows[N_PIECE + i]);
	}
	free(rows);
	return rc;
}

static int read_histogram(const struct cm_load_source *source, hid_t group,
			  struct cm_profile_region *stats)
{
	const int64_t *buckets;
	size_t n;
	int rc = cm_h5_get_array(group, CM_H5_REGION_HISTOGRAM, source->n_file_bytes, source->store,
				 &buckets, &n);

	if (rc <= 0)
		return rc;
	if (n != CM_PROFILE_N_BUCKETS)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		stats->histogram[i] = (uint64_t)buckets[i];
	return 0;
}

static int read_attributes(const struct cm_load_source *source, hid_t group,
			   struct cm_profile_region *stats)
{
	int64_t value;
	int rc = 0;

#define INTEGER(name, field)                                        \
	if (rc >= 0) {                                              \
		rc = cm_h5_get_integer(group, name, &value);        \
		if (rc > 0)                                         \
			stats->field = (typeof(stats->field))value; \
	}
	CM_H5_REGION_INTEGERS(INTEGER)
#undef INTEGER
	if (rc >= 0)
		rc = cm_h5_get_real(group, CM_H5_SUM_SQ, &stats->sum_sq_ns2);
	if (rc >= 0)
		rc = read_histogram(source, group, stats);
	return rc < 0 ? rc : 0;
}

static int read_texts(const struct cm_load_source *source, hid_t group,
		      struct cm_profile_region *stats)
{
	int rc = 0;

#define STRING(name, field) \
	if (rc >= 0)        \
		rc = cm_h5_get_string(group, name, source->store, &stats->field);
	CM_H5_REGION_STRINGS(STRING)
#undef STRING
	if (rc >= 0)
		rc = cm_h5_get_bytes(group, CM_H5_TAG_BYTES, source->store, &stats->tag);
	if (rc >= 0)
		rc = cm_h5_get_list(group, CM_H5_REGION_SYMBOLS, source->n_file_bytes,
				    source->store, &stats->symbols, &stats->n_symbols);
	return rc < 0 ? rc : 0;
}

static int read_source(const struct cm_load_source *source, hid_t group,
		       struct cm_profile_region *stats)
{
	int rc = cm_h5_get_string(group, CM_H5_SOURCE_FILE, source->store, &stats->source_file);

	if (rc > 0)
		rc = cm_h5_get_integer(group, CM_H5_SOURCE_LINENO, &stats->source_lineno);
	return rc < 0 ? rc : 0;
}

/* The columns of call_paths must be of one length. */
static int read_paths(const struct cm_load_source *source, hid_t region_group,
		      struct cm_profile_region *stats)
{
	hid_t group = cm_h5_open_child(region_group, CM_H5_CALL_PATHS, H5I_GROUP);
	const int64_t *calls = NULL, *totals = NULL;
	const char *const *frames = NULL;
	size_t n[3] = {0};
	int rc;

	if (group < 0)
		return 0;
	rc = cm_h5_get_list(group, CM_H5_PATH_FRAMES, source->n_file_bytes, source->store, &frames,
			    &n[0]);
	if (rc >= 0)
		rc = cm_h5_get_array(group, CM_H5_PATH_CALLS, source->n_file_bytes, source->store,
				     &calls, &n[1]);
	if (rc >= 0)
		rc = cm_h5_get_array(group, CM_H5_PATH_TOTALS, source->n_file_bytes, source->store,
				     &totals, &n[2]);
	cm_h5_close(group);
	if (rc < 0 || n[0] != n[1] || n[0] != n[2])
		return rc < 0 ? rc : -EINVAL;
	stats->has_paths = true;
	stats->n_paths = n[0];
	stats->path_frames = frames;
	stats->path_calls = (const uint64_t *)calls; /* what is above INT64_MAX was cut there */
	stats->path_total_ns = totals;
	return 0;
}

/* A threads dataset that is one fill value says who made all calls. */
static int read_thread(const struct cm_load_source *source, hid_t group,
		       struct cm_result_region *region)
{
	hid_t set = cm_h5_open_child(group, CM_H5_REGION_THREADS, H5I_DATASET);
	bool is_constant;
	int64_t thread;
	uint64_t n;
	int rc = 0;

	if (set < 0)
		return 0;
	if (cm_h5_count_rows(set, source->n_file_bytes, &n, &is_constant) < 0 ||
	    n != region->n_calls) {
		rc = -EINVAL;
	} else if (is_constant) {
		rc = cm_load_rows(set, 0, 1, &thread);
		if (rc == 0 && thread >= 0 && (uint64_t)thread < source->n_threads) {
			region->stats.one_thread = true;
			region->stats.thread = (int32_t)thread;
		}
	}
	cm_h5_close(set);
	return rc;
}

static bool is_integers(hid_t set)
{
	hid_t type = H5Dget_type(set);
	bool is_integer = type >= 0 && H5Tget_class(type) == H5T_INTEGER;

	cm_h5_close(type);
	return is_integer;
}

static int read_everything(const struct cm_load_source *source, hid_t group, hid_t starts,
			   hid_t ends, struct cm_result_region *region)
{
	bool is_constant[2] = {false, false};
	uint64_t n_ends;
	htri_t has_stats;
	int rc;

	if (starts < 0 || ends < 0 || !is_integers(starts) || !is_integers(ends) ||
	    cm_h5_count_rows(starts, source->n_file_bytes, &region->n_calls, &is_constant[0]) < 0 ||
	    cm_h5_count_rows(ends, source->n_file_bytes, &n_ends, &is_constant[1]) < 0 ||
	    n_ends != region->n_calls || is_constant[0] || is_constant[1])
		return -EINVAL;
	region->stats.n_trace = region->n_calls;
	rc = read_texts(source, group, &region->stats);
	if (rc == 0)
		rc = read_thread(source, group, region);
	if (rc == 0)
		rc = read_source(source, group, &region->stats);
	if (rc == 0)
		rc = read_paths(source, group, &region->stats);
	if (rc < 0)
		return rc;
	has_stats = H5Aexists(group, CM_H5_CALLS);
	if (has_stats < 0)
		return -EINVAL;
	region->has_stats = has_stats > 0;
	return region->has_stats ? read_attributes(source, group, &region->stats)
				 : compute(starts, ends, region);
}

int cm_load_region(const struct cm_load_source *source, hid_t group, const char *name,
		   struct cm_result_region *region, struct cm_diag *diag)
{
	hid_t starts = cm_h5_open_child(group, CM_H5_START_TIMES, H5I_DATASET);
	hid_t ends = cm_h5_open_child(group, CM_H5_END_TIMES, H5I_DATASET);
	int rc;

	*region = (struct cm_result_region){
		.stats = {.tag = name, .library = "", .max_events = UINT64_MAX, .thread = -1},
	};
	rc = read_everything(source, group, starts, ends, region);
	cm_h5_close(ends);
	cm_h5_close(starts);
	if (rc == -EINVAL)
		return cm_h5_fail(diag, rc, source->path, "a region is not as the format says");
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", source->path,
				   rc == -EFBIG ? "its texts are larger than the file allows"
						: "out of memory");
	return 0;
}
