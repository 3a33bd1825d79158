/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A binary with everything the loader would load for it, in the order in which symbols are looked
 * up.
 *
 *	rc = cm_closure_load(&closure, path, &diag);
 *	closure.items[0] is the binary; the others are its libraries
 *	cm_closure_fini(&closure);
 *
 * Our own loader is asked (--list): it knows RUNPATH, LD_LIBRARY_PATH, its cache and hwcaps, and
 * runs no code of the binary. Threads: one at a time. Errors: those of cm_elf_open for the binary;
 * of a library only its `elf` is missing.
 */
#ifndef CALLMARK_CLI_SYMBOLS_CLOSURE_H
#define CALLMARK_CLI_SYMBOLS_CLOSURE_H

#include <stddef.h>

#include "collector/elf-binary.h"
#include "preload/diag.h"

struct cm_closure_item {
	char *name;	    /* base name */
	char *path;	    /* NULL: not found */
	struct cm_elf *elf; /* NULL: not found, not readable */
};

struct cm_closure {
	struct cm_closure_item *items;
	size_t n_items;
};

/* The binary must be one that can be intercepted: -EINVAL and a line otherwise. */
int cm_closure_load(struct cm_closure *closure, const char *path, struct cm_diag *diag);

void cm_closure_fini(struct cm_closure *closure);

#endif
