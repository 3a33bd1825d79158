/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text that goes with an error: what, where, what to do, in one line.
 *
 * Functions that can fail take an optional struct cm_diag; the first message wins, so the place
 * that knows most is the one that is read. Only cli/ and the preload's say.c print it.
 * No allocation, no stdio, no locale: usable in the target. One thread at a time.
 */
#ifndef CALLMARK_PRELOAD_DIAG_H
#define CALLMARK_PRELOAD_DIAG_H

#define CM_DIAG_BYTES 512

struct cm_diag {
	char text[CM_DIAG_BYTES]; /* NUL-terminated; "" while nothing was said */
};

/*
 * Set the text unless there is one. Understands %s %d %u %ld %lu %zu %x %lx %c %% only.
 * diag may be NULL. Returns rc, so that `return cm_diag_set(diag, -EINVAL, ...)` reads well.
 */
int cm_diag_set(struct cm_diag *diag, int rc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The formatter itself: like snprintf for the conversions above; returns the length written. */
unsigned long cm_diag_format(char *buf, unsigned long n_bytes, const char *format,
			     __builtin_va_list args);

#endif
