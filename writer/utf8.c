/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8 validation, replacement, cutting. */
#include "writer/utf8.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define N_REPLACEMENT 3

/* Bytes of the valid character at s (n bytes are left, n > 0); 0: the first byte is invalid. */
static size_t character(const unsigned char *s, size_t n)
{
	size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (length <= 1)
		return length;
	if (s[0] > 0xf4 || length > n)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0; /* overlong, a surrogate, above U+10FFFF */
	return length;
}

/* Walk n_chars characters; ret_n_invalid counts the bad bytes among them. */
static size_t walk(const char *text, size_t n_bytes, size_t n_chars, size_t *ret_n_invalid)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t at = 0, n_invalid = 0;

	for (; at < n_bytes && n_chars; n_chars--) {
		size_t length = character(s + at, n_bytes - at);

		n_invalid += length == 0;
		at += length ? length : 1;
	}
	*ret_n_invalid = n_invalid;
	return at;
}

bool cm_utf8_is_valid(const char *text)
{
	size_t n_invalid;

	(void)walk(text, strlen(text), SIZE_MAX, &n_invalid); /* only the count is wanted */
	return n_invalid == 0;
}

/* Copy n bytes of text with replacements; returns the end of what was written. */
static char *copy(char *to, const char *text, size_t n)
{
	for (size_t at = 0; at < n;) {
		size_t length = character((const unsigned char *)text + at, n - at);

		memcpy(to, length ? text + at : REPLACEMENT, length ? length : N_REPLACEMENT);
		to += length ? length : N_REPLACEMENT;
		at += length ? length : 1;
	}
	return to;
}

int cm_utf8_clean(const char *text, char **ret_owned)
{
	size_t n_bytes = strlen(text), n_mark = strlen(CM_UTF8_CUT_MARK), n_invalid;
	size_t n_kept = walk(text, n_bytes, CM_UTF8_MAX_CHARS, &n_invalid);
	bool is_cut = n_kept < n_bytes;
	char *owned, *end;

	if (!is_cut && !n_invalid) {
		*ret_owned = NULL;
		return 0;
	}
	if (is_cut)
		n_kept = walk(text, n_bytes, CM_UTF8_MAX_CHARS - n_mark, &n_invalid);
	/* At most 3 bytes for one; the walk bounded n_kept to 4 bytes a character. */
	owned = malloc(n_kept * N_REPLACEMENT + n_mark + 1);
	if (!owned)
		return -ENOMEM;
	end = copy(owned, text, n_kept);
	memcpy(end, CM_UTF8_CUT_MARK, is_cut ? n_mark : 0);
	end[is_cut ? n_mark : 0] = '\0';
	*ret_owned = owned;
	return 0;
}
