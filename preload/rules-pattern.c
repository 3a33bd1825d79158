/* SPDX-License-Identifier: BSD-3-Clause */
/* The [LIB:]PATTERN part of a rule, and the check of globs (preload/rules.h). */
#include <errno.h>
#include <string.h>

#include "preload/rules-parse.h"

const char *cm_rules_next_byte(struct cm_rules_slice *rest, bool *ret_escaped)
{
	const char *p = rest->begin;

	while (p < rest->end && *p == '"')
		p++;
	*ret_escaped = p + 1 < rest->end && *p == '\\';
	p += *ret_escaped;
	rest->begin = p < rest->end ? p + 1 : p;
	return p < rest->end ? p : NULL;
}

/* The bytes after a '[', up to and with its ']'. */
static int check_set(const struct cm_rules_parser *parser, struct cm_rules_slice *rest,
		     const char *open)
{
	bool escaped;
	const char *p = cm_rules_next_byte(rest, &escaped);

	if (p && !escaped && (*p == '!' || *p == '^'))
		p = cm_rules_next_byte(rest, &escaped);
	for (bool first = true; p; first = false) {
		struct cm_rules_slice after;
		const char *low = p;

		if (*p == ']' && !escaped && !first)
			return 0;
		p = cm_rules_next_byte(rest, &escaped);
		if (!p || escaped || *p != '-')
			continue;
		after = *rest;
		p = cm_rules_next_byte(&after, &escaped);
		if (p && *p == ']' && !escaped) {
			p = cm_rules_next_byte(rest, &escaped); /* "[a-]": the '-' is itself */
			continue;
		}
		if (p && (unsigned char)*p < (unsigned char)*low)
			return cm_rules_fail(parser, low, "bad glob: range \"%c-%c\" out of order",
					     *low, *p);
		*rest = after;
		if (p)
			p = cm_rules_next_byte(rest, &escaped);
	}
	return cm_rules_fail(parser, open, "bad glob: \"[\" without end, expected a \"]\"");
}

int cm_rules_check_glob(const struct cm_rules_parser *parser, struct cm_rules_slice slice)
{
	bool escaped;
	const char *p;
	int rc = 0;

	while (rc == 0 && (p = cm_rules_next_byte(&slice, &escaped))) {
		if (*p == '[' && !escaped)
			rc = check_set(parser, &slice, p);
		else if (*p == '\\' && !escaped)
			rc = cm_rules_fail(parser, p,
					   "bad glob: \"\\\" at the end, expected a character "
					   "after it");
	}
	return rc;
}

/* The ':' that ends a library prefix: the first that is not part of a "::"; NULL where none. */
static const char *find_separator(struct cm_rules_slice token)
{
	for (const char *p = token.begin; p < token.end; p++) {
		const char *run = p;

		if (*p == '\\' && p + 1 < token.end) {
			p++;
			continue;
		}
		while (p < token.end && *p == ':')
			p++;
		if ((p - run) % 2)
			return run; /* "lib:::f" is "lib" and "::f" */
		if (p > run)
			p--;
	}
	return NULL;
}

static bool is_demangled(const char *pattern)
{
	return strstr(pattern, "::") || strchr(pattern, '(') || strchr(pattern, ' ');
}

/* Without wildcards: take the backslashes away, in place, and say true. */
static bool make_literal(char *pattern)
{
	char *out = pattern;

	for (const char *p = pattern; *p; p++) {
		if (*p == '*' || *p == '?' || *p == '[')
			return false;
		if (*p == '\\')
			p++;
	}
	for (const char *p = pattern; *p; p++) {
		if (*p == '\\')
			p++;
		*out++ = *p;
	}
	*out = '\0';
	return true;
}

static bool is_empty(struct cm_rules_slice slice)
{
	for (const char *p = slice.begin; p < slice.end; p++)
		if (*p != '"')
			return false;
	return true;
}

const char *cm_rules_fold_pattern(struct cm_rules_parser *parser, const char *pattern)
{
	char *folded = parser->strings;
	size_t n = strlen(pattern) + 1;

	for (size_t i = 0; i < n; i++) {
		bool is_upper = i >= 4 && pattern[i] >= 'A' && pattern[i] <= 'Z';

		folded[i] = (char)(is_upper ? pattern[i] - 'A' + 'a' : pattern[i]);
	}
	parser->strings += n;
	return folded;
}

int cm_rules_set_pattern(struct cm_rules_parser *parser, struct cm_rule *rule,
			 struct cm_rules_slice token)
{
	const char *separator = find_separator(token);
	struct cm_rules_slice library = {token.begin, separator};
	struct cm_rules_slice pattern = {separator ? separator + 1 : token.begin, token.end};
	const char *reason;
	char *string;
	int rc;

	if (separator && is_empty(library))
		return cm_rules_fail(parser, separator,
				     "found \":\", expected the name of an object before it");
	if (is_empty(pattern))
		return cm_rules_fail(parser, pattern.begin,
				     "missing pattern, expected the name of a function or a glob");
	rc = separator ? cm_rules_check_glob(parser, library) : 0;
	if (rc == 0)
		rc = cm_rules_check_glob(parser, pattern);
	if (rc < 0)
		return rc;
	if (separator)
		rule->library = cm_rules_store(parser, library);
	string = parser->strings;
	rule->pattern = cm_rules_store(parser, pattern);
	rule->is_demangled = is_demangled(string);
	rule->is_literal = make_literal(string);
	if (!rule->is_demangled && strncmp(string, "MPI_", 4) == 0)
		rule->mpi = cm_rules_fold_pattern(parser, string);
	if (!rule->is_literal || rule->is_demangled || rule->exclude)
		return 0;
	reason = cm_rules_forbidden(rule->pattern);
	if (reason)
		return cm_rules_fail(parser, pattern.begin,
				     "\"%s\" cannot be intercepted: %s (take the rule out)",
				     rule->pattern, reason);
	return 0;
}
