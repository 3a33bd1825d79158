/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "collector/spool-item.h"

#include <string.h>

#include "preload/spool.h"

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
	case CM_ITEM_COUNTERS:
		return sizeof(struct cm_spool_counters_item);
	case CM_ITEM_MARKER:
		return sizeof(struct cm_spool_marker_item);
	case CM_ITEM_SKIPS:
		return sizeof(struct cm_spool_skips_item);
	case CM_ITEM_SNAPSHOT:
		return sizeof(struct cm_spool_snapshot_item);
	case CM_ITEM_OBJECT:
		return sizeof(struct cm_spool_object_item);
	case CM_ITEM_FUNCTION:
		return sizeof(struct cm_spool_function_item);
	case CM_ITEM_PATH:
		return sizeof(struct cm_spool_path_item);
	}
	return 0;
}

bool cm_item_next(const char *data, size_t n_bytes, size_t *off, struct cm_item *ret_item)
{
	struct cm_spool_item head;

	if (n_bytes - *off < sizeof(head))
		return false;
	memcpy(&head, data + *off, sizeof(head));
	if (head.bytes < sizeof(head) || head.bytes % 8 || head.bytes > n_bytes - *off)
		return false;
	ret_item->type = head.type;
	ret_item->n_fixed = fixed_bytes(head.type);
	ret_item->data = data + *off;
	ret_item->end = data + *off + head.bytes;
	if (ret_item->n_fixed > head.bytes)
		ret_item->n_fixed = 0;
	ret_item->text = ret_item->data + ret_item->n_fixed;
	*off += head.bytes;
	return true;
}

const char *cm_item_next_text(struct cm_item *item)
{
	const char *text = item->text;
	const char *nul = text < item->end ? memchr(text, 0, (size_t)(item->end - text)) : NULL;

	if (!nul)
		return "";
	item->text = nul + 1;
	return text;
}

bool cm_item_has_text(const struct cm_item *item)
{
	return item->text < item->end &&
	       memchr(item->text, 0, (size_t)(item->end - item->text)) != NULL;
}

size_t cm_item_count_texts(struct cm_item item)
{
	size_t n = 0;

	for (; cm_item_has_text(&item); n++)
		(void)cm_item_next_text(&item); /* only counted here */
	return n;
}
