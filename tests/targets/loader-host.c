/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader-host STEP..: does with the loader what each step says, and prints what came of it.
 *
 *	open NAME	dlopen, RTLD_LOCAL		mopen NAME	dlmopen, a new namespace
 *	global NAME	dlopen, RTLD_GLOBAL		mbase NAME	dlmopen, LM_ID_BASE
 *	noload NAME	dlopen, RTLD_NOLOAD		via NAME	by the last one's
 *opener_open work N		the last one's plugin_work	close		the last one default
 *SYMBOL	dlsym(RTLD_DEFAULT)		next SYMBOL	dlsym(RTLD_NEXT) occupy
 *maps memory where the last one was
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *handles[64];
static int n_handles;
static uint64_t last_base;

/* Where it comes from, or why it does not; both must be what the bare program sees. */
static void opened(void *handle)
{
	struct link_map *map;

	if (!handle) {
		const char *error = dlerror();

		printf("not opened: %s\n", error ? error : "no error");
	} else if (!dlinfo(handle, RTLD_DI_LINKMAP, &map)) {
		printf("opened %s\n", map->l_name);
		last_base = map->l_addr;
		handles[n_handles++] = handle;
	}
	printf("%s\n", dlerror() ? "a second error" : "no second error");
}

static void via(const char *name)
{
	void *(*open_it)(const char *) =
		(void *(*)(const char *))dlsym(handles[n_handles - 1], "opener_open");

	opened(open_it ? open_it(name) : NULL);
}

static void work(long n)
{
	long (*plugin_work)(long) =
		n_handles ? (long (*)(long))dlsym(handles[n_handles - 1], "plugin_work") : NULL;

	if (plugin_work)
		printf("worked %ld\n", plugin_work(n));
	else
		printf("no plugin_work\n");
}

static void look_up(void *scope, const char *symbol)
{
	void *address = dlsym(scope, symbol);
	Dl_info info;

	if (address && dladdr(address, &info))
		printf("%s is in %s\n", symbol, info.dli_fname);
	else
		printf("%s\n", dlerror());
}

static void occupy(void)
{
	void *at = mmap((void *)last_base, 4096, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	printf("%s\n", at == (void *)last_base ? "occupied" : "still there");
}

static int is(const char *step, const char *name)
{
	return !strcmp(step, name);
}

/* A step with an argument; false: none that is known. */
static int take(const char *step, const char *arg)
{
	if (is(step, "open"))
		opened(dlopen(arg, RTLD_LAZY | RTLD_LOCAL));
	else if (is(step, "global"))
		opened(dlopen(arg, RTLD_LAZY | RTLD_GLOBAL));
	else if (is(step, "noload"))
		opened(dlopen(arg, RTLD_LAZY | RTLD_NOLOAD));
	else if (is(step, "mopen"))
		opened(dlmopen(LM_ID_NEWLM, arg, RTLD_LAZY));
	else if (is(step, "mbase"))
		opened(dlmopen(LM_ID_BASE, arg, RTLD_LAZY));
	else if (is(step, "via"))
		via(arg);
	else if (is(step, "work"))
		work(atol(arg));
	else if (is(step, "default"))
		look_up(RTLD_DEFAULT, arg);
	else if (is(step, "next"))
		look_up(RTLD_NEXT, arg);
	else
		return 0;
	return 1;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (is(argv[i], "occupy"))
			occupy();
		else if (is(argv[i], "close") && n_handles)
			printf("closed: %d\n", dlclose(handles[--n_handles]));
		else if (i + 1 >= argc || !take(argv[i], argv[i + 1]))
			return 2;
		else
			i++;
	}
	return 0;
}
