/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All instructions of an object, one after the other, for what may lead into the bytes of entries:
 * direct branches, tables of jumps, and jumps whose targets the instruction does not tell.
 *
 *	rc = cm_code_sweep(&sweep, &code, &map);	 map: starts and watched bytes are set
 *	rc = cm_code_sweep_tables(&sweep, &code, &map);
 *	rc = cm_code_sweep_sort(&sweep);
 *	cm_code_sweep_fini(&sweep);
 *
 * Decoding begins afresh at every start, so that data between functions derails it no further than
 * to the next one. Threads: one at a time. Errors: -ENOMEM; -EFBIG: more tables than a program has.
 */
#ifndef CALLMARK_COLLECTOR_CODE_SWEEP_H
#define CALLMARK_COLLECTOR_CODE_SWEEP_H

#include "collector/elf-code.h"

enum cm_code_branch_kind {
	CM_BRANCH_JUMP,	   /* conditional or not */
	CM_BRANCH_CALL,	   /* recorded only where no function begins */
	CM_BRANCH_TABLE,   /* an entry of a table that the code at `from` uses */
	CM_BRANCH_WORD,	   /* an address in data, at `from`; recorded as calls are */
	CM_BRANCH_LANDING, /* an exception ends there */
};

/* Something leads to a watched byte. */
struct cm_code_branch {
	uint64_t from, to;
	uint8_t kind;
};

/* Code at `at` takes the address of what could be a table of jumps. */
struct cm_code_table {
	uint64_t at;
	uint64_t table;
	uint64_t first;	  /* where the first entry leads */
	bool is_absolute; /* 8 bytes an entry, the target; otherwise 4, relative to the table */
};

struct cm_code_sweep {
	struct cm_code_branch *branches; /* sorted: ascending by `to` */
	size_t n_branches, n_branch_room;
	struct cm_code_table *tables; /* sorted: ascending by `at` */
	size_t n_tables, n_table_room;
	uint64_t *jumps; /* with targets computed from a table as it seems; ascending */
	size_t n_jumps, n_jump_room;
	uint64_t *words; /* addresses of code in data, where nothing begins; sorted: ascending */
	size_t n_words, n_word_room;
};

int cm_code_sweep(struct cm_code_sweep *sweep, const struct cm_elf_code *code,
		  const struct cm_code_map *map);
int cm_code_sweep_tables(struct cm_code_sweep *sweep, const struct cm_elf_code *code,
			 const struct cm_code_map *map);

/* One more branch, kept only if it leads to a watched byte. */
int cm_code_sweep_add(struct cm_code_sweep *sweep, const struct cm_code_map *map, uint64_t from,
		      uint64_t to, enum cm_code_branch_kind kind);

/* A word of data that is an address of code. */
int cm_code_sweep_add_word(struct cm_code_sweep *sweep, const struct cm_code_map *map,
			   uint64_t place, uint64_t value);

void cm_code_sweep_sort(struct cm_code_sweep *sweep);
void cm_code_sweep_fini(struct cm_code_sweep *sweep);

/* The first branch to this address or one behind it; sorted sweeps only. */
size_t cm_code_sweep_first(const struct cm_code_sweep *sweep, uint64_t to);

/*
 * Does the function in [begin, end) jump to where nothing that was found tells? Sorted sweeps only.
 */
bool cm_code_sweep_is_unknown(const struct cm_code_sweep *sweep, uint64_t begin, uint64_t end);

#endif
