/* SPDX-License-Identifier: BSD-3-Clause */
/* Which clock, where the vDSO keeps it, and how ticks relate to nanoseconds. */
#include "preload/clock.h"

#include <cpuid.h>
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/process.h"
#include "preload/syscall.h"

enum cm_spool_clock cm_clock_kind = CM_CLOCK_MONOTONIC;
uint64_t cm_clock_scale;

static int slow_clock(clockid_t clock, struct timespec *ts)
{
	return (int)cm_sys3(SYS_clock_gettime, clock, (long)ts, 0);
}

int (*cm_clock_vdso)(clockid_t, struct timespec *) = slow_clock;

/* clock_gettime of the vDSO itself: libc's wrapper costs two more jumps a call. */
static void *find_vdso_clock(void)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *phdr;
	const Elf64_Dyn *dyn = NULL;
	const Elf64_Sym *symbols = NULL;
	const char *strings = NULL;
	const uint32_t *hash = NULL;
	uint64_t load = 0, n_symbols;

	if (!base)
		return NULL;
	phdr = (const Elf64_Phdr *)(base + header->e_phoff);
	for (int i = 0; i < header->e_phnum; i++) {
		if (phdr[i].p_type == PT_LOAD && !load)
			load = (uint64_t)base + phdr[i].p_offset - phdr[i].p_vaddr;
		if (phdr[i].p_type == PT_DYNAMIC)
			dyn = (const Elf64_Dyn *)(base + phdr[i].p_offset);
	}
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			symbols = (const Elf64_Sym *)(load + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_STRTAB)
			strings = (const char *)(load + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_HASH)
			hash = (const uint32_t *)(load + dyn->d_un.d_ptr);
	}
	if (!symbols || !strings || (!hash && strings < (const char *)symbols))
		return NULL;
	/* Without DT_HASH the table ends, at the latest, where the strings begin. */
	n_symbols = hash ? hash[1] : (size_t)(strings - (const char *)symbols) / sizeof(*symbols);
	for (uint64_t i = 0; i < n_symbols; i++)
		if (symbols[i].st_shndx &&
		    !strcmp(strings + symbols[i].st_name, "__vdso_clock_gettime"))
			return (void *)(load + symbols[i].st_value);
	return NULL;
}

/* The kernel itself keeps time with the TSC, and the CPU promises a constant, unstopped one. */
static bool can_trust_tsc(void)
{
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	unsigned int a, b, c, d = 0;
	char name[8] = "";
	int fd = cm_sys_open(path, O_RDONLY, 0);

	if (fd >= 0) {
		(void)cm_sys3(SYS_read, fd, (long)name, 4); /* an empty name is no "tsc" */
		cm_sys_close(fd);
	}
	return !memcmp(name, "tsc\n", 4) && __get_cpuid(0x80000007, &a, &b, &c, &d) &&
	       (d & 1u << 8);
}

bool cm_clock_init(const char *wish)
{
	void *vdso = find_vdso_clock();
	bool tsc = can_trust_tsc(), understood = true;

	if (vdso)
		*(void **)&cm_clock_vdso = vdso;
	if (wish && !strcmp(wish, "monotonic"))
		tsc = false;
	else if (wish && !strcmp(wish, "tsc"))
		tsc = true;
	else if (wish && *wish)
		understood = false;
	cm_clock_kind = tsc ? CM_CLOCK_TSC : CM_CLOCK_MONOTONIC;
	if (!tsc)
		cm_clock_scale = UINT64_C(1) << 32;
	return understood;
}

void cm_clock_sync(uint64_t *ret_tick, uint64_t *ret_mono_ns, uint64_t *ret_realtime_ns)
{
	uint64_t best = UINT64_MAX;
	struct timespec real = {0};

	/* The tightest of a few brackets: an interrupt between the reads only widens one. */
	for (int i = 0; i < 5; i++) {
		uint64_t before = cm_clock_now();
		uint64_t mono = cm_clock_read(false);
		uint64_t after = cm_clock_now();

		if (after - before >= best)
			continue;
		best = after - before;
		*ret_tick = cm_clock_kind == CM_CLOCK_TSC ? before + best / 2 : mono;
		*ret_mono_ns = mono;
		(void)cm_clock_vdso(CLOCK_REALTIME, &real); /* cannot fail for this clock */
		*ret_realtime_ns = (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec;
	}
}

void cm_clock_need_scale(void)
{
	uint64_t tick, mono, real;

	if (cm_clock_scale)
		return;
	do
		cm_clock_sync(&tick, &mono, &real);
	while (mono - cm_process.start_mono_ns < 200000);
	if (tick > cm_process.start_tick)
		cm_clock_scale =
			(uint64_t)(((unsigned __int128)(mono - cm_process.start_mono_ns) << 32) /
				   (tick - cm_process.start_tick));
}

uint64_t cm_clock_ticks(uint64_t ns)
{
	cm_clock_need_scale();
	return cm_clock_scale ? (uint64_t)(((unsigned __int128)ns << 32) / cm_clock_scale) : ns;
}
