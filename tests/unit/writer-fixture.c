/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile with known contents. */
#include "tests/unit/writer-fixture.h"

#include <criterion/criterion.h>

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const symbols[] = {"cblas_dgemm", "dgemm_"};
static const char *const paths[] = {"f [prog] f.c:3 < main [prog] main.c:7", "\xc3\xa4 [?]",
				    CM_PROFILE_PATH_OTHER};
static const uint64_t path_calls[] = {INT64_MAX, 2, 1};
static const int64_t path_totals[] = {INT64_MAX, 0, 7};
static const char *const command_line[] = {"./prog", "", "a b", "\xc3\xa4"};
static const char *const never_called[] = {"never"};
static const char *const notes[] = {"one note"};
static const char *const modules[] = {"gcc/12", "openmpi"};

static const struct cm_meta metadata[] = {
	{"timestamp", CM_META_STRING, "2026-01-02T03:04:05Z"},
	{"start_time_ns", CM_META_INT, NULL, INT64_MAX},
	{"modules", CM_META_STRINGS, NULL, 0, modules, 2},
	{"timestamp", CM_META_STRING, "a second one of that name"},
};

static const struct cm_profile_thread threads[] = {
	{4711, "main", 5, 500, "0-1"},
	{4712, "worker", -3, INT64_MAX, ""},
};

static const struct cm_profile_site sites[] = {
	{"cblas_*", "cblas_dgemm", "", "libfoo.so", "jump_slot", "patched", ""},
	{"m*", "memcpy", "GLIBC_2.14", "prog", "glob_dat", "refused", "address taken"},
};

static struct cm_profile_region make_region(const char *tag, size_t i, uint64_t n_trace)
{
	return (struct cm_profile_region){
		.tag = tag,
		.library = "libfoo.so.1",
		.symbols = symbols,
		.n_symbols = i % 3,
		.n_trace = n_trace,
		.calls = n_trace + i,
		.total_ns = 10 * (int64_t)i,
		.min_ns = INT64_MIN,
		.max_ns = INT64_MAX,
		.sum_sq_ns2 = 1e300 + (double)i,
		.tool_ns = 3,
		.unwound = 4,
		.skipped = 5,
		.open = 6,
		.dropped_events = 7,
		.max_events = i % 2 ? UINT64_MAX : 1000000,
		.histogram = {[0] = i, [63] = 9},
		.one_thread = i % 2,
		.thread = i % 2,
		.source_file = i % 3 == 1 ? "/src/solver.c" : NULL,
		.source_lineno = i % 3 == 1 ? (int64_t)i : 0,
		.has_paths =
			i % 5 != 0, /* also with no row: nothing writes that, readers stand it */
		.n_paths = i % 5 ? i % 5 - 1 : 0,
		.path_frames = paths,
		.path_calls = path_calls,
		.path_total_ns = path_totals,
	};
}

static const struct cm_profile profile_without_regions = {
	.run_id = "run-1",
	.version = "9.8.7",
	.mpi_size = 1,
	.metadata = metadata,
	.n_metadata = 4,
	.hostname = "host",
	.pid = 4711,
	.executable = "/bin/prog",
	.has_exit_status = true,
	.exit_status = 3,
	.clock = "tsc",
	.monotonic_to_realtime_ns = -1,
	.overhead_ns_per_call = 17.5,
	.n_dropped = 2,
	.command_line = command_line,
	.n_command_line = 4,
	.never_called = never_called,
	.n_never_called = 1,
	.notes = notes,
	.n_notes = 1,
	.threads = threads,
	.n_threads = 2,
	.sites = sites,
	.n_sites = 2,
};

void fixture_init(struct fixture *fixture, size_t n_regions, uint64_t n_trace)
{
	*fixture = (struct fixture){
		.profile = profile_without_regions,
		.regions = calloc(n_regions + 1, sizeof(*fixture->regions)),
		.tags = calloc(n_regions + 1, sizeof(*fixture->tags)),
		.folder = "/tmp/callmark-writer-XXXXXX",
	};
	cr_assert(mkdtemp(fixture->folder));
	snprintf(fixture->path, sizeof(fixture->path), "%s/profiling_data.h5", fixture->folder);
	for (size_t i = 0; i < n_regions; i++) {
		snprintf(fixture->tags[i], sizeof(fixture->tags[i]), "region_%zu", i);
		fixture->regions[i] = make_region(fixture->tags[i], i, n_trace);
	}
	fixture->profile.regions = fixture->regions;
	fixture->profile.n_regions = n_regions;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void fixture_fini(struct fixture *fixture)
{
	cr_assert_eq(nftw(fixture->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
	fixture_free(fixture);
}

void fixture_free(struct fixture *fixture)
{
	free(fixture->regions);
	free(fixture->tags);
}

int64_t fixture_start(size_t region, uint64_t row)
{
	if (row == 0)
		return INT64_MIN + (int64_t)region;
	return (int64_t)(row * 1000003 + region * 7 + (row & 1 ? 1 : 0));
}

int64_t fixture_end(size_t region, uint64_t row)
{
	return row == 0 ? INT64_MAX - (int64_t)region
			: fixture_start(region, row) + (int64_t)((row * 2654435761u) % 100000);
}

int32_t fixture_thread(const struct fixture *fixture, size_t region, uint64_t row)
{
	return fixture->regions[region].one_thread ? fixture->regions[region].thread
						   : (int32_t)(row % 3 == 0);
}

static int append(struct cm_writer *writer, const struct fixture *fixture, size_t region,
		  uint64_t *row, struct cm_diag *diag)
{
	uint64_t n_left = fixture->regions[region].n_trace - *row;
	size_t n = cm_writer_rows(writer, region);
	int64_t *starts, *ends;
	int32_t *who;
	int rc;

	n = n < n_left ? n : n_left;
	starts = calloc(n + 1, sizeof(*starts));
	ends = calloc(n + 1, sizeof(*ends));
	who = calloc(n + 1, sizeof(*who));
	for (size_t i = 0; i < n; i++) {
		starts[i] = fixture_start(region, *row + i);
		ends[i] = fixture_end(region, *row + i);
		who[i] = fixture_thread(fixture, region, *row + i);
	}
	rc = cm_writer_append(writer, region, starts, ends,
			      fixture->regions[region].one_thread ? NULL : who, n, diag);
	free(starts);
	free(ends);
	free(who);
	*row += n;
	return rc;
}

int fixture_write(const struct fixture *fixture, const char *path, enum cm_compress compress,
		  struct cm_diag *diag)
{
	struct cm_writer_options options = {compress};
	struct cm_writer *writer;
	size_t n_regions = fixture->profile.n_regions;
	uint64_t *rows = calloc(n_regions + 1, sizeof(*rows));
	bool more = true;
	int rc = cm_writer_open(&writer, path, &fixture->profile, &options, diag);

	if (rc < 0)
		more = false;
	while (more && rc == 0) {
		more = false;
		for (size_t i = 0; i < n_regions && rc == 0; i++)
			if (rows[i] < fixture->regions[i].n_trace) {
				rc = append(writer, fixture, i, &rows[i], diag);
				more = true;
			}
		if (rc < 0)
			cm_writer_discard(writer);
	}
	free(rows);
	return rc < 0 ? rc : cm_writer_commit(writer, diag);
}

size_t fixture_find(const struct cm_result_rank *rank, const char *tag)
{
	size_t i = 0;

	while (i < rank->n_regions && strcmp(rank->regions[i].stats.tag, tag) != 0)
		i++;
	cr_assert_lt(i, rank->n_regions, "no region %s", tag);
	return i;
}

static void check_paths(const struct cm_profile_region *got, const struct cm_profile_region *want)
{
	cr_assert_eq(got->source_lineno, want->source_lineno);
	cr_assert_eq(!got->source_file, !want->source_file);
	if (want->source_file)
		cr_assert_str_eq(got->source_file, want->source_file);
	cr_assert_eq(got->has_paths, want->has_paths);
	cr_assert_eq(got->n_paths, want->n_paths);
	for (size_t i = 0; i < want->n_paths; i++) {
		cr_assert_str_eq(got->path_frames[i], want->path_frames[i]);
		cr_assert_eq(got->path_calls[i], want->path_calls[i]);
		cr_assert_eq(got->path_total_ns[i], want->path_total_ns[i]);
	}
}

static void check_stats(const struct cm_profile_region *got, const struct cm_profile_region *want)
{
	cr_assert_str_eq(got->tag, want->tag);
	cr_assert_str_eq(got->library, want->library);
	cr_assert_eq(got->n_symbols, want->n_symbols);
	for (size_t i = 0; i < want->n_symbols; i++)
		cr_assert_str_eq(got->symbols[i], want->symbols[i]);
	cr_assert_eq(got->n_trace, want->n_trace);
	cr_assert_eq(got->calls, want->calls);
	cr_assert_eq(got->total_ns, want->total_ns);
	cr_assert_eq(got->min_ns, want->min_ns);
	cr_assert_eq(got->max_ns, want->max_ns);
	cr_assert_eq(got->sum_sq_ns2, want->sum_sq_ns2);
	cr_assert_eq(got->tool_ns, want->tool_ns);
	cr_assert_eq(got->unwound, want->unwound);
	cr_assert_eq(got->skipped, want->skipped);
	cr_assert_eq(got->open, want->open);
	cr_assert_eq(got->dropped_events, want->dropped_events);
	cr_assert_eq(got->max_events, want->max_events);
	cr_assert_arr_eq(got->histogram, want->histogram, sizeof(want->histogram));
	check_paths(got, want);
	if (want->n_trace) {
		cr_assert_eq(got->one_thread, want->one_thread);
		if (want->one_thread)
			cr_assert_eq(got->thread, want->thread);
	}
}

static void check_calls(const struct fixture *fixture, struct cm_results *results, size_t rank,
			size_t idx, size_t region)
{
	uint64_t n = fixture->regions[region].n_trace;
	int64_t *starts = calloc(n + 1, sizeof(*starts)), *ends = calloc(n + 1, sizeof(*ends));
	int32_t *who = calloc(n + 1, sizeof(*who));
	struct cm_diag diag = {0};

	cr_assert_eq(cm_results_read_calls(results, rank, idx, 0, n, starts, ends, who, &diag), 0,
		     "%s", diag.text);
	for (uint64_t i = 0; i < n; i++) {
		cr_assert_eq(starts[i], fixture_start(region, i));
		cr_assert_eq(ends[i], fixture_end(region, i));
		cr_assert_eq(who[i], fixture_thread(fixture, region, i));
	}
	cr_assert_eq(cm_results_read_calls(results, rank, idx, n, 1, starts, ends, who, NULL),
		     -ERANGE);
	free(starts);
	free(ends);
	free(who);
}

static void check_lists(const struct cm_profile *want, const struct cm_result_rank *rank)
{
	cr_assert_eq(rank->n_command_line, want->n_command_line);
	for (size_t i = 0; i < want->n_command_line; i++)
		cr_assert_str_eq(rank->command_line[i], want->command_line[i]);
	cr_assert_eq(rank->n_never_called, 1);
	cr_assert_str_eq(rank->never_called[0], "never");
	cr_assert_eq(rank->n_notes, 1);
	cr_assert_str_eq(rank->notes[0], "one note");
	cr_assert_eq(rank->n_threads, want->n_threads);
	for (size_t i = 0; i < want->n_threads; i++) {
		cr_assert_eq(rank->threads[i].tid, want->threads[i].tid);
		cr_assert_str_eq(rank->threads[i].name, want->threads[i].name);
		cr_assert_eq(rank->threads[i].first_ns, want->threads[i].first_ns);
		cr_assert_eq(rank->threads[i].last_ns, want->threads[i].last_ns);
		cr_assert_str_eq(rank->threads[i].cpus, want->threads[i].cpus);
	}
}

void fixture_check_rank(const struct fixture *fixture, struct cm_results *results, size_t idx)
{
	const struct cm_profile *want = &fixture->profile;
	const struct cm_result_rank *rank = cm_results_rank(results, idx);

	cr_assert(rank);
	cr_assert_eq(rank->rank, want->rank);
	cr_assert_str_eq(rank->hostname, want->hostname);
	cr_assert_str_eq(rank->executable, want->executable);
	cr_assert_str_eq(rank->clock, want->clock);
	cr_assert_eq(rank->pid, want->pid);
	cr_assert_eq(rank->has_exit_status, want->has_exit_status);
	cr_assert_eq(rank->exit_status, want->exit_status);
	cr_assert_eq(rank->monotonic_to_realtime_ns, want->monotonic_to_realtime_ns);
	cr_assert_eq(rank->overhead_ns_per_call, want->overhead_ns_per_call);
	cr_assert_eq(rank->n_dropped, want->n_dropped);
	check_lists(want, rank);
	cr_assert_eq(rank->n_regions, want->n_regions);
	for (size_t i = 0; i < want->n_regions; i++) {
		size_t k = fixture_find(rank, want->regions[i].tag);

		cr_assert(rank->regions[k].has_stats);
		check_stats(&rank->regions[k].stats, &want->regions[i]);
		check_calls(fixture, results, idx, k, i);
	}
}

size_t fixture_count_files(const struct fixture *fixture)
{
	DIR *dir = opendir(fixture->folder);
	struct dirent *entry;
	size_t n = 0;

	cr_assert(dir);
	while ((entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return n;
}
