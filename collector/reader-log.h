/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What LIKWID printed, kept in a memory file that stands in for its stdout and stderr.
 *
 *	fd = cm_reader_log_open();      and dup2(fd, 1), dup2(fd, 2) in the child
 *	cm_reader_log_last(fd, 0, buf, sizeof(buf));
 *
 * Threads: one at a time. Errors: negative errno; an empty text where there is none.
 */
#ifndef CALLMARK_COLLECTOR_READER_LOG_H
#define CALLMARK_COLLECTOR_READER_LOG_H

#include <stddef.h>
#include <sys/types.h>

int cm_reader_log_open(void);

/* Where the next line will stand. */
off_t cm_reader_log_position(int fd);

/* The last line with text in it from `off` on, without LIKWID's "ERROR - [file:line]". */
void cm_reader_log_last(int fd, off_t off, char *buf, size_t n_bytes);

/* The first warning about a counter, an event or a register from `off` on. */
void cm_reader_log_warning(int fd, off_t off, char *buf, size_t n_bytes);

/* Is there a line from `off` on with `text` in it? It goes to buf. 1, or 0. */
int cm_reader_log_find(int fd, off_t off, const char *text, char *buf, size_t n_bytes);

#endif
