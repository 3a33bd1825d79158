/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of fields with tabs between. */
#include "collector/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUTS_NAME "outputs"
#define LEDGER_NAME ".ledger"
#define N_FIELDS 8

static int append_line(int dir_fd, const char *name, const char *line)
{
	size_t n = strlen(line);
	int fd = openat(dir_fd, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	ssize_t done;
	int rc;

	if (fd < 0)
		return -errno;
	/* In one piece: a line that did not fit on the disk is not half there. */
	done = write(fd, line, n);
	rc = done < 0 ? -errno : (size_t)done < n ? -ENOSPC : 0;
	if (done > 0 && rc < 0 && ftruncate(fd, lseek(fd, 0, SEEK_END) - done) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

int cm_outputs_append(const char *run_path, const struct cm_output *output)
{
	char *shown = NULL, *full = NULL;
	int dir_fd = -1, rc = -ENOMEM;

	if (strpbrk(output->path, "\t\n") || strpbrk(output->main_path, "\t\n") ||
	    strpbrk(output->run_id, "\t\n"))
		return -EINVAL;
	if (asprintf(&shown, "%ld\t%ld\t%d\t%s\n", (long)output->rank, (long)output->pid,
		     output->is_main, output->path) < 0)
		shown = NULL;
	if (asprintf(&full, "%d\t%d\t%ld\t%ld\t%ld\t%s\t%s\t%s\n", output->is_main,
		     output->is_ranked, (long)output->rank, (long)output->join_size,
		     (long)output->pid, output->run_id, output->main_path, output->path) < 0)
		full = NULL;
	if (!shown || !full)
		goto out;
	dir_fd = open(run_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	rc = dir_fd < 0 || flock(dir_fd, LOCK_EX) < 0 ? -errno : 0;
	if (rc == 0)
		rc = append_line(dir_fd, LEDGER_NAME, full);
	if (rc == 0)
		rc = append_line(dir_fd, OUTPUTS_NAME, shown);
out:
	if (dir_fd >= 0)
		close(dir_fd);
	free(full);
	free(shown);
	return rc;
}

/* False: not a line of ours; passed over. The line is cut into its fields. */
static bool parse_line(char *line, struct cm_output *ret_output)
{
	char *fields[N_FIELDS] = {line};
	size_t n = 1;

	for (char *p = line; *p; p++) {
		if (*p != '\t')
			continue;
		*p = '\0';
		if (n == N_FIELDS)
			return false;
		fields[n++] = p + 1;
	}
	if (n != N_FIELDS)
		return false;
	ret_output->is_main = fields[0][0] == '1';
	ret_output->is_ranked = fields[1][0] == '1';
	ret_output->rank = strtol(fields[2], NULL, 10);
	ret_output->join_size = strtol(fields[3], NULL, 10);
	ret_output->pid = strtol(fields[4], NULL, 10);
	ret_output->run_id = fields[5];
	ret_output->main_path = fields[6];
	ret_output->path = fields[7];
	return true;
}

static int read_file(const char *run_path, struct cm_arena *arena, char **ret_text)
{
	int dir_fd = open(run_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int fd = dir_fd < 0 ? -1 : openat(dir_fd, LEDGER_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int rc = fd < 0 ? -errno : 0;
	struct stat st;
	char *text = NULL;
	ssize_t n = 0;

	if (rc == 0 && fstat(fd, &st) < 0)
		rc = -errno;
	if (rc == 0) {
		text = cm_arena_array(arena, (size_t)st.st_size + 1, 1);
		n = text ? pread(fd, text, (size_t)st.st_size, 0) : 0;
		rc = !text ? -ENOMEM : n < 0 ? -errno : 0;
	}
	if (fd >= 0)
		close(fd);
	if (dir_fd >= 0)
		close(dir_fd);
	*ret_text = text;
	return rc;
}

int cm_outputs_read(const char *run_path, struct cm_arena *arena, struct cm_output **ret_outputs,
		    size_t *ret_n)
{
	struct cm_output *outputs;
	size_t n_lines = 1, n = 0;
	char *text, *next;
	int rc = read_file(run_path, arena, &text);

	*ret_n = 0;
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	for (const char *p = text; *p; p++)
		n_lines += *p == '\n';
	outputs = cm_arena_array(arena, n_lines, sizeof(*outputs));
	if (!outputs)
		return -ENOMEM;
	for (char *line = text; (next = strchr(line, '\n')); line = next + 1) {
		*next = '\0';
		n += parse_line(line, &outputs[n]);
	}
	*ret_outputs = outputs;
	*ret_n = n;
	return 0;
}

void cm_outputs_remove(const char *run_path)
{
	int dir_fd = open(run_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (dir_fd < 0)
		return;
	/* Not there, or not to be removed: then the folder stays, which is all that matters. */
	(void)unlinkat(dir_fd, OUTPUTS_NAME, 0);
	(void)unlinkat(dir_fd, LEDGER_NAME, 0);
	close(dir_fd);
}
