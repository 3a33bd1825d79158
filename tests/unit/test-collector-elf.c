/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/elf-binary.h"
#include "collector/elf-imports.h"

static char copy[64];

static void init(void)
{
	strcpy(copy, "/tmp/test-collector-elf-XXXXXX");
	close(mkstemp(copy));
}

static void fini(void)
{
	unlink(copy);
}

TestSuite(elf, .init = init, .fini = fini);

static struct cm_elf *open_good(const char *path)
{
	struct cm_diag diag = {0};
	struct cm_elf *elf = NULL;

	cr_assert_eq(cm_elf_open(&elf, path, &diag), 0, "%s", diag.text);
	return elf;
}

static void *read_file(const char *path, size_t *ret_n)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *bytes;

	cr_assert_eq(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	cr_assert_eq(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_n = (size_t)st.st_size;
	return bytes;
}

static void write_copy(const void *bytes, size_t n)
{
	int fd = open(copy, O_WRONLY | O_TRUNC);

	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

/* Look at everything; whatever comes must be an answer. */
static int look(const char *path)
{
	struct cm_elf_import *imports = NULL;
	struct cm_diag diag = {0};
	struct cm_elf *elf = NULL;
	size_t n = 0;
	uint8_t type;
	int rc = cm_elf_open(&elf, path, &diag);

	if (!rc && cm_elf_kind(elf) <= CM_ELF_SHARED)
		rc = cm_elf_imports(elf, &imports, &n, &diag);
	for (size_t i = 0; !rc && i < n; i++) {
		rc = cm_elf_definition(elf, imports[i].symbol, &type, &diag);
		rc = rc < 0 ? rc : 0;
	}
	cr_expect_eq(rc < 0, diag.text[0] != '\0', "%d, \"%s\"", rc, diag.text);
	free(imports);
	cm_elf_close(elf);
	return rc;
}

static const struct cm_elf_import *find(const struct cm_elf_import *imports, size_t n,
					const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(imports[i].symbol, name))
			return &imports[i];
	return NULL;
}

Test(elf, reads_this_program)
{
	struct cm_elf *elf = open_good("/proc/self/exe");
	bool has_libc = false;

	cr_expect_eq(cm_elf_kind(elf), CM_ELF_PROGRAM);
	cr_expect_not_null(strstr(cm_elf_interpreter(elf), "/ld-linux"));
	cr_expect_str_eq(cm_elf_soname(elf), "");
	for (size_t i = 0; i < cm_elf_n_needed(elf); i++)
		has_libc |= !strcmp(cm_elf_needed(elf, i), "libc.so.6");
	cr_expect(has_libc);
	cm_elf_close(elf);
}

Test(elf, finds_what_this_program_calls)
{
	struct cm_elf *elf = open_good("/proc/self/exe");
	struct cm_elf_import *imports;
	struct cm_diag diag = {0};
	const struct cm_elf_import *import;
	size_t n;

	cr_assert_eq(cm_elf_imports(elf, &imports, &n, &diag), 0, "%s", diag.text);
	import = find(imports, n, "unlink");
	cr_assert_not_null(import);
	cr_expect(import->means & (CM_IMPORT_JUMP_SLOT | CM_IMPORT_GLOB_DAT));
	cr_expect_not(import->is_defined);
	cr_expect_not(import->is_weak);
	cr_expect_null(find(imports, n, "mkfifoat"));
	for (size_t i = 1; i < n; i++)
		cr_assert_lt(strcmp(imports[i - 1].symbol, imports[i].symbol), 0);
	free(imports);
	cm_elf_close(elf);
}

/* Everything the running loader sees as a slot of this program is found, and nothing else. */
static size_t count_slots(const ElfW(Rela) * rela, size_t n_bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < n_bytes / sizeof(*rela); i++) {
		uint64_t type = ELF64_R_TYPE(rela[i].r_info);

		n += type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	}
	return n;
}

Test(elf, counts_the_slots_that_the_loader_has)
{
	struct cm_elf *elf = open_good("/proc/self/exe");
	size_t n_rela = 0, n_plt = 0, n_loaded, n;
	const ElfW(Rela) *rela = NULL, *plt = NULL;
	struct cm_elf_import *imports;
	struct cm_diag diag = {0};

	for (const ElfW(Dyn) *dyn = _DYNAMIC; dyn->d_tag; dyn++) {
		if (dyn->d_tag == DT_RELA)
			rela = (const void *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_RELASZ)
			n_rela = dyn->d_un.d_val;
		else if (dyn->d_tag == DT_JMPREL)
			plt = (const void *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_PLTRELSZ)
			n_plt = dyn->d_un.d_val;
	}
	n_loaded = count_slots(rela, n_rela) + count_slots(plt, n_plt);
	cr_assert_eq(cm_elf_imports(elf, &imports, &n, &diag), 0, "%s", diag.text);
	/* A symbol can have a slot of each kind. */
	cr_expect_leq(n, n_loaded);
	for (size_t i = 0; i < n; i++)
		n_loaded -= (size_t)__builtin_popcount(imports[i].means);
	cr_expect_eq(n_loaded, 0);
	free(imports);
	cm_elf_close(elf);
}

Test(elf, knows_what_libc_defines)
{
	struct cm_elf *elf = NULL;
	struct cm_diag diag = {0};
	struct link_map *map;
	uint8_t type = 0xff;

	for (map = _r_debug.r_map; map && !elf; map = map->l_next)
		if (strstr(map->l_name, "/libc.so.6"))
			elf = open_good(map->l_name);
	cr_assert_not_null(elf);
	cr_expect_str_eq(cm_elf_soname(elf), "libc.so.6");
	cr_expect_eq(cm_elf_definition(elf, "malloc", &type, &diag), 1);
	cr_expect_eq(type, STT_FUNC);
	cr_expect_eq(cm_elf_definition(elf, "environ", &type, &diag), 1);
	cr_expect_eq(type, STT_OBJECT);
	cr_expect_eq(cm_elf_definition(elf, "memcpy", &type, &diag), 1);
	cr_expect_eq(type, STT_GNU_IFUNC);
	cr_expect_eq(cm_elf_definition(elf, "no_such_function", &type, &diag), 0);
	cr_expect_eq(type, STT_GNU_IFUNC);
	cm_elf_close(elf);
}

Test(elf, refuses_what_is_no_binary)
{
	struct cm_elf *elf = NULL;
	struct cm_diag diag = {0};

	cr_expect_eq(cm_elf_open(&elf, "/no/such/file", &diag), -ENOENT);
	cr_expect_not_null(strstr(diag.text, "/no/such/file"));
	cr_expect_eq(cm_elf_open(&elf, "/", NULL), -EISDIR);
	cr_expect_eq(cm_elf_open(&elf, "/dev/null", NULL), -ENOEXEC);
	cr_expect_eq(cm_elf_open(&elf, "/etc/passwd", NULL), -ENOEXEC);
	cr_expect_eq(cm_elf_open(&elf, copy, NULL), -ENOEXEC); /* empty */
	cr_expect_null(elf);
	cm_elf_close(NULL);
}

Test(elf, knows_another_machine_by_its_header)
{
	size_t n;
	Elf64_Ehdr *bytes = read_file("/proc/self/exe", &n);
	struct cm_elf *elf;

	bytes->e_machine = EM_AARCH64;
	write_copy(bytes, n);
	elf = open_good(copy);
	cr_expect_eq(cm_elf_kind(elf), CM_ELF_FOREIGN);
	cr_expect_str_eq(cm_elf_machine(elf), "AArch64");
	cm_elf_close(elf);
	bytes->e_machine = 12345;
	write_copy(bytes, n);
	elf = open_good(copy);
	cr_expect_str_eq(cm_elf_machine(elf), "machine 12345");
	cm_elf_close(elf);
	free(bytes);
}

Test(elf, needs_no_section_headers)
{
	size_t n;
	Elf64_Ehdr *bytes = read_file("/proc/self/exe", &n);
	struct cm_elf_import *imports;
	struct cm_diag diag = {0};
	struct cm_elf *elf;
	size_t n_imports;

	bytes->e_shoff = 0;
	bytes->e_shnum = 0;
	bytes->e_shstrndx = 0;
	write_copy(bytes, n);
	elf = open_good(copy);
	cr_assert_eq(cm_elf_imports(elf, &imports, &n_imports, &diag), 0, "%s", diag.text);
	cr_expect_not_null(find(imports, n_imports, "unlink"));
	free(imports);
	cm_elf_close(elf);
	free(bytes);
}

Test(elf, survives_being_cut_anywhere)
{
	size_t n;
	void *bytes = read_file("/proc/self/exe", &n);
	int rc = -1;

	write_copy(bytes, n);
	for (size_t cut = n; cut > 0; cut = cut > 4096 ? cut - cut / 37 : cut - 13 % cut - 1) {
		cr_assert_eq(truncate(copy, (off_t)cut), 0);
		rc = look(copy);
	}
	cr_expect_lt(rc, 0);
	free(bytes);
}

Test(elf, survives_changed_bytes)
{
	size_t n, n_refused = 0;
	unsigned char *bytes = read_file("/proc/self/exe", &n);
	unsigned char *spoilt = malloc(n);

	srandom(1);
	for (int round = 0; round < 300; round++) {
		/* Headers and tables stand in the first few pages. */
		memcpy(spoilt, bytes, n);
		for (int i = 0; i < 1 << (round % 8); i++)
			spoilt[16 + (size_t)random() % (round % 2 ? 1024 : 8192)] =
				(unsigned char)random();
		write_copy(spoilt, n);
		n_refused += look(copy) < 0;
	}
	cr_expect_gt(n_refused, 10);
	free(spoilt);
	free(bytes);
}
