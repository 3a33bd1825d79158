/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be intercepted, as JSON. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/symbols-print.h"
#include "cli/text.h"

/* null for NULL; names need not be UTF-8. */
static json_t *make_string(const char *raw)
{
	json_t *string;
	char *text;

	if (!raw)
		return json_null();
	if (cm_text_repair(raw, &text) < 0)
		return NULL;
	string = json_string(text);
	free(text);
	return string;
}

int cm_symbols_put(json_t *object, const char *key, json_t *value)
{
	return value && object && !json_object_set_new(object, key, value) ? 0 : -ENOMEM;
}

int cm_symbols_add(json_t *array, json_t *value)
{
	return value && array && !json_array_append_new(array, value) ? 0 : -ENOMEM;
}

int cm_symbols_put_string(json_t *object, const char *key, const char *raw)
{
	return cm_symbols_put(object, key, make_string(raw));
}

static int put_kinds(json_t *object, unsigned means)
{
	json_t *kinds = json_array();
	int rc = cm_symbols_put(object, "kinds", kinds);

	if (!rc && (means & CM_IMPORT_JUMP_SLOT))
		rc = cm_symbols_add(kinds, json_string("jump_slot"));
	if (!rc && (means & CM_IMPORT_GLOB_DAT))
		rc = cm_symbols_add(kinds, json_string("glob_dat"));
	return rc;
}

static int add_row(json_t *rows, const struct cm_symbol_row *row)
{
	json_t *object = json_object();
	int rc = cm_symbols_add(rows, object);

	if (!rc)
		rc = cm_symbols_put_string(object, "symbol", row->import->symbol);
	if (!rc)
		rc = cm_symbols_put_string(object, "demangled", row->demangled);
	if (!rc)
		rc = cm_symbols_put_string(object, "library", row->library);
	if (!rc)
		rc = put_kinds(object, row->import->means);
	if (!rc)
		rc = cm_symbols_put_string(object, "rule", row->rule ? row->rule->text : NULL);
	if (!rc)
		rc = cm_symbols_put_string(object, "region", row->region);
	if (!rc)
		rc = cm_symbols_put_string(object, "reason", row->reason);
	return rc;
}

static int add_object(json_t *objects, const struct cm_symbol_object *found)
{
	json_t *object = json_object();
	json_t *rows = json_array();
	int rc = cm_symbols_add(objects, object);

	if (rc) {
		json_decref(rows);
		return rc;
	}
	rc = cm_symbols_put(object, "functions", rows);
	if (!rc)
		rc = cm_symbols_put_string(object, "path", found->item->path);
	if (!rc)
		rc = cm_symbols_put_string(object, "name", found->item->name);
	for (size_t i = 0; !rc && i < found->n_rows; i++)
		rc = add_row(rows, &found->rows[i]);
	if (!rc && found->entries)
		rc = cm_symbols_put_entries(object, found->entries);
	return rc;
}

static int fill(json_t *root, const struct cm_symbols *list, const struct cm_closure *closure,
		const struct cm_rule_set *set)
{
	json_t *objects = json_array(), *missing = json_array(), *unmatched = json_array();
	int rc = cm_symbols_put(root, "objects", objects);

	rc = cm_symbols_put(root, "missing_libraries", missing) ?: rc;
	rc = cm_symbols_put(root, "unmatched_rules", unmatched) ?: rc;
	for (size_t i = 0; !rc && i < list->n_objects; i++)
		rc = add_object(objects, &list->objects[i]);
	for (size_t i = 0; !rc && i < closure->n_items; i++)
		if (!closure->items[i].elf)
			rc = cm_symbols_add(missing, make_string(closure->items[i].name));
	for (uint32_t i = 0; !rc && set && i < set->rules.n_rules; i++)
		if (!set->rules.rules[i].exclude && !list->is_matched[i])
			rc = cm_symbols_add(unmatched, make_string(set->rules.rules[i].text));
	return rc;
}

int cm_symbols_print_json(const struct cm_symbols *list, const struct cm_closure *closure,
			  const struct cm_rule_set *set)
{
	json_t *root = json_object();
	int rc = root ? fill(root, list, closure, set) : -ENOMEM;

	/* What stdout does not take is noticed when it is flushed. */
	if (!rc)
		(void)json_dumpf(root, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	if (!rc)
		putchar('\n');
	json_decref(root);
	return rc;
}
