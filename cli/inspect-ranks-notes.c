/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be said about single ranks, each text once with the ranks it is about. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-format.h"
#include "cli/inspect-report.h"

#define MAX_NAMES 10
#define MAX_RANGES 10
#define MAX_TEXTS 10

struct saying {
	const char *text; /* borrowed from the results */
	int64_t number;	  /* behind it; 0: none */
	int64_t rank;
};

/* All that is said of one kind, not yet sorted. */
struct sayings {
	struct saying *items;
	size_t n;
	size_t n_room;
};

static int add(struct sayings *sayings, const char *text, int64_t number, int64_t rank)
{
	size_t n_room = sayings->n_room ? 2 * sayings->n_room : 64;
	struct saying *items;

	if (sayings->n == sayings->n_room) {
		items = reallocarray(sayings->items, n_room, sizeof(*items));
		if (!items)
			return -ENOMEM;
		sayings->items = items;
		sayings->n_room = n_room;
	}
	sayings->items[sayings->n++] = (struct saying){text, number, rank};
	return 0;
}

static int compare_texts(const struct saying *left, const struct saying *right)
{
	int order = strcmp(left->text, right->text);

	return order ? order : (left->number > right->number) - (left->number < right->number);
}

static int compare_sayings(const void *a, const void *b)
{
	const struct saying *left = a, *right = b;
	int order = compare_texts(left, right);

	return order ? order : (left->rank > right->rank) - (left->rank < right->rank);
}

/* Sorted; a rank that says the same thing twice says it once. */
static void sort(struct sayings *sayings)
{
	size_t i, n = 0;

	if (sayings->n)
		qsort(sayings->items, sayings->n, sizeof(*sayings->items), compare_sayings);
	for (i = 0; i < sayings->n; i++)
		if (!i || compare_sayings(&sayings->items[n - 1], &sayings->items[i]))
			sayings->items[n++] = sayings->items[i];
	sayings->n = n;
}

/* Those with the text of the first one. */
static size_t count_same(const struct sayings *sayings, size_t first)
{
	size_t i = first;

	while (i < sayings->n && !compare_texts(&sayings->items[i], &sayings->items[first]))
		i++;
	return i - first;
}

/* "rank 3", "ranks 0-3, 7", "all ranks". The caller frees; NULL without memory. */
static char *name_ranks(const struct saying *items, size_t n, size_t n_ranks)
{
	char *text = NULL;
	size_t n_bytes, i, k, n_ranges = 0;
	FILE *out;

	if (n == n_ranks && n > 1)
		return strdup("all ranks");
	out = open_memstream(&text, &n_bytes);
	if (!out)
		return NULL;
	fputs(n > 1 ? "ranks " : "rank ", out);
	for (i = 0; i < n && n_ranges < MAX_RANGES; i = k) {
		for (k = i + 1; k < n && items[k].rank == items[k - 1].rank + 1; k++)
			;
		fprintf(out, "%s%" PRId64, n_ranges++ ? ", " : "", items[i].rank);
		if (k > i + 1)
			fprintf(out, "-%" PRId64, items[k - 1].rank);
	}
	if (i < n)
		fprintf(out, " and %zu more", n - i);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int print_saying(const struct cm_report *report, const char *prefix,
			const struct saying *items, size_t n)
{
	char *ranks = name_ranks(items, n, report->inspection->sections[0].n_ranks);
	char number[32] = "";
	int rc = -ENOMEM;

	if (items->number)
		snprintf(number, sizeof(number), " %" PRId64, items->number);
	if (ranks)
		rc = cm_report_say(report, CM_STYLE_WARNING, 4, "  ! %s: %s%s%s", ranks, prefix,
				   items->text, number);
	free(ranks);
	return rc;
}

static int print_sayings(const struct cm_report *report, const char *prefix,
			 struct sayings *sayings)
{
	size_t i, n, n_texts = 0;
	int rc = 0;

	sort(sayings);
	for (i = 0; rc >= 0 && i < sayings->n; i += n) {
		n = count_same(sayings, i);
		if (n_texts++ < MAX_TEXTS)
			rc = print_saying(report, prefix, &sayings->items[i], n);
	}
	if (rc >= 0 && n_texts > MAX_TEXTS)
		rc = cm_report_say(report, CM_STYLE_WARNING, 4,
				   "  ! and %zu more such notes; --per-rank shows all",
				   n_texts - MAX_TEXTS);
	return rc;
}

/* What a function adds for each rank, printed. */
static int say_of_ranks(const struct cm_report *report, const char *prefix,
			int (*add_of)(struct sayings *sayings, const struct cm_result_rank *rank))
{
	const struct cm_inspection *inspection = report->inspection;
	struct sayings sayings = {0};
	size_t i;
	int rc = 0;

	for (i = 1; rc >= 0 && i < inspection->n_sections; i++)
		rc = add_of(&sayings, inspection->sections[i].rank);
	if (rc >= 0)
		rc = print_sayings(report, prefix, &sayings);
	free(sayings.items);
	return rc;
}

static int add_exit(struct sayings *sayings, const struct cm_result_rank *rank)
{
	if (!rank->has_exit_status && rank->pid)
		return add(sayings, "exit not recorded (killed, or replaced by exec)", 0,
			   rank->rank);
	if (!rank->has_exit_status || !rank->exit_status)
		return 0;
	return add(sayings, "exit status", rank->exit_status, rank->rank);
}

static int add_notes(struct sayings *sayings, const struct cm_result_rank *rank)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc >= 0 && i < rank->n_notes; i++)
		rc = add(sayings, rank->notes[i], 0, rank->rank);
	return rc;
}

static int add_uncounted(struct sayings *sayings, const struct cm_result_rank *rank)
{
	if (!rank->has_likwid || rank->n_counters)
		return 0;
	return add(sayings, "LIKWID was counting, but no region has counters", 0, rank->rank);
}

static int add_fallback(struct sayings *sayings, const struct cm_result_rank *rank)
{
	return *rank->likwid_fallback ? add(sayings, rank->likwid_fallback, 0, rank->rank) : 0;
}

/* The regions that every rank names. */
static int say_never_called(const struct cm_report *report)
{
	const struct cm_inspection *inspection = report->inspection;
	struct sayings sayings = {0};
	char *text = NULL;
	size_t n_bytes, i, k, n = 0;
	FILE *out = open_memstream(&text, &n_bytes);
	int rc = out ? 0 : -ENOMEM;

	for (i = 1; rc >= 0 && i < inspection->n_sections; i++)
		for (k = 0; rc >= 0 && k < inspection->sections[i].rank->n_never_called; k++)
			rc = add(&sayings, inspection->sections[i].rank->never_called[k], 0,
				 inspection->sections[i].rank->rank);
	sort(&sayings);
	for (i = 0; rc >= 0 && i < sayings.n; i += k) {
		k = count_same(&sayings, i);
		if (k == inspection->sections[0].n_ranks && n++ < MAX_NAMES)
			fprintf(out, "%s%s", n > 1 ? ", " : "", sayings.items[i].text);
	}
	if (rc >= 0 && n > MAX_NAMES)
		fprintf(out, " and %zu more", n - MAX_NAMES);
	if (out && fclose(out))
		rc = -ENOMEM;
	if (rc >= 0 && n)
		rc = cm_report_say(report, CM_STYLE_DIM, 4, "  never called on any rank (%zu): %s",
				   n, text);
	free(sayings.items);
	free(text);
	return rc;
}

/* Ranks without a place on the common axis, beside some that have one. */
static int say_unaligned(const struct cm_report *report)
{
	const struct cm_inspection *inspection = report->inspection;
	struct sayings sayings = {0};
	size_t i;
	int rc = 0;

	for (i = 1; rc >= 0 && i < inspection->n_sections; i++)
		if (inspection->sections[i].place.has_span &&
		    !inspection->sections[i].place.is_aligned)
			rc = add(&sayings,
				 "times on no common axis: not known how far this clock is from "
				 "the others'",
				 0, inspection->sections[i].rank->rank);
	if (rc >= 0)
		rc = print_sayings(report, "", &sayings);
	free(sayings.items);
	return rc;
}

int cm_report_ranks_notes(const struct cm_report *report)
{
	int rc = cm_report_notes(report, &report->inspection->sections[0]);

	if (rc >= 0)
		rc = say_of_ranks(report, "", add_exit);
	if (rc >= 0)
		rc = say_of_ranks(report, "", add_notes);
	if (rc >= 0)
		rc = say_unaligned(report);
	return rc < 0 ? rc : say_never_called(report);
}

static int compare_skips(const void *a, const void *b)
{
	const struct cm_profile_skip *left = a, *right = b;

	return strcmp(left->reason, right->reason);
}

/* By reason, over all ranks. */
static int say_skips(const struct cm_report *report)
{
	const struct cm_inspection *inspection = report->inspection;
	struct cm_profile_skip *skips;
	size_t i, k, n = 0, n_all = 0;
	int rc;

	for (i = 1; i < inspection->n_sections; i++)
		n_all += inspection->sections[i].rank->n_skips;
	skips = calloc(n_all + 1, sizeof(*skips));
	if (!skips)
		return -ENOMEM;
	for (i = 1; i < inspection->n_sections; i++)
		for (k = 0; k < inspection->sections[i].rank->n_skips; k++)
			skips[n++] = inspection->sections[i].rank->skips[k];
	qsort(skips, n, sizeof(*skips), compare_skips);
	for (i = n = 0; i < n_all; i++) {
		if (!n || compare_skips(&skips[n - 1], &skips[i]))
			skips[n++] = skips[i];
		else if (__builtin_add_overflow(skips[n - 1].n, skips[i].n, &skips[n - 1].n))
			skips[n - 1].n = INT64_MAX;
	}
	rc = cm_report_skips(report, skips, n);
	free(skips);
	return rc;
}

int cm_report_ranks_counter_notes(const struct cm_report *report)
{
	const struct cm_inspect_section *all = &report->inspection->sections[0];
	const struct cm_merged_counters *merged = &report->inspection->merged;
	int rc = 0;

	if (merged->n_ranks_counted && merged->n_ranks_counted < all->n_ranks)
		rc = cm_report_say(report, CM_STYLE_WARNING, 4,
				   "  ! %zu of %zu ranks have counters", merged->n_ranks_counted,
				   all->n_ranks);
	if (rc >= 0)
		rc = say_of_ranks(report, "", add_uncounted);
	if (rc >= 0)
		rc = say_of_ranks(report,
				  "LIKWID could not read its counters back: ", add_fallback);
	if (rc >= 0)
		rc = cm_report_counter_sources(report, all);
	return rc < 0 ? rc : say_skips(report);
}
