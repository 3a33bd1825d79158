/* SPDX-License-Identifier: BSD-3-Clause */
/* The KEY=VALUE part of a rule (preload/rules.h). */
#include <errno.h>
#include <string.h>

#include "preload/rules-parse.h"

struct key_name {
	char name[12];
};

static const struct key_name key_names[CM_RULES_N_KEYS] = {
#define X(id, name) {name},
	CM_RULES_KEYS(X)
#undef X
};

#define X(id, name) " " name
static const char known_keys[] = CM_RULES_KEYS(X);
#undef X

static bool is_word(struct cm_rules_slice slice, const char *word)
{
	size_t n = (size_t)(slice.end - slice.begin);

	return n == strlen(word) && memcmp(slice.begin, word, n) == 0;
}

static int fail_value(const struct cm_rules_parser *parser, struct cm_rules_slice value,
		      enum cm_rules_key key, const char *expected)
{
	char shown[CM_RULES_SHOWN_BYTES];

	return cm_rules_fail(parser, value.begin, "bad value \"%s\" of %s, expected %s",
			     cm_rules_show(value, shown), key_names[key].name, expected);
}

/* A region template: its placeholders must be known. */
static int check_region(const struct cm_rules_parser *parser, struct cm_rules_slice value)
{
	bool escaped;
	const char *p;

	for (struct cm_rules_slice rest = value; (p = cm_rules_next_byte(&rest, &escaped));) {
		struct cm_rules_slice part = {p, p};
		char shown[CM_RULES_SHOWN_BYTES];

		if (*p == '\\' && !escaped)
			return cm_rules_fail(parser, p,
					     "\"\\\" at the end of region, expected a character "
					     "after it");
		if (*p != '{' || escaped)
			continue;
		while (part.end < value.end && *part.end != '}')
			part.end++;
		if (part.end == value.end)
			return cm_rules_fail(parser, p,
					     "\"{\" without end in region, expected a \"}\" (or "
					     "\"\\{\" for the brace itself)");
		part.end++;
		if (!is_word(part, "{symbol}") && !is_word(part, "{demangled}") &&
		    !is_word(part, "{lib}"))
			return cm_rules_fail(parser, p,
					     "unknown placeholder \"%s\" in region, expected "
					     "{symbol}, {demangled} or {lib}",
					     cm_rules_show(part, shown));
		rest.begin = part.end;
	}
	return 0;
}

/* A decimal number from low to high. */
static int parse_number(const struct cm_rules_parser *parser, struct cm_rules_slice value,
			enum cm_rules_key key, uint64_t low, uint64_t high, uint64_t *ret)
{
	bool good = value.begin < value.end;
	uint64_t number = 0;
	char shown[CM_RULES_SHOWN_BYTES];

	for (const char *p = value.begin; good && p < value.end; p++)
		good = *p >= '0' && *p <= '9' && !__builtin_mul_overflow(number, 10, &number) &&
		       !__builtin_add_overflow(number, (uint64_t)(*p - '0'), &number);
	if (!good || number < low || number > high)
		return cm_rules_fail(parser, value.begin,
				     "bad value \"%s\" of %s, expected a number from %lu to %lu%s",
				     cm_rules_show(value, shown), key_names[key].name,
				     (unsigned long)low, (unsigned long)high,
				     key == CM_RULES_KEY_MAX_EVENTS ? ", or unlimited" : "");
	*ret = number;
	return 0;
}

/* One of two words; yes is true. */
static int parse_switch(const struct cm_rules_parser *parser, struct cm_rules_slice value,
			enum cm_rules_key key, bool *ret)
{
	bool is_internal = key == CM_RULES_KEY_INTERNAL;
	bool is_true = is_word(value, is_internal ? "yes" : "on");

	if (!is_true && !is_word(value, is_internal ? "no" : "off"))
		return fail_value(parser, value, key, is_internal ? "yes or no" : "on or off");
	*ret = is_true;
	return 0;
}

static int set_string(struct cm_rules_parser *parser, struct cm_rules_slice value,
		      enum cm_rules_key key, struct cm_rule *rule)
{
	bool is_region = key == CM_RULES_KEY_REGION;
	const char **field = is_region ? &rule->region : &rule->from;
	const char *p = value.begin;
	int rc;

	while (p < value.end && *p == '"')
		p++;
	if (p == value.end)
		return fail_value(parser, value, key,
				  is_region ? "the name of a region"
					    : "a glob on the name of the calling object, or main");
	rc = is_region ? check_region(parser, value) : cm_rules_check_glob(parser, value);
	if (rc == 0)
		*field = cm_rules_store(parser, value);
	return rc;
}

static int set_number(struct cm_rules_parser *parser, struct cm_rules_slice value,
		      enum cm_rules_key key, struct cm_rule *rule)
{
	uint64_t number = 0;
	int rc;

	switch (key) {
	case CM_RULES_KEY_SAMPLE:
		return parse_number(parser, value, key, 1, UINT64_MAX, &rule->sample);
	case CM_RULES_KEY_MAX_EVENTS:
		if (is_word(value, "unlimited")) {
			rule->max_events = UINT64_MAX;
			return 0;
		}
		return parse_number(parser, value, key, 0, UINT64_MAX, &rule->max_events);
	case CM_RULES_KEY_CALLERS:
		rc = parse_number(parser, value, key, 0, CM_RULES_MAX_CALLERS, &number);
		rule->callers = (uint32_t)number;
		return rc;
	default:
		rc = parse_number(parser, value, key, 0, CM_RULES_MAX_STACK_BYTES, &number);
		rule->stack_bytes = (uint32_t)((number + 7) & ~UINT64_C(7));
		rule->has_stack_bytes = true;
		return rc;
	}
}

static int set_value(struct cm_rules_parser *parser, struct cm_rule *rule, enum cm_rules_key key,
		     struct cm_rules_slice value)
{
	switch (key) {
	case CM_RULES_KEY_REGION:
	case CM_RULES_KEY_FROM:
		return set_string(parser, value, key, rule);
	case CM_RULES_KEY_INTERNAL:
		return parse_switch(parser, value, key, &rule->internal);
	case CM_RULES_KEY_MARKERS:
		return parse_switch(parser, value, key, &rule->markers);
	case CM_RULES_KEY_TRACE:
		return parse_switch(parser, value, key, &rule->trace);
	case CM_RULES_KEY_FORCE:
		if (!is_word(value, "trap"))
			return fail_value(parser, value, key, "trap");
		rule->force_trap = true;
		return 0;
	default:
		return set_number(parser, value, key, rule);
	}
}

int cm_rules_set_key(struct cm_rules_parser *parser, struct cm_rule *rule,
		     struct cm_rules_slice token, uint32_t *seen)
{
	struct cm_rules_slice name = token;
	char shown[CM_RULES_SHOWN_BYTES];
	unsigned int key = 0;

	name.end = memchr(token.begin, '=', (size_t)(token.end - token.begin));
	if (!name.end)
		return cm_rules_fail(parser, token.begin,
				     "found \"%s\", expected KEY=VALUE (a pattern with blanks "
				     "stands in quotes)",
				     cm_rules_show(token, shown));
	while (key < CM_RULES_N_KEYS && !is_word(name, key_names[key].name))
		key++;
	if (key == CM_RULES_N_KEYS)
		return cm_rules_fail(parser, name.begin, "unknown key \"%s\", expected one of:%s",
				     cm_rules_show(name, shown), known_keys);
	if (*seen & 1u << key)
		return cm_rules_fail(parser, name.begin,
				     "duplicate key \"%s\", expected each key once a rule",
				     key_names[key].name);
	*seen |= 1u << key;
	if (rule->exclude && key != CM_RULES_KEY_FROM)
		return cm_rules_fail(parser, name.begin,
				     "key \"%s\" on an exclusion, expected from or nothing",
				     key_names[key].name);
	token.begin = name.end + 1;
	return set_value(parser, rule, (enum cm_rules_key)key, token);
}

int cm_rules_check_keys(const struct cm_rules_parser *parser, const struct cm_rule *rule,
			const char *at)
{
	if (rule->internal && rule->from)
		return cm_rules_fail(parser, at,
				     "from with internal=yes, expected one of them: a function's "
				     "entry is the same for all callers");
	if (rule->force_trap && !rule->internal)
		return cm_rules_fail(parser, at, "force=trap, expected internal=yes with it");
	return 0;
}
