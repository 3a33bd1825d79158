/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the evidence of a suite's row; h5-mutate.c changes what it says. */
#include <stdlib.h>

#include "tests/fuzz/h5-input.h"
#include "writer/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	const char *path = h5_input(data, n_bytes);
	struct cm_bundle_file *file;
	struct cm_diag diag = {0};

	if (!path)
		return 0;
	if (cm_bundle_read(&file, path, &diag) == 0)
		cm_bundle_free(file);
	else if (!diag.text[0])
		abort(); /* an error without a word */
	return 0;
}
