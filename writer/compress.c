/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the ways to compress (writer/writer.h). */
#include <errno.h>
#include <string.h>

#include "writer/writer.h"

int cm_compress_parse(const char *text, enum cm_compress *ret_compress)
{
	static const struct {
		char name[8];
		enum cm_compress compress;
	} names[] = {
		{"", CM_COMPRESS_DEFAULT},
		{"none", CM_COMPRESS_NONE},
		{"fast", CM_COMPRESS_FAST},
		{"small", CM_COMPRESS_SMALL},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text ? text : "", names[i].name) == 0) {
			*ret_compress = names[i].compress;
			return 0;
		}
	return -EINVAL;
}
