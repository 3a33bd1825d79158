/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules file ("symbol list"): which functions are intercepted, and how.
 *
 * A contract header: the preload parses in the target, `callmark run` and `callmark symbols` parse
 * the same text outside. No malloc, no stdio, no locale: memory comes from the caller's allocator.
 *
 *	struct cm_rules rules = {0};
 *	struct cm_diag diag = {0};
 *	rc = cm_rules_parse(&rules, text, n_bytes, "rules.txt", &alloc, &diag);
 *	cm_rules_find(&rules, &query, &rule);
 *
 * Threads: parse once, then any number of threads may find. Errors: negative errno, and one line
 * in diag that names file, line and column and says what was expected.
 */
#ifndef CALLMARK_PRELOAD_RULES_H
#define CALLMARK_PRELOAD_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/diag.h"

#define CM_RULES_MAX_BYTES (16u << 20) /* a larger file is refused: -EFBIG */
#define CM_RULES_DEFAULT_MAX_EVENTS UINT64_C(1000000)
#define CM_RULES_DEFAULT_STACK_BYTES 512u
#define CM_RULES_VARIADIC_STACK_BYTES 4096u /* default of known variadic functions */
#define CM_RULES_MAX_STACK_BYTES 65536u
#define CM_RULES_MAX_CALLERS 64u
#define CM_RULES_MPI_BYTES 128u /* of a folded name; longer ones are cut */

/* Where rule storage comes from; never freed by us. Returns zeroed, 16-aligned bytes, or NULL. */
struct cm_rules_alloc {
	void *(*alloc)(void *ctx, size_t n_bytes);
	void *ctx;
};

/* One rule. Strings are NUL-terminated copies in the rules' storage; NULL where not given. */
struct cm_rule {
	uint32_t index; /* position among all rules, exclusions included; 0 based */
	uint32_t line;	/* 1 based */
	uint32_t column;
	bool exclude;	   /* "!PATTERN" */
	bool is_literal;   /* the pattern has no glob characters */
	bool is_demangled; /* the pattern has "::", "(" or a space: match the demangled name */
	bool internal;	   /* internal=yes: the function's entry, wherever it is called from */
	bool markers;	   /* markers=on|off, default on */
	bool trace;	   /* trace=on|off, default on */
	bool force_trap;   /* force=trap: a two-byte jump or a trap where five bytes do not fit */
	bool has_stack_bytes;
	const char *text;     /* the rule as written, without comment and outer blanks */
	const char *pattern;  /* glob on the symbol's name; where is_literal the name itself */
	const char *mpi;      /* "MPI_*" alone: the pattern as it meets folded names, else NULL */
	const char *library;  /* glob on the base name of the defining object, or NULL */
	const char *from;     /* glob on the base name of the calling object, "main", or NULL */
	const char *region;   /* template with {symbol} {demangled} {lib}; default "{symbol}" */
	uint64_t sample;      /* markers on one call in N; default 1 */
	uint64_t max_events;  /* a region and process; UINT64_MAX where max-events=unlimited */
	uint32_t callers;     /* frames of call path; default 0 */
	uint32_t stack_bytes; /* see cm_rules_stack_bytes() */
};

/* Private, the index of the literal rules: one link a rule, chained through a bucket. */
struct cm_rules_link {
	uint32_t next; /* rule index, UINT32_MAX at the end */
	uint32_t hash;
};

/* Private: a rule that is no literal, and the bytes with which its matches begin. */
struct cm_rules_glob {
	uint64_t prefix; /* up to 8 bytes, the first one lowest */
	uint64_t mask;	 /* 0xff for every byte of the prefix */
	uint32_t rule;
	uint32_t reserved;
};

struct cm_rules {
	const struct cm_rule *rules;
	uint32_t n_rules;
	bool has_demangled; /* some rule needs the demangled name */
	bool has_library;   /* some rule needs the defining object */
	bool has_mpi;	    /* some rule is for MPI_* */
	bool has_internal;  /* some rule has internal=yes */
	bool has_callers;   /* some rule has callers=N, N > 0 */
	bool has_trap;	    /* some rule has force=trap */
	/* Private. */
	bool wants_demangled;	 /* has_demangled, but of rules that are no exclusions */
	const uint32_t *buckets; /* first literal rule with that hash, UINT32_MAX where none */
	uint32_t n_buckets;	 /* a power of two, or 0 */
	const struct cm_rules_link *links;
	const struct cm_rules_glob *globs; /* ascending by rule */
	uint32_t n_globs;
};

/* What is asked: borrowed strings, valid during the call. */
struct cm_rules_query {
	const char *symbol;
	const char *demangled; /* or NULL */
	const char *library;   /* base name of the defining object, or NULL: not known (yet) */
	const char *caller;    /* base name of the calling object, or NULL: not known (yet) */
	bool caller_is_main;
	/*
	 * The question is about the function's entry: a rule with from= does not match then. Act on
	 * the answer only if its rule is internal; the first rule that matches decides that too.
	 */
	bool is_entry;
	const char *source; /* with is_entry: base name of the source file, or NULL. What stands
			       before ':' in a rule with internal=yes may match it instead */
};

/*
 * Parse n_bytes of text (need not end in NUL or newline). With name == NULL it is inline text
 * (CALLMARK_SYMBOLS, -s), where ';' also ends a rule and errors say "rule N".
 * Several texts: zero *rules before the first, call again with the same storage; rules are
 * appended in order (pointers to earlier rules stay good). On failure *rules is as it was.
 * Errors: -EINVAL (syntax, forbidden symbol named literally), -EFBIG, -ENOMEM. Init only.
 */
int cm_rules_parse(struct cm_rules *rules, const char *text, size_t n_bytes, const char *name,
		   const struct cm_rules_alloc *alloc, struct cm_diag *diag);

/*
 * The first rule that matches, unless an exclusion does or the symbol is never to be intercepted.
 * Returns 1 and sets *ret_rule; 0 no rule; -ECANCELED excluded by `!`; -EPERM forbidden symbol
 * under a wildcard. Where the query's library (caller) is NULL, library prefixes (from=) are taken
 * to match, but those of an exclusion are not: ask again once it is known. Where no rule matches,
 * the answer is 0 whatever is excluded. Any thread.
 */
int cm_rules_find(const struct cm_rules *rules, const struct cm_rules_query *query,
		  const struct cm_rule **ret_rule);

/*
 * MPI. A pattern that begins with "MPI_" (not a demangled one) also matches the Fortran bindings of
 * the functions it names, however compilers and libraries spell them, and in either case of
 * letters; all have one region, named by {symbol} as in C. "PMPI_*" is matched only by patterns
 * that do not begin with a wildcard. A call counts once: the caller of cm_rules_find() leaves
 * alone what an object with such a binding calls under the same name (cm_rules_mpi_binding()).
 *
 * cm_rules_mpi_fold(): "mpi_send_", "MPI_SEND", "MPI_Send", "mpi_send_f08ts_" give "MPI_send";
 * false: no MPI function's name. cm_rules_mpi_name(): those give "MPI_Send" (in buf), everything
 * else itself. cm_rules_mpi_binding(): the i-th spelling (0, 1, ...) under which an object may
 * define the Fortran binding of a C function; false: no more. Any thread.
 */
bool cm_rules_mpi_fold(const char *symbol, char buf[CM_RULES_MPI_BYTES]);
const char *cm_rules_mpi_name(const char *symbol, char buf[CM_RULES_MPI_BYTES]);
bool cm_rules_mpi_binding(const char *name, unsigned int i, char buf[CM_RULES_MPI_BYTES]);

/* Could any rule match this symbol, whatever its library and caller? Cheap; any thread. */
bool cm_rules_may_match(const struct cm_rules *rules, const char *symbol);

/*
 * Why a symbol is never intercepted ("returns twice", "the loader's own", ...), or NULL.
 * The names: setjmp family, vfork, __tls_get_addr, _dl_*, _Unwind_*, __cxa_throw family, ...
 */
const char *cm_rules_forbidden(const char *symbol);

/*
 * How many bytes of incoming stack arguments the thunk copies: stack-args where given, else
 * CM_RULES_VARIADIC_STACK_BYTES for known variadic functions (exec*, the printf and scanf family
 * and similar), else CM_RULES_DEFAULT_STACK_BYTES. A multiple of 8. Any thread.
 */
uint32_t cm_rules_stack_bytes(const struct cm_rule *rule, const char *symbol);

/*
 * fnmatch-like glob: * ? [a-z] [!a-z] \x; no special treatment of '/' or leading '.'. Bytes, not
 * characters. Time at most strlen(pattern) * strlen(string). Any thread.
 */
bool cm_rules_glob(const char *pattern, const char *string);

/*
 * Expand rule->region into buf (NUL-terminated, cut at n_bytes - 1 on a UTF-8 boundary).
 * demangled may be NULL (then the symbol stands in for it), library too (then "?" does).
 * Returns the length.
 */
size_t cm_rules_region(const struct cm_rule *rule, const char *symbol, const char *demangled,
		       const char *library, char *buf, size_t n_bytes);

#endif
