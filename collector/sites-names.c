/* SPDX-License-Identifier: BSD-3-Clause */
/* What a symbol is called where it came from. */
#include <errno.h>
#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "collector/sites.h"

/* Behind a dot, each with a number as a rule; they may follow one another. A number alone stands
   behind functions in functions (GNU C, Fortran) and behind equal names that LLVM's LTO meets. */
static const char clones[][12] = {"constprop", "isra", "part", "lto_priv", "llvm", "localalias"};

/* The length of a clone's suffix at the end of the name's first n bytes, or 0. */
static size_t suffix(const char *name, size_t n)
{
	size_t end = n, dot;

	while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (end && end < n && name[end - 1] == '.')
		end--; /* ".N" */
	else if (end < n)
		return 0;
	for (dot = end; dot > 0 && name[dot - 1] != '.'; dot--)
		;
	for (size_t i = 0; dot > 1 && i < sizeof(clones) / sizeof(clones[0]); i++)
		if (end - dot == strlen(clones[i]) && !memcmp(name + dot, clones[i], end - dot))
			return n - (dot - 1);
	return end && end < n && !memchr(name, '.', end) ? n - end : 0;
}

const char *cm_sites_base_name(struct cm_arena *arena, const char *symbol)
{
	size_t n = strlen(symbol), all = n, part;
	const char *version = strchr(symbol, '@');

	if (version && version != symbol)
		n = (size_t)(version - symbol);
	while ((part = suffix(symbol, n)))
		n -= part;
	return n == all ? symbol : cm_arena_copy(arena, symbol, n);
}

const char *cm_sites_region_name(struct cm_arena *arena, const char *symbol, const char *base_name)
{
	const char *version = strchr(symbol, '@');

	if (!strstr(symbol, ".part."))
		return base_name;
	return version ? cm_arena_copy(arena, symbol, (size_t)(version - symbol)) : symbol;
}

bool cm_sites_is_cold(const char *symbol)
{
	const char *cold = strstr(symbol, ".cold");

	return cold && cold != symbol && (!cold[5] || cold[5] == '.');
}

/* gfortran: __module_MOD_procedure. */
static const char *gnu_fortran(struct cm_arena *arena, const char *name)
{
	const char *mark = strncmp(name, "__", 2) == 0 ? strstr(name, "_MOD_") : NULL;

	if (!mark || mark == name + 2 || !mark[5])
		return "";
	return cm_arena_format(arena, "%.*s::%s", (int)(mark - name - 2), name + 2, mark + 5);
}

/* flang: _QMmodulePprocedure, _QMmoduleFhostPinner, _QMmoduleSsubmodule...; letters in names are
   small ones, so that large ones separate them. */
static const char *llvm_fortran(struct cm_arena *arena, const char *name)
{
	char text[512];
	size_t n = 0;
	const char *p = name + 2;

	if (strncmp(name, "_QM", 3) != 0)
		return "";
	for (; *p && n + 4 < sizeof(text); p++) {
		bool is_mark = *p == 'M' || *p == 'S' || *p == 'F' || *p == 'P';

		if (*p >= 'A' && *p <= 'Z' && !is_mark)
			return ""; /* no procedure */
		if (is_mark && n) {
			text[n++] = ':';
			text[n++] = ':';
		} else if (!is_mark) {
			text[n++] = *p;
		}
	}
	return *p || !n ? "" : cm_arena_copy(arena, text, n);
}

const char *cm_sites_demangle(struct cm_arena *arena, const char *base_name)
{
	const char *kept = "";
	char *text;

	if (base_name[0] != '_')
		return "";
	if (base_name[1] == '_')
		return gnu_fortran(arena, base_name);
	if (base_name[1] == 'Q')
		return llvm_fortran(arena, base_name);
	if (base_name[1] != 'Z' && base_name[1] != 'R')
		return "";
	text = cplus_demangle(base_name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	if (text)
		kept = cm_arena_copy(arena, text, strlen(text));
	free(text);
	return kept;
}

bool cm_sites_is_ours(const char *soname)
{
	static const char *const patterns[] = {"libc.so.*",	 "libpthread.so.*",
					       "libdl.so.*",	 "ld-linux-*.so.*",
					       "liblikwid*.so*", "libcallmark*"};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (fnmatch(patterns[i], soname, 0) == 0)
			return true;
	return false;
}

const char *cm_sites_forbidden(const char *base_name)
{
	static const char startup[][24] = {"frame_dummy", "register_tm_clones",
					   "deregister_tm_clones", "__do_global_dtors_aux",
					   "__do_global_ctors_aux"};

	for (size_t i = 0; i < sizeof(startup) / sizeof(startup[0]); i++)
		if (!strcmp(base_name, startup[i]))
			return "it starts or ends the program itself";
	if (fnmatch("__x86*thunk*", base_name, 0) == 0)
		return "the compiler's, with a calling convention of its own";
	return cm_rules_forbidden(base_name);
}
