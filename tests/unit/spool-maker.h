/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spools with known contents, for the collector's tests and fuzzers: the format of preload/spool.h
 * written out plainly, by other code than the preload's.
 *
 *	spool_maker_init(&maker, "/tmp/x/123-4f", CM_CLOCK_MONOTONIC);
 *	spool_maker_identity(&maker, "run", "/tmp/x/out.h5");
 *	spool_maker_region(&maker, 0, "work", UINT64_MAX);
 *	spool_maker_thread(&maker, 0, 0, 4711, "main");
 *	spool_words_call(&words, 0, start, end, 0);
 *	spool_maker_dat(&maker, 0, &words);
 *	spool_maker_process(&maker);
 *
 * Whatever fails aborts the test.
 */
#ifndef CALLMARK_TESTS_SPOOL_MAKER_H
#define CALLMARK_TESTS_SPOOL_MAKER_H

#include <stddef.h>
#include <stdint.h>

#include "preload/spool.h"

struct spool_maker {
	char dir[256];
	struct cm_spool_process head;
	char *items;
	size_t n_items; /* bytes */
	size_t n_room;
};

/* A stream in the making. */
struct spool_words {
	uint64_t *words;
	size_t n;
	size_t n_room;
	uint64_t base; /* reference point of short records */
};

/* A ring file; zeroed fields are good defaults. */
struct spool_ring {
	uint64_t stream_base; /* bytes */
	const uint64_t *words;
	size_t n_words;
	size_t n_room;			  /* words of the ring; those beyond n_words are zero */
	const struct cm_spool_open *open; /* map only */
	size_t n_open;
	uint64_t n_dropped;
};

/* An empty folder (made, 0700) of a process 4242. */
void spool_maker_init(struct spool_maker *maker, const char *dir, uint32_t clock);
void spool_maker_fini(struct spool_maker *maker);

/* Any item: the fixed part (its type and bytes are filled in), then strings up to NULL. */
void spool_maker_item(struct spool_maker *maker, uint32_t type, void *fixed, size_t n_fixed, ...)
	__attribute__((sentinel));
void spool_maker_identity(struct spool_maker *maker, const char *run_id, const char *output);
void spool_maker_env(struct spool_maker *maker, const char *variable);
void spool_maker_region(struct spool_maker *maker, uint32_t region, const char *tag,
			uint64_t max_events);
void spool_maker_site(struct spool_maker *maker, uint32_t region, const char *symbol,
		      const char *library, uint32_t state);
void spool_maker_thread(struct spool_maker *maker, uint32_t thread, uint32_t slot, uint64_t tid,
			const char *name);
void spool_maker_sync(struct spool_maker *maker, uint64_t tick, uint64_t mono_ns);

/* Loaded at [base, base + n_bytes), or closed there. */
void spool_maker_object(struct spool_maker *maker, const char *path, const char *build_id,
			uint64_t base, uint64_t n_bytes, int is_closed);
void spool_maker_function(struct spool_maker *maker, uint32_t region, uint64_t address);
void spool_maker_path(struct spool_maker *maker, uint32_t path, uint32_t region, uint32_t flags,
		      const uint64_t *frames, uint32_t n_frames);

/* Write the files. */
void spool_maker_process(const struct spool_maker *maker);
void spool_maker_dat(const struct spool_maker *maker, uint32_t slot,
		     const struct spool_words *words);
void spool_maker_ring(const struct spool_maker *maker, uint32_t slot, const char *suffix,
		      const struct spool_ring *ring);
void spool_maker_totals(const struct spool_maker *maker, uint32_t slot,
			const struct cm_spool_totals *blocks, size_t n);
void spool_maker_path_totals(const struct spool_maker *maker, uint32_t slot,
			     const struct cm_spool_path_total *totals, size_t n);
void spool_maker_file(const struct spool_maker *maker, const char *name, const void *data,
		      size_t n_bytes);

/* One call, encoded as the preload does: short where it can be. */
void spool_words_call(struct spool_words *words, uint32_t region, uint64_t start, uint64_t end,
		      unsigned int flags);
void spool_words_thread(struct spool_words *words, uint64_t thread);
void spool_words_raw(struct spool_words *words, uint64_t word);
void spool_words_fini(struct spool_words *words);

/* A fresh folder below /tmp; remove it with all that is in it. */
void spool_maker_tempdir(char *buf, size_t n_bytes);
void spool_maker_remove(const char *dir);

#endif
