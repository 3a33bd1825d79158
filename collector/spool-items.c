/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process file: its items are counted first, then their tables are made and filled. The first
 * item that is torn or makes no sense as a header ends the file.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/spool-reader.h"

#define PROCESS_NAME "process"
#define MAX_PROCESS_BYTES ((size_t)64 << 20) /* 300,000 sites; the rest would be passed over */

/* Bytes of the fixed part, or 0 for a type that this version does not know. */
static size_t fixed_bytes(uint32_t type)
{
	switch (type) {
	case CM_ITEM_IDENTITY:
	case CM_ITEM_ARGV:
	case CM_ITEM_ENV:
	case CM_ITEM_NOTE:
		return sizeof(struct cm_spool_item);
	case CM_ITEM_RULE:
		return sizeof(struct cm_spool_rule_item);
	case CM_ITEM_REGION:
		return sizeof(struct cm_spool_region_item);
	case CM_ITEM_SITE:
		return sizeof(struct cm_spool_site_item);
	case CM_ITEM_SYNC:
		return sizeof(struct cm_spool_sync_item);
	case CM_ITEM_THREAD:
		return sizeof(struct cm_spool_thread_item);
	case CM_ITEM_CPU:
		return sizeof(struct cm_spool_cpu_item);
	case CM_ITEM_EXIT:
		return sizeof(struct cm_spool_exit_item);
	}
	return 0;
}

struct item {
	uint32_t type;
	size_t n_fixed;
	const char *data; /* 8-aligned, in the file's copy */
	const char *text; /* strings */
	const char *end;
};

/* The item at *off, which is moved behind it. 1, or 0 at the end (or what must count as it). */
static int next_item(const char *data, size_t n_bytes, size_t *off, struct item *ret_item)
{
	struct cm_spool_item head;

	if (n_bytes - *off < sizeof(head))
		return 0;
	memcpy(&head, data + *off, sizeof(head));
	if (head.bytes < sizeof(head) || head.bytes % 8 || head.bytes > n_bytes - *off)
		return 0;
	ret_item->type = head.type;
	ret_item->n_fixed = fixed_bytes(head.type);
	ret_item->data = data + *off;
	ret_item->end = data + *off + head.bytes;
	if (ret_item->n_fixed > head.bytes)
		ret_item->n_fixed = 0;
	ret_item->text = ret_item->data + ret_item->n_fixed;
	*off += head.bytes;
	return 1;
}

/* The item's next string; "" when there is none (left). */
static const char *next_text(struct item *item)
{
	const char *text = item->text;
	const char *nul = text < item->end ? memchr(text, 0, (size_t)(item->end - text)) : NULL;

	if (!nul)
		return "";
	item->text = nul + 1;
	return text;
}

/* Is there another string? Padding (fewer than 8 zeros at the end) is none. */
static bool has_text(const struct item *item)
{
	if (item->text >= item->end)
		return false;
	if (!memchr(item->text, 0, (size_t)(item->end - item->text)))
		return false;
	for (const char *p = item->text; p < item->end; p++) {
		if (*p)
			return true;
	}
	return false;
}

static size_t count_texts(struct item item)
{
	size_t n = 0;

	for (; has_text(&item); n++)
		(void)next_text(&item); /* only counted here */
	return n;
}

static void grow(size_t *n, uint64_t idx, uint64_t limit)
{
	if (idx < limit && idx >= *n)
		*n = (size_t)idx + 1;
}

static void count_item(struct cm_spool_reader *reader, const struct item *item)
{
	const void *data = item->data;

	switch (item->type) {
	case CM_ITEM_ARGV:
		reader->n_argv += count_texts(*item);
		break;
	case CM_ITEM_ENV:
		reader->n_env += count_texts(*item);
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
	return 0;
}

static void take_identity(struct cm_spool_reader *reader, struct item *item)
{
	reader->run_id = next_text(item);
	reader->hostname = next_text(item);
	reader->executable = next_text(item);
	reader->cwd = next_text(item);
	reader->output = next_text(item);
	reader->compress = next_text(item);
}

static void take_region(struct cm_spool_reader *reader, struct item *item)
{
	const struct cm_spool_region_item *in = (const void *)item->data;
	struct cm_spool_region *region;

	if (in->region >= reader->n_regions) {
		reader->n_bad_items++;
		return;
	}
	region = &reader->regions[in->region];
	region->tag = next_text(item);
	region->rule = in->rule;
	region->max_events = in->max_events;
}

static void take_site(struct cm_spool_reader *reader, struct item *item)
{
	const struct cm_spool_site_item *in = (const void *)item->data;
	struct cm_spool_site *site = &reader->sites[reader->n_sites++];

	site->rule = in->rule;
	site->region = in->region < CM_SPOOL_MAX_REGIONS ? in->region : UINT32_MAX;
	site->kind = in->kind;
	site->state = in->state;
	site->symbol = next_text(item);
	site->version = next_text(item);
	site->object = next_text(item);
	site->library = next_text(item);
	site->reason = next_text(item);
}

static void take_thread(struct cm_spool_reader *reader, struct item *item)
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
	row->name = next_text(item);
}

static void take_texts(const char **list, size_t *n, struct item *item)
{
	while (has_text(item))
		list[(*n)++] = next_text(item);
}

static void take_item(struct cm_spool_reader *reader, struct item *item)
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
		reader->notes[reader->n_notes++] = next_text(item);
		break;
	case CM_ITEM_RULE:
		if (rule->rule < reader->n_rules)
			reader->rules[rule->rule] = next_text(item);
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
	struct item item;
	size_t off;
	int rc;

	for (off = 0; next_item(data, n_bytes, &off, &item);) {
		if (item.n_fixed)
			count_item(reader, &item);
		else
			reader->n_bad_items++;
	}
	rc = make_tables(reader);
	if (rc < 0)
		return rc;
	for (off = 0; next_item(data, n_bytes, &off, &item);) {
		if (item.n_fixed)
			take_item(reader, &item);
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
