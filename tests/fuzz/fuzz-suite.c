/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile suite file: what is accepted has all that its sizes say, what is not says why. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "cli/suite-parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* All of it is there: AddressSanitizer watches. */
static volatile size_t n_seen;

static void check_worker(const struct cm_worker_row *row)
{
	const struct cm_declaration *declaration = &row->declaration;

	for (size_t i = 0; i < row->n_files; i++) {
		assert(row->files[i].path[0] == '/');
		assert(strlen(row->files[i].sha256) == 64);
	}
	for (size_t i = 0; i < row->n_probes; i++)
		n_seen += strlen(row->probes[i].function);
	for (size_t i = 0; i < declaration->n_cpuids; i++)
		assert(declaration->cpuids[i] >= 0);
	for (size_t i = 0; i < declaration->n_units; i++)
		n_seen += strlen(declaration->units[i].event) + strlen(declaration->units[i].unit);
	assert(!row->source.path || row->source.path[0] == '/');
}

static void check_row(const struct cm_suite_row *row)
{
	assert(*row->case_id && strlen(row->case_id) <= CM_SUITE_MAX_ID);
	assert(*row->target_id && strlen(row->target_id) <= CM_SUITE_MAX_ID);
	assert(!strchr(row->case_id, '/') && *row->case_id != '.');
	assert(row->planned || (row->worker.source.path && row->worker.declaration.event_set));
	n_seen += strlen(row->target_kind);
	check_worker(&row->worker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct cm_suite suite = {0};
	struct cm_diag diag = {0};

	if (cm_suite_parse(&suite, (const char *)data, n_bytes, "fuzz", "/folder", &diag) < 0)
		assert(diag.text[0]);
	else
		for (size_t i = 0; i < suite.n_rows; i++)
			check_row(&suite.rows[i]);
	cm_suite_free(&suite);
	return 0;
}
