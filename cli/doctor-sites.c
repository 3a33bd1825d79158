/* SPDX-License-Identifier: BSD-3-Clause */
/* What `callmark doctor` finds out about internal=yes: callmark-sites at work, and its cache. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/locate.h"
#include "cli/sites-start.h"
#include "preload/environment.h"
#include "preload/site-file.h"

#define OWN_RULE "main internal=yes"

/* Have it look at our own executable: that takes every library that it needs. */
static int try_sites(struct cm_doctor *doctor, const char *path, struct cm_diag *diag)
{
	const char *base = getenv("TMPDIR");
	const char *object = "/proc/self/exe";
	struct cm_sites_request request = {.path = path, .symbols = OWN_RULE};
	char own[PATH_MAX], folder[PATH_MAX], output[PATH_MAX + 16];
	int rc;

	if (realpath(object, own))
		object = own; /* in its /proc/self it is another one */
	snprintf(folder, sizeof(folder), "%s/callmark-doctor-XXXXXX",
		 base && base[0] ? base : "/tmp");
	if (!mkdtemp(folder))
		return cm_diag_set(diag, -errno, "%s: %s", folder, strerror(errno));
	snprintf(output, sizeof(output), "%s/sites", folder);
	request.output = output;
	cm_supervise_init(&doctor->supervise);
	rc = cm_sites_start(&doctor->supervise, &request, &object, 1, diag);
	if (!rc && access(output, R_OK))
		rc = cm_diag_set(diag, -EIO, "%s: does its work, but no file is there", path);
	(void)unlink(output);
	(void)rmdir(folder);
	cm_supervise_fini(&doctor->supervise); /* a signal that is pending ends us here */
	return rc;
}

/* Only trying is sure: root may write where the file system does not let anybody. */
static bool can_write(const char *folder)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/.callmark-XXXXXX", folder);
	return mkdtemp(path) && !rmdir(path);
}

/* NULL where callmark-sites can use this folder, or make it. */
static const char *why_unusable(const char *folder)
{
	char path[PATH_MAX];
	struct stat st;
	char *slash;

	if (!lstat(folder, &st)) {
		if (S_ISLNK(st.st_mode))
			return "is a symbolic link";
		if (!S_ISDIR(st.st_mode))
			return "is not a folder";
		if (st.st_uid != geteuid())
			return "belongs to another user";
		if (st.st_mode & (S_IWGRP | S_IWOTH))
			return "can be written by others";
		return can_write(folder) ? NULL : "cannot be written";
	}
	/* The nearest one above it that is there decides. */
	snprintf(path, sizeof(path), "%s", folder);
	while ((slash = strrchr(path, '/')) && slash > path) {
		*slash = '\0';
		if (!access(path, F_OK))
			return can_write(path) ? NULL : "cannot be made";
	}
	return can_write(slash ? "/" : ".") ? NULL : "cannot be made";
}

static void look_at_cache(void)
{
	char folder[PATH_MAX];
	const char *why;

	if (cm_site_cache(getenv(CM_ENV_CACHE), getenv("XDG_CACHE_HOME"), getenv("HOME"), folder,
			  sizeof(folder))) {
		cm_doctor_say(CM_FINDING_NOTE, "cache",
			      "none: neither " CM_ENV_CACHE " nor HOME is set");
		why = "";
	} else {
		why = why_unusable(folder);
		if (!why)
			cm_doctor_say(CM_FINDING_OK, "cache", "%s", folder);
		else
			cm_doctor_say(CM_FINDING_NOTE, "cache", "%s %s", folder, why);
	}
	if (why)
		cm_doctor_advise("rules with internal=yes make each start slower; set " CM_ENV_CACHE
				 " to a folder of yours");
}

void cm_doctor_look_at_sites(struct cm_doctor *doctor)
{
	struct cm_diag diag = {0};
	char path[PATH_MAX];
	int rc = cm_locate(CM_PART_SITES, path, sizeof(path), &diag);

	if (!rc)
		rc = try_sites(doctor, path, &diag);
	if (rc) {
		doctor->is_complete = false;
		cm_doctor_say(CM_FINDING_BAD, "sites", "%s",
			      diag.text[0] ? diag.text : strerror(-rc));
		cm_doctor_advise(
			"build callmark again (ninja), or install it again (ninja install)");
	} else {
		cm_doctor_say(CM_FINDING_OK, "sites", "%s", path);
	}
	look_at_cache();
}
