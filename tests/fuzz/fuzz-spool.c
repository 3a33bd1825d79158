/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hostile spool: process file, map, segment, drained words, totals and sums by path cut from the
 * input. Every call that comes out must be a sane one, and both passes must agree.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdbool.h>
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

/* A file of the spool, and what is in it: it is written only where it changes. */
struct piece {
	const char *name;
	int fd; /* -1: there is none */
	size_t n_bytes;
	uint8_t data[UINT16_MAX];
};

static struct piece pieces[] = {{"process", -1}, {"t0.map", -1}, {"t0.dat", -1}, {"t0.s0", -1},
				{"t1.dat", -1},	 {"t1.tot", -1}, {"t0.pth", -1}};
static char tempdir[64];
static char spool[96];

void fuzz_spool_clean_up(void)
{
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		if (pieces[i].fd >= 0)
			close(pieces[i].fd);
		pieces[i].fd = -1;
	}
	spool_maker_remove(tempdir);
	*tempdir = '\0';
}

static void make_folder(void)
{
	static bool is_registered;

	if (*tempdir)
		return;
	/* On a tmpfs: a disk would be all that is measured. */
	snprintf(tempdir, sizeof(tempdir), "/dev/shm/callmark-fuzz-XXXXXX");
	assert(mkdtemp(tempdir));
	snprintf(spool, sizeof(spool), "%s/4242-1", tempdir);
	assert(mkdir(spool, 0700) == 0);
	if (!is_registered)
		atexit(fuzz_spool_clean_up);
	is_registered = true;
}

static void remove_piece(struct piece *piece, const char *path)
{
	if (piece->fd < 0)
		return;
	assert(unlink(path) == 0);
	close(piece->fd);
	piece->fd = -1;
}

/* The next piece of the input: two bytes of length, then that many bytes. */
static void write_piece(struct piece *piece, const uint8_t **data, size_t *n_left)
{
	char path[128];
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%s", spool, piece->name);
	if (*n_left < 2) {
		remove_piece(piece, path);
		return;
	}
	n = (size_t)(*data)[0] | (size_t)(*data)[1] << 8;
	*data += 2;
	*n_left -= 2;
	if (n > *n_left)
		n = *n_left;
	if (piece->fd < 0 || piece->n_bytes != n || memcmp(piece->data, *data, n) != 0) {
		if (piece->fd < 0)
			piece->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		assert(piece->fd >= 0 && ftruncate(piece->fd, (off_t)n) == 0);
		assert(pwrite(piece->fd, *data, n, 0) == (ssize_t)n);
		piece->n_bytes = n;
		memcpy(piece->data, *data, n);
	}
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

/* The rows sum up to the region's calls, and each is a text. */
static void check_paths(const struct cm_profile_region *region)
{
	uint64_t n_calls = 0;

	for (size_t i = 0; i < region->n_paths; i++) {
		assert(region->path_frames[i][0] && region->path_calls[i]);
		assert(region->path_total_ns[i] >= 0);
		n_calls += region->path_calls[i];
	}
	assert(!region->has_paths || n_calls == region->calls);
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
	assert(cm_profile_add_paths(&profile, reader, &trace, map, false, &diag) == 0);
	assert(cm_trace_write(&trace, &sink, &progress, &diag) == 0);
	cm_profile_finish(&profile, &trace);
	for (size_t i = 0; i < profile.n_regions; i++) {
		assert(profile.regions[i].calls >= profile.regions[i].n_trace);
		check_paths(&profile.regions[i]);
	}
	cm_trace_fini(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct cm_spool_reader reader;
	struct cm_clock_map map;
	struct cm_diag diag = {0};

	make_folder();
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		write_piece(&pieces[i], &data, &n_bytes);
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
