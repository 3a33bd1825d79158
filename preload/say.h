/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from inside the target: "callmark[pid]: ..." on stderr, one write(2) each.
 *
 * Only when something is wrong, or (cm_say_verbose) when the user asked. Nothing is said when
 * descriptor 2 is no longer the file that was stderr at the start, or after 20 messages.
 * Conversions: those of diag.h. Preserves errno. Any thread; not from hooks with signals open.
 */
#ifndef CALLMARK_PRELOAD_SAY_H
#define CALLMARK_PRELOAD_SAY_H

#include <stdbool.h>
#include <stdint.h>

void cm_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cm_say_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Device and inode of a descriptor; false where it is not open. */
bool cm_say_identity(int fd, uint64_t *ret_dev, uint64_t *ret_ino);

/* Is descriptor 2 still what it was at the start? */
bool cm_say_has_stderr(void);

#endif
