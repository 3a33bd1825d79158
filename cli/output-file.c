/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are complete or not there. */
#include "cli/output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct cm_output *output, int error, struct cm_diag *diag)
{
	int rc = cm_diag_set(diag, -error, "cannot write %s: %s", output->path, strerror(error));

	cm_output_abort(output);
	return rc;
}

/* The folder of target with its slash; "" for the working directory. */
static size_t folder_bytes(const char *target)
{
	const char *slash = strrchr(target, '/');

	return slash ? (size_t)(slash - target) + 1 : 0;
}

static int name_files(struct cm_output *output)
{
	output->target = realpath(output->path, NULL);
	if (!output->target)
		output->target = strdup(output->path);
	if (!output->target)
		return -ENOMEM;
	if (asprintf(&output->temporary, "%.*s.callmark-export-%ld",
		     (int)folder_bytes(output->target), output->target, (long)getpid()) < 0) {
		output->temporary = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int open_temporary(struct cm_output *output)
{
	char *folder = strndup(output->target, folder_bytes(output->target));
	int fd;

	if (!folder)
		return -ENOMEM;
	fd = open(*folder ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	output->is_nameless = fd >= 0;
	free(folder);
	if (fd < 0)
		fd = open(output->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

int cm_output_open(struct cm_output *output, const char *path, struct cm_diag *diag)
{
	struct stat status;
	int fd;

	*output = (struct cm_output){.out = stdout, .path = path};
	if (!path)
		return 0;
	output->out = NULL;
	if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	} else {
		fd = name_files(output);
		fd = fd < 0 ? fd : open_temporary(output);
	}
	if (fd < 0)
		return fail(output, -fd, diag);
	output->out = fdopen(fd, "w");
	if (output->out)
		return 0;
	(void)close(fd); /* nothing was written */
	return fail(output, ENOMEM, diag);
}

/* Give the file its name: over an existing one only a rename can. */
static int put_in_place(struct cm_output *output)
{
	char open_file[64];

	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", fileno(output->out));
	if (output->is_nameless &&
	    linkat(AT_FDCWD, open_file, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	output->is_nameless = false; /* abort removes it from here on */
	if (rename(output->temporary, output->target) < 0)
		return -errno;
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

int cm_output_commit(struct cm_output *output, struct cm_diag *diag)
{
	int rc = 0;

	if (!output->path)
		return 0;
	errno = 0;
	if (fflush(output->out) || ferror(output->out))
		return fail(output, errno ? errno : EIO, diag);
	/* EINVAL: a pipe or device. */
	if (fsync(fileno(output->out)) < 0 && errno != EINVAL)
		return fail(output, errno, diag);
	if (output->target)
		rc = put_in_place(output);
	if (rc < 0)
		return fail(output, -rc, diag);
	cm_output_abort(output); /* what is left: memory and the stream */
	return 0;
}

void cm_output_abort(struct cm_output *output)
{
	if (output->path && output->out)
		(void)fclose(output->out); /* flushed, or not wanted */
	if (output->temporary && !output->is_nameless)
		(void)unlink(output->temporary); /* may not exist */
	free(output->temporary);
	free(output->target);
	*output = (struct cm_output){0};
}
