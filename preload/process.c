/* SPDX-License-Identifier: BSD-3-Clause */
/* Who this process is, its lock, and the making of its spool folder. */
#include "preload/process.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/clock.h"
#include "preload/counters.h"
#include "preload/say.h"
#include "preload/stub.h"
#include "preload/syscall.h"

struct cm_process cm_process;
struct cm_settings cm_settings;
_Atomic bool cm_process_is_sealed;

void cm_process_start(void)
{
	cm_process_file_reset();
	cm_process.pid = cm_sys_getpid();
	cm_process.can_spool = true;
	cm_process.threads = NULL;
	cm_clock_sync(&cm_process.start_tick, &cm_process.start_mono_ns,
		      &cm_process.start_realtime_ns);
	cm_process.last_sync_tick = cm_process.start_tick;
}

void cm_process_renew(void)
{
	cm_process_lock();
	if (atomic_load_explicit(&cm_process.state, memory_order_relaxed) == CM_PROCESS_NEW) {
		cm_process_start();
		cm_stub_reset_quotas();
		atomic_store_explicit(&cm_process.state, CM_PROCESS_ARMED, memory_order_release);
	}
	cm_process_unlock();
}

bool cm_lock_timed(_Atomic uint32_t *lock, unsigned int ms)
{
	struct timespec wait = {.tv_nsec = 1000000};
	uint32_t expected = 0;

	if (atomic_compare_exchange_strong_explicit(lock, &expected, 1, memory_order_acquire,
						    memory_order_relaxed))
		return true;
	for (unsigned int waited = 0; waited < ms; waited++) {
		if (!atomic_exchange_explicit(lock, 2, memory_order_acquire))
			return true;
		(void)cm_sys6(SYS_futex, (long)lock, FUTEX_WAIT_PRIVATE, 2, (long)&wait, 0,
			      0); /* a spurious return only tries again */
	}
	return false;
}

void cm_lock(_Atomic uint32_t *lock)
{
	while (!cm_lock_timed(lock, 1000))
		;
}

void cm_unlock(_Atomic uint32_t *lock)
{
	if (atomic_exchange_explicit(lock, 0, memory_order_release) == 2)
		(void)cm_sys3(SYS_futex, (long)lock, FUTEX_WAKE_PRIVATE, 1);
}

void cm_process_lock(void)
{
	cm_lock(&cm_process.lock);
}

void cm_process_unlock(void)
{
	cm_unlock(&cm_process.lock);
}

static size_t append_text(char *buf, size_t n_bytes, size_t n, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	n += cm_diag_format(buf + n, n_bytes - n, format, args);
	va_end(args);
	return n;
}

int cm_process_path(char *buf, size_t n_bytes, int slot, const char *suffix)
{
	size_t n = append_text(buf, n_bytes, 0, "%s/", cm_process.dir);

	if (slot >= 0)
		n = append_text(buf, n_bytes, n, "t%d", slot);
	n = append_text(buf, n_bytes, n, "%s", suffix);
	return n + 1 < n_bytes ? 0 : -ENAMETOOLONG;
}

static int make_folder(struct cm_diag *diag)
{
	int rc = 0;

	/* The start time makes it unique but for execs within one clock step. */
	for (uint64_t nonce = 0; nonce < 1000; nonce++) {
		size_t n;

		rc = cm_spool_make_run(cm_settings.run_path, diag);
		if (rc < 0)
			return rc;
		n = append_text(cm_process.dir, sizeof(cm_process.dir), 0, "%s/%d-%lx",
				cm_settings.run_path, cm_process.pid,
				(unsigned long)(cm_process.start_mono_ns + nonce));

		if (n + 1 >= sizeof(cm_process.dir))
			return cm_diag_set(diag, -ENAMETOOLONG, "spool path too long: %s",
					   cm_settings.run_path);
		rc = (int)cm_sys3(SYS_mkdir, (long)cm_process.dir, 0700, 0);
		/* -ENOENT: a collector has just removed the run's folder, empty as it was. */
		if (rc != -EEXIST && rc != -ENOENT)
			break;
	}
	if (rc < 0)
		return cm_diag_set(diag, rc, "cannot make the spool %s (error %d)", cm_process.dir,
				   -rc);
	return 0;
}

static int write_identity(void)
{
	const char *strings[] = {cm_settings.run_id, cm_settings.hostname, cm_settings.executable,
				 cm_settings.cwd,    cm_settings.output,   cm_settings.compress};
	struct cm_spool_item item = {.type = CM_ITEM_IDENTITY};

	return cm_process_append(&item, sizeof(item), strings, sizeof(strings) / sizeof(*strings));
}

/* Names whose values the file format or the rank needs; a trailing '_' stands for a prefix. */
static bool wants_variable(const char *entry)
{
	static const char *const names[] = {
		"PATH=",
		"LD_LIBRARY_PATH=",
		"LOADEDMODULES=",
		"MODULEPATH=",
		"USER=",
		"LOGNAME=",
		"OMP_NUM_THREADS=",
		"SLURM_",
		"OMPI_",
		"PMIX_",
		"PMI_",
		"MV2_",
		"MPI_LOCAL",
		"PALS_",
		"FLUX_",
		"LIKWID_",
		"HWLOC_",
		"LD_PRELOAD=",
		"CALLMARK_",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(entry, names[i], strlen(names[i])))
			return true;
	return false;
}

/* argv and the environment, in items of at most 64 strings. */
static int write_strings(uint32_t type, char **strings, bool filter)
{
	struct cm_spool_item item = {.type = type};
	const char *some[64];
	size_t n = 0;
	int rc = 0;

	for (; strings && *strings && rc >= 0; strings++) {
		if (filter && !wants_variable(*strings))
			continue;
		some[n++] = *strings;
		if (n == sizeof(some) / sizeof(*some)) {
			rc = cm_process_append(&item, sizeof(item), some, n);
			n = 0;
		}
	}
	return n && rc >= 0 ? cm_process_append(&item, sizeof(item), some, n) : rc;
}

static int write_head(void)
{
	struct cm_spool_process head = {
		.magic = CM_SPOOL_PROCESS_MAGIC,
		.version = CM_SPOOL_VERSION,
		.clock = cm_clock_kind,
		.pid = (uint64_t)cm_process.pid,
		.ppid = (uint64_t)cm_sys3(SYS_getppid, 0, 0, 0),
		.uid = (uint64_t)cm_sys3(SYS_getuid, 0, 0, 0),
		.start_mono_ns = cm_process.start_mono_ns,
		.start_realtime_ns = cm_process.start_realtime_ns,
		.main_pid = cm_settings.main_pid,
	};
	char path[CM_SPOOL_PATH_BYTES];
	long rc = cm_process_path(path, sizeof(path), -1, "process");
	int fd;

	if (rc < 0)
		return (int)rc;
	fd = cm_sys_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fd;
	rc = cm_sys3(SYS_write, fd, (long)&head, sizeof(head));
	cm_sys_close(fd);
	cm_process.n_file_bytes = sizeof(head);
	return rc == sizeof(head) ? 0 : rc < 0 ? (int)rc : -ENOSPC;
}

int cm_process_spool(struct cm_diag *diag)
{
	struct cm_spool_sync_item sync = {.item.type = CM_ITEM_SYNC,
					  .tick = cm_process.start_tick,
					  .mono_ns = cm_process.start_mono_ns,
					  .realtime_ns = cm_process.start_realtime_ns};
	int rc;

	if (cm_process.has_spool)
		return 0;
	if (!cm_process.can_spool)
		return -ENOSPC;
	rc = make_folder(diag);
	if (rc >= 0)
		rc = write_head();
	if (rc >= 0)
		rc = write_identity();
	if (rc >= 0)
		rc = write_strings(CM_ITEM_ARGV, cm_settings.argv, false);
	if (rc >= 0)
		rc = write_strings(CM_ITEM_ENV, cm_settings.envp, true);
	if (rc >= 0)
		rc = cm_process_append(&sync.item, sizeof(sync), NULL, 0);
	cm_process.has_spool = rc >= 0;
	cm_process.can_spool = rc >= 0;
	if (rc < 0)
		return cm_diag_set(diag, rc, "cannot write the spool %s (error %d)", cm_process.dir,
				   -rc);
	cm_process_append_new();
	cm_counters_append();
	return 0;
}
