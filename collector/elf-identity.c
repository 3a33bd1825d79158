/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program headers and the dynamic segment say, and the name of the file. */
#include "collector/elf-identity.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/elf-build-id.h"

static int copy(char *buf, size_t n_bytes, const char *text, const char *what, const char *path,
		struct cm_diag *diag)
{
	if (strlen(text) >= n_bytes)
		return cm_diag_set(diag, -E2BIG, "%s: its %s is too long", path, what);
	strcpy(buf, text);
	return 0;
}

static int format_build_id(struct cm_elf_identity *identity, const char *path,
			   const unsigned char *id, size_t n, struct cm_diag *diag)
{
	if (2 * n >= sizeof(identity->build_id))
		return cm_diag_set(diag, -E2BIG, "%s: its build-id is too long", path);
	for (size_t i = 0; i < n; i++)
		snprintf(identity->build_id + 2 * i, 3, "%02x", id[i]);
	return 0;
}

static int read_version(struct cm_elf_identity *identity, const char *path, struct cm_diag *diag)
{
	char real[PATH_MAX];
	const char *name, *found;

	if (!realpath(path, real))
		return cm_diag_set(diag, -errno, "%s: %s", path, strerror(errno));
	name = strrchr(real, '/');
	found = strstr(name ? name : real, ".so.");
	return copy(identity->version, sizeof(identity->version), found ? found + 4 : "", "version",
		    path, diag);
}

int cm_elf_identity_read(struct cm_elf_identity *identity, const char *path, struct cm_diag *diag)
{
	const unsigned char *id;
	struct cm_elf *elf;
	size_t n_id;
	int rc = cm_elf_open(&elf, path, diag);

	memset(identity, 0, sizeof(*identity));
	if (rc < 0)
		return rc;
	if (cm_elf_kind(elf) == CM_ELF_FOREIGN || cm_elf_kind(elf) == CM_ELF_OTHER)
		rc = cm_diag_set(diag, -ENOEXEC, "%s: not a program or library of this machine",
				 path);
	if (rc >= 0)
		rc = cm_elf_build_id(elf, &id, &n_id, diag);
	if (rc > 0)
		rc = format_build_id(identity, path, id, n_id, diag);
	if (rc >= 0)
		rc = copy(identity->soname, sizeof(identity->soname), cm_elf_soname(elf), "SONAME",
			  path, diag);
	if (rc >= 0)
		rc = read_version(identity, path, diag);
	cm_elf_close(elf);
	return rc < 0 ? rc : 0;
}
