/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SHA-256 as text, 64 lower-case hexadecimal digits and NUL, of files and memory. libcrypto is
 * seen in sha256.c only, with a context of its own: no configuration file of OpenSSL's is read.
 *
 *	rc = cm_sha256_file(path, text, &n_bytes, &diag);
 *	if (!cm_sha256_is_same(text, declared)) ...
 *
 * Threads: any. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_COLLECTOR_SHA256_H
#define CALLMARK_COLLECTOR_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/diag.h"

#define CM_SHA256_TEXT_BYTES 65

/* A regular file. ret_n_bytes may be NULL. -EINVAL: no regular file; those of open and read. */
int cm_sha256_file(const char *path, char text[CM_SHA256_TEXT_BYTES], uint64_t *ret_n_bytes,
		   struct cm_diag *diag);

int cm_sha256_bytes(const void *data, size_t n_bytes, char text[CM_SHA256_TEXT_BYTES],
		    struct cm_diag *diag);

/* 64 hexadecimal digits, of either case? */
bool cm_sha256_is_text(const char *text);

/* The case of the digits does not matter. */
bool cm_sha256_is_same(const char *a, const char *b);

#endif
