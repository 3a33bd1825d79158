/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths of regions as trees.
 *
 *	rc = cm_call_trees_build(&trees, results, &selection, CM_SORT_TOTAL);
 *	... trees.bottom_up.root->children[i]: a region; its children: who called it ...
 *	... trees.top_down.root->children[i]: an outermost caller; the leaves: regions ...
 *	cm_call_trees_fini(&trees);
 *
 * Paths of all ranks selected are summed; paths with equal beginnings share their nodes. A node has
 * the calls and the time of all paths through it. The roots themselves stand for nothing: their
 * numbers are those of all paths.
 *
 * Texts are from the file (to be escaped), copied. Times are those of completed calls; negative
 * ones of a damaged file count as 0. Sums saturate. Borrows nothing. Threads: one at a time.
 * Errors: -ENOMEM; fini also then.
 */
#ifndef CALLMARK_CLI_CALL_TREE_H
#define CALLMARK_CLI_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/inspect-options.h"
#include "cli/selection.h"
#include "writer/results.h"

struct cm_call_node {
	char *text;
	bool is_region;
	uint64_t calls;
	uint64_t total_ns;
	struct cm_call_node **children; /* sorted */
	size_t n_children, n_room;
	const struct cm_call_node *parent;
};

struct cm_call_tree {
	struct cm_call_node *root;
	struct cm_call_node **buckets; /* all nodes but the root, by parent and text */
	size_t n_buckets, n_nodes;     /* a power of two */
};

struct cm_call_trees {
	struct cm_call_tree bottom_up, top_down;
	size_t n_ranks;	      /* that were selected */
	size_t n_regions;     /* of those, the ones with paths, over ranks by tag */
	const char **without; /* tags of the others, once each, in byte order; the file's */
	size_t n_without;
};

/* sort: total, calls or name; all others are as total. */
int cm_call_trees_build(struct cm_call_trees *trees, const struct cm_results *results,
			const struct cm_selection *selection, enum cm_inspect_sort sort);
void cm_call_trees_fini(struct cm_call_trees *trees);

#endif
