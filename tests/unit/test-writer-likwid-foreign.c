/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters that callmark did not write: scope-profiler's, and nonsense. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <string.h>

#include "tests/unit/writer-fixture.h"

/* One group of counters as a file has it; every part can be left out or wrong. */
struct crafted {
	char name[24];					    /* of the case */
	int rc;						    /* what opening it gives */
	int n_event_names, n_counter_names, n_metric_names; /* -1: absent */
	int n_cpus, n_times, n_counts;			    /* -1: absent */
	int n_dims;					    /* of events and metrics */
	int n_event_rows, n_metric_rows, n_columns;	    /* rows -1: absent */
	enum { GOOD, NO_DATA, TEXT_COLUMNS, LONE_LINK, NUMBERS_AS_NAMES } quirk;
};

static hid_t new_text_type(void)
{
	hid_t type = H5Tcopy(H5T_C_S1);

	cr_assert_geq(H5Tset_size(type, H5T_VARIABLE), 0);
	cr_assert_geq(H5Tset_cset(type, H5T_CSET_UTF8), 0);
	return type;
}

/* As h5py: an empty list has no strings to tell its type, and becomes float64. */
static void put_names(hid_t group, const char *name, int n, bool as_numbers)
{
	static const char *const texts[] = {"A", "B", "A", "C"};
	static const double numbers[4];
	hsize_t dims = (hsize_t)n;
	hid_t space, type, attr;

	if (n < 0)
		return;
	space = H5Screate_simple(1, &dims, NULL);
	type = n && !as_numbers ? new_text_type() : H5Tcopy(H5T_NATIVE_DOUBLE);
	attr = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	cr_assert_geq(attr, 0);
	if (n)
		cr_assert_geq(H5Awrite(attr, type,
				       as_numbers ? (const void *)numbers : (const void *)texts),
			      0);
	H5Aclose(attr);
	H5Tclose(type);
	H5Sclose(space);
}

static void put_set(hid_t group, const char *name, hid_t type, int n_dims, int n_rows,
		    int n_columns, bool with_data)
{
	static const double zeros[64];
	hsize_t dims[2] = {(hsize_t)n_rows, (hsize_t)n_columns};
	hid_t space, set;

	if (n_rows < 0)
		return;
	space = H5Screate_simple(n_dims, dims, NULL);
	set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	cr_assert_geq(set, 0);
	if (with_data && n_rows && (n_dims == 1 || n_columns))
		cr_assert_geq(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros), 0);
	H5Dclose(set);
	H5Sclose(space);
}

static void fill(hid_t group, const struct crafted *what)
{
	hid_t integers = what->quirk == TEXT_COLUMNS ? H5T_C_S1 : H5T_NATIVE_INT64;
	bool with_data = what->quirk != NO_DATA;

	put_names(group, "event_names", what->n_event_names, what->quirk == NUMBERS_AS_NAMES);
	put_names(group, "counter_names", what->n_counter_names, false);
	put_names(group, "metric_names", what->n_metric_names, false);
	put_set(group, "cpus", integers, 1, what->n_cpus, 0, true);
	put_set(group, "times", H5T_NATIVE_DOUBLE, 1, what->n_times, 0, true);
	put_set(group, "call_counts", H5T_NATIVE_INT64, 1, what->n_counts, 0, true);
	put_set(group, "events", H5T_NATIVE_DOUBLE, what->n_dims, what->n_event_rows,
		what->n_columns, with_data);
	put_set(group, "metrics", H5T_NATIVE_DOUBLE, what->n_dims, what->n_metric_rows,
		what->n_columns, true);
}

static void craft(const char *path, const struct crafted *what)
{
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t plist = H5Pcreate(H5P_LINK_CREATE), group;

	cr_assert_geq(H5Pset_create_intermediate_group(plist, 1), 0);
	group = H5Gcreate2(file, "/rank0/likwid/regions/a|b", plist, H5P_DEFAULT, H5P_DEFAULT);
	cr_assert_geq(group, 0);
	fill(group, what);
	if (what->quirk == LONE_LINK)
		cr_assert_geq(H5Lcreate_soft("/rank0", file, "/rank0/likwid/regions/loop",
					     H5P_DEFAULT, H5P_DEFAULT),
			      0);
	H5Gclose(group);
	H5Pclose(plist);
	H5Fclose(file);
}

ParameterizedTestParameters(likwid_foreign, shapes_must_agree)
{
	static struct crafted cases[] = {
		{"all there", 0, 3, 3, 2, 2, 2, 2, 2, 3, 2, 2, GOOD},
		{"scope-profiler's", 0, 3, -1, 2, 2, 2, 2, 2, 3, 2, 2, GOOD},
		{"no metrics", 0, 3, 0, 0, 2, 2, 2, 2, 3, 0, 2, GOOD},
		{"nothing counted", 0, 0, 0, 0, 2, 2, 2, 1, 0, 0, 0, GOOD},
		{"no matrices", 0, 0, -1, 0, 2, 2, 2, 2, -1, -1, 2, GOOD},
		{"values without names", 0, 0, -1, -1, 2, 2, 2, 2, 3, 2, 2, GOOD},
		{"link out of it", 0, 3, 3, 2, 2, 2, 2, 2, 3, 2, 2, LONE_LINK},
		{"names without values", -EINVAL, 3, 3, 2, 2, 2, 2, 2, 0, 0, 2, GOOD},
		{"too few names", -EINVAL, 2, 2, 2, 2, 2, 2, 2, 3, 2, 2, GOOD},
		{"too many names", -EINVAL, 4, 4, 2, 2, 2, 2, 2, 3, 2, 2, GOOD},
		{"counters and events", -EINVAL, 3, 2, 2, 2, 2, 2, 2, 3, 2, 2, GOOD},
		{"metric names", -EINVAL, 3, 3, 1, 2, 2, 2, 2, 3, 2, 2, GOOD},
		{"columns and cpus", -EINVAL, 3, 3, 2, 2, 2, 2, 2, 3, 2, 3, GOOD},
		{"times and cpus", -EINVAL, 3, 3, 2, 2, 1, 2, 2, 3, 2, 2, GOOD},
		{"counts and cpus", -EINVAL, 3, 3, 2, 2, 2, 3, 2, 3, 2, 2, GOOD},
		{"no cpus", -EINVAL, 3, 3, 2, -1, 2, 2, 2, 3, 2, 2, GOOD},
		{"no times", -EINVAL, 3, 3, 2, 2, -1, 2, 2, 3, 2, 2, GOOD},
		{"no counts", -EINVAL, 3, 3, 2, 2, 2, -1, 2, 3, 2, 2, GOOD},
		{"one dimension", -EINVAL, 3, 3, 2, 2, 2, 2, 1, 3, 2, 2, GOOD},
		{"texts as numbers", -EINVAL, 3, 3, 2, 2, 2, 2, 2, 3, 2, 2, TEXT_COLUMNS},
		{"numbers as texts", -EINVAL, 3, 3, 2, 2, 2, 2, 2, 3, 2, 2, NUMBERS_AS_NAMES},
		{"2^48 never written", -EINVAL, 0, -1, 0, 2, 2, 2, 2, 1 << 24, -1, 1 << 24,
		 NO_DATA},
		{"values never written", -EINVAL, 3, 3, 2, 2, 2, 2, 2, 3, 2, 2, NO_DATA},
	};

	return cr_make_param_array(struct crafted, cases, sizeof(cases) / sizeof(cases[0]));
}

static void check_loaded(const struct cm_result_rank *rank, const struct crafted *what)
{
	const struct cm_profile_counters *counters = rank->counters;

	cr_assert(rank->has_likwid);
	cr_assert_eq(rank->n_regions, 0);
	cr_assert_eq(rank->n_counters, 1);
	cr_assert_str_eq(counters->tag, "a|b");
	cr_assert_str_eq(counters->group_name, "");
	cr_assert_str_eq(counters->source, "");
	cr_assert_eq(counters->n_cpus, 2);
	cr_assert_eq(counters->n_events, what->n_event_rows > 0 ? what->n_event_rows : 0);
	cr_assert_eq(counters->n_metrics, what->n_metric_rows > 0 ? what->n_metric_rows : 0);
	cr_assert_eq(counters->counter_names != NULL, what->n_counter_names > 0);
	for (size_t i = 0; i < counters->n_events; i++)
		cr_assert_neq(counters->event_names[i][0], '\0');
	if (counters->n_events && what->n_event_names == 0)
		cr_assert_str_eq(counters->event_names[2], "event_2");
	if (counters->n_metrics && what->n_metric_names < 0)
		cr_assert_str_eq(counters->metric_names[1], "metric_1");
}

ParameterizedTest(struct crafted *param, likwid_foreign, shapes_must_agree)
{
	struct fixture fixture;
	struct cm_results *results;
	struct cm_diag diag = {0};

	fixture_init(&fixture, 0, 0);
	craft(fixture.path, param);
	cr_assert_eq(cm_results_open(&results, fixture.path, &diag), param->rc, "%s: %s",
		     param->name, diag.text);
	if (param->rc == 0) {
		check_loaded(cm_results_rank(results, 0), param);
		cm_results_close(results);
	} else {
		cr_assert(strstr(diag.text, fixture.path), "%s", diag.text);
		cr_assert_null(strchr(diag.text, '\n'));
	}
	fixture_fini(&fixture);
}
