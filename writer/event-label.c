/* SPDX-License-Identifier: BSD-3-Clause */
/* What tells events of one name apart. */
#include "writer/event-label.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/results.h"

static const char *format(const struct cm_profile_counters *counters, size_t i, bool is_repeated,
			  char *buf, size_t n_bytes)
{
	const char *name = counters->event_names[i];
	const char *counter = counters->counter_names ? counters->counter_names[i] : "";

	if (!is_repeated)
		snprintf(buf, n_bytes, "%s", name);
	else if (counter[0])
		snprintf(buf, n_bytes, "%s:%s", name, counter);
	else
		snprintf(buf, n_bytes, "%s#%zu", name, i);
	return buf;
}

const char *cm_results_event_label(const struct cm_profile_counters *counters, size_t i, char *buf,
				   size_t n_bytes)
{
	bool is_repeated = false;

	for (size_t k = 0; k < counters->n_events && !is_repeated; k++)
		is_repeated =
			k != i && strcmp(counters->event_names[k], counters->event_names[i]) == 0;
	return format(counters, i, is_repeated, buf, n_bytes);
}

static int compare_names(const void *a, const void *b)
{
	const char *const *const *x = a, *const *const *y = b;

	return strcmp(**x, **y);
}

/* Whether each name occurs again: places of the names are sorted by what stands there. */
static int find_repeated(const char *const *names, size_t n, bool *is_repeated)
{
	const char *const **places = calloc(n + 1, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		places[i] = &names[i];
	qsort(places, n, sizeof(*places), compare_names);
	for (size_t i = 1; i < n; i++)
		if (strcmp(*places[i - 1], *places[i]) == 0)
			is_repeated[places[i - 1] - names] = is_repeated[places[i] - names] = true;
	free(places);
	return 0;
}

static const char *new_label(const struct cm_profile_counters *counters, size_t i, bool is_repeated,
			     struct cm_text_store *store)
{
	const char *counter = counters->counter_names ? counters->counter_names[i] : "";
	size_t n_bytes = strlen(counters->event_names[i]) + strlen(counter) + 24; /* "#" and i */
	char *buf = cm_text_store_alloc(store, n_bytes, 1);

	return buf ? format(counters, i, is_repeated, buf, n_bytes) : NULL;
}

int cm_event_labels_new(const struct cm_profile_counters *counters, struct cm_text_store *store,
			const char *const **ret_labels)
{
	size_t n = counters->n_events;
	const char **labels = cm_text_store_alloc(store, n, sizeof(*labels));
	bool *is_repeated = calloc(n + 1, sizeof(*is_repeated));
	int rc = labels && is_repeated ? find_repeated(counters->event_names, n, is_repeated)
				       : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		labels[i] = new_label(counters, i, is_repeated[i], store);
		if (!labels[i])
			rc = -ENOMEM;
	}
	free(is_repeated);
	if (rc == 0)
		*ret_labels = labels;
	return rc;
}
