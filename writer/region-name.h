/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the regions' groups from their tags (layout.md).
 *
 * '/' becomes '|', invalid UTF-8 becomes U+FFFD, and of tags that end up equal the later ones get
 * "#2", "#3"... Names that HDF5 cannot hold: "" becomes "(empty)", "." becomes "(dot)", and one of
 * more than CM_REGION_NAME_BYTES is cut (the tag attribute keeps all of it).
 * Any thread. Errors: negative errno.
 */
#ifndef CALLMARK_WRITER_REGION_NAME_H
#define CALLMARK_WRITER_REGION_NAME_H

#include <stddef.h>

#define CM_REGION_NAME_BYTES 4096

/* tag(ctx, i) gives the tags, i < n. ret_names: n strings; free with cm_region_names_free(). */
int cm_region_names_new(const char *(*tag)(const void *ctx, size_t i), const void *ctx, size_t n,
			char ***ret_names);
void cm_region_names_free(char **names, size_t n);

#endif
