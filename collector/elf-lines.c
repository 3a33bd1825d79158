/* SPDX-License-Identifier: BSD-3-Clause */
/* Source lines by address, from DWARF. */
#include "collector/elf-lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/elf-file.h"

#define MAX_RANGES ((size_t)1 << 22)
/* Once expanded: what takes 3 ms, and what a machine's memory should have. */
#define MAX_QUICK_BYTES (UINT64_C(1) << 20)
#define MAX_COMPRESSED_BYTES (UINT64_C(2) << 30)

/* Addresses of one compilation unit. */
struct range {
	uint64_t begin, end;
	uint64_t unit_off; /* of its DIE */
};

struct cm_elf_lines {
	Dwarf *dwarf;
	struct range *ranges; /* ascending; made when .debug_aranges does not tell */
	size_t n_ranges, n_room;
	bool has_ranges;
	char *joined; /* the path given last */
};

/* libdw expands all sections that are compressed before anything else. */
static uint64_t count_compressed(Elf *handle)
{
	Elf_Scn *section = NULL;
	GElf_Chdr compression;
	GElf_Shdr header;
	uint64_t n = 0;

	while ((section = elf_nextscn(handle, section)))
		if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_COMPRESSED) &&
		    gelf_getchdr(section, &compression) &&
		    __builtin_add_overflow(n, compression.ch_size, &n))
			return UINT64_MAX;
	return n;
}

int cm_elf_lines_open(struct cm_elf_lines **ret_lines, Elf *handle, bool is_thorough)
{
	uint64_t limit = is_thorough ? MAX_COMPRESSED_BYTES : MAX_QUICK_BYTES;
	struct cm_elf_lines *lines;

	/* Otherwise libdw would look at every section first. */
	if (!cm_elf_file_section(handle, ".debug_line"))
		return -ENOENT;
	if (count_compressed(handle) > limit)
		return -EFBIG;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	lines->dwarf = dwarf_begin_elf(handle, DWARF_C_READ, NULL);
	if (!lines->dwarf) {
		free(lines);
		return -ENOENT;
	}
	*ret_lines = lines;
	return 0;
}

void cm_elf_lines_close(struct cm_elf_lines *lines)
{
	if (!lines)
		return;
	(void)dwarf_end(lines->dwarf); /* only frees */
	free(lines->ranges);
	free(lines->joined);
	free(lines);
}

static bool add_range(struct cm_elf_lines *lines, Dwarf_Die *unit, uint64_t begin, uint64_t end)
{
	struct range *more;

	if (begin >= end || lines->n_ranges == MAX_RANGES)
		return lines->n_ranges < MAX_RANGES;
	if (lines->n_ranges == lines->n_room) {
		lines->n_room = lines->n_room ? 2 * lines->n_room : 256;
		more = reallocarray(lines->ranges, lines->n_room, sizeof(*more));
		if (!more)
			return false;
		lines->ranges = more;
	}
	lines->ranges[lines->n_ranges++] = (struct range){begin, end, dwarf_dieoffset(unit)};
	return true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Compilers need not write .debug_aranges, and clang does not. */
static void read_ranges(struct cm_elf_lines *lines)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Addr base, begin, end;
	Dwarf_Die die;
	ptrdiff_t off;
	bool go_on = true;

	lines->has_ranges = true;
	while (go_on && dwarf_get_units(lines->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		off = 0;
		while (go_on && (off = dwarf_ranges(&die, off, &base, &begin, &end)) > 0)
			go_on = add_range(lines, &die, begin, end);
	}
	if (lines->n_ranges)
		qsort(lines->ranges, lines->n_ranges, sizeof(*lines->ranges), compare_ranges);
}

static bool find_unit(struct cm_elf_lines *lines, uint64_t address, Dwarf_Die *ret_unit)
{
	size_t low = 0, high;

	if (dwarf_addrdie(lines->dwarf, address, ret_unit))
		return true;
	if (!lines->has_ranges)
		read_ranges(lines);
	high = lines->n_ranges;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (lines->ranges[mid].begin <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low && address < lines->ranges[low - 1].end &&
	       dwarf_offdie(lines->dwarf, lines->ranges[low - 1].unit_off, ret_unit);
}

/*
 * Several rows may be about one address: the last one is of the instruction there, the first one,
 * at a function's entry, of the function.
 */
static Dwarf_Line *first_row(Dwarf_Die *unit, uint64_t address)
{
	Dwarf_Lines *rows;
	size_t low = 0, high;
	Dwarf_Addr found;
	bool is_end;

	if (dwarf_getsrclines(unit, &rows, &high))
		return NULL;
	for (size_t n = high; low < high;) {
		size_t mid = (low + high) / 2;
		Dwarf_Line *row = dwarf_onesrcline(rows, mid);

		if (!row || dwarf_lineaddr(row, &found))
			return NULL;
		if (found < address || (found == address && mid + 1 < n &&
					!dwarf_lineendsequence(row, &is_end) && is_end))
			low = mid + 1;
		else
			high = mid;
	}
	return dwarf_onesrcline(rows, low);
}

static Dwarf_Line *find_row(Dwarf_Die *unit, uint64_t address, bool is_entry)
{
	Dwarf_Line *row = is_entry ? first_row(unit, address) : NULL;
	Dwarf_Addr found;

	if (row && !dwarf_lineaddr(row, &found) && found == address)
		return row;
	return dwarf_getsrc_die(unit, address);
}

/* A file below the folder in which the compiler ran; the file itself without memory. */
static const char *join(struct cm_elf_lines *lines, Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *folder;
	char *joined;

	if (*file == '/' || !dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		return file;
	folder = dwarf_formstring(&attribute);
	if (!folder || *folder != '/' || asprintf(&joined, "%s/%s", folder, file) < 0)
		return file;
	free(lines->joined);
	lines->joined = joined;
	return joined;
}

bool cm_elf_lines_find(struct cm_elf_lines *lines, uint64_t address, bool is_entry,
		       const char **ret_file, int *ret_line)
{
	const char *file;
	Dwarf_Die unit;
	Dwarf_Line *row;
	int line;

	if (!find_unit(lines, address, &unit))
		return false;
	row = find_row(&unit, address, is_entry);
	/* Line 0: the compiler's own instructions. */
	if (!row || dwarf_lineno(row, &line) || line <= 0)
		return false;
	file = dwarf_linesrc(row, NULL, NULL);
	if (!file || !*file || strcmp(file, "???") == 0)
		return false;
	*ret_file = join(lines, &unit, file);
	*ret_line = line;
	return true;
}
