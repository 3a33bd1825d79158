/* SPDX-License-Identifier: BSD-3-Clause */
/* Symbols of code. */
#include "collector/elf-symbols.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "collector/elf-file.h"
#include "collector/elf-image.h"

static int append(struct cm_elf_symbols *symbols, const struct cm_elf_symbol *symbol)
{
	if (symbols->n_symbols == symbols->n_room) {
		size_t n_room = symbols->n_room ? 2 * symbols->n_room : 1024;
		struct cm_elf_symbol *more =
			reallocarray(symbols->symbols, n_room, sizeof(more[0]));

		if (!more)
			return -ENOMEM;
		symbols->symbols = more;
		symbols->n_room = n_room;
	}
	symbols->symbols[symbols->n_symbols++] = *symbol;
	return 0;
}

static bool is_wanted(const Elf64_Sym *sym, const struct cm_elf_code *code)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);
	const struct cm_code_part *text;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) || !sym->st_name ||
	    sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
		return false;
	text = cm_elf_code_text(code, sym->st_value);
	return text && !text->is_plt;
}

static int add_symbol(struct cm_elf_symbols *symbols, const Elf64_Sym *sym, const char *name,
		      const char *source)
{
	struct cm_elf_symbol symbol = {
		.address = sym->st_value,
		.size = sym->st_size,
		.name = name,
		.source = source,
		.type = ELF64_ST_TYPE(sym->st_info),
		.is_local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL,
	};

	return name && *name ? append(symbols, &symbol) : 0;
}

/* The source's base name; objects of link-time optimisation and the like are no source. */
static const char *source_name(const char *file)
{
	const char *name = file ? strrchr(file, '/') : NULL;
	size_t n;

	name = name ? name + 1 : file ? file : "";
	n = strlen(name);
	return name[0] == '<' || (n > 2 && !strcmp(name + n - 2, ".o")) ? "" : name;
}

/* A table's local symbols follow the name of their file. */
static int add_table(struct cm_elf_symbols *symbols, Elf *handle, Elf_Scn *section, size_t strings,
		     const struct cm_elf_code *code)
{
	const Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data && data->d_buf ? data->d_size / sizeof(Elf64_Sym) : 0;
	const Elf64_Sym *syms = n ? data->d_buf : NULL;
	const char *source = "";
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < n; i++) {
		bool is_local = ELF64_ST_BIND(syms[i].st_info) == STB_LOCAL;

		if (ELF64_ST_TYPE(syms[i].st_info) == STT_FILE)
			source = source_name(elf_strptr(handle, strings, syms[i].st_name));
		else if (is_wanted(&syms[i], code))
			rc = add_symbol(symbols, &syms[i],
					elf_strptr(handle, strings, syms[i].st_name),
					is_local ? source : "");
	}
	return rc;
}

static Elf_Scn *find_symtab(Elf *handle, GElf_Shdr *shdr)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(handle, section)))
		if (gelf_getshdr(section, shdr) && shdr->sh_type == SHT_SYMTAB)
			break;
	return section;
}

static int add_symtab(struct cm_elf_symbols *symbols, Elf *handle, const struct cm_elf_code *code)
{
	GElf_Shdr shdr;
	Elf_Scn *section = find_symtab(handle, &shdr);

	return section ? add_table(symbols, handle, section, shdr.sh_link, code) : 0;
}

uint32_t cm_elf_symbols_own(struct cm_elf *elf)
{
	GElf_Shdr shdr;

	return find_symtab(elf->handle, &shdr) ? (uint32_t)(shdr.sh_size / sizeof(Elf64_Sym)) : 0;
}

/* As the loader sees them: these are there whatever was stripped. */
static int add_dynamic(struct cm_elf_symbols *symbols, struct cm_elf *elf,
		       const struct cm_elf_code *code, struct cm_diag *diag)
{
	int rc = elf->n_dynamic ? cm_elf_load_symbols(elf, diag) : 0;

	for (size_t i = 0; rc >= 0 && i < elf->n_symbols; i++)
		if (is_wanted(&elf->symbols[i], code))
			rc = add_symbol(symbols, &elf->symbols[i],
					cm_elf_string(elf, elf->symbols[i].st_name), "");
	return rc;
}

int cm_elf_symbols_read(struct cm_elf_symbols *symbols, struct cm_elf *elf,
			const struct cm_elf_code *code, struct cm_diag *diag)
{
	int rc;

	memset(symbols, 0, sizeof(*symbols));
	rc = add_symtab(symbols, elf->handle, code);
	if (rc >= 0)
		rc = add_dynamic(symbols, elf, code, diag);
	if (rc < 0)
		cm_elf_symbols_fini(symbols);
	return rc;
}

int cm_elf_symbols_add(struct cm_elf_symbols *symbols, const struct cm_elf_file *debug,
		       const struct cm_elf_code *code)
{
	/* libelf reads either class; the tables here are of the only one that can match. */
	return cm_elf_is_native(debug->handle) ? add_symtab(symbols, debug->handle, code) : 0;
}

void cm_elf_symbols_fini(struct cm_elf_symbols *symbols)
{
	free(symbols->symbols);
	memset(symbols, 0, sizeof(*symbols));
}
