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
	const char *p = rule->mpi ? rule->mpi : rule->pattern;

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
		links[i].hash = hash_name(rule->mpi ? rule->mpi : rule->pattern);
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

static bool library_matches(const struct cm_rule *rule, const struct cm_rules_query *query)
{
	if (query->is_entry && query->source && (rule->internal || rule->exclude) &&
	    cm_rules_glob(rule->library, query->source))
		return true;
	return query->library ? cm_rules_glob(rule->library, query->library) : !rule->exclude;
}

/* The rule's name matches; do the objects? What is not known matches, but excludes nothing. */
static bool objects_match(const struct cm_rule *rule, const struct cm_rules_query *query)
{
	if (rule->library && !library_matches(rule, query))
		return false;
	if (!rule->from)
		return true;
	if (query->is_entry)
		return false; /* whoever calls */
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

/* The names of one symbol, one for each way in which rules are compared. */
enum name_kind {
	NAME_PLAIN,
	NAME_DEMANGLED,
	NAME_MPI, /* folded */
	N_NAMES
};

struct names {
	const char *of[N_NAMES]; /* NULL: it has no such name */
	char mpi[CM_RULES_MPI_BYTES];
};

static void set_names(struct names *names, const struct cm_rules *rules, const char *symbol,
		      const char *demangled)
{
	names->of[NAME_PLAIN] = symbol;
	names->of[NAME_DEMANGLED] = rules->has_demangled ? demangled : NULL;
	names->of[NAME_MPI] =
		rules->has_mpi && cm_rules_mpi_fold(symbol, names->mpi) ? names->mpi : NULL;
}

static enum name_kind kind_of(const struct cm_rule *rule)
{
	return rule->mpi ? NAME_MPI : rule->is_demangled ? NAME_DEMANGLED : NAME_PLAIN;
}

static const char *compared(const struct cm_rule *rule)
{
	return rule->mpi ? rule->mpi : rule->pattern;
}

/* The next literal rule from i on in its chain that is this name; NONE. */
static uint32_t next_literal(const struct cm_rules *rules, uint32_t i, uint32_t hash,
			     const char *name, enum name_kind kind)
{
	while (i != NONE && (rules->links[i].hash != hash || kind_of(&rules->rules[i]) != kind ||
			     strcmp(compared(&rules->rules[i]), name) != 0))
		i = rules->links[i].next;
	return i;
}

static uint32_t first_literal(const struct cm_rules *rules, uint32_t hash)
{
	return rules->buckets[hash & (rules->n_buckets - 1)];
}

static void find_literals(const struct cm_rules *rules, const struct names *names,
			  const struct cm_rules_query *query, struct answer *answer)
{
	for (int kind = 0; kind < N_NAMES; kind++) {
		const char *name = names->of[kind];
		uint32_t hash = name ? hash_name(name) : 0;
		uint32_t i = name ? first_literal(rules, hash) : NONE;

		while ((i = next_literal(rules, i, hash, name, kind)) != NONE) {
			add_match(rules, i, query, answer);
			i = rules->links[i].next;
		}
	}
}

/* The entry points of the profiling interface are wanted only by who names them. */
static bool is_hidden(const struct cm_rules_glob *glob, const struct cm_rule *rule,
		      const char *symbol)
{
	return !(glob->mask & 0xff) && !rule->exclude &&
	       (strncmp(symbol, "PMPI_", 5) == 0 || strncmp(symbol, "pmpi_", 5) == 0);
}

static void set_keys(const struct names *names, uint64_t keys[N_NAMES])
{
	for (int kind = 0; kind < N_NAMES; kind++)
		keys[kind] = names->of[kind] ? name_key(names->of[kind]) : 0;
}

static bool glob_matches(const struct cm_rules *rules, const struct cm_rules_glob *glob,
			 const struct names *names, const uint64_t keys[N_NAMES])
{
	const struct cm_rule *rule;
	const char *name;

	if ((keys[NAME_PLAIN] & glob->mask) != glob->prefix &&
	    (keys[NAME_DEMANGLED] & glob->mask) != glob->prefix &&
	    (keys[NAME_MPI] & glob->mask) != glob->prefix)
		return false;
	rule = &rules->rules[glob->rule];
	name = names->of[kind_of(rule)];
	return name && cm_rules_glob(compared(rule), name) &&
	       !is_hidden(glob, rule, names->of[NAME_PLAIN]);
}

static void find_globs(const struct cm_rules *rules, const struct names *names,
		       const struct cm_rules_query *query, struct answer *answer)
{
	uint64_t keys[N_NAMES];

	set_keys(names, keys);
	for (uint32_t i = 0; i < rules->n_globs; i++)
		if (glob_matches(rules, &rules->globs[i], names, keys))
			add_match(rules, rules->globs[i].rule, query, answer);
}

int cm_rules_find(const struct cm_rules *rules, const struct cm_rules_query *query,
		  const struct cm_rule **ret_rule)
{
	struct answer answer = {.rule = NONE};
	struct names names;

	if (!rules->n_rules)
		return 0;
	set_names(&names, rules, query->symbol, query->demangled);
	find_literals(rules, &names, query, &answer);
	find_globs(rules, &names, query, &answer);
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

static bool may_match_literal(const struct cm_rules *rules, const struct names *names)
{
	for (int kind = 0; kind < N_NAMES; kind++) {
		const char *name = names->of[kind];
		uint32_t hash = name ? hash_name(name) : 0;
		uint32_t i = name ? first_literal(rules, hash) : NONE;

		while ((i = next_literal(rules, i, hash, name, kind)) != NONE) {
			if (!rules->rules[i].exclude)
				return true;
			i = rules->links[i].next;
		}
	}
	return false;
}

bool cm_rules_may_match(const struct cm_rules *rules, const char *symbol)
{
	uint64_t keys[N_NAMES];
	struct names names;

	if (!rules->n_rules)
		return false;
	if (rules->wants_demangled && is_mangled(symbol))
		return true;
	set_names(&names, rules, symbol, NULL);
	if (may_match_literal(rules, &names))
		return true;
	set_keys(&names, keys);
	for (uint32_t i = 0; i < rules->n_globs; i++)
		if (!rules->rules[rules->globs[i].rule].exclude &&
		    glob_matches(rules, &rules->globs[i], &names, keys))
			return true;
	return false;
}
