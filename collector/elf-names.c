/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions by address, from the symbol tables of a binary and what was stripped from it. */
#include "collector/elf-names.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/elf-build-id.h"
#include "collector/elf-debug-file.h"
#include "collector/elf-image.h"
#include "collector/elf-lines.h"

#define MAX_BACK 64 /* symbols inside of others */

struct symbol {
	uint64_t begin, end;
	const char *name; /* of the file's own string table */
	int rank;	  /* the larger, the better a name for its address */
};

/* A section with instructions. */
struct text {
	uint64_t begin, end;
	bool is_plt;
};

struct cm_elf_names {
	struct cm_elf_file binary;
	struct cm_elf_file debug;
	struct cm_elf_file inside; /* .gnu_debugdata */
	char *path;
	const uint8_t *id; /* build-id */
	size_t n_id;	   /* 0: none */
	bool is_thorough;
	bool has_looked; /* for a debug file */
	bool has_debug;
	bool has_symbols; /* they were read */
	bool has_lines;	  /* likewise; lines may be NULL */
	struct cm_elf_lines *lines;
	struct text *texts;
	size_t n_texts;
	struct symbol *symbols; /* ascending; of those at one address the best is last */
	size_t n_symbols, n_room;
};

static int add_text(struct cm_elf_names *names, const GElf_Shdr *header, const char *name)
{
	struct text *more = reallocarray(names->texts, names->n_texts + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	names->texts = more;
	more[names->n_texts++] = (struct text){header->sh_addr, header->sh_addr + header->sh_size,
					       name && strncmp(name, ".plt", 4) == 0};
	return 0;
}

static int read_texts(struct cm_elf_names *names)
{
	Elf *handle = names->binary.handle;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t strings;
	int rc = 0;

	if (elf_getshdrstrndx(handle, &strings))
		return 0; /* no sections: no names */
	while (rc == 0 && (section = elf_nextscn(handle, section)))
		if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) &&
		    header.sh_size <= UINT64_MAX - header.sh_addr)
			rc = add_text(names, &header, elf_strptr(handle, strings, header.sh_name));
	return rc;
}

static bool has_build_id(const struct cm_elf_names *names, const char *hex)
{
	if (strlen(hex) != 2 * names->n_id)
		return false;
	for (size_t i = 0; i < names->n_id; i++) {
		char digits[3];

		snprintf(digits, sizeof(digits), "%02x", names->id[i]);
		if (memcmp(hex + 2 * i, digits, 2) != 0)
			return false;
	}
	return true;
}

static int check_binary(struct cm_elf_names *names, const char *build_id)
{
	Elf *handle = names->binary.handle;
	GElf_Ehdr header;

	if (!cm_elf_is_native(handle) || !gelf_getehdr(handle, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return -ENOEXEC;
	(void)cm_elf_sections_build_id(handle, &names->id, &names->n_id); /* or there is none */
	if (*build_id && names->n_id && !has_build_id(names, build_id))
		return -ESTALE;
	return read_texts(names);
}

int cm_elf_names_open(struct cm_elf_names **ret_names, const char *path, const char *build_id,
		      bool is_thorough)
{
	struct cm_elf_names *names = calloc(1, sizeof(*names));
	int rc;

	if (!names)
		return -ENOMEM;
	names->is_thorough = is_thorough;
	names->path = strdup(path);
	rc = names->path ? cm_elf_file_open(&names->binary, path) : -ENOMEM;
	if (rc == 0)
		rc = check_binary(names, build_id);
	if (rc < 0) {
		cm_elf_names_close(names);
		return rc;
	}
	*ret_names = names;
	return 0;
}

void cm_elf_names_close(struct cm_elf_names *names)
{
	if (!names)
		return;
	cm_elf_lines_close(names->lines);
	cm_elf_file_close(&names->inside);
	cm_elf_file_close(&names->debug);
	cm_elf_file_close(&names->binary);
	free(names->path);
	free(names->texts);
	free(names->symbols);
	free(names);
}

static const struct text *find_text(const struct cm_elf_names *names, uint64_t address)
{
	for (size_t i = 0; i < names->n_texts; i++)
		if (names->texts[i].begin <= address && address < names->texts[i].end)
			return &names->texts[i];
	return NULL;
}

bool cm_elf_names_is_plt(const struct cm_elf_names *names, uint64_t address)
{
	const struct text *text = find_text(names, address);

	return text && text->is_plt;
}

static bool find_debug(struct cm_elf_names *names)
{
	struct cm_elf_debug_place place;

	if (!names->has_looked) {
		cm_elf_debug_find(&place, names->binary.handle, names->path, names->id,
				  names->n_id);
		names->has_debug = *place.path && cm_elf_file_open(&names->debug, place.path) == 0;
	}
	names->has_looked = true;
	return names->has_debug;
}

/* Global before local, and what does not look like somebody's inside. */
static int rank_of(const GElf_Sym *symbol, const char *name)
{
	int bind = GELF_ST_BIND(symbol->st_info), rank;

	rank = bind == STB_GLOBAL ? 4 : bind == STB_WEAK ? 2 : 0;
	return 2 * (rank + (symbol->st_size > 0)) + (name[0] != '_');
}

static int add_symbol(struct cm_elf_names *names, const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	struct symbol *more;

	if (symbol->st_shndx == SHN_UNDEF || !name || !*name ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC &&
	     (type != STT_NOTYPE || GELF_ST_BIND(symbol->st_info) != STB_GLOBAL)) ||
	    symbol->st_size > UINT64_MAX - symbol->st_value || !find_text(names, symbol->st_value))
		return 0;
	if (names->n_symbols == names->n_room) {
		names->n_room = names->n_room ? 2 * names->n_room : 1024;
		more = reallocarray(names->symbols, names->n_room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		names->symbols = more;
	}
	names->symbols[names->n_symbols++] = (struct symbol){
		symbol->st_value, symbol->st_value + symbol->st_size, name, rank_of(symbol, name)};
	return 0;
}

/* 1: the file has such a table. */
static int read_table(struct cm_elf_names *names, Elf *handle, uint32_t type)
{
	Elf_Scn *section = NULL;
	Elf_Data *data = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;
	int rc = 0;

	while (!data && (section = elf_nextscn(handle, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			data = elf_getdata(section, NULL);
	if (!data || !header.sh_entsize || data->d_size / header.sh_entsize > INT32_MAX)
		return 0;
	for (size_t i = 1; rc == 0 && i < data->d_size / header.sh_entsize; i++)
		if (gelf_getsym(data, (int)i, &symbol))
			rc = add_symbol(names, &symbol,
					elf_strptr(handle, header.sh_link, symbol.st_name));
	return rc < 0 ? rc : 1;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank - y->rank;
	return strcmp(y->name, x->name);
}

/* Those without a size reach up to the next one, in their section. */
static void close_symbols(struct cm_elf_names *names)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = names->n_symbols; i-- > 0;) {
		struct symbol *symbol = &names->symbols[i];
		const struct text *text;

		if (i + 1 < names->n_symbols && symbol[1].begin > symbol->begin)
			next = symbol[1].begin;
		if (symbol->end > symbol->begin)
			continue;
		text = find_text(names, symbol->begin);
		symbol->end = text && text->end < next ? text->end : next;
	}
}

/* Without a table of all symbols: those for the loader, and in .gnu_debugdata the others. */
static int read_stripped(struct cm_elf_names *names)
{
	int rc = read_table(names, names->binary.handle, SHT_DYNSYM);

	if (rc >= 0 && cm_elf_debug_expand(&names->inside, names->binary.handle) == 0)
		rc = read_table(names, names->inside.handle, SHT_SYMTAB);
	return rc;
}

/* Memory may run out: then there are fewer names. */
static void read_symbols(struct cm_elf_names *names)
{
	int rc = read_table(names, names->binary.handle, SHT_SYMTAB);

	names->has_symbols = true;
	if (rc == 0 && find_debug(names))
		rc = read_table(names, names->debug.handle, SHT_SYMTAB);
	if (rc == 0)
		(void)read_stripped(names);
	if (names->n_symbols)
		qsort(names->symbols, names->n_symbols, sizeof(*names->symbols), compare_symbols);
	close_symbols(names);
}

const char *cm_elf_names_function(struct cm_elf_names *names, uint64_t address)
{
	size_t low = 0, high, first;

	if (!names->has_symbols)
		read_symbols(names);
	high = names->n_symbols;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (names->symbols[mid].begin <= address)
			low = mid + 1;
		else
			high = mid;
	}
	first = low > MAX_BACK ? low - MAX_BACK : 0;
	for (; low > first; low--)
		if (address < names->symbols[low - 1].end)
			return names->symbols[low - 1].name;
	return NULL;
}

bool cm_elf_names_line(struct cm_elf_names *names, uint64_t address, bool is_entry,
		       const char **ret_file, int *ret_line)
{
	if (!names->has_lines &&
	    cm_elf_lines_open(&names->lines, names->binary.handle, names->is_thorough) == -ENOENT &&
	    find_debug(names)) {
		/* None: lines stays NULL. */
		(void)cm_elf_lines_open(&names->lines, names->debug.handle, names->is_thorough);
	}
	names->has_lines = true;
	return names->lines &&
	       cm_elf_lines_find(names->lines, address, is_entry, ret_file, ret_line);
}
