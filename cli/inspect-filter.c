/* SPDX-License-Identifier: BSD-3-Clause */
/* Which regions and ranks to show: regular expressions and rank ranges. */
#include "cli/inspect-filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const option_names[CM_N_FILTER_KINDS] = {
	[CM_FILTER_INCLUDE] = "--include",
	[CM_FILTER_EXCLUDE] = "--exclude",
};

int cm_filter_add(struct cm_filter *filter, enum cm_filter_kind kind, const char *pattern,
		  struct cm_diag *diag)
{
	size_t n = filter->n_patterns[kind];
	regex_t *patterns;
	char reason[128];
	int rc;

	patterns = reallocarray(filter->patterns[kind], n + 1, sizeof(*patterns));
	if (!patterns)
		return cm_diag_set(diag, -ENOMEM, "out of memory");
	filter->patterns[kind] = patterns;
	rc = regcomp(&patterns[n], pattern, REG_EXTENDED);
	if (rc == REG_ESPACE)
		return cm_diag_set(diag, -ENOMEM, "%s '%s': too large an expression",
				   option_names[kind], pattern);
	if (rc) {
		regerror(rc, &patterns[n], reason, sizeof(reason));
		return cm_diag_set(diag, -EINVAL, "%s '%s': not a regular expression: %s",
				   option_names[kind], pattern, reason);
	}
	filter->n_patterns[kind]++;
	return 0;
}

static bool any_matches(const struct cm_filter *filter, enum cm_filter_kind kind, const char *tag)
{
	regmatch_t match;
	size_t i;

	/* The leftmost match is the one found: if any starts at 0, this one does. */
	for (i = 0; i < filter->n_patterns[kind]; i++)
		if (!regexec(&filter->patterns[kind][i], tag, 1, &match, 0) && match.rm_so == 0)
			return true;
	return false;
}

bool cm_filter_matches(const struct cm_filter *filter, const char *tag)
{
	if (filter->n_patterns[CM_FILTER_INCLUDE] && !any_matches(filter, CM_FILTER_INCLUDE, tag))
		return false;
	return !any_matches(filter, CM_FILTER_EXCLUDE, tag);
}

void cm_filter_fini(struct cm_filter *filter)
{
	size_t kind, i;

	for (kind = 0; kind < CM_N_FILTER_KINDS; kind++) {
		for (i = 0; i < filter->n_patterns[kind]; i++)
			regfree(&filter->patterns[kind][i]);
		free(filter->patterns[kind]);
		filter->patterns[kind] = NULL;
		filter->n_patterns[kind] = 0;
	}
}

/* Digits only: strtoll alone would take blanks and signs. */
static int parse_number(const char **text, int64_t *ret_number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return -EINVAL;
	errno = 0;
	*ret_number = strtoll(*text, &end, 10);
	if (errno)
		return -EINVAL;
	*text = end;
	return 0;
}

static int parse_range(const char **text, struct cm_rank_range *ret_range)
{
	if (parse_number(text, &ret_range->first) < 0)
		return -EINVAL;
	ret_range->last = ret_range->first;
	if (**text != '-')
		return 0;
	(*text)++;
	if (parse_number(text, &ret_range->last) < 0 || ret_range->last < ret_range->first)
		return -EINVAL;
	return 0;
}

int cm_rank_set_parse(struct cm_rank_set *set, const char *text, struct cm_diag *diag)
{
	struct cm_rank_range *ranges, range;
	const char *at = text;

	do {
		if (parse_range(&at, &range) < 0 || (*at && *at != ','))
			return cm_diag_set(diag, -EINVAL,
					   "--ranks '%s': expected ranks such as 0-3,5", text);
		ranges = reallocarray(set->ranges, set->n_ranges + 1, sizeof(*ranges));
		if (!ranges)
			return cm_diag_set(diag, -ENOMEM, "out of memory");
		set->ranges = ranges;
		set->ranges[set->n_ranges++] = range;
	} while (*at++ == ',');
	return 0;
}

bool cm_rank_set_has(const struct cm_rank_set *set, int64_t rank)
{
	size_t i;

	for (i = 0; i < set->n_ranges; i++)
		if (rank >= set->ranges[i].first && rank <= set->ranges[i].last)
			return true;
	return !set->n_ranges;
}

void cm_rank_set_fini(struct cm_rank_set *set)
{
	free(set->ranges);
	set->ranges = NULL;
	set->n_ranges = 0;
}
