/* SPDX-License-Identifier: BSD-3-Clause */
/* The tidy table of hardware counters: a row for each rank, region, group and hardware thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/counter-names.h"
#include "cli/export.h"
#include "cli/guard.h"

static const char *const fixed_names[] = {
	"rank", "region", "thread", "cpu", "group", "source", "cpu_name", "time", "call_count",
};
#define N_FIXED (sizeof(fixed_names) / sizeof(fixed_names[0]))

struct row {
	const struct cm_result_rank *rank;
	const struct cm_profile_counters *counters;
	size_t layout;
};

/* The regions selected, and the union of their names. */
struct content {
	struct cm_counter_names names;
	struct row *rows;
	size_t n_rows;
};

static int out_of_memory(struct cm_diag *diag)
{
	return cm_diag_set(diag, -ENOMEM, "out of memory");
}

static int add_rank(struct content *content, const struct cm_export *job,
		    const struct cm_result_rank *rank, struct cm_diag *diag)
{
	const struct cm_profile_counters *counters = rank->counters;
	struct row *row;
	int rc;

	for (; counters < rank->counters + rank->n_counters; counters++) {
		if (!cm_filter_matches(&job->selection.filter, counters->tag))
			continue;
		row = &content->rows[content->n_rows];
		*row = (struct row){.rank = rank, .counters = counters};
		rc = cm_counter_names_add(&content->names, counters, &row->layout, diag);
		if (rc < 0)
			return rc;
		content->n_rows++;
	}
	return 0;
}

static int gather(struct content *content, const struct cm_export *job, struct cm_diag *diag)
{
	size_t n_ranks = cm_results_n_ranks(job->results), i, n = 0;
	const struct cm_result_rank *rank;
	int rc = 0;

	if (!cm_export_has_counters(job))
		return cm_diag_set(diag, -ENODATA,
				   "it has no LIKWID counters; --what=regions is about the times");
	for (i = 0; i < n_ranks; i++)
		n += cm_results_rank(job->results, i)->n_counters;
	content->rows = calloc(n + 1, sizeof(*content->rows));
	if (!content->rows)
		return out_of_memory(diag);
	for (i = 0; rc >= 0 && i < n_ranks; i++) {
		rank = cm_results_rank(job->results, i);
		if (cm_rank_set_has(&job->selection.ranks, rank->rank))
			rc = add_rank(content, job, rank, diag);
	}
	return rc;
}

static bool is_taken(const char *const *names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* An event or metric called like a column before it becomes NAME#2. */
static int add_names(char **owned, const char **names, size_t *n, const struct content *content,
		     enum cm_counter_kind kind)
{
	size_t n_before = *n, i, number;
	const char *name;

	for (i = 0; i < content->names.n[kind]; i++) {
		name = content->names.names[kind][i];
		for (number = 2; is_taken(names, n_before, name); number++) {
			free(owned[*n]);
			if (asprintf(&owned[*n], "%s#%zu", content->names.names[kind][i], number) <
			    0) {
				owned[*n] = NULL;
				return -ENOMEM;
			}
			name = owned[*n];
		}
		names[(*n)++] = name;
	}
	return 0;
}

static int begin(struct cm_rows *rows, const struct cm_export *job, const struct content *content)
{
	size_t n_names = N_FIXED + content->names.n[0] + content->names.n[1], n = N_FIXED, i;
	const char **names = calloc(n_names, sizeof(*names));
	char **owned = calloc(n_names, sizeof(*owned));
	int rc = names && owned ? 0 : -ENOMEM;

	if (rc >= 0) {
		memcpy(names, fixed_names, sizeof(fixed_names));
		rc = add_names(owned, names, &n, content, CM_COUNTER_EVENT);
	}
	if (rc >= 0)
		rc = add_names(owned, names, &n, content, CM_COUNTER_METRIC);
	if (rc >= 0)
		cm_rows_begin(rows, job->out, job->format, names, n);
	for (i = 0; owned && i < n_names; i++)
		free(owned[i]);
	free(owned);
	free(names);
	return rc;
}

static void put_thread(struct cm_rows *rows, const struct content *content, const struct row *row,
		       size_t thread)
{
	const struct cm_profile_counters *counters = row->counters;
	const double *values;
	size_t kind, place;

	cm_rows_int(rows, row->rank->rank);
	cm_rows_text(rows, counters->tag);
	cm_rows_unsigned(rows, thread);
	cm_rows_int(rows, counters->cpus[thread]);
	cm_rows_text(rows, counters->group_name);
	cm_rows_text(rows, counters->source);
	cm_rows_text(rows, row->rank->likwid_cpu_name);
	cm_rows_real(rows, counters->times[thread]);
	cm_rows_int(rows, counters->call_counts[thread]);
	for (kind = 0; kind < CM_N_COUNTER_KINDS; kind++)
		for (place = 0; place < content->names.n[kind]; place++) {
			values = cm_counter_values(&content->names, row->layout, counters, kind,
						   place);
			if (values)
				cm_rows_real(rows, values[thread]);
			else
				cm_rows_none(rows);
		}
}

int cm_export_likwid(struct cm_export *job, struct cm_diag *diag)
{
	struct content content = {0};
	struct cm_rows rows = {0};
	size_t i, thread;
	int rc;

	rc = gather(&content, job, diag);
	cm_guard_disarm(); /* everything is in memory */
	if (rc >= 0 && begin(&rows, job, &content) < 0)
		rc = out_of_memory(diag);
	if (rc < 0)
		goto out;
	for (i = 0; i < content.n_rows; i++)
		for (thread = 0; thread < content.rows[i].counters->n_cpus; thread++)
			put_thread(&rows, &content, &content.rows[i], thread);
	if (cm_rows_end(&rows) < 0)
		rc = out_of_memory(diag);
out:
	cm_counter_names_fini(&content.names);
	free(content.rows);
	return rc;
}
