/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Using HDF5 in a program that may use it too (libcallmark.so): what we set for the whole process
 * is set back afterwards.
 *
 *	cm_h5_guest_enter();
 *	... anything of writer/ ...
 *	cm_h5_guest_leave();
 *
 * The error printer and the loading of filter plugins are the program's again after leave, and HDF5
 * cleans up at exit as it does without us. Do not nest. One thread at a time.
 */
#ifndef CALLMARK_WRITER_H5_GUEST_H
#define CALLMARK_WRITER_H5_GUEST_H

void cm_h5_guest_enter(void);
void cm_h5_guest_leave(void);

#endif
