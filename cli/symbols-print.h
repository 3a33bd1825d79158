/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Show what cm_symbols_list() found: tables for people, or JSON.
 *
 * set is NULL where no rules were asked about. Threads: one at a time. Errors: -ENOMEM.
 */
#ifndef CALLMARK_CLI_SYMBOLS_PRINT_H
#define CALLMARK_CLI_SYMBOLS_PRINT_H

#include <jansson.h>

#include "cli/symbols-list.h"
#include "cli/terminal.h"

int cm_symbols_print_tables(const struct cm_symbols *list, const struct cm_closure *closure,
			    const struct cm_rule_set *set);

/* The functions of one object; object->entries is not NULL. */
int cm_symbols_print_entries(const struct cm_symbol_object *object,
			     const struct cm_terminal *terminal);

int cm_symbols_print_json(const struct cm_symbols *list, const struct cm_closure *closure,
			  const struct cm_rule_set *set);

/* The same for an object in JSON: what becomes its members "entries" and "debug_file". */
int cm_symbols_put_entries(json_t *object, const struct cm_symbol_entries *entries);

/* Members and elements; value is taken over and may be NULL, as where memory was short. */
int cm_symbols_put(json_t *object, const char *key, json_t *value);
int cm_symbols_add(json_t *array, json_t *value);

/* As above; null for NULL; names need not be UTF-8. */
int cm_symbols_put_string(json_t *object, const char *key, const char *raw);

#endif
