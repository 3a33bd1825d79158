/* SPDX-License-Identifier: BSD-3-Clause */
/* The message formatter: compared with the C library's wherever both can do it. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "preload/diag.h"

__attribute__((format(printf, 3, 4))) static unsigned long format(char *buf, unsigned long n_bytes,
								  const char *text, ...)
{
	unsigned long n;
	va_list args;

	va_start(args, text);
	n = cm_diag_format(buf, n_bytes, text, args);
	va_end(args);
	return n;
}

#define ASSERT_AS_LIBC(...)                                                \
	do {                                                               \
		char ours[256];                                            \
		char libc[256];                                            \
		unsigned long n = format(ours, sizeof(ours), __VA_ARGS__); \
                                                                           \
		(void)snprintf(libc, sizeof(libc), __VA_ARGS__);           \
		cr_assert_str_eq(ours, libc);                              \
		cr_assert_eq(n, strlen(libc));                             \
	} while (0)

Test(diag, conversions_are_those_of_printf)
{
	ASSERT_AS_LIBC("plain");
	ASSERT_AS_LIBC("%s|%s", "", "text");
	ASSERT_AS_LIBC("%d %d %d %d", 0, -1, INT_MAX, INT_MIN);
	ASSERT_AS_LIBC("%u %u", 0u, UINT_MAX);
	ASSERT_AS_LIBC("%ld %ld", LONG_MAX, LONG_MIN);
	ASSERT_AS_LIBC("%lu %zu", ULONG_MAX, (size_t)123);
	ASSERT_AS_LIBC("%x %x %lx", 0u, 0xdeadbeefu, ULONG_MAX);
	ASSERT_AS_LIBC("%c%c 100%%", 'a', 'z');
}

Test(diag, many_arguments_of_both_sizes_stay_in_step)
{
	ASSERT_AS_LIBC("%d %ld %s %u %lu %c %zu %x %d %s", -1, -2L, "three", 4u, 5ul, '6',
		       (size_t)7, 8u, 9, "ten");
}

Test(diag, a_null_string_is_shown)
{
	const char *volatile none = NULL;
	char buf[16];

	(void)format(buf, sizeof(buf), "<%s>", none);
	cr_assert_str_eq(buf, "<(null)>");
}

Test(diag, output_is_cut_at_the_buffer)
{
	char buf[8];

	memset(buf, '#', sizeof(buf));
	cr_assert_eq(format(buf, 5, "%s%d", "abc", 12345), 4u);
	cr_assert_str_eq(buf, "abc1");
	cr_assert_eq(buf[5], '#');
	cr_assert_eq(format(buf, 1, "x"), 0u);
	cr_assert_str_empty(buf);
	cr_assert_eq(format(NULL, 0, "x%s", "y"), 0u);
}

Test(diag, a_message_is_formatted_and_the_code_returned)
{
	struct cm_diag diag = {0};

	cr_assert_eq(cm_diag_set(&diag, -EPERM, "%s:%u: %s", "file", 3u, "bad"), -EPERM);
	cr_assert_str_eq(diag.text, "file:3: bad");
}

Test(diag, the_first_message_wins)
{
	struct cm_diag diag = {0};

	cr_assert_eq(cm_diag_set(&diag, -EINVAL, "first"), -EINVAL);
	cr_assert_eq(cm_diag_set(&diag, -EIO, "second"), -EIO);
	cr_assert_str_eq(diag.text, "first");
}

Test(diag, no_diag_is_no_problem)
{
	cr_assert_eq(cm_diag_set(NULL, -EIO, "%s", "lost"), -EIO);
}

Test(diag, a_long_message_fills_the_text_and_errno_stays)
{
	struct cm_diag diag = {0};
	char text[2 * CM_DIAG_BYTES];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	errno = 77;
	cr_assert_eq(cm_diag_set(&diag, -1, "%s", text), -1);
	cr_assert_eq(errno, 77);
	cr_assert_eq(strlen(diag.text), (size_t)CM_DIAG_BYTES - 1);
}
