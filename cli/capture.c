/* SPDX-License-Identifier: BSD-3-Clause */
/* callmark capture: what likwid-perfctr starts for us (perfctr.h); no command for users. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/perfctr.h"
#include "cli/say.h"

static int write_all(int fd, const void *data, size_t n_bytes)
{
	const char *next = data;

	while (n_bytes) {
		ssize_t n = write(fd, next, n_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		next += n;
		n_bytes -= (size_t)n;
	}
	return 0;
}

/* The strings, an empty one as their end, then the CPUs. */
static int write_surroundings(int fd)
{
	size_t n_own = strlen(CM_ENV_CAPTURE);
	cpu_set_t cpus;
	int rc = sched_getaffinity(0, sizeof(cpus), &cpus) ? -errno : 0;

	for (char **var = environ; !rc && *var; var++)
		if (**var && (strncmp(*var, CM_ENV_CAPTURE, n_own) || (*var)[n_own] != '='))
			rc = write_all(fd, *var, strlen(*var) + 1);
	if (!rc)
		rc = write_all(fd, "", 1);
	if (!rc)
		rc = write_all(fd, &cpus, sizeof(cpus));
	return rc;
}

int cm_cmd_capture(int argc, char **argv)
{
	const char *fd = getenv(CM_ENV_CAPTURE);
	int rc;

	(void)argc;
	(void)argv;
	if (!fd) {
		cm_say("capture is a part of `callmark run -g' and no command for users");
		return CM_EXIT_USAGE;
	}
	rc = write_surroundings(atoi(fd));
	if (rc < 0)
		cm_say("capture: %s", strerror(-rc));
	return rc < 0 ? CM_EXIT_FAILED : CM_EXIT_OK;
}
