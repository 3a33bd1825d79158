/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing a profile under the guard, and saying why it cannot be read. */
#include "cli/input.h"

#include <stdio.h>
#include <string.h>

#include "cli/guard.h"
#include "cli/say.h"

int cm_input_open(struct cm_results **ret_results, const char *path, struct cm_diag *diag)
{
	cm_guard_arm(path, CM_GUARD_SECONDS);
	return cm_results_open(ret_results, path, diag);
}

void cm_input_complain(const char *path, int rc, const struct cm_diag *diag)
{
	if (strstr(diag->text, path))
		cm_say("%s", diag->text);
	else
		cm_say("%s: %s", path, *diag->text ? diag->text : strerror(-rc));
}

void cm_input_close(struct cm_results *results, const char *path)
{
	(void)fflush(stdout); /* main looks at ferror */
	cm_guard_arm(path, CM_GUARD_SECONDS);
	cm_results_close(results);
	cm_guard_disarm();
}
