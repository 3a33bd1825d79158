/* SPDX-License-Identifier: BSD-3-Clause */
/* The build-id note through the program headers, as everything else of the file. */
#include "collector/elf-identity.h"

#include <errno.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/elf-image.h"

static int copy(char *buf, size_t n_bytes, const char *text, const char *what, const char *path,
		struct cm_diag *diag)
{
	if (strlen(text) >= n_bytes)
		return cm_diag_set(diag, -E2BIG, "%s: its %s is too long", path, what);
	strcpy(buf, text);
	return 0;
}

static int format_build_id(struct cm_elf_identity *identity, const char *path,
			   const unsigned char *id, size_t n, struct cm_diag *diag)
{
	if (2 * n >= sizeof(identity->build_id))
		return cm_diag_set(diag, -E2BIG, "%s: its build-id is too long", path);
	for (size_t i = 0; i < n; i++)
		snprintf(identity->build_id + 2 * i, 3, "%02x", id[i]);
	return 0;
}

/* The place of the next one of `n` bytes, padded; 0: that is outside. */
static size_t skip(size_t at, size_t n, size_t align, size_t n_all)
{
	size_t end;

	if (__builtin_add_overflow(at, n, &end) || end > n_all)
		return 0;
	end = (end + align - 1) & ~(align - 1);
	return end < n_all ? end : n_all; /* what stands last need not be padded */
}

/* One segment of notes: 1 when the build-id was there. */
static int read_notes(struct cm_elf_identity *identity, const struct cm_elf *elf,
		      const Elf64_Phdr *phdr, struct cm_diag *diag)
{
	size_t align = phdr->p_align == 8 ? 8 : 4, n = phdr->p_filesz, next;
	const unsigned char *bytes = cm_elf_at(elf, phdr->p_vaddr, n, ELF_T_BYTE);
	Elf64_Nhdr note;

	if (n && !bytes)
		return cm_diag_set(diag, -EBADMSG, "%s: damaged or truncated ELF file (notes)",
				   elf->path);
	for (size_t at = 0; at < n && n - at >= sizeof(note); at = next) {
		size_t name_at = at + sizeof(note), desc_at;

		memcpy(&note, bytes + at, sizeof(note));
		desc_at = skip(name_at, note.n_namesz, align, n);
		next = desc_at ? skip(desc_at, note.n_descsz, align, n) : 0;
		if (!next)
			return cm_diag_set(diag, -EBADMSG,
					   "%s: damaged or truncated ELF file (notes)", elf->path);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(bytes + name_at, "GNU", 4)) {
			int rc = format_build_id(identity, elf->path, bytes + desc_at,
						 note.n_descsz, diag);

			return rc < 0 ? rc : 1;
		}
	}
	return 0;
}

static int read_version(struct cm_elf_identity *identity, const char *path, struct cm_diag *diag)
{
	char real[PATH_MAX];
	const char *name, *found;

	if (!realpath(path, real))
		return cm_diag_set(diag, -errno, "%s: %s", path, strerror(errno));
	name = strrchr(real, '/');
	found = strstr(name ? name : real, ".so.");
	return copy(identity->version, sizeof(identity->version), found ? found + 4 : "", "version",
		    path, diag);
}

int cm_elf_identity_read(struct cm_elf_identity *identity, const char *path, struct cm_diag *diag)
{
	struct cm_elf *elf;
	int rc = cm_elf_open(&elf, path, diag);

	memset(identity, 0, sizeof(*identity));
	if (rc < 0)
		return rc;
	if (cm_elf_kind(elf) == CM_ELF_FOREIGN || cm_elf_kind(elf) == CM_ELF_OTHER)
		rc = cm_diag_set(diag, -ENOEXEC, "%s: not a program or library of this machine",
				 path);
	for (size_t i = 0; rc == 0 && i < elf->n_phdrs; i++) {
		if (elf->phdrs[i].p_type == PT_NOTE)
			rc = read_notes(identity, elf, &elf->phdrs[i], diag);
	}
	if (rc >= 0)
		rc = copy(identity->soname, sizeof(identity->soname), cm_elf_soname(elf), "SONAME",
			  path, diag);
	if (rc >= 0)
		rc = read_version(identity, path, diag);
	cm_elf_close(elf);
	return rc < 0 ? rc : 0;
}
