/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the command line. */
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/text.h"

void cm_say(const char *format, ...)
{
	char *raw = NULL;
	char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&raw, format, args);
	va_end(args);
	if (n < 0)
		return;
	if (cm_text_escape(raw, &text) < 0)
		fputs("callmark: out of memory\n", stderr);
	else
		fprintf(stderr, "callmark: %s\n", text);
	free(text);
	free(raw);
}
