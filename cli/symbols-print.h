/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Show what cm_symbols_list() found: tables for people, or JSON.
 *
 * set is NULL where no rules were asked about. Threads: one at a time. Errors: -ENOMEM.
 */
#ifndef CALLMARK_CLI_SYMBOLS_PRINT_H
#define CALLMARK_CLI_SYMBOLS_PRINT_H

#include "cli/symbols-list.h"

int cm_symbols_print_tables(const struct cm_symbols *list, const struct cm_closure *closure,
			    const struct cm_rule_set *set);

int cm_symbols_print_json(const struct cm_symbols *list, const struct cm_closure *closure,
			  const struct cm_rule_set *set);

#endif
