/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of an object by entry, as JSON. */
#include <errno.h>
#include <jansson.h>

#include "cli/symbols-entries.h"
#include "cli/symbols-print.h"

/* NULL, which becomes null, for what the file has as "". */
static const char *or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static int put_row(json_t *object, const struct cm_symbol_entries *entries,
		   const struct cm_symbol_entry *row)
{
	const struct cm_site_function *function = row->function;
	int rc = cm_symbols_put_string(object, "symbol", row->symbol);

	if (!rc)
		rc = cm_symbols_put_string(object, "base_name", row->base_name);
	if (!rc)
		rc = cm_symbols_put_string(
			object, "demangled",
			or_null(cm_site_string(entries->file, function->demangled)));
	if (!rc)
		rc = cm_symbols_put_string(object, "source", or_null(row->source));
	if (!rc)
		rc = cm_symbols_put(object, "address", json_integer((json_int_t)function->offset));
	if (!rc)
		rc = cm_symbols_put(object, "size", json_integer((json_int_t)function->size));
	if (!rc)
		rc = cm_symbols_put_string(object, "how", cm_symbol_entries_how(function->how));
	if (!rc)
		rc = cm_symbols_put_string(object, "rule", row->rule->text);
	if (!rc)
		rc = cm_symbols_put_string(object, "region", row->region);
	if (!rc)
		rc = cm_symbols_put_string(object, "reason", or_null(row->reason));
	return rc;
}

int cm_symbols_put_entries(json_t *object, const struct cm_symbol_entries *entries)
{
	const char *debug_file = or_null(cm_site_string(entries->file, entries->file->debug_file));
	json_t *rows = json_array();
	int rc = cm_symbols_put(object, "entries", rows);

	if (!rc)
		rc = cm_symbols_put_string(object, "debug_file", debug_file);
	for (size_t i = 0; !rc && i < entries->n_rows; i++) {
		json_t *row = json_object();

		rc = cm_symbols_add(rows, row);
		if (!rc)
			rc = put_row(row, entries, &entries->rows[i]);
	}
	return rc;
}
