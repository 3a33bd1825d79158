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

#include "preload/object.h"
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
	uint64_t n_changes; /* of the loaded objects, when it was looked up */
	uintptr_t low;	    /* the object's load address */
	uintptr_t (*get_register)(void *context, int number);
	uintptr_t (*get_ip)(void *context);
};

/*
 * Those used last. Threads that all unwind for the first time meet here: a reader takes a copy that
 * no writer has touched meanwhile, or looks for itself; one that finds another writing keeps
 * nothing.
 */
#define CM_N_KNOWN 4
static struct unwinder known[CM_N_KNOWN];
static _Atomic uint32_t n_writes; /* begun and ended: odd while one is under way */

int cm_personality(int version, int actions, uint64_t class, void *exception, void *context);

static bool recall(uintptr_t low, struct unwinder *ret_unwinder)
{
	uint32_t before = atomic_load_explicit(&n_writes, memory_order_acquire);
	bool found = false;

	for (int i = 0; i < CM_N_KNOWN && !found; i++) {
		*ret_unwinder = *(volatile struct unwinder *)&known[i];
		found = ret_unwinder->low == low &&
			ret_unwinder->n_changes == cm_object_n_changes();
	}
	atomic_thread_fence(memory_order_acquire);
	return found && !(before & 1) &&
	       before == atomic_load_explicit(&n_writes, memory_order_relaxed);
}

static void remember(const struct unwinder *unwinder)
{
	uint32_t n = atomic_load_explicit(&n_writes, memory_order_relaxed);

	if (n & 1 || !atomic_compare_exchange_strong_explicit(
			     &n_writes, &n, n + 1, memory_order_acq_rel, memory_order_relaxed))
		return;
	*(volatile struct unwinder *)&known[n / 2 % CM_N_KNOWN] = *unwinder;
	atomic_store_explicit(&n_writes, n + 2, memory_order_release);
}

/* Functions of the object that contains `address`. */
static bool find_unwinder(const void *address, struct unwinder *ret_unwinder)
{
	uint64_t n_changes = cm_object_n_changes();
	Dl_info info;
	void *handle;

	if (!dladdr(address, &info) || !info.dli_fname)
		return false;
	if (!recall((uintptr_t)info.dli_fbase, ret_unwinder)) {
		*ret_unwinder =
			(struct unwinder){.n_changes = n_changes, .low = (uintptr_t)info.dli_fbase};
		handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		if (handle) {
			*(void **)&ret_unwinder->get_register = dlsym(handle, "_Unwind_GetGR");
			*(void **)&ret_unwinder->get_ip = dlsym(handle, "_Unwind_GetIP");
			(void)dlclose(handle); /* it is mapped: it is running */
		}
		(void)dlerror(); /* ours, not the program's */
		remember(ret_unwinder);
	}
	return ret_unwinder->get_ip && ret_unwinder->get_register;
}

int cm_personality(int version, int actions, uint64_t class, void *exception, void *context)
{
	struct unwinder unwinder;
	uintptr_t ip;

	(void)class;
	(void)exception;
	if (version != 1 || !(actions & CM_UNWIND_CLEANUP_PHASE))
		return CM_UNWIND_CONTINUE;
	if (!find_unwinder(__builtin_return_address(0), &unwinder))
		return CM_UNWIND_CONTINUE;
	/* Only there may the frame hold a call; asynchronous cancellation can hit elsewhere. */
	ip = unwinder.get_ip(context);
	if (is_live(ip))
		cm_record_unwound((struct cm_frame *)(unwinder.get_register(context, CM_DWARF_RBP) -
						      CM_FRAME_BELOW_RBP));
	return CM_UNWIND_CONTINUE;
}
