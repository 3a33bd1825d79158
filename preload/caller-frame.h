/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many words of stack can a call have passed? No more than its caller's frame holds.
 *
 * The unwind table (.eh_frame) tells the size of that frame for each return address, so that most
 * thunks copy a few words, or none, instead of a default that suits all. A tail call is no
 * exception: its arguments lie where its caller's did, in the frame that is returned to.
 *
 * hook-safe: no lock, no libc, reads only tables of the object whose code is making the call.
 */
#ifndef CALLMARK_PRELOAD_CALLER_FRAME_H
#define CALLMARK_PRELOAD_CALLER_FRAME_H

#include <stdint.h>

#define CM_CALLER_SLOTS 4096u /* known to thunk-x86_64.S */
/* As numbers of words more than any rule asks for. */
#define CM_CALLER_BY_RBP 0xfffeu  /* up to the caller's frame pointer */
#define CM_CALLER_UNKNOWN 0xffffu /* no table, hand-written code, a frame of varying size */

/* Return address << 16 | words; 0: free. Two sites that share a slot: the first one keeps it. */
extern _Atomic uint64_t cm_caller_frames[CM_CALLER_SLOTS];

/* Words from the call's return address to the end of its caller's frame; even; remembered. */
uint32_t cm_caller_find(uint64_t return_address);

/* Forget everything: code has been unmapped or mapped. */
void cm_caller_reset(void);

#endif
