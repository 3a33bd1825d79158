/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which object is at an address? Those that were there at the start are found by bisection: with
 * `*` as a rule each of thousands of slots asks. What was opened later is looked through.
 *
 * The table is made once. An entry that no longer says where its object is was that of a closed
 * one: it is looked at, and refused.
 */
#include <stdatomic.h>

#include "preload/memory.h"
#include "preload/object.h"

struct row {
	uint64_t low; /* where the object began when the table was made */
	struct cm_object *object;
};

static struct row *rows;
static _Atomic uint32_t n_rows; /* published last: hooks read without a lock */

static void sort(struct row *table, uint32_t n)
{
	for (uint32_t gap = n / 2; gap; gap /= 2)
		for (uint32_t i = gap; i < n; i++) {
			struct row row = table[i];
			uint32_t k = i;

			for (; k >= gap && table[k - gap].low > row.low; k -= gap)
				table[k] = table[k - gap];
			table[k] = row;
		}
}

void cm_object_index(void)
{
	uint32_t n = cm_object_count();

	rows = cm_memory_get(NULL, n * sizeof(*rows));
	if (!rows)
		return; /* all are looked through, then */
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct row){cm_object_at(i)->low, cm_object_at(i)};
	sort(rows, n);
	atomic_store_explicit(&n_rows, n, memory_order_release);
}

static bool contains(const struct cm_object *object, uint64_t address)
{
	return !object->is_gone && address >= object->low && address < object->high;
}

struct cm_object *cm_object_of(const void *address)
{
	uint64_t a = (uint64_t)address;
	uint32_t first = 0, end = atomic_load_explicit(&n_rows, memory_order_acquire);

	while (first < end) {
		uint32_t middle = first + (end - first) / 2;

		if (rows[middle].low <= a)
			first = middle + 1;
		else
			end = middle;
	}
	if (first && contains(rows[first - 1].object, a))
		return rows[first - 1].object;
	for (uint32_t i = 0; i < cm_object_count(); i++)
		if (contains(cm_object_at(i), a))
			return cm_object_at(i);
	return NULL;
}
