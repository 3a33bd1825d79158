/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing to pages that may be read-only (RELRO): one at a time, and each gets back exactly the
 * protection that it had.
 *
 *	struct cm_page page = {0};
 *	for each address: if (!cm_page_open(&page, address)) store
 *	cm_page_close(&page);
 *
 * Sites lock held.
 */
#ifndef CALLMARK_PRELOAD_PAGE_H
#define CALLMARK_PRELOAD_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct cm_page {
	uint64_t address;
	int prot;
	bool is_open;
};

/*
 * Hundreds of pages may be opened until the end: the kernel is asked through one descriptor. Only
 * the first time, in the constructor: later a thread of the program may close it.
 */
void cm_page_begin(void);
void cm_page_end(void);

/* Make the page of this address writable; the one opened before is closed. Negative errno. */
int cm_page_open(struct cm_page *page, uint64_t address);

void cm_page_close(struct cm_page *page);

#endif
