/* SPDX-License-Identifier: BSD-3-Clause */
/* PLT entries, by the slots that they jump through. */
#include "collector/elf-slots.h"

#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "collector/elf-image.h"

#define PLT_STEP 8u /* entries begin at multiples of it */

/* A relocated word and the function of ours that it will hold. */
struct word {
	uint64_t place, function;
};

struct words {
	struct word *words;
	size_t n_words;
};

static int by_place(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

static int by_function(const void *a, const void *b)
{
	const struct cm_elf_slot *x = a, *y = b;

	if (x->function != y->function)
		return x->function > y->function ? 1 : -1;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

static int add_words(struct words *words, const struct cm_elf *elf, int table, int size,
		     struct cm_diag *diag)
{
	size_t n = elf->tags[size] / sizeof(Elf64_Rela);
	const Elf64_Rela *rela;
	struct word *more;

	if (!n || !elf->tags[table])
		return 0;
	rela = cm_elf_at(elf, elf->tags[table], n * sizeof(*rela), ELF_T_RELA);
	if (!rela)
		return cm_diag_set(diag, -EBADMSG,
				   "%s: damaged or truncated ELF file (relocations)", elf->path);
	more = reallocarray(words->words, words->n_words + n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	words->words = more;
	for (size_t i = 0; i < n; i++) {
		uint64_t type = ELF64_R_TYPE(rela[i].r_info), symbol = ELF64_R_SYM(rela[i].r_info);

		if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
		    symbol < elf->n_symbols && elf->symbols[symbol].st_shndx != SHN_UNDEF)
			words->words[words->n_words++] =
				(struct word){rela[i].r_offset, elf->symbols[symbol].st_value};
	}
	return 0;
}

/* endbr64, bnd: may stand before jmp *distance(%rip). False: something else is there. */
static bool read_entry(const uint8_t *bytes, size_t n_bytes, uint64_t address, uint64_t *ret_slot)
{
	size_t at = n_bytes >= 4 && !memcmp(bytes, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
	int32_t distance;

	at += at < n_bytes && bytes[at] == 0xf2;
	if (n_bytes - at < 6 || bytes[at] != 0xff || bytes[at + 1] != 0x25)
		return false;
	memcpy(&distance, bytes + at + 2, sizeof(distance));
	*ret_slot = address + at + 6 + (uint64_t)(int64_t)distance;
	return true;
}

/* Entries of one section; without slots only count. */
static size_t add_entries(struct cm_elf_slot *slots, const struct cm_code_part *text,
			  const struct words *words)
{
	size_t n = 0;

	for (uint64_t at = text->begin; at < text->end; at += PLT_STEP) {
		const struct word *word;
		struct word key = {0};

		if (!read_entry(text->bytes + (at - text->begin), text->end - at, at, &key.place))
			continue;
		word = bsearch(&key, words->words, words->n_words, sizeof(key), by_place);
		if (!word)
			continue;
		if (slots)
			slots[n] = (struct cm_elf_slot){word->function, at};
		n++;
	}
	return n;
}

static size_t add_sections(struct cm_elf_slot *slots, const struct cm_elf_code *code,
			   const struct words *words)
{
	size_t n = 0;

	for (size_t i = 0; i < code->n_texts; i++)
		if (code->texts[i].is_plt)
			n += add_entries(slots ? slots + n : NULL, &code->texts[i], words);
	return n;
}

int cm_elf_slots_read(struct cm_elf_slots *slots, struct cm_elf *elf,
		      const struct cm_elf_code *code, struct cm_diag *diag)
{
	struct words words = {0};
	int rc = elf->n_dynamic ? cm_elf_load_symbols(elf, diag) : 0;

	memset(slots, 0, sizeof(*slots));
	if (rc >= 0)
		rc = add_words(&words, elf, DT_JMPREL, DT_PLTRELSZ, diag);
	if (rc >= 0)
		rc = add_words(&words, elf, DT_RELA, DT_RELASZ, diag);
	if (rc >= 0 && words.n_words) {
		qsort(words.words, words.n_words, sizeof(words.words[0]), by_place);
		slots->n_slots = add_sections(NULL, code, &words);
		slots->slots = calloc(slots->n_slots + 1, sizeof(slots->slots[0]));
		rc = slots->slots ? 0 : -ENOMEM;
	}
	if (rc >= 0 && slots->n_slots) {
		(void)add_sections(slots->slots, code, &words); /* as many as before */
		qsort(slots->slots, slots->n_slots, sizeof(slots->slots[0]), by_function);
	}
	free(words.words);
	if (rc < 0)
		cm_elf_slots_fini(slots);
	return rc;
}

void cm_elf_slots_fini(struct cm_elf_slots *slots)
{
	free(slots->slots);
	memset(slots, 0, sizeof(*slots));
}

const struct cm_elf_slot *cm_elf_slots_find(const struct cm_elf_slots *slots, uint64_t function,
					    size_t *ret_n)
{
	size_t low = 0, high = slots->n_slots, end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (slots->slots[mid].function < function)
			low = mid + 1;
		else
			high = mid;
	}
	for (end = low; end < slots->n_slots && slots->slots[end].function == function;)
		end++;
	*ret_n = end - low;
	return *ret_n ? slots->slots + low : NULL;
}
