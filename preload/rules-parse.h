/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the files of the rules module: the state of a parse, and the index over its result.
 *
 * Not a contract header: only preload/rules*.c include it. Init only, one thread.
 */
#ifndef CALLMARK_PRELOAD_RULES_PARSE_H
#define CALLMARK_PRELOAD_RULES_PARSE_H

#include "preload/rules.h"

/* Every key of the grammar, in the order in which messages list them. */
#define CM_RULES_KEYS(X)            \
	X(REGION, "region")         \
	X(FROM, "from")             \
	X(INTERNAL, "internal")     \
	X(MARKERS, "markers")       \
	X(SAMPLE, "sample")         \
	X(TRACE, "trace")           \
	X(MAX_EVENTS, "max-events") \
	X(CALLERS, "callers")       \
	X(STACK_ARGS, "stack-args") \
	X(FORCE, "force")

enum cm_rules_key {
#define X(id, name) CM_RULES_KEY_##id,
	CM_RULES_KEYS(X)
#undef X
		CM_RULES_N_KEYS
};

/* A part of the text being parsed: [begin, end). */
struct cm_rules_slice {
	const char *begin;
	const char *end;
};

struct cm_rules_parser {
	const char *name; /* of the file; NULL: inline text */
	struct cm_diag *diag;
	const char *end;    /* of the whole text */
	const char *origin; /* what stands in column 1 */
	uint32_t line;	    /* current line; inline: current rule */
	uint32_t n_rules;   /* stored so far */
	char *strings;	    /* where the next string goes; never runs out, see parse_all() */
};

/* Set the diag to "<name>:<line>:<column>: <message>" for the place `at`. Returns -EINVAL. */
int cm_rules_fail(const struct cm_rules_parser *parser, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A slice as messages show it: NUL-terminated, long ones cut. Returns buf. */
#define CM_RULES_SHOWN_BYTES 64u
const char *cm_rules_show(struct cm_rules_slice slice, char buf[CM_RULES_SHOWN_BYTES]);

/* A NUL-terminated copy without the quotes (backslashes stay), valid as long as the rules. */
const char *cm_rules_store(struct cm_rules_parser *parser, struct cm_rules_slice slice);

/* The next byte of the (still quoted) slice; NULL at the end. *ret_escaped: a '\\' stood before. */
const char *cm_rules_next_byte(struct cm_rules_slice *rest, bool *ret_escaped);

/* -EINVAL and a message where the (still quoted) slice is not a good glob. */
int cm_rules_check_glob(const struct cm_rules_parser *parser, struct cm_rules_slice slice);

/* [LIB:]PATTERN, behind any '!', which rule->exclude tells. Errors: -EINVAL and a message. */
int cm_rules_set_pattern(struct cm_rules_parser *parser, struct cm_rule *rule,
			 struct cm_rules_slice token);

/*
 * One KEY=VALUE. *seen is a bit mask of the keys that this rule has had.
 * Errors: -EINVAL and a message.
 */
int cm_rules_set_key(struct cm_rules_parser *parser, struct cm_rule *rule,
		     struct cm_rules_slice token, uint32_t *seen);

/* Do the keys of the rule that begins at `at` go together? -EINVAL and a message. */
int cm_rules_check_keys(const struct cm_rules_parser *parser, const struct cm_rule *rule,
			const char *at);

/* "MPI_Send*" as it is compared with folded names, "MPI_send*", in the rules' storage. */
const char *cm_rules_fold_pattern(struct cm_rules_parser *parser, const char *pattern);

/* Build the private part of *rules from its rules. Errors: -ENOMEM. */
int cm_rules_index(struct cm_rules *rules, const struct cm_rules_alloc *alloc);

#endif
