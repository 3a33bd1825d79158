/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start callmark-sites (preload/environment.h), which works out how the entries of functions can be
 * intercepted, and say which objects it is to look at.
 *
 *	struct cm_sites_request request = {.path = path, .symbols = "* internal=yes", ...};
 *	rc = cm_sites_choose(&closure, &rules, &paths, &n_paths);
 *	rc = cm_sites_start(&supervise, &request, paths, n_paths, &diag);
 *	free(paths);                                       absolute ones
 *
 * It runs without our preload, has no stdin, and dies with us. Threads: one, as command.h.
 */
#ifndef CALLMARK_CLI_SITES_START_H
#define CALLMARK_CLI_SITES_START_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/supervise.h"
#include "cli/symbols-closure.h"
#include "preload/diag.h"
#include "preload/rules.h"

struct cm_sites_request {
	const char *path;	/* of callmark-sites */
	const char *config;	/* rules file, or NULL */
	const char *symbols;	/* inline rules, or NULL */
	const char *folders[2]; /* caches in the order in which they are tried; NULL: none */
	const char *output;	/* instead of them, the file for the one object */
	const char *progress;	/* as cm_command's */
};

/*
 * 0; 1: it could not do all of its work, and diag has its first line and how many more there were.
 * -EINTR: a signal that ends us is pending, nothing is said. Other negative errno, and diag: it
 * could not be started, or did not end.
 */
int cm_sites_start(const struct cm_supervise *supervise, const struct cm_sites_request *request,
		   const char *const *objects, size_t n_objects, struct cm_diag *diag);

/*
 * Could a rule with internal=yes match a function's entry in the object with this base name? Never
 * in the loader, our own library and LIKWID's.
 */
bool cm_sites_is_wanted(const struct cm_rules *rules, const char *name);

/* The paths of those objects; borrowed from closure, the array is the caller's to free. -ENOMEM. */
int cm_sites_choose(const struct cm_closure *closure, const struct cm_rules *rules,
		    const char ***ret_paths, size_t *ret_n);

#endif
