/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/trace.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/spool-maker.h"

#define MAX_REGIONS 5000

static char tempdir[64];
static char spool[96];
static struct spool_maker maker;

/* A sink that checks what it gets: pieces, order, sums. */
struct check {
	const struct cm_trace *trace;
	size_t n_rows; /* asked for */
	uint64_t n[MAX_REGIONS];
	uint64_t sum_start[MAX_REGIONS];
	uint64_t sum_end[MAX_REGIONS];
	uint64_t by_thread[16];
	int64_t last[MAX_REGIONS];
	int fail_with;
};

static struct check check;

static size_t give_rows(void *ctx, size_t idx)
{
	const struct check *mine = ctx;
	uint64_t n = mine->trace->regions[mine->trace->called[idx]].n;

	return n < mine->n_rows ? (size_t)n : mine->n_rows;
}

static int take(void *ctx, size_t idx, const int64_t *starts, const int64_t *ends,
		const int32_t *threads, size_t n, struct cm_diag *diag)
{
	struct check *mine = ctx;
	const struct cm_trace_region *region = &mine->trace->regions[mine->trace->called[idx]];

	if (mine->fail_with)
		return cm_diag_set(diag, mine->fail_with, "as told");
	cr_assert_eq(threads != NULL, region->is_multi_thread);
	cr_assert(n == give_rows(ctx, idx) || mine->n[idx] + n == region->n, "a piece of %zu", n);
	for (size_t i = 0; i < n; i++) {
		cr_assert(mine->n[idx] == 0 || mine->last[idx] <= starts[i], "not ascending");
		cr_assert_leq(starts[i], ends[i]);
		mine->last[idx] = starts[i];
		mine->n[idx]++;
		mine->sum_start[idx] += (uint64_t)starts[i];
		mine->sum_end[idx] += (uint64_t)ends[i];
		if (threads)
			mine->by_thread[threads[i]]++;
	}
	return 0;
}

static void setup(void)
{
	spool_maker_tempdir(tempdir, sizeof(tempdir));
	snprintf(spool, sizeof(spool), "%s/4242-1", tempdir);
	spool_maker_init(&maker, spool, CM_CLOCK_MONOTONIC);
	memset(&check, 0, sizeof(check));
	check.n_rows = 64;
}

static void teardown(void)
{
	spool_maker_fini(&maker);
	spool_maker_remove(tempdir);
}

TestSuite(trace, .init = setup, .fini = teardown);

struct job {
	struct cm_spool_reader reader;
	struct cm_clock_map map;
	struct cm_trace trace;
	struct cm_progress progress;
	struct cm_diag diag;
};

static void scan(struct job *job)
{
	memset(job, 0, sizeof(*job));
	spool_maker_process(&maker);
	cr_assert_eq(cm_spool_reader_open(&job->reader, spool, &job->diag), 0, "%s",
		     job->diag.text);
	cr_assert_eq(cm_clock_map_init(&job->map, job->reader.process.clock, NULL, 0, 0), 0);
	cr_assert_eq(cm_trace_init(&job->trace, &job->reader, &job->map, &job->diag), 0);
	cr_assert_eq(cm_trace_scan(&job->trace, &job->progress, &job->diag), 0, "%s",
		     job->diag.text);
	check.trace = &job->trace;
}

static int write_out(struct job *job, size_t sort_bytes)
{
	struct cm_trace_sink sink = {.rows = give_rows,
				     .append = take,
				     .ctx = &check,
				     .spill_dir = tempdir,
				     .sort_bytes = sort_bytes};

	return cm_trace_write(&job->trace, &sink, &job->progress, &job->diag);
}

static void finish(struct job *job)
{
	cm_trace_fini(&job->trace);
	cm_clock_map_fini(&job->map);
	cm_spool_reader_close(&job->reader);
}

/* Depth-first, as calls of a recursive function end: the innermost first. */
static uint64_t recurse(struct spool_words *words, uint64_t tick, int depth, uint64_t *n)
{
	uint64_t start = tick;

	for (int i = 0; depth > 0 && i < 3; i++)
		tick = recurse(words, tick + 2, depth - 1, n);
	spool_words_call(words, 0, start, tick + 5, 0);
	(*n)++;
	return tick + 6;
}

Test(trace, sorts_the_calls_of_a_recursive_function)
{
	for (size_t sort_bytes = 0; sort_bytes < 2; sort_bytes++) {
		struct spool_words words = {0};
		struct job job;
		uint64_t n = 0;

		teardown();
		setup();
		spool_maker_region(&maker, 0, "fib", UINT64_MAX);
		recurse(&words, 1000, 8, &n);
		spool_maker_dat(&maker, 0, &words);
		spool_words_fini(&words);
		scan(&job);
		cr_assert_eq(job.trace.n_called, 1);
		cr_assert_eq(job.trace.n_unsorted, n);
		cr_assert_eq(write_out(&job, sort_bytes), 0, "%s", job.diag.text);
		cr_assert_eq(check.n[0], n);
		cr_assert_eq(job.trace.regions[0].fold->n_traced, n);
		finish(&job);
	}
}

Test(trace, merges_the_calls_of_eight_threads)
{
	uint64_t n = 0, sum_start = 0;
	struct job job;

	spool_maker_region(&maker, 0, "shared", UINT64_MAX);
	spool_maker_region(&maker, 1, "private", UINT64_MAX);
	for (uint32_t t = 0; t < 8; t++) {
		struct spool_words words = {0};
		uint64_t tick = 1000 + t;

		spool_maker_thread(&maker, t, t, 100 + t, "worker");
		spool_words_thread(&words, t);
		for (int i = 0; i < 3000; i++, n++) {
			tick += 10 + (t * 7 + (uint64_t)i) % 13;
			spool_words_call(&words, 0, tick, tick + 3, 0);
			sum_start += tick;
		}
		spool_words_call(&words, t == 5 ? 1 : 0, tick, tick + 1, 0);
		n += t != 5;
		sum_start += t != 5 ? tick : 0;
		spool_maker_dat(&maker, t, &words);
		spool_words_fini(&words);
	}
	scan(&job);
	/* A small pool, so that runs are spilled and merged in levels. */
	cr_assert_eq(write_out(&job, 1), 0, "%s", job.diag.text);
	cr_assert_eq(check.n[0], n);
	cr_assert_eq(check.sum_start[0], sum_start);
	cr_assert_eq(check.sum_end[0], sum_start + 3 * 24000 + 7);
	cr_assert_eq(check.n[1], 1);
	cr_assert_not(job.trace.regions[1].is_multi_thread);
	cr_assert_eq(job.trace.regions[1].thread, 5);
	for (int t = 0; t < 8; t++)
		cr_assert_eq(check.by_thread[t], 3000 + (t != 5));
	cr_assert_eq(job.trace.threads[3].first_ns, 1003 + 10 + 21 % 13);
	finish(&job);
}

Test(trace, keeps_five_thousand_regions_apart)
{
	struct spool_words words = {0};
	struct job job;
	uint64_t tick = 1000;
	char tag[32];

	for (uint32_t i = 0; i < MAX_REGIONS; i++) {
		snprintf(tag, sizeof(tag), "region %u", i);
		spool_maker_region(&maker, i, tag, UINT64_MAX);
	}
	for (uint32_t i = 0; i < 200000; i++, tick += 40)
		spool_words_call(&words, i * 7 % 4999, tick, tick + i % 30, 0);
	spool_maker_dat(&maker, 0, &words);
	spool_words_fini(&words);
	scan(&job);
	cr_assert_eq(job.trace.n_called, 4999);
	cr_assert_eq(job.trace.n_unsorted, 0);
	cr_assert_eq(write_out(&job, 0), 0, "%s", job.diag.text);
	for (uint32_t i = 0; i < 4999; i++)
		cr_assert_eq(check.n[i], 40u + (i % 7 == 0 && i / 7 < 40), "region %u: %lu", i,
			     (unsigned long)check.n[i]);
	finish(&job);
}

/* Of several regions, one that does not exist, and one with nothing but our own work. */
static const struct cm_spool_totals totals[] = {
	{.used = 1,
	 .region = 3,
	 .total = 50,
	 .min = 5,
	 .max = 9,
	 .buckets = {[2] = 8},
	 .n_lost = 2},
	{.used = 1, .region = 0, .total = 5, .min = 5, .max = 5, .buckets = {[2] = 1}},
	{.used = 1, .region = 88, .total = 5, .min = 5, .max = 5, .buckets = {[2] = 1}},
	{.used = 1, .region = 4, .min = UINT64_MAX, .tool_ticks = 5},
};

Test(trace, accounts_every_call_once)
{
	struct cm_spool_open open[] = {
		{.start = 100, .region = 0}, /* is in the stream: killed between the two */
		{.start = 200, .region = 0}, /* still running */
		{.start = 100, .region = 1}, /* another region's start */
		{.start = 900, .region = 2}, {.start = 901, .region = 77}, /* no such region */
	};
	struct spool_words words = {0};
	struct spool_ring ring = {.open = open, .n_open = 5};
	struct job job;

	for (uint32_t i = 0; i < 6; i++)
		spool_maker_region(&maker, i, "abcdef" + i, UINT64_MAX);
	spool_words_call(&words, 0, 50, 60, 0);
	spool_words_call(&words, 0, 100, 160, 0);
	spool_maker_dat(&maker, 0, &words);
	spool_words_fini(&words);
	ring.stream_base = 1 << 20;
	spool_maker_ring(&maker, 0, "map", &ring);
	spool_maker_totals(&maker, 0, totals, 4);
	scan(&job);
	/* 4 had only our own work in a block, 5 nothing. */
	cr_assert_eq(job.trace.n_called, 4);
	cr_assert_eq(job.trace.regions[0].n, 2);
	cr_assert_eq(job.trace.regions[0].fold->n_open, 1);
	cr_assert_eq(job.trace.regions[0].fold->n_totals, 1);
	cr_assert_eq(job.trace.regions[1].fold->n_open, 1);
	cr_assert_eq(job.trace.regions[2].fold->n_open, 1);
	cr_assert_eq(job.trace.regions[3].fold->n_totals, 8);
	cr_assert_eq(job.trace.regions[3].fold->n_lost, 2);
	cr_assert_eq(job.trace.n_bad, 2);
	cr_assert_eq(write_out(&job, 0), 0, "%s", job.diag.text);
	cr_assert_eq(check.n[0], 2);
	finish(&job);
}

/* Two calls of a block are counted; the open entries say at which count each was killed. */
Test(trace, does_not_take_a_call_that_its_block_has_counted_for_open)
{
	const uint64_t one = UINT64_C(1) << CM_PENDING_COUNT_SHIFT;
	const struct cm_spool_totals block = {.used = 1,
					      .region = 0,
					      .min = 5,
					      .max = 5,
					      .total = 5,
					      .buckets = {[2] = 1},
					      .pending = CM_PENDING_VALID | 2 * one | 7};
	const struct cm_spool_open open[] = {
		{.start = 100, .region = 0, .frame = CM_OPEN_COUNTED_BIT | one | 5}, /* counted */
		{.start = 200, .region = 0, .frame = block.pending}, /* not counted yet */
		{.start = 300, .region = 0, .frame = 0x7ffc0000},    /* running */
	};
	struct spool_ring ring = {.open = open, .n_open = 3};
	struct job job;

	spool_maker_region(&maker, 0, "work", 0);
	spool_maker_ring(&maker, 0, "map", &ring);
	spool_maker_totals(&maker, 0, &block, 1);
	scan(&job);
	cr_assert_eq(job.trace.regions[0].fold->n_totals, 2);
	cr_assert_eq(job.trace.regions[0].fold->n_open, 2);
	finish(&job);
}

Test(trace, stops_when_the_sink_fails)
{
	struct spool_words words = {0};
	struct job job;

	spool_maker_region(&maker, 0, "a", UINT64_MAX);
	for (uint64_t i = 0; i < 1000; i++)
		spool_words_call(&words, 0, 1000 + 10 * i, 1005 + 10 * i, 0);
	spool_maker_dat(&maker, 0, &words);
	spool_words_fini(&words);
	scan(&job);
	check.fail_with = -ENOSPC;
	cr_assert_eq(write_out(&job, 0), -ENOSPC);
	cr_assert_str_eq(job.diag.text, "as told");
	finish(&job);
}

/* Five million calls, most of which must be sorted: peak memory in a process of its own. */
static int use_little_memory(size_t limit_kib)
{
	struct rusage usage;
	struct job job;

	check.n_rows = 65536;
	scan(&job);
	if (write_out(&job, (size_t)8 << 20) < 0 || check.n[0] != 4000000 || check.n[1] != 1000000)
		return 2;
	finish(&job);
	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return 3;
	return (size_t)usage.ru_maxrss < limit_kib ? 0 : 1;
}

Test(trace, needs_no_more_memory_for_five_million_calls)
{
	pid_t child;
	int status;

#ifdef __SANITIZE_ADDRESS__
	cr_skip_test("the sanitizer's own memory would be measured");
#endif
	spool_maker_region(&maker, 0, "shared", UINT64_MAX);
	spool_maker_region(&maker, 1, "private", UINT64_MAX);
	for (uint32_t t = 0; t < 5; t++) {
		struct spool_words words = {0};

		spool_words_thread(&words, t);
		spool_maker_thread(&maker, t, t, 100 + t, "worker");
		for (uint64_t i = 0; i < 1000000; i++)
			spool_words_call(&words, t == 4, 1000 + 20 * i + t, 1010 + 20 * i + t, 0);
		spool_maker_dat(&maker, t, &words);
		spool_words_fini(&words);
	}
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		/* Its own process, so that the peak is not that of making the spool. */
		_exit(use_little_memory((size_t)64 << 10));
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), 0, "child: %d", WEXITSTATUS(status));
}
