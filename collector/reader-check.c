/* SPDX-License-Identifier: BSD-3-Clause */
/* As far as likwid_markerInit() goes, without setting up or starting a counter. */
#include "collector/reader-check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/reader-perfmon.h"
#include "collector/reader-sleep.h"

/* The marker file will be made when the program ends: better to know now. */
static int check_file(const char *path, struct cm_diag *diag)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (access(path, F_OK) == 0)
		snprintf(folder, sizeof(folder), "%s", path);
	else if (!slash)
		strcpy(folder, ".");
	else
		snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path),
			 path);
	if (access(folder, W_OK) < 0)
		return cm_diag_set(diag, -errno, "LIKWID_FILEPATH=%s cannot be written: %s", path,
				   strerror(errno));
	return 0;
}

int cm_reader_check(void *ctx, struct cm_reader_report *report)
{
	struct cm_reader_perfmon *perfmon = ctx;
	struct cm_likwid likwid;
	int rc;

	cm_reader_sleep_shorten();
	rc = check_file(perfmon->file_path, &report->diag);
	cm_reader_step(report, "dlopen");
	if (rc >= 0)
		rc = cm_likwid_open(&likwid, NULL, &report->diag);
	if (rc < 0)
		return rc;
	snprintf(report->library, sizeof(report->library), "%s", likwid.path);
	rc = cm_reader_perfmon_start(&likwid, perfmon, report);
	if (rc >= 0)
		rc = cm_reader_perfmon_add_groups(&likwid, perfmon, report);
	return rc;
}
