/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A temporary file without a name: what does not fit into memory.
 *
 *	cm_spill_open(&spill, "/home/me/results", &diag);       or $TMPDIR, /tmp when that fails
 *	cm_spill_append(&spill, data, n_bytes, &off, &diag);
 *	cm_spill_read(&spill, buf, n_bytes, off, &diag);
 *	cm_spill_close(&spill);
 *
 * It vanishes with the process, however that ends. Threads: one at a time. Errors: negative errno,
 * and a line in diag that names the folder.
 */
#ifndef CALLMARK_COLLECTOR_SPILL_H
#define CALLMARK_COLLECTOR_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "preload/diag.h"

struct cm_spill {
	int fd; /* -1: not open */
	uint64_t n_bytes;
	char dir[256]; /* for messages; cut */
};

int cm_spill_open(struct cm_spill *spill, const char *dir, struct cm_diag *diag);

/* Write at the end; *ret_off is where. -ENOSPC, ... */
int cm_spill_append(struct cm_spill *spill, const void *data, size_t n_bytes, uint64_t *ret_off,
		    struct cm_diag *diag);

/* Exactly n_bytes from off. */
int cm_spill_read(struct cm_spill *spill, void *buf, size_t n_bytes, uint64_t off,
		  struct cm_diag *diag);

/* Give the disk space of a part back that will not be read again, where the file system can. */
void cm_spill_release(struct cm_spill *spill, uint64_t off, uint64_t n_bytes);

void cm_spill_close(struct cm_spill *spill);

#endif
