/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thunk's personality routine: an exception, pthread_exit or cancellation passes through.
 *
 * It closes the call in the cleanup phase and lets the unwinder go on; it never stops it. The
 * _Unwind_* functions come from whichever object is unwinding (the program may bring its own),
 * because a context may only be given to the library that made it. Without them the call stays
 * open until a later call on this stack finds it left behind.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/record.h"

/* As the C++ ABI fixes them; <unwind.h> would be the compiler's, not the unwinder's. */
#define CM_UNWIND_CLEANUP_PHASE 2
#define CM_UNWIND_CONTINUE 8
#define CM_DWARF_RBP 6
#define CM_FRAME_BELOW_RBP 96

extern const char cm_thunk_live_begin[], cm_thunk_live_end[];
extern const char cm_thunk_entry_live_begin[], cm_thunk_entry_live_end[];

/* Where a thunk's frame holds a call. */
static bool is_live(uintptr_t ip)
{
	return (ip >= (uintptr_t)cm_thunk_live_begin && ip <= (uintptr_t)cm_thunk_live_end) ||
	       (ip >= (uintptr_t)cm_thunk_entry_live_begin &&
		ip <= (uintptr_t)cm_thunk_entry_live_end);
}

struct unwinder {
	_Atomic uintptr_t low; /* the object's load address; 0: entry unused */
	uintptr_t (*get_register)(void *context, int number);
	uintptr_t (*get_ip)(void *context);
};
static struct unwinder unwinders[4];
static _Atomic uint32_t n_unwinders;

int cm_personality(int version, int actions, uint64_t class, void *exception, void *context);

/* Functions of the object that contains `address`, looked up once an object. */
static const struct unwinder *find_unwinder(const void *address)
{
	uint32_t n = atomic_load_explicit(&n_unwinders, memory_order_acquire);
	struct unwinder found = {0};
	Dl_info info;
	void *handle;

	if (!dladdr(address, &info) || !info.dli_fname)
		return NULL;
	for (uint32_t i = 0; i < n && i < 4; i++)
		if (unwinders[i].low == (uintptr_t)info.dli_fbase)
			return unwinders[i].get_ip && unwinders[i].get_register ? &unwinders[i]
										: NULL;
	handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		*(void **)&found.get_register = dlsym(handle, "_Unwind_GetGR");
		*(void **)&found.get_ip = dlsym(handle, "_Unwind_GetIP");
		(void)dlclose(handle); /* it is mapped: it is running */
	}
	(void)dlerror(); /* ours, not the program's */
	n = atomic_fetch_add_explicit(&n_unwinders, 1, memory_order_acq_rel);
	if (n >= 4)
		return NULL;
	unwinders[n].get_register = found.get_register;
	unwinders[n].get_ip = found.get_ip;
	atomic_store_explicit(&unwinders[n].low, (uintptr_t)info.dli_fbase, memory_order_release);
	return found.get_ip && found.get_register ? &unwinders[n] : NULL;
}

int cm_personality(int version, int actions, uint64_t class, void *exception, void *context)
{
	const struct unwinder *unwinder;
	uintptr_t ip;

	(void)class;
	(void)exception;
	if (version != 1 || !(actions & CM_UNWIND_CLEANUP_PHASE))
		return CM_UNWIND_CONTINUE;
	unwinder = find_unwinder(__builtin_return_address(0));
	if (!unwinder)
		return CM_UNWIND_CONTINUE;
	/* Only there may the frame hold a call; asynchronous cancellation can hit elsewhere. */
	ip = unwinder->get_ip(context);
	if (is_live(ip))
		cm_record_unwound(
			(struct cm_frame *)(unwinder->get_register(context, CM_DWARF_RBP) -
					    CM_FRAME_BELOW_RBP));
	return CM_UNWIND_CONTINUE;
}
