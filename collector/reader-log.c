/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. Of a long log, the last 64 KiB count. */
#include "collector/reader-log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_LOG_BYTES 65536

int cm_reader_log_open(void)
{
	int fd = memfd_create("callmark-reader", MFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

off_t cm_reader_log_position(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);

	return end < 0 ? 0 : end;
}

/* NULL: nothing there. */
static char *read_log(int fd, off_t off)
{
	off_t end = cm_reader_log_position(fd);
	char *text;
	ssize_t n;

	if (end - off > MAX_LOG_BYTES)
		off = end - MAX_LOG_BYTES;
	text = end > off ? malloc((size_t)(end - off) + 1) : NULL;
	if (!text)
		return NULL;
	n = pread(fd, text, (size_t)(end - off), off);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

/* "ERROR - [./src/x.c:f:164] text" -> "text"; "WARN: text" -> "text". */
static const char *skip_prefix(const char *line)
{
	const char *bracket;

	line += strspn(line, " \t");
	if (!strncmp(line, "ERROR - [", 9)) {
		bracket = strchr(line, ']');
		if (bracket)
			line = bracket + 1;
	}
	if (!strncmp(line, "WARN: ", 6))
		line += 6;
	else if (!strncmp(line, "ERROR: ", 7))
		line += 7;
	return line + strspn(line, " \t");
}

/* The line at `line`, one that can be shown: no control characters, no blanks at the end. */
static void copy_line(const char *line, char *buf, size_t n_bytes)
{
	size_t n;

	line = skip_prefix(line);
	n = strcspn(line, "\r\n");
	while (n && line[n - 1] == ' ')
		n--;
	if (n >= n_bytes)
		n = n_bytes - 1;
	memcpy(buf, line, n);
	buf[n] = '\0';
	for (char *p = buf; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
}

void cm_reader_log_last(int fd, off_t off, char *buf, size_t n_bytes)
{
	char *text = read_log(fd, off), *next;

	*buf = '\0';
	for (char *line = text; line && *line; line = next ? next + 1 : NULL) {
		next = strchr(line, '\n');
		if (next)
			*next = '\0';
		if (line[strspn(line, " \t\r")])
			copy_line(line, buf, n_bytes);
	}
	free(text);
}

int cm_reader_log_find(int fd, off_t off, const char *wanted, char *buf, size_t n_bytes)
{
	char *text = read_log(fd, off);
	char *found = text ? strstr(text, wanted) : NULL;

	*buf = '\0';
	if (found) {
		while (found > text && found[-1] != '\n')
			found--;
		copy_line(found, buf, n_bytes);
	}
	free(text);
	return found != NULL;
}

void cm_reader_log_warning(int fd, off_t off, char *buf, size_t n_bytes)
{
	static const char *const signs[] = {
		"is in use", "deactivated HyperThreading", "not found for current architecture",
		"not defined for current architecture", "not allowed for event"};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (cm_reader_log_find(fd, off, signs[i], buf, n_bytes))
			return;
	}
}
