/* SPDX-License-Identifier: BSD-3-Clause */
/* What HDF5 keeps for the whole process, saved and set back. */
#include "writer/h5-guest.h"

#include <stdbool.h>

#include <hdf5.h>

static struct {
	H5E_auto2_t printer;
	void *printer_ctx;
	unsigned plugins;
	bool is_known; /* there is something to set back */
} host;

void cm_h5_guest_enter(void)
{
	/* Started here, it registers its clean-up at exit, which cm_h5_init() would prevent. */
	host.is_known = H5open() >= 0 &&
			H5Eget_auto2(H5E_DEFAULT, &host.printer, &host.printer_ctx) >= 0 &&
			H5PLget_loading_state(&host.plugins) >= 0;
	if (!host.is_known)
		return;				     /* the loader finds out */
	(void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* at worst it prints */
	(void)H5PLset_loading_state(0);		     /* at worst a file may name a plugin */
}

void cm_h5_guest_leave(void)
{
	if (!host.is_known)
		return;
	(void)H5PLset_loading_state(host.plugins); /* no worse than before */
	(void)H5Eset_auto2(H5E_DEFAULT, host.printer, host.printer_ctx);
}
