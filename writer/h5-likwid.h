/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hardware counters into the file: the group likwid of a rank, and the rank's attributes about it.
 *
 * Errors: -ENOMEM, or -EIO with HDF5's error stack left for cm_h5_sink_fail(). One at a time.
 */
#ifndef CALLMARK_WRITER_H5_LIKWID_H
#define CALLMARK_WRITER_H5_LIKWID_H

#include <hdf5.h>

#include "collector/profile.h"

/* Nothing but the attributes where the profile has no counters. */
int cm_h5_likwid_put(hid_t rank, const struct cm_profile *profile);

#endif
