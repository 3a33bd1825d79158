/* SPDX-License-Identifier: BSD-3-Clause */
/* See counters.h. The end of it all is in counters-close.c. */
#include "preload/counters.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "preload/environment.h"
#include "preload/likwid.h"
#include "preload/markers.h"
#include "preload/memory.h"
#include "preload/process.h"
#include "preload/say.h"
#include "preload/spawn.h"
#include "preload/stub.h"
#include "preload/syscall.h"

#define CM_CHECK_MS 20000
#define CM_AFFINITY_BYTES 1024

static struct cm_spool_counters_item item = {.item.type = CM_ITEM_COUNTERS};
static char library[CM_SPOOL_PATH_BYTES];
static char reason[512];
static bool is_decided;

static const char *variable(const char *name)
{
	size_t n = strlen(name);

	for (char **entry = cm_settings.envp; entry && *entry; entry++)
		if (!strncmp(*entry, name, n) && (*entry)[n] == '=' && (*entry)[n + 1])
			return *entry + n + 1;
	return NULL;
}

static void set_reason(const char *text)
{
	size_t n = strlen(text) < sizeof(reason) ? strlen(text) : sizeof(reason) - 1;

	memcpy(reason, text, n);
	reason[n] = '\0';
}

void cm_counters_append(void)
{
	const char *strings[] = {library, reason};

	/* A forked child: what the parent has is not its own. */
	if (item.state && item.state != CM_COUNTERS_REFUSED &&
	    !atomic_load_explicit(&cm_markers.state, memory_order_relaxed)) {
		item.state = CM_COUNTERS_REFUSED;
		set_reason("the markers are those of the process that forked this one");
	}
	if (item.state && cm_process.has_spool)
		(void)cm_process_append(&item.item, sizeof(item), strings, 2); /* a note's worth */
}

static void set_state(uint32_t state)
{
	uint64_t mask = cm_sys_block_signals();

	cm_process_lock();
	item.state = state;
	cm_counters_append();
	cm_process_unlock();
	cm_sys_restore_signals(mask);
}

static void refuse(bool aloud)
{
	set_state(CM_COUNTERS_REFUSED);
	if (aloud)
		cm_say("no hardware counters: %s", reason);
}

/* LIKWID needs all four. false: none (then nothing is said), or only some. */
static bool has_environment(void)
{
	static const char *const names[] = {"LIKWID_MODE", "LIKWID_EVENTS", "LIKWID_THREADS",
					    "LIKWID_FILEPATH"};
	const char *set = NULL, *missing = NULL;
	struct cm_diag diag = {0};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (variable(names[i]))
			set = names[i];
		else
			missing = names[i];
	}
	if (!set || !missing)
		return set;
	(void)cm_diag_set(&diag, 0,
			  "%s is set, but %s is not: start the program with likwid-perfctr -m or "
			  "callmark run -g",
			  set, missing);
	set_reason(diag.text);
	refuse(true);
	return false;
}

static bool any_region_wants(void)
{
	uint32_t n = atomic_load_explicit(&cm_n_regions, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		if (cm_regions[i].sample)
			return true;
	return false;
}

/*
 * A process has them already that started this one, perhaps by way of others: LIKWID's file has one
 * name. Helpers that liblikwidpin starts for every thread are such processes.
 */
static bool is_taken(void)
{
	const char *text = variable(CM_ENV_MARKERS_PID);
	struct cm_diag diag = {0};
	long pid = 0;

	while (text && *text >= '0' && *text <= '9')
		pid = pid * 10 + *text++ - '0';
	/* What is no number has them: opening LIKWID in its own helpers would never end. */
	if (!text || (pid && (pid == cm_process.pid || cm_sys3(SYS_kill, pid, 0, 0) == -ESRCH)))
		return false;
	(void)cm_diag_set(&diag, 0, "process %ld, which started this one, has the markers", pid);
	set_reason(diag.text);
	return true;
}

static void take(void)
{
	struct cm_diag text = {0};

	(void)cm_diag_set(&text, 0, "%d", cm_process.pid);
	(void)setenv(CM_ENV_MARKERS_PID, text.text, 1); /* its children open some, then */
}

/* Our environment without what is preloaded into the program. */
static char **checker_environment(void)
{
	size_t n = 0;
	char **copy;

	while (cm_settings.envp[n])
		n++;
	copy = cm_memory_get(NULL, (n + 1) * sizeof(*copy));
	n = 0;
	for (char **entry = cm_settings.envp; copy && *entry; entry++)
		if (strncmp(*entry, "LD_PRELOAD=", 11))
			copy[n++] = *entry;
	return copy;
}

static const char *checker_path(void)
{
	const char *given = variable(CM_ENV_READER), *slash = strrchr(cm_settings.collect, '/');
	size_t n = slash ? (size_t)(slash + 1 - cm_settings.collect) : 0;
	char *path;

	if (given)
		return given;
	path = cm_memory_get(NULL, n + sizeof(CM_READER_NAME));
	if (path) {
		memcpy(path, cm_settings.collect, n);
		memcpy(path + n, CM_READER_NAME, sizeof(CM_READER_NAME));
	}
	return path ? path : "";
}

/* The first line that comes through the pipe, into text. */
static void read_line(int fd, char *text, size_t n_bytes)
{
	size_t n = 0;
	long got;

	while (n + 1 < n_bytes &&
	       (got = cm_sys3(SYS_read, fd, (long)(text + n), (long)(n_bytes - 1 - n))) > 0)
		n += (size_t)got;
	text[n] = '\0';
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = '\0';
}

/* Can LIKWID work here? Asked in another process: it may crash, exit or hang over the question. */
static bool check(void)
{
	const char *path = checker_path();
	char *const argv[] = {(char *)path, (char *)"--check", NULL};
	struct cm_spawn spawn = {
		.path = path, .argv = argv, .envp = checker_environment(), .max_ms = CM_CHECK_MS};
	uint64_t mask = cm_sys_block_signals();
	char line[sizeof(reason)];
	int pipe[2], rc;

	rc = spawn.envp ? (int)cm_sys3(SYS_pipe2, (long)pipe, O_CLOEXEC | O_NONBLOCK, 0) : -ENOMEM;
	if (rc >= 0) {
		spawn.output = pipe[1];
		rc = cm_spawn_run(&spawn);
		read_line(pipe[0], line, sizeof(line));
		cm_sys_close(pipe[0]);
		cm_sys_close(pipe[1]);
	}
	cm_sys_restore_signals(mask);
	if (!rc && line[0] == '/') {
		memcpy(library, line, sizeof(line));
		return true;
	}
	if (rc > 0 && line[0])
		set_reason(line);
	else if (rc == -ECHILD || rc == -ETIMEDOUT)
		set_reason(rc == -ECHILD ? "LIKWID crashed while it was tried"
					 : "LIKWID did not answer while it was tried");
	else
		set_reason("callmark-reader could not be started");
	return false;
}

/* LIKWID_THREADS and LIKWID_EVENTS. */
static bool read_lists(void)
{
	const char *text = variable("LIKWID_THREADS");

	cm_markers.n_groups = 1;
	for (const char *c = variable("LIKWID_EVENTS"); *c; c++)
		cm_markers.n_groups += *c == '|';
	item.n_groups = cm_markers.n_groups;
	while (*text) {
		uint32_t cpu = 0;
		const char *digits = text;

		while (*text >= '0' && *text <= '9')
			cpu = cpu * 10 + (uint32_t)(*text++ - '0');
		if (text == digits || cpu >= CM_MARKER_CPUS)
			return false;
		if (!cm_markers.is_listed[cpu])
			cm_markers.cpus[cm_markers.n_cpus++] = (uint16_t)cpu;
		cm_markers.is_listed[cpu] = 1;
		text += *text == ',';
	}
	return cm_markers.n_cpus && cm_markers.n_groups <= CM_MAX_GROUPS;
}

static void call_init(void *arg)
{
	(void)arg;
	cm_likwid.init();
}

static bool is_pending(int signal)
{
	uint64_t pending = 0;

	(void)cm_sys3(SYS_rt_sigpending, (long)&pending, 8, 0); /* cannot fail */
	return pending >> (signal - 1) & 1;
}

/*
 * What initialisation does to the process is taken back: its short-lived children raise SIGCHLD,
 * and it pins the thread that happens to call it. Only the main thread stays where likwid-perfctr
 * -C has it: that is what its users ask for.
 */
static int initialise(void)
{
	static uint8_t affinity[CM_AFFINITY_BYTES];
	uint64_t mask = cm_sys_block_signals(), child = UINT64_C(1) << (SIGCHLD - 1);
	struct timespec now = {0};
	bool had_child = is_pending(SIGCHLD);
	long n = cm_sys3(SYS_sched_getaffinity, 0, sizeof(affinity), (long)affinity);
	int rc = cm_likwid_call_any(call_init, NULL, -1);

	if (n > 0 && (!variable("LIKWID_PIN") || cm_sys_gettid() != cm_process.pid))
		(void)cm_sys3(SYS_sched_setaffinity, 0, n, (long)affinity); /* as it was */
	if (!had_child)
		(void)cm_sys6(SYS_rt_sigtimedwait, (long)&child, 0, (long)&now, 8, 0, 0);
	cm_sys_restore_signals(mask);
	return rc;
}

static void wipe_on_fork(void)
{
	(void)cm_sys3(SYS_madvise, (long)&cm_markers, sizeof(cm_markers), 18 /* WIPEONFORK */);
}

static bool open_likwid(void)
{
	struct cm_diag diag = {0};

	cm_marker_table = cm_sys_memory(CM_MAX_MARKERS * sizeof(*cm_marker_table));
	if (!cm_marker_table || !read_lists()) {
		set_reason("LIKWID_THREADS or LIKWID_EVENTS is no list that can be used");
		return false;
	}
	if (cm_likwid_open(library, &diag) < 0) {
		set_reason(diag.text);
		return false;
	}
	if (initialise() < 0) {
		set_reason("LIKWID gave up while it was initialised");
		return false;
	}
	return true;
}

static void start(void)
{
	if (is_decided) {
		if (atomic_load_explicit(&cm_markers.state, memory_order_relaxed))
			cm_likwid_patch_program();
		return;
	}
	if (!variable("LIKWID_MODE") && !variable("LIKWID_EVENTS") && !variable("LIKWID_THREADS") &&
	    !variable("LIKWID_FILEPATH"))
		return;
	if (!any_region_wants())
		return;
	is_decided = true;
	if (!has_environment())
		return;
	if (is_taken()) {
		refuse(false);
		return;
	}
	take();
	cm_likwid_guard_pin();
	wipe_on_fork();
	if (!check() || !open_likwid()) {
		refuse(true);
		return;
	}
	cm_likwid_patch_program();
	cm_markers_arm();
	set_state(CM_COUNTERS_ARMED);
}

void cm_counters_start(void)
{
	int saved = errno; /* dlopen and main find it as it was */

	start();
	errno = saved;
}

void cm_counters_set(uint32_t state, const char *text)
{
	if (text)
		set_reason(text);
	set_state(state);
}
