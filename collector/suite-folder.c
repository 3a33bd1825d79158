/* SPDX-License-Identifier: BSD-3-Clause */
/* A suite's folder, written so that it can be killed at any time. */
#include "collector/suite-folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writer/tempfile.h"

void cm_suite_row_name(size_t row_idx, char name[CM_SUITE_ROW_NAME_BYTES])
{
	snprintf(name, CM_SUITE_ROW_NAME_BYTES, "%04zu", row_idx + 1);
}

void cm_suite_row_temporary(size_t row_idx, char name[CM_SUITE_ROW_NAME_BYTES])
{
	snprintf(name, CM_SUITE_ROW_NAME_BYTES, ".%04zu.tmp", row_idx + 1);
}

char *cm_suite_row_path(size_t row_idx, const char *file, struct cm_arena *arena)
{
	char name[CM_SUITE_ROW_NAME_BYTES];

	cm_suite_row_name(row_idx, name);
	return cm_arena_format(arena, CM_SUITE_ROWS_NAME "/%s/%s", name, file);
}

static int say(struct cm_diag *diag, const char *path, const char *what)
{
	int rc = -errno;

	return cm_diag_set(diag, rc, "%s: %s: %s", path, what, strerror(-rc));
}

static int format(char *buf, size_t n_bytes, struct cm_diag *diag, const char *folder,
		  const char *name)
{
	int n = snprintf(buf, n_bytes, "%s/%s", folder, name);

	return n < 0 || (size_t)n >= n_bytes
		       ? cm_diag_set(diag, -ENAMETOOLONG, "%s: the path is too long", folder)
		       : 0;
}

/* A folder that gets its name only where nothing has it. */
static int place(const char *from, const char *to, struct cm_diag *diag)
{
	struct stat st;
	int rc;

	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) < 0) {
		if (errno != EINVAL && errno != ENOSYS)
			return say(diag, to, "cannot give the folder its name");
		/* A file system that cannot do it in one step; rename replaces empty folders. */
		if (lstat(to, &st) == 0)
			errno = EEXIST;
		else
			errno = 0;
		if (errno || rename(from, to) < 0)
			return say(diag, to, "cannot give the folder its name");
	}
	rc = cm_tempfile_sync_folder(to);
	return rc < 0 ? cm_diag_set(diag, rc, "%s: cannot sync its folder: %s", to, strerror(-rc))
		      : 0;
}

/* What may be in a folder that was not placed; the error at hand is the one to tell. */
static void remove_temporary(const char *path, const char *const *names, size_t n)
{
	char name[PATH_MAX];

	for (size_t i = 0; i < n; i++)
		if (format(name, sizeof(name), NULL, path, names[i]) == 0 && unlink(name) < 0)
			(void)rmdir(name);
	(void)rmdir(path);
}

static int write_text(const char *path, const char *text, size_t n_left, struct cm_diag *diag)
{
	struct cm_tempfile temp;
	int rc = cm_tempfile_open(&temp, path, diag);

	if (rc < 0)
		return rc;
	while (n_left) {
		ssize_t n = write(temp.fd, text, n_left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n < 0 ? errno : ENOSPC;
			rc = say(diag, path, "cannot write");
			cm_tempfile_discard(&temp);
			return rc;
		}
		text += n;
		n_left -= (size_t)n;
	}
	return cm_tempfile_commit(&temp, diag);
}

static int write_links(struct cm_suite_folder *folder, const char *path,
		       const struct cm_suite *suite, struct cm_diag *diag)
{
	struct cm_bundle_link *links =
		cm_arena_array(&folder->arena, suite->n_rows, sizeof(*links));
	int rc = links ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < suite->n_rows; i++) {
		links[i].case_id = suite->rows[i].case_id;
		links[i].target_id = suite->rows[i].target_id;
		links[i].path = cm_suite_row_path(i, CM_SUITE_ROW_H5_NAME, &folder->arena);
		if (!links[i].path)
			rc = -ENOMEM;
	}
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: out of memory", path);
	return cm_bundle_write_suite(path, suite->name, folder->integrity.run_id, links,
				     suite->n_rows, diag);
}

/* Everything that is there before the first row. */
static int fill(struct cm_suite_folder *folder, const char *temporary, const struct cm_suite *suite,
		struct cm_diag *diag)
{
	char name[PATH_MAX];
	int rc = format(name, sizeof(name), diag, temporary, CM_SUITE_ROWS_NAME);

	if (rc == 0 && mkdir(name, 0777) < 0)
		rc = say(diag, name, "cannot make the folder");
	if (rc == 0)
		rc = format(name, sizeof(name), diag, temporary, CM_SUITE_JSON_NAME);
	if (rc == 0)
		rc = write_text(name, suite->text, suite->n_text, diag);
	if (rc == 0)
		rc = format(name, sizeof(name), diag, temporary, CM_SUITE_H5_NAME);
	if (rc == 0)
		rc = write_links(folder, name, suite, diag);
	if (rc == 0)
		rc = cm_integrity_add(&folder->integrity, temporary, CM_SUITE_H5_NAME,
				      &folder->arena, diag);
	if (rc == 0)
		rc = cm_integrity_add(&folder->integrity, temporary, CM_SUITE_JSON_NAME,
				      &folder->arena, diag);
	if (rc == 0)
		rc = format(name, sizeof(name), diag, temporary, CM_INTEGRITY_NAME);
	return rc < 0 ? rc : cm_integrity_write(&folder->integrity, name, diag);
}

/* Without '/' at the end, and a hidden name beside it. */
static int choose_names(struct cm_suite_folder *folder, const char *path, char *temporary,
			size_t n_bytes, struct cm_diag *diag)
{
	size_t n = strlen(path), n_folder;
	const char *slash;

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (!n || n >= sizeof(folder->path))
		return cm_diag_set(diag, n ? -ENAMETOOLONG : -EINVAL, "'%s': no name for a folder",
				   path);
	memcpy(folder->path, path, n);
	folder->path[n] = '\0';
	slash = strrchr(folder->path, '/');
	n_folder = slash ? (size_t)(slash + 1 - folder->path) : 0;
	snprintf(temporary, n_bytes, "%.*s.%.200s.%ld.tmp", (int)n_folder, folder->path,
		 folder->path + n_folder, (long)getpid());
	return 0;
}

int cm_suite_folder_create(struct cm_suite_folder *folder, const char *path,
			   const struct cm_suite *suite, const char *run_id, struct cm_diag *diag)
{
	static const char *const names[] = {CM_SUITE_ROWS_NAME, CM_SUITE_JSON_NAME,
					    CM_SUITE_H5_NAME, CM_INTEGRITY_NAME};
	char temporary[PATH_MAX];
	struct stat st;
	int rc;

	*folder = (struct cm_suite_folder){
		.integrity = {.run_id = run_id, .verdict = "", .n_rows = suite->n_rows}};
	rc = choose_names(folder, path, temporary, sizeof(temporary), diag);
	if (rc < 0)
		return rc;
	if (lstat(folder->path, &st) == 0)
		return cm_diag_set(diag, -EEXIST,
				   "%s: is there already and stays as it is; "
				   "choose another folder",
				   folder->path);
	if (mkdir(temporary, 0777) < 0)
		return say(diag, folder->path, "cannot make a folder beside it");
	rc = fill(folder, temporary, suite, diag);
	if (rc == 0)
		rc = place(temporary, folder->path, diag);
	if (rc < 0)
		remove_temporary(temporary, names, sizeof(names) / sizeof(*names));
	return rc;
}

static int fill_row(struct cm_suite_folder *folder, const char *temporary,
		    const struct cm_bundle *bundle, struct cm_diag *diag)
{
	struct cm_integrity integrity = {.run_id = folder->integrity.run_id,
					 .verdict = bundle->verdict,
					 .is_complete = true,
					 .n_rows = folder->integrity.n_rows,
					 .row = (size_t)bundle->row};
	char name[PATH_MAX];
	int rc = format(name, sizeof(name), diag, temporary, CM_SUITE_ROW_H5_NAME);

	if (rc == 0)
		rc = cm_bundle_write(name, bundle, diag);
	if (rc == 0)
		rc = cm_integrity_add(&integrity, temporary, CM_SUITE_ROW_H5_NAME, &folder->arena,
				      diag);
	if (rc == 0)
		rc = format(name, sizeof(name), diag, temporary, CM_INTEGRITY_NAME);
	return rc < 0 ? rc : cm_integrity_write(&integrity, name, diag);
}

/* What the seal will say of the row: it is looked at before it has its name. */
static int note_row(struct cm_suite_folder *folder, const char *temporary, size_t row_idx,
		    struct cm_diag *diag)
{
	static const char *const names[] = {CM_INTEGRITY_NAME, CM_SUITE_ROW_H5_NAME};
	struct cm_integrity *integrity = &folder->integrity;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < 2; i++) {
		rc = cm_integrity_add(integrity, temporary, names[i], &folder->arena, diag);
		if (rc < 0)
			break;
		integrity->files[integrity->n_files - 1].path =
			cm_suite_row_path(row_idx, names[i], &folder->arena);
		if (!integrity->files[integrity->n_files - 1].path)
			rc = cm_diag_set(diag, -ENOMEM, "%s: out of memory", temporary);
	}
	return rc;
}

int cm_suite_folder_add(struct cm_suite_folder *folder, const struct cm_bundle *bundle,
			struct cm_diag *diag)
{
	static const char *const names[] = {CM_SUITE_ROW_H5_NAME, CM_INTEGRITY_NAME};
	size_t row_idx = (size_t)bundle->row - 1;
	char name[CM_SUITE_ROW_NAME_BYTES], hidden[CM_SUITE_ROW_NAME_BYTES];
	char temporary[PATH_MAX], final[PATH_MAX], rows[PATH_MAX - 64];
	int rc = format(rows, sizeof(rows), diag, folder->path, CM_SUITE_ROWS_NAME);

	cm_suite_row_name(row_idx, name);
	cm_suite_row_temporary(row_idx, hidden);
	if (rc == 0)
		rc = format(temporary, sizeof(temporary), diag, rows, hidden);
	if (rc == 0)
		rc = format(final, sizeof(final), diag, rows, name);
	if (rc < 0)
		return rc;
	if (mkdir(temporary, 0777) < 0)
		return say(diag, final, "cannot make a folder beside it");
	rc = fill_row(folder, temporary, bundle, diag);
	if (rc == 0)
		rc = note_row(folder, temporary, row_idx, diag);
	if (rc == 0)
		rc = place(temporary, final, diag);
	if (rc < 0)
		remove_temporary(temporary, names, sizeof(names) / sizeof(*names));
	return rc;
}

int cm_suite_folder_seal(struct cm_suite_folder *folder, const char *verdict, struct cm_diag *diag)
{
	char name[PATH_MAX];
	int rc = format(name, sizeof(name), diag, folder->path, CM_INTEGRITY_NAME);

	folder->integrity.verdict = verdict;
	folder->integrity.is_complete = true;
	return rc < 0 ? rc : cm_integrity_write(&folder->integrity, name, diag);
}

void cm_suite_folder_fini(struct cm_suite_folder *folder)
{
	cm_arena_fini(&folder->arena);
}
