/* SPDX-License-Identifier: BSD-3-Clause */
/* Open a binary on disk and read its dynamic segment. */
#include "collector/elf-binary.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/elf-image.h"

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#else
#error "unknown architecture"
#endif

static int damaged(const struct cm_elf *elf, const char *what, struct cm_diag *diag)
{
	return cm_diag_set(diag, -EBADMSG, "%s: damaged or truncated ELF file (%s)", elf->path,
			   what);
}

size_t cm_elf_available(const struct cm_elf *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->n_phdrs; i++) {
		const Elf64_Phdr *phdr = &elf->phdrs[i];

		if (phdr->p_type == PT_LOAD && address >= phdr->p_vaddr &&
		    address - phdr->p_vaddr < phdr->p_filesz)
			return phdr->p_filesz - (address - phdr->p_vaddr);
	}
	return 0;
}

static const void *file_chunk(const struct cm_elf *elf, uint64_t offset, size_t n_bytes, int type)
{
	Elf_Data *data;

	if (!n_bytes || offset > INT64_MAX)
		return NULL;
	data = elf_getdata_rawchunk(elf->handle, (int64_t)offset, n_bytes, (Elf_Type)type);
	return data && data->d_size == n_bytes ? data->d_buf : NULL;
}

const void *cm_elf_at(const struct cm_elf *elf, uint64_t address, size_t n_bytes, int type)
{
	for (size_t i = 0; i < elf->n_phdrs; i++) {
		const Elf64_Phdr *phdr = &elf->phdrs[i];
		uint64_t skip = address - phdr->p_vaddr;
		uint64_t offset;

		if (phdr->p_type != PT_LOAD || address < phdr->p_vaddr || skip >= phdr->p_filesz)
			continue;
		if (n_bytes > phdr->p_filesz - skip ||
		    __builtin_add_overflow(phdr->p_offset, skip, &offset))
			return NULL;
		return file_chunk(elf, offset, n_bytes, type);
	}
	return NULL;
}

const char *cm_elf_string(const struct cm_elf *elf, uint64_t offset)
{
	return offset < elf->n_strings ? elf->strings + offset : "";
}

/* Names for what a user is likely to meet; nothing depends on them. */
static void set_machine_name(struct cm_elf *elf, const GElf_Ehdr *ehdr)
{
	static const struct {
		uint16_t machine;
		char name[14];
	} names[] = {{EM_X86_64, "x86-64"}, {EM_386, "i386"},	     {EM_AARCH64, "AArch64"},
		     {EM_ARM, "ARM"},	    {EM_PPC64, "PowerPC64"}, {EM_S390, "S/390"},
		     {EM_RISCV, "RISC-V"},  {EM_MIPS, "MIPS"}};

	snprintf(elf->machine_name, sizeof(elf->machine_name), "machine %u", ehdr->e_machine);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].machine == ehdr->e_machine)
			snprintf(elf->machine_name, sizeof(elf->machine_name), "%s%s",
				 names[i].name,
				 ehdr->e_machine == EM_X86_64 &&
						 ehdr->e_ident[EI_CLASS] == ELFCLASS32
					 ? " (x32)"
					 : "");
}

bool cm_elf_is_native(Elf *handle)
{
	GElf_Ehdr ehdr;

	return gelf_getehdr(handle, &ehdr) && ehdr.e_machine == NATIVE_MACHINE &&
	       ehdr.e_ident[EI_CLASS] == ELFCLASS64 && ehdr.e_ident[EI_DATA] == ELFDATA2LSB;
}

/* The dynamic segment's tags and strings. */
static int read_dynamic(struct cm_elf *elf, const Elf64_Phdr *segment, struct cm_diag *diag)
{
	elf->n_dynamic = segment->p_filesz / sizeof(Elf64_Dyn);
	elf->dynamic =
		file_chunk(elf, segment->p_offset, elf->n_dynamic * sizeof(Elf64_Dyn), ELF_T_DYN);
	if (!elf->dynamic)
		return damaged(elf, "dynamic segment", diag);
	for (size_t i = 0; i < elf->n_dynamic; i++) {
		const Elf64_Dyn *dyn = &elf->dynamic[i];

		if (dyn->d_tag == DT_NULL)
			elf->n_dynamic = i;
		else if (dyn->d_tag == DT_GNU_HASH)
			elf->gnu_hash = dyn->d_un.d_ptr;
		else if (dyn->d_tag > 0 && dyn->d_tag < CM_ELF_N_TAGS && !elf->tags[dyn->d_tag])
			elf->tags[dyn->d_tag] = dyn->d_un.d_val;
	}
	if (elf->tags[DT_STRSZ]) {
		elf->n_strings = elf->tags[DT_STRSZ];
		elf->strings = cm_elf_at(elf, elf->tags[DT_STRTAB], elf->n_strings, ELF_T_BYTE);
		if (!elf->strings || elf->strings[elf->n_strings - 1] != '\0')
			return damaged(elf, "string table", diag);
	}
	return 0;
}

/* Names in the dynamic segment; a position independent program says so in DT_FLAGS_1. */
static int read_names(struct cm_elf *elf, bool *ret_is_pie)
{
	elf->needed = calloc(elf->n_dynamic + 1, sizeof(elf->needed[0]));
	if (!elf->needed)
		return -ENOMEM;
	elf->soname = cm_elf_string(elf, elf->tags[DT_SONAME] ?: UINT64_MAX);
	for (size_t i = 0; i < elf->n_dynamic; i++) {
		const Elf64_Dyn *dyn = &elf->dynamic[i];

		if (dyn->d_tag == DT_NEEDED)
			elf->needed[elf->n_needed++] = cm_elf_string(elf, dyn->d_un.d_val);
		else if (dyn->d_tag == DT_FLAGS_1 && (dyn->d_un.d_val & DF_1_PIE))
			*ret_is_pie = true;
	}
	return 0;
}

static int read_interpreter(struct cm_elf *elf, const Elf64_Phdr *segment, struct cm_diag *diag)
{
	elf->interpreter = file_chunk(elf, segment->p_offset, segment->p_filesz, ELF_T_BYTE);
	if (!elf->interpreter || elf->interpreter[segment->p_filesz - 1] != '\0') {
		elf->interpreter = "";
		return damaged(elf, "name of the interpreter", diag);
	}
	return 0;
}

static int read_native(struct cm_elf *elf, struct cm_diag *diag)
{
	const Elf64_Phdr *dynamic = NULL;
	const Elf64_Phdr *interpreter = NULL;
	bool is_pie = false;
	int rc = 0;

	if (elf_getphdrnum(elf->handle, &elf->n_phdrs))
		return damaged(elf, "program headers", diag);
	elf->phdrs = elf64_getphdr(elf->handle);
	if (!elf->phdrs)
		return damaged(elf, "program headers", diag);
	for (size_t i = 0; i < elf->n_phdrs; i++) {
		if (elf->phdrs[i].p_type == PT_DYNAMIC)
			dynamic = &elf->phdrs[i];
		else if (elf->phdrs[i].p_type == PT_INTERP)
			interpreter = &elf->phdrs[i];
	}
	if (interpreter)
		rc = read_interpreter(elf, interpreter, diag);
	if (!rc && dynamic)
		rc = read_dynamic(elf, dynamic, diag);
	if (!rc)
		rc = read_names(elf, &is_pie);
	if (interpreter && dynamic)
		elf->kind = CM_ELF_PROGRAM;
	else
		elf->kind = dynamic && !is_pie ? CM_ELF_SHARED : CM_ELF_STATIC;
	return rc;
}

static int read_header(struct cm_elf *elf, struct cm_diag *diag)
{
	GElf_Ehdr ehdr;

	if (elf_kind(elf->handle) != ELF_K_ELF)
		return cm_diag_set(diag, -ENOEXEC, "%s: not an ELF file", elf->path);
	if (!gelf_getehdr(elf->handle, &ehdr))
		return damaged(elf, "header", diag);
	set_machine_name(elf, &ehdr);
	if (!cm_elf_is_native(elf->handle)) {
		elf->kind = CM_ELF_FOREIGN;
		return 0;
	}
	if (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN) {
		elf->kind = CM_ELF_OTHER;
		return 0;
	}
	return read_native(elf, diag);
}

int cm_elf_open(struct cm_elf **ret_elf, const char *path, struct cm_diag *diag)
{
	struct cm_elf *elf = calloc(1, sizeof(*elf));
	struct stat st;
	int rc = -ENOMEM;

	if (!elf)
		return rc;
	elf->interpreter = "";
	elf->soname = "";
	elf->path = strdup(path);
	/* Not blocking: a FIFO by this name must not hang us. */
	elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (!elf->path)
		goto out;
	if (elf->fd < 0 || fstat(elf->fd, &st)) {
		rc = cm_diag_set(diag, -errno, "%s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		rc = cm_diag_set(diag, S_ISDIR(st.st_mode) ? -EISDIR : -ENOEXEC,
				 "%s: not a regular file", path);
		goto out;
	}
	(void)elf_version(EV_CURRENT); /* fails only for versions libelf does not know */
	elf->handle = elf_begin(elf->fd, ELF_C_READ, NULL);
	rc = elf->handle ? read_header(elf, diag)
			 : cm_diag_set(diag, -EBADMSG, "%s: %s", path, elf_errmsg(-1));
out:
	if (rc < 0) {
		cm_elf_close(elf);
		return rc;
	}
	*ret_elf = elf;
	return 0;
}

void cm_elf_close(struct cm_elf *elf)
{
	if (!elf)
		return;
	(void)elf_end(elf->handle); /* a count of users, NULL is allowed */
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->needed);
	free(elf->definitions);
	free(elf->path);
	free(elf);
}

enum cm_elf_kind cm_elf_kind(const struct cm_elf *elf)
{
	return elf->kind;
}

const char *cm_elf_machine(const struct cm_elf *elf)
{
	return elf->machine_name;
}

const char *cm_elf_interpreter(const struct cm_elf *elf)
{
	return elf->interpreter;
}

const char *cm_elf_soname(const struct cm_elf *elf)
{
	return elf->soname;
}

size_t cm_elf_n_needed(const struct cm_elf *elf)
{
	return elf->n_needed;
}

const char *cm_elf_needed(const struct cm_elf *elf, size_t i)
{
	return elf->needed[i];
}

Elf *cm_elf_handle(const struct cm_elf *elf)
{
	return elf->handle;
}
