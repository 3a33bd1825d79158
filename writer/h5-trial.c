/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files in HDF5's older format, where nothing has a checksum: HDF5 1.10 crashes or loops on damaged
 * ones (attributes whose sizes lie, heap objects longer than the string they hold). They are
 * loaded once in a child that may die of it. Ours have checksums, and heaps are checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "writer/h5-load-root.h"

#define MAX_SECONDS 120
#define CHILD_FINISHED 17 /* with any result; sanitizers and HDF5 exit with others */

/* The superblock stands at 0 or at a power of two from 512 on; byte 8 is its version. */
static bool has_checksums(int fd)
{
	static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
	unsigned char start[9];

	for (off_t at = 0; pread(fd, start, sizeof(start), at) == sizeof(start);
	     at = at ? 2 * at : 512)
		if (memcmp(start, signature, sizeof(signature)) == 0)
			return start[8] >= 2;
	return true; /* no HDF5 at all: refused without reading further */
}

/* In the child: no word of glibc or a sanitizer on the terminal, no core file, not for ever. */
static void load_and_exit(struct cm_results *results)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
	struct rlimit no_core = {0, 0};
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0 || dup2(null, STDERR_FILENO) < 0 || setrlimit(RLIMIT_CORE, &no_core) < 0)
		_exit(1);
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		(void)signal(fatal[i], SIG_DFL); /* these have a default to go back to */
	(void)alarm(MAX_SECONDS);
	(void)cm_load_root(results, NULL); /* an error is as good an end as any */
	_exit(CHILD_FINISHED);
}

int cm_load_try(struct cm_results *results, struct cm_diag *diag)
{
	int fd = open(results->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), status = 0;
	bool is_safe = fd < 0 || has_checksums(fd);
	pid_t child;

	if (fd >= 0)
		(void)close(fd); /* it was only read */
	if (is_safe)
		return 0;
	child = fork();
	if (child == 0)
		load_and_exit(results);
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 0; /* someone else waited: nothing is known */
	if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_FINISHED))
		return 0;
	return cm_diag_set(diag, -EINVAL, "%s: damaged: HDF5 cannot read it without harm",
			   results->path);
}
