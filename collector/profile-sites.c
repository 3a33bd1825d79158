/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sites, and what they say of regions. A place that was patched, closed and patched again has
 * several items in the spool: one row, in its last state.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/profile-build.h"

/* FNV-1a over what names a place. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return hash;
}

static uint64_t hash_site(const struct cm_spool_site *site)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ site->rule ^ (uint64_t)site->kind << 32;

	hash = hash_text(hash, site->symbol);
	hash = hash_text(hash, site->version);
	return hash_text(hash, site->object);
}

static bool is_same_place(const struct cm_spool_site *a, const struct cm_spool_site *b)
{
	return a->rule == b->rule && a->kind == b->kind && !strcmp(a->symbol, b->symbol) &&
	       !strcmp(a->version, b->version) && !strcmp(a->object, b->object);
}

/* One row a place, in the order of their first items, in reader->sites itself. */
static int merge_places(struct cm_spool_reader *reader)
{
	size_t n_buckets = 16, n = 0;
	uint32_t *buckets; /* row + 1; 0: free */

	while (n_buckets < 2 * reader->n_sites)
		n_buckets *= 2;
	buckets = calloc(n_buckets, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_sites; i++) {
		const struct cm_spool_site *site = &reader->sites[i];
		size_t at = hash_site(site) & (n_buckets - 1);

		while (buckets[at] && !is_same_place(&reader->sites[buckets[at] - 1], site))
			at = (at + 1) & (n_buckets - 1);
		if (buckets[at]) {
			reader->sites[buckets[at] - 1] = *site;
			continue;
		}
		reader->sites[n++] = *site;
		buckets[at] = (uint32_t)n;
	}
	reader->n_sites = n;
	free(buckets);
	return 0;
}

static const char *kind_name(uint32_t kind)
{
	switch (kind) {
	case CM_SITE_JUMP_SLOT:
		return "jump_slot";
	case CM_SITE_GLOB_DAT:
		return "glob_dat";
	case CM_SITE_DLSYM:
		return "dlsym";
	case CM_SITE_ENTRY:
		return "entry";
	case CM_SITE_TRAP:
		return "trap";
	}
	return "unknown";
}

static const char *state_name(uint32_t state)
{
	switch (state) {
	case CM_SITE_PATCHED:
		return "patched";
	case CM_SITE_REFUSED:
		return "refused";
	case CM_SITE_GONE:
		return "gone";
	}
	return "unknown";
}

static int list_sites(struct cm_profile *profile, struct cm_spool_reader *reader)
{
	struct cm_profile_site *rows;

	rows = cm_arena_array(&reader->arena, reader->n_sites, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_sites; i++) {
		const struct cm_spool_site *site = &reader->sites[i];
		bool has_rule = site->rule < reader->n_rules && reader->rules[site->rule];

		rows[i].rule = has_rule ? reader->rules[site->rule] : "";
		rows[i].symbol = site->symbol;
		rows[i].version = site->version;
		rows[i].object = site->object;
		rows[i].kind = kind_name(site->kind);
		rows[i].state = state_name(site->state);
		rows[i].reason = site->reason;
	}
	profile->sites = rows;
	profile->n_sites = reader->n_sites;
	return 0;
}

static int compare_sites(const void *a, const void *b)
{
	const struct cm_spool_site *x = *(const struct cm_spool_site *const *)a;
	const struct cm_spool_site *y = *(const struct cm_spool_site *const *)b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return strcmp(x->symbol, y->symbol);
}

/* Sites that are, or were, patched, by region, then symbol. The caller frees. */
static int sort_patched(const struct cm_spool_reader *reader,
			const struct cm_spool_site ***ret_sites, size_t *ret_n)
{
	const struct cm_spool_site **sites;
	size_t n = 0;

	sites = malloc((reader->n_sites + 1) * sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_sites; i++) {
		const struct cm_spool_site *site = &reader->sites[i];

		if (site->region < reader->n_regions && reader->regions[site->region].tag &&
		    site->state != CM_SITE_REFUSED)
			sites[n++] = site;
	}
	if (n)
		qsort(sites, n, sizeof(*sites), compare_sites);
	*ret_sites = sites;
	*ret_n = n;
	return 0;
}

/* What n sites of one region say of it: library, and each symbol once. */
static int describe_region(struct cm_arena *arena, struct cm_profile_region *region,
			   const struct cm_spool_site *const *sites, size_t n)
{
	const char **symbols = cm_arena_array(arena, n, sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	region->symbols = symbols;
	for (size_t i = 0; i < n; i++) {
		if (!*region->library)
			region->library = sites[i]->library;
		if (i == 0 || strcmp(sites[i]->symbol, sites[i - 1]->symbol))
			symbols[region->n_symbols++] = sites[i]->symbol;
	}
	return 0;
}

int cm_profile_add_sites(struct cm_profile *profile, struct cm_spool_reader *reader,
			 const struct cm_trace *trace, struct cm_profile_region *regions)
{
	const struct cm_spool_site **sites = NULL;
	const char **never = NULL;
	size_t n = 0, first = 0, at = 0;
	int rc = merge_places(reader);

	if (rc >= 0)
		rc = list_sites(profile, reader);
	if (rc >= 0)
		rc = sort_patched(reader, &sites, &n);
	if (rc >= 0) {
		never = cm_arena_array(&reader->arena, n, sizeof(*never));
		rc = never ? 0 : -ENOMEM;
	}
	for (size_t end; rc >= 0 && first < n; first = end) {
		uint32_t region = sites[first]->region;

		for (end = first + 1; end < n && sites[end]->region == region;)
			end++;
		while (at < trace->n_called && trace->called[at] < region)
			at++;
		if (at < trace->n_called && trace->called[at] == region)
			rc = describe_region(&reader->arena, &regions[at], sites + first,
					     end - first);
		else
			never[profile->n_never_called++] = reader->regions[region].tag;
	}
	profile->never_called = never;
	free(sites);
	return rc;
}
