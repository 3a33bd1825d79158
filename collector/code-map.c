/* SPDX-License-Identifier: BSD-3-Clause */
/* Bits for the bytes of an object's code. */
#include "collector/code-map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Read as words: a few bytes more than there are bits. */
static size_t count_bytes(uint64_t begin, uint64_t end)
{
	return (size_t)((end - begin) / 64 + 2) * 8;
}

int cm_code_map_init(struct cm_code_map *map, uint64_t begin, uint64_t end)
{
	memset(map, 0, sizeof(*map));
	if (end < begin || end - begin > CM_CODE_MAX_BYTES)
		return -EFBIG;
	map->begin = begin;
	map->end = end;
	map->starts = calloc(1, count_bytes(begin, end));
	map->watched = calloc(1, count_bytes(begin, end));
	map->taken = calloc(1, count_bytes(begin, end));
	if (!map->starts || !map->watched || !map->taken) {
		cm_code_map_fini(map);
		return -ENOMEM;
	}
	return 0;
}

void cm_code_map_fini(struct cm_code_map *map)
{
	free(map->starts);
	free(map->watched);
	free(map->taken);
	memset(map, 0, sizeof(*map));
}

uint64_t cm_code_map_next_start(const struct cm_code_map *map, uint64_t address, uint64_t end)
{
	uint64_t at = address - map->begin, n = (end < map->end ? end : map->end) - map->begin;

	if (address < map->begin || address >= map->end || end <= address)
		return end;
	while (at < n) {
		uint64_t word;

		memcpy(&word, map->starts + at / 64 * 8, sizeof(word));
		word &= UINT64_MAX << at % 64;
		if (word) {
			at = at / 64 * 64 + (unsigned int)__builtin_ctzll(word);
			break;
		}
		at = (at / 64 + 1) * 64;
	}
	return at < n ? map->begin + at : end;
}
