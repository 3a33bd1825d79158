/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for people: escaping, width, cutting and wrapping of UTF-8. */
#include "cli/text.h"

#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define ELLIPSIS "\xe2\x80\xa6"
#define REPLACEMENT "\xef\xbf\xbd"
/* The longest thing that one byte can become: \x1b, or one character: \u{10ffff}. */
#define MAX_ESCAPE 4
#define MAX_LONG_ESCAPE 10

/* Bytes of the character at s, its value in ret_code; 0 where there is no valid one. */
static size_t decode(const char *s, uint32_t *ret_code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *byte = (const unsigned char *)s;
	uint32_t code;
	size_t n, i;

	if (byte[0] < 0x80) {
		*ret_code = byte[0];
		return 1;
	}
	n = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
	if (byte[0] < 0xc2 || byte[0] > 0xf4)
		return 0;
	code = byte[0] & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte[i] & 0x3f);
	}
	if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return n;
}

/* wcwidth in UTF-8, whatever the process's locale is; negative for what is not printable. */
static int columns_of(uint32_t code)
{
	static locale_t utf8;
	locale_t before;
	int columns;

	if (code < 0x80)
		return code >= 0x20 && code != 0x7f ? 1 : -1;
	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!utf8)
		return code >= 0xa0 ? 1 : -1;
	before = uselocale(utf8);
	columns = wcwidth((wchar_t)code);
	uselocale(before);
	return columns;
}

/* Characters that wcwidth calls harmless, but that reorder, join or break what stands around. */
static bool is_steering(uint32_t code)
{
	return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code == 0x061c ||
	       (code >= 0xe0000 && code <= 0xe0fff);
}

static size_t put_escape(char *to, uint32_t code)
{
	static const char letters[] = "abtnvfr"; /* 7..13 */

	if (code >= 7 && code <= 13)
		return (size_t)sprintf(to, "\\%c", letters[code - 7]);
	if (code < 0xa0)
		return (size_t)sprintf(to, "\\x%02x", (unsigned)code);
	if (code <= 0xffff)
		return (size_t)sprintf(to, "\\u%04x", (unsigned)code);
	return (size_t)sprintf(to, "\\u{%x}", (unsigned)code);
}

int cm_text_escape(const char *raw, char **ret_text)
{
	size_t n_bytes = strlen(raw), n, room;
	char *text, *to;
	uint32_t code;

	/* An escaped character of 3 or 4 bytes is no longer than MAX_ESCAPE times its bytes. */
	if (__builtin_mul_overflow(n_bytes, (size_t)MAX_ESCAPE, &room) ||
	    __builtin_add_overflow(room, (size_t)MAX_LONG_ESCAPE + 1, &room))
		return -ENOMEM;
	text = malloc(room);
	if (!text)
		return -ENOMEM;
	for (to = text; *raw; raw += n) {
		n = decode(raw, &code);
		if (!n) {
			to += sprintf(to, "\\x%02x", (unsigned char)*raw);
			n = 1;
		} else if (columns_of(code) < 0 || is_steering(code)) {
			to += put_escape(to, code);
		} else {
			memcpy(to, raw, n);
			to += n;
		}
	}
	*to = '\0';
	*ret_text = text;
	return 0;
}

int cm_text_repair(const char *raw, char **ret_text)
{
	size_t n_bytes = strlen(raw), n, room;
	char *text, *to;
	uint32_t code;

	if (__builtin_mul_overflow(n_bytes, strlen(REPLACEMENT), &room) ||
	    __builtin_add_overflow(room, (size_t)1, &room))
		return -ENOMEM;
	text = malloc(room);
	if (!text)
		return -ENOMEM;
	for (to = text; *raw; raw += n) {
		n = decode(raw, &code);
		if (n) {
			memcpy(to, raw, n);
			to += n;
		} else {
			to = stpcpy(to, REPLACEMENT);
			n = 1;
		}
	}
	*to = '\0';
	*ret_text = text;
	return 0;
}

/* The next character and the marks that combine with it: its bytes, and its columns. */
static size_t next_cluster(const char *text, size_t *ret_columns)
{
	uint32_t code;
	size_t n, m;
	int columns;

	n = decode(text, &code);
	columns = n ? columns_of(code) : 1;
	*ret_columns = columns > 0 ? (size_t)columns : 0;
	n += !n;
	while (text[n]) {
		m = decode(text + n, &code);
		if (!m || columns_of(code) != 0)
			break;
		n += m;
	}
	return n;
}

size_t cm_text_columns(const char *text)
{
	size_t sum = 0, columns;

	while (*text) {
		text += next_cluster(text, &columns);
		sum += columns;
	}
	return sum;
}

/* Bytes of text that fit into n_columns. */
static size_t fitting_bytes(const char *text, size_t n_columns, size_t *ret_used)
{
	size_t off = 0, used = 0, n, columns;

	while (text[off]) {
		n = next_cluster(text + off, &columns);
		if (used + columns > n_columns)
			break;
		used += columns;
		off += n;
	}
	*ret_used = used;
	return off;
}

int cm_text_cut(const char *text, size_t columns, char **ret_text)
{
	size_t n_columns = cm_text_columns(text), n_head, used, n, width;
	const char *tail;
	char *cut;

	if (n_columns <= columns || !columns) {
		cut = strdup(columns ? text : "");
		if (!cut)
			return -ENOMEM;
		*ret_text = cut;
		return 0;
	}
	n_head = fitting_bytes(text, columns / 2, &used);
	tail = text + n_head;
	n_columns -= used;
	while (n_columns > columns - 1 - columns / 2) {
		n = next_cluster(tail, &width);
		tail += n;
		n_columns -= width;
	}
	if (asprintf(&cut, "%.*s" ELLIPSIS "%s", (int)n_head, text, tail) < 0)
		return -ENOMEM;
	*ret_text = cut;
	return 0;
}

/* Bytes up to the next space or the end. */
static size_t word_bytes(const char *text, size_t *ret_columns)
{
	size_t off = 0, sum = 0, columns;

	while (text[off] && text[off] != ' ') {
		off += next_cluster(text + off, &columns);
		sum += columns;
	}
	*ret_columns = sum;
	return off;
}

void cm_text_wrap(FILE *out, const char *text, size_t column, size_t hanging, size_t width)
{
	size_t n, columns;
	bool starts_line = true;

	/* Room for one wide character a line, else no progress would be made. */
	if (width < hanging + 2)
		width = hanging + 2;
	while (*(text += strspn(text, " "))) {
		n = word_bytes(text, &columns);
		if (column + !starts_line + columns > width) {
			if (!starts_line || column > hanging) {
				fprintf(out, "\n%*s", (int)hanging, "");
				column = hanging;
				starts_line = true;
			}
			if (column + columns > width)
				n = fitting_bytes(text, width - column, &columns);
		}
		fprintf(out, "%s%.*s", starts_line ? "" : " ", (int)n, text);
		column += !starts_line + columns;
		starts_line = text[n] != ' ' && text[n];
		text += n;
	}
	fputc('\n', out);
}
