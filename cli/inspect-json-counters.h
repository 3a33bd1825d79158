/* SPDX-License-Identifier: BSD-3-Clause */
/* The member "likwid" of a rank in an inspection's JSON (cli/inspect-json.h). */
#ifndef CALLMARK_CLI_INSPECT_JSON_COUNTERS_H
#define CALLMARK_CLI_INSPECT_JSON_COUNTERS_H

#include "cli/inspect-model.h"
#include "cli/json-build.h"

/* With the comma before it. The section is one rank's. */
void cm_inspect_json_counters(struct cm_json *json, const struct cm_inspect_section *section);

#endif
