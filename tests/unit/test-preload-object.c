/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded objects: symbols and versions as the loader finds them, mappings, uses of slots. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/caller-frame.h"
#include "preload/maps.h"
#include "preload/object.h"
#include "preload/slot-use.h"

static const struct cm_object *find_object(const char *name)
{
	(void)cm_object_refresh();
	for (uint32_t i = 0; i < cm_object_count(); i++)
		if (!strcmp(cm_object_at(i)->name, name))
			return cm_object_at(i);
	return NULL;
}

Test(object, knows_libc_and_that_the_first_object_is_the_program)
{
	const struct cm_object *libc = find_object("libc.so.6");

	cr_assert_not_null(libc);
	cr_assert(cm_object_at(0)->is_main);
	cr_assert_not(libc->is_main);
	cr_assert_eq(cm_object_of((void *)strlen) ? 1 : 0, 1);
	cr_assert(cm_object_has_code(libc, (uint64_t)dlsym(RTLD_DEFAULT, "getpid")));
	cr_assert_null(cm_object_of((void *)1));
}

Test(object, finds_the_version_that_a_reference_names)
{
	const struct cm_object *libc = find_object("libc.so.6");
	const Elf64_Sym *old = cm_object_find(libc, "realpath", "GLIBC_2.2.5");
	const Elf64_Sym *new = cm_object_find(libc, "realpath", "GLIBC_2.3");
	void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	cr_assert_not_null(handle);
	cr_assert_not_null(old);
	cr_assert_not_null(new);
	cr_assert_neq(old->st_value, new->st_value);
	cr_assert_eq(cm_object_address(libc, old), dlvsym(handle, "realpath", "GLIBC_2.2.5"));
	cr_assert_eq(cm_object_address(libc, new), dlvsym(handle, "realpath", "GLIBC_2.3"));
	cr_assert_eq(dlclose(handle), 0);
}

Test(object, gives_a_reference_without_version_the_base_definition)
{
	const struct cm_object *libc = find_object("libc.so.6");
	const Elf64_Sym *base = cm_object_find(libc, "realpath", "");

	cr_assert_not_null(base);
	cr_assert_eq(base, cm_object_find(libc, "realpath", "GLIBC_2.2.5"));
	cr_assert_neq(cm_object_address(libc, base), dlsym(RTLD_DEFAULT, "realpath"));
}

Test(object, resolves_an_ifunc_to_what_the_loader_chose)
{
	const struct cm_object *libc = find_object("libc.so.6");
	const Elf64_Sym *symbol = cm_object_find(libc, "strcspn", NULL);
	void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD); /* sanitizers have their own */

	cr_assert_not_null(symbol);
	cr_assert_not_null(handle);
	cr_assert_eq(ELF64_ST_TYPE(symbol->st_info), STT_GNU_IFUNC);
	cr_assert_eq(cm_object_address(libc, symbol), dlsym(handle, "strcspn"));
	cr_assert_eq(dlclose(handle), 0);
}

Test(object, knows_every_address_of_what_was_there_at_the_start_and_of_what_came_later)
{
	void *handle, *function;

	(void)cm_object_refresh();
	for (uint32_t i = 0; i < cm_object_count(); i++) {
		const struct cm_object *object = cm_object_at(i);

		cr_assert_eq(cm_object_of((void *)object->low), object, "%s", object->path);
		cr_assert_eq(cm_object_of((void *)(object->high - 1)), object, "%s", object->path);
		cr_assert_neq(cm_object_of((void *)object->high), object, "%s", object->path);
		cr_assert_neq(cm_object_of((void *)(object->low - 1)), object, "%s", object->path);
	}
	handle = dlopen("libthread_db.so.1", RTLD_LAZY | RTLD_LOCAL);
	cr_assert_not_null(handle);
	function = dlsym(handle, "td_init");
	cr_assert_null(cm_object_of(function));
	(void)cm_object_refresh();
	cr_assert_str_eq(cm_object_of(function)->name, "libthread_db.so.1");
	cr_assert_eq(dlclose(handle), 0);
	(void)cm_object_refresh();
	cr_assert_null(cm_object_of(function));
}

Test(object, finds_for_everybody_what_the_loader_finds)
{
	const struct cm_object *definer = NULL;
	const Elf64_Sym *symbol;

	(void)cm_object_refresh();
	symbol = cm_object_find_global("getpid", "GLIBC_2.2.5", &definer);
	cr_assert_not_null(symbol);
	cr_assert_str_eq(definer->name, "libc.so.6");
	cr_assert_eq(cm_object_address(definer, symbol), dlsym(RTLD_DEFAULT, "getpid"));
	symbol = cm_object_find_global("criterion_initialize", "", &definer);
	cr_assert_not_null(symbol);
	cr_assert_eq(cm_object_address(definer, symbol),
		     dlsym(RTLD_DEFAULT, "criterion_initialize"));
	cr_assert_null(cm_object_find_global("no_such_function", "", &definer));
	cr_assert_null(cm_object_find_global("getpid", "GLIBC_9.9", &definer));
	cr_assert_null(cm_object_find_global("environ", "", &definer), "it is no function");
}

Test(object, finds_for_nobody_else_what_was_opened_locally)
{
	void *handle = dlopen("libthread_db.so.1", RTLD_LAZY | RTLD_LOCAL);
	const struct cm_object *definer = NULL;

	cr_assert_not_null(handle);
	(void)cm_object_refresh(); /* the first look: as if a constructor had opened it */
	cr_assert_not_null(cm_object_of(dlsym(handle, "td_init")));
	cr_assert_null(cm_object_find_global("td_init", "GLIBC_2.2.5", &definer));
	cr_assert_null(cm_object_find_global("td_init", "", &definer));
	cr_assert_eq(dlclose(handle), 0);
}

Test(object, finds_no_data_and_nothing_undefined)
{
	const struct cm_object *libc = find_object("libc.so.6");

	cr_assert_null(cm_object_find(libc, "environ", NULL));
	cr_assert_null(cm_object_find(libc, "no_such_function", NULL));
	cr_assert_null(cm_object_find(libc, "realpath", "GLIBC_9.9"));
}

Test(object, notices_what_dlopen_brings_and_dlclose_takes)
{
	void *handle;
	const struct cm_object *object;

	cr_assert_null(find_object("libBrokenLocale.so.1"));
	handle = dlopen("libBrokenLocale.so.1", RTLD_NOW);
	cr_assert_not_null(handle, "%s", dlerror());
	object = find_object("libBrokenLocale.so.1");
	cr_assert_not_null(object);
	cr_assert_not(object->is_gone);
	cr_assert_eq(dlclose(handle), 0);
	(void)cm_object_refresh();
	cr_assert(object->is_gone);
}

Test(maps, tells_bounds_and_protection)
{
	char *pages = mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct cm_mapping mapping;

	cr_assert_neq(pages, MAP_FAILED);
	cr_assert_eq(mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE), 0);
	cr_assert_eq(cm_maps_find((uint64_t)pages + 4096 + 17, &mapping), 0);
	cr_assert_eq(mapping.low, (uint64_t)pages + 4096);
	cr_assert_eq(mapping.high, (uint64_t)pages + 8192);
	cr_assert_eq(mapping.prot, PROT_READ | PROT_WRITE);
	cr_assert_eq(munmap(pages + 4096, 4096), 0);
	cr_assert_lt(cm_maps_find((uint64_t)pages + 4096, &mapping), 0);
}

/* Code with one instruction at offset 3 that refers to the slot behind it. */
static unsigned int uses_of(const void *instruction, size_t n, size_t n_immediate)
{
	static struct {
		unsigned char code[64];
		uint64_t slot;
	} text __attribute__((aligned(64)));
	uint64_t slot = (uint64_t)&text.slot;
	uint8_t uses = 0;
	int32_t distance = (int32_t)(slot - (uint64_t)(text.code + 3 + n + 4 + n_immediate));

	memset(text.code, 0x90, sizeof(text.code));
	memcpy(text.code + 3, instruction, n);
	memcpy(text.code + 3 + n, &distance, 4);
	cm_slot_use_scan(text.code, sizeof(text.code), (uint64_t)text.code, &slot, &uses, 1);
	return uses;
}

Test(slot_use, tells_calls_from_loads_and_comparisons)
{
	cr_assert_eq(uses_of("\xff\x15", 2, 0), CM_SLOT_CALLED);
	cr_assert_eq(uses_of("\xff\x25", 2, 0), CM_SLOT_JUMPED);
	cr_assert_eq(uses_of("\xff\x35", 2, 0), CM_SLOT_LOADED);
	cr_assert_eq(uses_of("\x48\x8b\x05", 3, 0), CM_SLOT_LOADED);
	cr_assert_eq(uses_of("\x4c\x8b\x3d", 3, 0), CM_SLOT_LOADED);
	cr_assert_eq(uses_of("\xf3\x0f\x7e\x05", 4, 0), CM_SLOT_LOADED);
	cr_assert_eq(uses_of("\x66\x0f\x16\x05", 4, 0), CM_SLOT_LOADED);
	cr_assert_eq(uses_of("\x48\x3b\x05", 3, 0), CM_SLOT_COMPARED);
	cr_assert_eq(uses_of("\x48\x39\x05", 3, 0), CM_SLOT_COMPARED);
	cr_assert_eq(uses_of("\x48\x83\x3d", 3, 1), CM_SLOT_COMPARED);
	cr_assert_eq(uses_of("\x48\x81\x3d", 3, 4), CM_SLOT_COMPARED);
	cr_assert_eq(uses_of("\x48\x8d\x05", 3, 0), 0, "lea is the slot's own address");
}

/* What is done with a slot's value that mov put into rbx, which 48 8b 1d encodes. */
static unsigned int uses_of_loaded(const void *rest, size_t n)
{
	static struct {
		unsigned char code[64];
		uint64_t slot;
	} text __attribute__((aligned(64)));
	uint64_t slot = (uint64_t)&text.slot;
	int32_t distance = (int32_t)(slot - (uint64_t)(text.code + 7));
	uint8_t uses = 0;

	memset(text.code, 0xcc, sizeof(text.code));
	memcpy(text.code, "\x48\x8b\x1d", 3);
	memcpy(text.code + 3, &distance, 4);
	memcpy(text.code + 7, rest, n);
	cm_slot_use_scan(text.code, sizeof(text.code), (uint64_t)text.code, &slot, &uses, 1);
	return uses;
}

Test(slot_use, follows_a_loaded_address)
{
	/* call *%rbx; pop %rbx; ret */
	cr_expect_eq(uses_of_loaded("\xff\xd3\x5b\xc3", 4), CM_SLOT_CALLED);
	/* jmp over one byte; call *%rbx; pop %rbx */
	cr_expect_eq(uses_of_loaded("\xeb\x01\xcc\xff\xd3\x5b", 6), CM_SLOT_CALLED);
	/* call somewhere, which keeps rbx; jmp *%rbx */
	cr_expect_eq(uses_of_loaded("\xe8\x00\x00\x00\x00\xff\xe3", 7), CM_SLOT_CALLED);
	/* mov %rbx, %rdi */
	cr_expect_eq(uses_of_loaded("\x48\x89\xdf\xff\xd3", 5), CM_SLOT_LOADED);
	/* call *%rbx; cmp %rbx, %rax */
	cr_expect_eq(uses_of_loaded("\xff\xd3\x48\x39\xd8", 5), CM_SLOT_LOADED);
	/* mov %rbx, 8(%rsp) */
	cr_expect_eq(uses_of_loaded("\x48\x89\x5c\x24\x08", 5), CM_SLOT_LOADED);
	/* pop %rbx: not used at all */
	cr_expect_eq(uses_of_loaded("\x5b\xc3", 2), CM_SLOT_LOADED);
	cr_expect_eq(uses_of_loaded("\x06", 1), CM_SLOT_LOADED, "no instruction");
}

Test(slot_use, changes_only_slots_that_are_called_and_not_compared)
{
	cr_assert(cm_slot_use_may_change(CM_SLOT_CALLED));
	cr_assert(cm_slot_use_may_change(CM_SLOT_JUMPED));
	cr_assert(cm_slot_use_may_change(CM_SLOT_CALLED | CM_SLOT_JUMPED));
	cr_assert_not(cm_slot_use_may_change(CM_SLOT_CALLED | CM_SLOT_LOADED));
	cr_assert_not(cm_slot_use_may_change(CM_SLOT_LOADED));
	cr_assert_not(cm_slot_use_may_change(CM_SLOT_JUMPED | CM_SLOT_LOADED));
	cr_assert_not(cm_slot_use_may_change(CM_SLOT_CALLED | CM_SLOT_COMPARED));
	cr_assert_not(cm_slot_use_may_change(0));
}

/* Eight words of stack arguments; tells from where it was called. */
__attribute__((noinline)) static uint64_t called_with(long a, long b, long c, long d, long e,
						      long f, long g, long h, long i, long j,
						      long k, long l, long m, long n)
{
	__asm__ volatile("" : : "r"(a + b + c + d + e + f + g + h + i + j + k + l + m + n));
	return (uint64_t)__builtin_return_address(0);
}

Test(caller_frame, holds_at_least_the_arguments_that_were_passed)
{
	uint64_t from = called_with(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
	uint32_t n_words;

	(void)cm_object_refresh();
	n_words = cm_caller_find(from);
	cr_assert_geq(n_words, 8);
	cr_assert_eq(n_words % 2, n_words > CM_CALLER_BY_RBP);
	cr_assert(n_words == CM_CALLER_BY_RBP || n_words < 512, "%u", n_words);
	cr_assert_eq(cm_caller_frames[from % CM_CALLER_SLOTS], from << 16 | n_words);
}

Test(caller_frame, is_unknown_where_there_is_no_table)
{
	cr_assert_eq(cm_caller_find(4096 + 7), CM_CALLER_UNKNOWN);
	cr_assert_eq(cm_caller_find(UINT64_C(1) << 50), CM_CALLER_UNKNOWN);
}

Test(caller_frame, is_forgotten_when_objects_come_or_go)
{
	uint64_t from = called_with(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
	void *handle;

	(void)cm_object_refresh();
	(void)cm_caller_find(from);
	handle = dlopen("libBrokenLocale.so.1", RTLD_NOW);
	cr_assert_not_null(handle);
	(void)cm_object_refresh();
	cr_assert_eq(cm_caller_frames[from % CM_CALLER_SLOTS], 0);
	cr_assert_eq(dlclose(handle), 0);
}
