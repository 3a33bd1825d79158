/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One line for the user, on stderr: "callmark: ...".
 *
 * Control characters in names are made visible; the line is written at once. No errors: there is
 * nobody left to tell. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_SAY_H
#define CALLMARK_CLI_SAY_H

void cm_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
