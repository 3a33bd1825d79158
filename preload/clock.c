/* SPDX-License-Identifier: BSD-3-Clause */
/* Which clock, where the vDSO keeps it, and how ticks relate to nanoseconds. */
#include "preload/clock.h"

#include <cpuid.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/process.h"
#include "preload/syscall.h"
#include "preload/vdso.h"

enum cm_spool_clock cm_clock_kind = CM_CLOCK_MONOTONIC;
uint64_t cm_clock_scale;

static int slow_clock(clockid_t clock, struct timespec *ts)
{
	return (int)cm_sys3(SYS_clock_gettime, clock, (long)ts, 0);
}

int (*cm_clock_vdso)(clockid_t, struct timespec *) = slow_clock;

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
	void *vdso = cm_vdso_find("__vdso_clock_gettime");
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
