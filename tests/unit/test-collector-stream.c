/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/stream.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/spool-maker.h"

#define N_RING 32
#define MAX_CALLS 4096

/* What a stream should give. */
struct known {
	struct cm_call calls[MAX_CALLS];
	size_t n;
};

static char tempdir[64];
static char spool[96];
static struct spool_maker maker;
static struct spool_words words;
static struct known known;

static void setup(void)
{
	spool_maker_tempdir(tempdir, sizeof(tempdir));
	snprintf(spool, sizeof(spool), "%s/4242-1", tempdir);
	spool_maker_init(&maker, spool, CM_CLOCK_MONOTONIC);
	spool_maker_region(&maker, 0, "first", UINT64_MAX);
	spool_maker_region(&maker, 1, "second", UINT64_MAX);
	spool_maker_region(&maker, 7, "eighth", UINT64_MAX);
	spool_maker_thread(&maker, 0, 0, 100, "main");
	spool_maker_thread(&maker, 1, 0, 101, "other");
	spool_maker_process(&maker);
	memset(&words, 0, sizeof(words));
	known.n = 0;
}

static void teardown(void)
{
	spool_words_fini(&words);
	spool_maker_fini(&maker);
	spool_maker_remove(tempdir);
}

TestSuite(stream, .init = setup, .fini = teardown);

static void add(uint32_t region, uint64_t start, uint64_t end, unsigned int flags, uint32_t thread)
{
	spool_words_call(&words, region, start, end, flags);
	known.calls[known.n++] =
		(struct cm_call){start, end, thread, (uint16_t)region, (uint16_t)flags};
}

static size_t read_all(struct cm_call *calls, size_t n_room, size_t n_batch, uint64_t *ret_n_bad)
{
	struct cm_spool_reader reader;
	struct cm_diag diag = {0};
	struct cm_stream *stream;
	size_t n = 0;
	long got;

	cr_assert_eq(cm_spool_reader_open(&reader, spool, &diag), 0, "%s", diag.text);
	cr_assert_eq(reader.n_slots, 1);
	cr_assert_eq(cm_stream_open(&stream, &reader, 0, &diag), 0);
	while ((got = cm_stream_read(stream, calls + n,
				     n_batch < n_room - n ? n_batch : n_room - n)) > 0)
		n += (size_t)got;
	cr_assert_eq(got, 0);
	*ret_n_bad = cm_stream_n_bad(stream);
	cm_stream_close(stream);
	cm_spool_reader_close(&reader);
	return n;
}

static void expect_known(const char *what, uint64_t n_bad)
{
	static struct cm_call calls[MAX_CALLS];
	uint64_t got_bad;
	size_t n = read_all(calls, MAX_CALLS, 97, &got_bad);

	cr_assert_eq(n, known.n, "%s: %zu calls, not %zu", what, n, known.n);
	for (size_t i = 0; i < n; i++)
		cr_assert(!memcmp(&calls[i], &known.calls[i], sizeof(calls[i])),
			  "%s: call %zu is %lu..%lu of %u, not %lu..%lu of %u", what, i,
			  (unsigned long)calls[i].start, (unsigned long)calls[i].end,
			  calls[i].region, (unsigned long)known.calls[i].start,
			  (unsigned long)known.calls[i].end, known.calls[i].region);
	cr_assert_eq(got_bad, n_bad, "%s: %lu bad, not %lu", what, (unsigned long)got_bad,
		     (unsigned long)n_bad);
}

Test(stream, decodes_every_kind_of_record)
{
	spool_words_thread(&words, 0);
	add(0, 1000000, 1000050, 0, 0);		   /* long: no reference point yet */
	add(1, 1000040, 1000040, 0, 0);		   /* before it: long again */
	add(7, 1000100, 1000100 + 8388607, 0, 0);  /* short, the longest */
	add(7, 1000100, 1000100 + 8388608, 0, 0);  /* one longer */
	add(0, 9388708, 9388708 + 16777215, 0, 0); /* the duration is too long again */
	add(1, UINT64_C(30000000), UINT64_C(30000000) + (UINT64_C(1) << 36), 0, 0); /* huge */
	spool_words_raw(&words, (uint64_t)CM_WORD_NOP << CM_WORD_KIND_SHIFT | 12345);
	spool_words_thread(&words, 1);
	add(0, UINT64_C(90000000000), UINT64_C(90000000001), CM_CALL_UNWOUND, 1);
	add(0, UINT64_C(90000000000), UINT64_C(90000000007), CM_CALL_SKIPPED, 1);
	add(0, UINT64_C(90000000005), UINT64_C(90000000009), 0, 1);
	spool_maker_dat(&maker, 0, &words);
	expect_known("all kinds", 0);
}

/* A random stream of calls, a few of them recursive, some far apart. */
static void make_random(unsigned int seed, size_t n)
{
	static const uint32_t regions[] = {0, 1, 7};
	uint64_t tick = 5000;

	srand(seed);
	spool_words_thread(&words, 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t duration = (uint64_t)rand() >> (rand() % 31);

		tick += 1 + ((uint64_t)rand() >> (rand() % 31));
		if (rand() % 97 == 0)
			duration <<= 20;
		add(regions[rand() % 3], tick, tick + duration,
		    rand() % 50 ? 0 : 1 + (unsigned int)rand() % 2, 0);
		tick += duration;
	}
}

Test(stream, finds_the_same_calls_wherever_the_ring_stands)
{
	make_random(1, 300);
	for (size_t base = 0; base <= words.n; base += 13) {
		struct spool_words drained = {.words = words.words, .n = base};
		struct spool_ring ring = {.stream_base = 8 * base,
					  .words = words.words + base,
					  .n_words = words.n - base,
					  .n_room = words.n - base + 40};
		char what[32];

		snprintf(what, sizeof(what), "ring at %zu", base);
		spool_maker_dat(&maker, 0, &drained);
		spool_maker_ring(&maker, 0, "map", &ring);
		expect_known(what, 0);
	}
}

/*
 * A drain writes the ring's words to the file, clears the ring, then moves its base. Killed after
 * n_written of the words, or after n_cleared of them, or before or after the base was moved, the
 * stream is the same.
 */
static void leave_drain(size_t first, size_t n_written, size_t n_cleared, size_t n_moved)
{
	uint64_t ring_words[N_RING] = {0};
	struct spool_words drained = {.words = words.words, .n = first + n_written};
	struct spool_ring ring = {
		.stream_base = 8 * (first + n_moved), .words = ring_words, .n_words = N_RING};

	if (!n_moved)
		memcpy(ring_words + n_cleared, words.words + first + n_cleared,
		       8 * (N_RING - n_cleared));
	spool_maker_dat(&maker, 0, &drained);
	spool_maker_ring(&maker, 0, "map", &ring);
}

Test(stream, survives_a_kill_at_every_point_of_a_drain)
{
	make_random(2, 60);
	while (words.n < 3 * N_RING || words.n % N_RING)
		spool_words_raw(&words, (uint64_t)CM_WORD_NOP << CM_WORD_KIND_SHIFT);
	for (size_t i = 0; i <= N_RING; i++) {
		leave_drain(words.n - N_RING, i, 0, 0);
		expect_known("while writing", 0);
		leave_drain(words.n - N_RING, N_RING, i, 0);
		expect_known("while clearing", 0);
	}
	leave_drain(words.n - N_RING, N_RING, N_RING, N_RING);
	expect_known("moved", 0);
}

Test(stream, joins_any_number_of_ring_segments)
{
	size_t n_each;

	make_random(3, 200);
	n_each = (words.n + 9) / 10;
	for (size_t i = 0; i * n_each < words.n; i++) {
		size_t n_left = words.n - i * n_each;
		struct spool_ring ring = {.stream_base = 8 * i * n_each,
					  .words = words.words + i * n_each,
					  .n_words = n_left < n_each ? n_left : n_each};
		char suffix[32] = "map";

		/* The map is the newest ring. */
		if (i > 0)
			snprintf(suffix, sizeof(suffix), "s%zu", i - 1);
		spool_maker_ring(&maker, 0, suffix, &ring);
	}
	expect_known("segments", 0);
}

Test(stream, skips_what_was_never_published)
{
	struct spool_ring ring;

	spool_words_raw(&words, 0);
	add(0, 1000, 1010, 0, 0);
	spool_words_raw(&words, 0);
	spool_words_raw(&words, 0);
	add(0, 1020, 1030, 0, 0);
	/* A handler's calls behind a slot that was reserved, and never filled. */
	spool_words_raw(&words, 0);
	add(1, 1024, 1026, 0, 0);
	/* The last one: a head whose end is missing. */
	spool_words_raw(&words, (uint64_t)CM_WORD_LONG << CM_WORD_KIND_SHIFT | 5);
	ring = (struct spool_ring){.words = words.words, .n_words = words.n, .n_room = 4096};
	spool_maker_ring(&maker, 0, "map", &ring);
	expect_known("unpublished", 0);
}

Test(stream, drops_and_counts_records_that_make_no_sense)
{
	spool_words_thread(&words, 0);
	spool_words_raw(&words, CM_WORD_SHORT_BIT | 5); /* no reference point */
	add(0, 1000, 1010, 0, 0);
	spool_words_call(&words, 2, 1010, 1020, 0);	/* a region without a name */
	spool_words_call(&words, 60000, 1010, 1020, 0); /* one beyond all */
	spool_words_raw(&words, CM_WORD_SHORT_BIT | UINT64_C(2000) << 24); /* starts before 0 */
	spool_words_raw(&words, UINT64_C(99) << CM_WORD_KIND_SHIFT);	   /* an unknown kind */
	spool_words_thread(&words, CM_SPOOL_MAX_THREADS);		   /* no such thread */
	spool_words_call(&words, 0, 1010, 1020, 0);
	spool_words_thread(&words, 1);
	add(0, 1030, 1040, 0, 1);
	spool_words_raw(&words, (uint64_t)CM_WORD_HUGE << CM_WORD_KIND_SHIFT); /* ends first */
	spool_words_raw(&words, 2000);
	spool_words_raw(&words, 3000);
	words.base = 2000;
	add(0, 2000, 2010, 0, 1);
	spool_maker_dat(&maker, 0, &words);
	expect_known("nonsense", 8);
}

Test(stream, gives_calls_of_threads_without_an_entry_to_an_unknown_one)
{
	spool_words_thread(&words, 55);
	add(0, 1000, 1010, 0, 2); /* two threads are known */
	spool_maker_dat(&maker, 0, &words);
	expect_known("unknown thread", 0);
}

Test(stream, forgets_the_reference_point_behind_a_hole)
{
	size_t hole = 4096;
	struct spool_ring ring;
	struct spool_words second = {.base = 1010};

	add(0, 1000, 1010, 0, 0);
	spool_maker_dat(&maker, 0, &words);
	/* Words are missing between: the first short record's base is anybody's guess. */
	spool_words_call(&second, 0, 1020, 1030, 0);
	second.base = 0;
	spool_words_call(&second, 1, 9000, 9010, 0);
	known.calls[known.n++] = (struct cm_call){9000, 9010, 0, 1, 0};
	ring = (struct spool_ring){
		.stream_base = 8 * hole, .words = second.words, .n_words = second.n};
	spool_maker_ring(&maker, 0, "map", &ring);
	expect_known("hole", 1);
	spool_words_fini(&second);
}

Test(stream, reads_streams_longer_than_its_buffer_in_pieces_of_any_size)
{
	static struct cm_call calls[200000];
	uint64_t n_bad, tick = 1000;
	size_t n;

	for (size_t i = 0; i < 100000; i++) {
		/* Long and short ones in turn, so that operands meet every buffer's end. */
		tick += i % 3 ? 100 : UINT64_C(1) << 25;
		spool_words_call(&words, 1, tick, tick + 5 + i % 7, 0);
	}
	spool_maker_dat(&maker, 0, &words);
	for (size_t n_batch = 1; n_batch < 100000; n_batch = 7 * n_batch + 3) {
		n = read_all(calls, 200000, n_batch, &n_bad);
		cr_assert_eq(n, 100000);
		cr_assert_eq(n_bad, 0);
		cr_assert_eq(calls[99999].start, tick);
		for (size_t i = 0; i < n; i++)
			cr_assert_eq(calls[i].end - calls[i].start, 5 + i % 7);
	}
}

Test(stream, loses_only_the_tail_of_a_truncated_file)
{
	static struct cm_call calls[MAX_CALLS];
	char path[128];
	uint64_t n_bad;
	size_t n, n_before = 0;

	make_random(4, 40);
	spool_maker_dat(&maker, 0, &words);
	snprintf(path, sizeof(path), "%s/t0.dat", spool);
	for (size_t cut = 0; cut <= 8 * words.n; cut++) {
		spool_maker_dat(&maker, 0, &words);
		cr_assert_eq(truncate(path, (off_t)cut), 0);
		n = read_all(calls, MAX_CALLS, 50, &n_bad);
		cr_assert_eq(n_bad, 0);
		cr_assert_geq(n, n_before);
		cr_assert_leq(n, n_before + 1);
		cr_assert(!memcmp(calls, known.calls, n * sizeof(*calls)), "cut at %zu", cut);
		n_before = n;
	}
	cr_assert_eq(n_before, known.n);
}
