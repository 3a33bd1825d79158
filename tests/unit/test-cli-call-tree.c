/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees and what is printed of them; the results are this test's own. */
#include "cli/inspect-callers.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_MANY 100

static struct cm_result_rank ranks[2];
static size_t n_ranks;

size_t cm_results_n_ranks(const struct cm_results *results)
{
	(void)results;
	return n_ranks;
}

const struct cm_result_rank *cm_results_rank(const struct cm_results *results, size_t idx)
{
	(void)results;
	return &ranks[idx];
}

static const char *const frames[] = {"f < g < main", "f < main", "h < main", "(other)"};
static const uint64_t calls[] = {5, 3, 1, 1};
static const int64_t totals[] = {600, 300, 100, -7};
static const char *const other_frames[] = {"f < main", "k"};
static const uint64_t other_calls[] = {1, 100};
static const int64_t other_totals[] = {50, 50};

static struct cm_result_region regions[] = {
	{.stats = {.tag = "solve",
		   .n_paths = 4,
		   .path_frames = frames,
		   .path_calls = calls,
		   .path_total_ns = totals}},
	{.stats = {.tag = "write",
		   .n_paths = 2,
		   .path_frames = other_frames,
		   .path_calls = other_calls,
		   .path_total_ns = other_totals}},
	{.stats = {.tag = "plain"}},
};

static void setup(void)
{
	n_ranks = 1;
	ranks[0] = (struct cm_result_rank){.rank = 0, .regions = regions, .n_regions = 3};
	ranks[1] = (struct cm_result_rank){.rank = 1, .regions = regions, .n_regions = 1};
}

TestSuite(call_tree, .init = setup);

/* "name calls total" of each node, children in parentheses. */
static void put_nodes(FILE *out, const struct cm_call_node *node)
{
	for (size_t i = 0; i < node->n_children; i++) {
		const struct cm_call_node *child = node->children[i];

		cr_expect_eq(child->is_region, strlen(child->text) > 4 && child->text[0] != '(',
			     "%s", child->text);
		fprintf(out, "%s%s %lu %lu", i ? ", " : "", child->text,
			(unsigned long)child->calls, (unsigned long)child->total_ns);
		if (child->n_children) {
			fputs(" (", out);
			put_nodes(out, child);
			fputc(')', out);
		}
	}
}

static void expect_tree(const struct cm_call_tree *tree, const char *expected)
{
	char text[2048] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	put_nodes(out, tree->root);
	cr_assert_eq(fclose(out), 0);
	cr_expect_str_eq(text, expected);
}

static void build(struct cm_call_trees *trees, struct cm_selection *selection,
		  enum cm_inspect_sort sort)
{
	cr_assert_eq(cm_call_trees_build(trees, NULL, selection, sort), 0);
	cm_selection_fini(selection);
}

Test(call_tree, goes_up_from_regions_and_down_from_the_outermost_callers)
{
	struct cm_selection selection = {0};
	struct cm_call_trees trees;

	build(&trees, &selection, CM_SORT_TOTAL);
	expect_tree(&trees.bottom_up, "solve 10 1000 (f 8 900 (g 5 600 (main 5 600), main 3 300), "
				      "h 1 100 (main 1 100), (other) 1 0), "
				      "write 101 100 (k 100 50, f 1 50 (main 1 50))");
	expect_tree(&trees.top_down, "main 10 1050 (g 5 600 (f 5 600 (solve 5 600)), "
				     "f 4 350 (solve 3 300, write 1 50), h 1 100 (solve 1 100)), "
				     "k 100 50 (write 100 50), (other) 1 0 (solve 1 0)");
	cr_expect_eq(trees.n_regions, 2);
	cr_expect_eq(trees.n_without, 1);
	cr_expect_str_eq(trees.without[0], "plain");
	cm_call_trees_fini(&trees);
}

Test(call_tree, sums_the_ranks_that_are_selected)
{
	struct cm_selection selection = {0};
	struct cm_call_trees trees;
	struct cm_diag diag = {0};

	n_ranks = 2;
	cr_assert_eq(cm_filter_add(&selection.filter, CM_FILTER_INCLUDE, "s", &diag), 0);
	build(&trees, &selection, CM_SORT_TOTAL);
	expect_tree(&trees.bottom_up,
		    "solve 20 2000 (f 16 1800 (g 10 1200 (main 10 1200), main 6 600), "
		    "h 2 200 (main 2 200), (other) 2 0)");
	cr_expect_eq(trees.n_ranks, 2);
	cr_expect_eq(trees.n_without, 0);
	cm_call_trees_fini(&trees);
	memset(&selection, 0, sizeof(selection));
	cr_assert_eq(cm_rank_set_parse(&selection.ranks, "1", &diag), 0);
	build(&trees, &selection, CM_SORT_TOTAL);
	cr_expect_eq(trees.bottom_up.root->calls, 10);
	cr_expect_eq(trees.n_ranks, 1);
	cm_call_trees_fini(&trees);
}

Test(call_tree, is_sorted_by_calls_or_name)
{
	struct cm_selection selection = {0};
	struct cm_call_trees trees;

	build(&trees, &selection, CM_SORT_CALLS);
	cr_expect_str_eq(trees.bottom_up.root->children[0]->text, "write");
	cr_expect_str_eq(trees.top_down.root->children[0]->text, "k");
	cm_call_trees_fini(&trees);
	build(&trees, &selection, CM_SORT_NAME);
	cr_expect_str_eq(trees.bottom_up.root->children[0]->text, "solve");
	cr_expect_str_eq(trees.top_down.root->children[0]->text, "(other)");
	cm_call_trees_fini(&trees);
}

/* A path of a damaged file is not as deep as it says, and does not stop anything. */
Test(call_tree, has_an_end)
{
	size_t n_bytes = 4 * 100000 + 1;
	char *deep = malloc(n_bytes);
	const char *const deep_frames[] = {deep};
	const uint64_t one[] = {UINT64_MAX};
	const int64_t most[] = {INT64_MAX};
	struct cm_result_region region = {.stats = {.tag = "r",
						    .n_paths = 1,
						    .path_frames = deep_frames,
						    .path_calls = one,
						    .path_total_ns = most}};
	struct cm_selection selection = {0};
	struct cm_call_trees trees;
	size_t depth = 0;

	for (size_t i = 0; i < n_bytes - 1; i++)
		deep[i] = "a < "[i % 4];
	deep[n_bytes - 1] = '\0';
	n_ranks = 2;
	ranks[0].regions = ranks[1].regions = &region;
	ranks[0].n_regions = ranks[1].n_regions = 1;
	build(&trees, &selection, CM_SORT_TOTAL);
	for (const struct cm_call_node *node = trees.bottom_up.root; node->n_children;
	     node = node->children[0])
		depth++;
	cr_expect_leq(depth, 256);
	cr_expect_eq(trees.bottom_up.root->calls, UINT64_MAX);
	cm_call_trees_fini(&trees);
	free(deep);
}

/* What print gives for the trees, without colours, in 80 columns. */
static char *print(const struct cm_call_trees *trees)
{
	char *text = NULL;
	size_t n_bytes;
	struct cm_report report = {.out = open_memstream(&text, &n_bytes),
				   .terminal = {.n_columns = 80}};

	cr_assert_eq(cm_report_callers(&report, trees), 0);
	cr_assert_eq(fclose(report.out), 0);
	return text;
}

Test(call_tree, is_printed_with_calls_total_and_share)
{
	struct cm_selection selection = {0};
	struct cm_call_trees trees;
	char *text;

	build(&trees, &selection, CM_SORT_TOTAL);
	text = print(&trees);
	cr_expect(strstr(text, "function    calls    total  share\n"
			       "solve          10  1.00 us   100%\n"
			       "  f             8   900 ns  90.0%\n"
			       "    g           5   600 ns  60.0%\n"
			       "      main      5   600 ns  60.0%\n"
			       "    main        3   300 ns  30.0%\n"),
		  "%s", text);
	cr_expect(strstr(text, "main            10  1.05 us  95.5%\n"
			       "  g              5   600 ns  54.5%\n"),
		  "%s", text);
	cr_expect(strstr(text, "no call paths (a rule without callers=N): plain\n"), "%s", text);
	free(text);
	cm_call_trees_fini(&trees);
}

Test(call_tree, says_that_there_is_none)
{
	struct cm_selection selection = {0};
	struct cm_call_trees trees;
	char *text;

	ranks[0].regions = &regions[2];
	ranks[0].n_regions = 1;
	build(&trees, &selection, CM_SORT_TOTAL);
	text = print(&trees);
	cr_expect(strstr(text, "no call paths: the rules of these regions have no callers=N"), "%s",
		  text);
	free(text);
	cm_call_trees_fini(&trees);
}

/* 100 callers: 20 of them and one line for the others; the sums stay. */
Test(call_tree, leaves_small_things_out_of_the_text)
{
	char names[N_MANY][16];
	const char *many_frames[N_MANY];
	uint64_t many_calls[N_MANY];
	int64_t many_totals[N_MANY];
	struct cm_result_region region = {.stats = {.tag = "r",
						    .n_paths = N_MANY,
						    .path_frames = many_frames,
						    .path_calls = many_calls,
						    .path_total_ns = many_totals}};
	struct cm_selection selection = {0};
	struct cm_call_trees trees;
	char *text;

	for (size_t i = 0; i < N_MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "caller%02zu", i);
		many_frames[i] = names[i];
		many_calls[i] = 1;
		many_totals[i] = 1000 - (int64_t)i;
	}
	ranks[0].regions = &region;
	ranks[0].n_regions = 1;
	build(&trees, &selection, CM_SORT_TOTAL);
	text = print(&trees);
	cr_expect(strstr(text, "  caller19 "), "%s", text);
	cr_expect_not(strstr(text, "  caller20 "), "%s", text);
	cr_expect(strstr(text, "  (80 more)     80  75.2 us  79.2%\n"), "%s", text);
	free(text);
	cm_call_trees_fini(&trees);
}

Test(call_tree, is_json_with_everything)
{
	struct cm_selection selection = {0};
	struct cm_call_trees trees;
	char *text = NULL;
	size_t n_bytes;
	struct cm_json json = {.out = open_memstream(&text, &n_bytes)};

	build(&trees, &selection, CM_SORT_TOTAL);
	cm_inspect_json_callers(&json, &trees);
	cr_assert_eq(fclose(json.out), 0);
	cr_expect_not(json.is_bad);
	cr_expect(strstr(text, "\"callers\":{\"bottom_up\":[{\"name\":\"solve\",\"calls\":10,"
			       "\"total_ns\":1000,\"share\":1.0,\"children\":[{\"name\":\"f\","),
		  "%s", text);
	cr_expect(strstr(text, "\"top_down\":[{\"name\":\"main\",\"calls\":10,\"total_ns\":1050,"),
		  "%s", text);
	free(text);
	cm_call_trees_fini(&trees);
}
