/* SPDX-License-Identifier: BSD-3-Clause */
/* Relocated slots, the code that calls through them, and the dynamic symbol table. */
#include "collector/elf-imports.h"

#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "collector/elf-image.h"
#include "preload/slot-use.h"

#if defined(__x86_64__)
#define REL_JUMP_SLOT R_X86_64_JUMP_SLOT
#define REL_GLOB_DAT R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define REL_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define REL_GLOB_DAT R_AARCH64_GLOB_DAT
#endif

/* A slot on the way to a struct cm_elf_import. */
struct slot {
	uint64_t address;
	uint32_t symbol;
	unsigned means;
};

struct slots {
	struct slot *items;
	size_t n_items;
	size_t n_room;
};

static int damaged(const struct cm_elf *elf, const char *what, struct cm_diag *diag)
{
	return cm_diag_set(diag, -EBADMSG, "%s: damaged or truncated ELF file (%s)", elf->path,
			   what);
}

/* Symbols that a SysV hash table counts: one chain entry each. */
static size_t count_by_hash(const struct cm_elf *elf)
{
	const uint32_t *head = cm_elf_at(elf, elf->tags[DT_HASH], 8, ELF_T_WORD);

	return head ? head[1] : 0;
}

/* A GNU hash table counts none; the last chain of the highest bucket ends with the last symbol. */
static size_t count_by_gnu_hash(const struct cm_elf *elf)
{
	const uint32_t *head = cm_elf_at(elf, elf->gnu_hash, 16, ELF_T_WORD);
	const uint32_t *buckets, *chain;
	uint64_t at;
	size_t last = 0, n_chain;

	if (!head)
		return 0;
	at = elf->gnu_hash + 16 + (uint64_t)head[2] * 8;
	buckets = cm_elf_at(elf, at, (size_t)head[0] * 4, ELF_T_WORD);
	if (!buckets)
		return head[1];
	for (uint32_t i = 0; i < head[0]; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < head[1])
		return head[1];
	at += (uint64_t)head[0] * 4;
	n_chain = cm_elf_available(elf, at) / 4;
	chain = cm_elf_at(elf, at, n_chain * 4, ELF_T_WORD);
	for (size_t i = last - head[1]; chain && i < n_chain; i++)
		if (chain[i] & 1)
			return head[1] + i + 1;
	return head[1];
}

/* At least n_needed symbols must be there: relocations name them. */
static int load_symbols(struct cm_elf *elf, size_t n_needed, struct cm_diag *diag)
{
	size_t n = elf->tags[DT_HASH] ? count_by_hash(elf)
		   : elf->gnu_hash    ? count_by_gnu_hash(elf)
				      : 0;
	size_t n_bytes;

	if (n < n_needed)
		n = n_needed;
	if (n <= elf->n_symbols)
		return 0;
	if (__builtin_mul_overflow(n, sizeof(Elf64_Sym), &n_bytes))
		return damaged(elf, "symbol table", diag);
	elf->symbols = cm_elf_at(elf, elf->tags[DT_SYMTAB], n_bytes, ELF_T_SYM);
	if (!elf->symbols) {
		elf->n_symbols = 0;
		return damaged(elf, "symbol table", diag);
	}
	elf->n_symbols = n;
	return 0;
}

int cm_elf_load_symbols(struct cm_elf *elf, struct cm_diag *diag)
{
	return load_symbols(elf, 0, diag);
}

static int append_slot(struct slots *slots, const struct slot *slot)
{
	if (slots->n_items == slots->n_room) {
		size_t n_room = slots->n_room ? 2 * slots->n_room : 256;
		struct slot *items = reallocarray(slots->items, n_room, sizeof(*items));

		if (!items)
			return -ENOMEM;
		slots->items = items;
		slots->n_room = n_room;
	}
	slots->items[slots->n_items++] = *slot;
	return 0;
}

static int read_relocations(const struct cm_elf *elf, uint64_t address, uint64_t n_bytes,
			    struct slots *slots, struct cm_diag *diag)
{
	size_t n = n_bytes / sizeof(Elf64_Rela);
	const Elf64_Rela *rela;

	if (!n)
		return 0;
	rela = cm_elf_at(elf, address, n * sizeof(*rela), ELF_T_RELA);
	if (!rela)
		return damaged(elf, "relocations", diag);
	for (size_t i = 0; i < n; i++) {
		uint32_t type = (uint32_t)ELF64_R_TYPE(rela[i].r_info);
		struct slot slot = {rela[i].r_offset, (uint32_t)ELF64_R_SYM(rela[i].r_info), 0};

		if (type == REL_JUMP_SLOT)
			slot.means = CM_IMPORT_JUMP_SLOT;
		else if (type == REL_GLOB_DAT)
			slot.means = CM_IMPORT_ADDRESS;
		if (slot.means && slot.symbol && append_slot(slots, &slot))
			return -ENOMEM;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct slot *)a)->address;
	uint64_t y = ((const struct slot *)b)->address;

	return (x > y) - (x < y);
}

/* What the code of all executable segments does with the GOT slots; uses[i] belongs to got[i]. */
static int scan_code(const struct cm_elf *elf, const uint64_t *got, uint8_t *uses, uint32_t n_got,
		     struct cm_diag *diag)
{
	for (size_t i = 0; i < elf->n_phdrs; i++) {
		const Elf64_Phdr *phdr = &elf->phdrs[i];
		const uint8_t *code;

		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X) || !phdr->p_filesz)
			continue;
		code = cm_elf_at(elf, phdr->p_vaddr, phdr->p_filesz, ELF_T_BYTE);
		if (!code)
			return damaged(elf, "code", diag);
		cm_slot_use_scan(code, phdr->p_filesz, phdr->p_vaddr, got, uses, n_got);
	}
	return 0;
}

/* Slots are in ascending order. Those of the GOT that the preload would change: CM_IMPORT_GLOB_DAT
 */
static int find_calls(const struct cm_elf *elf, const struct slots *slots, struct cm_diag *diag)
{
	uint64_t *got = calloc(slots->n_items, sizeof(*got));
	uint8_t *uses = calloc(slots->n_items, sizeof(*uses));
	uint32_t n_got = 0;
	int rc = got && uses ? 0 : cm_diag_set(diag, -ENOMEM, "out of memory");

	for (size_t i = 0; !rc && i < slots->n_items; i++)
		if (slots->items[i].means == CM_IMPORT_ADDRESS)
			got[n_got++] = slots->items[i].address;
	if (!rc && n_got)
		rc = scan_code(elf, got, uses, n_got, diag);
	n_got = 0;
	for (size_t i = 0; !rc && i < slots->n_items; i++)
		if (slots->items[i].means == CM_IMPORT_ADDRESS &&
		    cm_slot_use_may_change(uses[n_got++]))
			slots->items[i].means = CM_IMPORT_GLOB_DAT;
	free(got);
	free(uses);
	return rc;
}

static int by_symbol(const void *a, const void *b)
{
	return strcmp(((const struct cm_elf_import *)a)->symbol,
		      ((const struct cm_elf_import *)b)->symbol);
}

/* One entry a name: a program can have a slot of each kind, and several versions. */
static size_t merge_names(struct cm_elf_import *imports, size_t n)
{
	size_t n_kept = 0;

	if (n)
		qsort(imports, n, sizeof(imports[0]), by_symbol);
	for (size_t i = 0; i < n; i++) {
		struct cm_elf_import *last = n_kept ? &imports[n_kept - 1] : NULL;

		if (last && !strcmp(last->symbol, imports[i].symbol)) {
			last->means |= imports[i].means;
			last->is_weak &= imports[i].is_weak;
		} else {
			imports[n_kept++] = imports[i];
		}
	}
	return n_kept;
}

static int make_imports(const struct cm_elf *elf, const struct slots *slots,
			struct cm_elf_import **ret_imports, size_t *ret_n)
{
	struct cm_elf_import *imports = calloc(slots->n_items + 1, sizeof(*imports));
	size_t n = 0;

	if (!imports)
		return -ENOMEM;
	for (size_t i = 0; i < slots->n_items; i++) {
		const Elf64_Sym *symbol = &elf->symbols[slots->items[i].symbol];
		const char *name = cm_elf_string(elf, symbol->st_name);

		if (!name[0])
			continue;
		imports[n++] = (struct cm_elf_import){
			.symbol = name,
			.means = slots->items[i].means,
			.type = ELF64_ST_TYPE(symbol->st_info),
			.is_weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK,
			.is_defined = symbol->st_shndx != SHN_UNDEF,
		};
	}
	*ret_n = merge_names(imports, n);
	*ret_imports = imports;
	return 0;
}

int cm_elf_imports(struct cm_elf *elf, struct cm_elf_import **ret_imports, size_t *ret_n,
		   struct cm_diag *diag)
{
	struct slots slots = {0};
	size_t n_needed = 0;
	int rc;

	rc = read_relocations(elf, elf->tags[DT_JMPREL], elf->tags[DT_PLTRELSZ], &slots, diag);
	if (!rc)
		rc = read_relocations(elf, elf->tags[DT_RELA], elf->tags[DT_RELASZ], &slots, diag);
	if (!rc && slots.n_items) {
		qsort(slots.items, slots.n_items, sizeof(slots.items[0]), by_address);
		rc = find_calls(elf, &slots, diag);
	}
	for (size_t i = 0; i < slots.n_items; i++)
		if (slots.items[i].symbol >= n_needed)
			n_needed = (size_t)slots.items[i].symbol + 1;
	if (!rc)
		rc = load_symbols(elf, n_needed, diag);
	if (!rc)
		rc = make_imports(elf, &slots, ret_imports, ret_n);
	free(slots.items);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct cm_elf_definition *)a)->name,
		      ((const struct cm_elf_definition *)b)->name);
}

static int load_definitions(struct cm_elf *elf, struct cm_diag *diag)
{
	int rc = load_symbols(elf, 0, diag);

	if (rc < 0)
		return rc;
	elf->definitions = calloc(elf->n_symbols + 1, sizeof(elf->definitions[0]));
	if (!elf->definitions)
		return -ENOMEM;
	for (size_t i = 0; i < elf->n_symbols; i++) {
		const Elf64_Sym *symbol = &elf->symbols[i];
		unsigned bind = ELF64_ST_BIND(symbol->st_info);

		/* Local symbols and TLS ones have no address that a call could reach. */
		if (symbol->st_shndx == SHN_UNDEF || bind == STB_LOCAL)
			continue;
		elf->definitions[elf->n_definitions++] = (struct cm_elf_definition){
			cm_elf_string(elf, symbol->st_name), ELF64_ST_TYPE(symbol->st_info)};
	}
	qsort(elf->definitions, elf->n_definitions, sizeof(elf->definitions[0]), by_name);
	return 0;
}

int cm_elf_definition(struct cm_elf *elf, const char *symbol, uint8_t *ret_type,
		      struct cm_diag *diag)
{
	struct cm_elf_definition key = {symbol, 0};
	const struct cm_elf_definition *found;
	int rc = elf->definitions ? 0 : load_definitions(elf, diag);

	if (rc < 0)
		return rc;
	found = bsearch(&key, elf->definitions, elf->n_definitions, sizeof(key), by_name);
	if (!found)
		return 0;
	*ret_type = found->type;
	return 1;
}
