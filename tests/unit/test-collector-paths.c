/* SPDX-License-Identifier: BSD-3-Clause */
/* From the spool's addresses to the rows of a file; the binary with the names is this program. */
#include <criterion/criterion.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/collect-spool.h"
#include "tests/unit/spool-maker.h"
#include "writer/results.h"

#define LIBRARY_BASE UINT64_C(0x10000000)
#define OWN_BASE UINT64_C(0x20000000)
#define N_BYTES UINT64_C(0x100000)

static char tempdir[64], spool[192], out_path[128], exe[256];
static struct spool_maker maker;
static struct cm_results *results;
static uint64_t exe_base, exe_bytes;

/* A frame of this program: its return address, and the line of the call. */
static uint64_t returned_to;

static __attribute__((noinline)) void note(void)
{
	returned_to = (uint64_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

/* Not static: a symbol of C++. */
void step(void) __asm__("_ZN6Solver4stepEi");
static int step_line, inner_line, outer_line;

__attribute__((noinline)) void step(void)
{
	step_line = __LINE__ + 1;
	note();
	__asm__ volatile("");
}

static __attribute__((noinline)) void inner(void)
{
	inner_line = __LINE__ + 1;
	note();
	__asm__ volatile("");
}

static __attribute__((noinline)) void outer(void)
{
	outer_line = __LINE__ + 1;
	note();
	__asm__ volatile("");
}

static uint64_t frame_of(void (*function)(void))
{
	function();
	return returned_to;
}

static int find_exe(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size; /* of no older glibc */
	(void)ctx;
	exe_base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			exe_bytes = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return 1; /* the program comes first */
}

static void setup(void)
{
	char user[96], run[128];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	cr_assert_gt(n, 0);
	dl_iterate_phdr(find_exe, NULL);
	spool_maker_tempdir(tempdir, sizeof(tempdir));
	snprintf(user, sizeof(user), "%s/callmark-%u", tempdir, geteuid());
	snprintf(run, sizeof(run), "%s/run-1", user);
	snprintf(out_path, sizeof(out_path), "%s/out.h5", tempdir);
	snprintf(spool, sizeof(spool), "%s/4194305-1", run);
	cr_assert_eq(mkdir(user, 0700), 0);
	cr_assert_eq(mkdir(run, 0700), 0);
	spool_maker_init(&maker, spool, CM_CLOCK_MONOTONIC);
	spool_maker_identity(&maker, "run-1", out_path);
	spool_maker_region(&maker, 0, "work", UINT64_MAX);
	spool_maker_region(&maker, 1, "play", UINT64_MAX);
	spool_maker_thread(&maker, 0, 0, 4242, "main");
}

static void teardown(void)
{
	cm_results_close(results);
	results = NULL;
	spool_maker_fini(&maker);
	spool_maker_remove(tempdir);
}

TestSuite(paths, .init = setup, .fini = teardown);

static void add_exe(void)
{
	spool_maker_object(&maker, exe, "", exe_base, exe_bytes, 0);
}

static void collect(void)
{
	struct cm_collect_options options = {0};
	struct cm_diag diag = {0};

	spool_maker_process(&maker);
	cr_assert_eq(cm_collect_spool(spool, &options, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_results_open(&results, out_path, &diag), 0, "%s", diag.text);
}

/* n_calls calls of 100 ns of each of the two regions. */
static void add_calls(uint64_t n_calls)
{
	struct spool_words words = {0};

	for (uint64_t i = 0; i < n_calls; i++) {
		spool_words_call(&words, 0, 1000 + 400 * i, 1100 + 400 * i, 0);
		spool_words_call(&words, 1, 1200 + 400 * i, 1300 + 400 * i, 0);
	}
	spool_maker_dat(&maker, 0, &words);
	spool_words_fini(&words);
}

static const struct cm_profile_region *region_of(const char *tag)
{
	const struct cm_result_rank *rank = cm_results_rank(results, 0);

	for (size_t i = 0; i < rank->n_regions; i++)
		if (strcmp(rank->regions[i].stats.tag, tag) == 0)
			return &rank->regions[i].stats;
	cr_assert_fail("no region %s", tag);
	return NULL;
}

/* Row `i` of a region must be this one. */
static void expect_row(const struct cm_profile_region *region, size_t i, uint64_t calls,
		       int64_t total_ns, const char *frames)
{
	cr_assert_gt(region->n_paths, i);
	cr_expect_str_eq(region->path_frames[i], frames);
	cr_expect_eq(region->path_calls[i], calls, "%s: %lu calls", frames,
		     (unsigned long)region->path_calls[i]);
	cr_expect_eq(region->path_total_ns[i], total_ns, "%s: %ld ns", frames,
		     (long)region->path_total_ns[i]);
}

/* "function [this program] test-collector-paths.c:line" */
static char *text_of(const char *function, int line)
{
	char *text;

	cr_assert_gt(asprintf(&text, "%s [%s] test-collector-paths.c:%d", function,
			      strrchr(exe, '/') + 1, line),
		     0);
	return text;
}

Test(paths, names_functions_objects_and_lines)
{
	uint64_t frames[] = {frame_of(inner), frame_of(step), frame_of(outer)};
	struct cm_spool_path_total totals[] = {{.used = 1, .n_calls = 10, .total_ticks = 1000}};
	char *first = text_of("inner", inner_line), *third = text_of("outer", outer_line);
	char *second = text_of("Solver::step(int)", step_line), *all;

	add_exe();
	spool_maker_path(&maker, 0, 0, CM_PATH_LIMIT, frames, 3);
	spool_maker_path_totals(&maker, 0, totals, 1);
	add_calls(10);
	collect();
	cr_assert_gt(asprintf(&all, "%s < %s < %s", first, second, third), 0);
	cr_assert_eq(region_of("work")->n_paths, 1);
	expect_row(region_of("work"), 0, 10, 1000, all);
	cr_expect_not(region_of("play")->has_paths);
	free(all);
	free(first);
	free(second);
	free(third);
}

Test(paths, sums_slots_and_puts_the_rest_last)
{
	uint64_t frames[2][2] = {{0x1234, 0x5678}, {0x1234, 0x9abc}};
	struct cm_spool_path_total first[] = {
		{.used = 1, .n_calls = 1, .total_ticks = 100},
		{.used = 1, .path = 1, .n_calls = 2, .total_ticks = 200},
		{.used = 0, .path = 0, .n_calls = 7}};
	struct cm_spool_path_total second[] = {
		{.used = 1, .path = 1, .n_calls = 3, .total_ticks = 300},
		{.used = 1, .path = 99, .n_calls = 3},
		{.used = 1, .path = 2, .n_calls = 1}};

	spool_maker_path(&maker, 0, 0, 0, frames[0], 2);
	spool_maker_path(&maker, 1, 0, CM_PATH_CUT, frames[1], 2);
	spool_maker_path(&maker, 2, 0, CM_PATH_OTHER, NULL, 0);
	spool_maker_path_totals(&maker, 0, first, 3);
	spool_maker_path_totals(&maker, 7, second, 3);
	add_calls(10);
	collect();
	cr_assert_eq(region_of("work")->n_paths, 3);
	expect_row(region_of("work"), 0, 5, 500,
		   "0x1234 [?] < 0x9abc [?] < (no unwind information)");
	expect_row(region_of("work"), 1, 1, 100, "0x1234 [?] < 0x5678 [?]");
	expect_row(region_of("work"), 2, 4, 400, "(other)");
}

Test(paths, never_count_more_calls_than_the_region)
{
	uint64_t frames[] = {1, 2};
	struct cm_spool_path_total totals[] = {
		{.used = 1, .n_calls = 7, .total_ticks = 700},
		{.used = 1, .path = 1, .n_calls = UINT64_MAX, .total_ticks = UINT64_MAX},
		{.used = 1, .path = 1, .n_calls = UINT64_MAX, .total_ticks = UINT64_MAX}};

	spool_maker_path(&maker, 0, 0, 0, frames, 1);
	spool_maker_path(&maker, 1, 0, 0, frames, 2);
	spool_maker_path_totals(&maker, 0, totals, 3);
	add_calls(10);
	collect();
	cr_assert_eq(region_of("work")->n_paths, 1);
	expect_row(region_of("work"), 0, 10, INT64_MAX, "0x1 [?] < 0x2 [?]");
}

Test(paths, that_read_the_same_are_one)
{
	uint64_t plain[] = {LIBRARY_BASE + 0x40}, again[] = {2 * LIBRARY_BASE + 0x40};
	struct cm_spool_path_total totals[] = {
		{.used = 1, .n_calls = 7, .total_ticks = 700},
		{.used = 1, .path = 1, .n_calls = 3, .total_ticks = 300}};

	spool_maker_object(&maker, "/nowhere/libx.so", "", LIBRARY_BASE, N_BYTES, 0);
	spool_maker_path(&maker, 0, 0, 0, plain, 1);
	spool_maker_object(&maker, "/nowhere/libx.so", "", LIBRARY_BASE, N_BYTES, 1);
	spool_maker_object(&maker, "/nowhere/libx.so", "", 2 * LIBRARY_BASE, N_BYTES, 0);
	spool_maker_path(&maker, 1, 0, 0, again, 1);
	spool_maker_path_totals(&maker, 0, totals, 2);
	add_calls(10);
	collect();
	cr_assert_eq(region_of("work")->n_paths, 1);
	expect_row(region_of("work"), 0, 10, 1000, "0x40 [libx.so]");
}

/* One address, four objects: what was there when the path was noted. */
Test(paths, look_objects_up_as_they_were)
{
	uint64_t frames[] = {LIBRARY_BASE + 0x40};
	struct cm_spool_path_total totals[5];

	spool_maker_path(&maker, 0, 0, 0, frames, 1); /* in its constructor */
	spool_maker_object(&maker, "/nowhere/a.so", "", LIBRARY_BASE, N_BYTES, 0);
	spool_maker_path(&maker, 1, 1, 0, frames, 1);
	spool_maker_object(&maker, "/nowhere/a.so", "", LIBRARY_BASE, N_BYTES, 1);
	spool_maker_object(&maker, "/nowhere/b.so", "", LIBRARY_BASE - N_BYTES, 2 * N_BYTES, 0);
	spool_maker_path(&maker, 2, 0, 0, frames, 1);
	/* Its closing was not noted. */
	spool_maker_object(&maker, "/nowhere/c.so", "", LIBRARY_BASE, N_BYTES, 0);
	spool_maker_path(&maker, 3, 1, 0, frames, 1);
	spool_maker_object(&maker, "/nowhere/c.so", "", LIBRARY_BASE, N_BYTES, 1);
	spool_maker_path(&maker, 4, 0, CM_PATH_LIMIT, frames, 1);
	for (uint32_t i = 0; i < 5; i++)
		totals[i] = (struct cm_spool_path_total){
			.used = 1, .path = i, .n_calls = i + 1, .total_ticks = 100 * (i + 1)};
	spool_maker_path_totals(&maker, 0, totals, 5);
	add_calls(9);
	collect();
	expect_row(region_of("work"), 0, 5, 500, "0x10000040 [?]");
	expect_row(region_of("work"), 1, 3, 300, "0x100040 [b.so]");
	expect_row(region_of("work"), 2, 1, 100, "0x40 [a.so]");
	expect_row(region_of("play"), 0, 4, 400, "0x40 [c.so]");
	expect_row(region_of("play"), 1, 2, 200, "0x40 [a.so]");
	expect_row(region_of("play"), 2, 3, 300, "(other)");
}

Test(paths, leave_our_own_frames_out)
{
	uint64_t frames[] = {OWN_BASE + 0x100, 0x1234, OWN_BASE + 0x200, 0x5678};
	struct cm_spool_path_total totals[] = {
		{.used = 1, .n_calls = 5, .total_ticks = 500},
		{.used = 1, .path = 1, .n_calls = 4, .total_ticks = 400},
		{.used = 1, .path = 2, .n_calls = 1, .total_ticks = 100}};

	spool_maker_object(&maker, "/usr/lib/callmark/libcallmark-preload.so", "", OWN_BASE,
			   N_BYTES, 0);
	spool_maker_path(&maker, 0, 0, 0, frames, 4);
	spool_maker_path(&maker, 1, 0, 0, frames, 1);
	spool_maker_path(&maker, 2, 0, CM_PATH_CUT, frames, 1);
	spool_maker_path_totals(&maker, 0, totals, 3);
	add_calls(10);
	collect();
	expect_row(region_of("work"), 0, 5, 500, "0x1234 [?] < 0x5678 [?]");
	expect_row(region_of("work"), 1, 4, 400, "(unknown)");
	expect_row(region_of("work"), 2, 1, 100, "(no unwind information)");
}

Test(paths, tell_nothing_of_a_binary_that_was_replaced)
{
	uint64_t frames[] = {frame_of(inner)};
	struct cm_spool_path_total totals[] = {{.used = 1, .n_calls = 10, .total_ticks = 1000}};
	char text[400];

	spool_maker_object(&maker, exe, "00112233445566778899aabbccddeeff00112233", exe_base,
			   exe_bytes, 0);
	spool_maker_path(&maker, 0, 0, 0, frames, 1);
	spool_maker_path_totals(&maker, 0, totals, 1);
	add_calls(10);
	collect();
	snprintf(text, sizeof(text), "0x%lx [%s]", (unsigned long)(frames[0] - exe_base),
		 strrchr(exe, '/') + 1);
	expect_row(region_of("work"), 0, 10, 1000, text);
}

Test(paths, are_there_also_when_no_call_has_one)
{
	uint64_t frames[] = {0x1234};

	spool_maker_path(&maker, 0, 0, 0, frames, 1);
	add_calls(10);
	collect();
	cr_assert(region_of("work")->has_paths);
	cr_assert_eq(region_of("work")->n_paths, 1);
	expect_row(region_of("work"), 0, 10, 1000, "(other)");
}

Test(paths, survive_items_without_sense)
{
	uint64_t frames[300] = {0};
	struct cm_spool_path_total totals[] = {{.used = 1, .n_calls = 10, .total_ticks = 1000}};
	struct {
		struct cm_spool_path_item head;
		uint64_t frame;
	} lying = {.head = {.path = 7, .region = 0, .n_frames = 1000}, .frame = 1};
	const struct cm_profile_region *region;

	for (uint64_t i = 0; i < 300; i++)
		frames[i] = i;
	spool_maker_object(&maker, "/nowhere/turned.so", "", 5, UINT64_MAX - 3, 0);
	spool_maker_object(&maker, "", "", 0, UINT64_MAX, 0);
	spool_maker_function(&maker, 4711, 1);
	spool_maker_function(&maker, 0, 0);
	spool_maker_item(&maker, CM_ITEM_PATH, &lying, sizeof(lying), NULL);
	spool_maker_path(&maker, UINT32_MAX, 0, 0, frames, 1);
	spool_maker_path(&maker, 3, 4711, 0, frames, 1);
	spool_maker_path(&maker, 0, 0, UINT32_MAX & ~CM_PATH_OTHER, frames, 300);
	spool_maker_path(&maker, 0, 0, 0, frames, 1); /* twice */
	spool_maker_path_totals(&maker, 0, totals, 1);
	add_calls(10);
	collect();
	region = region_of("work");
	cr_assert_eq(region->n_paths, 1);
	cr_expect_eq(region->path_calls[0], 10);
	cr_expect(strncmp(region->path_frames[0], "0x0 [?] < 0x1 [] < 0x2 []", 25) == 0, "%s",
		  region->path_frames[0]);
}

Test(paths, say_where_a_function_is_written)
{
	add_exe();
	spool_maker_function(&maker, 0, 0x10); /* in no object */
	spool_maker_function(&maker, 0, (uint64_t)(uintptr_t)inner);
	spool_maker_function(&maker, 0, (uint64_t)(uintptr_t)outer);
	add_calls(3);
	(void)frame_of(inner); /* its line */
	collect();
	cr_assert_not_null(region_of("work")->source_file);
	cr_expect_str_eq(strrchr(region_of("work")->source_file, '/') + 1,
			 "test-collector-paths.c");
	cr_expect_eq(region_of("work")->source_lineno, inner_line - 2, "%ld",
		     (long)region_of("work")->source_lineno);
	cr_expect_null(region_of("play")->source_file);
}
