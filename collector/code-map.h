/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One bit for each byte of an object's code: where something is known to begin, and which bytes
 * are watched for branches.
 *
 *	rc = cm_code_map_init(&map, begin, end);
 *	cm_code_map_set(map.starts, &map, address);
 *	cm_code_map_fini(&map);
 *
 * Addresses outside of [begin, end) are never set. Threads: one at a time. Errors: -ENOMEM; -EFBIG
 * where the code spans more than CM_CODE_MAX_BYTES.
 */
#ifndef CALLMARK_COLLECTOR_CODE_MAP_H
#define CALLMARK_COLLECTOR_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_CODE_MAX_BYTES (UINT64_C(1) << 31)

/* Consecutive bytes of an object's code or data, as the file has them; addresses are the file's. */
struct cm_code_part {
	uint64_t begin, end;
	const uint8_t *bytes;
	bool is_plt;
};

struct cm_code_map {
	uint64_t begin, end;
	uint8_t *starts;  /* of functions and labels, by symbols and unwind tables */
	uint8_t *watched; /* bytes that may be overwritten */
	uint8_t *taken;	  /* padding that is used */
};

int cm_code_map_init(struct cm_code_map *map, uint64_t begin, uint64_t end);
void cm_code_map_fini(struct cm_code_map *map);

static inline void cm_code_map_set(uint8_t *bits, const struct cm_code_map *map, uint64_t address)
{
	uint64_t at = address - map->begin;

	if (address >= map->begin && address < map->end)
		bits[at / 8] |= (uint8_t)(1u << at % 8);
}

static inline bool cm_code_map_has(const uint8_t *bits, const struct cm_code_map *map,
				   uint64_t address)
{
	uint64_t at = address - map->begin;

	return address >= map->begin && address < map->end && (bits[at / 8] >> at % 8 & 1);
}

/* The first start in [address, end), or end. */
uint64_t cm_code_map_next_start(const struct cm_code_map *map, uint64_t address, uint64_t end);

#endif
