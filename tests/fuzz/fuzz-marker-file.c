/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile marker file: whatever comes out must be as its own sizes say, and without surprises. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/marker-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* All of it is there: AddressSanitizer watches. */
static volatile double sum;

static void check_region(const struct cm_marker_file *file, const struct cm_marker_region *region)
{
	if (!region->tag) {
		assert(region->n_rows == 0);
		return;
	}
	assert(region->group >= 0 && (uint64_t)region->group < file->n_groups);
	assert(!strchr(region->tag, '\n'));
	assert(region->n_events <= CM_MARKER_FILE_MAX_EVENTS);
	for (size_t i = 0; i < region->n_rows; i++) {
		assert(region->cpus[i] >= 0 && region->counts[i] >= 0);
		sum += region->times[i];
		for (size_t k = 0; k < region->n_events; k++)
			sum += region->events[k * region->n_rows + i];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct cm_arena arena = {0};
	struct cm_marker_file file;
	struct cm_diag diag = {0};
	/* Exactly as long as it says, for AddressSanitizer. */
	char *text = malloc(n_bytes + 1);

	assert(text);
	memcpy(text, data, n_bytes);
	text[n_bytes] = '\0';
	if (cm_marker_file_parse(&file, text, n_bytes, "fuzz", &arena, &diag) < 0) {
		assert(diag.text[0]);
	} else {
		assert(file.n_regions <= n_bytes);
		for (size_t i = 0; i < file.n_regions; i++)
			check_region(&file, &file.regions[i]);
	}
	cm_arena_fini(&arena);
	free(text);
	return 0;
}
