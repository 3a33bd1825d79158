/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "collector/worker-check.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "collector/elf-identity.h"
#include "collector/sha256.h"

static int keep(struct cm_arena *arena, const char *text, const char **ret_text)
{
	char *copy = cm_arena_copy(arena, text, strlen(text));

	if (!copy)
		return -ENOMEM;
	*ret_text = copy;
	return 0;
}

static int differs(const char *path, const char *what, const char *declared, const char *found,
		   struct cm_diag *diag)
{
	return cm_diag_set(diag, -ESTALE, "%s: its %s is %s, declared is %s", path, what,
			   *found ? found : "not there", declared);
}

static int check_content(const struct cm_worker_file *file, char *text, struct cm_diag *diag)
{
	if (cm_sha256_file(file->path, text, NULL, diag) < 0)
		return -ESTALE;
	if (file->sha256 && !cm_sha256_is_same(text, file->sha256))
		return differs(file->path, "SHA-256", file->sha256, text, diag);
	return 0;
}

int cm_worker_check_source(const struct cm_worker_row *row, struct cm_worker_check *check,
			   struct cm_worker_identity *identity, struct cm_arena *arena,
			   struct cm_diag *diag)
{
	char text[CM_SHA256_TEXT_BYTES];
	int rc = 0;

	check->path = row->source.path;
	check->is_there = row->source.path && stat(row->source.path, &check->st) == 0;
	if (check->is_there || (row->source.path && row->source.sha256)) {
		rc = check_content(&row->source, text, diag);
		if (rc == 0)
			rc = keep(arena, text, &identity->source_sha256);
	}
	for (size_t i = 0; rc == 0 && i < row->n_files; i++)
		rc = check_content(&row->files[i], text, diag);
	return rc;
}

/* NULL declares nothing. */
static int compare(const char *path, const char *what, const char *declared, const char *found,
		   struct cm_diag *diag)
{
	return !declared || !strcmp(declared, found) ? 0
						     : differs(path, what, declared, found, diag);
}

int cm_worker_check_target(const struct cm_worker_row *row, struct cm_worker_identity *identity,
			   struct cm_arena *arena, struct cm_diag *diag)
{
	const struct cm_worker_target *target = &row->target;
	struct cm_worker_file file = {target->path, target->sha256};
	char text[CM_SHA256_TEXT_BYTES];
	struct cm_elf_identity elf;
	int rc;

	if (!target->path)
		return 0;
	rc = check_content(&file, text, diag);
	if (rc < 0)
		return rc;
	if (cm_elf_identity_read(&elf, target->path, diag) < 0)
		return -ESTALE;
	if (keep(arena, text, &identity->target_sha256) < 0 ||
	    keep(arena, elf.build_id, &identity->target_build_id) < 0 ||
	    keep(arena, elf.soname, &identity->target_soname) < 0 ||
	    keep(arena, elf.version, &identity->target_version) < 0)
		return -ENOMEM;
	if (target->build_id && strcasecmp(target->build_id, elf.build_id) != 0)
		return differs(target->path, "build-id", target->build_id, elf.build_id, diag);
	rc = compare(target->path, "SONAME", target->soname, elf.soname, diag);
	if (rc == 0)
		rc = compare(target->path, "version", target->version, elf.version, diag);
	return rc;
}

int cm_worker_check_again(const struct cm_worker_check *check, struct cm_diag *diag)
{
	struct stat now;
	const struct stat *then = &check->st;

	if (!check->is_there)
		return 0; /* loading it says so */
	if (stat(check->path, &now) == 0 && now.st_dev == then->st_dev &&
	    now.st_ino == then->st_ino && now.st_size == then->st_size &&
	    now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
	    now.st_ctim.tv_sec == then->st_ctim.tv_sec &&
	    now.st_ctim.tv_nsec == then->st_ctim.tv_nsec)
		return 0;
	return cm_diag_set(diag, -ESTALE, "%s was changed while it was looked at", check->path);
}
