/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules text and a question, against a linear search that knows nothing of hashes and prefixes.
 *
 * Input: one byte of flags, the text, and behind a byte 0xff the symbol.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/rules.h"

#define MAX_BLOCKS 64u

struct arena {
	void *blocks[MAX_BLOCKS];
	unsigned int n_blocks;
};

static void check(bool good)
{
	if (!good)
		abort();
}

static void *take(void *ctx, size_t n_bytes)
{
	struct arena *arena = ctx;

	check(arena->n_blocks < MAX_BLOCKS);
	arena->blocks[arena->n_blocks] = calloc(1, n_bytes);
	return arena->blocks[arena->n_blocks++];
}

static bool name_matches(const struct cm_rule *rule, const char *name)
{
	if (!name)
		return false;
	return rule->is_literal ? strcmp(rule->pattern, name) == 0
				: cm_rules_glob(rule->pattern, name);
}

/* The entry points of MPI's profiling interface are wanted only by who names their P. */
static bool is_hidden(const struct cm_rule *rule, const char *symbol)
{
	return (strncmp(symbol, "PMPI_", 5) == 0 || strncmp(symbol, "pmpi_", 5) == 0) &&
	       !rule->is_literal && !rule->exclude && !rule->mpi && strchr("*?[", rule->pattern[0]);
}

static bool symbol_matches(const struct cm_rule *rule, const char *symbol)
{
	char folded[CM_RULES_MPI_BYTES];

	if (rule->mpi) /* one with an escaped '*' is a literal too */
		return cm_rules_mpi_fold(symbol, folded) &&
		       (rule->is_literal ? strcmp(rule->mpi, folded) == 0
					 : cm_rules_glob(rule->mpi, folded));
	return name_matches(rule, symbol);
}

static bool matches(const struct cm_rule *rule, const struct cm_rules_query *query)
{
	if (rule->is_demangled ? !name_matches(rule, query->demangled)
			       : !symbol_matches(rule, query->symbol))
		return false;
	if (is_hidden(rule, query->symbol))
		return false;
	if (rule->library && !cm_rules_glob(rule->library, query->library))
		return false;
	if (rule->from && strcmp(rule->from, "main") == 0)
		return query->caller_is_main;
	return !rule->from || cm_rules_glob(rule->from, query->caller);
}

static int find_linear(const struct cm_rules *rules, const struct cm_rules_query *query,
		       const struct cm_rule **ret_rule)
{
	const struct cm_rule *first = NULL;
	bool excluded = false;

	for (uint32_t i = 0; i < rules->n_rules; i++) {
		if (!matches(&rules->rules[i], query))
			continue;
		if (rules->rules[i].exclude)
			excluded = true;
		else if (!first)
			first = &rules->rules[i];
	}
	if (!first)
		return 0;
	if (excluded)
		return -ECANCELED;
	if (cm_rules_forbidden(query->symbol))
		return -EPERM;
	*ret_rule = first;
	return 1;
}

/* What a rule says of itself is a rule, and the same one. */
static void check_again(const struct cm_rule *rule, const char *name,
			const struct cm_rules_alloc *alloc)
{
	struct cm_rules rules = {0};

	if (strncmp(rule->text, "\xef\xbb\xbf", 3) == 0)
		return; /* at the start of a text it means something else */
	check(cm_rules_parse(&rules, rule->text, strlen(rule->text), name, alloc, NULL) == 0);
	check(rules.n_rules == 1);
	check(strcmp(rules.rules->pattern, rule->pattern) == 0);
	check(strcmp(rules.rules->region, rule->region) == 0);
	check(rules.rules->exclude == rule->exclude && rules.rules->trace == rule->trace);
	check(rules.rules->max_events == rule->max_events);
	check(rule->stack_bytes % 8 == 0 && rule->stack_bytes <= CM_RULES_MAX_STACK_BYTES);
}

static void ask(const struct cm_rules *rules, const char *symbol)
{
	struct cm_rules_query query = {.symbol = symbol, .library = "liba.so.1", .caller = "prog"};
	const struct cm_rule *expected = NULL;
	const struct cm_rule *rule = NULL;
	char buf[24];
	int rc;

	for (unsigned int i = 0; i < 4; i++) {
		query.demangled = i & 1 ? symbol : NULL;
		query.caller_is_main = i & 2;
		rc = cm_rules_find(rules, &query, &rule);
		check(rc == find_linear(rules, &query, &expected) && rule == expected);
		if (rc == 1)
			check(rule->is_demangled || cm_rules_may_match(rules, symbol));
		if (rc != 1)
			continue;
		check(cm_rules_region(rule, symbol, NULL, "liba.so", buf, sizeof(buf)) ==
		      strlen(buf));
		check(cm_rules_stack_bytes(rule, symbol) % 8 == 0);
	}
	query.library = NULL;
	query.caller = NULL;
	(void)cm_rules_find(rules, &query, &rule); /* only that it ends well */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct arena arena = {0};
	struct cm_rules_alloc alloc = {take, &arena};
	struct cm_rules rules = {0};
	struct cm_diag diag = {0};
	const char *text = (const char *)data + 1;
	const char *name = n_bytes && data[0] & 1 ? "rules.txt" : NULL;
	const char *end = n_bytes ? memchr(text, 0xff, n_bytes - 1) : NULL;
	size_t n_text = end ? (size_t)(end - text) : n_bytes - !!n_bytes;
	char *symbol = strndup(end ? end + 1 : "symbol", end ? n_bytes - n_text - 2 : 6);
	int rc = n_bytes ? cm_rules_parse(&rules, text, n_text, name, &alloc, &diag) : 0;

	check(rc == 0 || rc == -EINVAL);
	check((rc == 0) == (diag.text[0] == '\0') && !strchr(diag.text, '\n'));
	ask(&rules, symbol);
	for (uint32_t i = 0; i < rules.n_rules && i < 8; i++)
		check_again(&rules.rules[i], name, &alloc);
	free(symbol);
	while (arena.n_blocks)
		free(arena.blocks[--arena.n_blocks]);
	return 0;
}
