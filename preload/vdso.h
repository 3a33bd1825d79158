/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the vDSO, called without libc's wrapper (two more jumps a call, or a system call).
 * They touch no vector register and no errno. Init only.
 */
#ifndef CALLMARK_PRELOAD_VDSO_H
#define CALLMARK_PRELOAD_VDSO_H

/* The function's address; NULL: this kernel offers none. */
void *cm_vdso_find(const char *symbol);

#endif
