/* SPDX-License-Identifier: BSD-3-Clause */
/* The message formatter of preload/diag.h: the few conversions that our lines need. */
#include "preload/diag.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct output {
	char *buf;
	unsigned long n_bytes;
	unsigned long length;
};

static void put_char(struct output *out, char c)
{
	if (out->length + 1 < out->n_bytes)
		out->buf[out->length++] = c;
}

static void put_string(struct output *out, const char *s)
{
	if (!s)
		s = "(null)";
	while (*s)
		put_char(out, *s++);
}

static void put_number(struct output *out, unsigned long value, unsigned int radix)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % radix];
		value /= radix;
	} while (value);
	while (n)
		put_char(out, digits[--n]);
}

static void put_signed(struct output *out, long value)
{
	unsigned long magnitude = (unsigned long)value;

	if (value < 0) {
		put_char(out, '-');
		magnitude = 0 - magnitude;
	}
	put_number(out, magnitude, 10);
}

/* One conversion; `is_long` where an 'l' or 'z' came before it. The arguments travel by address. */
static void put_conversion(struct output *out, char conversion, bool is_long, va_list *args)
{
	switch (conversion) {
	case 's':
		put_string(out, va_arg(*args, const char *));
		return;
	case 'c':
		put_char(out, (char)va_arg(*args, int));
		return;
	case 'd':
		put_signed(out, is_long ? va_arg(*args, long) : va_arg(*args, int));
		return;
	case 'u':
	case 'x':
		put_number(out,
			   is_long ? va_arg(*args, unsigned long) : va_arg(*args, unsigned int),
			   conversion == 'x' ? 16 : 10);
		return;
	default: /* "%%", and what we do not understand: shown as it is */
		if (conversion != '%')
			put_char(out, '%');
		put_char(out, conversion);
	}
}

unsigned long cm_diag_format(char *buf, unsigned long n_bytes, const char *format,
			     __builtin_va_list args)
{
	struct output out = {.buf = buf, .n_bytes = n_bytes};
	va_list copy;

	va_copy(copy, args);
	for (const char *p = format; *p; p++) {
		bool is_long = false;

		if (*p != '%') {
			put_char(&out, *p);
			continue;
		}
		p++;
		while (*p == 'l' || *p == 'z') {
			is_long = true;
			p++;
		}
		if (!*p)
			break;
		put_conversion(&out, *p, is_long, &copy);
	}
	va_end(copy);
	if (n_bytes)
		buf[out.length] = '\0';
	return out.length;
}

int cm_diag_set(struct cm_diag *diag, int rc, const char *format, ...)
{
	va_list args;

	if (!diag || diag->text[0])
		return rc;
	va_start(args, format);
	(void)cm_diag_format(diag->text, sizeof(diag->text), format, args); /* a cut line is fine */
	va_end(args);
	return rc;
}
