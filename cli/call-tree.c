/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths into trees: each step is looked up by its parent and its text. */
#include "cli/call-tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 256 /* of a path; rules allow 64 frames. The last one has all the rest. */

/* One frame of a path, or its region. */
struct step {
	const char *text;
	size_t n_bytes;
	bool is_region;
};

static int init_tree(struct cm_call_tree *tree)
{
	tree->n_buckets = 256;
	tree->buckets = calloc(tree->n_buckets, sizeof(*tree->buckets));
	tree->root = calloc(1, sizeof(*tree->root));
	return tree->buckets && tree->root ? 0 : -ENOMEM;
}

static void free_node(struct cm_call_node *node)
{
	if (!node)
		return;
	free(node->children);
	free(node->text);
	free(node);
}

static void fini_tree(struct cm_call_tree *tree)
{
	for (size_t i = 0; tree->buckets && i < tree->n_buckets; i++)
		free_node(tree->buckets[i]);
	free_node(tree->root);
	free(tree->buckets);
	memset(tree, 0, sizeof(*tree));
}

static uint64_t hash_step(const struct cm_call_node *parent, const char *text, size_t n_bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uintptr_t)parent >> 4;

	for (size_t i = 0; i < n_bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* The bucket of that node, or the free one where it would be. */
static struct cm_call_node **find_bucket(const struct cm_call_tree *tree,
					 const struct cm_call_node *parent, const struct step *step)
{
	size_t at = hash_step(parent, step->text, step->n_bytes) & (tree->n_buckets - 1);
	struct cm_call_node *node;

	while ((node = tree->buckets[at])) {
		if (node->parent == parent && node->is_region == step->is_region &&
		    strncmp(node->text, step->text, step->n_bytes) == 0 &&
		    !node->text[step->n_bytes])
			break;
		at = (at + 1) & (tree->n_buckets - 1);
	}
	return &tree->buckets[at];
}

static int grow_tree(struct cm_call_tree *tree)
{
	struct cm_call_node **old = tree->buckets;
	size_t n_old = tree->n_buckets;

	if (2 * tree->n_nodes < n_old)
		return 0;
	tree->buckets = calloc(2 * n_old, sizeof(*tree->buckets));
	if (!tree->buckets) {
		tree->buckets = old;
		return -ENOMEM;
	}
	tree->n_buckets = 2 * n_old;
	for (size_t i = 0; i < n_old; i++) {
		struct cm_call_node *node = old[i];
		struct step step;

		if (!node)
			continue;
		step = (struct step){node->text, strlen(node->text), node->is_region};
		*find_bucket(tree, node->parent, &step) = node;
	}
	free(old);
	return 0;
}

static int add_child(struct cm_call_node *parent, struct cm_call_node *child)
{
	if (parent->n_children == parent->n_room) {
		size_t n_room = parent->n_room ? 2 * parent->n_room : 2;
		struct cm_call_node **more = reallocarray(parent->children, n_room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		parent->children = more;
		parent->n_room = n_room;
	}
	parent->children[parent->n_children++] = child;
	return 0;
}

/* NULL: no memory. */
static struct cm_call_node *get_child(struct cm_call_tree *tree, struct cm_call_node *parent,
				      const struct step *step)
{
	struct cm_call_node **bucket, *node;

	if (grow_tree(tree) < 0)
		return NULL;
	bucket = find_bucket(tree, parent, step);
	if (*bucket)
		return *bucket;
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	node->text = strndup(step->text, step->n_bytes);
	node->is_region = step->is_region;
	node->parent = parent;
	if (!node->text || add_child(parent, node) < 0) {
		free_node(node);
		return NULL;
	}
	tree->n_nodes++;
	*bucket = node;
	return node;
}

static void count(struct cm_call_node *node, uint64_t calls, uint64_t total_ns)
{
	if (__builtin_add_overflow(node->calls, calls, &node->calls))
		node->calls = UINT64_MAX;
	if (__builtin_add_overflow(node->total_ns, total_ns, &node->total_ns))
		node->total_ns = UINT64_MAX;
}

/* Steps first to last, from the root; or the other way round. */
static int add_path(struct cm_call_tree *tree, const struct step *steps, size_t n, bool is_reversed,
		    uint64_t calls, uint64_t total_ns)
{
	struct cm_call_node *node = tree->root;

	count(node, calls, total_ns);
	for (size_t i = 0; i < n; i++) {
		node = get_child(tree, node, &steps[is_reversed ? n - 1 - i : i]);
		if (!node)
			return -ENOMEM;
		count(node, calls, total_ns);
	}
	return 0;
}

/* The region, then the frames of its path, innermost first. */
static size_t split_path(const char *tag, const char *frames, struct step *steps)
{
	const char *at = frames, *end;
	size_t n = 1;

	steps[0] = (struct step){tag, strlen(tag), true};
	while (n < MAX_STEPS - 1 && (end = strstr(at, CM_PROFILE_PATH_SEPARATOR))) {
		steps[n++] = (struct step){at, (size_t)(end - at), false};
		at = end + strlen(CM_PROFILE_PATH_SEPARATOR);
	}
	steps[n++] = (struct step){at, strlen(at), false};
	return n;
}

static int add_region(struct cm_call_trees *trees, const struct cm_profile_region *region)
{
	struct step steps[MAX_STEPS];
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < region->n_paths; i++) {
		size_t n = split_path(region->tag, region->path_frames[i], steps);
		uint64_t calls = region->path_calls[i];
		int64_t ns = region->path_total_ns[i];
		uint64_t total_ns = ns > 0 ? (uint64_t)ns : 0;

		rc = add_path(&trees->bottom_up, steps, n, false, calls, total_ns);
		if (rc >= 0)
			rc = add_path(&trees->top_down, steps, n, true, calls, total_ns);
	}
	return rc;
}

static enum cm_inspect_sort sort_key; /* for qsort's comparison */

static int compare_nodes(const void *a, const void *b)
{
	const struct cm_call_node *x = *(struct cm_call_node *const *)a;
	const struct cm_call_node *y = *(struct cm_call_node *const *)b;

	if (sort_key == CM_SORT_TOTAL && x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (sort_key != CM_SORT_NAME && x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->text, y->text);
}

static void sort_tree(struct cm_call_tree *tree)
{
	for (size_t i = 0; i <= tree->n_buckets; i++) {
		struct cm_call_node *node = i < tree->n_buckets ? tree->buckets[i] : tree->root;

		if (node && node->n_children)
			qsort(node->children, node->n_children, sizeof(struct cm_call_node *),
			      compare_nodes);
	}
}

static int compare_tags(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add_without(struct cm_call_trees *trees, const char *tag)
{
	/* Doubled at each power of two. */
	if (!(trees->n_without & (trees->n_without - 1))) {
		size_t n_room = trees->n_without ? 2 * trees->n_without : 1;
		const char **more = reallocarray(trees->without, n_room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		trees->without = more;
	}
	trees->without[trees->n_without++] = tag;
	return 0;
}

/* Each once, and none that has paths on another rank. */
static void finish_without(struct cm_call_trees *trees)
{
	size_t n = 0;

	if (trees->n_without)
		qsort(trees->without, trees->n_without, sizeof(*trees->without), compare_tags);
	for (size_t i = 0; i < trees->n_without; i++) {
		const char *tag = trees->without[i];
		struct step step = {tag, strlen(tag), true};

		if ((n && strcmp(trees->without[n - 1], tag) == 0) ||
		    *find_bucket(&trees->bottom_up, trees->bottom_up.root, &step))
			continue;
		trees->without[n++] = tag;
	}
	trees->n_without = n;
}

static int add_rank(struct cm_call_trees *trees, const struct cm_result_rank *rank,
		    const struct cm_selection *selection)
{
	int rc = 0;

	trees->n_ranks++;
	for (size_t i = 0; rc >= 0 && i < rank->n_regions; i++) {
		const struct cm_profile_region *region = &rank->regions[i].stats;

		if (!cm_filter_matches(&selection->filter, region->tag))
			continue;
		rc = region->n_paths ? add_region(trees, region) : add_without(trees, region->tag);
	}
	return rc;
}

int cm_call_trees_build(struct cm_call_trees *trees, const struct cm_results *results,
			const struct cm_selection *selection, enum cm_inspect_sort sort)
{
	int rc;

	memset(trees, 0, sizeof(*trees));
	rc = init_tree(&trees->bottom_up);
	if (rc >= 0)
		rc = init_tree(&trees->top_down);
	for (size_t i = 0; rc >= 0 && i < cm_results_n_ranks(results); i++) {
		const struct cm_result_rank *rank = cm_results_rank(results, i);

		if (cm_rank_set_has(&selection->ranks, rank->rank))
			rc = add_rank(trees, rank, selection);
	}
	if (rc < 0)
		return rc;
	finish_without(trees);
	trees->n_regions = trees->bottom_up.root->n_children;
	sort_key = sort == CM_SORT_CALLS || sort == CM_SORT_NAME ? sort : CM_SORT_TOTAL;
	sort_tree(&trees->bottom_up);
	sort_tree(&trees->top_down);
	return 0;
}

void cm_call_trees_fini(struct cm_call_trees *trees)
{
	fini_tree(&trees->bottom_up);
	fini_tree(&trees->top_down);
	free(trees->without);
	trees->without = NULL;
}
