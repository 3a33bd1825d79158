/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stubs, regions and sites: what an intercepted call looks up.
 *
 * A stub is 16 bytes of preassembled code that loads its index and jumps to the thunk; the table
 * entry with that index says which original to call and which region it is. One stub serves one
 * (rule, region, original): two versions of a symbol never share one, and none is used again
 * after its object was closed. Tables only grow; entries are complete before a slot points to them.
 * Writers hold the sites lock; readers are the hooks.
 */
#ifndef CALLMARK_PRELOAD_STUB_H
#define CALLMARK_PRELOAD_STUB_H

#include <stdatomic.h>
#include <stdint.h>

#include "preload/rules.h"
#include "preload/spool.h"

#define CM_N_STUBS 65536u
#define CM_STUB_BYTES 16u

/* The thunk, which looks at the sign, asks cm_stub_learn() first. */
#define CM_STUB_NEW 0x80000000u

/* Offsets are known to thunk-x86_64.S. */
struct cm_stub {
	void *original; /* what to call: the function, or what its patched entry leads to */
	uint32_t region;
	uint32_t n_stack_words; /* of the caller's stack arguments, to copy at most; even; or
				   CM_STUB_NEW */
};
_Static_assert(sizeof(struct cm_stub) == 16, "thunk-x86_64.S shifts by 4");

extern struct cm_stub cm_stubs[CM_N_STUBS];
extern const char cm_stub_code[]; /* CM_N_STUBS times CM_STUB_BYTES */

struct cm_region {
	const char *tag;
	uint32_t rule;
	uint32_t next;		    /* hash chain, index + 1 */
	uint64_t max_events;	    /* 0 none, UINT64_MAX all */
	_Atomic int64_t quota_left; /* calls of this process that may still be traced */
	uint64_t sample;	    /* a marker for one call in so many; 0: none */
	_Atomic uint64_t n_sampled; /* calls that were asked for one */
	_Atomic uint32_t marker;    /* index + 1 in cm_marker_table; 0: none yet */
	uint32_t callers;	    /* frames of call path; 0: none */
};
extern struct cm_region *cm_regions; /* [CM_SPOOL_MAX_REGIONS] */
extern _Atomic uint32_t cm_n_regions;

struct cm_site {
	const struct cm_rule *rule;
	uint32_t region;   /* UINT32_MAX when refused */
	uint16_t kind;	   /* enum cm_site_kind */
	uint16_t state;	   /* enum cm_site_state */
	uint32_t n_closed; /* times its object was closed */
	const char *symbol, *version, *object, *library, *reason;
};
extern struct cm_site *cm_sites;
extern _Atomic uint32_t cm_n_sites;

/* Tables for stubs, regions and sites. -ENOMEM. Init only. */
int cm_stub_init(void);

/* Code address for (rule, symbol, original), made if need be; NULL: all stubs or regions spent. */
void *cm_stub_get(const struct cm_rule *rule, const char *symbol, const char *demangled,
		  const char *library, void *original, uint32_t *ret_region);

/*
 * The first call: see how many words of stack arguments the function takes. hook-safe: no lock, no
 * libc; several threads may do it at once.
 */
void cm_stub_learn(struct cm_stub *stub);

/* Is this the address of one of our stubs? Any thread. */
bool cm_stub_is(const void *address);

/* The entry of the stub at this address. */
struct cm_stub *cm_stub_of(const void *code);

/* The function behind the stub at this address; any other address is returned as it is. */
const void *cm_stub_original(const void *address);

/* How many stubs there are, and the function that one stands for. */
uint32_t cm_stub_count(void);
const void *cm_stub_function(uint32_t idx);

/* Remember a site for the process file. Strings must live as long as the process. */
void cm_stub_note_site(const struct cm_site *site);

/* Where calls of the function have to go from now on: its entry was patched. Sites lock held. */
void cm_stub_redirect(const void *function, void *target);

/* Give every region its whole quota back (a forked child starts afresh). */
void cm_stub_reset_quotas(void);

#endif
