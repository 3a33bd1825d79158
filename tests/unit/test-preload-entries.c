/* SPDX-License-Identifier: BSD-3-Clause */
/* What is written near an object and over its functions; gaps between mappings; threads. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/entries.h"
#include "preload/maps.h"
#include "preload/stub.h"

#define PAGE 4096

static int32_t get32(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

Test(entries, near_code_leads_to_the_thunk_and_back)
{
	static uint8_t head[512] __attribute__((aligned(16)));
	struct cm_site_function function = {
		.how = CM_SITE_HOW_JUMP,
		.n_moved = 20,
		.n_fixups = 2,
		.moved = {0x48, 0x8b, 0x05, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0},
		.fixups = {{.at = 3, .kind = CM_SITE_FIXUP_REL32, .tail = 4, .target = 0x2000},
			   {.at = 12, .kind = CM_SITE_FIXUP_ABS64, .target = 0x1234}}};
	uint64_t base = (uint64_t)head - 0x10000, address;
	uint8_t *near = head + CM_NEAR_HEAD_BYTES, *moved = near + CM_NEAR_LEAD_BYTES;
	struct cm_stub *stub = &cm_stubs[5];

	cr_assert_eq(cm_entries_near_bytes(&function), 64u);
	cr_assert_eq(cm_entries_write_near(near, &function, base, stub, head), 64u);
	memcpy(&address, near + 7, sizeof(address));
	cr_assert_eq(address, (uint64_t)stub);
	cr_assert_eq(near + 22 + get32(near + 18), head);
	cr_assert_eq(moved + 7 + get32(moved + 3), (uint8_t *)base + 0x2000);
	memcpy(&address, moved + 12, sizeof(address));
	cr_assert_eq(address, base + 0x1234);
	function.how = CM_SITE_HOW_REFUSED;
	cr_assert_eq(cm_entries_near_bytes(&function), 0u);
}

Test(entries, a_jump_replaces_five_bytes_wherever_they_stand)
{
	for (uint64_t at = 0; at < 16; at++) {
		uint8_t code[64] __attribute__((aligned(16))), before[64];
		struct cm_site_function function = {.how = CM_SITE_HOW_JUMP, .place = at};

		memset(code, 0x90, sizeof(code));
		memcpy(before, code, sizeof(code));
		cm_entries_write_jump(&function, (uint64_t)code, code + 48);
		cr_assert_eq(code[at], 0xe9);
		cr_assert_eq(code + at + 5 + get32(code + at + 1), code + 48);
		memcpy(code + at, before + at, 5);
		cr_assert_arr_eq(code, before, sizeof(code));
	}
}

Test(entries, a_short_jump_goes_to_the_pad_behind_or_before)
{
	uint8_t code[64] = {0};
	struct cm_site_function function = {.how = CM_SITE_HOW_SHORT, .place = 32, .pad = 40};

	cm_entries_write_jump(&function, (uint64_t)code, code);
	cr_assert_eq(code[32], 0xeb);
	cr_assert_eq(34 + (int8_t)code[33], 40);
	cr_assert_eq(code + 45 + get32(code + 41), code);
	function.pad = 27;
	cm_entries_write_jump(&function, (uint64_t)code, code);
	cr_assert_eq(34 + (int8_t)code[33], 27);
	function.how = CM_SITE_HOW_TRAP;
	cm_entries_write_jump(&function, (uint64_t)code, code);
	cr_assert_eq(code[32], 0xcc);
}

Test(maps, the_highest_gap_is_found)
{
	char *area = mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t low = (uint64_t)area, high = low + 64 * PAGE, address = 0;

	cr_assert_neq(area, MAP_FAILED);
	cr_assert_lt(cm_maps_gap(low, high, PAGE, &address), 0);
	cr_assert_eq(munmap(area + 8 * PAGE, 4 * PAGE), 0);
	cr_assert_eq(munmap(area + 32 * PAGE, 8 * PAGE), 0);
	cr_assert_eq(cm_maps_gap(low, high, 3 * PAGE, &address), 0);
	cr_assert_eq(address, low + 36 * PAGE); /* a page stays free above it */
	cr_assert_eq(cm_maps_gap(low, low + 16 * PAGE, 3 * PAGE, &address), 0);
	cr_assert_eq(address, low + 8 * PAGE);
	cr_assert_lt(cm_maps_gap(low, low + 16 * PAGE, 4 * PAGE, &address), 0);
	cr_assert_lt(cm_maps_gap(low, high, 8 * PAGE, &address), 0);
}

static void *wait_for_end(void *arg)
{
	(void)pthread_barrier_wait(arg);
	(void)pthread_barrier_wait(arg);
	return NULL;
}

Test(entries, a_thread_that_has_come_is_seen)
{
	struct cm_tasks tasks;
	pthread_barrier_t barrier;
	pthread_t id;
	int n;

	cm_tasks_list(&tasks);
	n = tasks.n; /* Criterion may have threads */
	cr_assert_geq(n, 1);
	cr_assert_eq(tasks.tids[0], getpid());
	cr_assert_not(cm_tasks_have_come(&tasks));
	cr_assert_eq(pthread_barrier_init(&barrier, NULL, 2), 0);
	cr_assert_eq(pthread_create(&id, NULL, wait_for_end, &barrier), 0);
	(void)pthread_barrier_wait(&barrier);
	cr_assert(cm_tasks_have_come(&tasks));
	cm_tasks_list(&tasks);
	cr_assert_eq(tasks.n, n + 1);
	if (n == 1)
		cr_assert(cm_tasks_all_wait(10000));
	(void)pthread_barrier_wait(&barrier);
	cr_assert_eq(pthread_join(id, NULL), 0);
	cr_assert_not(cm_tasks_have_come(&tasks));
	tasks.n = -1; /* not known */
	cr_assert(cm_tasks_have_come(&tasks));
}

static void *pause_for_ever(void *arg)
{
	for (;;)
		(void)pause(); /* no handler runs here */
	return arg;
}

Test(entries, a_thread_that_the_kernel_may_wake_is_not_waiting)
{
	pthread_t id;

	cr_assert_eq(pthread_create(&id, NULL, pause_for_ever, NULL), 0);
	cr_assert_not(cm_tasks_all_wait(20));
}
