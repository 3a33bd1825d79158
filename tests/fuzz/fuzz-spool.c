/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hostile spool: process file, map, segment, drained words and totals cut from the input. Every
 * call that comes out must be a sane one, and both passes must agree.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/profile-build.h"
#include "collector/spool-clock.h"
#include "collector/trace.h"
#include "tests/unit/spool-maker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);
void fuzz_spool_clean_up(void); /* for the unit test that replays crashes */

static char tempdir[64];
static char spool[96];
static struct spool_maker maker;

void fuzz_spool_clean_up(void)
{
	spool_maker_remove(tempdir);
}

static void make_folder(void)
{
	if (*tempdir)
		return;
	/* On a tmpfs: a disk would be all that is measured. */
	snprintf(tempdir, sizeof(tempdir), "/dev/shm/callmark-fuzz-XXXXXX");
	assert(mkdtemp(tempdir));
	snprintf(spool, sizeof(spool), "%s/4242-1", tempdir);
	spool_maker_init(&maker, spool, CM_CLOCK_TSC);
	atexit(fuzz_spool_clean_up);
}

/* The next piece of the input: two bytes of length, then that many bytes. */
static void write_piece(const char *name, const uint8_t **data, size_t *n_left)
{
	char path[128];
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%s", spool, name);
	(void)unlink(path); /* of the last round, if there was one */
	if (*n_left < 2)
		return;
	n = (size_t)(*data)[0] | (size_t)(*data)[1] << 8;
	*data += 2;
	*n_left -= 2;
	if (n > *n_left)
		n = *n_left;
	spool_maker_file(&maker, name, *data, n);
	*data += n;
	*n_left -= n;
}

static size_t give_rows(void *ctx, size_t idx)
{
	const struct cm_trace *trace = ctx;
	uint64_t n = trace->regions[trace->called[idx]].n;

	return n < 16 ? (size_t)n : 16;
}

static int take(void *ctx, size_t idx, const int64_t *starts, const int64_t *ends,
		const int32_t *threads, size_t n, struct cm_diag *diag)
{
	const struct cm_trace *trace = ctx;

	(void)diag;
	assert(idx < trace->n_called && n > 0);
	for (size_t i = 0; i < n; i++) {
		assert(starts[i] <= ends[i]);
		assert(i == 0 || starts[i - 1] <= starts[i]);
		assert(!threads || (size_t)threads[i] <= trace->reader->n_threads);
	}
	return 0;
}

static void fold(struct cm_spool_reader *reader, struct cm_clock_map *map)
{
	struct cm_rank rank = {.size = 1, .launcher = ""};
	struct cm_progress progress = {0};
	struct cm_profile profile;
	struct cm_diag diag = {0};
	struct cm_trace trace;
	struct cm_trace_sink sink = {.rows = give_rows,
				     .append = take,
				     .ctx = &trace,
				     .spill_dir = tempdir,
				     .sort_bytes = 1};

	assert(cm_trace_init(&trace, reader, map, &diag) == 0);
	assert(cm_trace_scan(&trace, &progress, &diag) == 0);
	cm_rank_find(cm_spool_reader_getenv, reader, &rank);
	assert(cm_profile_build(&profile, reader, &trace, map, &rank, &diag) == 0);
	assert(cm_trace_write(&trace, &sink, &progress, &diag) == 0);
	cm_profile_finish(&profile, &trace);
	for (size_t i = 0; i < profile.n_regions; i++)
		assert(profile.regions[i].calls >= profile.regions[i].n_trace);
	cm_trace_fini(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct cm_spool_reader reader;
	struct cm_clock_map map;
	struct cm_diag diag = {0};

	make_folder();
	write_piece("process", &data, &n_bytes);
	write_piece("t0.map", &data, &n_bytes);
	write_piece("t0.dat", &data, &n_bytes);
	write_piece("t0.s0", &data, &n_bytes);
	write_piece("t1.dat", &data, &n_bytes);
	write_piece("t1.tot", &data, &n_bytes);
	if (cm_spool_reader_open(&reader, spool, &diag) < 0) {
		assert(diag.text[0]);
		return 0;
	}
	assert(cm_spool_clock_init(&map, &reader) == 0);
	fold(&reader, &map);
	cm_clock_map_fini(&map);
	cm_spool_reader_close(&reader);
	return 0;
}
