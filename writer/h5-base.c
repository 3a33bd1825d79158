/* SPDX-License-Identifier: BSD-3-Clause */
/* Start of HDF5, closing of ids, and errors. */
#include "writer/h5-base.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#define SMALL_BUFFER_BYTES 4096

static struct {
	bool is_ready;
	hid_t string_type;
	hid_t scalar;
	hid_t small_transfer;
	hid_t compact;
} state;

static int make_shared(void)
{
	state.string_type = H5Tcopy(H5T_C_S1);
	state.scalar = H5Screate(H5S_SCALAR);
	state.small_transfer = H5Pcreate(H5P_DATASET_XFER);
	state.compact = H5Pcreate(H5P_DATASET_CREATE);
	if (state.string_type < 0 || state.scalar < 0 || state.small_transfer < 0 ||
	    state.compact < 0)
		return -EIO;
	if (H5Tset_size(state.string_type, H5T_VARIABLE) < 0 ||
	    H5Tset_cset(state.string_type, H5T_CSET_UTF8) < 0 ||
	    H5Pset_buffer(state.small_transfer, SMALL_BUFFER_BYTES, NULL, NULL) < 0 ||
	    H5Pset_layout(state.compact, H5D_COMPACT) < 0)
		return -EIO;
	return 0;
}

int cm_h5_init(struct cm_diag *diag)
{
	if (state.is_ready)
		return 0;
	/*
	 * At exit HDF5 would write what a failed close left behind, to descriptors that are gone by
	 * then. It fails only when HDF5 is running already: then whoever started it decided.
	 */
	(void)H5dont_atexit();
	if (H5open() < 0)
		return cm_diag_set(diag, -EIO, "HDF5 cannot start");
	/* A file can name any filter; no code is loaded on its word. Old plugins stay harmless. */
	if (H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0 || H5PLset_loading_state(0) < 0 ||
	    make_shared() < 0)
		return cm_h5_fail(diag, -EIO, "HDF5", "cannot start");
	state.is_ready = true;
	return 0;
}

void cm_h5_close(hid_t id)
{
	if (id >= 0)
		(void)H5Idec_ref(id); /* of what is read or already written: nothing to lose */
}

/* The walk starts at the place that failed first: that line says most. */
static herr_t take_first_line(unsigned n, const H5E_error2_t *error, void *ctx)
{
	char *line = ctx;

	if (n == 0)
		snprintf(line, CM_DIAG_BYTES, "%s", error->desc ? error->desc : "");
	return 0;
}

int cm_h5_fail(struct cm_diag *diag, int rc, const char *path, const char *what)
{
	char line[CM_DIAG_BYTES] = "";

	(void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first_line, line);
	(void)H5Eclear2(H5E_DEFAULT);
	if (line[0])
		return cm_diag_set(diag, rc, "%s: %s: HDF5 says: %s", path, what, line);
	return cm_diag_set(diag, rc, "%s: %s", path, what);
}

hid_t cm_h5_string_type(void)
{
	return state.string_type;
}

hid_t cm_h5_scalar(void)
{
	return state.scalar;
}

hid_t cm_h5_small_transfer(void)
{
	return state.small_transfer;
}

hid_t cm_h5_compact(void)
{
	return state.compact;
}

hid_t cm_h5_make_group(hid_t parent, const char *name)
{
	hid_t plist = H5Pcreate(H5P_GROUP_CREATE), group = H5I_INVALID_HID;

	if (plist >= 0 && H5Pset_attr_phase_change(plist, 60000, 0) >= 0)
		group = H5Gcreate2(parent, name, H5P_DEFAULT, plist, H5P_DEFAULT);
	cm_h5_close(plist);
	return group;
}
