/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel says about an address: bounds and protection of its mapping.
 *
 * One ioctl where the kernel has it (Linux 6.11), else /proc/self/maps read to the right line.
 * No memory, no errno; the descriptor is closed before returning. Signals blocked or init.
 */
#ifndef CALLMARK_PRELOAD_MAPS_H
#define CALLMARK_PRELOAD_MAPS_H

#include <stdint.h>

struct cm_mapping {
	uint64_t low, high; /* [low, high) */
	int prot;	    /* PROT_* */
};

/* 0, -ENOENT where nothing is mapped, or another negative errno. */
int cm_maps_find(uint64_t address, struct cm_mapping *ret_mapping);

/* The same with a descriptor that the caller keeps for a while: cm_maps_open(), or -errno. */
int cm_maps_open(void);
int cm_maps_find_in(int fd, uint64_t address, struct cm_mapping *ret_mapping);

/*
 * Where are n_bytes (a multiple of 4096) free in [low, high)? The highest such address, with a page
 * left free above it. 0 or -ENOMEM.
 */
int cm_maps_gap(uint64_t low, uint64_t high, uint64_t n_bytes, uint64_t *ret_address);

#endif
