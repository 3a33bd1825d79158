/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the entries of jump tables lead.
 *
 * Nothing tells how long a table is: it is taken to end before the next one, and before the first
 * entry that leads to no code.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/code-sweep.h"

#define MAX_ENTRIES 65536u
#define MAX_WORK (UINT64_C(1) << 26) /* entries */

static int by_table(const void *a, const void *b)
{
	const struct cm_code_table *x = a, *y = b;

	if (x->table != y->table)
		return x->table > y->table ? 1 : -1;
	return (x->at > y->at) - (x->at < y->at);
}

static bool read_entry(const struct cm_elf_code *code, const struct cm_code_table *table,
		       uint64_t place, uint64_t *ret_target)
{
	const uint8_t *bytes = cm_elf_code_at(code, place, table->is_absolute ? 8 : 4);
	int32_t distance;

	if (!bytes)
		return false;
	if (table->is_absolute) {
		memcpy(ret_target, bytes, sizeof(*ret_target));
		return true;
	}
	memcpy(&distance, bytes, sizeof(distance));
	*ret_target = table->table + (uint64_t)(int64_t)distance;
	return true;
}

/*
 * The entries of one table, once for each place that uses it: they may be in different functions.
 * *n_left bounds the work on a file that was made to cause it.
 */
static int walk(struct cm_code_sweep *sweep, const struct cm_elf_code *code,
		const struct cm_code_map *map, const struct cm_code_table *table, uint64_t limit,
		uint64_t *n_left)
{
	unsigned int n_bytes = table->is_absolute ? 8 : 4;
	uint64_t place = table->table, target;
	int rc = 0;

	for (unsigned int i = 0; rc >= 0 && i < MAX_ENTRIES; i++, place += n_bytes) {
		if (place >= limit || !read_entry(code, table, place, &target) ||
		    !cm_elf_code_text(code, target))
			break;
		if (!(*n_left)--)
			return -EFBIG;
		rc = cm_code_sweep_add(sweep, map, table->at, target, CM_BRANCH_TABLE);
	}
	return rc;
}

int cm_code_sweep_tables(struct cm_code_sweep *sweep, const struct cm_elf_code *code,
			 const struct cm_code_map *map)
{
	uint64_t n_left = MAX_WORK;
	int rc = 0;

	if (!sweep->n_tables)
		return 0;
	qsort(sweep->tables, sweep->n_tables, sizeof(sweep->tables[0]), by_table);
	for (size_t i = 0; rc >= 0 && i < sweep->n_tables; i++) {
		const struct cm_code_table *table = &sweep->tables[i];
		size_t next = i + 1;

		while (next < sweep->n_tables && sweep->tables[next].table == table->table)
			next++;
		rc = walk(sweep, code, map, table,
			  next < sweep->n_tables ? sweep->tables[next].table : UINT64_MAX, &n_left);
	}
	return rc;
}
