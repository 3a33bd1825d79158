/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of an inspection that compares several ranks: balances, the order of the table over
 * ranks, and counters over ranks. Internal to cli/inspect-model.c. Errors: -ENOMEM.
 */
#ifndef CALLMARK_CLI_INSPECT_RANKS_H
#define CALLMARK_CLI_INSPECT_RANKS_H

#include "cli/inspect-gather.h"

/* Of the first section's regions, which are the gather's groups in their order. */
int cm_ranks_set_balances(struct cm_inspection *inspection, const struct cm_gather *gather,
			  struct cm_diag *diag);

/* by_balance, merged and the first section's counters; nothing where there is one rank. */
int cm_ranks_finish(struct cm_inspection *inspection, const struct cm_inspect_options *options,
		    struct cm_diag *diag);

#endif
