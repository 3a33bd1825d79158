/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths and folders of the spool (preload/spool-path.h).
 *
 * The folders stand in /tmp as a rule, so nothing that is there already is believed: mkdir first,
 * then look, without following links, at what now has the name. The sticky bit of /tmp and our
 * ownership keep it from being replaced afterwards.
 */
#include "preload/spool-path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RUN_ID_BYTES 100u
#define FOLDER_MODE 0700

const char *cm_spool_base(const char *spool, const char *tmpdir)
{
	if (spool && *spool)
		return spool;
	if (tmpdir && *tmpdir)
		return tmpdir;
	return "/tmp";
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

/* Decimal digits of value, NUL-terminated; returns their number. */
static size_t format_decimal(unsigned long value, char digits[24])
{
	size_t n = 0;

	for (unsigned long rest = value; n == 0 || rest; rest /= 10)
		n++;
	digits[n] = '\0';
	for (size_t i = n; i; value /= 10)
		digits[--i] = (char)('0' + value % 10);
	return n;
}

int cm_spool_run_path(const char *base, unsigned long uid, const char *run_id, char *buf,
		      size_t n_bytes)
{
	static const char folder[] = "/callmark-";
	char digits[24];
	size_t n_digits = format_decimal(uid, digits);
	size_t n_base = strlen(base);
	size_t n_id = strnlen(run_id, RUN_ID_BYTES);

	if (!n_id)
		return -EINVAL;
	while (n_base && base[n_base - 1] == '/')
		n_base--;
	if (n_base + strlen(folder) + n_digits + 1 + n_id >= n_bytes)
		return -ENAMETOOLONG;
	buf = mempcpy(buf, base, n_base);
	buf = mempcpy(buf, folder, strlen(folder));
	buf = mempcpy(buf, digits, n_digits);
	*buf++ = '/';
	for (size_t i = 0; i < n_id; i++) {
		bool keep = is_plain(run_id[i]) && !(i == 0 && run_id[i] == '.');

		*buf++ = keep ? run_id[i] : '_';
	}
	*buf = '\0';
	return 0;
}

static size_t append(char *buf, size_t n_bytes, size_t length, const char *s)
{
	while (*s && length + 1 < n_bytes)
		buf[length++] = *s++;
	if (n_bytes)
		buf[length] = '\0';
	return length;
}

size_t cm_spool_launcher_run_id(const char *(*get)(void *ctx, const char *name), void *ctx,
				char *buf, size_t n_bytes)
{
	/* The second name must be set too: a Slurm job without a step runs many programs. */
	static const char names[][2][24] = {
		{"PMIX_NAMESPACE", ""},
		{"OMPI_MCA_ess_base_jobid", ""},
		{"SLURM_JOB_ID", "SLURM_STEP_ID"},
		{"PALS_APID", ""},
		{"FLUX_JOB_ID", ""},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *id = get(ctx, names[i][0]);
		const char *step = names[i][1][0] ? get(ctx, names[i][1]) : NULL;
		size_t length;

		if (!id || !*id || (names[i][1][0] && (!step || !*step)))
			continue;
		length = append(buf, n_bytes, 0, id);
		if (!step)
			return length;
		length = append(buf, n_bytes, length, ".");
		return append(buf, n_bytes, length, step);
	}
	return append(buf, n_bytes, 0, "");
}

/* A raw system call that leaves errno alone; negative errno on failure. */
static long call_kernel(long number, long a, const void *b, const void *c, long d)
{
	int saved = errno;
	long rc = syscall(number, a, b, c, d);

	if (rc < 0)
		rc = -errno;
	errno = saved;
	return rc;
}

/* strerror without the locale, for what making a folder can meet. */
static const char *error_text(long rc)
{
	switch (-rc) {
	case ENOENT:
		return "no such folder";
	case EACCES:
	case EPERM:
		return "permission denied";
	case ENOSPC:
		return "no space left";
	case EDQUOT:
		return "quota exceeded";
	case EROFS:
		return "read-only file system";
	case ENOTDIR:
		return "a part of the path is not a folder";
	case ELOOP:
		return "too many symbolic links";
	case ENAMETOOLONG:
		return "name too long";
	default:
		return NULL;
	}
}

static int fail(struct cm_diag *diag, long rc, const char *path, const char *doing)
{
	const char *text = error_text(rc);

	if (text)
		return cm_diag_set(diag, (int)rc,
				   "%s: cannot %s: %s (set CALLMARK_SPOOL to a "
				   "folder that can be written)",
				   path, doing, text);
	return cm_diag_set(diag, (int)rc, "%s: cannot %s: error %d", path, doing, (int)-rc);
}

int cm_spool_check_owner(const char *path, struct cm_diag *diag)
{
	struct stat st;
	const char *wrong = NULL;
	/* Two system calls bypass whatever else is preloaded (fakeroot) and agree with each other.
	 */
	long uid = call_kernel(SYS_geteuid, 0, NULL, NULL, 0);
	long rc = call_kernel(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);

	if (rc < 0)
		return fail(diag, rc, path, "look at it");
	if (S_ISLNK(st.st_mode))
		wrong = "is a symbolic link";
	else if (!S_ISDIR(st.st_mode))
		wrong = "is not a folder";
	else if (st.st_uid != (uid_t)uid)
		wrong = "belongs to another user";
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		wrong = "can be written by others";
	if (wrong)
		return cm_diag_set(diag, -EPERM,
				   "%s: %s; not used for the spool (remove it or "
				   "set CALLMARK_SPOOL)",
				   path, wrong);
	return 0;
}

static int make_folder(const char *path, struct cm_diag *diag)
{
	/* mkdirat(dirfd, path, mode): the mode takes the place of the third pointer. */
	long rc = call_kernel(SYS_mkdirat, AT_FDCWD, path, (const void *)(size_t)FOLDER_MODE, 0);

	if (rc < 0 && rc != -EEXIST)
		return fail(diag, rc, path, "make the folder");
	return cm_spool_check_owner(path, diag);
}

int cm_spool_make_run(const char *run_path, struct cm_diag *diag)
{
	char user[CM_SPOOL_PATH_BYTES];
	size_t length = strnlen(run_path, sizeof(user));
	const char *slash = strrchr(run_path, '/');
	int rc;

	if (length == sizeof(user))
		return cm_diag_set(diag, -ENAMETOOLONG, "the spool's path is longer than %d bytes",
				   CM_SPOOL_PATH_BYTES - 1);
	if (!slash || slash == run_path || !slash[1])
		return cm_diag_set(diag, -EINVAL, "%s: not a path of a run's spool", run_path);
	memcpy(user, run_path, (size_t)(slash - run_path));
	user[slash - run_path] = '\0';
	rc = make_folder(user, diag);
	if (rc < 0)
		return rc;
	return make_folder(run_path, diag);
}
