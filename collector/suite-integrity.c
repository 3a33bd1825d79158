/* SPDX-License-Identifier: BSD-3-Clause */
/* integrity.json in both directions, and the files it speaks of. */
#include "collector/suite-integrity.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/whole-file.h"
#include "writer/tempfile.h"

#define VERSION 1
#define MAX_BYTES ((size_t)256 << 20)
#define FIRST_ROOM 16

static int join(char *buf, size_t n_bytes, const char *folder, const char *path,
		struct cm_diag *diag)
{
	int n = snprintf(buf, n_bytes, "%s/%s", folder, path);

	if (n < 0 || (size_t)n >= n_bytes)
		return cm_diag_set(diag, -ENAMETOOLONG, "%s/%s: the path is too long", folder,
				   path);
	return 0;
}

/* Room for one more; what it had stays behind in the arena. */
static struct cm_integrity_file *append(struct cm_integrity *integrity, struct cm_arena *arena)
{
	if (integrity->n_files == integrity->n_room) {
		size_t n_room = integrity->n_room ? 2 * integrity->n_room : FIRST_ROOM;
		struct cm_integrity_file *files = cm_arena_array(arena, n_room, sizeof(*files));

		if (!files)
			return NULL;
		if (integrity->n_files)
			memcpy(files, integrity->files, integrity->n_files * sizeof(*files));
		integrity->files = files;
		integrity->n_room = n_room;
	}
	return &integrity->files[integrity->n_files++];
}

int cm_integrity_add(struct cm_integrity *integrity, const char *folder, const char *path,
		     struct cm_arena *arena, struct cm_diag *diag)
{
	struct cm_integrity_file file = {0}, *place;
	char name[PATH_MAX];
	int rc = join(name, sizeof(name), folder, path, diag);

	if (rc == 0)
		rc = cm_sha256_file(name, file.sha256, &file.n_bytes, diag);
	if (rc < 0)
		return rc;
	file.path = cm_arena_copy(arena, path, strlen(path));
	place = file.path ? append(integrity, arena) : NULL;
	if (!place)
		return cm_diag_set(diag, -ENOMEM, "%s: out of memory", name);
	*place = file;
	return 0;
}

static json_t *make_json(const struct cm_integrity *integrity)
{
	json_t *files = json_array(), *root;
	bool is_bad = !files;

	for (size_t i = 0; !is_bad && i < integrity->n_files; i++) {
		const struct cm_integrity_file *file = &integrity->files[i];

		is_bad = json_array_append_new(files,
					       json_pack("{s:s, s:I, s:s}", "path", file->path,
							 "bytes", (json_int_t)file->n_bytes,
							 "sha256", file->sha256)) < 0;
	}
	if (is_bad) {
		json_decref(files);
		return NULL;
	}
	root = json_pack("{s:i, s:s, s:b, s:s, s:I, s:I, s:o}", "callmark_integrity", VERSION,
			 "run_id", integrity->run_id, "complete", integrity->is_complete, "verdict",
			 integrity->verdict, "n_rows", (json_int_t)integrity->n_rows, "row",
			 (json_int_t)integrity->row, "files", files);
	return root;
}

static int write_all(int fd, const char *text)
{
	size_t n_left = strlen(text);

	while (n_left) {
		ssize_t n = write(fd, text, n_left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		text += n;
		n_left -= (size_t)n;
	}
	return 0;
}

int cm_integrity_write(const struct cm_integrity *integrity, const char *path, struct cm_diag *diag)
{
	json_t *root = make_json(integrity);
	char *text = root ? json_dumps(root, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
	struct cm_tempfile temp;
	int rc;

	json_decref(root);
	if (!text)
		return cm_diag_set(diag, -ENOMEM, "%s: out of memory", path);
	rc = cm_tempfile_open(&temp, path, diag);
	if (rc == 0) {
		rc = write_all(temp.fd, text);
		if (rc == 0)
			rc = write_all(temp.fd, "\n");
		if (rc == 0)
			rc = cm_tempfile_commit(&temp, diag);
		else
			cm_tempfile_discard(&temp);
	}
	free(text);
	return rc < 0 ? cm_diag_set(diag, rc, "%s: cannot write: %s", path, strerror(-rc)) : 0;
}

/* Relative, of names that we make: nothing can lead out of the folder. */
static bool is_plain_path(const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789._-/";

	return *path && *path != '/' && *path != '.' && strspn(path, plain) == strlen(path) &&
	       !strstr(path, "/.") && !strstr(path, "//") && strlen(path) < NAME_MAX;
}

static bool take_count(const json_t *root, const char *key, size_t *ret_n)
{
	const json_t *value = json_object_get(root, key);
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < 0 || n > CM_INTEGRITY_MAX_FILES)
		return false;
	*ret_n = (size_t)n;
	return true;
}

static int take_text(const json_t *root, const char *key, struct cm_arena *arena,
		     const char **ret_text)
{
	const json_t *value = json_object_get(root, key);
	const char *text = json_string_value(value);

	if (!text || strlen(text) != json_string_length(value))
		return -EINVAL;
	*ret_text = cm_arena_copy(arena, text, strlen(text));
	return *ret_text ? 0 : -ENOMEM;
}

static int take_file(struct cm_integrity *integrity, const json_t *from, struct cm_arena *arena)
{
	struct cm_integrity_file file = {0}, *place;
	const json_t *bytes = json_object_get(from, "bytes");
	const char *sha256 = json_string_value(json_object_get(from, "sha256"));
	int rc = take_text(from, "path", arena, &file.path);

	if (rc < 0)
		return rc;
	if (!is_plain_path(file.path) || !json_is_integer(bytes) || json_integer_value(bytes) < 0 ||
	    !sha256 || !cm_sha256_is_text(sha256))
		return -EINVAL;
	file.n_bytes = (uint64_t)json_integer_value(bytes);
	memcpy(file.sha256, sha256, CM_SHA256_TEXT_BYTES);
	place = append(integrity, arena);
	if (!place)
		return -ENOMEM;
	*place = file;
	return 0;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct cm_integrity_file *)a)->path,
		      ((const struct cm_integrity_file *)b)->path);
}

static int take_files(struct cm_integrity *integrity, const json_t *list, struct cm_arena *arena)
{
	int rc = json_is_array(list) && json_array_size(list) <= CM_INTEGRITY_MAX_FILES ? 0
											: -EINVAL;

	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
		rc = take_file(integrity, json_array_get(list, i), arena);
	if (rc < 0 || !integrity->n_files)
		return rc;
	qsort(integrity->files, integrity->n_files, sizeof(*integrity->files), compare_paths);
	for (size_t i = 1; i < integrity->n_files; i++)
		if (!compare_paths(&integrity->files[i - 1], &integrity->files[i]))
			return -EINVAL;
	return 0;
}

static int take_root(struct cm_integrity *integrity, const json_t *root, struct cm_arena *arena)
{
	const json_t *is_complete = json_object_get(root, "complete");
	int rc;

	if (json_integer_value(json_object_get(root, "callmark_integrity")) != VERSION ||
	    !json_is_boolean(is_complete) || !take_count(root, "n_rows", &integrity->n_rows) ||
	    !take_count(root, "row", &integrity->row))
		return -EINVAL;
	integrity->is_complete = json_is_true(is_complete);
	rc = take_text(root, "run_id", arena, &integrity->run_id);
	if (rc == 0)
		rc = take_text(root, "verdict", arena, &integrity->verdict);
	return rc < 0 ? rc : take_files(integrity, json_object_get(root, "files"), arena);
}

int cm_integrity_read(struct cm_integrity *integrity, const char *path, struct cm_arena *arena,
		      struct cm_diag *diag)
{
	json_error_t error;
	const char *text;
	json_t *root;
	size_t n;
	int rc;

	*integrity = (struct cm_integrity){.run_id = "", .verdict = ""};
	rc = cm_whole_file_read(path, MAX_BYTES, arena, &text, &n, diag);
	if (rc < 0)
		return rc;
	root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		return cm_diag_set(diag, -EINVAL, "%s:%d: %s", path, error.line, error.text);
	rc = take_root(integrity, root, arena);
	json_decref(root);
	return rc < 0 ? cm_diag_set(diag, rc, "%s: is damaged", path) : 0;
}

/* The list is in order of paths once it was read. */
const struct cm_integrity_file *cm_integrity_find(const struct cm_integrity *integrity,
						  const char *path)
{
	struct cm_integrity_file key = {.path = path};

	return integrity->n_files ? bsearch(&key, integrity->files, integrity->n_files,
					    sizeof(*integrity->files), compare_paths)
				  : NULL;
}

int cm_integrity_check_file(const struct cm_integrity_file *file, const char *folder,
			    const char **ret_problem, struct cm_diag *diag)
{
	char name[PATH_MAX], sha256[CM_SHA256_TEXT_BYTES];
	uint64_t n_bytes = 0;
	struct stat st;
	int rc = join(name, sizeof(name), folder, file->path, diag);

	if (rc < 0)
		return rc;
	*ret_problem = "missing";
	if (lstat(name, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? 1
			       : cm_diag_set(diag, -errno, "%s: %s", name, strerror(errno));
	*ret_problem = "is no regular file";
	if (!S_ISREG(st.st_mode))
		return 1;
	*ret_problem = "has another size";
	if ((uint64_t)st.st_size != file->n_bytes)
		return 1;
	rc = cm_sha256_file(name, sha256, &n_bytes, diag);
	if (rc < 0)
		return rc;
	*ret_problem = "has another content";
	return n_bytes != file->n_bytes || !cm_sha256_is_same(sha256, file->sha256);
}
