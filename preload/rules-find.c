/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a symbol to its rule (preload/rules.h).
 *
 * Literal names are found by hash; the others are tried one after the other, behind a comparison
 * of their first eight bytes, which turns nearly all of them away.
 */
#include <errno.h>
#include <string.h>

#include "preload/rules-parse.h"

#define NONE UINT32_MAX

/* FNV-1a */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash ^ hash >> 16;
}

/* The first 8 bytes of a name, zeros behind its end, lowest first as in struct cm_rules_glob. */
static uint64_t name_key(const char *name)
{
	uint64_t key = 0;

	for (unsigned int i = 0; i < 8 && name[i]; i++)
		key |= (uint64_t)(unsigned char)name[i] << 8 * i;
	return key;
}

static struct cm_rules_glob make_glob(const struct cm_rule *rule)
{
	struct cm_rules_glob glob = {.rule = rule->index};
	const char *p = rule->pattern;

	for (unsigned int i = 0; i < 8 && *p && !strchr("*?[", *p); i++, p++) {
		if (*p == '\\' && p[1])
			p++;
		glob.prefix |= (uint64_t)(unsigned char)*p << 8 * i;
		glob.mask |= UINT64_C(0xff) << 8 * i;
	}
	return glob;
}

/* Four buckets a rule or more: a name that no rule has meets an empty one three times in four. */
static uint32_t count_buckets(uint32_t n_literals)
{
	uint32_t n = 4;

	while (n < UINT32_C(1) << 31 && n / 4 < n_literals)
		n *= 2;
	return n;
}

/* Later rules first, so that each chain is in the order of the rules. */
static void fill_index(const struct cm_rules *rules, uint32_t *buckets, uint32_t n_buckets,
		       struct cm_rules_link *links, struct cm_rules_glob *globs, uint32_t n_globs)
{
	memset(buckets, 0xff, n_buckets * sizeof(*buckets));
	for (uint32_t i = rules->n_rules; i-- > 0;) {
		const struct cm_rule *rule = &rules->rules[i];
		uint32_t *bucket;

		if (!rule->is_literal) {
			globs[--n_globs] = make_glob(rule);
			continue;
		}
		links[i].hash = hash_name(rule->pattern);
		bucket = &buckets[links[i].hash & (n_buckets - 1)];
		links[i].next = *bucket;
		*bucket = i;
	}
}

int cm_rules_index(struct cm_rules *rules, const struct cm_rules_alloc *alloc)
{
	struct cm_rules_link *links;
	struct cm_rules_glob *globs;
	uint32_t *buckets;
	uint32_t n_globs = 0;
	uint32_t n_buckets;
	size_t n_bytes;

	for (uint32_t i = 0; i < rules->n_rules; i++)
		n_globs += !rules->rules[i].is_literal;
	n_buckets = count_buckets(rules->n_rules - n_globs);
	/* The largest of the three sizes; at least one element, so that NULL means failure. */
	if (__builtin_mul_overflow((size_t)rules->n_rules + 1, sizeof(*globs), &n_bytes))
		return -ENOMEM;
	links = alloc->alloc(alloc->ctx, (rules->n_rules + (size_t)1) * sizeof(*links));
	globs = alloc->alloc(alloc->ctx, (n_globs + (size_t)1) * sizeof(*globs));
	buckets = alloc->alloc(alloc->ctx, n_buckets * sizeof(*buckets));
	if (!links || !globs || !buckets)
		return -ENOMEM;
	fill_index(rules, buckets, n_buckets, links, globs, n_globs);
	rules->buckets = buckets;
	rules->n_buckets = n_buckets;
	rules->links = links;
	rules->globs = globs;
	rules->n_globs = n_globs;
	return 0;
}

/*
 * Does c belong to the set after a '['? *pattern moves behind its ']'. A set without an end, which
 * the parser refuses, is a plain '[': returns -1.
 */
static int match_set(const char **pattern, unsigned char c)
{
	const char *p = *pattern;
	bool negated = *p == '!' || *p == '^';
	bool found = false;

	p += negated;
	for (bool first = true; *p && (first || *p != ']'); first = false, p++) {
		unsigned char low;
		unsigned char high;

		if (*p == '\\' && p[1])
			p++;
		low = high = (unsigned char)*p;
		if (p[1] == '-' && p[2] && p[2] != ']') {
			p += 2;
			if (*p == '\\' && p[1])
				p++;
			high = (unsigned char)*p;
		}
		found |= c >= low && c <= high;
	}
	if (!*p)
		return -1;
	*pattern = p + 1;
	return found != negated;
}

/* Does one step of the pattern that is no '*' match c? *pattern moves behind it if so. */
static bool match_one(const char **pattern, unsigned char c)
{
	const char *p = *pattern;
	int in_set;

	switch (*p) {
	case '\0':
		return false;
	case '?':
		break;
	case '[':
		*pattern = p + 1;
		in_set = match_set(pattern, c);
		if (in_set >= 0)
			return in_set;
		if (c != '[')
			return false;
		break;
	case '\\':
		p += p[1] != '\0';
		/* fallthrough */
	default:
		if (c != (unsigned char)*p)
			return false;
	}
	*pattern = p + 1;
	return true;
}

/*
 * Only the last '*' is ever tried again, one byte further on: what stood before it has matched as
 * early as it can, so no other choice there could help.
 */
bool cm_rules_glob(const char *pattern, const char *string)
{
	const char *star = NULL;
	const char *retry = NULL;

	while (*string) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = string;
		} else if (match_one(&pattern, (unsigned char)*string)) {
			string++;
		} else if (star) {
			pattern = star;
			string = ++retry;
		} else {
			return false;
		}
		if (star && !*star)
			return true;
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* The rule's name matches; do the objects? What is not known matches, but excludes nothing. */
static bool objects_match(const struct cm_rule *rule, const struct cm_rules_query *query)
{
	if (rule->library) {
		if (!query->library ? rule->exclude : !cm_rules_glob(rule->library, query->library))
			return false;
	}
	if (!rule->from)
		return true;
	if (strcmp(rule->from, "main") == 0)
		return query->caller_is_main;
	return query->caller ? cm_rules_glob(rule->from, query->caller) : !rule->exclude;
}

/* What a search has found so far. */
struct answer {
	uint32_t rule; /* the first one that matches, NONE */
	bool excluded;
};

static void add_match(const struct cm_rules *rules, uint32_t index,
		      const struct cm_rules_query *query, struct answer *answer)
{
	const struct cm_rule *rule = &rules->rules[index];

	if (rule->exclude ? answer->excluded : index > answer->rule)
		return;
	if (!objects_match(rule, query))
		return;
	if (rule->exclude)
		answer->excluded = true;
	else
		answer->rule = index;
}

static void find_literals(const struct cm_rules *rules, const char *name, bool is_demangled,
			  const struct cm_rules_query *query, struct answer *answer)
{
	uint32_t hash = hash_name(name);

	for (uint32_t i = rules->buckets[hash & (rules->n_buckets - 1)]; i != NONE;
	     i = rules->links[i].next)
		if (rules->links[i].hash == hash && rules->rules[i].is_demangled == is_demangled &&
		    strcmp(rules->rules[i].pattern, name) == 0)
			add_match(rules, i, query, answer);
}

static void find_globs(const struct cm_rules *rules, const struct cm_rules_query *query,
		       struct answer *answer)
{
	const char *names[2] = {query->symbol, query->demangled};
	uint64_t keys[2] = {name_key(query->symbol),
			    query->demangled ? name_key(query->demangled) : 0};

	for (uint32_t i = 0; i < rules->n_globs; i++) {
		const struct cm_rules_glob *glob = &rules->globs[i];
		const struct cm_rule *rule;
		const char *name;

		if ((keys[0] & glob->mask) != glob->prefix &&
		    (keys[1] & glob->mask) != glob->prefix)
			continue;
		rule = &rules->rules[glob->rule];
		name = names[rule->is_demangled];
		if (name && cm_rules_glob(rule->pattern, name))
			add_match(rules, glob->rule, query, answer);
	}
}

int cm_rules_find(const struct cm_rules *rules, const struct cm_rules_query *query,
		  const struct cm_rule **ret_rule)
{
	struct answer answer = {.rule = NONE};

	if (!rules->n_rules)
		return 0;
	find_literals(rules, query->symbol, false, query, &answer);
	if (rules->has_demangled && query->demangled)
		find_literals(rules, query->demangled, true, query, &answer);
	find_globs(rules, query, &answer);
	if (answer.rule == NONE)
		return 0;
	if (answer.excluded)
		return -ECANCELED;
	if (cm_rules_forbidden(query->symbol))
		return -EPERM;
	*ret_rule = &rules->rules[answer.rule];
	return 1;
}

/* Can it have a demangled name: C++, Rust or D? */
static bool is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R' || symbol[1] == 'D');
}

bool cm_rules_may_match(const struct cm_rules *rules, const char *symbol)
{
	uint32_t hash = hash_name(symbol);
	uint64_t key = name_key(symbol);

	if (!rules->n_rules)
		return false;
	if (rules->wants_demangled && is_mangled(symbol))
		return true;
	for (uint32_t i = rules->buckets[hash & (rules->n_buckets - 1)]; i != NONE;
	     i = rules->links[i].next)
		if (rules->links[i].hash == hash && !rules->rules[i].exclude &&
		    !rules->rules[i].is_demangled && strcmp(rules->rules[i].pattern, symbol) == 0)
			return true;
	for (uint32_t i = 0; i < rules->n_globs; i++) {
		const struct cm_rules_glob *glob = &rules->globs[i];
		const struct cm_rule *rule = &rules->rules[glob->rule];

		if ((key & glob->mask) == glob->prefix && !rule->exclude && !rule->is_demangled &&
		    cm_rules_glob(rule->pattern, symbol))
			return true;
	}
	return false;
}
