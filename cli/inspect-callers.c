/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees as two tables, a node a row, indented. */
#include "cli/inspect-callers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli/inspect-format.h"
#include "cli/table.h"

#define MAX_NAMES 10
#define INDENT 2
/* Of one node's children, the rest is one row: at most so many, and none below this share. */
#define MAX_CHILDREN 20
#define MIN_SHARE 0.001

static const struct cm_table_column columns[] = {
	{"function", CM_TABLE_LEFT, .min_columns = 26},
	{"calls", CM_TABLE_RIGHT, .priority = 1},
	{"total", CM_TABLE_RIGHT, .priority = 2},
	{"share", CM_TABLE_RIGHT, .priority = 3},
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

double cm_call_node_share(const struct cm_call_node *node, const struct cm_call_node *base)
{
	return base->total_ns ? (double)node->total_ns / (double)base->total_ns : NAN;
}

static int append_node(struct cm_table *table, const struct cm_call_node *node,
		       const struct cm_call_node *base, size_t depth)
{
	char cells[N_COLUMNS][CM_FORMAT_BYTES], *text;
	const char *row[N_COLUMNS];
	int rc;

	if (asprintf(&text, "%*s%s", (int)(INDENT * depth), "", node->text) < 0)
		return -ENOMEM;
	row[0] = text;
	row[1] = cm_format_count(cells[1], node->calls);
	row[2] = cm_format_ns(cells[2], (double)node->total_ns);
	row[3] = cm_format_share(cells[3], cm_call_node_share(node, base), true);
	rc = cm_table_append(table, node->is_region ? CM_STYLE_BOLD : CM_STYLE_PLAIN, row);
	free(text);
	return rc;
}

/* Is this child, with n_shown before it, one of those that are not worth a row? */
static bool is_minor(const struct cm_call_node *child, const struct cm_call_node *base,
		     size_t n_shown)
{
	if (!base)
		return false;
	return n_shown >= MAX_CHILDREN ||
	       ((double)child->total_ns < MIN_SHARE * (double)base->total_ns &&
		(double)child->calls < MIN_SHARE * (double)base->calls);
}

/* A row that stands for one other takes as much room as that one. */
static bool has_rest(const struct cm_call_node *node, const struct cm_call_node *base)
{
	size_t n_shown = 0;

	for (size_t i = 0; i < node->n_children; i++)
		n_shown += !is_minor(node->children[i], base, n_shown);
	return node->n_children - n_shown > 1;
}

/* Children left out, as one row. */
static int append_rest(struct cm_table *table, struct cm_call_node *rest, size_t n,
		       const struct cm_call_node *base, size_t depth)
{
	char text[48];

	if (!n)
		return 0;
	snprintf(text, sizeof(text), "(%zu more)", n);
	rest->text = text;
	return append_node(table, rest, base, depth);
}

/* base NULL: each child is its own. No deeper than a path has steps (cli/call-tree.c). */
static int append_children(struct cm_table *table, const struct cm_call_node *node,
			   const struct cm_call_node *base, size_t depth)
{
	bool hides = has_rest(node, base);
	struct cm_call_node rest = {0};
	size_t n_shown = 0, n_rest = 0;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < node->n_children; i++) {
		const struct cm_call_node *child = node->children[i];
		const struct cm_call_node *of = base ? base : child;

		if (hides && is_minor(child, base, n_shown)) {
			n_rest++;
			rest.calls += child->calls;
			rest.total_ns += child->total_ns;
			continue;
		}
		n_shown++;
		rc = append_node(table, child, of, depth);
		if (rc >= 0)
			rc = append_children(table, child, of, depth + 1);
	}
	return rc < 0 ? rc : append_rest(table, &rest, n_rest, base, depth);
}

/* is_of_all: shares are of the whole tree, else of each child of the root. */
static int print_tree(const struct cm_report *report, const char *heading,
		      const struct cm_call_tree *tree, bool is_of_all)
{
	struct cm_table *table;
	int rc;

	fputc('\n', report->out);
	rc = cm_report_say(report, CM_STYLE_BOLD, 2, "%s", heading);
	if (rc < 0)
		return rc;
	fputc('\n', report->out);
	rc = cm_table_new(&table, columns, N_COLUMNS);
	if (rc < 0)
		return rc;
	rc = append_children(table, tree->root, is_of_all ? tree->root : NULL, 0);
	if (rc >= 0)
		rc = cm_table_print(table, report->out, &report->terminal);
	cm_table_free(table);
	return rc;
}

/* Regions whose rule has no callers=N. */
static int print_without(const struct cm_report *report, const struct cm_call_trees *trees)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *out;
	int rc;

	if (!trees->n_without)
		return 0;
	out = open_memstream(&text, &n_bytes);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < trees->n_without && i < MAX_NAMES; i++)
		fprintf(out, "%s%s", i ? ", " : "", trees->without[i]);
	if (trees->n_without > MAX_NAMES)
		fprintf(out, " and %zu more", trees->n_without - MAX_NAMES);
	rc = fclose(out) ? -ENOMEM : 0;
	if (rc >= 0) {
		fputc('\n', report->out);
		rc = cm_report_say(report, CM_STYLE_DIM, 4,
				   "  no call paths (a rule without callers=N): %s", text);
	}
	free(text);
	return rc;
}

static int print_nothing(const struct cm_report *report, const struct cm_call_trees *trees)
{
	fputc('\n', report->out);
	if (!trees->n_without)
		return cm_report_say(report, CM_STYLE_PLAIN, 4, "no region matches");
	return cm_report_say(report, CM_STYLE_PLAIN, 4,
			     "no call paths: the rules of these regions have no callers=N");
}

int cm_report_callers(const struct cm_report *report, const struct cm_call_trees *trees)
{
	char ranks[48] = "";
	int rc;

	if (!trees->n_regions)
		return print_nothing(report, trees);
	if (trees->n_ranks > 1)
		snprintf(ranks, sizeof(ranks), ", summed over %zu ranks", trees->n_ranks);
	fputc('\n', report->out);
	rc = cm_report_say(report, CM_STYLE_BOLD, 2, "from where %zu region%s %s entered%s",
			   trees->n_regions, cm_format_plural(trees->n_regions),
			   trees->n_regions == 1 ? "was" : "were", ranks);
	if (rc >= 0)
		rc = print_tree(report,
				"bottom-up: each region, who called it, and who called that",
				&trees->bottom_up, false);
	if (rc >= 0)
		rc = print_tree(report, "top-down: from the outermost callers to the regions",
				&trees->top_down, true);
	if (rc >= 0)
		rc = print_without(report, trees);
	if (rc < 0)
		return rc;
	fputc('\n', report->out);
	return cm_report_say(report, CM_STYLE_DIM, 2,
			     "total and share are time in the regions: bottom-up of each one's, "
			     "top-down of all that are shown");
}
