/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking a function up in one object, as the loader would for that kind of reference. */
#include <string.h>

#include "preload/memory.h"
#include "preload/object.h"

#define CM_VERSION_MASK 0x7fff

static const char *needed_version(const struct cm_object *object, unsigned int version)
{
	const Elf64_Verneed *need = object->needs;

	while (need) {
		const Elf64_Vernaux *aux = (const void *)((const char *)need + need->vn_aux);

		for (unsigned int i = 0; i < need->vn_cnt; i++) {
			if (aux->vna_other == version)
				return object->strings + aux->vna_name;
			aux = (const void *)((const char *)aux + aux->vna_next);
		}
		need = need->vn_next ? (const void *)((const char *)need + need->vn_next) : NULL;
	}
	return NULL;
}

static const char *defined_version(const struct cm_object *object, unsigned int version)
{
	const Elf64_Verdef *def = object->defs;

	while (def) {
		if ((def->vd_ndx & CM_VERSION_MASK) == version) {
			const Elf64_Verdaux *aux = (const void *)((const char *)def + def->vd_aux);

			return object->strings + aux->vda_name;
		}
		def = def->vd_next ? (const void *)((const char *)def + def->vd_next) : NULL;
	}
	return NULL;
}

const char *cm_object_version(const struct cm_object *object, uint32_t symbol_idx)
{
	unsigned int version;
	const char *name = NULL;

	if (!object->versions)
		return "";
	version = object->versions[symbol_idx] & CM_VERSION_MASK;
	if (version > 1)
		name = needed_version(object, version);
	if (version > 1 && !name)
		name = defined_version(object, version);
	return name ? name : "";
}

/*
 * A reference without version takes the base definition: index 1, or 2 as the first version. One
 * with a version also takes a definition of an object that defines no versions (an interposer).
 */
static bool fits(const struct cm_object *object, uint32_t idx, const char *version)
{
	if (!version || !object->versions)
		return true;
	if (!*version)
		return (object->versions[idx] & CM_VERSION_MASK) <= 2;
	if (!object->defs)
		return !(object->versions[idx] & ~CM_VERSION_MASK); /* not hidden */
	return !strcmp(cm_object_version(object, idx), version);
}

/* What is looked for: a definition that the reference may bind to, or a stand-in for one. */
struct wanted {
	const char *name;
	const char *version;
	uint32_t gnu_hash;
	bool is_stand_in;
	bool is_any; /* by its name alone, also what is no function */
};

static bool is_wanted(const struct cm_object *object, uint32_t idx, const struct wanted *wanted)
{
	const Elf64_Sym *symbol = &object->symbols[idx];
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	if (wanted->is_any)
		return symbol->st_shndx != SHN_UNDEF &&
		       !strcmp(object->strings + symbol->st_name, wanted->name);
	return (symbol->st_shndx == SHN_UNDEF) == wanted->is_stand_in && symbol->st_value &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC) &&
	       !strcmp(object->strings + symbol->st_name, wanted->name) &&
	       fits(object, idx, wanted->version);
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

static const Elf64_Sym *find_gnu(const struct cm_object *object, const struct wanted *wanted)
{
	const uint32_t *table = object->gnu_hash;
	uint32_t n_buckets = table[0], first = table[1], n_bloom = table[2];
	const uint64_t *bloom = (const uint64_t *)(table + 4);
	const uint32_t *buckets = (const uint32_t *)(bloom + n_bloom);
	const uint32_t *chain = buckets + n_buckets;
	uint32_t hash = wanted->gnu_hash, idx;

	if (!n_buckets || !(idx = buckets[hash % n_buckets]))
		return NULL;
	for (;; idx++) {
		uint32_t other = chain[idx - first];

		if ((other | 1) == (hash | 1) && is_wanted(object, idx, wanted))
			return &object->symbols[idx];
		if (other & 1)
			return NULL;
	}
}

static const Elf64_Sym *find_sysv(const struct cm_object *object, const struct wanted *wanted)
{
	const uint32_t *table = object->sysv_hash;
	const uint32_t *chain = table + 2 + table[0];
	uint32_t hash = 0;

	for (const unsigned char *c = (const unsigned char *)wanted->name; *c; c++) {
		hash = (hash << 4) + *c;
		hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
	}
	for (uint32_t idx = table[0] ? table[2 + hash % table[0]] : 0; idx; idx = chain[idx])
		if (is_wanted(object, idx, wanted))
			return &object->symbols[idx];
	return NULL;
}

static const Elf64_Sym *find(const struct cm_object *object, const struct wanted *wanted)
{
	if (!object->symbols || !object->strings)
		return NULL;
	if (object->gnu_hash)
		return find_gnu(object, wanted);
	return object->sysv_hash ? find_sysv(object, wanted) : NULL;
}

const Elf64_Sym *cm_object_find(const struct cm_object *object, const char *name,
				const char *version)
{
	return find(object,
		    &(struct wanted){.name = name, .version = version, .gnu_hash = gnu_hash(name)});
}

/*
 * An object's filter turns away nearly all names that it does not have. Side by side: thousands of
 * names ask hundreds of objects.
 */
struct filter {
	const uint64_t *words; /* a power of two of them */
	uint32_t mask, shift;
};

static const struct filter *make_filters(void)
{
	static const uint64_t all = UINT64_MAX, nothing;
	const struct cm_object *const *objects = cm_object_list();
	uint32_t n = cm_object_n_global();
	struct filter *filters = cm_memory_get(NULL, n * sizeof(*filters));

	for (uint32_t i = 0; filters && i < n; i++) {
		const uint32_t *table = objects[i]->gnu_hash;

		if (objects[i]->is_skipped)
			filters[i] = (struct filter){&nothing, 0, 0};
		else if (!table || !table[2])
			filters[i] = (struct filter){&all, 0, 0};
		else
			filters[i] = (struct filter){(const uint64_t *)(table + 4), table[2] - 1,
						     table[3]};
	}
	return filters;
}

static inline bool may_have(const struct filter *filter, uint32_t hash)
{
	uint64_t word = filter->words[hash / 64 & filter->mask];

	return word >> hash % 64 & word >> (hash >> filter->shift) % 64 & 1;
}

const Elf64_Sym *cm_object_find_global(const char *name, const char *version,
				       const struct cm_object **ret_object)
{
	static const struct filter *filters;
	const struct cm_object *const *objects = cm_object_list();
	struct wanted wanted = {.name = name, .version = version, .gnu_hash = gnu_hash(name)};
	uint32_t n = cm_object_n_global();

	if (!n || (!filters && !(filters = make_filters())))
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		const Elf64_Sym *symbol;

		if (!may_have(&filters[i], wanted.gnu_hash))
			continue;
		symbol = find(objects[i], &wanted);
		if (symbol) {
			*ret_object = objects[i];
			return symbol;
		}
		wanted.is_any = true;
		if (!*version && find(objects[i], &wanted))
			return NULL;
		wanted.is_any = false;
	}
	return NULL;
}

bool cm_object_stands_in(const struct cm_object *object, const char *name)
{
	return find(object, &(struct wanted){
				    .name = name, .gnu_hash = gnu_hash(name), .is_stand_in = true});
}

void *cm_object_address(const struct cm_object *object, const Elf64_Sym *symbol)
{
	uint64_t address = object->base + symbol->st_value;

	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))address)();
	return (void *)address;
}
