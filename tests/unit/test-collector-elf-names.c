/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and lines of a copy of this program: as it is, stripped, and with its debug file beside. */
#include "collector/elf-names.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/spool-maker.h"

static char tempdir[64], exe[256], copy[128];
static uint64_t base;

static __attribute__((noinline)) int hidden_function(void)
{
	__asm__ volatile("");
	return __LINE__ - 2; /* of the brace: where its code begins */
}

static int find_base(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size; /* of no older glibc */
	(void)ctx;
	base = info->dlpi_addr;
	return 1; /* the program comes first */
}

static void setup(void)
{
	cr_assert_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	dl_iterate_phdr(find_base, NULL);
	spool_maker_tempdir(tempdir, sizeof(tempdir));
	snprintf(copy, sizeof(copy), "%s/copy", tempdir);
}

static void teardown(void)
{
	spool_maker_remove(tempdir);
}

TestSuite(elf_names, .init = setup, .fini = teardown);

/* A command with the program and its copy as $1 and $2, in the temporary folder. */
static void run(const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "cd %s && set -- %s %s && %s", tempdir, exe, copy, command);
	cr_assert_eq(system(line), 0, "%s", command);
}

static uint64_t address_of(int (*function)(void))
{
	return (uint64_t)(uintptr_t)function - base;
}

static void expect_all(const char *function, int line)
{
	uint64_t address = address_of(hidden_function);
	struct cm_elf_names *names;
	const char *file, *name;
	int found = 0;

	cr_assert_eq(cm_elf_names_open(&names, copy, "", true), 0);
	name = cm_elf_names_function(names, address);
	if (function)
		cr_expect_str_eq(name ? name : "(none)", function);
	else
		cr_expect_null(name, "%s", name);
	cr_expect_eq(cm_elf_names_line(names, address, true, &file, &found), line > 0);
	cr_expect_eq(found, line);
	if (found)
		cr_expect(file[0] == '/', "%s", file);
	if (found)
		cr_expect_str_eq(strrchr(file, '/') + 1, "test-collector-elf-names.c");
	cm_elf_names_close(names);
}

Test(elf_names, of_a_program_with_everything)
{
	run("cp $1 $2");
	expect_all("hidden_function", hidden_function());
}

Test(elf_names, of_a_stripped_program_are_those_it_exports)
{
	run("objcopy --strip-all $1 $2");
	expect_all(NULL, 0);
}

Test(elf_names, of_a_program_without_lines)
{
	run("objcopy --strip-debug $1 $2");
	expect_all("hidden_function", 0);
}

Test(elf_names, from_a_debug_file_beside_it)
{
	run("objcopy --only-keep-debug $1 copy.debug && objcopy --strip-all "
	    "--add-gnu-debuglink=copy.debug $1 $2");
	expect_all("hidden_function", hidden_function());
}

Test(elf_names, from_a_debug_file_in_the_folder_for_those)
{
	run("mkdir .debug && objcopy --only-keep-debug --compress-debug-sections $1 "
	    ".debug/copy.debug && cp .debug/copy.debug . && objcopy --strip-all "
	    "--add-gnu-debuglink=copy.debug $1 $2 && rm copy.debug");
	expect_all("hidden_function", hidden_function());
}

Test(elf_names, not_from_the_debug_file_of_another_program)
{
	run("objcopy --only-keep-debug $1 copy.debug && objcopy --strip-all "
	    "--add-gnu-debuglink=copy.debug $1 $2 && objcopy --only-keep-debug "
	    "/usr/bin/env copy.debug 2>/dev/null");
	expect_all(NULL, 0);
}

/* Without a build-id in either, the checksum decides. */
Test(elf_names, by_checksum_where_there_is_no_build_id)
{
	run("objcopy --remove-section=.note.gnu.build-id $1 plain && (objcopy --only-keep-debug "
	    "plain copy.debug 2>&1 | grep -v -e allocated -e LOAD || :) && objcopy --strip-all "
	    "--add-gnu-debuglink=copy.debug plain $2");
	expect_all("hidden_function", hidden_function());
	run("printf x >>copy.debug");
	expect_all(NULL, 0);
}

/* A library, whole.so, and what of its names .dynsym does not have, compressed: rest.xz. */
static void make_library(void)
{
	run("echo 'static int hidden(int n) { return n; } int shown(int n) { return hidden(n); }' "
	    "| gcc -O0 -fPIC -shared -x c -o whole.so - && echo hidden >keep && "
	    "objcopy --only-keep-debug whole.so debug && "
	    "objcopy -S --remove-section=.comment --keep-symbols=keep debug rest && "
	    "/usr/bin/python3 -c 'import lzma, sys; "
	    "sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read()))' <rest >rest.xz");
}

/* Of that library, as the copy's names and as nm tells. */
static void expect_name(const char *function, bool is_known)
{
	struct cm_elf_names *names;
	unsigned long long address;
	char command[128];
	const char *name;
	FILE *nm;

	snprintf(command, sizeof(command), "nm %s/whole.so | grep ' %s$'", tempdir, function);
	nm = popen(command, "r");
	cr_assert_not_null(nm);
	cr_assert_eq(fscanf(nm, "%llx", &address), 1);
	cr_assert_eq(pclose(nm), 0);
	cr_assert_eq(cm_elf_names_open(&names, copy, "", true), 0);
	name = cm_elf_names_function(names, address);
	if (is_known)
		cr_expect_str_eq(name ? name : "(none)", function);
	else
		cr_expect_null(name, "%s", name);
	cm_elf_names_close(names);
}

Test(elf_names, from_what_is_compressed_inside)
{
	make_library();
	run("strip --strip-all whole.so -o $2");
	expect_name("hidden", false);
	expect_name("shown", true);
	run("objcopy --add-section .gnu_debugdata=rest.xz $2");
	expect_name("hidden", true);
	expect_name("shown", true);
}

Test(elf_names, not_from_what_is_damaged_inside)
{
	make_library();
	run("strip --strip-all whole.so -o $2 && head -c 200 rest.xz >cut.xz && "
	    "objcopy --add-section .gnu_debugdata=cut.xz $2");
	expect_name("hidden", false);
	expect_name("shown", true);
}

Test(elf_names, refuse_what_is_not_the_program)
{
	struct cm_elf_names *names;

	cr_expect_eq(cm_elf_names_open(&names, "/nowhere/prog", "", true), -ENOENT);
	cr_expect_eq(cm_elf_names_open(&names, tempdir, "", true), -ENOEXEC);
	cr_expect_eq(cm_elf_names_open(&names, "/dev/zero", "", true), -ENOEXEC);
	run("echo no >$2");
	cr_expect_eq(cm_elf_names_open(&names, copy, "", true), -ENOEXEC);
	run("cp $1 $2");
	cr_expect_eq(cm_elf_names_open(&names, copy, "0123", true), -ESTALE);
	cr_assert_eq(mkfifo(strcat(copy, ".fifo"), 0600), 0);
	cr_expect_eq(cm_elf_names_open(&names, copy, "", true), -ENOEXEC);
}

Test(elf_names, know_the_linkage_table)
{
	struct cm_elf_names *names;

	run("cp $1 $2");
	cr_assert_eq(cm_elf_names_open(&names, copy, "", true), 0);
	cr_expect_not(cm_elf_names_is_plt(names, address_of(hidden_function)));
	cm_elf_names_close(names);
}

/* Cut anywhere, or with bytes that lie: fewer names, never a crash. */
Test(elf_names, survive_damage)
{
	uint64_t address = address_of(hidden_function);
	struct cm_elf_names *names;
	char command[256];
	const char *file;
	int line;

	for (unsigned int i = 1; i < 60; i++) {
		snprintf(command, sizeof(command),
			 "cp $1 $2 && truncate -s $(($(stat -c %%s $2) * %u / 60)) $2 && "
			 "printf '\\377\\001\\377' | dd of=$2 bs=1 conv=notrunc seek=%u "
			 "status=none",
			 i, i % 2 ? 5000 * i : 24 + i);
		run(command);
		if (cm_elf_names_open(&names, copy, "", true) < 0)
			continue;
		(void)cm_elf_names_function(names, address);
		(void)cm_elf_names_line(names, address, false, &file, &line);
		cm_elf_names_close(names);
	}
}
