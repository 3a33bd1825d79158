/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters with known contents. */
#include "tests/unit/writer-counters.h"

#include <criterion/criterion.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const events[] = {"INSTR_RETIRED_ANY", "CAS_COUNT_RD", "CAS_COUNT_RD"};
static const char *const registers[] = {"FIXC0", "MBOX0C0", "MBOX1C0"};
static const char *const metrics[] = {"Runtime (RDTSC) [s]", "CPI"};
static const int64_t cpus[] = {3, 1};
static const double times[] = {0.25, 1e-300};
static const int64_t counts[] = {1, INT64_MAX};
static const double values[] = {1, NAN, INFINITY, 4503599627370497.5, -0.0, 6};

const struct cm_profile_counters counters_full = {
	.tag = "solve",
	.group_id = 0,
	.group_name = "MEM_DP",
	.source = "full_api",
	.event_names = events,
	.counter_names = registers,
	.metric_names = metrics,
	.n_events = 3,
	.n_metrics = 2,
	.n_cpus = 2,
	.cpus = cpus,
	.times = times,
	.call_counts = counts,
	.events = values,
	.metrics = values + 2,
};

static const struct cm_meta environment[] = {
	{"LIKWID_EVENTS", CM_META_STRING, "MEM_DP|CLOCK"},
	{"LIKWID_MODE", CM_META_STRING, "1"},
};

struct cm_profile_counters counters_named(const char *tag, int64_t group_id)
{
	struct cm_profile_counters counters = counters_full;

	counters.tag = tag;
	counters.group_id = group_id;
	return counters;
}

void counters_set(struct fixture *fixture, const struct cm_profile_counters *counters, size_t n)
{
	struct cm_profile *profile = &fixture->profile;

	profile->has_likwid = true;
	profile->likwid_cpu_name = "AMD K19 (Zen3) architecture";
	profile->likwid_environment = environment;
	profile->n_likwid_environment = 2;
	profile->counters = counters;
	profile->n_counters = n;
}

struct cm_results *counters_store_and_load(struct fixture *fixture)
{
	struct cm_results *results;
	struct cm_diag diag = {0};

	cr_assert_eq(fixture_write(fixture, fixture->path, CM_COMPRESS_DEFAULT, &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(cm_results_open(&results, fixture->path, &diag), 0, "%s", diag.text);
	return results;
}

/* Bit by bit: NaN and -0 are values too. */
static void check_reals(const double *got, const double *want, size_t n)
{
	if (n)
		cr_assert_arr_eq(got, want, n * sizeof(*want));
}

static void check_texts(const char *const *got, const char *const *want, size_t n)
{
	cr_assert_eq(got == NULL && n, want == NULL && n);
	for (size_t i = 0; want && i < n; i++)
		cr_assert_str_eq(got[i], want[i]);
}

static void check_one(const struct cm_profile_counters *got, const struct cm_profile_counters *want)
{
	cr_assert_str_eq(got->tag, want->tag);
	cr_assert_eq(got->group_id, want->group_id);
	cr_assert_str_eq(got->group_name, want->group_name);
	cr_assert_str_eq(got->source, want->source);
	cr_assert_eq(got->n_events, want->n_events);
	cr_assert_eq(got->n_metrics, want->n_metrics);
	cr_assert_eq(got->n_cpus, want->n_cpus);
	check_texts(got->event_names, want->event_names, want->n_events);
	check_texts(got->counter_names, want->counter_names, want->n_events);
	check_texts(got->metric_names, want->metric_names, want->n_metrics);
	for (size_t i = 0; i < want->n_cpus; i++) {
		cr_assert_eq(got->cpus[i], want->cpus[i]);
		cr_assert_eq(got->call_counts[i], want->call_counts[i]);
	}
	check_reals(got->times, want->times, want->n_cpus);
	check_reals(got->events, want->events, want->n_events * want->n_cpus);
	check_reals(got->metrics, want->metrics, want->n_metrics * want->n_cpus);
}

static const struct cm_profile_counters *find(const struct cm_result_rank *rank, const char *tag,
					      int64_t group_id)
{
	for (size_t i = 0; i < rank->n_counters; i++)
		if (strcmp(rank->counters[i].tag, tag) == 0 &&
		    rank->counters[i].group_id == group_id)
			return &rank->counters[i];
	cr_assert_fail("no counters of %s", tag);
	return NULL;
}

void counters_check_rank(const struct cm_profile *want, const struct cm_result_rank *rank)
{
	cr_assert(rank->has_likwid);
	cr_assert_str_eq(rank->likwid_cpu_name, want->likwid_cpu_name);
	cr_assert_eq(rank->n_likwid_environment, want->n_likwid_environment);
	for (size_t i = 0; i < want->n_likwid_environment; i++) {
		cr_assert_str_eq(rank->likwid_environment[i].name,
				 want->likwid_environment[i].name);
		cr_assert_str_eq(rank->likwid_environment[i].string,
				 want->likwid_environment[i].string);
	}
	cr_assert_eq(rank->n_counters, want->n_counters);
	for (size_t i = 0; i < want->n_counters; i++)
		check_one(find(rank, want->counters[i].tag, want->counters[i].group_id),
			  &want->counters[i]);
}

int counters_join(struct fixture *fixture, int64_t rank, struct cm_diag *diag)
{
	char shard[PATH_MAX];

	fixture->profile.rank = rank;
	fixture->profile.mpi_size = 2;
	cr_assert_eq(
		cm_writer_shard_path(fixture->path, "run-1", rank, getpid(), shard, sizeof(shard)),
		0);
	cr_assert_eq(fixture_write(fixture, shard, CM_COMPRESS_DEFAULT, diag), 0);
	return cm_writer_join(shard, fixture->path, "run-1", rank, 2, false, diag);
}
