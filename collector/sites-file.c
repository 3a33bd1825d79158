/* SPDX-License-Identifier: BSD-3-Clause */
/* The file itself: written beside its name and renamed; and is one there that is still good? */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/sites.h"
#include "preload/spool-path.h"

#define MAX_STRING 65535u /* longer ones are refused by whoever reads the file */

/* Strings one behind the other; the first is "". */
struct strings {
	char *bytes;
	size_t n_bytes, n_room;
	const char *last; /* the one that was put last, with its place */
	uint32_t last_at;
};

static int put(struct strings *strings, const char *text, uint32_t *ret_at)
{
	size_t n = strlen(text) + 1;

	if (n > MAX_STRING)
		return put(strings, "", ret_at);
	if (n == 1 && strings->n_bytes) {
		*ret_at = 0;
		return 0;
	}
	if (text == strings->last) {
		*ret_at = strings->last_at;
		return 0;
	}
	if (strings->n_room - strings->n_bytes < n) {
		size_t n_room = 2 * strings->n_room + n + 4096;
		char *more = realloc(strings->bytes, n_room);

		if (!more)
			return -ENOMEM;
		strings->bytes = more;
		strings->n_room = n_room;
	}
	memcpy(strings->bytes + strings->n_bytes, text, n);
	*ret_at = (uint32_t)strings->n_bytes;
	strings->n_bytes += n;
	strings->last = text;
	strings->last_at = *ret_at;
	return strings->n_bytes > CM_SITE_FILE_MAX_BYTES ? -EFBIG : 0;
}

/* Sources follow one another: where the row before has the same one, its place is taken. */
static int put_row(struct strings *strings, struct cm_sites_row *rows, size_t i)
{
	struct cm_site_function *site = &rows[i].site;
	int rc = 0;

	if (i && rows[i].source == rows[i - 1].source)
		site->source = rows[i - 1].site.source;
	else
		rc = put(strings, rows[i].source, &site->source);
	if (rc >= 0)
		rc = put(strings, rows[i].symbol, &site->symbol);
	if (rc >= 0)
		rc = put(strings, rows[i].base_name, &site->base_name);
	if (rc >= 0)
		rc = put(strings, rows[i].demangled, &site->demangled);
	if (rc >= 0)
		rc = put(strings, rows[i].reason, &site->reason);
	return rc;
}

static int build(const struct cm_sites_object *object, uint64_t rules_hash,
		 struct cm_site_file *file, struct strings *strings)
{
	uint32_t first;
	int rc = put(strings, "", &first);

	memset(file, 0, sizeof(*file));
	file->magic = CM_SITE_FILE_MAGIC;
	file->version = CM_SITE_FILE_VERSION;
	file->n_functions = (uint32_t)object->n_rows;
	file->rules_hash = rules_hash;
	file->strings = sizeof(*file) + object->n_rows * sizeof(struct cm_site_function);
	file->n_symbols = object->n_functions;
	file->debug_mtime_ns = object->debug_place.mtime_ns;
	file->n_build_id = object->identity.n_build_id;
	file->n_symtab = cm_elf_symbols_own(object->elf);
	memcpy(file->build_id, object->identity.build_id, object->identity.n_build_id);
	if (rc >= 0)
		rc = put(strings, object->path, &file->object);
	if (rc >= 0)
		rc = put(strings, object->debug_place.path, &file->debug_file);
	for (size_t i = 0; rc >= 0 && i < object->n_rows; i++)
		rc = put_row(strings, object->rows, i);
	file->n_bytes = file->strings + strings->n_bytes;
	return rc >= 0 && file->n_bytes > CM_SITE_FILE_MAX_BYTES ? -EFBIG : rc;
}

static bool write_all(FILE *out, const struct cm_sites_object *object,
		      const struct cm_site_file *file, const struct strings *strings)
{
	bool is_good = fwrite(file, sizeof(*file), 1, out) == 1;

	for (size_t i = 0; is_good && i < object->n_rows; i++)
		is_good = fwrite(&object->rows[i].site, sizeof(object->rows[i].site), 1, out) == 1;
	return is_good && fwrite(strings->bytes, 1, strings->n_bytes, out) == strings->n_bytes;
}

static int write_beside(const struct cm_sites_object *object, const struct cm_site_file *file,
			const struct strings *strings, const char *path, struct cm_diag *diag)
{
	char *beside = NULL;
	FILE *out = NULL;
	int rc = -ENOMEM, fd = -1;

	if (asprintf(&beside, "%s.XXXXXX", path) < 0)
		return rc;
	fd = mkostemp(beside, O_CLOEXEC); /* mode 0600 */
	if (fd >= 0)
		out = fdopen(fd, "w");
	if (!out) {
		rc = cm_diag_set(diag, -errno, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		goto out;
	}
	rc = write_all(out, object, file, strings) ? 0 : -errno;
	if (fclose(out) && rc >= 0)
		rc = -errno;
	if (rc >= 0 && rename(beside, path))
		rc = -errno;
	if (rc < 0)
		(void)cm_diag_set(diag, rc, "%s: %s", path, strerror(-rc));
out:
	if (rc < 0 && fd >= 0)
		(void)unlink(beside); /* nothing more can be done about it */
	free(beside);
	return rc;
}

int cm_sites_file_write(const struct cm_sites_object *object, uint64_t rules_hash, const char *path,
			struct cm_diag *diag)
{
	struct strings strings = {0};
	struct cm_site_file file;
	int rc = build(object, rules_hash, &file, &strings);

	if (rc >= 0)
		rc = write_beside(object, &file, &strings, path, diag);
	free(strings.bytes);
	return rc;
}

static bool is_same(struct cm_sites_object *object, const struct cm_site_file *file)
{
	const char *path = cm_site_string(file, file->object), *slash = strrchr(path, '/');

	return file->n_build_id == object->identity.n_build_id &&
	       !memcmp(file->build_id, object->identity.build_id, file->n_build_id) &&
	       !strcmp(cm_site_string(file, file->debug_file), object->debug_place.path) &&
	       file->debug_mtime_ns == object->debug_place.mtime_ns &&
	       file->n_symtab == cm_elf_symbols_own(object->elf) &&
	       !strcmp(slash ? slash + 1 : path, object->name);
}

bool cm_sites_file_is_good(struct cm_sites_object *object, uint64_t rules_hash, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	bool is_good = false;
	struct stat st;
	void *file;

	if (fd < 0)
		return false;
	/* Whoever could write it could have the preload patch as they like. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)) && st.st_size > 0) {
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			is_good = !cm_site_file_check(file, (size_t)st.st_size, rules_hash) &&
				  is_same(object, file);
			munmap(file, (size_t)st.st_size);
		}
	}
	close(fd);
	return is_good;
}

int cm_sites_folder_make(const char *folder, struct cm_diag *diag)
{
	char path[PATH_MAX];
	size_t n = strlen(folder);

	if (n >= sizeof(path))
		return cm_diag_set(diag, -ENAMETOOLONG, "%s: too long", folder);
	memcpy(path, folder, n + 1);
	for (char *p = path + 1; n && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		(void)mkdir(path, 0700); /* the last one's failure is told */
		*p = '/';
	}
	if (mkdir(path, 0700) && errno != EEXIST)
		return cm_diag_set(diag, -errno, "%s: %s", folder, strerror(errno));
	return cm_spool_check_owner(folder, diag);
}
