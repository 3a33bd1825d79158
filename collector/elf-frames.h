/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bounds of functions as the unwind tables (.eh_frame) have them, and where exceptions land.
 * Formats: Linux Standard Base, "DWARF Extensions"; the call-site table is that of the Itanium
 *ABI's language specific data area.
 *
 *	rc = cm_elf_frames_read(&frames, elf, &code);
 *	frame = cm_elf_frames_find(&frames, address);
 *	cm_elf_frames_fini(&frames);
 *
 * Threads: one at a time. Errors: -ENOMEM. Tables that cannot be read end there: less is known.
 */
#ifndef CALLMARK_COLLECTOR_ELF_FRAMES_H
#define CALLMARK_COLLECTOR_ELF_FRAMES_H

#include "collector/elf-code.h"

struct cm_elf_frame {
	uint64_t begin, end;
	uint64_t landing; /* address of its call-site table, or 0 */
};

struct cm_elf_frames {
	struct cm_elf_frame *frames; /* ascending by begin */
	size_t n_frames;
	size_t n_room;
};

int cm_elf_frames_read(struct cm_elf_frames *frames, struct cm_elf *elf,
		       const struct cm_elf_code *code);
void cm_elf_frames_fini(struct cm_elf_frames *frames);

/* The one that begins exactly there, or NULL. */
const struct cm_elf_frame *cm_elf_frames_find(const struct cm_elf_frames *frames, uint64_t address);

/* Is there one that covers the address? */
bool cm_elf_frames_cover(const struct cm_elf_frames *frames, uint64_t address);

/* found(ctx, frame's begin, landing pad) for each landing pad; what found returned, if negative. */
int cm_elf_frames_landings(const struct cm_elf_frames *frames, const struct cm_elf_code *code,
			   int (*found)(void *ctx, uint64_t from, uint64_t to), void *ctx);

#endif
