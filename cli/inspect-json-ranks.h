/* SPDX-License-Identifier: BSD-3-Clause */
/* What compares ranks in an inspection's JSON (cli/inspect-json.h). */
#ifndef CALLMARK_CLI_INSPECT_JSON_RANKS_H
#define CALLMARK_CLI_INSPECT_JSON_RANKS_H

#include "cli/inspect-model.h"
#include "cli/json-build.h"

/* The member "over_ranks" of a region in "all_ranks". */
json_t *cm_inspect_json_balance(struct cm_json *json, const struct cm_inspection *inspection,
				const struct cm_inspect_region *region);

/* "aligned_first_ns" and "aligned_last_ns" of a rank. */
void cm_inspect_json_place(struct cm_json *json, json_t *object,
			   const struct cm_inspect_place *place);

/* The same and the raw ones of one of its regions. */
void cm_inspect_json_span(struct cm_json *json, json_t *object,
			  const struct cm_inspect_place *place,
			  const struct cm_inspect_region *region);

/* The member "likwid" of "all_ranks", with the comma before it; only over several ranks. */
void cm_inspect_json_merged(struct cm_json *json, const struct cm_inspection *inspection);

#endif
