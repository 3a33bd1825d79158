/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sites: the slots through which loaded objects call the functions that the rules name.
 *
 * cm_sites_init() in the constructor, then cm_sites_refresh() whenever objects may have come or
 * gone. Slots are changed with one aligned store; their pages get back exactly the protection they
 * had. Not hook-safe: loader functions are called (their dlerror() state is cleared again).
 */
#ifndef CALLMARK_PRELOAD_SITES_H
#define CALLMARK_PRELOAD_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/object.h"
#include "preload/rules.h"

struct cm_site;

/* A function whose slots get one of our own functions, whatever the rules say. */
struct cm_sites_hook {
	const char *symbol;
	void *function;
};

/* rules and hooks (ended by a NULL symbol) are borrowed for good. -ENOMEM. */
int cm_sites_init(const struct cm_rules *rules, const struct cm_sites_hook *hooks);

/*
 * Patch objects that are new. deeply: they were opened with RTLD_DEEPBIND. may_wait: false when
 * the caller may hold the loader's lock; then a pass of another thread that is under way is asked
 * to look again instead of being waited for (as it is after a second in any case).
 */
void cm_sites_refresh(bool deeply, bool may_wait);

/*
 * The lock of the registry, stubs and sites; false: it could not be had (entries.c). Unlocking
 * publishes the sites from `first_site` on, which were noted meanwhile.
 */
bool cm_sites_lock(bool may_wait);
void cm_sites_unlock(uint32_t first_site);

/*
 * Hold on to an object while its memory is read; *ret_handle is to be closed where it is not NULL,
 * also after false: the object is gone, or somewhere else by now. Sites lock held.
 */
bool cm_sites_pin(const struct cm_object *object, void **ret_handle);

/*
 * What dlsym should return for `address`, found under `symbol` by the object that asked: `address`
 * itself when the lock cannot be had.
 */
void *cm_sites_dlsym(void *address, const char *symbol, const struct cm_object *caller,
		     bool may_wait);

/*
 * sites-note.c: list what was found at a place. may_be_known: it was looked at before, its object
 * has been loaded again. Sites lock held.
 */
void cm_sites_note(const struct cm_site *site, bool may_be_known);

/* The object was closed: what was patched in it is gone. Sites lock held. */
void cm_sites_note_closed(struct cm_object *object);

/*
 * sites-mpi.c: does the caller define a Fortran binding of the MPI function that it calls here, for
 * a rule on MPI_*? The call was counted when the binding was called. Sites lock held.
 */
bool cm_sites_is_mpi_binding(const struct cm_site *site, const struct cm_object *caller);

/*
 * sites-resolve.c: has a slot of this object, which is not for calls, the function's address? Then
 * it may compare that with what dlsym says: Ruby asks each extension for a function of libruby.
 */
bool cm_sites_has_address(const struct cm_object *object, const void *address);

/* sites-resolve.c: what the loader has bound, or would bind, this slot to; NULL: nothing. */
void *cm_sites_resolve(const struct cm_object *object, const Elf64_Rela *rela, uint64_t plt_idx);

#endif
