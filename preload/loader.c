/* SPDX-License-Identifier: BSD-3-Clause */
/* What the loader's entry points do for the program, and then look for new or closed objects. */
#include "preload/loader.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/counters.h"
#include "preload/entries.h"
#include "preload/sites.h"
#include "preload/stub.h"

void *cm_loader_dlsym_handle(void *handle, const char *symbol);
void *cm_loader_dlvsym_handle(void *handle, const char *symbol, const char *version);

/* > 0 while a dlopen of this thread runs constructors, that is, holds the loader's lock. */
static __thread int depth __attribute__((tls_model("initial-exec")));

static void *open_plainly(const char *file, int flags, const void *caller)
{
	void *handle;

	depth++;
	handle = cm_loader_open_for(file, flags, caller);
	depth--;
	if (handle && file && !(flags & RTLD_NOLOAD))
		cm_sites_refresh(flags & RTLD_DEEPBIND, !depth);
	return handle;
}

/* Apart, for the room that this takes on the stack. */
static __attribute__((noinline)) void *open_with_entries(const char *file, int flags,
							 const void *caller)
{
	struct cm_opening opening;
	void *handle;

	cm_danger_opening(&opening);
	handle = open_plainly(file, flags, caller);
	cm_entries_refresh(&opening, !depth);
	return handle;
}

void *cm_loader_dlopen(const char *file, int flags)
{
	void *handle;

	if (cm_entries_are_used)
		handle = open_with_entries(file, flags, __builtin_return_address(0));
	else
		handle = open_plainly(file, flags, __builtin_return_address(0));
	if (handle && !depth)
		cm_counters_start();
	return handle;
}

int cm_loader_dlclose(void *handle)
{
	int rc;

	depth++;
	rc = dlclose(handle);
	depth--;
	if (!rc)
		cm_sites_refresh(false, !depth);
	if (!rc && cm_entries_are_used)
		cm_entries_refresh(NULL, !depth);
	return rc;
}

/* A region that is called through such pointers only needs its markers from here on. */
static void *stub_of(void *address, const char *symbol, const struct cm_object *caller)
{
	void *found = address ? cm_sites_dlsym(address, symbol, caller, !depth) : NULL;

	if (found != address && !depth)
		cm_counters_start();
	return found;
}

void *cm_loader_dlsym_handle(void *handle, const char *symbol)
{
	const struct cm_object *caller = cm_object_of(__builtin_return_address(0));

	return stub_of(dlsym(handle, symbol), symbol, caller);
}

void *cm_loader_dlvsym_handle(void *handle, const char *symbol, const char *version)
{
	const struct cm_object *caller = cm_object_of(__builtin_return_address(0));

	return stub_of(dlvsym(handle, symbol, version), symbol, caller);
}

/*
 * A pointer that dlsym has handed out is asked about: who defines it is not us, and as dlsym says
 * it is where the function starts.
 */
static void answer(const void *address, const void *original, Dl_info *info)
{
	if (original != address && info->dli_saddr == original)
		info->dli_saddr = (void *)address;
}

int cm_loader_dladdr(const void *address, Dl_info *ret_info)
{
	const void *original = cm_stub_original(address);
	int rc = dladdr(original, ret_info);

	if (rc)
		answer(address, original, ret_info);
	return rc;
}

int cm_loader_dladdr1(const void *address, Dl_info *ret_info, void **ret_extra, int flags)
{
	const void *original = cm_stub_original(address);
	int rc = dladdr1(original, ret_info, ret_extra, flags);

	if (rc)
		answer(address, original, ret_info);
	return rc;
}
