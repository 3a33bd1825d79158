/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that callmark did not write, or that are damaged: writer/results.h. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/writer-fixture.h"

#define DATA CM_TEST_DATA "/h5/"

static const struct cm_meta *find_meta(const struct cm_results *results, const char *name)
{
	size_t n;
	const struct cm_meta *meta = cm_results_metadata(results, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(meta[i].name, name) == 0)
			return &meta[i];
	return NULL;
}

static void check_computed(const struct cm_result_region *region)
{
	cr_assert_not(region->has_stats);
	cr_assert_eq(region->n_calls, 5);
	cr_assert_eq(region->stats.calls, 5);
	cr_assert_eq(region->stats.total_ns, 1039);
	cr_assert_eq(region->stats.min_ns, 1);
	cr_assert_eq(region->stats.max_ns, 1024);
	cr_assert_eq(region->stats.sum_sq_ns2, 1. + 4 + 16 + 64 + 1024. * 1024);
	cr_assert_eq(region->stats.histogram[0], 1);
	cr_assert_eq(region->stats.histogram[3], 1);
	cr_assert_eq(region->stats.histogram[10], 1);
}

static void check_metadata(const struct cm_results *results)
{
	cr_assert_eq(find_meta(results, "fixed")->kind, CM_META_STRING);
	cr_assert_str_eq(find_meta(results, "fixed")->string, "abc");
	cr_assert_str_eq(find_meta(results, "load")->string, "0.5");
	cr_assert_eq(find_meta(results, "modules")->n_strings, 2);
	cr_assert_null(find_meta(results, "matrix"));
	cr_assert_str_eq(cm_results_version(results), "");
	cr_assert_eq(cm_results_mpi_size(results), 2);
}

static void check_scope_profiler(const char *path)
{
	struct cm_results *results;
	const struct cm_result_rank *rank;
	struct cm_diag diag = {0};
	int64_t starts[2], ends[2];
	int32_t who[2];

	cr_assert_eq(cm_results_open(&results, path, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_results_n_ranks(results), 2);
	rank = cm_results_rank(results, 0);
	cr_assert_eq(rank->rank, 2);
	cr_assert_eq(cm_results_rank(results, 1)->rank, 10);
	cr_assert_null(cm_results_rank(results, 2));
	cr_assert_str_eq(rank->hostname, "");
	cr_assert(isnan(rank->overhead_ns_per_call));
	cr_assert_eq(rank->n_regions, 3);
	check_computed(&rank->regions[fixture_find(rank, "solve")]);
	cr_assert_eq(rank->regions[fixture_find(rank, "empty")].stats.calls, 0);
	cr_assert_eq(cm_results_read_calls(results, 0, fixture_find(rank, "solve"), 3, 2, starts,
					   ends, who, &diag),
		     0);
	cr_assert_eq(starts[1], 4002);
	cr_assert_eq(ends[1], 5026);
	cr_assert_eq(who[0], -1);
	check_metadata(results);
	cm_results_close(results);
}

Test(results, scope_profiler_files_get_their_numbers_from_the_trace)
{
	check_scope_profiler(DATA "scope-profiler.h5");
}

Test(results, scope_profiler_files_from_before_its_schema)
{
	check_scope_profiler(DATA "scope-profiler-old.h5");
}

struct bad_case {
	char name[24];
	char path[200];
	int rc;
};

ParameterizedTestParameters(results, what_is_no_profile_is_a_clear_error)
{
	static struct bad_case cases[] = {
		{"absent", "/nonexistent/x.h5", -ENOENT},
		{"folder", "/tmp", -EINVAL},
		{"device", "/dev/null", -EINVAL},
		{"program", "/bin/sh", -EINVAL},
		{"another HDF5 file", DATA "foreign.h5", -EINVAL},
	};

	return cr_make_param_array(struct bad_case, cases, sizeof(cases) / sizeof(cases[0]));
}

ParameterizedTest(struct bad_case *param, results, what_is_no_profile_is_a_clear_error)
{
	struct cm_results *results = NULL;
	struct cm_diag diag = {0};

	cr_assert_eq(cm_results_open(&results, param->path, &diag), param->rc);
	cr_assert_null(results);
	cr_assert(strstr(diag.text, param->path), "%s", diag.text);
	cr_assert_null(strchr(diag.text, '\n'));
}

Test(results, a_file_cut_off_anywhere_is_an_error, .timeout = 120)
{
	struct fixture fixture;
	struct cm_results *results;
	struct stat st;

	fixture_init(&fixture, 3, 400);
	cr_assert_eq(fixture_write(&fixture, fixture.path, CM_COMPRESS_FAST, NULL), 0);
	cr_assert_eq(stat(fixture.path, &st), 0);
	for (off_t size = st.st_size - 1; size >= 0; size -= 311) {
		struct cm_diag diag = {0};

		cr_assert_eq(truncate(fixture.path, size), 0);
		cr_assert_eq(cm_results_open(&results, fixture.path, &diag), -EINVAL);
		cr_assert_neq(diag.text[0], '\0');
	}
	fixture_fini(&fixture);
}

/* The same in the format without checksums, which HDF5 itself does not survive. */
Test(results, an_old_file_with_flipped_bytes_does_no_harm, .timeout = 120)
{
	static char image[64 << 10];
	struct fixture fixture;
	struct cm_results *results;
	FILE *file = fopen(DATA "scope-profiler.h5", "r");
	size_t n = fread(image, 1, sizeof(image), file);
	int fd;

	fclose(file);
	cr_assert_gt(n, 10000);
	fixture_init(&fixture, 0, 0);
	fd = open(fixture.path, O_RDWR | O_CREAT, 0600);
	cr_assert_eq(write(fd, image, n), (ssize_t)n);
	for (size_t at = 0; at < n; at += 211) {
		char new = (char)(image[at] ^ 0xff);

		cr_assert_eq(pwrite(fd, &new, 1, (off_t)at), 1);
		if (cm_results_open(&results, fixture.path, NULL) == 0)
			cm_results_close(results);
		cr_assert_eq(pwrite(fd, image + at, 1, (off_t)at), 1);
	}
	close(fd);
	fixture_fini(&fixture);
}

/* Flip bytes all over the file: any answer is right but a crash or a hang. */
Test(results, a_file_with_flipped_bytes_does_no_harm, .timeout = 120)
{
	struct fixture fixture;
	struct cm_results *results;
	int64_t starts[8], ends[8];
	struct stat st;
	int fd;

	fixture_init(&fixture, 2, 8);
	cr_assert_eq(fixture_write(&fixture, fixture.path, CM_COMPRESS_NONE, NULL), 0);
	fd = open(fixture.path, O_RDWR);
	cr_assert_eq(fstat(fd, &st), 0);
	for (off_t at = 0; at < st.st_size; at += 7) {
		unsigned char old, new;

		cr_assert_eq(pread(fd, &old, 1, at), 1);
		new = old ^ 0x81;
		cr_assert_eq(pwrite(fd, &new, 1, at), 1);
		if (cm_results_open(&results, fixture.path, NULL) == 0) {
			for (size_t i = 0; cm_results_n_ranks(results) &&
					   i < cm_results_rank(results, 0)->n_regions;
			     i++)
				cm_results_read_calls(results, 0, i, 0, 8, starts, ends, NULL,
						      NULL);
			cm_results_close(results);
		}
		cr_assert_eq(pwrite(fd, &old, 1, at), 1);
	}
	close(fd);
	fixture_fini(&fixture);
}

/* A file with rank0/regions/r, whose columns `make` builds. */
static void craft(const char *path, void (*make)(hid_t region))
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t rank = H5Gcreate2(file, "rank0", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	hid_t regions = H5Gcreate2(rank, "regions", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	hid_t region = H5Gcreate2(regions, "r", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

	make(region);
	cr_assert_geq(H5Gclose(region), 0);
	cr_assert_geq(H5Gclose(regions), 0);
	cr_assert_geq(H5Gclose(rank), 0);
	cr_assert_geq(H5Fclose(file), 0);
}

static void make_set(hid_t region, const char *name, hid_t type, int n_dims, hsize_t n, hid_t plist)
{
	hsize_t dims[2] = {n, 1};
	hid_t space = H5Screate_simple(n_dims, dims, NULL);
	hid_t set = H5Dcreate2(region, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);

	cr_assert_geq(set, 0);
	cr_assert_geq(H5Dclose(set), 0);
	cr_assert_geq(H5Sclose(space), 0);
}

static hid_t written_plist(void)
{
	hid_t plist = H5Pcreate(H5P_DATASET_CREATE);

	cr_assert_geq(H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY), 0);
	return plist;
}

static void make_columns(hid_t region, hid_t type, int n_dims, hsize_t n_starts, hsize_t n_ends,
			 hid_t plist)
{
	make_set(region, "start_times", type, n_dims, n_starts, plist);
	make_set(region, "end_times", type, n_dims, n_ends, plist);
	if (plist != H5P_DEFAULT)
		cr_assert_geq(H5Pclose(plist), 0);
}

static void rows_never_written(hid_t region)
{
	make_columns(region, H5T_NATIVE_INT64, 1, (hsize_t)1 << 50, (hsize_t)1 << 50, H5P_DEFAULT);
}

static void chunks_never_written(hid_t region)
{
	hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
	hsize_t chunk = 1000;

	cr_assert_geq(H5Pset_chunk(plist, 1, &chunk), 0);
	make_columns(region, H5T_NATIVE_INT64, 1, (hsize_t)1 << 40, (hsize_t)1 << 40, plist);
}

static void rows_of_text(hid_t region)
{
	make_columns(region, H5T_C_S1, 1, 4, 4, written_plist());
}

static void rows_of_floats(hid_t region)
{
	make_columns(region, H5T_NATIVE_DOUBLE, 1, 4, 4, written_plist());
}

static void two_dimensions(hid_t region)
{
	make_columns(region, H5T_NATIVE_INT64, 2, 4, 4, written_plist());
}

static void columns_of_two_lengths(hid_t region)
{
	make_columns(region, H5T_NATIVE_INT64, 1, 4, 5, written_plist());
}

static void rows_in_another_file(hid_t region)
{
	hid_t plist = H5Pcreate(H5P_DATASET_CREATE);

	cr_assert_geq(H5Pset_external(plist, "/etc/passwd", 0, 32), 0);
	make_columns(region, H5T_NATIVE_INT64, 1, 4, 4, plist);
}

static void columns_behind_soft_links(hid_t region)
{
	cr_assert_geq(H5Lcreate_soft("/rank0", region, "start_times", H5P_DEFAULT, H5P_DEFAULT), 0);
}

static void no_columns(hid_t region)
{
	(void)region;
}

static void paths_of_two_lengths(hid_t region)
{
	hid_t group = H5Gcreate2(region, "call_paths", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	hid_t plist = written_plist(), text = H5Tcopy(H5T_C_S1);

	cr_assert_geq(H5Tset_size(text, 8), 0);
	make_columns(region, H5T_NATIVE_INT64, 1, 4, 4, written_plist());
	make_set(group, "frames", text, 1, 3, plist);
	make_set(group, "calls", H5T_NATIVE_UINT64, 1, 3, plist);
	make_set(group, "total_ns", H5T_NATIVE_INT64, 1, 2, plist);
	cr_assert_geq(H5Tclose(text), 0);
	cr_assert_geq(H5Pclose(plist), 0);
	cr_assert_geq(H5Gclose(group), 0);
}

static void paths_without_texts(hid_t region)
{
	hid_t group = H5Gcreate2(region, "call_paths", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	hid_t plist = written_plist();

	make_columns(region, H5T_NATIVE_INT64, 1, 4, 4, written_plist());
	make_set(group, "calls", H5T_NATIVE_UINT64, 1, 3, plist);
	make_set(group, "total_ns", H5T_NATIVE_INT64, 1, 3, plist);
	cr_assert_geq(H5Pclose(plist), 0);
	cr_assert_geq(H5Gclose(group), 0);
}

Test(results, absurd_regions_are_refused)
{
	void (*const makers[])(hid_t region) = {
		rows_never_written,   chunks_never_written,
		rows_of_text,	      rows_of_floats,
		two_dimensions,	      columns_of_two_lengths,
		no_columns,	      columns_behind_soft_links,
		rows_in_another_file, paths_of_two_lengths,
		paths_without_texts,
	};
	struct fixture fixture;
	struct cm_results *results;

	fixture_init(&fixture, 0, 0);
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		struct cm_diag diag = {0};

		craft(fixture.path, makers[i]);
		cr_assert_eq(cm_results_open(&results, fixture.path, &diag), -EINVAL, "maker %zu",
			     i);
		cr_assert(strstr(diag.text, fixture.path), "%s", diag.text);
	}
	fixture_fini(&fixture);
}

/* rank0 as an external link to this file. */
static int open_linked(const struct fixture *fixture, const char *target, struct cm_diag *diag)
{
	hid_t file = H5Fcreate(fixture->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	struct cm_results *results;
	int rc;

	cr_assert_geq(H5Lcreate_external(target, "/rank0", file, "rank0", H5P_DEFAULT, H5P_DEFAULT),
		      0);
	cr_assert_geq(H5Fclose(file), 0);
	rc = cm_results_open(&results, fixture->path, diag);
	if (rc == 0) {
		rc = (int)cm_results_n_ranks(results);
		cm_results_close(results);
	}
	return rc;
}

Test(results, links_are_followed_only_below_the_files_own_folder)
{
	struct fixture fixture, other;
	char inside[2 * PATH_MAX], outside[2 * PATH_MAX];
	struct cm_diag diag = {0};

	fixture_init(&fixture, 1, 3);
	fixture_init(&other, 1, 3);
	cr_assert_eq(fixture_write(&other, other.path, CM_COMPRESS_NONE, NULL), 0);
	snprintf(inside, sizeof(inside), "%s/inside.h5", fixture.folder);
	cr_assert_eq(fixture_write(&fixture, inside, CM_COMPRESS_NONE, NULL), 0);
	cr_assert_eq(open_linked(&fixture, "inside.h5", NULL), 1);
	cr_assert_eq(open_linked(&fixture, inside, NULL), -EINVAL);
	cr_assert_eq(open_linked(&fixture, other.path, NULL), -EINVAL);
	snprintf(outside, sizeof(outside), "..%s", strrchr(other.folder, '/'));
	strcat(outside, "/profiling_data.h5");
	cr_assert_eq(open_linked(&fixture, outside, &diag), -EINVAL);
	cr_assert(strstr(diag.text, "outside"), "%s", diag.text);
	snprintf(inside, sizeof(inside), "%s/link.h5", fixture.folder);
	cr_assert_eq(symlink(other.path, inside), 0);
	cr_assert_eq(open_linked(&fixture, "link.h5", NULL), -EINVAL);
	cr_assert_eq(open_linked(&fixture, "gone.h5", NULL), 0);
	cr_assert_eq(open_linked(&fixture, "profiling_data.h5", NULL), -EINVAL, "a loop");
	fixture_fini(&fixture);
	fixture_fini(&other);
}
