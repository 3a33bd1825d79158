/* SPDX-License-Identifier: BSD-3-Clause */
/* One object: is there a good file, and if not, make it. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collector/elf-build-id.h"
#include "collector/sites.h"

static int identify(struct cm_sites_object *object, struct cm_diag *diag)
{
	struct cm_site_identity *identity = &object->identity;
	const uint8_t *id = NULL;
	struct stat st;
	size_t n = 0;
	int rc = cm_elf_build_id(object->elf, &id, &n, diag);

	if (rc < 0)
		return rc;
	cm_elf_debug_find(&object->debug_place, cm_elf_handle(object->elf), object->path, id, n);
	if (n && n <= sizeof(identity->build_id)) {
		identity->n_build_id = (uint32_t)n;
		memcpy(identity->build_id, id, n);
		return 0;
	}
	if (stat(object->path, &st))
		return cm_diag_set(diag, -errno, "%s: %s", object->path, strerror(errno));
	identity->dev = st.st_dev;
	identity->ino = st.st_ino;
	identity->size = (uint64_t)st.st_size;
	identity->mtime_ns =
		(uint64_t)st.st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)st.st_mtim.tv_nsec;
	return 0;
}

int cm_sites_object_open(struct cm_sites_object *object, const char *path, struct cm_diag *diag)
{
	const char *slash = strrchr(path, '/');
	int rc;

	memset(object, 0, sizeof(*object));
	object->path = path;
	object->name = slash ? slash + 1 : path;
	rc = cm_elf_open(&object->elf, path, diag);
	if (rc < 0)
		return rc;
	if (cm_elf_kind(object->elf) == CM_ELF_FOREIGN || cm_elf_kind(object->elf) == CM_ELF_OTHER)
		rc = cm_diag_set(diag, -ENOEXEC, "%s: not a program or library of this machine",
				 path);
	if (rc >= 0)
		rc = identify(object, diag);
	if (rc < 0)
		cm_sites_object_close(object);
	return rc;
}

void cm_sites_object_close(struct cm_sites_object *object)
{
	cm_code_sweep_fini(&object->sweep);
	cm_code_map_fini(&object->map);
	cm_elf_frames_fini(&object->frames);
	cm_elf_slots_fini(&object->slots);
	cm_elf_symbols_fini(&object->symbols);
	cm_elf_code_fini(&object->code);
	cm_elf_names_close(object->names);
	cm_elf_file_close(&object->debug);
	cm_elf_close(object->elf);
	cm_arena_fini(&object->arena);
	free(object->rows);
	free(object->pads);
	memset(object, 0, sizeof(*object));
}

/* The debug file, or what is inside. */
static int read_debug(struct cm_sites_object *object)
{
	int rc = object->debug_place.path[0]
			 ? cm_elf_file_open(&object->debug, object->debug_place.path)
			 : cm_elf_debug_expand(&object->debug, cm_elf_handle(object->elf));

	if (rc < 0)
		return rc == -ENOMEM ? rc : 0; /* or there is none that can be read */
	return cm_elf_symbols_add(&object->symbols, &object->debug, &object->code);
}

/* Linkers merge Go's own sections with others; these two stay. */
static bool is_go(struct cm_elf *elf)
{
	struct cm_code_part part;

	return cm_elf_code_section(elf, ".go.buildinfo", &part) ||
	       cm_elf_code_section(elf, ".note.go.buildid", &part);
}

static int read_object(struct cm_sites_object *object, struct cm_diag *diag)
{
	int rc = cm_elf_code_read(&object->code, object->elf, diag);

	object->is_go = is_go(object->elf);
	if (rc >= 0)
		rc = cm_elf_symbols_read(&object->symbols, object->elf, &object->code, diag);
	if (rc >= 0)
		rc = read_debug(object);
	if (rc >= 0)
		rc = cm_elf_frames_read(&object->frames, object->elf, &object->code);
	if (rc >= 0)
		rc = cm_sites_pads_read(object, diag);
	if (rc >= 0)
		rc = cm_elf_slots_read(&object->slots, object->elf, &object->code, diag);
	return rc;
}

int cm_sites_object_make(struct cm_sites_object *object, const struct cm_sites_rules *rules,
			 struct cm_diag *diag)
{
	int rc = rules->rules.has_internal ? read_object(object, diag) : 0;

	if (rc >= 0)
		rc = cm_sites_match(object, &rules->rules, diag);
	if (rc >= 0)
		rc = cm_sites_plan(object, diag);
	if (rc >= 0)
		rc = cm_sites_twins(object);
	return rc;
}

/* The first folder that can be written takes it; why each of them cannot is the last one's. */
static int write_to_folder(struct cm_sites_object *object, const struct cm_sites_rules *rules,
			   const struct cm_sites_target *target, struct cm_diag *diag)
{
	struct cm_diag last = {0};
	int rc = -ENOENT;

	for (size_t i = 0; i < target->n_folders; i++) {
		char path[PATH_MAX];

		memset(&last, 0, sizeof(last));
		rc = cm_sites_folder_make(target->folders[i], &last);
		if (rc >= 0)
			rc = cm_site_file_path(target->folders[i], &object->identity, rules->hash,
					       path, sizeof(path));
		if (rc >= 0)
			rc = cm_sites_file_write(object, rules->hash, path, &last);
		if (rc >= 0)
			return 0;
	}
	return cm_diag_set(diag, rc, "%s", last.text[0] ? last.text : strerror(-rc));
}

static bool has_good_file(struct cm_sites_object *object, const struct cm_sites_rules *rules,
			  const struct cm_sites_target *target)
{
	for (size_t i = 0; i < target->n_folders; i++) {
		char path[PATH_MAX];

		if (cm_site_file_path(target->folders[i], &object->identity, rules->hash, path,
				      sizeof(path)) >= 0 &&
		    cm_sites_file_is_good(object, rules->hash, path))
			return true;
	}
	return false;
}

int cm_sites_object_write(const struct cm_sites_rules *rules, const char *path,
			  const struct cm_sites_target *target, struct cm_diag *diag)
{
	struct cm_sites_object object;
	int rc = cm_sites_object_open(&object, path, diag);

	if (rc < 0)
		return rc;
	if (target->output || target->force || !has_good_file(&object, rules, target)) {
		rc = cm_sites_object_make(&object, rules, diag);
		if (rc >= 0)
			rc = target->output ? cm_sites_file_write(&object, rules->hash,
								  target->output, diag)
					    : write_to_folder(&object, rules, target, diag);
	}
	cm_sites_object_close(&object);
	return rc < 0 ? cm_diag_set(diag, rc, "%s: %s", path, strerror(-rc)) : 0;
}
