/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `callmark inspect --callers`: call trees as text and JSON.
 *
 * JSON, after "ranks":
 *
 *	"callers": {
 *	  "bottom_up": [node]    regions; under each the functions that called it, and so on
 *	  "top_down": [node]     outermost callers; the leaves are regions
 *	}
 *	node: {"name": string, "calls", "total_ns": int, "share": real | null, "children": [node]}
 *	share: of the region (bottom_up), of all regions shown (top_down)
 *
 * Errors: -ENOMEM. Write errors are left to the stream (ferror).
 */
#ifndef CALLMARK_CLI_INSPECT_CALLERS_H
#define CALLMARK_CLI_INSPECT_CALLERS_H

#include "cli/call-tree.h"
#include "cli/inspect-report.h"
#include "cli/json-build.h"

int cm_report_callers(const struct cm_report *report, const struct cm_call_trees *trees);

/* One member, after a comma. */
void cm_inspect_json_callers(struct cm_json *json, const struct cm_call_trees *trees);

/* A node's part of `base`'s time; NaN where that has none. */
double cm_call_node_share(const struct cm_call_node *node, const struct cm_call_node *base);

#endif
