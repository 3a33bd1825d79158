/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a run, from the ranks that have come (writer/joining.h).
 *
 * By copy only when that is worth it: once at the end, and early only where it at least doubles
 * what was copied before. When ranks come to a file that has been copied, it becomes base.h5 in the
 * folder of shards, and the new file links to it: nothing is merged a second time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/joining.h"
#include "writer/sibling.h"
#include "writer/writer.h"

#define N_ALWAYS_COPIED 8 /* so few ranks cost nothing */

void cm_joining_reset(struct cm_joining *join)
{
	cm_presence_fini(&join->main);
	cm_presence_fini(&join->base);
	free(join->shards);
	join->shards = NULL;
	join->n_shards = 0;
}

bool cm_joining_is_same_run(const struct cm_joining *join)
{
	const char *run_id = join->main.run_id;

	return run_id && run_id[0] && strcmp(run_id, join->run_id) == 0;
}

bool cm_joining_is_shard(const struct cm_joining *join, int64_t rank)
{
	for (size_t i = 0; i < join->n_shards; i++)
		if (join->shards[i] == rank)
			return true;
	return false;
}

static int base_path(const struct cm_joining *join, char *buf, size_t n_bytes)
{
	return cm_shards_sibling(join->path, join->run_id, CM_SHARDS_BASE, buf, n_bytes);
}

int cm_joining_look(struct cm_joining *join, struct cm_diag *diag)
{
	char base[PATH_MAX];
	int rc;

	cm_joining_reset(join);
	rc = cm_presence_init(&join->main, join->path, diag);
	if (rc < 0)
		return rc;
	if (join->main.what == CM_PRESENT_FOREIGN)
		return cm_diag_set(diag, -EEXIST,
				   "%s: is not a profile and stays as it is; give another output "
				   "or remove it",
				   join->path);
	rc = base_path(join, base, sizeof(base));
	if (rc == 0)
		rc = cm_presence_init(&join->base, base, diag);
	if (rc == 0)
		rc = cm_shards_list(join->path, join->run_id, &join->shards, &join->n_shards);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: cannot read the folder of its ranks: %s",
				   join->path, strerror(-rc));
	return 0;
}

/* A file has ranks of its own, or links: never both, as far as we write it. */
static bool has_own(const struct cm_presence *presence)
{
	for (size_t i = 0; i < presence->n_ranks; i++)
		if (!presence->ranks[i].is_link)
			return true;
	return false;
}

const struct cm_presence *cm_joining_copied(const struct cm_joining *join)
{
	if (cm_joining_is_same_run(join) && has_own(&join->main))
		return &join->main;
	return &join->base;
}

size_t cm_joining_n_copied(const struct cm_joining *join)
{
	const struct cm_presence *copied = cm_joining_copied(join);
	size_t n = 0;

	for (size_t i = 0; i < copied->n_ranks; i++)
		n += !copied->ranks[i].is_link && !cm_joining_is_shard(join, copied->ranks[i].rank);
	return n;
}

/* All ranks of the new file. Malloc; ascending. */
struct part_list {
	struct cm_merge_part *parts;
	char (*paths)[PATH_MAX];
	char copied_path[PATH_MAX]; /* the file with those that were copied before */
	size_t n;
	size_t n_copied;
};

static int compare_parts(const void *a, const void *b)
{
	const struct cm_merge_part *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void part_list_fini(struct part_list *list)
{
	free(list->parts);
	free(list->paths);
	*list = (struct part_list){0};
}

static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash + 1 - path) : 0;
}

static int add_copied(struct part_list *list, const struct cm_joining *join)
{
	const struct cm_presence *copied = cm_joining_copied(join);
	size_t n_folder = folder_length(join->path);
	int rc = base_path(join, list->copied_path, sizeof(list->copied_path));

	for (size_t i = 0; i < copied->n_ranks && rc == 0; i++) {
		const struct cm_present_rank *rank = &copied->ranks[i];

		if (rank->is_link || cm_joining_is_shard(join, rank->rank))
			continue;
		list->parts[list->n++] = (struct cm_merge_part){
			.rank = rank->rank,
			.path = list->copied_path,
			.link = list->copied_path + n_folder,
		};
		list->n_copied++;
	}
	return rc;
}

static int part_list_init(struct part_list *list, const struct cm_joining *join)
{
	size_t n_folder = folder_length(join->path);
	size_t n_max = join->n_shards + cm_joining_copied(join)->n_ranks;
	int rc = 0;

	*list = (struct part_list){
		.parts = calloc(n_max + 1, sizeof(*list->parts)),
		.paths = calloc(join->n_shards + 1, sizeof(*list->paths)),
	};
	if (!list->parts || !list->paths)
		rc = -ENOMEM;
	for (size_t i = 0; i < join->n_shards && rc == 0; i++) {
		rc = cm_shards_file(join->path, join->run_id, join->shards[i], list->paths[i],
				    sizeof(list->paths[i]));
		list->parts[list->n++] = (struct cm_merge_part){.rank = join->shards[i],
								.path = list->paths[i],
								.link = list->paths[i] + n_folder};
	}
	if (rc == 0)
		rc = add_copied(list, join);
	if (rc < 0)
		part_list_fini(list);
	else
		qsort(list->parts, list->n, sizeof(*list->parts), compare_parts);
	return rc;
}

/*
 * The file with ranks of its own gets a second name, base.h5, before the first one is given away.
 * A base that is there already is of an attempt that did not get further.
 */
static int make_base(const struct cm_joining *join, const struct part_list *list)
{
	if (!list->n_copied || cm_joining_copied(join) != &join->main)
		return 0;
	if (unlink(list->copied_path) < 0 && errno != ENOENT)
		return -errno;
	return link(join->path, list->copied_path) < 0 ? -errno : 0;
}

void cm_joining_remove_other(const struct cm_joining *join)
{
	const char *run_id = join->main.run_id;
	int64_t *ranks;
	size_t n;

	if (!run_id || !run_id[0] || cm_joining_is_same_run(join) ||
	    cm_shards_list(join->path, run_id, &ranks, &n) < 0)
		return;
	cm_shards_remove(join->path, run_id, ranks, n);
	cm_shards_clear(join->path, run_id);
	free(ranks);
}

static int write_copy(const struct cm_joining *join, const struct part_list *list,
		      struct cm_diag *diag)
{
	bool is_main = cm_joining_copied(join) == &join->main;
	struct cm_merge_how how = {.mpi_size = join->state.mpi_size};
	struct cm_merge_part *parts = calloc(list->n, sizeof(*parts));
	int rc = parts ? 0 : -ENOMEM;

	for (size_t i = 0; i < list->n && rc == 0; i++) {
		bool is_copied = list->parts[i].path == list->copied_path;

		parts[i] = (struct cm_merge_part){
			.rank = list->parts[i].rank,
			.path = is_copied && is_main ? join->path : list->parts[i].path};
	}
	if (rc == 0)
		rc = cm_merge(join->path, parts, list->n, &how, diag);
	free(parts);
	if (rc < 0)
		return rc;
	cm_shards_remove(join->path, join->run_id, join->shards, join->n_shards);
	cm_shards_clear(join->path, join->run_id);
	return 0;
}

static int write_links(struct cm_joining *join, const struct part_list *list, struct cm_diag *diag)
{
	struct cm_merge_how how = {.mpi_size = join->state.mpi_size};
	int rc = make_base(join, list);

	if (rc < 0) /* no hard links here, or no folder any more: as long as it takes, then */
		return write_copy(join, list, diag);
	rc = cm_merge(join->path, list->parts, list->n, &how, diag);
	if (rc < 0)
		return rc;
	join->state.n_joined = join->state.n_linked = (int64_t)list->n;
	join->state.n_copied = (int64_t)list->n_copied;
	/* Without it the next rank looks at everything. */
	(void)cm_shard_state_write(join->path, join->run_id, &join->state);
	return 0;
}

static bool is_full_disk(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG;
}

bool cm_joining_is_copy_due(const struct cm_shard_state *state, enum cm_joining_why why, int64_t n)
{
	if (state->keep_links || n > CM_WRITER_MAX_COPIED_RANKS)
		return false;
	if (why == CM_JOINING_ALL || (state->mpi_size > 0 && n >= state->mpi_size))
		return true;
	return why == CM_JOINING_SO_FAR && n > state->n_copied &&
	       (n <= N_ALWAYS_COPIED || n >= 2 * state->n_copied);
}

int cm_joining_write(struct cm_joining *join, enum cm_joining_why why, struct cm_diag *diag)
{
	struct part_list list;
	struct cm_diag what = {0};
	int rc = part_list_init(&list, join);

	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", join->path, strerror(-rc));
	join->state.n_copied = (int64_t)list.n_copied;
	if (!list.n)
		rc = -ENOENT;
	else if (cm_joining_is_copy_due(&join->state, why, (int64_t)list.n))
		rc = write_copy(join, &list, &what);
	else
		rc = write_links(join, &list, &what);
	/* Links need next to no room: rather those than a rank that is not in the file. */
	if (is_full_disk(rc)) {
		what = (struct cm_diag){0};
		rc = write_links(join, &list, &what);
	}
	part_list_fini(&list);
	if (rc == -ENOENT)
		return cm_diag_set(diag, rc, "%s: no rank of this run is there", join->path);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s", what.text);
	cm_joining_remove_other(join);
	return 0;
}
