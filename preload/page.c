/* SPDX-License-Identifier: BSD-3-Clause */
/* One page opened for writing. */
#include "preload/page.h"

#include "preload/maps.h"
#include "preload/syscall.h"

static int maps = -1; /* between begin and end */

void cm_page_begin(void)
{
	static bool is_later;

	if (!is_later)
		maps = cm_maps_open();
	is_later = true;
}

void cm_page_end(void)
{
	if (maps >= 0)
		cm_sys_close(maps);
	maps = -1;
}

void cm_page_close(struct cm_page *page)
{
	if (page->is_open && !(page->prot & PROT_WRITE))
		(void)cm_sys3(SYS_mprotect, (long)page->address, 4096,
			      page->prot); /* it had this protection a moment ago */
	page->is_open = false;
}

int cm_page_open(struct cm_page *page, uint64_t address)
{
	struct cm_mapping mapping;
	uint64_t start = address & ~UINT64_C(4095);
	long rc;

	if (page->is_open && page->address == start)
		return 0;
	cm_page_close(page);
	rc = maps >= 0 ? cm_maps_find_in(maps, start, &mapping) : cm_maps_find(start, &mapping);
	if (rc >= 0 && !(mapping.prot & PROT_WRITE))
		rc = cm_sys3(SYS_mprotect, (long)start, 4096, mapping.prot | PROT_WRITE);
	if (rc < 0)
		return (int)rc;
	*page = (struct cm_page){.address = start, .prot = mapping.prot, .is_open = true};
	return 0;
}
