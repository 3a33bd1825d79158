/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which binary is this? What can be told without loading it, which would run its constructors.
 *
 *	rc = cm_elf_identity_read(&identity, path, &diag);
 *
 * Threads: any. Errors: those of cm_elf_open() and a line in diag; -EBADMSG for damaged notes.
 */
#ifndef CALLMARK_COLLECTOR_ELF_IDENTITY_H
#define CALLMARK_COLLECTOR_ELF_IDENTITY_H

#include "preload/diag.h"

/* "" where there is none. Longer ones are -E2BIG. */
struct cm_elf_identity {
	char build_id[129]; /* lower-case hexadecimal digits */
	char soname[256];
	char version[128]; /* after ".so." in the name of the file, symbolic links resolved */
};

int cm_elf_identity_read(struct cm_elf_identity *identity, const char *path, struct cm_diag *diag);

#endif
