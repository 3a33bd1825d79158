/* SPDX-License-Identifier: BSD-3-Clause */
/* One line on the target's stderr, and care that it is the target's stderr. */
#include "preload/say.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "preload/diag.h"
#include "preload/process.h"
#include "preload/syscall.h"

#define CM_SAY_MAX 20

static _Atomic uint32_t n_said;

bool cm_say_identity(int fd, uint64_t *ret_dev, uint64_t *ret_ino)
{
	struct stat st;

	if (cm_sys3(SYS_fstat, fd, (long)&st, 0) < 0)
		return false;
	*ret_dev = st.st_dev;
	*ret_ino = st.st_ino;
	return true;
}

bool cm_say_has_stderr(void)
{
	uint64_t dev, ino;

	return cm_say_identity(2, &dev, &ino) && dev == cm_settings.stderr_dev &&
	       ino == cm_settings.stderr_ino;
}

static size_t format_part(char *buf, size_t n_bytes, const char *format, ...)
{
	va_list args;
	size_t n;

	va_start(args, format);
	n = cm_diag_format(buf, n_bytes, format, args);
	va_end(args);
	return n;
}

static void say(const char *format, va_list args)
{
	char line[CM_DIAG_BYTES + 64];
	size_t n;

	if (atomic_fetch_add_explicit(&n_said, 1, memory_order_relaxed) >= CM_SAY_MAX)
		return;
	if (!cm_say_has_stderr())
		return;
	n = format_part(line, sizeof(line) - 1, "callmark[%d]: ", cm_sys_getpid());
	n += cm_diag_format(line + n, sizeof(line) - 1 - n, format, args);
	line[n++] = '\n';
	(void)cm_sys3(SYS_write, 2, (long)line, (long)n); /* nowhere to tell of a failure */
}

void cm_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void cm_say_verbose(const char *format, ...)
{
	va_list args;

	if (!cm_settings.verbose)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}
