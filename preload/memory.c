/* SPDX-License-Identifier: BSD-3-Clause */
/* The arena, and the memory functions that the compiler calls: general registers only. */
#include "preload/memory.h"

#include <errno.h>
#include <stdint.h>

#include "preload/syscall.h"

#define CM_ARENA_PIECE (256u << 10)

static char *arena_next;
static size_t arena_left;

/*
 * Compilers call these by name; libc's use vector registers, which belong to the intercepted call.
 * Hidden: they bind inside this object and are never exported.
 */
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *mempcpy(void *restrict to, const void *restrict from, size_t n);
size_t strlen(const char *string);
size_t strnlen(const char *string, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *string, int byte);
char *strrchr(const char *string, int byte);

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	void *ret = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return ret;
}

void *memmove(void *to, const void *from, size_t n)
{
	const char *source = from;
	char *target = to;

	if (target <= source || target >= source + n)
		return memcpy(to, from, n);
	while (n--)
		target[n] = source[n];
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	void *ret = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
	return ret;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *left = a, *right = b;

	for (size_t i = 0; i < n; i++)
		if (left[i] != right[i])
			return left[i] - right[i];
	return 0;
}

void *mempcpy(void *restrict to, const void *restrict from, size_t n)
{
	return (char *)memcpy(to, from, n) + n;
}

size_t strlen(const char *string)
{
	const char *end = string;

	while (*end)
		end++;
	return (size_t)(end - string);
}

size_t strnlen(const char *string, size_t max)
{
	size_t n = 0;

	while (n < max && string[n])
		n++;
	return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; a++, b++, n--)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *string, int byte)
{
	for (; *string != (char)byte; string++)
		if (!*string)
			return NULL;
	return (char *)string;
}

char *strrchr(const char *string, int byte)
{
	const char *found = NULL;

	do
		if (*string == (char)byte)
			found = string;
	while (*string++);
	return (char *)found;
}

void *cm_memory_get(void *ctx, size_t n_bytes)
{
	size_t rounded = (n_bytes + 15) & ~(size_t)15;
	void *ret;

	(void)ctx;
	if (rounded < n_bytes)
		return NULL;
	if (rounded >= CM_ARENA_PIECE / 4)
		return cm_sys_memory(rounded);
	if (rounded > arena_left) {
		char *piece = cm_sys_memory(CM_ARENA_PIECE);

		if (!piece)
			return NULL;
		arena_next = piece;
		arena_left = CM_ARENA_PIECE;
	}
	ret = arena_next;
	arena_next += rounded;
	arena_left -= rounded;
	return ret;
}

char *cm_memory_string(const char *string)
{
	size_t n = strlen(string) + 1;
	char *copy = cm_memory_get(NULL, n);

	return copy ? memcpy(copy, string, n) : NULL;
}

int cm_memory_read_file(const char *path, size_t max_bytes, char **ret_text, size_t *ret_bytes)
{
	size_t n = 0, room = 16384;
	char *text = NULL, *larger;
	long got;
	int rc = 0, fd = cm_sys_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);

	if (fd < 0)
		return fd;
	for (;;) {
		if (!text || n + 1 >= room) {
			larger = cm_memory_get(NULL, room *= 2);
			if (!larger) {
				rc = -ENOMEM;
				break;
			}
			memcpy(larger, text ? text : "", n);
			text = larger;
		}
		got = cm_sys3(SYS_read, fd, (long)(text + n), (long)(room - n - 1));
		if (got <= 0) {
			rc = (int)got;
			break;
		}
		n += (size_t)got;
		if (n > max_bytes) {
			rc = -EFBIG;
			break;
		}
	}
	cm_sys_close(fd);
	if (rc)
		return rc;
	text[n] = '\0';
	*ret_text = text;
	*ret_bytes = n;
	return 0;
}
