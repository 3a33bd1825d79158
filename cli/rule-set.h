/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of one command: a file's, then the inline ones, in the order in which the preload will
 * number them.
 *
 *	rc = cm_rule_set_load(&set, "rules.txt", "malloc;free", &diag);
 *	cm_rules_find(&set.rules, ...);
 *	cm_rule_set_fini(&set);
 *
 * Threads: one at a time. Errors: negative errno and one line that names the file, and where in it.
 */
#ifndef CALLMARK_CLI_RULE_SET_H
#define CALLMARK_CLI_RULE_SET_H

#include <stdint.h>

#include "preload/diag.h"
#include "preload/rules.h"

struct cm_rule_set {
	struct cm_rules rules;
	uint32_t n_patterns; /* rules that are not exclusions */
	uint64_t hash;	     /* of both texts: cm_site_file_hash() */
	void *blocks;	     /* private: storage of the rules */
};

/*
 * Read and parse; either text may be NULL. set needs no init and is inert after a failure (fini is
 * allowed). A file that is missing, unreadable, not a regular file, too large, or wrong is an
 * error; so are texts that parse but hold no pattern: -ENODATA.
 */
int cm_rule_set_load(struct cm_rule_set *set, const char *config, const char *symbols,
		     struct cm_diag *diag);

void cm_rule_set_fini(struct cm_rule_set *set);

/* "LIBRARY:PATTERN" or "PATTERN" as a short name; the length as snprintf. */
int cm_rule_set_name(const struct cm_rule *rule, char *buf, size_t n_bytes);

#endif
