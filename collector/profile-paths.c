/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths of regions: the spool's addresses become rows of text. Paths that read the same are
 * one row; rows whose frames could not be told apart further (no DWARF) are among those.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/frame-text.h"
#include "collector/profile-build.h"

#define MAX_FRAMES 256 /* of a path that are shown; rules allow fewer */
#define MAX_ENTRIES 8  /* functions of a region that are asked for their line */
#define CUT_TEXT "(no unwind information)"
#define EMPTY_TEXT "(unknown)"

/* A path in words. */
struct row {
	size_t region; /* of the profile */
	const char *frames;
	uint64_t calls;
	int64_t total_ns;
};

struct paths {
	struct cm_profile_region *regions;
	struct cm_spool_reader *reader;
	struct cm_frame_texts texts;
	struct cm_progress progress;
	size_t *places; /* by spool region: the profile's, or SIZE_MAX */
	char *text;	/* of the path at hand */
	const struct cm_spool_path **used;
	size_t n_used;
	struct row *rows;
	size_t n_rows;
};

static int list_places(struct paths *paths, const struct cm_trace *trace)
{
	size_t n_regions = paths->reader->n_regions;

	paths->places = malloc((n_regions + 1) * sizeof(*paths->places));
	if (!paths->places)
		return -ENOMEM;
	for (size_t i = 0; i < n_regions; i++)
		paths->places[i] = SIZE_MAX;
	for (size_t i = 0; i < trace->n_called; i++)
		paths->places[trace->called[i]] = i;
	return 0;
}

/* The first of a region's functions whose line is known. */
static int add_sources(struct paths *paths)
{
	const struct cm_spool_reader *reader = paths->reader;
	uint8_t *n_asked = calloc(reader->n_regions + 1, 1);
	int rc = n_asked ? 0 : -ENOMEM;

	for (size_t i = 0; rc >= 0 && i < reader->n_functions; i++) {
		const struct cm_spool_function *function = &reader->functions[i];
		struct cm_profile_region *region;
		const char *file;
		int line;

		if (paths->places[function->region] == SIZE_MAX)
			continue;
		region = &paths->regions[paths->places[function->region]];
		if (region->source_file || n_asked[function->region]++ >= MAX_ENTRIES)
			continue;
		rc = cm_frame_texts_seek(&paths->texts, function->n_objects);
		if (rc >= 0)
			rc = cm_frame_texts_source(&paths->texts, function->address, &file, &line);
		if (rc > 0) {
			region->source_file = file;
			region->source_lineno = line;
		}
	}
	free(n_asked);
	return rc < 0 ? rc : 0;
}

static int compare_ages(const void *a, const void *b)
{
	const struct cm_spool_path *x = *(const struct cm_spool_path *const *)a;
	const struct cm_spool_path *y = *(const struct cm_spool_path *const *)b;

	if (x->n_objects != y->n_objects)
		return x->n_objects < y->n_objects ? -1 : 1;
	return (x > y) - (x < y);
}

/* Paths with calls, of regions that are in the profile, in the order of the objects' items. */
static int list_used(struct paths *paths)
{
	const struct cm_spool_reader *reader = paths->reader;

	paths->used = malloc((reader->n_paths + 1) * sizeof(*paths->used));
	if (!paths->used)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_paths; i++) {
		const struct cm_spool_path *path = &reader->paths[i];
		size_t place = path->frames ? paths->places[path->region] : SIZE_MAX;

		if (place == SIZE_MAX)
			continue;
		paths->regions[place].has_paths = true;
		if (path->n_calls && !(path->flags & CM_PATH_OTHER))
			paths->used[paths->n_used++] = path;
	}
	if (paths->n_used)
		qsort(paths->used, paths->n_used, sizeof(*paths->used), compare_ages);
	return 0;
}

/* Returns the end. */
static char *append(char *at, const char *start, const char *text)
{
	if (at != start)
		at = stpcpy(at, CM_PROFILE_PATH_SEPARATOR);
	return stpcpy(at, text);
}

/* paths->text has room for MAX_FRAMES and one more. */
static int make_text(struct paths *paths, const struct cm_spool_path *path, const char **ret_text)
{
	size_t n_frames = path->n_frames < MAX_FRAMES ? path->n_frames : MAX_FRAMES;
	char *end = paths->text;
	const char *frame;
	int rc = cm_frame_texts_seek(&paths->texts, path->n_objects);

	*end = '\0';
	for (size_t i = 0; rc >= 0 && i < n_frames; i++) {
		rc = cm_frame_texts_get(&paths->texts, path->frames[i], &frame);
		if (rc > 0)
			end = append(end, paths->text, frame);
	}
	if (rc < 0)
		return rc;
	if (path->flags & CM_PATH_CUT)
		end = append(end, paths->text, CUT_TEXT);
	else if (end == paths->text)
		end = append(end, paths->text, EMPTY_TEXT);
	*ret_text = cm_arena_copy(&paths->reader->arena, paths->text, (size_t)(end - paths->text));
	return *ret_text ? 0 : -ENOMEM;
}

static int make_rows(struct paths *paths, const struct cm_clock_map *map)
{
	int rc = 0;

	paths->rows = calloc(paths->n_used + 1, sizeof(*paths->rows));
	paths->text = malloc((MAX_FRAMES + 1) *
			     (CM_FRAME_TEXT_BYTES + sizeof(CM_PROFILE_PATH_SEPARATOR)));
	if (!paths->rows || !paths->text)
		return -ENOMEM;
	for (size_t i = 0; rc >= 0 && i < paths->n_used; i++) {
		const struct cm_spool_path *path = paths->used[i];
		struct row *row = &paths->rows[paths->n_rows++];

		row->region = paths->places[path->region];
		row->calls = path->n_calls;
		row->total_ns = cm_clock_map_span(map, path->total_ticks);
		rc = make_text(paths, path, &row->frames);
		cm_progress_add(&paths->progress, 1);
	}
	return rc;
}

static int compare_texts(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return strcmp(x->frames, y->frames);
}

static int compare_totals(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->frames, y->frames);
}

static void add_to(struct row *sum, const struct row *row)
{
	if (__builtin_add_overflow(sum->calls, row->calls, &sum->calls))
		sum->calls = UINT64_MAX;
	if (__builtin_add_overflow(sum->total_ns, row->total_ns, &sum->total_ns))
		sum->total_ns = INT64_MAX;
}

static void merge_rows(struct paths *paths)
{
	struct row *rows = paths->rows;
	size_t n = 0;

	if (!paths->n_rows)
		return;
	qsort(rows, paths->n_rows, sizeof(*rows), compare_texts);
	for (size_t i = 0; i < paths->n_rows; i++) {
		if (n && compare_texts(&rows[n - 1], &rows[i]) == 0)
			add_to(&rows[n - 1], &rows[i]);
		else
			rows[n++] = rows[i];
	}
	paths->n_rows = n;
	qsort(rows, n, sizeof(*rows), compare_totals);
}

/* The columns have room for one row more. */
static int give_rows(struct paths *paths, size_t place, const struct row *rows, size_t n)
{
	struct cm_profile_region *region = &paths->regions[place];
	struct cm_arena *arena = &paths->reader->arena;
	const char **frames = cm_arena_array(arena, n + 1, sizeof(*frames));
	uint64_t *calls = cm_arena_array(arena, n + 1, sizeof(*calls));
	int64_t *totals = cm_arena_array(arena, n + 1, sizeof(*totals));

	if (!frames || !calls || !totals)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		frames[i] = rows[i].frames;
		calls[i] = rows[i].calls;
		totals[i] = rows[i].total_ns;
	}
	region->n_paths = n;
	region->path_frames = frames;
	region->path_calls = calls;
	region->path_total_ns = totals;
	return 0;
}

static int give_all(struct paths *paths, size_t n_regions)
{
	size_t at = 0;
	int rc = 0;

	for (size_t place = 0; rc >= 0 && place < n_regions; place++) {
		size_t first = at;

		while (at < paths->n_rows && paths->rows[at].region == place)
			at++;
		if (paths->regions[place].has_paths)
			rc = give_rows(paths, place, paths->rows + first, at - first);
	}
	return rc;
}

int cm_profile_add_paths(struct cm_profile *profile, struct cm_spool_reader *reader,
			 const struct cm_trace *trace, const struct cm_clock_map *map,
			 bool progress, struct cm_diag *diag)
{
	/* The table is ours, made by build; the profile shows it const. */
	struct paths paths = {
		.regions = (struct cm_profile_region *)profile->regions,
		.reader = reader,
	};
	int rc;

	if (!reader->n_functions && !reader->n_paths)
		return 0;
	cm_frame_texts_init(&paths.texts, reader);
	rc = list_places(&paths, trace);
	if (rc >= 0)
		rc = add_sources(&paths);
	if (rc >= 0)
		rc = list_used(&paths);
	cm_progress_start(&paths.progress, progress, "callmark: naming call paths", paths.n_used);
	/* From the beginning: paths may be older than the last function. */
	cm_frame_texts_rewind(&paths.texts);
	if (rc >= 0)
		rc = make_rows(&paths, map);
	cm_progress_stop(&paths.progress);
	if (rc >= 0) {
		merge_rows(&paths);
		rc = give_all(&paths, profile->n_regions);
	}
	cm_frame_texts_fini(&paths.texts);
	free(paths.places);
	free(paths.text);
	free(paths.used);
	free(paths.rows);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", reader->path, strerror(-rc));
	return 0;
}

void cm_profile_close_paths(struct cm_profile_region *region)
{
	/* As in cm_profile_add_paths(): ours. */
	const char **frames = (const char **)region->path_frames;
	uint64_t *calls = (uint64_t *)region->path_calls, left = region->calls;
	int64_t *totals = (int64_t *)region->path_total_ns, left_ns = region->total_ns;
	size_t n = 0;

	if (!region->has_paths)
		return;
	for (; n < region->n_paths && left; n++) {
		/* A damaged spool may have counted more than there were. */
		calls[n] = calls[n] < left ? calls[n] : left;
		left -= calls[n];
		left_ns -= totals[n] < left_ns ? totals[n] : left_ns;
	}
	if (left) {
		frames[n] = CM_PROFILE_PATH_OTHER;
		calls[n] = left;
		totals[n++] = left_ns;
	}
	region->n_paths = n;
}
