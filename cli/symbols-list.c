/* SPDX-License-Identifier: BSD-3-Clause */
/* Judge each slot as the preload would. */
#include "cli/symbols-list.h"

#include <elf.h>
#include <errno.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols-entries.h"

#define MAX_REGION_BYTES 1024

struct context {
	const struct cm_closure *closure;
	const struct cm_rule_set *set;
	bool *is_matched;
	struct cm_diag *diag;
};

/* The first object that defines it, in the loader's order: 1 and its name and type, 0 none. */
static int find_definition(const struct context *context, const char *symbol,
			   const char **ret_library, uint8_t *ret_type)
{
	for (size_t i = 0; i < context->closure->n_items; i++) {
		const struct cm_closure_item *item = &context->closure->items[i];
		int rc = item->elf ? cm_elf_definition(item->elf, symbol, ret_type, context->diag)
				   : 0;

		/* A library that is damaged defines nothing; the binary's own damage is known. */
		if (rc == -ENOMEM)
			return rc;
		if (rc == 1) {
			*ret_library = item->name;
			return 1;
		}
	}
	return 0;
}

/* What no rule can change. */
static const char *why_never(const struct cm_elf_import *import, bool is_found, uint8_t type)
{
	const char *forbidden = cm_rules_forbidden(import->symbol);

	if (forbidden)
		return forbidden;
	if (!is_found && import->is_weak)
		return "weak, defined nowhere";
	if (type == STT_OBJECT || type == STT_TLS || type == STT_COMMON)
		return "data symbol";
	if (is_found && type != STT_FUNC && type != STT_GNU_IFUNC)
		return "not a function";
	if (import->means == CM_IMPORT_ADDRESS)
		return "address taken only";
	return NULL;
}

/* As the preload does (preload/sites.h): the Fortran layer of an MPI library is no caller. */
static bool is_mpi_binding(const struct context *context, const struct cm_closure_item *caller,
			   const struct cm_symbol_row *row)
{
	char name[CM_RULES_MPI_BYTES], binding[CM_RULES_MPI_BYTES];
	const char *symbol = cm_rules_mpi_name(row->import->symbol, name);
	uint8_t type;

	for (unsigned int i = 0; row->rule->mpi && cm_rules_mpi_binding(symbol, i, binding); i++)
		if (cm_elf_definition(caller->elf, binding, &type, context->diag) == 1)
			return true;
	return false;
}

static int find_rule(const struct context *context, const struct cm_closure_item *caller,
		     struct cm_symbol_row *row)
{
	const struct cm_rules_query query = {
		.symbol = row->import->symbol,
		.demangled = row->demangled,
		.library = row->library,
		.caller = caller->name,
		.caller_is_main = caller == context->closure->items &&
				  cm_elf_kind(caller->elf) == CM_ELF_PROGRAM,
	};
	char region[MAX_REGION_BYTES];
	int rc = cm_rules_find(&context->set->rules, &query, &row->rule);

	if (rc != 1) {
		row->rule = NULL;
		row->reason = rc == -ECANCELED ? "excluded by a rule" : "no rule";
		return 0;
	}
	if (is_mpi_binding(context, caller, row)) {
		row->rule = NULL;
		row->reason = "counted in its Fortran binding";
		return 0;
	}
	context->is_matched[row->rule->index] = true;
	(void)cm_rules_region(row->rule, query.symbol, query.demangled, query.library, region,
			      sizeof(region));
	row->region = strdup(region);
	return row->region ? 0 : -ENOMEM;
}

static int judge(const struct context *context, struct cm_symbol_object *object,
		 const struct cm_elf_import *import)
{
	struct cm_symbol_row *row = &object->rows[object->n_rows++];
	uint8_t type = import->type;
	int rc;

	row->import = import;
	row->demangled = cplus_demangle(import->symbol, DMGL_PARAMS | DMGL_ANSI);
	rc = find_definition(context, import->symbol, &row->library, &type);
	if (rc < 0)
		return rc;
	row->reason = why_never(import, rc == 1, type);
	if (row->reason)
		return 0;
	object->n_possible++;
	rc = context->set ? find_rule(context, object->item, row) : 0;
	object->n_matched += row->rule != NULL;
	return rc;
}

static int list_object(const struct context *context, struct cm_symbol_object *object,
		       const struct cm_closure_item *item)
{
	size_t n_imports = 0;
	int rc = cm_elf_imports(item->elf, &object->imports, &n_imports, context->diag);

	if (rc < 0)
		return rc;
	object->item = item;
	object->rows = calloc(n_imports + 1, sizeof(object->rows[0]));
	if (!object->rows)
		return -ENOMEM;
	for (size_t i = 0; i < n_imports && rc >= 0; i++)
		rc = judge(context, object, &object->imports[i]);
	return rc;
}

int cm_symbols_list(struct cm_symbols *list, const struct cm_closure *closure,
		    const struct cm_rule_set *set, bool with_deps, struct cm_diag *diag)
{
	struct context context = {closure, set, NULL, diag};
	size_t n_items = with_deps ? closure->n_items : 1;
	int rc = 0;

	memset(list, 0, sizeof(*list));
	list->objects = calloc(n_items, sizeof(list->objects[0]));
	list->is_matched = calloc(set ? set->rules.n_rules + 1 : 1, sizeof(bool));
	if (!list->objects || !list->is_matched)
		rc = -ENOMEM;
	context.is_matched = list->is_matched;
	for (size_t i = 0; rc >= 0 && i < n_items; i++)
		if (closure->items[i].elf && cm_elf_kind(closure->items[i].elf) != CM_ELF_FOREIGN)
			rc = list_object(&context, &list->objects[list->n_objects++],
					 &closure->items[i]);
	if (rc < 0) {
		cm_symbols_fini(list);
		return cm_diag_set(diag, rc, "%s: %s", closure->items[0].name, strerror(-rc));
	}
	return 0;
}

void cm_symbols_fini(struct cm_symbols *list)
{
	for (size_t i = 0; i < list->n_objects; i++) {
		struct cm_symbol_object *object = &list->objects[i];

		for (size_t k = 0; k < object->n_rows; k++) {
			free(object->rows[k].demangled);
			free(object->rows[k].region);
		}
		free(object->rows);
		free(object->imports);
		cm_symbol_entries_free(object->entries);
	}
	free(list->objects);
	free(list->is_matched);
	memset(list, 0, sizeof(*list));
}
