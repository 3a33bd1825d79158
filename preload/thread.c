/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread's first recorded call, and what becomes of slots whose thread has ended.
 *
 * Nothing tells us that a thread ends (a pthread key would be visible to the program): its ring
 * stays where readers find it, and the next new thread that needs a slot looks for a dead one.
 */
#include "preload/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "preload/clock.h"
#include "preload/maps.h"
#include "preload/markers.h"
#include "preload/process.h"
#include "preload/record.h"
#include "preload/say.h"
#include "preload/syscall.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif
/* The kernel keeps at least this much below the stack free of other mappings. */
#define CM_LARGEST_STACK (UINT64_C(128) << 20)
#define CM_N_LOOKS 8 /* dead threads looked for at most, each time a thread begins */

struct cm_thread cm_thread_fresh, cm_thread_disabled;

bool cm_thread_on_stack(const struct cm_thread *thread, uint64_t address)
{
	return address >= thread->stack_low && address < thread->stack_high;
}

static uint64_t main_stack_high(void)
{
	return (getauxval(AT_EXECFN) & ~UINT64_C(4095)) + 4096;
}

/* The main thread's stack ends above its strings; others have their TCB at the top. */
static void find_stack(struct cm_thread *thread)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	struct cm_mapping mapping;
	uint64_t tcb;

	if (thread->tid == cm_process.pid) {
		(void)cm_sys6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
		if (limit.rlim_cur > CM_LARGEST_STACK)
			limit.rlim_cur = CM_LARGEST_STACK;
		thread->stack_high = main_stack_high();
		thread->stack_low = thread->stack_high - limit.rlim_cur;
		return;
	}
	__asm__("movq %%fs:0, %0" : "=r"(tcb));
	if (cm_maps_find(tcb, &mapping) < 0 || !(mapping.prot & PROT_WRITE))
		return;
	thread->stack_low = mapping.low;
	thread->stack_high = tcb;
}

void cm_thread_note_name(struct cm_thread *thread)
{
	struct cm_spool_thread_item item = {.item.type = CM_ITEM_THREAD,
					    .thread = thread->thread,
					    .slot = thread->slot,
					    .tid = (uint64_t)thread->tid,
					    .start = thread->start};
	char name[17] = "";
	const char *string = name;

	(void)cm_sys3(SYS_prctl, PR_GET_NAME, (long)name, 0); /* an empty name, then */
	if (!memcmp(name, thread->name, sizeof(thread->name)))
		return;
	memcpy(thread->name, name, sizeof(thread->name));
	(void)cm_process_append(&item.item, sizeof(item), &string, 1); /* a name, no more */
}

void cm_thread_note_cpu(struct cm_thread *thread)
{
	struct cm_spool_cpu_item item = {.item.type = CM_ITEM_CPU, .thread = thread->thread};
	unsigned int cpu = 0;
	uint64_t bit;

	if (cm_sys3(SYS_getcpu, (long)&cpu, 0, 0) < 0 || cpu >= 64 * 16)
		return;
	bit = UINT64_C(1) << cpu % 64;
	if (thread->cpus[cpu / 64] & bit)
		return;
	thread->cpus[cpu / 64] |= bit;
	item.cpu = cpu;
	cm_process_lock();
	(void)cm_process_append(&item.item, sizeof(item), NULL, 0); /* a number, no more */
	cm_process_unlock();
}

/* The calling thread takes this slot over from here on. Lock held. */
static void take_over(struct cm_thread *thread)
{
	thread->tid = cm_sys_gettid();
	thread->start = cm_clock_now();
	thread->thread = cm_process.n_threads++;
	thread->thread_bits = (uint64_t)thread->thread << 32;
	thread->checked_page = 0;
	thread->stack_low = thread->stack_high = 0;
	memset(thread->cpus, 0, sizeof(thread->cpus));
	memset(thread->name, 0xff, sizeof(thread->name)); /* no name is that: it will be noted */
	find_stack(thread);
	cm_thread_note_name(thread);
}

/* A slot whose thread is gone without leaving calls open; its unfilled words will stay so. */
static struct cm_thread *find_dead(void)
{
	static uint32_t cursor;
	struct cm_thread *thread = cm_process.threads;
	uint32_t skip = cm_process.n_slots ? cursor++ % cm_process.n_slots : 0;

	while (skip-- && thread)
		thread = thread->other;
	for (int i = 0; thread && i < CM_N_LOOKS; i++, thread = thread->other) {
		bool open = false;

		if (cm_sys3(SYS_tgkill, cm_process.pid, thread->tid, 0) != -ESRCH)
			continue;
		for (const struct cm_spool_open *entry = thread->table; entry < thread->next;
		     entry++)
			open |= entry->start != 0;
		if (!open)
			return thread;
	}
	return NULL;
}

static int reuse(struct cm_thread *thread)
{
	thread->next = thread->table;
	cm_markers_release(thread);
	cm_drain_abandon(thread);
	take_over(thread);
	return 0;
}

static struct cm_thread *make(void)
{
	struct cm_thread *thread = cm_sys_memory((sizeof(*thread) + 4095) & ~(size_t)4095);

	if (!thread)
		return NULL;
	(void)cm_sys3(SYS_madvise, (long)thread, sizeof(*thread), MADV_WIPEONFORK); /* see init.c */
	thread->cells = cm_sys_memory((CM_SPOOL_MAX_REGIONS + 1) * sizeof(struct cm_cell));
	if (!thread->cells)
		return NULL;
	thread->slot = cm_process.n_slots;
	if (cm_thread_make_map(thread) < 0)
		return NULL;
	cm_process.n_slots++;
	take_over(thread);
	thread->other = cm_process.threads;
	cm_process.threads = thread;
	return thread;
}

struct cm_thread *cm_thread_of_entry(const struct cm_spool_open *entry)
{
	struct cm_thread *thread;

	cm_process_lock();
	for (thread = cm_process.threads; thread; thread = thread->other)
		if (entry >= thread->table && entry < thread->table + thread->first->n_entries)
			break;
	cm_process_unlock();
	return thread;
}

static struct cm_thread *get(struct cm_diag *diag)
{
	struct cm_thread *thread;
	int rc = cm_process_spool(diag);

	if (rc < 0)
		return NULL;
	thread = find_dead();
	if (thread)
		return reuse(thread) < 0 ? NULL : thread;
	thread = make();
	if (!thread)
		(void)cm_diag_set(diag, -ENOSPC, "no room for a thread's spool in %s",
				  cm_process.dir);
	return thread;
}

struct cm_thread *cm_thread_attach(void)
{
	struct cm_diag diag = {0};
	struct cm_thread *thread = NULL;
	uint64_t *word;

	cm_process_lock();
	if (atomic_load_explicit(&cm_process.state, memory_order_relaxed) == CM_PROCESS_ARMED)
		thread = get(&diag);
	if (thread)
		thread->limit = thread->table + thread->n_populated;
	cm_process_unlock();
	cm_self = thread ? thread : &cm_thread_disabled;
	if (!thread) {
		if (diag.text[0])
			cm_say("%s; calls on this thread are only counted (set CALLMARK_SPOOL to a "
			       "folder with room)",
			       diag.text);
		return NULL;
	}
	word = cm_drain_reserve(thread, 1);
	if (word)
		*word = (uint64_t)CM_WORD_THREAD << CM_WORD_KIND_SHIFT | thread->thread;
	return thread;
}

/* Can the kernel read there? It checks the set before the invalid "how". */
static bool is_readable(uint64_t address)
{
	return cm_sys6(SYS_rt_sigprocmask, -1, (long)address, 0, 8, 0, 0) != -EFAULT;
}

bool cm_thread_can_read(const void *address, size_t n_bytes)
{
	uint64_t end = (uint64_t)address + n_bytes;

	for (uint64_t at = (uint64_t)address; at < end; at = (at | 4095) + 1)
		if (!is_readable(at & ~UINT64_C(7)))
			return false;
	return true;
}

/* Nothing can be asked (process.h): an address close below where a stack is known to end. */
static uint64_t guess_readable(uint64_t address, uint64_t n_bytes)
{
	uint64_t tops[2] = {main_stack_high(), 0};

	__asm__("movq %%fs:0, %0" : "=r"(tops[1]));
	for (int i = 0; i < 2; i++)
		if (address < tops[i] && tops[i] - address < CM_LARGEST_STACK)
			return tops[i] - address < n_bytes ? tops[i] - address : n_bytes;
	return (((address | 4095) + 1) - address) & ~UINT64_C(7);
}

uint64_t cm_thread_readable(uint64_t address, uint64_t n_bytes)
{
	struct cm_thread *thread = cm_self;
	uint64_t end = address + n_bytes, page;

	if (atomic_load_explicit(&cm_process_is_sealed, memory_order_relaxed))
		return guess_readable(address, n_bytes);
	if (thread->first && cm_thread_on_stack(thread, address) && end <= thread->stack_high)
		return n_bytes;
	/* The page below `address` holds the return address; those after it are asked for. */
	for (page = (address + 4095) & ~UINT64_C(4095); page < end; page += 4096) {
		if (thread->first && thread->checked_page == page)
			continue;
		if (!is_readable(page))
			return (page - address) & ~UINT64_C(7);
		if (thread->first)
			thread->checked_page = page;
	}
	return n_bytes;
}
