/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do the elements of a dataset of variable strings lead to objects in heaps?
 *
 * They are references (length, address of a collection, number of an object), and no checksum
 * protects them where the data of the dataset stand by themselves. HDF5 1.10 takes any number for
 * that of an object, makes room for any length, and copies an object of any size there.
 * Format: HDF5 File Format Specification, III.E and IV.A.2.d, with 8-byte addresses. Not checked:
 * chunks, which may be compressed. One thread at a time.
 */
#ifndef CALLMARK_WRITER_H5_REFERENCES_H
#define CALLMARK_WRITER_H5_REFERENCES_H

#include <stdint.h>

#include <hdf5.h>

/* The first n elements; the file was opened by cm_h5_open_file(). -EINVAL, or another negative
 * errno. */
int cm_h5_check_references(hid_t set, uint64_t n);

#endif
