/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What liblikwid calls instead of libc. Each replacement behaves as the original does, but for the
 * one thing that could hurt the program; likwid.h lists them. System calls are made directly: none
 * of these functions is a cancellation point or runs anything of the program's.
 */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/environment.h"
#include "preload/likwid.h"
#include "preload/memory.h"
#include "preload/object.h"
#include "preload/page.h"
#include "preload/process.h"
#include "preload/say.h"
#include "preload/syscall.h"

#define CM_MAX_FDS 65536
#define CM_HIGH_FD 512	     /* out of the way of programs that count on low numbers */
#define CM_DAEMON_SECONDS 10 /* without an answer: it is lost */

struct _IO_FILE;
extern struct _IO_FILE *stderr, *stdout;
struct _IO_FILE *popen(const char *command, const char *how);

_Atomic bool cm_likwid_is_lost;
__thread struct cm_likwid_call cm_likwid_call;

/* Who a descriptor of LIKWID's was when it was opened; dev and ino 0: not one of LIKWID's. */
static struct {
	uint64_t dev, ino;
} * identities;

static long result(long rc)
{
	if (rc >= 0)
		return rc;
	errno = (int)-rc;
	return -1;
}

static bool get_identity(int fd, uint64_t *ret_dev, uint64_t *ret_ino)
{
	struct stat st;

	if (cm_sys3(SYS_fstat, fd, (long)&st, 0) < 0)
		return false;
	*ret_dev = st.st_dev;
	*ret_ino = st.st_ino;
	return true;
}

/* Out of the way, closed by exec, and known. */
static int adopt(long fd)
{
	long high;

	if (fd < 0)
		return (int)result(fd);
	high = cm_sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, CM_HIGH_FD);
	if (high >= 0) {
		cm_sys_close((int)fd);
		fd = high;
	}
	if (fd < CM_MAX_FDS && !get_identity((int)fd, &identities[fd].dev, &identities[fd].ino))
		identities[fd].dev = identities[fd].ino = 0;
	return (int)fd;
}

/* Is it still what LIKWID opened? One that was opened before we came cannot be told. */
static bool is_still_ours(int fd)
{
	uint64_t dev, ino;

	if (fd < 0 || fd >= CM_MAX_FDS || !identities[fd].ino)
		return true;
	return get_identity(fd, &dev, &ino) && dev == identities[fd].dev &&
	       ino == identities[fd].ino;
}

static long lose(void)
{
	atomic_store_explicit(&cm_likwid_is_lost, true, memory_order_release);
	errno = EPIPE;
	return -1;
}

static int guard_socket(int domain, int type, int protocol)
{
	struct timeval limit = {.tv_sec = CM_DAEMON_SECONDS};
	int fd = adopt(cm_sys3(SYS_socket, domain, type | SOCK_CLOEXEC, protocol));

	if (fd >= 0) /* it waits for ever otherwise, no more */
		(void)cm_sys6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&limit,
			      sizeof(limit), 0);
	return fd;
}

static int guard_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	return adopt(cm_sys_open(path, flags, mode));
}

static int guard_close(int fd)
{
	bool is_ours = is_still_ours(fd);

	if (fd >= 0 && fd < CM_MAX_FDS)
		identities[fd].ino = 0;
	if (is_ours)
		cm_sys_close(fd);
	return 0;
}

/* The daemon's records are written and read whole, or it is gone. */
static long guard_write(int fd, const void *buf, size_t n_bytes)
{
	long rc;

	if (!is_still_ours(fd))
		return lose();
	rc = cm_sys6(SYS_sendto, fd, (long)buf, (long)n_bytes, MSG_NOSIGNAL, 0, 0);
	if (rc == -ENOTSOCK) /* a device file: perf_event, msr */
		return result(cm_sys3(SYS_write, fd, (long)buf, (long)n_bytes));
	return rc == (long)n_bytes ? rc : lose();
}

static long guard_read(int fd, void *buf, size_t n_bytes)
{
	long rc;

	if (!is_still_ours(fd))
		return lose();
	rc = cm_sys6(SYS_recvfrom, fd, (long)buf, (long)n_bytes, MSG_WAITALL, 0, 0);
	if (rc == -ENOTSOCK)
		return result(cm_sys3(SYS_read, fd, (long)buf, (long)n_bytes));
	return rc == (long)n_bytes ? rc : lose();
}

static long guard_pread(int fd, void *buf, size_t n_bytes, long offset)
{
	if (!is_still_ours(fd))
		return lose();
	return result(cm_sys6(SYS_pread64, fd, (long)buf, (long)n_bytes, offset, 0, 0));
}

static long guard_pwrite(int fd, const void *buf, size_t n_bytes, long offset)
{
	if (!is_still_ours(fd))
		return lose();
	return result(cm_sys6(SYS_pwrite64, fd, (long)buf, (long)n_bytes, offset, 0, 0));
}

/* The CPU that we decided on: the thread may move between that and LIKWID's own look. */
static int guard_getcpu(void)
{
	unsigned int cpu = 0;

	if (cm_likwid_call.cpu)
		return cm_likwid_call.cpu - 1;
	return (int)result(cm_sys3(SYS_getcpu, (long)&cpu, 0, 0) < 0 ? -ENOSYS : (long)cpu);
}

static int guard_getaffinity(int tid, size_t n_bytes, uint64_t *mask)
{
	size_t cpu = (size_t)cm_likwid_call.cpu - 1;
	long rc;

	memset(mask, 0, n_bytes);
	if (cm_likwid_call.cpu && cpu / 8 < n_bytes) {
		mask[cpu / 64] = UINT64_C(1) << cpu % 64;
		return 0;
	}
	rc = cm_sys3(SYS_sched_getaffinity, tid, (long)n_bytes, (long)mask);
	return rc < 0 ? (int)result(rc) : 0;
}

/* Reading a counter pins the thread and "restores" what guard_getaffinity told it. */
static int guard_setaffinity(int tid, size_t n_bytes, const void *mask)
{
	if (cm_likwid_call.cpu && (!tid || tid == cm_sys_gettid()))
		return 0;
	return (int)result(cm_sys3(SYS_sched_setaffinity, tid, (long)n_bytes, (long)mask));
}

/* gettid, getcpu, and the perf_event build's descriptors. */
static long guard_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	long rc = cm_sys6(nr, a, b, c, d, e, f);

	return nr == SYS_perf_event_open ? adopt(rc) : result(rc);
}

/* LIKWID's own variables as they were at the start: the program may have cleared them. */
static char *guard_getenv(const char *name)
{
	size_t n = strlen(name);

	for (char **entry = strncmp(name, "LIKWID_", 7) ? NULL : cm_likwid_environment;
	     entry && *entry; entry++)
		if (!strncmp(*entry, name, n) && (*entry)[n] == '=')
			return *entry + n + 1;
	return getenv(name);
}

/* exit in one of LIKWID's children runs no handler; in the program it only ends the call. */
static void guard_exit(int status)
{
	if (cm_process.pid != cm_sys_getpid())
		_exit(status);
	if (cm_likwid_call.is_inside)
		__builtin_longjmp(cm_likwid_call.bail, 1);
	exit(status); /* the program's own call of LIKWID */
}

/*
 * The shells that LIKWID starts, and what they start, inherit our preload, which does nothing where
 * it finds the mark. The environment of the process itself stays as it is but for that byte.
 */
static void mark_helpers(bool is_marked)
{
	static char first;
	char *pid = getenv(CM_ENV_MARKERS_PID);

	if (!pid || !*pid)
		return; /* the program has cleared its environment: nobody inherits anything */
	if (!first)
		first = *pid;
	*pid = is_marked ? CM_HELPER_MARK : first;
}

static struct _IO_FILE *guard_popen(const char *command, const char *how)
{
	struct _IO_FILE *stream;

	mark_helpers(true);
	stream = popen(command, how);
	mark_helpers(false);
	return stream;
}

static int guard_system(const char *command)
{
	int rc;

	mark_helpers(true);
	rc = system(command);
	mark_helpers(false);
	return rc;
}

bool cm_likwid_is_muted(const struct _IO_FILE *stream);
bool cm_likwid_is_muted(const struct _IO_FILE *stream)
{
	return (cm_likwid_call.is_inside || cm_process.pid != cm_sys_getpid()) &&
	       (!stream || stream == stderr || stream == stdout);
}

/* marker-hook-x86_64.S: they ask the above, and go on to these. */
extern const char cm_likwid_printf[], cm_likwid_printf_chk[], cm_likwid_fprintf[],
	cm_likwid_fprintf_chk[];
void *cm_likwid_real_printf, *cm_likwid_real_printf_chk, *cm_likwid_real_fprintf,
	*cm_likwid_real_fprintf_chk;

static const struct guard {
	const char *symbol;
	const void *function;
	void **original; /* where the slot's value is kept, or NULL */
} guards[] = {
	{"fork", (void *)cm_likwid_fork, NULL},
	{"waitpid", (void *)cm_likwid_waitpid, NULL},
	{"popen", (void *)guard_popen, NULL},
	{"system", (void *)guard_system, NULL},
	{"exit", (void *)guard_exit, NULL},
	{"quick_exit", (void *)guard_exit, NULL},
	{"socket", (void *)guard_socket, NULL},
	{"open", (void *)guard_open, NULL},
	{"open64", (void *)guard_open, NULL},
	{"close", (void *)guard_close, NULL},
	{"write", (void *)guard_write, NULL},
	{"read", (void *)guard_read, NULL},
	{"pread", (void *)guard_pread, NULL},
	{"pread64", (void *)guard_pread, NULL},
	{"pwrite", (void *)guard_pwrite, NULL},
	{"pwrite64", (void *)guard_pwrite, NULL},
	{"syscall", (void *)guard_syscall, NULL},
	{"sched_getcpu", (void *)guard_getcpu, NULL},
	{"sched_getaffinity", (void *)guard_getaffinity, NULL},
	{"sched_setaffinity", (void *)guard_setaffinity, NULL},
	{"getenv", (void *)guard_getenv, NULL},
	{"malloc", (void *)cm_likwid_malloc, NULL},
	{"calloc", (void *)cm_likwid_calloc, NULL},
	{"realloc", (void *)cm_likwid_realloc, NULL},
	{"free", (void *)cm_likwid_free, NULL},
	{"strdup", (void *)cm_likwid_strdup, NULL},
	{"printf", cm_likwid_printf, &cm_likwid_real_printf},
	{"__printf_chk", cm_likwid_printf_chk, &cm_likwid_real_printf_chk},
	{"fprintf", cm_likwid_fprintf, &cm_likwid_real_fprintf},
	{"__fprintf_chk", cm_likwid_fprintf_chk, &cm_likwid_real_fprintf_chk},
};

static const struct guard *find_guard(const char *symbol)
{
	for (size_t i = 0; i < sizeof(guards) / sizeof(*guards); i++)
		if (!strcmp(guards[i].symbol, symbol))
			return &guards[i];
	return NULL;
}

static const void *choose(const char *symbol, uint64_t value)
{
	const struct guard *guard = find_guard(symbol);

	if (!guard)
		return cm_likwid_program_call(symbol);
	if (guard->original && value != (uint64_t)guard->function)
		*guard->original = (void *)value;
	return guard->function;
}

int cm_likwid_guard(struct cm_object *object)
{
	if (!identities)
		identities = cm_sys_memory(CM_MAX_FDS * sizeof(*identities));
	return identities ? cm_likwid_patch(object, choose) : -ENOMEM;
}

static const void *choose_system(const char *symbol, uint64_t value)
{
	(void)value;
	return strcmp(symbol, "system") ? NULL : (const void *)guard_system;
}

void cm_likwid_guard_pin(void)
{
	cm_lock(&cm_process.sites_lock);
	for (uint32_t i = 0; i < cm_object_count(); i++) {
		struct cm_object *object = cm_object_at(i);

		if (!object->is_gone && !strncmp(object->name, "liblikwidpin.so", 15))
			(void)cm_likwid_patch(object,
					      choose_system); /* or its helpers are profiled */
	}
	cm_unlock(&cm_process.sites_lock);
}
