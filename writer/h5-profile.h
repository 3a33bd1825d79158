/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile's numbers and texts, put where the layout has them. The traces are not here.
 *
 * Errors: -ENOMEM, or -EIO with HDF5's error stack left for cm_h5_sink_fail(). One at a time.
 */
#ifndef CALLMARK_WRITER_H5_PROFILE_H
#define CALLMARK_WRITER_H5_PROFILE_H

#include <hdf5.h>

#include "collector/profile.h"

/* Attributes of the root, and /metadata. */
int cm_h5_profile_put_root(hid_t file, const struct cm_profile *profile);

/* Attributes and datasets of rank<N>; its regions are not touched. */
int cm_h5_profile_put_rank(hid_t rank, const struct cm_profile *profile);

/*
 * Each of these whose name begins with the prefix as an attribute. The first of two of one name
 * stays; a name that cannot be one is left out.
 */
int cm_h5_profile_put_metas(hid_t group, const struct cm_meta *metas, size_t n, const char *prefix);

/* Attributes and small datasets of one region's group. */
int cm_h5_profile_put_region(hid_t group, const struct cm_profile_region *region);

#endif
