/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text for people: names that came from files and processes, made safe for a terminal and cut or
 * wrapped to a number of columns.
 *
 *	cm_text_escape(raw, &text);            nothing in text can steer a terminal
 *	cm_text_cut(text, 20, &cell);          at most 20 columns, the middle left out
 *	cm_text_wrap(stdout, text, 12, 12, 80);
 *
 * Columns are those of a UTF-8 terminal: two for wide characters, none for combining ones; the
 * process's locale does not matter. Errors: -ENOMEM. Results are the caller's to free.
 * Threads: one at a time.
 */
#ifndef CALLMARK_CLI_TEXT_H
#define CALLMARK_CLI_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Control characters, invalid UTF-8, and characters that reorder text or break lines become
 * visible escapes: \n, \x1b, \u202e. Everything else stays.
 */
int cm_text_escape(const char *raw, char **ret_text);

/* Valid UTF-8 for JSON: invalid bytes become U+FFFD, everything else stays. */
int cm_text_repair(const char *raw, char **ret_text);

/* Columns that an escaped text takes. */
size_t cm_text_columns(const char *text);

/*
 * The text if it fits into `columns`, else its beginning and end with an ellipsis between them.
 * Never splits a character or parts one from its combining marks.
 */
int cm_text_cut(const char *text, size_t columns, char **ret_text);

/*
 * Write an escaped text and a newline. The cursor stands at `column`; further lines are indented
 * by `hanging`; nothing reaches beyond `width`. Breaks at spaces, inside a word only when the word
 * alone is wider than a line.
 */
void cm_text_wrap(FILE *out, const char *text, size_t column, size_t hanging, size_t width);

#endif
