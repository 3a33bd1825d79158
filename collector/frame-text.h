/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of call paths in words: "solve [solver] solver.c:42".
 *
 *	cm_frame_texts_init(&texts, reader);
 *	rc = cm_frame_texts_seek(&texts, path->n_objects);      forward only
 *	rc = cm_frame_texts_get(&texts, return_address, &text); 1: text; 0: a frame to leave out
 *	rc = cm_frame_texts_source(&texts, entry, &file, &line);
 *	cm_frame_texts_fini(&texts);
 *
 * A frame without a symbol is "0x1234 [libx.so]", the address in the object; without an object
 * "0x7f0012345678 [?]". The line is that of the call, where DWARF says it. Demangled. Frames in a
 * procedure linkage table and in our own preload are left out. No text holds " < ", which joins
 * frames to paths, nor is it longer than CM_FRAME_TEXT_BYTES.
 *
 * A binary is opened when an address in it is asked for the first time, at most
 * CM_FRAME_MAX_BINARIES of them; each address is worked out once. Without a path in the spool, only
 * tables are used that are quick to open (elf-names.h). What cannot be read gives fewer words,
 * never an error. Texts are in the reader's arena. Threads: one at a time. Errors: -ENOMEM.
 */
#ifndef CALLMARK_COLLECTOR_FRAME_TEXT_H
#define CALLMARK_COLLECTOR_FRAME_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "collector/object-map.h"

#define CM_FRAME_TEXT_BYTES 512
#define CM_FRAME_MAX_BINARIES 1024

struct cm_frame_binary;
struct cm_frame_known;

struct cm_frame_texts {
	struct cm_spool_reader *reader;
	struct cm_object_map map;
	struct cm_frame_binary *binaries;
	struct cm_frame_binary **of_object; /* by the reader's objects; NULL: not known yet */
	size_t n_binaries;
	struct cm_frame_known *known; /* hash table, by binary and address */
	size_t n_known, n_buckets;    /* a power of two */
};

void cm_frame_texts_init(struct cm_frame_texts *texts, struct cm_spool_reader *reader);
void cm_frame_texts_fini(struct cm_frame_texts *texts);

int cm_frame_texts_seek(struct cm_frame_texts *texts, size_t n_objects);

/* Back to the first item about objects; what was found out stays. */
void cm_frame_texts_rewind(struct cm_frame_texts *texts);

int cm_frame_texts_get(struct cm_frame_texts *texts, uint64_t address, const char **ret_text);

/* Where the function with this entry is written; 0: not known. The path as DWARF has it. */
int cm_frame_texts_source(struct cm_frame_texts *texts, uint64_t entry, const char **ret_file,
			  int *ret_line);

#endif
