/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as profiling_data.h5: open, look at everything, read some calls.
 *
 *	ASAN_OPTIONS=allocator_may_return_null=1 \
 *	./fuzz-h5-load -detect_leaks=0 -malloc_limit_mb=100000 -close_fd_mask=2 CORPUS tests/data/h5
 *
 * Leaks and absurd requests for memory are HDF5's own, on its error paths. A child that dies while
 * it tries a file for us (writer/h5-trial.c) may leave a crash-* file; only the end of the fuzzer
 * itself is a finding.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	int fd = memfd_create("input.h5", 0);
	struct cm_results *results;
	struct cm_diag diag = {0};
	char path[64];

	if (fd < 0 || write(fd, data, n_bytes) != (ssize_t)n_bytes)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (cm_results_open(&results, path, &diag) == 0) {
		for (size_t i = 0; i < cm_results_n_ranks(results); i++)
			read_rank(results, i);
		cm_results_close(results);
	} else if (!diag.text[0]) {
		abort(); /* an error without a word */
	}
	close(fd);
	return 0;
}
