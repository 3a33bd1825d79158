/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables behind the stubs: which original, which region, which sites. */
#include "preload/stub.h"

#include <errno.h>
#include <string.h>

#include "preload/callee-stack.h"
#include "preload/entries.h"
#include "preload/memory.h"
#include "preload/object.h"
#include "preload/syscall.h"

#define CM_N_BUCKETS 16384u
#define CM_MAX_SITES (1u << 17)
#define CM_TAG_BYTES 1024u

struct cm_stub cm_stubs[CM_N_STUBS];
struct cm_region *cm_regions;
_Atomic uint32_t cm_n_regions;
struct cm_site *cm_sites;
_Atomic uint32_t cm_n_sites;

static _Atomic uint32_t n_stubs;
static uint32_t *stub_buckets;	 /* index + 1 */
static uint32_t *stub_next;	 /* chain, index + 1 */
static uint32_t *region_buckets; /* index + 1 */

/* What hooks do not need of a stub. */
struct extra {
	const struct cm_rule *rule;
	const void *function;	/* the original itself, wherever calls have to go (entries.h) */
	uint32_t n_loads;	/* how often the original's object had been loaded */
	uint32_t n_stack_words; /* that the rule asks for */
};
static struct extra *extras;

int cm_stub_init(void)
{
	cm_regions = cm_sys_memory((CM_SPOOL_MAX_REGIONS + 1) * sizeof(*cm_regions));
	cm_sites = cm_sys_memory(CM_MAX_SITES * sizeof(*cm_sites));
	stub_buckets = cm_sys_memory(CM_N_BUCKETS * sizeof(*stub_buckets));
	region_buckets = cm_sys_memory(CM_N_BUCKETS * sizeof(*region_buckets));
	stub_next = cm_sys_memory(CM_N_STUBS * sizeof(*stub_next));
	extras = cm_sys_memory(CM_N_STUBS * sizeof(*extras));
	return cm_regions && cm_sites && stub_buckets && region_buckets && stub_next && extras
		       ? 0
		       : -ENOMEM;
}

static uint32_t hash_string(const char *string)
{
	uint32_t hash = 5381;

	while (*string)
		hash = hash * 33 + (unsigned char)*string++;
	return hash;
}

/* Index of the region with this tag; -ENOSPC where there are too many, -ENOMEM. */
static int find_region(const struct cm_rule *rule, const char *tag)
{
	uint32_t *bucket = &region_buckets[hash_string(tag) % CM_N_BUCKETS];
	uint32_t n = atomic_load_explicit(&cm_n_regions, memory_order_relaxed);
	struct cm_region *region;

	for (uint32_t i = *bucket; i; i = cm_regions[i - 1].next)
		if (!strcmp(cm_regions[i - 1].tag, tag))
			return (int)(i - 1);
	if (n >= CM_SPOOL_MAX_REGIONS)
		return -ENOSPC;
	region = &cm_regions[n];
	region->tag = cm_memory_string(tag);
	if (!region->tag)
		return -ENOMEM;
	region->rule = rule->index;
	region->max_events = rule->trace ? rule->max_events : 0;
	region->sample = rule->markers ? rule->sample : 0;
	region->callers = rule->callers;
	atomic_store_explicit(&region->quota_left,
			      region->max_events > INT64_MAX ? INT64_MAX
							     : (int64_t)region->max_events,
			      memory_order_relaxed);
	region->next = *bucket;
	atomic_store_explicit(&cm_n_regions, n + 1, memory_order_release);
	*bucket = n + 1;
	return (int)n;
}

/*
 * Words of stack arguments to copy: what the function is seen to read. Where that is only a part,
 * at least what the rule or the default says; and as much as for known variadic functions when
 * nothing bounds it.
 */
void cm_stub_learn(struct cm_stub *stub)
{
	const struct extra *extra = &extras[stub - cm_stubs];
	uint32_t n_words = extra->n_stack_words, n_read;
	struct cm_callee_stack stack;

	cm_callee_scan(&stack, extra->function);
	n_read = (stack.n_words + 1) / 2 * 2;
	if (stack.is_complete && !extra->rule->has_stack_bytes)
		n_words = 0;
	else if (stack.is_open && !extra->rule->has_stack_bytes &&
		 n_words < CM_RULES_VARIADIC_STACK_BYTES / 8)
		n_words = CM_RULES_VARIADIC_STACK_BYTES / 8;
	*(volatile uint32_t *)&stub->n_stack_words = n_read > n_words ? n_read : n_words;
}

/* Make the stub's function one that has not been looked at, unless it is the same as before. */
static void renew(uint32_t idx)
{
	const struct cm_object *object = cm_object_of(extras[idx].function);
	uint32_t n_loads = object ? object->n_loads : 0;

	*(void *volatile *)&cm_stubs[idx].original = cm_entries_target(extras[idx].function);
	if (extras[idx].n_loads == n_loads && n_loads)
		return;
	extras[idx].n_loads = n_loads;
	*(volatile uint32_t *)&cm_stubs[idx].n_stack_words = CM_STUB_NEW;
}

static uint32_t *bucket_of(const void *function)
{
	return &stub_buckets[(uintptr_t)function / 16 % CM_N_BUCKETS];
}

void *cm_stub_get(const struct cm_rule *rule, const char *symbol, const char *demangled,
		  const char *library, void *original, uint32_t *ret_region)
{
	char tag[CM_TAG_BYTES];
	uint32_t *bucket, i;
	int region;

	(void)cm_rules_region(rule, symbol, demangled, library, tag, sizeof(tag));
	region = find_region(rule, tag);
	if (region < 0)
		return NULL;
	*ret_region = (uint32_t)region;
	bucket = bucket_of(original);
	for (i = *bucket; i; i = stub_next[i - 1])
		if (extras[i - 1].function == original &&
		    cm_stubs[i - 1].region == (uint32_t)region && extras[i - 1].rule == rule) {
			renew(i - 1);
			return (char *)cm_stub_code + (i - 1) * CM_STUB_BYTES;
		}
	if (n_stubs >= CM_N_STUBS)
		return NULL;
	i = n_stubs++;
	cm_stubs[i] = (struct cm_stub){
		.region = (uint32_t)region,
		.n_stack_words = CM_STUB_NEW,
	};
	extras[i].rule = rule;
	extras[i].function = original;
	extras[i].n_stack_words = (cm_rules_stack_bytes(rule, symbol) + 15) / 16 * 2;
	renew(i);
	stub_next[i] = *bucket;
	*bucket = i + 1;
	return (char *)cm_stub_code + i * CM_STUB_BYTES;
}

bool cm_stub_is(const void *address)
{
	const char *code = address;

	return code >= cm_stub_code && code < cm_stub_code + CM_N_STUBS * CM_STUB_BYTES;
}

struct cm_stub *cm_stub_of(const void *code)
{
	return &cm_stubs[((const char *)code - cm_stub_code) / CM_STUB_BYTES];
}

const void *cm_stub_original(const void *address)
{
	const char *code = address;

	return cm_stub_is(address) ? extras[(code - cm_stub_code) / CM_STUB_BYTES].function
				   : address;
}

void cm_stub_redirect(const void *function, void *target)
{
	for (uint32_t i = *bucket_of(function); i; i = stub_next[i - 1])
		if (extras[i - 1].function == function)
			*(void *volatile *)&cm_stubs[i - 1].original = target;
}

uint32_t cm_stub_count(void)
{
	return atomic_load_explicit(&n_stubs, memory_order_acquire);
}

const void *cm_stub_function(uint32_t idx)
{
	return extras[idx].function;
}

void cm_stub_note_site(const struct cm_site *site)
{
	uint32_t n = atomic_load_explicit(&cm_n_sites, memory_order_relaxed);

	if (n >= CM_MAX_SITES)
		return;
	cm_sites[n] = *site;
	atomic_store_explicit(&cm_n_sites, n + 1, memory_order_release);
}

void cm_stub_reset_quotas(void)
{
	uint32_t n = atomic_load_explicit(&cm_n_regions, memory_order_relaxed);

	for (uint32_t i = 0; i < n; i++)
		atomic_store_explicit(&cm_regions[i].quota_left,
				      cm_regions[i].max_events > INT64_MAX
					      ? INT64_MAX
					      : (int64_t)cm_regions[i].max_events,
				      memory_order_relaxed);
}
