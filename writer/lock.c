/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock file with a time-out. */
#include "writer/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "writer/sibling.h"

#define HOST_BYTES 256
#define MAX_WAIT_MS 20

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Sleep a little longer each time; false when the time is over. */
static bool wait_a_little(int64_t deadline_ms, int *wait_ms)
{
	struct timespec t = {.tv_nsec = *wait_ms * 1000000L};

	if (now_ms() >= deadline_ms)
		return false;
	(void)nanosleep(&t, NULL); /* waking early is no harm */
	*wait_ms = *wait_ms * 2 < MAX_WAIT_MS ? *wait_ms * 2 : MAX_WAIT_MS;
	return true;
}

/* The holder before us may have removed the file that we have open. */
static bool is_still_there(const struct cm_lock *lock)
{
	struct stat ours, theirs;

	return fstat(lock->fd, &ours) == 0 && stat(lock->path, &theirs) == 0 &&
	       ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

static void close_lock(struct cm_lock *lock)
{
	(void)close(lock->fd); /* nothing was written through it that matters */
	lock->fd = -1;
}

/* 1 taken, 0 another has it, negative errno. */
static int try_flock(struct cm_lock *lock)
{
	int rc;

	lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (lock->fd < 0)
		return -errno;
	if (flock(lock->fd, LOCK_EX | LOCK_NB) == 0) {
		if (is_still_there(lock))
			return 1;
		rc = 0;
	} else {
		rc = errno == EWOULDBLOCK || errno == EINTR ? 0 : -errno;
	}
	close_lock(lock);
	return rc;
}

/* Does the lock file name a process of this host that is gone? */
static bool is_stale(const char *path)
{
	char text[HOST_BYTES + 32], host[HOST_BYTES] = "", other[HOST_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	long pid;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd); /* opened for reading only */
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (sscanf(text, "%ld %255s", &pid, other) != 2 || pid <= 0 ||
	    gethostname(host, sizeof(host) - 1) < 0 || strcmp(host, other) != 0)
		return false;
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* As try_flock. */
static int try_exclusive(struct cm_lock *lock)
{
	char text[HOST_BYTES + 32], host[HOST_BYTES] = "";
	int n;

	lock->fd = open(lock->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (lock->fd < 0) {
		int rc = errno == EEXIST ? 0 : -errno;

		if (rc == 0 && is_stale(lock->path))
			(void)unlink(lock->path); /* the next try tells */
		return rc;
	}
	(void)gethostname(host, sizeof(host) - 1); /* "" never looks stale to anyone */
	n = snprintf(text, sizeof(text), "%ld %s\n", (long)getpid(), host);
	if (write(lock->fd, text, (size_t)n) != n) {
		int rc = errno ? -errno : -EIO;

		(void)unlink(lock->path); /* an empty lock would hold for ever */
		close_lock(lock);
		return rc;
	}
	return 1;
}

static int take(struct cm_lock *lock, const char *path, int timeout_ms,
		int (*attempt)(struct cm_lock *lock), struct cm_diag *diag)
{
	int64_t deadline_ms = now_ms() + timeout_ms;
	int wait_ms = 1, rc;

	lock->fd = -1;
	if (cm_sibling_path(path, ".lock", lock->path, sizeof(lock->path)) < 0)
		return cm_diag_set(diag, -ENAMETOOLONG, "%s: the path is too long", path);
	while ((rc = attempt(lock)) == 0)
		if (!wait_a_little(deadline_ms, &wait_ms))
			return cm_diag_set(diag, -ETIMEDOUT,
					   "%s: another process holds its lock %s; if there is "
					   "none, remove that file",
					   path, lock->path);
	return rc < 0 ? rc : 0;
}

int cm_lock_take_exclusive(struct cm_lock *lock, const char *path, int timeout_ms,
			   struct cm_diag *diag)
{
	int rc = take(lock, path, timeout_ms, try_exclusive, diag);

	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: cannot lock with %s: %s", path, lock->path,
				   strerror(-rc));
	return 0;
}

int cm_lock_take(struct cm_lock *lock, const char *path, int timeout_ms, struct cm_diag *diag)
{
	int rc = take(lock, path, timeout_ms, try_flock, diag);

	if (rc == -EOPNOTSUPP || rc == -ENOLCK || rc == -ENOSYS || rc == -EINVAL) {
		(void)unlink(lock->path); /* made by the attempt; it must not count as taken */
		return cm_lock_take_exclusive(lock, path, timeout_ms, diag);
	}
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: cannot lock with %s: %s", path, lock->path,
				   strerror(-rc));
	return 0;
}

void cm_lock_release(struct cm_lock *lock)
{
	if (lock->fd < 0)
		return;
	(void)unlink(lock->path); /* ours alone; waiting processes notice and make a new one */
	close_lock(lock);
}
