/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constructor: environment, rules, clock, sites, and then armed; or disarmed with one line.
 *
 * It runs after the constructors of all other startup libraries and before main. Nothing here
 * touches the disk but reading the rules; the spool begins with the first intercepted call.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include "preload/clock.h"
#include "preload/counters.h"
#include "preload/entries.h"
#include "preload/environment.h"
#include "preload/exit.h"
#include "preload/launcher.h"
#include "preload/loader.h"
#include "preload/memory.h"
#include "preload/paths.h"
#include "preload/process.h"
#include "preload/record.h"
#include "preload/rules.h"
#include "preload/say.h"
#include "preload/seccomp.h"
#include "preload/sites.h"
#include "preload/stub.h"
#include "preload/syscall.h"
#include "preload/trap.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

static struct cm_rules rules;
static char *config; /* the rules file's text; NULL: none */
static size_t n_config;

#define CM_N_TRAP_HOOKS 5 /* the first ones: only where a rule has force=trap */

static const struct cm_sites_hook hooks[] = {
	{"sigaction", (void *)cm_trap_sigaction},
	{"__sigaction", (void *)cm_trap_sigaction},
	{"signal", (void *)cm_trap_signal},
	{"pthread_sigmask", (void *)cm_trap_mask},
	{"sigprocmask", (void *)cm_trap_procmask},
	{"dlopen", (void *)cm_loader_dlopen},
	{"dlclose", (void *)cm_loader_dlclose},
	{"dlsym", (void *)cm_loader_dlsym},
	{"dlvsym", (void *)cm_loader_dlvsym},
	{"_exit", (void *)cm_exit_now},
	{"_Exit", (void *)cm_exit_now},
	{"quick_exit", (void *)cm_exit_quick},
	{"dlmopen", (void *)cm_loader_dlmopen},
	{"dladdr", (void *)cm_loader_dladdr},
	{"dladdr1", (void *)cm_loader_dladdr1},
	{"prctl", (void *)cm_seccomp_prctl},
	{"syscall", (void *)cm_seccomp_syscall},
	{NULL, NULL},
};

static char **environment;

static const char *variable(const char *name)
{
	size_t n = strlen(name);

	for (char **entry = environment; entry && *entry; entry++)
		if (!strncmp(*entry, name, n) && (*entry)[n] == '=')
			return *entry + n + 1;
	return NULL;
}

static const char *variable_of(void *ctx, const char *name)
{
	(void)ctx;
	return variable(name);
}

/* Does CALLMARK_EXE, a list of globs, admit this program? */
static bool is_wanted(const char *name)
{
	const char *list = variable(CM_ENV_EXE);
	char glob[256];

	if (!list || !*list)
		return true;
	while (*list) {
		size_t n = 0;

		for (; *list && *list != ':'; list++)
			if (n + 1 < sizeof(glob))
				glob[n++] = *list;
		list += *list == ':';
		glob[n] = '\0';
		if (n && cm_rules_glob(glob, name))
			return true;
	}
	return false;
}

static int read_rules(struct cm_diag *diag)
{
	const struct cm_rules_alloc alloc = {.alloc = cm_memory_get};
	const char *path = variable(CM_ENV_CONFIG), *text = variable(CM_ENV_SYMBOLS);
	int rc = 0;

	if (path && *path) {
		rc = cm_memory_read_file(path, CM_RULES_MAX_BYTES, &config, &n_config);
		if (rc < 0)
			return cm_diag_set(diag, rc, "cannot read the rules %s (error %d)", path,
					   -rc);
		rc = cm_rules_parse(&rules, config, n_config, path, &alloc, diag);
	}
	if (rc >= 0 && text && *text)
		rc = cm_rules_parse(&rules, text, strlen(text), NULL, &alloc, diag);
	return rc;
}

static uint64_t parse_number(const char *text)
{
	uint64_t value = 0;

	while (text && *text >= '0' && *text <= '9')
		value = value * 10 + (uint64_t)(*text++ - '0');
	return value;
}

/* Relative output paths mean the folder in which the program was started. */
static const char *absolute(const char *path)
{
	size_t n_cwd = strlen(cm_settings.cwd), n_path = strlen(path);
	char *joined;

	if (*path == '/' || !n_cwd)
		return cm_memory_string(path);
	joined = cm_memory_get(NULL, n_cwd + n_path + 2);
	if (!joined)
		return NULL;
	memcpy(joined, cm_settings.cwd, n_cwd);
	joined[n_cwd] = '/';
	memcpy(joined + n_cwd + 1, path, n_path + 1);
	return joined;
}

/*
 * One id for all processes of the run. What this process starts finds it in its environment; a
 * process that nobody gave one makes it from its own pid and start.
 */
static const char *find_run_id(void)
{
	const char *given = variable(CM_ENV_RUN_ID);
	char id[128];

	if (given && *given)
		return cm_memory_string(given);
	if (!cm_launcher_run_id(variable_of, NULL, id, sizeof(id))) {
		struct cm_diag text = {0};

		(void)cm_diag_set(&text, 0, "p%d-%lx", cm_process.pid,
				  (unsigned long)cm_process.start_realtime_ns);
		memcpy(id, text.text, sizeof(id) - 1);
		id[sizeof(id) - 1] = '\0';
	}
	(void)setenv(CM_ENV_RUN_ID, id, 0); /* its children would make runs of their own, then */
	return cm_memory_string(id);
}

/* The collector: told by `run`, else where the build or the installation has put it. */
static const char *find_collector(void)
{
	static const char *const places[] = {"/../collector/" CM_COLLECT_NAME,
					     "/../../libexec/callmark/" CM_COLLECT_NAME,
					     "/../../../libexec/callmark/" CM_COLLECT_NAME, NULL};
	const char *given = variable(CM_ENV_COLLECT), *own = cm_object_own_path();
	const char *slash = own ? strrchr(own, '/') : NULL;

	if (given && *given)
		return cm_memory_string(given);
	for (int i = 0; slash && places[i]; i++) {
		size_t n = (size_t)(slash - own);
		char *path = cm_memory_get(NULL, n + strlen(places[i]) + 1);

		if (!path)
			break;
		memcpy(path, own, n);
		memcpy(path + n, places[i], strlen(places[i]) + 1);
		if (!cm_sys3(SYS_access, (long)path, 1 /* X_OK */, 0))
			return path;
	}
	return "";
}

static int read_settings(int argc, char **argv, struct cm_diag *diag)
{
	const char *output = variable(CM_ENV_OUTPUT), *compress = variable(CM_ENV_COMPRESS);
	const char *base = cm_spool_base(variable(CM_ENV_SPOOL), variable("TMPDIR"));
	struct utsname names = {0};
	int rc;

	cm_settings.argc = argc;
	cm_settings.argv = argv;
	cm_settings.envp = environment;
	cm_settings.main_pid = parse_number(variable(CM_ENV_MAIN_PID));
	if (cm_sys3(SYS_getcwd, (long)cm_settings.cwd, sizeof(cm_settings.cwd), 0) < 0)
		cm_settings.cwd[0] = '\0';
	(void)uname(&names); /* cannot fail; an empty name otherwise */
	memcpy(cm_settings.hostname, names.nodename, sizeof(names.nodename));
	cm_settings.output = absolute(output && *output ? output : CM_DEFAULT_OUTPUT);
	cm_settings.compress = cm_memory_string(compress ? compress : "");
	cm_settings.run_id = find_run_id();
	cm_settings.collect = find_collector();
	if (!cm_settings.output || !cm_settings.compress || !cm_settings.run_id)
		return cm_diag_set(diag, -ENOMEM, "out of memory");
	base = absolute(base);
	rc = base ? cm_spool_run_path(base, (unsigned long)cm_sys3(SYS_geteuid, 0, 0, 0),
				      cm_settings.run_id, cm_settings.run_path,
				      sizeof(cm_settings.run_path))
		  : -ENOMEM;
	return rc < 0 ? cm_diag_set(diag, rc, "spool path too long: %s", base ? base : "") : 0;
}

static int init_entries(void)
{
	const char *path = variable(CM_ENV_CONFIG);
	char cache[CM_SPOOL_PATH_BYTES];

	if (!rules.has_internal)
		return 0;
	if (cm_site_cache(variable(CM_ENV_CACHE), variable("XDG_CACHE_HOME"), variable("HOME"),
			  cache, sizeof(cache)))
		cache[0] = '\0'; /* the run's folder is used then */
	return cm_entries_init(&rules, config ? absolute(path) : NULL, config, n_config,
			       variable(CM_ENV_SYMBOLS), cache);
}

/* A forked child where the kernel cannot wipe pages: the next best moment. */
static void wipe_by_hand(void)
{
	struct cm_thread *thread = cm_self;

	memset(&cm_process, 0, sizeof(cm_process));
	cm_paths_forget();
	if (thread->first)
		memset(thread, 0, sizeof(*thread));
}

static bool is_helper(void)
{
	const char *pid = variable(CM_ENV_MARKERS_PID);

	return pid && *pid == CM_HELPER_MARK;
}

static void wipe_on_fork(void)
{
	if (cm_sys3(SYS_madvise, (long)&cm_process, sizeof(cm_process), MADV_WIPEONFORK) < 0)
		(void)pthread_atfork(NULL, NULL, wipe_by_hand); /* no memory: fork unsupported */
}

static bool wants_callers(void)
{
	if (!rules.has_callers)
		return false;
	if (cm_paths_init() < 0) {
		cm_say("out of memory: no call paths (callers=) are kept");
		return false;
	}
	return true;
}

static void arm(void)
{
	cm_record_init(wants_callers());
	atomic_store_explicit(&cm_process.state, CM_PROCESS_ARMED, memory_order_release);
	cm_sites_refresh(false, true);
	if (cm_entries_are_used)
		cm_entries_refresh(NULL, true);
	cm_counters_start();
	cm_say_verbose("%s: %u rules, %u sites, %u regions, clock %s", cm_settings.executable,
		       rules.n_rules, atomic_load(&cm_n_sites), atomic_load(&cm_n_regions),
		       cm_clock_kind == CM_CLOCK_TSC ? "tsc" : "monotonic");
}

static const char *executable_name(void)
{
	long n = cm_sys3(SYS_readlink, (long)"/proc/self/exe", (long)cm_settings.executable,
			 sizeof(cm_settings.executable) - 1);
	const char *slash;

	if (n < 0)
		n = 0;
	cm_settings.executable[n] = '\0';
	slash = strrchr(cm_settings.executable, '/');
	return slash ? slash + 1 : cm_settings.executable;
}

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
	struct cm_diag diag = {0};
	const char *verbose;
	int rc;

	environment = envp;
	(void)cm_say_identity(2, &cm_settings.stderr_dev, &cm_settings.stderr_ino); /* 0, 0 */
	if (getauxval(AT_SECURE) || is_helper() ||
	    (!variable(CM_ENV_CONFIG) && !variable(CM_ENV_SYMBOLS)) ||
	    !is_wanted(executable_name()) || cm_launcher_is(executable_name(), argc, argv))
		return;
	verbose = variable(CM_ENV_VERBOSE);
	cm_settings.verbose = verbose && *verbose && strcmp(verbose, "0");
	if (!cm_clock_init(variable(CM_ENV_CLOCK)))
		cm_say("%s=%s is not understood (tsc, monotonic): choosing", CM_ENV_CLOCK,
		       variable(CM_ENV_CLOCK));
	wipe_on_fork();
	cm_process_start();
	rc = read_rules(&diag);
	if (rc >= 0)
		rc = read_settings(argc, argv, &diag);
	if (rc >= 0)
		cm_exit_keep_environment(envp);
	if (rc >= 0 &&
	    (cm_stub_init() < 0 ||
	     cm_sites_init(&rules, rules.has_trap ? hooks : hooks + CM_N_TRAP_HOOKS) < 0 ||
	     init_entries() < 0 || cm_exit_init() < 0))
		rc = cm_diag_set(&diag, -ENOMEM, "out of memory");
	if (rc < 0) {
		atomic_store_explicit(&cm_process.state, CM_PROCESS_CLOSED, memory_order_release);
		cm_say("%s; nothing is profiled", diag.text);
		return;
	}
	arm();
}

/* Before the destructors of the libraries that were loaded after us, LIKWID's among them. */
__attribute__((destructor)) static void stop(void)
{
	cm_counters_close();
}
