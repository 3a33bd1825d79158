/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text for the file: valid UTF-8 of a bounded length, from whatever bytes a program had.
 *
 * Pure functions; any thread. Errors: negative errno.
 */
#ifndef CALLMARK_WRITER_UTF8_H
#define CALLMARK_WRITER_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Longer texts are cut to this many characters, mark included. */
#define CM_UTF8_MAX_CHARS 60000
#define CM_UTF8_CUT_MARK "...[truncated]"

/* Shortest forms only, no surrogates, nothing above U+10FFFF. */
bool cm_utf8_is_valid(const char *text);

/*
 * Replace each invalid byte by U+FFFD and cut at CM_UTF8_MAX_CHARS. *ret_owned is a new string
 * that the caller frees, or NULL where text is good as it is. -ENOMEM.
 */
int cm_utf8_clean(const char *text, char **ret_owned);

#endif
