/* SPDX-License-Identifier: BSD-3-Clause */
/* The text made from a rule: the name of its region (preload/rules.h). */
#include <string.h>

#include "preload/rules.h"

struct output {
	char *buf;
	size_t n_bytes;
	size_t length;
	bool full;
};

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The byte `next` did not fit: if it continues a character, take back what there is of that. */
static void cut(struct output *out, char next)
{
	size_t length = out->length;

	out->full = true;
	if (!is_continuation(next))
		return;
	while (length && out->length - length < 3 && is_continuation(out->buf[length - 1]))
		length--;
	if (length && ((unsigned char)out->buf[length - 1] & 0xc0) == 0xc0)
		out->length = length - 1;
}

static void put(struct output *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n && !out->full; i++) {
		if (out->length + 1 >= out->n_bytes)
			cut(out, s[i]);
		else
			out->buf[out->length++] = s[i];
	}
}

/* The value of the placeholder at p, and its length in the template; NULL where p is not one. */
static const char *find_placeholder(const char *p, const char *const values[3], size_t *ret_n)
{
	static const char names[3][12] = {"{symbol}", "{demangled}", "{lib}"};

	for (unsigned int i = 0; i < 3; i++) {
		size_t n = strlen(names[i]);

		if (strncmp(p, names[i], n) == 0) {
			*ret_n = n;
			return values[i];
		}
	}
	return NULL;
}

size_t cm_rules_region(const struct cm_rule *rule, const char *symbol, const char *demangled,
		       const char *library, char *buf, size_t n_bytes)
{
	char mpi[CM_RULES_MPI_BYTES];
	const char *name = rule->mpi ? cm_rules_mpi_name(symbol, mpi) : symbol;
	const char *const values[3] = {name, demangled ? demangled : name, library ? library : "?"};
	struct output out = {.buf = buf, .n_bytes = n_bytes};
	const char *p = rule->region;

	if (!n_bytes)
		return 0;
	while (*p && !out.full) {
		size_t n = 1;
		const char *value = *p == '{' ? find_placeholder(p, values, &n) : NULL;

		if (!value && *p == '\\' && p[1])
			p++;
		if (value)
			put(&out, value, strlen(value));
		else
			put(&out, p, 1);
		p += n;
	}
	buf[out.length] = '\0';
	return out.length;
}
