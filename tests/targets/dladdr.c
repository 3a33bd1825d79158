/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dladdr LIBRARY N: what a program may ask about a function that dlsym has found in the library,
 * and N calls of it. With -DIS_LINKED the program also has the function's address by itself.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef IS_LINKED
#include "tests/targets/callee.h"

static int (*volatile const linked)(int, int) = callee_add;
#endif

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void tell(const char *what, const char *address)
{
	const Elf64_Sym *symbol = NULL;
	struct link_map *map = NULL;
	Dl_info info;

	if (dladdr(address, &info) && info.dli_sname)
		printf("%s: %s in %s, %+ld\n", what, info.dli_sname, base_name(info.dli_fname),
		       (long)(address - (const char *)info.dli_saddr));
	if (dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol)
		printf("%s: type %d, size %ld, %+ld\n", what, ELF64_ST_TYPE(symbol->st_info),
		       (long)symbol->st_size, (long)(address - (const char *)info.dli_saddr));
	if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map)
		printf("%s: %s, loaded there: %d\n", what, base_name(map->l_name),
		       (uintptr_t)info.dli_fbase == map->l_addr);
}

int main(int argc, char **argv)
{
	void *handle = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*found)(int, int) = handle ? (int (*)(int, int))dlsym(handle, "callee_add") : NULL;
	void *version = handle ? dlvsym(handle, "callee_add", "NO_SUCH_VERSION") : handle;
	long sum = 0;

	if (!found)
		return 1;
	tell("found", (const char *)found);
	printf("other version: %d\n", version != NULL);
#ifdef IS_LINKED
	tell("linked", (const char *)linked);
	printf("the same: %d\n", found == linked);
	sum = callee_add(5, 6);
#endif
	for (long i = 0; i < atol(argv[2]); i++)
		sum += found((int)i, 1);
	printf("%ld\n", sum);
	return 0;
}
