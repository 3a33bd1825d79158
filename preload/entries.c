/* SPDX-License-Identifier: BSD-3-Clause */
/* Which objects' entries can be patched now, and doing it. */
#include "preload/entries.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "preload/memory.h"
#include "preload/process.h"
#include "preload/say.h"
#include "preload/sites.h"
#include "preload/stub.h"
#include "preload/syscall.h"
#include "preload/trap.h"

#define CM_MAX_NEW 4096u
#define CM_SLEEP_MS 200u /* OpenBLAS's workers look for work for 30 ms first */

bool cm_entries_are_used;

static const struct cm_rules *rules;
static struct cm_entries *all;

int cm_entries_init(const struct cm_rules *the_rules, const char *config_path, const char *config,
		    size_t n_config, const char *symbols, const char *cache)
{
	rules = the_rules;
	cm_entries_are_used = rules->has_internal;
	if (!cm_entries_are_used)
		return 0;
	return cm_entries_file_init(cm_site_file_hash(config, n_config, symbols), config_path,
				    symbols, cache);
}

/* Index of the function at this offset, or n_functions. */
static uint32_t look_up(const struct cm_site_file *file, uint64_t offset)
{
	const struct cm_site_function *functions = cm_site_functions(file);
	uint32_t low = 0, high = file->n_functions;

	while (high > low) {
		uint32_t middle = low + (high - low) / 2;

		if (functions[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < file->n_functions && functions[low].offset == offset ? low : file->n_functions;
}

const struct cm_site_function *cm_entries_find(const struct cm_object *object, uint64_t address)
{
	const struct cm_entries *entries = object->entries;
	uint32_t idx;

	if (!entries)
		return NULL;
	idx = look_up(entries->file, address - object->base);
	return idx < entries->file->n_functions && entries->near[idx]
		       ? &cm_site_functions(entries->file)[idx]
		       : NULL;
}

bool cm_entries_is_twin(const struct cm_object *object, const void *function,
			const struct cm_rule *rule)
{
	const struct cm_site_file *file = object->site_file;
	const struct cm_site_function *found;
	uint32_t idx;

	if (!file || !rule->internal)
		return false;
	idx = look_up(file, (uint64_t)function - object->base);
	if (idx == file->n_functions)
		return false;
	found = &cm_site_functions(file)[idx];
	return found->rule == rule->index &&
	       !strncmp(cm_site_string(file, found->reason), "twin:", 5);
}

void *cm_entries_target(const void *function)
{
	const struct cm_object *object = cm_entries_are_used ? cm_object_of(function) : NULL;
	const struct cm_site_function *found =
		object ? cm_entries_find(object, (uint64_t)function) : NULL;

	if (!found)
		return (void *)function;
	return object->entries->near_code +
	       object->entries->near[found - cm_site_functions(object->entries->file)];
}

/* A library whose name no rule can mean need not be looked at; a source file's name may be any. */
static bool may_be_meant(const struct cm_object *object)
{
	for (uint32_t i = 0; i < rules->n_rules; i++) {
		const struct cm_rule *rule = &rules->rules[i];

		if (rule->internal && (!rule->library || !strstr(rule->library, ".so") ||
				       cm_rules_glob(rule->library, object->name)))
			return true;
	}
	return false;
}

/* liblikwid is called by us, in the middle of calls. */
static bool is_candidate(const struct cm_object *object)
{
	return !object->is_gone && !object->is_skipped && !object->are_entries_done &&
	       strncmp(object->name, "liblikwid", 9);
}

static struct cm_site make_site(const struct cm_object *object,
				const struct cm_site_function *function)
{
	const struct cm_site_file *file = object->site_file;

	return (struct cm_site){.rule = &rules->rules[function->rule],
				.region = UINT32_MAX,
				.kind = function->how == CM_SITE_HOW_TRAP ? CM_SITE_TRAP
									  : CM_SITE_ENTRY,
				.state = CM_SITE_REFUSED,
				.symbol = cm_site_string(file, function->symbol),
				.version = cm_site_string(file, function->source),
				.object = object->name,
				.library = object->name,
				.reason = cm_site_string(file, function->reason)};
}

/* As with slots: what is never intercepted is listed only where a rule names it. */
static void note(const struct cm_site *site, const struct cm_object *object)
{
	if (site->state == CM_SITE_PATCHED || site->rule->is_literal ||
	    strncmp(site->reason, "forbidden:", 10))
		cm_sites_note(site, object->n_loads > 1);
}

/* With one aligned store, a thread sees all of the jump or nothing of it. */
static bool is_one_store(const struct cm_object *object, const struct cm_site_function *function)
{
	uint64_t place = object->base + function->place;

	return function->is_single && place / 8 == (place + CM_SITE_JUMP_BYTES - 1) / 8;
}

/* Why this function must be left alone, or NULL. */
static const char *find_obstacle(const struct cm_object *object,
				 const struct cm_site_function *function, enum cm_danger danger)
{
	const char *symbol = cm_site_string(object->site_file, function->symbol);

	if (function->how == CM_SITE_HOW_TRAP && cm_trap_init() < 0)
		return "protected: no handler of SIGTRAP can be installed";
	if (function->how == CM_SITE_HOW_REFUSED)
		return cm_site_string(object->site_file, function->reason);
	if (!cm_entries_are_as_expected(object, function))
		return "differs: the code in memory is not that of the file";
	if (danger == CM_DANGER_NONE || is_one_store(object, function) ||
	    (danger == CM_DANGER_EXPORTED && !cm_object_find(object, symbol, NULL)))
		return NULL;
	return "threads: other threads may be running this code";
}

/*
 * Prepare one function: its stub, its near code at the offset. Returns the offset behind it; the
 * same one where the function is refused.
 */
static uint64_t prepare(struct cm_entries *entries, uint32_t idx, uint32_t *near, uint64_t offset,
			enum cm_danger danger)
{
	const struct cm_site_function *function = &cm_site_functions(entries->file)[idx];
	const struct cm_object *object = entries->object;
	struct cm_site site = make_site(object, function);
	const char *demangled = cm_site_string(entries->file, function->demangled);
	void *stub = NULL;

	site.reason = find_obstacle(object, function, danger);
	if (!site.reason) {
		stub = cm_stub_get(site.rule, cm_site_string(entries->file, function->base_name),
				   *demangled ? demangled : NULL, object->name,
				   (void *)(object->base + function->offset), &site.region);
		site.reason = stub ? "" : "no_stub: all stubs or regions are in use";
	}
	if (stub) {
		site.state = CM_SITE_PATCHED;
		near[idx] = (uint32_t)offset + CM_NEAR_LEAD_BYTES;
		offset += cm_entries_write_near(entries->near_code + offset, function, object->base,
						cm_stub_of(stub), entries->near_code);
	}
	note(&site, object);
	return offset;
}

/* All that was prepared goes into force. */
static void put_in_force(struct cm_entries *entries)
{
	const struct cm_site_function *functions = cm_site_functions(entries->file);
	struct cm_object *object = entries->object;
	uint64_t mask = cm_sys_block_signals();

	atomic_thread_fence(memory_order_seq_cst); /* with hooks that read the object's entries */
	object->entries = entries;
	for (uint32_t i = 0; i < entries->file->n_functions; i++) {
		uint8_t *moved = entries->near_code + entries->near[i];

		if (!entries->near[i])
			continue;
		cm_stub_redirect((void *)(object->base + functions[i].offset), moved);
		cm_entries_write_jump(&functions[i], object->base, moved - CM_NEAR_LEAD_BYTES);
		object->check_entry = (const uint8_t *)object->base + functions[i].place;
		object->check_byte = *object->check_entry;
	}
	cm_sys_restore_signals(mask);
}

/* The file says it of each function, if there is one; `callmark symbols` cannot know. */
static void refuse_all(const struct cm_object *object, const char *reason)
{
	static bool has_said;
	const struct cm_site_file *file = object->site_file;

	if (!has_said)
		cm_say("no function of %s is intercepted by internal=yes: %s", object->name,
		       reason);
	has_said = true; /* it is the same with others */
	for (uint32_t i = 0; i < file->n_functions; i++) {
		const struct cm_site_function *function = &cm_site_functions(file)[i];
		struct cm_site site = make_site(object, function);

		if (function->how != CM_SITE_HOW_REFUSED)
			site.reason = reason;
		note(&site, object);
	}
}

static uint64_t sum_near_bytes(const struct cm_site_file *file)
{
	uint64_t n_bytes = CM_NEAR_HEAD_BYTES;

	for (uint32_t i = 0; i < file->n_functions; i++)
		n_bytes += cm_entries_near_bytes(&cm_site_functions(file)[i]);
	return (n_bytes + 4095) / 4096 * 4096;
}

static void apply(struct cm_object *object, enum cm_danger danger)
{
	const struct cm_site_file *file = object->site_file;
	struct cm_entries *entries = cm_memory_get(NULL, sizeof(*entries));
	uint32_t *near = cm_memory_get(NULL, (file->n_functions + 1) * sizeof(*near));
	uint64_t n_bytes = sum_near_bytes(file), offset = CM_NEAR_HEAD_BYTES;
	uint8_t *code = entries && near ? cm_entries_near_memory(object, n_bytes) : NULL;
	const char *reason = NULL;

	if (!code) {
		refuse_all(object, "memory: there is none within reach of the object");
		return;
	}
	if (cm_entries_open_code(object) < 0)
		reason = cm_entries_policy();
	*entries = (struct cm_entries){.file = file,
				       .near = near,
				       .near_code = code,
				       .n_near_bytes = n_bytes,
				       .object = object,
				       .n_loads = object->n_loads,
				       .other = all};
	for (uint32_t i = 0; i < file->n_functions && !reason; i++)
		offset = prepare(entries, i, near, offset, danger);
	if (!reason && cm_entries_seal_near(code, n_bytes) < 0)
		reason = cm_entries_policy();
	if (!reason)
		put_in_force(entries);
	else
		refuse_all(object, reason);
	cm_entries_close_code();
	all = entries; /* its memory is given back when the object is closed */
}

/* Near code of closed objects: nothing leads there any more. */
static void forget_closed(void)
{
	for (struct cm_entries **link = &all, *entries; (entries = *link);) {
		const struct cm_object *object = entries->object;

		if (!object->is_gone && object->n_loads == entries->n_loads) {
			link = &entries->other;
			continue;
		}
		(void)cm_sys3(SYS_munmap, (long)entries->near_code, (long)entries->n_near_bytes,
			      0); /* address space only */
		*link = entries->other;
	}
}

/* What has no file yet gets one, all with one run of callmark-sites. */
void cm_entries_find_files(void)
{
	static struct cm_object *missing[CM_MAX_NEW];
	uint32_t n = 0;

	for (uint32_t i = 0; i < cm_object_count(); i++) {
		struct cm_object *object = cm_object_at(i);

		if (!is_candidate(object) || object->site_file)
			continue;
		if (!may_be_meant(object)) {
			object->are_entries_done = true;
			continue;
		}
		object->site_file = cm_entries_file(object);
		if (!object->site_file && n < CM_MAX_NEW)
			missing[n++] = object;
	}
	if (n && cm_entries_make_files(missing, n))
		for (uint32_t i = 0; i < n; i++)
			missing[i]->site_file = cm_entries_file(missing[i]);
}

static bool has_rule(const struct cm_site_file *file)
{
	for (uint32_t i = 0; i < file->n_functions; i++)
		if (cm_site_functions(file)[i].rule >= rules->n_rules)
			return false;
	return true;
}

static void patch(struct cm_object *object, const struct cm_opening *opening,
		  uint32_t n_finished_since, unsigned int *ms)
{
	const struct cm_site_file *file = object->site_file;
	enum cm_danger danger = CM_DANGER_NONE;
	void *handle = NULL;

	if (file && file->n_functions && has_rule(file))
		danger = cm_danger_find(object, opening, n_finished_since, ms);
	if (danger == CM_DANGER_NOT_YET)
		return;
	object->are_entries_done = true;
	if (!file || !file->n_functions || !has_rule(file))
		return;
	if (cm_sites_pin(object, &handle))
		apply(object, danger);
	if (handle)
		(void)dlclose(handle); /* gives back what was just taken */
}

void cm_entries_refresh(const struct cm_opening *opening, bool may_wait)
{
	uint32_t first_site, n_finished_since = 0;
	unsigned int ms = CM_SLEEP_MS;

	if (opening)
		n_finished_since = cm_danger_opened(opening);
	if (atomic_load_explicit(&cm_process_is_sealed, memory_order_relaxed) ||
	    !cm_sites_lock(may_wait))
		return;
	first_site = atomic_load_explicit(&cm_n_sites, memory_order_relaxed);
	forget_closed();
	cm_entries_find_files();
	for (uint32_t i = 0; i < cm_object_count(); i++)
		if (is_candidate(cm_object_at(i)))
			patch(cm_object_at(i), opening, n_finished_since, &ms);
	cm_danger_begin();
	cm_sites_unlock(first_site);
}
