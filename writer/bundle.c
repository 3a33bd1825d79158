/* SPDX-License-Identifier: BSD-3-Clause */
/* Bundles that contradict themselves are refused. No HDF5 here. */
#include "writer/bundle.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_text(const char *text)
{
	return text && *text;
}

static bool is_status(const struct cm_bundle *bundle, const char *name)
{
	return bundle->status && !strcmp(bundle->status, name);
}

static int refuse(const struct cm_bundle *bundle, struct cm_diag *diag, const char *what)
{
	return cm_diag_set(diag, -EINVAL, "evidence of row %ld refused: %s", (long)bundle->row,
			   what);
}

/* Zero or more, and a number; -0 counts as 0. */
static bool is_amount(double value)
{
	return isfinite(value) && value >= 0;
}

static bool is_same_number(const char *text, double value)
{
	char *end;

	if (!is_text(text))
		return false;
	return strtod(text, &end) == value && !*end;
}

static int check_observation(const struct cm_bundle *bundle,
			     const struct cm_bundle_observation *observation, struct cm_diag *diag)
{
	if (!is_amount(observation->value))
		return refuse(bundle, diag, "a value is negative or not finite");
	if (!is_same_number(observation->raw_value, observation->value))
		return refuse(bundle, diag, "the text of a value is another number");
	if (!is_text(observation->event) || !is_text(observation->counter) ||
	    !is_text(observation->unit) || !is_text(observation->definition_id) ||
	    observation->cpu_id < 0)
		return refuse(bundle, diag, "an observation does not say of what");
	return 0;
}

static int check_attempt(const struct cm_bundle *bundle, struct cm_diag *diag)
{
	bool is_complete = is_status(bundle, "complete");

	if (!is_text(bundle->attempt_id) || is_text(bundle->planned))
		return refuse(bundle, diag, "an attempt without its UUID, or planned not to be");
	if (is_complete && !bundle->n_observations)
		return refuse(bundle, diag, "complete, without records");
	if (bundle->n_observations && !is_complete && !is_status(bundle, "invalid"))
		return cm_diag_set(diag, -EINVAL, "evidence of row %ld refused: %s, with records",
				   (long)bundle->row, bundle->status);
	if (is_complete && is_text(bundle->reason))
		return refuse(bundle, diag, "complete, with a reason why not");
	if (is_complete && !bundle->has_group_time)
		return refuse(bundle, diag, "complete, without the group's time");
	if (bundle->has_group_time && !is_amount(bundle->group_time_seconds))
		return refuse(bundle, diag, "the group's time is negative or not finite");
	return 0;
}

int cm_bundle_check(const struct cm_bundle *bundle, struct cm_diag *diag)
{
	int rc = 0;

	if (!is_text(bundle->run_id) || !is_text(bundle->case_id) || !is_text(bundle->target_id) ||
	    bundle->row < 1)
		return refuse(bundle, diag, "it does not say which row of which run it is");
	if (!is_text(bundle->status) || !is_text(bundle->verdict))
		return refuse(bundle, diag, "no status");
	if (!is_status(bundle, "complete") && !is_text(bundle->reason))
		return refuse(bundle, diag, "not complete, without a reason");
	if (!is_amount(bundle->elapsed_seconds))
		return refuse(bundle, diag, "the time taken is negative or not finite");
	if (bundle->is_attempted)
		rc = check_attempt(bundle, diag);
	else if (bundle->n_observations || !is_status(bundle, "unavailable"))
		return refuse(bundle, diag, "evidence without an attempt");
	for (size_t i = 0; rc == 0 && i < bundle->n_observations; i++)
		rc = check_observation(bundle, &bundle->observations[i], diag);
	return rc;
}
