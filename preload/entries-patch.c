/* SPDX-License-Identifier: BSD-3-Clause */
/* Code that is written: near an object, and over the first bytes of its functions. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/entries.h"
#include "preload/maps.h"
#include "preload/stub.h"
#include "preload/syscall.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define CM_REACH (UINT64_C(0x7fff0000)) /* of a 32-bit displacement, with room to spare */
#define CM_LOWEST UINT64_C(0x10000)	/* the kernel lets nobody map below */

extern const char cm_thunk_entry[];

uint32_t cm_entries_near_bytes(const struct cm_site_function *function)
{
	return function->how == CM_SITE_HOW_REFUSED
		       ? 0
		       : (CM_NEAR_LEAD_BYTES + function->n_moved + 15u) / 16 * 16;
}

/* To the thunk, with the stub in r11, whose value waits where the thunk's frame will have it. */
static void write_lead(uint8_t *at, const struct cm_stub *stub, const uint8_t *head)
{
	uint64_t address = (uint64_t)stub;
	int32_t distance;

	memcpy(at, "\x4c\x89\x5c\x24\xb0", 5); /* mov %r11,-80(%rsp) */
	memcpy(at + 5, "\x49\xbb", 2);	       /* movabs $stub,%r11 */
	memcpy(at + 7, &address, 8);
	memcpy(at + 15, "\x3e\xff\x25", 3); /* notrack jmp *head(%rip) */
	distance = (int32_t)(head - (at + 22));
	memcpy(at + 18, &distance, 4);
	memset(at + 22, 0xcc, CM_NEAR_LEAD_BYTES - 22);
}

static void write_moved(uint8_t *at, const struct cm_site_function *function, uint64_t base)
{
	memcpy(at, function->moved, function->n_moved);
	for (unsigned int i = 0; i < function->n_fixups; i++) {
		const struct cm_site_fixup *fixup = &function->fixups[i];
		uint64_t target = base + fixup->target;
		int32_t distance = (int32_t)(target - (uint64_t)(at + fixup->at + fixup->tail));

		if (fixup->kind == CM_SITE_FIXUP_ABS64)
			memcpy(at + fixup->at, &target, 8);
		else
			memcpy(at + fixup->at, &distance, 4);
	}
}

uint32_t cm_entries_write_near(uint8_t *near, const struct cm_site_function *function,
			       uint64_t base, const struct cm_stub *stub, uint8_t *head)
{
	uint64_t thunk = (uint64_t)cm_thunk_entry;

	memcpy(head, &thunk, sizeof(thunk));
	write_lead(near, stub, head);
	write_moved(near + CM_NEAR_LEAD_BYTES, function, base);
	return cm_entries_near_bytes(function);
}

/* Where they lie in one aligned word, with one store: other threads see all of them or none. */
static void store(uint64_t address, const uint8_t *bytes, size_t n)
{
	uint64_t word, *aligned = (uint64_t *)(address & ~UINT64_C(7));
	size_t at = address & 7;

	if (at + n > 8) {
		memcpy((void *)address, bytes, n);
		return;
	}
	word = *aligned;
	memcpy((uint8_t *)&word + at, bytes, n);
	__atomic_store_n(aligned, word, __ATOMIC_RELEASE);
}

static void store_jump(uint64_t address, const uint8_t *target)
{
	int32_t distance = (int32_t)((uint64_t)target - (address + CM_SITE_JUMP_BYTES));
	uint8_t jump[CM_SITE_JUMP_BYTES] = {0xe9};

	memcpy(jump + 1, &distance, 4);
	store(address, jump, sizeof(jump));
}

void cm_entries_write_jump(const struct cm_site_function *function, uint64_t base,
			   const uint8_t *near)
{
	const uint8_t short_jump[CM_SITE_SHORT_BYTES] = {
		0xeb, (uint8_t)(function->pad - function->place - CM_SITE_SHORT_BYTES)};

	switch (function->how) {
	case CM_SITE_HOW_JUMP:
		store_jump(base + function->place, near);
		break;
	case CM_SITE_HOW_SHORT:
		store_jump(base + function->pad, near);
		store(base + function->place, short_jump, sizeof(short_jump));
		break;
	case CM_SITE_HOW_TRAP:
		store(base + function->place, (const uint8_t *)"\xcc", 1);
		break;
	default:
		break;
	}
}

bool cm_entries_are_as_expected(const struct cm_object *object,
				const struct cm_site_function *function)
{
	uint64_t place = object->base + function->place, pad = object->base + function->pad;

	if (!cm_object_has_code(object, place) ||
	    !cm_object_has_code(object, place + function->n_expected - 1) ||
	    memcmp((const void *)place, function->expected, function->n_expected))
		return false;
	return function->how != CM_SITE_HOW_SHORT ||
	       (cm_object_has_code(object, pad) &&
		cm_object_has_code(object, pad + function->n_pad - 1) &&
		!memcmp((const void *)pad, function->expected_pad, function->n_pad));
}

/*
 * What was changed and is given back: the program may have made some of its code writable itself.
 * Sites lock held.
 */
#define CM_MAX_OPENED 256
static struct cm_mapping opened[CM_MAX_OPENED];
static int n_opened;

static int open_mapping(const struct cm_mapping *mapping)
{
	if (mapping->prot & PROT_WRITE)
		return 0;
	if (n_opened == CM_MAX_OPENED)
		return -ENOMEM;
	opened[n_opened++] = *mapping;
	return (int)cm_sys3(SYS_mprotect, (long)mapping->low, (long)(mapping->high - mapping->low),
			    mapping->prot | PROT_WRITE);
}

int cm_entries_open_code(const struct cm_object *object)
{
	int rc = 0;

	n_opened = 0;
	for (int i = 0; i < object->n_texts && rc >= 0; i++) {
		uint64_t at = object->texts[i].low & ~UINT64_C(4095);
		uint64_t end = (object->texts[i].high + 4095) & ~UINT64_C(4095);

		while (rc >= 0 && at < end) {
			struct cm_mapping mapping;

			rc = cm_maps_find(at, &mapping);
			if (rc < 0)
				break;
			mapping.low = at;
			mapping.high = mapping.high < end ? mapping.high : end;
			rc = open_mapping(&mapping);
			at = mapping.high;
		}
	}
	return rc;
}

void cm_entries_close_code(void)
{
	/* As it was a moment ago; a policy that refuses just that leaves it writable. */
	for (int i = 0; i < n_opened; i++)
		(void)cm_sys3(SYS_mprotect, (long)opened[i].low,
			      (long)(opened[i].high - opened[i].low), opened[i].prot);
}

const char *cm_entries_policy(void)
{
	if (cm_sys3(SYS_prctl, CM_GET_MDWE, 0, 0) > 0)
		return "protected: PR_SET_MDWE lets nobody change or make code";
	if (cm_sys3(SYS_prctl, PR_GET_SECCOMP, 0, 0) > 0)
		return "protected: a seccomp filter (such as systemd's MemoryDenyWriteExecute) "
		       "lets nobody change or make code";
	return "protected: the system (SELinux's execmod and execmem, or another policy) lets "
	       "nobody change or make code";
}

uint8_t *cm_entries_near_memory(const struct cm_object *object, uint64_t n_bytes)
{
	uint64_t low = object->high > CM_REACH + CM_LOWEST ? object->high - CM_REACH : CM_LOWEST;
	uint64_t address = 0;
	long rc = -ENOMEM;

	/* Below the object, where a program's heap does not grow to; else anywhere in reach. */
	for (int side = 0; side < 2; side++) {
		int found =
			side ? cm_maps_gap(object->high, object->low + CM_REACH, n_bytes, &address)
			     : cm_maps_gap(low, object->low, n_bytes, &address);

		if (found < 0)
			continue;
		rc = cm_sys6(SYS_mmap, (long)address, (long)n_bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (rc == (long)address)
			return (uint8_t *)address;
		if (rc > 0) /* a kernel that takes the flag for a hint */
			(void)cm_sys3(SYS_munmap, rc, (long)n_bytes, 0);
	}
	return NULL;
}

int cm_entries_seal_near(uint8_t *near, uint64_t n_bytes)
{
	return (int)cm_sys3(SYS_mprotect, (long)near, (long)n_bytes, PROT_READ | PROT_EXEC);
}
