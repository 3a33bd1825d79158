/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects that the registry does not list: one whose constructors are running (it is looked at when
 * dlopen has returned), and those of other namespaces. Found without the loader, whose lock may be
 * held by anybody: what is mapped at the address belongs to a file that begins with an ELF header.
 *
 * hook-safe, with system calls. The object must stay mapped meanwhile: one of its functions is
 * being executed by the calling thread.
 */
#ifndef CALLMARK_PRELOAD_UNLISTED_H
#define CALLMARK_PRELOAD_UNLISTED_H

#include <stdint.h>

/* .eh_frame_hdr of the object around a code address; NULL: none, or it has none. */
const uint8_t *cm_unlisted_table(uint64_t pc);

#endif
