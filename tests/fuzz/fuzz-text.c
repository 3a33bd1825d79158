/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cli/text: whatever the bytes, the result steers no terminal and takes no more columns than
 * allowed. First byte: the width; the rest: the text.
 */
#include "cli/text.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check_safe(const char *text)
{
	for (; *text; text++)
		assert((unsigned char)*text >= 0x20 && *text != 0x7f);
}

static void check_wrapped(const char *text, size_t column, size_t width)
{
	char *lines = NULL, *rest, *line;
	size_t n_bytes;
	FILE *out = open_memstream(&lines, &n_bytes);
	size_t at = column;

	cm_text_wrap(out, text, column, 2, width);
	fclose(out);
	for (rest = lines; (line = strsep(&rest, "\n")); at = 0)
		assert(at + cm_text_columns(line) <= (width > 4 ? width : 4) || !*line);
	free(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	size_t width = n_bytes ? data[0] : 0;
	char *raw, *text, *cut, *repaired, *again;

	if (!n_bytes)
		return 0;
	raw = strndup((const char *)data + 1, n_bytes - 1);
	assert(!cm_text_escape(raw, &text));
	check_safe(text);
	assert(!cm_text_escape(text, &again));
	assert(!strcmp(text, again));
	assert(!cm_text_cut(text, width, &cut));
	assert(cm_text_columns(cut) <= width);
	check_safe(cut);
	check_wrapped(text, width % 7, width);
	assert(!cm_text_repair(raw, &repaired));
	assert(strlen(repaired) >= strlen(raw));
	free(raw);
	free(text);
	free(cut);
	free(repaired);
	free(again);
	return 0;
}
