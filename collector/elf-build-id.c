/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes, and the one among them that identifies the binary. */
#include "collector/elf-build-id.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "collector/elf-image.h"

/* The place of the next one of `n` bytes, padded; 0: that is outside. */
static size_t skip(size_t at, size_t n, size_t align, size_t n_all)
{
	size_t end;

	if (__builtin_add_overflow(at, n, &end) || end > n_all)
		return 0;
	end = (end + align - 1) & ~(align - 1);
	return end < n_all ? end : n_all; /* what stands last need not be padded */
}

/* In bytes of notes, whose descriptions are padded to `align`. */
static int read_notes(const uint8_t *notes, size_t n_bytes, size_t align, const uint8_t **ret_id,
		      size_t *ret_n)
{
	Elf64_Nhdr note;
	size_t next;

	for (size_t at = 0; at < n_bytes && n_bytes - at >= sizeof(note); at = next) {
		size_t name_at = at + sizeof(note), desc_at;

		memcpy(&note, notes + at, sizeof(note));
		desc_at = skip(name_at, note.n_namesz, align, n_bytes);
		next = desc_at ? skip(desc_at, note.n_descsz, align, n_bytes) : 0;
		if (!next)
			return -EBADMSG;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + name_at, "GNU", 4)) {
			*ret_id = notes + desc_at;
			*ret_n = note.n_descsz;
			return 1;
		}
	}
	return 0;
}

int cm_elf_build_id(const struct cm_elf *elf, const uint8_t **ret_id, size_t *ret_n,
		    struct cm_diag *diag)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < elf->n_phdrs; i++) {
		const Elf64_Phdr *phdr = &elf->phdrs[i];
		const uint8_t *notes;

		if (phdr->p_type != PT_NOTE || !phdr->p_filesz)
			continue;
		notes = cm_elf_at(elf, phdr->p_vaddr, phdr->p_filesz, ELF_T_BYTE);
		rc = notes ? read_notes(notes, phdr->p_filesz, phdr->p_align == 8 ? 8 : 4, ret_id,
					ret_n)
			   : -EBADMSG;
	}
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: damaged or truncated ELF file (notes)",
				   elf->path);
	return rc;
}

int cm_elf_sections_build_id(Elf *handle, const uint8_t **ret_id, size_t *ret_n)
{
	Elf_Scn *section = NULL;
	const Elf_Data *data;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(handle, section))) {
		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_NOTE)
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf &&
		    read_notes(data->d_buf, data->d_size, shdr.sh_addralign == 8 ? 8 : 4, ret_id,
			       ret_n) == 1)
			return 1;
	}
	return 0;
}
