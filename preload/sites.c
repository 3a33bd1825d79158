/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding an object's slots, deciding what each should hold, and changing them. */
#include "preload/sites.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "preload/demangle.h"
#include "preload/entries.h"
#include "preload/memory.h"
#include "preload/object-log.h"
#include "preload/page.h"
#include "preload/process.h"
#include "preload/slot-use.h"
#include "preload/stub.h"
#include "preload/syscall.h"

#define CM_MAX_CANDIDATES 65536u

/* A slot that some rule, or one of our hooks, may want. */
struct candidate {
	const Elf64_Rela *rela;
	uint64_t plt_idx;
	void *hook;	/* our own function, or NULL */
	bool may_match; /* a rule may want it */
	bool is_got;	/* GLOB_DAT: only if code calls through it */
	uint8_t uses;	/* of a GOT slot: enum cm_slot_use */
};

static const struct cm_rules *rules;
static const struct cm_sites_hook *hooks;
static struct candidate *candidates;
static uint64_t *got_slots;
static uint8_t *got_uses;
static _Atomic bool look_again;

/*
 * Nobody waits for the sites lock for ever: a thread in a constructor holds the loader's lock,
 * which the thread that has ours may be waiting for. And our own dlclose may run destructors.
 */
#define CM_WAIT_MS 1000u
#define CM_WAIT_INSIDE_MS 20u
static __thread bool holds_lock __attribute__((tls_model("initial-exec")));

static bool take_lock(unsigned int ms)
{
	holds_lock = cm_lock_timed(&cm_process.sites_lock, ms);
	return holds_lock;
}

int cm_sites_init(const struct cm_rules *the_rules, const struct cm_sites_hook *the_hooks)
{
	rules = the_rules;
	hooks = the_hooks;
	candidates = cm_sys_memory(CM_MAX_CANDIDATES * sizeof(*candidates));
	got_slots = cm_sys_memory(CM_MAX_CANDIDATES * sizeof(*got_slots));
	got_uses = cm_sys_memory(CM_MAX_CANDIDATES * sizeof(*got_uses));
	return candidates && got_slots && got_uses ? 0 : -ENOMEM;
}

static void *find_hook(const char *symbol)
{
	for (const struct cm_sites_hook *hook = hooks; hook->symbol; hook++)
		if (hook->symbol[0] == symbol[0] && !strcmp(hook->symbol, symbol))
			return hook->function;
	return NULL;
}

static uint32_t collect(const struct cm_object *object, const Elf64_Rela *rela, uint64_t n_rela,
			uint32_t n)
{
	for (uint64_t i = 0; i < n_rela && n < CM_MAX_CANDIDATES; i++) {
		unsigned int kind = ELF64_R_TYPE(rela[i].r_info);
		uint32_t idx = (uint32_t)ELF64_R_SYM(rela[i].r_info);
		unsigned int type;
		struct candidate found = {.rela = &rela[i], .plt_idx = i};
		const char *name;

		if (!idx || (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT))
			continue;
		type = ELF64_ST_TYPE(object->symbols[idx].st_info);
		if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
			continue;
		name = object->strings + object->symbols[idx].st_name;
		found.hook = find_hook(name);
		found.may_match = cm_rules_may_match(rules, name);
		found.is_got = kind == R_X86_64_GLOB_DAT;
		if (found.hook || found.may_match)
			candidates[n++] = found;
	}
	return n;
}

static void sort_slots(uint64_t *slots, uint32_t n)
{
	/* Relocations come almost sorted: insertion is linear then, and shell keeps the rest cheap.
	 */
	for (uint32_t gap = n / 2 ? n / 2 : 1; gap; gap /= 2)
		for (uint32_t i = gap; i < n; i++) {
			uint64_t slot = slots[i];
			uint32_t k = i;

			for (; k >= gap && slots[k - gap] > slot; k -= gap)
				slots[k] = slots[k - gap];
			slots[k] = slot;
		}
}

/* Which of the GOT candidates does the object's code call? Its text is read only if there are any.
 */
static void find_called(const struct cm_object *object, uint32_t n)
{
	uint32_t n_slots = 0;

	for (uint32_t i = 0; i < n; i++)
		if (candidates[i].is_got)
			got_slots[n_slots++] = object->base + candidates[i].rela->r_offset;
	if (!n_slots)
		return;
	sort_slots(got_slots, n_slots);
	memset(got_uses, 0, n_slots);
	for (int i = 0; i < object->n_texts; i++)
		cm_slot_use_scan((const uint8_t *)object->texts[i].low,
				 object->texts[i].high - object->texts[i].low, object->texts[i].low,
				 got_slots, got_uses, n_slots);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t slot = object->base + candidates[i].rela->r_offset;
		uint32_t low = 0, high = n_slots;

		while (candidates[i].is_got && high > low) {
			uint32_t middle = low + (high - low) / 2;

			if (got_slots[middle] < slot)
				low = middle + 1;
			else
				high = middle;
		}
		if (candidates[i].is_got)
			candidates[i].uses = got_uses[low];
	}
}

static int store(struct cm_object *object, struct cm_page *page, uint64_t slot, void *target)
{
	int rc = cm_page_open(page, slot);

	if (rc < 0)
		return rc;
	atomic_store_explicit((_Atomic uint64_t *)slot, (uint64_t)target, memory_order_release);
	object->check_slot = (const uint64_t *)slot;
	object->check_value = (uint64_t)target;
	return 0;
}

/* Fill site->rule; the same answers as cm_rules_find. */
static int find_rule(struct cm_site *site, const struct cm_object *caller, const char *demangled)
{
	struct cm_rules_query query = {.symbol = site->symbol,
				       .demangled = demangled,
				       .library = site->library,
				       .caller = caller->name,
				       .caller_is_main = caller->is_main};
	int rc = cm_rules_find(rules, &query, &site->rule);

	return rc == 1 && cm_sites_is_mpi_binding(site, caller) ? 0 : rc;
}

static void refuse(struct cm_site *site, const char *reason, const struct cm_object *object)
{
	site->state = CM_SITE_REFUSED;
	site->region = UINT32_MAX;
	site->reason = reason;
	cm_sites_note(site, object->n_loads > 1);
}

/*
 * The address a slot should hold: a stub if a rule matches, else fallback. Notes the site.
 */
static void *choose(struct cm_site *site, const struct cm_object *caller, void *original,
		    void *fallback)
{
	const char *demangled = rules->has_demangled ? cm_demangle(site->symbol) : NULL;
	const struct cm_object *definer = cm_object_of(original);
	void *stub;

	site->library = definer ? definer->name : "";
	if (find_rule(site, caller, demangled) != 1)
		return fallback;
	if (definer && cm_entries_is_twin(definer, original, site->rule))
		return fallback;
	if (!demangled && strstr(site->rule->region, "{demangled}"))
		demangled = cm_demangle(site->symbol);
	stub = cm_stub_get(site->rule, site->symbol, demangled, site->library, original,
			   &site->region);
	if (!stub) {
		refuse(site, "no_stub: all stubs or regions are in use", caller);
		return fallback;
	}
	site->state = CM_SITE_PATCHED;
	site->reason = "";
	return stub;
}

static void patch_one(struct cm_object *object, const struct candidate *candidate,
		      struct cm_page *page)
{
	uint32_t idx = (uint32_t)ELF64_R_SYM(candidate->rela->r_info);
	uint64_t slot = object->base + candidate->rela->r_offset;
	uint64_t value = *(volatile uint64_t *)slot;
	struct cm_site site = {
		.region = UINT32_MAX,
		.kind = candidate->is_got ? CM_SITE_GLOB_DAT : CM_SITE_JUMP_SLOT,
		.symbol = object->strings + object->symbols[idx].st_name,
		.version = cm_object_version(object, idx),
		.object = object->name,
	};
	void *original, *target;

	if (!value || cm_stub_is((void *)value))
		return;
	if (candidate->is_got && !cm_slot_use_may_change(candidate->uses)) {
		site.library = NULL;
		if (candidate->may_match && find_rule(&site, object, NULL) == 1) {
			site.library = "";
			refuse(&site, "address_taken: the slot's value is used as an address",
			       object);
		}
		return;
	}
	original = cm_sites_resolve(object, candidate->rela, candidate->plt_idx);
	if (!original || cm_stub_is(original))
		return;
	if (candidate->hook)
		original = candidate->hook;
	target = candidate->may_match ? choose(&site, object, original, candidate->hook)
				      : candidate->hook;
	if (!target)
		return;
	if (store(object, page, slot, target) < 0) {
		if (site.region != UINT32_MAX)
			refuse(&site, "protected: the slot's page cannot be made writable", object);
		return;
	}
	if (site.region != UINT32_MAX)
		cm_sites_note(&site, object->n_loads > 1);
}

/*
 * Another thread may be closing what was opened: hold on to it while its tables are read. false: it
 * is gone, or it is somewhere else by now.
 */
bool cm_sites_pin(const struct cm_object *object, void **ret_handle)
{
	const struct link_map *map;

	*ret_handle = NULL;
	if (object->is_startup)
		return true;
	*ret_handle = dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD);
	map = *ret_handle;
	return map && map->l_addr == object->base;
}

static void patch_object(struct cm_object *object)
{
	struct cm_page page = {0};
	void *handle;
	uint32_t n;

	object->is_patched = true;
	if (object->is_skipped || !object->symbols || !object->strings)
		return;
	if (cm_sites_pin(object, &handle)) {
		n = collect(object, object->plt_rela, object->n_plt_rela, 0);
		n = collect(object, object->rela, object->n_rela, n);
		if (n)
			find_called(object, n);
		for (uint32_t i = 0; i < n; i++)
			patch_one(object, &candidates[i], &page);
		cm_page_close(&page);
	}
	if (handle)
		(void)dlclose(handle); /* gives back what was just taken */
}

static void pass(bool deeply)
{
	cm_page_begin();
	(void)cm_object_refresh(); /* reloaded objects count too: look at all */
	if (cm_entries_are_used)
		cm_entries_find_files();
	for (uint32_t i = 0; i < cm_object_count(); i++) {
		struct cm_object *object = cm_object_at(i);

		if (object->is_gone && !object->is_noted)
			cm_sites_note_closed(object);
		if (object->is_gone || object->is_patched)
			continue;
		object->binds_deeply |= deeply;
		patch_object(object);
	}
	cm_page_end();
	(void)dlerror(); /* ours, not the program's: its own call succeeded, and cleared it too */
}

/* Tell `callmark run` which rules matched: one byte a rule in a file that all processes share. */
static void report_matched(uint32_t first)
{
	char path[CM_SPOOL_PATH_BYTES + 16];
	uint32_t n_sites = atomic_load_explicit(&cm_n_sites, memory_order_acquire);
	size_t n = strlen(cm_settings.run_path);
	char *bytes = NULL;
	int fd;

	memcpy(path, cm_settings.run_path, n);
	memcpy(path + n, "/matched", sizeof("/matched"));
	fd = cm_sys_open(path, O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0)
		return;
	if (cm_sys3(SYS_lseek, fd, 0, 2 /* SEEK_END */) == (long)rules->n_rules && rules->n_rules)
		bytes = cm_sys_mmap(rules->n_rules, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	cm_sys_close(fd);
	for (uint32_t i = first; bytes && i < n_sites; i++) {
		char *byte = &bytes[cm_sites[i].rule->index];

		if (cm_sites[i].state == CM_SITE_PATCHED && *byte != CM_MATCHED)
			*byte = CM_MATCHED;
		else if (cm_sites[i].state == CM_SITE_REFUSED && !*byte)
			*byte = CM_MATCHED_REFUSED;
	}
	if (bytes)
		(void)cm_sys3(SYS_munmap, (long)bytes, rules->n_rules, 0); /* address space only */
}

/* Sites lock held: what the pass has found, for the collector and for `run`. */
static void publish(uint32_t first_site)
{
	bool has_objects = cm_object_log_update(rules->has_callers);
	uint64_t mask;

	if (!has_objects && atomic_load_explicit(&cm_n_sites, memory_order_relaxed) == first_site)
		return;
	report_matched(first_site);
	mask = cm_sys_block_signals();
	cm_process_lock();
	cm_process_append_new();
	cm_process_unlock();
	cm_sys_restore_signals(mask);
}

bool cm_sites_lock(bool may_wait)
{
	return !holds_lock && take_lock(may_wait ? CM_WAIT_MS : 0);
}

void cm_sites_unlock(uint32_t first_site)
{
	publish(first_site);
	holds_lock = false;
	cm_unlock(&cm_process.sites_lock);
}

void cm_sites_refresh(bool deeply, bool may_wait)
{
	unsigned int ms = may_wait ? CM_WAIT_MS : 0;

	if (atomic_load_explicit(&cm_process_is_sealed, memory_order_relaxed))
		return; /* to look at objects and open pages takes system calls */
	atomic_store_explicit(&look_again, true, memory_order_seq_cst);
	/* The thread that holds the lock sees look_again before, or after, it lets go. */
	while (!holds_lock && atomic_load_explicit(&look_again, memory_order_seq_cst) &&
	       take_lock(ms)) {
		uint32_t first_site = atomic_load_explicit(&cm_n_sites, memory_order_relaxed);

		while (atomic_exchange_explicit(&look_again, false, memory_order_seq_cst))
			pass(deeply);
		publish(first_site);
		holds_lock = false;
		cm_unlock(&cm_process.sites_lock);
		ms = 0;
	}
}

void *cm_sites_dlsym(void *address, const char *symbol, const struct cm_object *caller,
		     bool may_wait)
{
	struct cm_site site = {.region = UINT32_MAX,
			       .kind = CM_SITE_DLSYM,
			       .symbol = symbol,
			       .version = "",
			       .object = caller ? caller->name : ""};
	const struct cm_object *definer;
	void *stub = NULL;

	if (!caller || !cm_rules_may_match(rules, symbol) || cm_stub_is(address) || holds_lock ||
	    !take_lock(may_wait ? CM_WAIT_MS : CM_WAIT_INSIDE_MS))
		return address;
	definer = cm_object_of(address);
	if (definer && !definer->is_skipped && cm_object_find(definer, symbol, NULL) &&
	    !cm_sites_has_address(caller, address)) {
		uint32_t n = atomic_load_explicit(&cm_n_sites, memory_order_relaxed);

		stub = choose(&site, caller, address, NULL);
		if (stub)
			cm_sites_note(&site, true);
		publish(n);
	}
	holds_lock = false;
	cm_unlock(&cm_process.sites_lock);
	return stub ? stub : address;
}
