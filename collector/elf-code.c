/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments and sections of code, and the words that point to them. */
#include "collector/elf-code.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "collector/elf-file.h"
#include "collector/elf-image.h"

#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

static int damaged(const struct cm_elf *elf, const char *what, struct cm_diag *diag)
{
	return cm_diag_set(diag, -EBADMSG, "%s: damaged or truncated ELF file (%s)", elf->path,
			   what);
}

const uint8_t *cm_elf_code_at(const struct cm_elf_code *code, uint64_t address, size_t n_bytes)
{
	for (size_t i = 0; i < code->n_segments; i++) {
		const struct cm_code_part *part = &code->segments[i];

		if (address >= part->begin && address < part->end)
			return n_bytes <= part->end - address
				       ? part->bytes + (address - part->begin)
				       : NULL;
	}
	return NULL;
}

const struct cm_code_part *cm_elf_code_text(const struct cm_elf_code *code, uint64_t address)
{
	size_t low = 0, high = code->n_texts;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (code->texts[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < code->n_texts && address >= code->texts[low].begin ? &code->texts[low] : NULL;
}

static int read_segments(struct cm_elf_code *code, struct cm_elf *elf, struct cm_diag *diag)
{
	code->segments = calloc(elf->n_phdrs + 1, sizeof(code->segments[0]));
	if (!code->segments)
		return -ENOMEM;
	for (size_t i = 0; i < elf->n_phdrs; i++) {
		const Elf64_Phdr *phdr = &elf->phdrs[i];
		struct cm_code_part *part = &code->segments[code->n_segments];

		if (phdr->p_type != PT_LOAD || !phdr->p_filesz)
			continue;
		part->begin = phdr->p_vaddr;
		part->bytes = cm_elf_at(elf, phdr->p_vaddr, phdr->p_filesz, ELF_T_BYTE);
		if (!part->bytes ||
		    __builtin_add_overflow(phdr->p_vaddr, phdr->p_filesz, &part->end))
			return damaged(elf, "segment", diag);
		code->n_segments++;
	}
	return 0;
}

static bool is_executable(const struct cm_elf *elf, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < elf->n_phdrs; i++) {
		const Elf64_Phdr *phdr = &elf->phdrs[i];

		if (phdr->p_type == PT_LOAD && (phdr->p_flags & PF_X) && begin >= phdr->p_vaddr &&
		    begin - phdr->p_vaddr < phdr->p_filesz && end - phdr->p_vaddr <= phdr->p_filesz)
			return true;
	}
	return false;
}

static void add_text(struct cm_elf_code *code, const struct cm_elf *elf, uint64_t begin,
		     uint64_t n_bytes, const char *name)
{
	struct cm_code_part *text = &code->texts[code->n_texts];

	if (!n_bytes || __builtin_add_overflow(begin, n_bytes, &text->end) ||
	    !is_executable(elf, begin, text->end))
		return;
	text->begin = begin;
	text->bytes = cm_elf_code_at(code, begin, n_bytes);
	text->is_plt = !strncmp(name, ".plt", 4) || !strncmp(name, ".iplt", 5);
	code->n_texts += text->bytes != NULL;
}

static int by_begin(const void *a, const void *b)
{
	const struct cm_code_part *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool have_overlap(const struct cm_elf_code *code)
{
	for (size_t i = 1; i < code->n_texts; i++)
		if (code->texts[i].begin < code->texts[i - 1].end)
			return true;
	return false;
}

static const char *section_name(struct cm_elf *elf, const GElf_Shdr *shdr)
{
	const char *name = NULL;
	size_t strings;

	if (!elf_getshdrstrndx(elf->handle, &strings))
		name = elf_strptr(elf->handle, strings, shdr->sh_name);
	return name ? name : "";
}

static int read_texts(struct cm_elf_code *code, struct cm_elf *elf)
{
	size_t n_sections = 0;
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	(void)elf_getshdrnum(elf->handle, &n_sections); /* none: segments will do */
	code->texts = calloc(n_sections + elf->n_phdrs + 1, sizeof(code->texts[0]));
	if (!code->texts)
		return -ENOMEM;
	while ((section = elf_nextscn(elf->handle, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_type != SHT_NOBITS &&
		    (shdr.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR))
			add_text(code, elf, shdr.sh_addr, shdr.sh_size, section_name(elf, &shdr));
	qsort(code->texts, code->n_texts, sizeof(code->texts[0]), by_begin);
	if (code->n_texts && !have_overlap(code))
		return 0;
	code->n_texts = 0;
	for (size_t i = 0; i < elf->n_phdrs; i++)
		if (elf->phdrs[i].p_type == PT_LOAD && (elf->phdrs[i].p_flags & PF_X))
			add_text(code, elf, elf->phdrs[i].p_vaddr, elf->phdrs[i].p_filesz, "");
	qsort(code->texts, code->n_texts, sizeof(code->texts[0]), by_begin);
	return have_overlap(code) ? -EBADMSG : 0;
}

int cm_elf_code_read(struct cm_elf_code *code, struct cm_elf *elf, struct cm_diag *diag)
{
	int rc;

	memset(code, 0, sizeof(*code));
	rc = read_segments(code, elf, diag);
	if (rc >= 0)
		rc = read_texts(code, elf);
	if (rc == -EBADMSG)
		rc = damaged(elf, "segments overlap", diag);
	if (rc < 0) {
		cm_elf_code_fini(code);
		return rc;
	}
	if (code->n_texts) {
		code->begin = code->texts[0].begin;
		code->end = code->texts[code->n_texts - 1].end;
	}
	return 0;
}

void cm_elf_code_fini(struct cm_elf_code *code)
{
	free(code->segments);
	free(code->texts);
	memset(code, 0, sizeof(*code));
}

bool cm_elf_code_section(struct cm_elf *elf, const char *name, struct cm_code_part *ret_part)
{
	Elf_Scn *section = cm_elf_file_section(elf->handle, name);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	GElf_Shdr shdr;

	/* No bytes: SHT_NOBITS, or cut off. */
	if (!data || !data->d_buf || !gelf_getshdr(section, &shdr) || data->d_size != shdr.sh_size)
		return false;
	*ret_part = (struct cm_code_part){
		.begin = shdr.sh_addr, .end = shdr.sh_addr + shdr.sh_size, .bytes = data->d_buf};
	return ret_part->end >= ret_part->begin;
}

/* Where words go that may be addresses of code. */
struct words {
	const struct cm_elf_code *code;
	int (*found)(void *ctx, uint64_t place, uint64_t value);
	void *ctx;
};

static int offer(const struct words *words, uint64_t place, uint64_t value)
{
	if (value < words->code->begin || value >= words->code->end ||
	    !cm_elf_code_text(words->code, value))
		return 0;
	return words->found(words->ctx, place, value);
}

static int offer_in_place(const struct words *words, uint64_t place)
{
	const uint8_t *bytes = cm_elf_code_at(words->code, place, 8);
	uint64_t value;

	if (!bytes)
		return 0;
	memcpy(&value, bytes, sizeof(value));
	return offer(words, place, value);
}

static int scan_rela(const struct words *words, struct cm_elf *elf, struct cm_diag *diag)
{
	size_t n = elf->tags[DT_RELASZ] / sizeof(Elf64_Rela);
	const Elf64_Rela *rela;
	int rc = 0;

	if (!n || !elf->tags[DT_RELA])
		return 0;
	rela = cm_elf_at(elf, elf->tags[DT_RELA], n * sizeof(*rela), ELF_T_RELA);
	if (!rela)
		return damaged(elf, "relocations", diag);
	for (size_t i = 0; rc >= 0 && i < n; i++)
		if (ELF64_R_TYPE(rela[i].r_info) == R_X86_64_RELATIVE)
			rc = offer(words, rela[i].r_offset, (uint64_t)rela[i].r_addend);
	return rc;
}

/* Packed: an address, then bits for the 63 words behind what was last told. */
static int scan_relr(const struct words *words, struct cm_elf *elf, struct cm_diag *diag)
{
	uint64_t at = 0, table = 0, n_bytes = 0;
	const uint64_t *relr;
	int rc = 0;

	for (size_t i = 0; i < elf->n_dynamic; i++) {
		if (elf->dynamic[i].d_tag == DT_RELR)
			table = elf->dynamic[i].d_un.d_val;
		else if (elf->dynamic[i].d_tag == DT_RELRSZ)
			n_bytes = elf->dynamic[i].d_un.d_val / 8 * 8;
	}
	if (!table || !n_bytes)
		return 0;
	relr = cm_elf_at(elf, table, n_bytes, ELF_T_XWORD);
	if (!relr)
		return damaged(elf, "relocations", diag);
	for (size_t i = 0; rc >= 0 && i < n_bytes / 8; i++) {
		if (!(relr[i] & 1)) {
			rc = offer_in_place(words, relr[i]);
			at = relr[i] + 8;
			continue;
		}
		for (unsigned int bit = 1; rc >= 0 && bit < 64; bit++)
			if (relr[i] >> bit & 1)
				rc = offer_in_place(words, at + (bit - 1) * UINT64_C(8));
		at += UINT64_C(63) * 8;
	}
	return rc;
}

/* Outside of texts: tables in between instructions are found by the code that uses them. */
static int scan_data(const struct words *words)
{
	int rc = 0;

	for (size_t i = 0; i < words->code->n_segments; i++) {
		const struct cm_code_part *part = &words->code->segments[i];
		uint64_t at = (part->begin + 7) & ~UINT64_C(7);

		for (; rc >= 0 && at < part->end && part->end - at >= 8; at += 8) {
			uint64_t value;

			memcpy(&value, part->bytes + (at - part->begin), sizeof(value));
			if (value >= words->code->begin && value < words->code->end &&
			    !cm_elf_code_text(words->code, at))
				rc = offer(words, at, value);
		}
	}
	return rc;
}

int cm_elf_code_words(const struct cm_elf_code *code, struct cm_elf *elf,
		      int (*found)(void *ctx, uint64_t place, uint64_t value), void *ctx,
		      struct cm_diag *diag)
{
	struct words words = {code, found, ctx};
	const Elf64_Ehdr *header = elf64_getehdr(elf->handle);
	int rc;

	if (header && header->e_type == ET_EXEC)
		return scan_data(&words);
	rc = scan_rela(&words, elf, diag);
	return rc >= 0 ? scan_relr(&words, elf, diag) : rc;
}
