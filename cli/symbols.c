/* SPDX-License-Identifier: BSD-3-Clause */
/* callmark symbols: what can be intercepted in a binary, and what the rules make of it. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/rule-set.h"
#include "cli/say.h"
#include "cli/symbols-closure.h"
#include "cli/symbols-entries.h"
#include "cli/symbols-list.h"
#include "cli/symbols-print.h"

#define INTERNAL_RULE "* internal=yes"

enum {
	KEY_DEPS = 0x100,
	KEY_JSON,
	KEY_INTERNAL,
};

struct symbols {
	const char *config;
	char *rules; /* all -s, joined by ';' */
	const char *binary;
	bool with_deps;
	bool with_internal;
	bool as_json;
};

static const struct argp_option options[] = {
	{"config", 'c', "RULES", 0, "File of rules to try on the binary", 0},
	{"symbol", 's', "RULE", 0, "One more rule; may be repeated", 0},
	{"deps", KEY_DEPS, NULL, 0, "Also what its libraries call", 0},
	{"internal", KEY_INTERNAL, NULL, 0,
	 "List all functions inside of it, as the rule `* internal=yes' does", 0},
	{"json", KEY_JSON, NULL, 0, "Print JSON", 0},
	{0},
};

static int add_rule(struct symbols *symbols, const char *rule)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", symbols->rules ? symbols->rules : "",
		     symbols->rules ? ";" : "", rule) < 0)
		return -ENOMEM;
	free(symbols->rules);
	symbols->rules = joined;
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct symbols *symbols = state->input;

	switch (key) {
	case 'c':
		symbols->config = arg;
		break;
	case 's':
		return add_rule(symbols, arg) ? ENOMEM : 0;
	case KEY_DEPS:
		symbols->with_deps = true;
		break;
	case KEY_INTERNAL:
		symbols->with_internal = true;
		break;
	case KEY_JSON:
		symbols->as_json = true;
		break;
	case ARGP_KEY_ARG:
		if (symbols->binary)
			argp_error(state, "more than one binary: %s", arg);
		symbols->binary = arg;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no binary given");
		break;
	case ARGP_KEY_SUCCESS:
		/* After the others, so that theirs count where they match. */
		return symbols->with_internal && add_rule(symbols, INTERNAL_RULE) ? ENOMEM : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	options,
	parse_option,
	"BINARY",
	"List the functions that BINARY calls through the loader's slots: which can be "
	"intercepted, by what means, which rule matches, or why not. With rules that have "
	"internal=yes also the functions inside of it.",
	NULL,
	NULL,
	NULL};

static int list_symbols(const struct symbols *symbols, const struct cm_rule_set *set,
			struct cm_diag *diag)
{
	struct cm_closure closure;
	struct cm_symbols list;
	int rc = cm_closure_load(&closure, symbols->binary, diag);

	if (rc < 0)
		return rc;
	rc = cm_symbols_list(&list, &closure, set, symbols->with_deps, diag);
	if (rc < 0)
		goto out;
	if (set && set->rules.has_internal)
		rc = cm_symbols_add_entries(&list, symbols->config, symbols->rules, set, diag);
	if (!rc)
		rc = symbols->as_json ? cm_symbols_print_json(&list, &closure, set)
				      : cm_symbols_print_tables(&list, &closure, set);
	cm_symbols_fini(&list);
out:
	cm_closure_fini(&closure);
	return rc;
}

static int run(const struct symbols *symbols)
{
	struct cm_rule_set set = {0};
	struct cm_diag diag = {0};
	bool has_rules = symbols->config || symbols->rules;
	int rc = has_rules ? cm_rule_set_load(&set, symbols->config, symbols->rules, &diag) : 0;

	if (rc < 0) {
		cm_say("%s", diag.text);
		return CM_EXIT_USAGE;
	}
	rc = list_symbols(symbols, has_rules ? &set : NULL, &diag);
	if (rc < 0)
		cm_say("%s", diag.text[0] ? diag.text : strerror(-rc));
	cm_rule_set_fini(&set);
	return rc < 0 ? CM_EXIT_FAILED : CM_EXIT_OK;
}

int cm_cmd_symbols(int argc, char **argv)
{
	struct symbols symbols = {0};
	error_t error = argp_parse(&argp, argc, argv, 0, NULL, &symbols);
	int status = CM_EXIT_USAGE;

	if (error)
		cm_say("%s", strerror(error));
	else
		status = run(&symbols);
	free(symbols.rules);
	return status;
}
