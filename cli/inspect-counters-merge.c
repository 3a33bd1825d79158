/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of several ranks, sorted by what they are of and laid side by side. */
#include "cli/inspect-counters-merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	const struct cm_profile_counters *counters;
	size_t rank_idx;
};

static int compare_names(const char *const *left, const char *const *right, size_t n)
{
	size_t i;
	int order = 0;

	for (i = 0; !order && i < n; i++)
		order = strcmp(left[i], right[i]);
	return order;
}

/* 0: their values can stand in the same rows. */
static int compare_kind(const struct cm_profile_counters *left,
			const struct cm_profile_counters *right)
{
	int order = strcmp(left->source, right->source);

	if (!order && left->n_events != right->n_events)
		order = left->n_events < right->n_events ? -1 : 1;
	if (!order && left->n_metrics != right->n_metrics)
		order = left->n_metrics < right->n_metrics ? -1 : 1;
	if (!order && !left->counter_names != !right->counter_names)
		order = left->counter_names ? 1 : -1;
	if (!order)
		order = compare_names(left->event_names, right->event_names, left->n_events);
	if (!order && left->counter_names)
		order = compare_names(left->counter_names, right->counter_names, left->n_events);
	if (!order)
		order = compare_names(left->metric_names, right->metric_names, left->n_metrics);
	return order;
}

static int compare_what(const struct cm_profile_counters *left,
			const struct cm_profile_counters *right)
{
	int order = 0;

	if (left->group_id != right->group_id)
		order = left->group_id < right->group_id ? -1 : 1;
	if (!order)
		order = strcmp(left->group_name, right->group_name);
	if (!order)
		order = strcmp(left->tag, right->tag);
	return order ? order : compare_kind(left, right);
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	int order = compare_what(left->counters, right->counters);

	if (order)
		return order;
	if (left->rank_idx != right->rank_idx)
		return left->rank_idx < right->rank_idx ? -1 : 1;
	return (left->counters > right->counters) - (left->counters < right->counters);
}

static void copy_row(double *to, const double *from, size_t n)
{
	if (n)
		memcpy(to, from, n * sizeof(*to));
}

/* The hardware threads of `from` from thread `at` of the merged ones on. */
static void copy(const struct cm_profile_counters *to, size_t at,
		 const struct cm_profile_counters *from)
{
	int64_t *cpus = (int64_t *)to->cpus, *counts = (int64_t *)to->call_counts; /* ours */
	double *events = (double *)to->events, *metrics = (double *)to->metrics;
	size_t n = from->n_cpus, i;

	for (i = 0; i < n; i++) {
		cpus[at + i] = from->cpus[i];
		counts[at + i] = from->call_counts[i];
	}
	copy_row((double *)to->times + at, from->times, n);
	for (i = 0; i < to->n_events; i++)
		copy_row(events + i * to->n_cpus + at, from->events + i * n, n);
	for (i = 0; i < to->n_metrics; i++)
		copy_row(metrics + i * to->n_cpus + at, from->metrics + i * n, n);
}

/* Room for n_rows * n_columns of 8 bytes, never none; NULL without memory. */
static void *new_rows(size_t n_rows, size_t n_columns)
{
	size_t n;

	if (__builtin_mul_overflow(n_rows, n_columns, &n))
		return NULL;
	return calloc(n + !n, sizeof(double));
}

static int merge(struct cm_merged_counters *merged, const struct entry *entries, size_t n)
{
	struct cm_profile_counters *to = &merged->counters[merged->n++];
	size_t i, at = 0;

	*to = *entries[0].counters;
	to->n_cpus = 0;
	for (i = 0; i < n; i++)
		to->n_cpus += entries[i].counters->n_cpus;
	to->cpus = new_rows(1, to->n_cpus);
	to->call_counts = new_rows(1, to->n_cpus);
	to->times = new_rows(1, to->n_cpus);
	to->events = new_rows(to->n_events, to->n_cpus);
	to->metrics = new_rows(to->n_metrics, to->n_cpus);
	if (!to->cpus || !to->call_counts || !to->times || !to->events || !to->metrics)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		copy(to, at, entries[i].counters);
		at += entries[i].counters->n_cpus;
		merged->n_ranks[merged->n - 1] +=
			!i || entries[i].rank_idx != entries[i - 1].rank_idx;
	}
	return 0;
}

static void name_cpu(struct cm_merged_counters *merged, const struct cm_result_rank *rank)
{
	if (!merged->n_ranks_counted++)
		merged->cpu_name = rank->likwid_cpu_name;
	else if (strcmp(merged->cpu_name, rank->likwid_cpu_name))
		merged->cpu_name = "";
}

int cm_merged_counters_build(struct cm_merged_counters *merged,
			     const struct cm_result_rank *const *ranks, size_t n_ranks,
			     struct cm_diag *diag)
{
	struct entry *entries;
	size_t i, k, n = 0;
	int rc = 0;

	merged->cpu_name = "";
	for (i = 0; i < n_ranks; i++)
		n += ranks[i]->n_counters;
	entries = calloc(n + 1, sizeof(*entries));
	merged->counters = calloc(n + 1, sizeof(*merged->counters));
	merged->n_ranks = calloc(n + 1, sizeof(*merged->n_ranks));
	if (!entries || !merged->counters || !merged->n_ranks)
		rc = -ENOMEM;
	n = 0;
	for (i = 0; rc >= 0 && i < n_ranks; i++) {
		if (ranks[i]->n_counters)
			name_cpu(merged, ranks[i]);
		for (k = 0; k < ranks[i]->n_counters; k++)
			entries[n++] = (struct entry){&ranks[i]->counters[k], i};
	}
	if (rc >= 0)
		qsort(entries, n, sizeof(*entries), compare_entries);
	for (i = 0; rc >= 0 && i < n; i = k) {
		for (k = i + 1; k < n; k++)
			if (compare_what(entries[i].counters, entries[k].counters))
				break;
		rc = merge(merged, entries + i, k - i);
	}
	free(entries);
	return rc < 0 ? cm_diag_set(diag, rc, "out of memory") : 0;
}

void cm_merged_counters_fini(struct cm_merged_counters *merged)
{
	struct cm_profile_counters *counters = merged->counters;

	for (; merged->n; merged->n--, counters++) {
		free((int64_t *)counters->cpus);
		free((int64_t *)counters->call_counts);
		free((double *)counters->times);
		free((double *)counters->events);
		free((double *)counters->metrics);
	}
	free(merged->counters);
	free(merged->n_ranks);
	*merged = (struct cm_merged_counters){0};
}
