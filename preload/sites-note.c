/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of sites: what was found at each place, and what became of it. A place is listed once
 * however often its object is loaded again; the process file gets each change of its state.
 */
#include <stdatomic.h>
#include <string.h>

#include "preload/memory.h"
#include "preload/process.h"
#include "preload/sites.h"
#include "preload/stub.h"
#include "preload/syscall.h"

/* A library that is opened and closed for ever must not fill the disk: it stays `patched`. */
#define CM_MAX_CLOSED 500

static const char *keep(const char *string)
{
	const char *copy = *string ? cm_memory_string(string) : "";

	return copy ? copy : "";
}

/* The object's name is the same pointer each time it is loaded, and only then. */
static struct cm_site *find_place(const struct cm_site *site)
{
	uint32_t n = atomic_load_explicit(&cm_n_sites, memory_order_relaxed);

	for (uint32_t i = 0; i < n; i++)
		if (cm_sites[i].object == site->object && cm_sites[i].rule == site->rule &&
		    cm_sites[i].kind == site->kind && !strcmp(cm_sites[i].symbol, site->symbol) &&
		    !strcmp(cm_sites[i].version, site->version))
			return &cm_sites[i];
	return NULL;
}

/* A site that stands in the process file already gets another item: the last one counts. */
static void append_again(const struct cm_site *site)
{
	struct cm_spool_site_item item = {.item.type = CM_ITEM_SITE,
					  .rule = site->rule->index,
					  .region = site->region,
					  .kind = site->kind,
					  .state = site->state};
	const char *strings[] = {site->symbol, site->version, site->object, site->library,
				 site->reason};
	uint64_t mask = cm_sys_block_signals();

	cm_process_lock();
	if (cm_process.has_spool && site - cm_sites < cm_process.n_sites_written)
		(void)cm_process_append(&item.item, sizeof(item), strings,
					5); /* the site keeps its last state in the file */
	cm_process_unlock();
	cm_sys_restore_signals(mask);
}

void cm_sites_note(const struct cm_site *site, bool may_be_known)
{
	struct cm_site *known = may_be_known ? find_place(site) : NULL;
	struct cm_site copy = *site;

	if (!known) {
		copy.symbol = keep(site->symbol);
		copy.version = keep(site->version);
		cm_stub_note_site(&copy);
		return;
	}
	if (known->state == site->state && known->region == site->region)
		return;
	known->state = site->state;
	known->region = site->region;
	known->library = site->library;
	known->reason = site->reason;
	append_again(known);
}

void cm_sites_note_closed(struct cm_object *object)
{
	uint32_t n = atomic_load_explicit(&cm_n_sites, memory_order_relaxed);

	object->is_noted = true;
	for (uint32_t i = 0; i < n; i++) {
		struct cm_site *site = &cm_sites[i];

		if (site->object != object->name || site->state != CM_SITE_PATCHED ||
		    site->n_closed >= CM_MAX_CLOSED)
			continue;
		site->n_closed++;
		site->state = CM_SITE_GONE;
		append_again(site);
	}
}
