/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A constructor or destructor has up to three copies of one source function: the complete object's
 * (C1, D1), the base's (C2, D2), the one that also frees (D0), and what GCC -Os makes all of them
 * call (C4, D4); a virtual function may have thunks that correct the object's address. Where one
 * calls another, only the innermost is intercepted, so that a call counts once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/code-entry.h"
#include "collector/sites.h"

#define MAX_TWINS 8
#define MAX_TARGETS 4 /* the function itself and its entries in the PLT */

/* A name and its function; all C++ ones, for any may be behind a thunk. */
struct copy {
	const char *name;
	struct cm_sites_row *row;
};

struct twins {
	struct copy *copies; /* ascending by name */
	size_t n_copies;
	char *buf; /* room for the longest name */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct copy *)a)->name, ((const struct copy *)b)->name);
}

/* Can it be one that calls another? */
static bool may_be_copy(const char *name)
{
	return name[2] == 'T' || strstr(name, "C1") || strstr(name, "C2") || strstr(name, "D0") ||
	       strstr(name, "D1") || strstr(name, "D2");
}

static size_t list_copies(const struct cm_sites_object *object, struct copy *copies)
{
	size_t n = 0;

	for (size_t i = 0; i < object->n_rows; i++)
		for (size_t j = 0; j < object->rows[i].n_aliases; j++) {
			const char *name =
				object->symbols.symbols[object->rows[i].first_alias + j].name;

			if (strncmp(name, "_Z", 2) != 0)
				continue;
			if (copies)
				copies[n] = (struct copy){name, &object->rows[i]};
			n++;
		}
	return n;
}

static struct cm_sites_row *find(const struct twins *twins, const char *name)
{
	struct copy key = {name, NULL};
	const struct copy *found =
		bsearch(&key, twins->copies, twins->n_copies, sizeof(key), by_name);

	return found ? found->row : NULL;
}

/* "_ZThn16_N3one3twoEv" and "_ZTv0_n24_N..." are thunks to "_ZN3one3twoEv": the "N..." of it. */
static const char *thunk_target(const char *name)
{
	unsigned int n_numbers = !strncmp(name, "_ZTh", 4) ? 1 : !strncmp(name, "_ZTv", 4) ? 2 : 0;
	const char *p = name + 4;

	for (unsigned int i = 0; i < n_numbers; i++) {
		p += *p == 'n';
		p += strspn(p, "0123456789");
		if (*p++ != '_')
			return NULL;
	}
	return n_numbers ? p : NULL;
}

static void add(struct cm_sites_row **inner, size_t *n_inner, struct cm_sites_row *row)
{
	if (row && *n_inner < MAX_TWINS)
		inner[(*n_inner)++] = row;
}

/*
 * What a copy with this name may call. Which letters of it are the mark is not looked into: a
 * function with such a name exists, and is called, only where it is.
 */
static size_t find_inner(const struct twins *twins, const char *name, struct cm_sites_row **inner)
{
	static const char turns[][4] = {"C1C2", "C1C4", "C2C4", "D0D1", "D0D2",
					"D0D4", "D1D2", "D1D4", "D2D4"};
	const char *target = thunk_target(name);
	size_t n_inner = 0;
	char *buf = twins->buf;

	if (target) {
		strcpy(buf, "_Z");
		strcat(buf, target);
		add(inner, &n_inner, find(twins, buf));
	}
	strcpy(buf, name);
	for (char *p = buf + 2; *p && p[1]; p++)
		for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
			if (p[0] != turns[i][0] || p[1] != turns[i][1])
				continue;
			p[1] = turns[i][3];
			add(inner, &n_inner, find(twins, buf));
			p[1] = turns[i][1];
		}
	return n_inner;
}

static bool is_counted(const struct cm_sites_row *row)
{
	return row->site.how != CM_SITE_HOW_REFUSED || !strncmp(row->reason, "twin:", 5);
}

/* Does it call the other one, itself or through the PLT? */
static bool calls(const struct cm_sites_object *object, const struct cm_sites_row *row,
		  const struct cm_sites_row *other)
{
	const struct cm_site_function *site = &row->site;
	uint64_t targets[MAX_TARGETS] = {other->site.offset};
	size_t n_slots, n = 1;
	const struct cm_elf_slot *slots =
		cm_elf_slots_find(&object->slots, other->site.offset, &n_slots);

	for (size_t i = 0; i < n_slots && n < MAX_TARGETS; i++)
		targets[n++] = slots[i].entry;
	return cm_code_entry_calls(cm_elf_code_at(&object->code, site->offset, site->size),
				   site->size, site->offset, targets, n) >= 0;
}

static int check_copy(struct cm_sites_object *object, const struct twins *twins,
		      const struct copy *copy)
{
	struct cm_sites_row *row = copy->row, *inner[MAX_TWINS];
	size_t n_inner;

	if (row->site.how == CM_SITE_HOW_REFUSED || !may_be_copy(copy->name))
		return 0;
	n_inner = find_inner(twins, copy->name, inner);
	for (size_t i = 0; i < n_inner; i++)
		if (inner[i] != row && is_counted(inner[i]) && calls(object, row, inner[i]))
			return cm_sites_refuse(object, row, "twin: it calls %s, which is counted",
					       inner[i]->symbol);
	return 0;
}

int cm_sites_twins(struct cm_sites_object *object)
{
	size_t n = list_copies(object, NULL), n_longest = 0;
	struct twins twins = {.copies = calloc(n + 1, sizeof(twins.copies[0])), .n_copies = n};
	int rc = twins.copies ? 0 : -ENOMEM;

	if (rc >= 0 && n) {
		(void)list_copies(object, twins.copies); /* as many as before */
		qsort(twins.copies, n, sizeof(twins.copies[0]), by_name);
		for (size_t i = 0; i < n; i++)
			if (strlen(twins.copies[i].name) > n_longest)
				n_longest = strlen(twins.copies[i].name);
		twins.buf = malloc(n_longest + 1);
		rc = twins.buf ? 0 : -ENOMEM;
	}
	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = check_copy(object, &twins, &twins.copies[i]);
	free(twins.buf);
	free(twins.copies);
	return rc;
}
