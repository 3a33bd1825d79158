/* SPDX-License-Identifier: BSD-3-Clause */
/* Event labels and metrics of many regions, as one list without repetitions. */
#include "cli/counter-names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 24

/* Regions whose events, counters and metrics have the same names in the same order. */
struct cm_counter_layout {
	const struct cm_profile_counters *first;
	char **labels[CM_N_COUNTER_KINDS];
	size_t *places[CM_N_COUNTER_KINDS]; /* in the union */
};

static int out_of_memory(struct cm_diag *diag)
{
	return cm_diag_set(diag, -ENOMEM, "out of memory");
}

static size_t n_labels(const struct cm_profile_counters *counters, enum cm_counter_kind kind)
{
	return kind == CM_COUNTER_EVENT ? counters->n_events : counters->n_metrics;
}

static bool are_same(const char *const *left, const char *const *right, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (left[i] != right[i] && strcmp(left[i], right[i]))
			return false;
	return true;
}

static bool has_layout(const struct cm_profile_counters *left,
		       const struct cm_profile_counters *right)
{
	return left->n_events == right->n_events && left->n_metrics == right->n_metrics &&
	       !left->counter_names == !right->counter_names &&
	       are_same(left->event_names, right->event_names, left->n_events) &&
	       are_same(left->metric_names, right->metric_names, left->n_metrics) &&
	       (!left->counter_names ||
		are_same(left->counter_names, right->counter_names, left->n_events));
}

static char *label_of(const struct cm_profile_counters *counters, enum cm_counter_kind kind,
		      size_t i)
{
	size_t n_bytes = NUMBER_BYTES;
	char *label;

	if (kind == CM_COUNTER_METRIC)
		return strdup(counters->metric_names[i]);
	n_bytes += strlen(counters->event_names[i]);
	if (counters->counter_names)
		n_bytes += strlen(counters->counter_names[i]) + 1;
	label = malloc(n_bytes);
	if (label)
		(void)cm_results_event_label(counters, i, label, n_bytes); /* is label */
	return label;
}

static int compare_labels(const void *a, const void *b)
{
	char *const *const *left = a, *const *const *right = b;
	int order = strcmp(**left, **right);

	return order ? order : (*left > *right) - (*left < *right);
}

/* The second one of a name becomes NAME#2, and so on. */
static int make_unique(char **labels, size_t n)
{
	char ***sorted = calloc(n + 1, sizeof(*sorted)), *numbered;
	const char *name = "";
	size_t i, n_same = 0;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		sorted[i] = &labels[i];
	qsort(sorted, n, sizeof(*sorted), compare_labels);
	for (i = 0; i < n; i++) {
		n_same = i && !strcmp(name, *sorted[i]) ? n_same + 1 : 1;
		if (n_same == 1) {
			name = *sorted[i];
			continue;
		}
		if (asprintf(&numbered, "%s#%zu", name, n_same) < 0)
			break;
		free(*sorted[i]);
		*sorted[i] = numbered;
	}
	free(sorted);
	return i < n ? -ENOMEM : 0;
}

static int make_labels(struct cm_counter_layout *layout, enum cm_counter_kind kind)
{
	size_t n = n_labels(layout->first, kind), i;

	layout->labels[kind] = calloc(n + 1, sizeof(char *));
	layout->places[kind] = calloc(n + 1, sizeof(size_t));
	if (!layout->labels[kind] || !layout->places[kind])
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		layout->labels[kind][i] = label_of(layout->first, kind, i);
		if (!layout->labels[kind][i])
			return -ENOMEM;
	}
	return make_unique(layout->labels[kind], n);
}

/* Where the name stands in the union, or would be appended: `hint` is looked at first. */
static size_t find_place(const struct cm_counter_names *names, enum cm_counter_kind kind,
			 const char *name, size_t hint)
{
	size_t i;

	if (hint < names->n[kind] && !strcmp(names->names[kind][hint], name))
		return hint;
	for (i = 0; i < names->n[kind]; i++)
		if (!strcmp(names->names[kind][i], name))
			break;
	return i;
}

static int join(struct cm_counter_names *names, struct cm_counter_layout *layout,
		enum cm_counter_kind kind)
{
	size_t n = n_labels(layout->first, kind), i, place;
	const char **grown;

	grown = reallocarray(names->names[kind], names->n[kind] + n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	names->names[kind] = grown;
	for (i = 0; i < n; i++) {
		place = find_place(names, kind, layout->labels[kind][i], i);
		if (place == names->n[kind])
			grown[names->n[kind]++] = layout->labels[kind][i];
		layout->places[kind][i] = place;
	}
	return 0;
}

int cm_counter_names_add(struct cm_counter_names *names, const struct cm_profile_counters *counters,
			 size_t *ret_layout, struct cm_diag *diag)
{
	struct cm_counter_layout *layout;
	size_t i, kind;
	int rc = 0;

	for (i = names->n_layouts; i-- > 0;) {
		if (!has_layout(names->layouts[i].first, counters))
			continue;
		*ret_layout = i;
		return 0;
	}
	layout = reallocarray(names->layouts, names->n_layouts + 1, sizeof(*layout));
	if (!layout)
		return out_of_memory(diag);
	names->layouts = layout;
	layout += names->n_layouts++;
	*layout = (struct cm_counter_layout){.first = counters};
	for (kind = 0; rc >= 0 && kind < CM_N_COUNTER_KINDS; kind++) {
		rc = make_labels(layout, kind);
		if (rc >= 0)
			rc = join(names, layout, kind);
	}
	if (rc < 0)
		return out_of_memory(diag);
	*ret_layout = names->n_layouts - 1;
	return 0;
}

const char *const *cm_counter_labels(const struct cm_counter_names *names, size_t layout,
				     enum cm_counter_kind kind)
{
	return (const char *const *)names->layouts[layout].labels[kind];
}

const double *cm_counter_values(const struct cm_counter_names *names, size_t layout,
				const struct cm_profile_counters *counters,
				enum cm_counter_kind kind, size_t place)
{
	const double *values = kind == CM_COUNTER_EVENT ? counters->events : counters->metrics;
	const size_t *places = names->layouts[layout].places[kind];
	size_t n = n_labels(counters, kind), i = place;

	/* Mostly all regions have the same names. */
	if (i >= n || places[i] != place)
		for (i = 0; i < n && places[i] != place; i++)
			;
	return i < n ? values + i * counters->n_cpus : NULL;
}

void cm_counter_names_fini(struct cm_counter_names *names)
{
	struct cm_counter_layout *layout = names->layouts;
	size_t kind, i;

	for (; layout < names->layouts + names->n_layouts; layout++)
		for (kind = 0; kind < CM_N_COUNTER_KINDS; kind++) {
			for (i = 0; layout->labels[kind] && i < n_labels(layout->first, kind); i++)
				free(layout->labels[kind][i]);
			free(layout->labels[kind]);
			free(layout->places[kind]);
		}
	for (kind = 0; kind < CM_N_COUNTER_KINDS; kind++)
		free(names->names[kind]);
	free(names->layouts);
	*names = (struct cm_counter_names){0};
}
