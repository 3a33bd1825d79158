/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process file: its items are counted first, then their tables are made and filled. The first
 * item that is torn or makes no sense as a header ends the file.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/spool-item.h"

#define PROCESS_NAME "process"
#define MAX_PROCESS_BYTES ((size_t)64 << 20) /* 300,000 sites; the rest would be passed over */

static void grow(size_t *n, uint64_t idx, uint64_t limit)
{
#ifdef CM_SMALL_PIECES /* fuzzers: one lie would make a table of millions, and most of the work */
	limit = 64;
#endif
	if (idx < limit && idx >= *n)
		*n = (size_t)idx + 1;
}

static void count_item(struct cm_spool_reader *reader, const struct cm_item *item)
{
	const void *data = item->data;

	switch (item->type) {
	case CM_ITEM_ARGV:
		reader->n_argv += cm_item_count_texts(*item);
		break;
	case CM_ITEM_ENV:
		reader->n_env += cm_item_count_texts(*item);
		break;
	case CM_ITEM_NOTE:
		reader->n_notes++;
		break;
	case CM_ITEM_RULE:
		/* No more rules than a file of 16 MiB has characters. */
		grow(&reader->n_rules, ((const struct cm_spool_rule_item *)data)->rule, 1u << 20);
		break;
	case CM_ITEM_REGION:
		grow(&reader->n_regions, ((const struct cm_spool_region_item *)data)->region,
		     CM_SPOOL_MAX_REGIONS);
		break;
	case CM_ITEM_SITE:
		reader->n_sites++;
		break;
	case CM_ITEM_SYNC:
		reader->n_syncs++;
		break;
	case CM_ITEM_THREAD:
		grow(&reader->n_threads, ((const struct cm_spool_thread_item *)data)->thread,
		     CM_SPOOL_MAX_THREADS);
		break;
	case CM_ITEM_CPU:
		reader->n_cpus++;
		break;
	}
}

static int make_tables(struct cm_spool_reader *reader)
{
	struct cm_arena *arena = &reader->arena;

	reader->argv = cm_arena_array(arena, reader->n_argv, sizeof(*reader->argv));
	reader->env = cm_arena_array(arena, reader->n_env, sizeof(*reader->env));
	reader->notes = cm_arena_array(arena, reader->n_notes, sizeof(*reader->notes));
	reader->rules = cm_arena_array(arena, reader->n_rules, sizeof(*reader->rules));
	reader->regions = cm_arena_array(arena, reader->n_regions, sizeof(*reader->regions));
	reader->sites = cm_arena_array(arena, reader->n_sites, sizeof(*reader->sites));
	reader->syncs = cm_arena_array(arena, reader->n_syncs, sizeof(*reader->syncs));
	reader->threads = cm_arena_array(arena, reader->n_threads, sizeof(*reader->threads));
	reader->cpus = cm_arena_array(arena, reader->n_cpus, sizeof(*reader->cpus));
	if (!reader->argv || !reader->env || !reader->notes || !reader->rules || !reader->regions ||
	    !reader->sites || !reader->syncs || !reader->threads || !reader->cpus)
		return -ENOMEM;
	reader->n_argv = reader->n_env = reader->n_notes = 0;
	reader->n_sites = reader->n_syncs = reader->n_cpus = 0;
	return cm_spool_counters_make(reader) < 0 ? -ENOMEM : cm_spool_paths_make(reader);
}

static void take_identity(struct cm_spool_reader *reader, struct cm_item *item)
{
	reader->run_id = cm_item_next_text(item);
	reader->hostname = cm_item_next_text(item);
	reader->executable = cm_item_next_text(item);
	reader->cwd = cm_item_next_text(item);
	reader->output = cm_item_next_text(item);
	reader->compress = cm_item_next_text(item);
}

static void take_region(struct cm_spool_reader *reader, struct cm_item *item)
{
	const struct cm_spool_region_item *in = (const void *)item->data;
	struct cm_spool_region *region;

	if (in->region >= reader->n_regions) {
		reader->n_bad_items++;
		return;
	}
	region = &reader->regions[in->region];
	region->tag = cm_item_next_text(item);
	region->rule = in->rule;
	region->max_events = in->max_events;
}

static void take_site(struct cm_spool_reader *reader, struct cm_item *item)
{
	const struct cm_spool_site_item *in = (const void *)item->data;
	struct cm_spool_site *site = &reader->sites[reader->n_sites++];

	site->rule = in->rule;
	site->region = in->region < CM_SPOOL_MAX_REGIONS ? in->region : UINT32_MAX;
	site->kind = in->kind;
	site->state = in->state;
	site->symbol = cm_item_next_text(item);
	site->version = cm_item_next_text(item);
	site->object = cm_item_next_text(item);
	site->library = cm_item_next_text(item);
	site->reason = cm_item_next_text(item);
}

static void take_thread(struct cm_spool_reader *reader, struct cm_item *item)
{
	const struct cm_spool_thread_item *in = (const void *)item->data;
	struct cm_spool_thread_row *row;

	if (in->thread >= reader->n_threads) {
		reader->n_bad_items++;
		return;
	}
	row = &reader->threads[in->thread];
	row->known = true;
	row->slot = in->slot;
	row->tid = in->tid;
	row->start = in->start;
	row->name = cm_item_next_text(item);
}

static void take_texts(const char **list, size_t *n, struct cm_item *item)
{
	while (cm_item_has_text(item))
		list[(*n)++] = cm_item_next_text(item);
}

static void take_item(struct cm_spool_reader *reader, struct cm_item *item)
{
	const struct cm_spool_rule_item *rule = (const void *)item->data;

	switch (item->type) {
	case CM_ITEM_IDENTITY:
		take_identity(reader, item);
		break;
	case CM_ITEM_ARGV:
		take_texts(reader->argv, &reader->n_argv, item);
		break;
	case CM_ITEM_ENV:
		take_texts(reader->env, &reader->n_env, item);
		break;
	case CM_ITEM_NOTE:
		reader->notes[reader->n_notes++] = cm_item_next_text(item);
		break;
	case CM_ITEM_RULE:
		if (rule->rule < reader->n_rules)
			reader->rules[rule->rule] = cm_item_next_text(item);
		break;
	case CM_ITEM_REGION:
		take_region(reader, item);
		break;
	case CM_ITEM_SITE:
		take_site(reader, item);
		break;
	case CM_ITEM_SYNC:
		memcpy(&reader->syncs[reader->n_syncs++], item->data, item->n_fixed);
		break;
	case CM_ITEM_THREAD:
		take_thread(reader, item);
		break;
	case CM_ITEM_CPU:
		memcpy(&reader->cpus[reader->n_cpus++], item->data, item->n_fixed);
		break;
	case CM_ITEM_EXIT:
		memcpy(&reader->exit, item->data, item->n_fixed);
		reader->has_exit = true;
		break;
	}
}

static int parse_items(struct cm_spool_reader *reader, const char *data, size_t n_bytes)
{
	struct cm_item item;
	size_t off;
	int rc;

	for (off = 0; cm_item_next(data, n_bytes, &off, &item);) {
		if (!item.n_fixed) {
			reader->n_bad_items++;
			continue;
		}
		count_item(reader, &item);
		cm_spool_counters_count(reader, &item);
		cm_spool_paths_count(reader, &item);
	}
	rc = make_tables(reader);
	if (rc < 0)
		return rc;
	for (off = 0; cm_item_next(data, n_bytes, &off, &item);) {
		if (!item.n_fixed)
			continue;
		take_item(reader, &item);
		cm_spool_counters_take(reader, &item);
		cm_spool_paths_take(reader, &item);
	}
	if (!reader->run_id)
		reader->run_id = reader->hostname = reader->executable = reader->cwd =
			reader->output = reader->compress = "";
	return 0;
}

static int check_header(struct cm_spool_reader *reader, const char *data, size_t n_bytes,
			struct cm_diag *diag)
{
	if (n_bytes < sizeof(reader->process))
		return cm_diag_set(diag, -EINVAL,
				   "%s/" PROCESS_NAME ": truncated before its end "
				   "of header",
				   reader->path);
	memcpy(&reader->process, data, sizeof(reader->process));
	if (reader->process.magic != CM_SPOOL_PROCESS_MAGIC)
		return cm_diag_set(diag, -EINVAL, "%s/" PROCESS_NAME ": not a callmark spool",
				   reader->path);
	if (reader->process.version != CM_SPOOL_VERSION)
		return cm_diag_set(diag, -EINVAL,
				   "%s/" PROCESS_NAME ": spool version %u, this callmark reads %u",
				   reader->path, reader->process.version, CM_SPOOL_VERSION);
	if (reader->process.clock != CM_CLOCK_TSC && reader->process.clock != CM_CLOCK_MONOTONIC)
		return cm_diag_set(diag, -EINVAL, "%s/" PROCESS_NAME ": unknown clock %u",
				   reader->path, reader->process.clock);
	return 0;
}

int cm_spool_reader_read_items(struct cm_spool_reader *reader, struct cm_diag *diag)
{
	const size_t n_head = sizeof(reader->process);
	struct stat st;
	long n = -ENOMEM;
	size_t n_bytes;
	char *data;
	int fd, rc;

	fd = cm_spool_reader_open_file(reader, PROCESS_NAME);
	if (fd < 0)
		return cm_diag_set(diag, fd, "%s/" PROCESS_NAME ": %s", reader->path,
				   strerror(-fd));
	rc = fstat(fd, &st) < 0 ? -errno : 0;
	if (rc == 0) {
		n_bytes = (size_t)st.st_size;
		if (st.st_size > (off_t)MAX_PROCESS_BYTES) {
			n_bytes = MAX_PROCESS_BYTES;
			reader->n_bad_files++;
		}
		data = cm_arena_array(&reader->arena, n_bytes, 1);
		if (data)
			n = cm_spool_reader_pread(fd, data, n_bytes, 0);
		rc = n < 0 ? (int)n : 0;
	}
	close(fd);
	if (rc == 0)
		rc = check_header(reader, data, (size_t)n, diag);
	if (rc == 0)
		rc = parse_items(reader, data + n_head, (size_t)n - n_head);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s/" PROCESS_NAME ": %s", reader->path,
				   strerror(-rc));
	return 0;
}
