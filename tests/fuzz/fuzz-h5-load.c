/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as profiling_data.h5: open, look at everything, read some calls.
 *
 * Files whose format has checksums, ours among them, are loaded in this process; h5-mutate.c
 * changes what they say. Those of HDF5's older format are loaded in a child first
 * (writer/h5-trial.c), which may die of it. That is fifty times slower, so they are passed over
 * unless CALLMARK_FUZZ_OLD is set; a child that dies may leave a crash-* file then: only the end of
 * the fuzzer is a finding.
 *
 * Leaks and absurd requests for memory are HDF5's own, on its error paths: scripts/fuzz.sh allows
 * them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "writer/h5-base.h"
#include "writer/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void read_rank(struct cm_results *results, size_t idx)
{
	const struct cm_result_rank *rank = cm_results_rank(results, idx);
	int64_t starts[16], ends[16];
	int32_t threads[16];

	for (size_t i = 0; i < rank->n_regions; i++) {
		uint64_t n_calls = rank->regions[i].n_calls;
		size_t n = n_calls < 16 ? n_calls : 16;

		if (cm_results_read_calls(results, idx, i, n_calls - n, n, starts, ends, threads,
					  NULL) < 0)
			continue;
		for (size_t k = 0; k < n; k++)
			if (threads[k] >= 0 && rank->threads[threads[k]].name[0] == '\1')
				putchar(0); /* the index is good and the text is there */
	}
}

/* The first superblock decides, as in writer/h5-trial.c. */
static bool is_old(const uint8_t *data, size_t n_bytes)
{
	for (size_t at = 0; at + 9 <= n_bytes; at = at ? 2 * at : 512)
		if (memcmp(data + at, "\x89HDF\r\n\x1a\n", 8) == 0)
			return data[at + 8] < 2;
	return false;
}

/* Once: one file in memory for all rounds. HDF5 keeps its memory, which is most of the speed. */
static int start(void)
{
	struct cm_diag diag = {0};
	int fd = memfd_create("input.h5", MFD_CLOEXEC);

	if (fd < 0 || cm_h5_init(&diag) < 0 || H5set_free_list_limits(-1, -1, -1, -1, -1, -1) < 0)
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static int fd = -1;
	struct cm_results *results;
	struct cm_diag diag = {0};
	char path[64];

	if (is_old(data, n_bytes) && !getenv("CALLMARK_FUZZ_OLD"))
		return 0;
	if (fd < 0)
		fd = start();
	if (ftruncate(fd, (off_t)n_bytes) < 0 || pwrite(fd, data, n_bytes, 0) != (ssize_t)n_bytes)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (cm_results_open(&results, path, &diag) == 0) {
		for (size_t i = 0; i < cm_results_n_ranks(results); i++)
			read_rank(results, i);
		cm_results_close(results);
	} else if (!diag.text[0]) {
		abort(); /* an error without a word */
	}
	return 0;
}
