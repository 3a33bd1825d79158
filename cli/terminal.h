/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an output stream can show: its width, colours, and progress of long work.
 *
 *	cm_terminal_init(&terminal, stdout);
 *	fputs(cm_terminal_style(&terminal, CM_STYLE_BOLD), stdout); ... CM_STYLE_PLAIN ends it
 *
 *	cm_progress_init(&progress, "reading");
 *	cm_progress_show(&progress, done, total);     as often as you like; or
 *	cm_progress_wait(&progress);
 *	cm_progress_fini(&progress);
 *
 * No errors: an output that is no terminal has 80 columns, no colours and no progress.
 * Threads: one at a time.
 */
#ifndef CALLMARK_CLI_TERMINAL_H
#define CALLMARK_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CM_TERMINAL_COLUMNS 80
#define CM_TERMINAL_MIN_COLUMNS 40
#define CM_TERMINAL_MAX_COLUMNS 1000

enum cm_style {
	CM_STYLE_PLAIN, /* ends any of the others */
	CM_STYLE_BOLD,
	CM_STYLE_DIM,
	CM_STYLE_WARNING,
	CM_N_STYLES,
};

struct cm_terminal {
	bool is_terminal;
	bool has_colours; /* a terminal, NO_COLOR empty or unset, TERM set and not "dumb" */
	size_t n_columns; /* $COLUMNS, else the terminal's, else 80; within the bounds above */
};

void cm_terminal_init(struct cm_terminal *terminal, FILE *out);

/* The escape sequence, or "" without colours. Static. */
const char *cm_terminal_style(const struct cm_terminal *terminal, enum cm_style style);

/* One line on stderr that is redrawn at most ten times a second, from 0.5 s on. */
struct cm_progress {
	const char *what; /* borrowed */
	bool is_on;
	bool is_drawn;
	int64_t begin_ns;
	int64_t next_ns;
};

void cm_progress_init(struct cm_progress *progress, const char *what);
void cm_progress_show(struct cm_progress *progress, uint64_t done, uint64_t total);
/* Where nobody knows how much there is to do: the seconds since init. */
void cm_progress_wait(struct cm_progress *progress);
/* Wipes the line. */
void cm_progress_fini(struct cm_progress *progress);

#endif
