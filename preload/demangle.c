/* SPDX-License-Identifier: BSD-3-Clause */
/* Borrowing the program's __cxa_demangle. */
#include "preload/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "preload/object.h"
#include "preload/say.h"

typedef char *demangler(const char *mangled, char *buf, size_t *n_bytes, int *status);

static demangler *find(void)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
	demangler *found = NULL;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries) && !found; i++) {
		void *handle = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		if (!handle)
			continue;
		*(void **)&found = dlsym(handle, "__cxa_demangle");
		(void)dlclose(handle); /* the program keeps it loaded as long as it needs it */
	}
	if (!found)
		*(void **)&found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	return found;
}

const char *cm_demangle(const char *symbol)
{
	static char *name;
	static bool told;
	static demangler *demangle;
	int status = 0;

	if (strncmp(symbol, "_Z", 2))
		return NULL;
	if (!demangle || !cm_object_of(*(void **)&demangle)) /* its library may have been closed */
		demangle = find();
	if (!demangle && !told) {
		told = true;
		cm_say("no C++ library is loaded: rules on demangled names match nothing yet");
	}
	free(name);
	name = demangle ? demangle(symbol, NULL, NULL, &status) : NULL;
	return name;
}
