/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as profiling_data.h5: open, look at everything, read some calls. h5-mutate.c changes
 * what files with checksums say.
 *
 * Leaks and absurd requests for memory are HDF5's own, on its error paths: scripts/fuzz.sh allows
 * them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/h5-input.h"
#include "writer/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void read_rank(struct cm_results *results, size_t idx)
{
	const struct cm_result_rank *rank = cm_results_rank(results, idx);
	int64_t starts[16], ends[16];
	int32_t threads[16];

	for (size_t i = 0; i < rank->n_regions; i++) {
		const struct cm_profile_region *stats = &rank->regions[i].stats;

		for (size_t k = 0; k < stats->n_paths; k++)
			if (stats->path_frames[k][0] == '\1' && stats->path_calls[k] == 1)
				putchar(0); /* they are there */
	}
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
	const char *path = h5_input(data, n_bytes);
	struct cm_results *results;
	struct cm_diag diag = {0};

	if (!path)
		return 0;
	if (cm_results_open(&results, path, &diag) == 0) {
		for (size_t i = 0; i < cm_results_n_ranks(results); i++)
			read_rank(results, i);
		cm_results_close(results);
	} else if (!diag.text[0]) {
		abort(); /* an error without a word */
	}
	return 0;
}
