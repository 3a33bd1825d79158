/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses to texts, with what was found out kept by binary and address. */
#include "collector/frame-text.h"

#include <errno.h>
#include <inttypes.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/elf-names.h"

#define OWN_NAME "libcallmark-preload.so"
#define N_FIRST_BUCKETS 1024
/* Longer symbols stay as they are: demangling takes more than linear time on some of them. */
#define MAX_MANGLED_BYTES 4096

/* One file, whatever addresses it was loaded at. */
struct cm_frame_binary {
	const char *path;
	const char *build_id;
	const char *base_name;
	struct cm_elf_names *names; /* NULL: not readable, or another file by now */
	bool is_own;
};

struct cm_frame_known {
	const struct cm_frame_binary *binary; /* NULL: a free bucket */
	uint64_t address;
	const char *text; /* NULL: to be left out */
};

void cm_frame_texts_init(struct cm_frame_texts *texts, struct cm_spool_reader *reader)
{
	memset(texts, 0, sizeof(*texts));
	texts->reader = reader;
	cm_object_map_init(&texts->map, reader);
}

void cm_frame_texts_fini(struct cm_frame_texts *texts)
{
	for (size_t i = 0; i < texts->n_binaries; i++)
		cm_elf_names_close(texts->binaries[i].names);
	free(texts->binaries);
	free(texts->of_object);
	free(texts->known);
	cm_object_map_fini(&texts->map);
	texts->binaries = NULL;
	texts->of_object = NULL;
	texts->known = NULL;
	texts->n_binaries = 0;
}

int cm_frame_texts_seek(struct cm_frame_texts *texts, size_t n_objects)
{
	return cm_object_map_seek(&texts->map, n_objects);
}

void cm_frame_texts_rewind(struct cm_frame_texts *texts)
{
	cm_object_map_fini(&texts->map);
	cm_object_map_init(&texts->map, texts->reader);
}

static const char *base_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* NULL: too many, or no memory (*ret_rc). */
static struct cm_frame_binary *add_binary(struct cm_frame_texts *texts,
					  const struct cm_spool_object *object, int *ret_rc)
{
	struct cm_frame_binary *binary;

	if (!texts->binaries)
		texts->binaries = calloc(CM_FRAME_MAX_BINARIES, sizeof(*texts->binaries));
	if (!texts->binaries)
		*ret_rc = -ENOMEM;
	if (!texts->binaries || texts->n_binaries == CM_FRAME_MAX_BINARIES)
		return NULL;
	binary = &texts->binaries[texts->n_binaries];
	binary->path = object->path;
	binary->build_id = object->build_id;
	binary->base_name = base_name_of(object->path);
	binary->is_own = strcmp(binary->base_name, OWN_NAME) == 0;
	/* Relative to a folder that is not ours: "linux-vdso.so.1" and the like. */
	if (object->path[0] == '/' && !binary->is_own &&
	    cm_elf_names_open(&binary->names, object->path, object->build_id,
			      texts->reader->n_path_items > 0) == -ENOMEM) {
		*ret_rc = -ENOMEM;
		return NULL;
	}
	texts->n_binaries++;
	return binary;
}

static struct cm_frame_binary *find_binary(struct cm_frame_texts *texts,
					   const struct cm_spool_object *object, int *ret_rc)
{
	for (size_t i = 0; i < texts->n_binaries; i++)
		if (strcmp(texts->binaries[i].path, object->path) == 0 &&
		    strcmp(texts->binaries[i].build_id, object->build_id) == 0)
			return &texts->binaries[i];
	return add_binary(texts, object, ret_rc);
}

static struct cm_frame_binary *get_binary(struct cm_frame_texts *texts,
					  const struct cm_spool_object *object, int *ret_rc)
{
	struct cm_frame_binary **binary;

	if (!texts->of_object)
		texts->of_object = calloc(texts->reader->n_objects + 1, sizeof(*texts->of_object));
	if (!texts->of_object) {
		*ret_rc = -ENOMEM;
		return NULL;
	}
	binary = &texts->of_object[object - texts->reader->objects];
	if (!*binary)
		*binary = find_binary(texts, object, ret_rc);
	return *binary;
}

/* " < " is what stands between frames. */
static void part_frames(char *text)
{
	char *at = text, *to = text;

	for (; *at; at++) {
		if (strncmp(at, " < ", 3) == 0)
			continue;
		*to++ = *at < ' ' && *at >= 0 ? '?' : *at;
	}
	*to = '\0';
}

/* An address in a binary in words; what is too long is cut in the function's name. */
static const char *describe(struct cm_frame_texts *texts, const struct cm_frame_binary *binary,
			    uint64_t address)
{
	struct cm_elf_names *names = binary->names;
	const char *symbol = names ? cm_elf_names_function(names, address - 1) : NULL, *file;
	char text[CM_FRAME_TEXT_BYTES], place[CM_FRAME_TEXT_BYTES / 2], *demangled = NULL;
	int line, n_room;

	snprintf(place, sizeof(place), " [%.100s]", binary->base_name);
	if (names && cm_elf_names_line(names, address - 1, false, &file, &line))
		snprintf(place, sizeof(place), " [%.100s] %.100s:%d", binary->base_name,
			 base_name_of(file), line);
	n_room = (int)(sizeof(text) - strlen(place)) - 1;
	if (symbol && strlen(symbol) < MAX_MANGLED_BYTES)
		demangled = cplus_demangle(symbol, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
	/* A symbol's version, which some tables have in its name, says nothing here. */
	if (symbol && !demangled && (int)strcspn(symbol, "@") < n_room)
		n_room = (int)strcspn(symbol, "@");
	if (symbol)
		snprintf(text, sizeof(text), "%.*s%s", n_room, demangled ? demangled : symbol,
			 place);
	else
		snprintf(text, sizeof(text), "0x%" PRIx64 "%s", address, place);
	free(demangled);
	part_frames(text);
	return cm_arena_copy(&texts->reader->arena, text, strlen(text));
}

static struct cm_frame_known *find_known(const struct cm_frame_texts *texts,
					 const struct cm_frame_binary *binary, uint64_t address)
{
	uint64_t hash = (address ^ (uintptr_t)binary) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = hash >> 20 & (texts->n_buckets - 1);

	while (texts->known[at].binary &&
	       (texts->known[at].binary != binary || texts->known[at].address != address))
		at = (at + 1) & (texts->n_buckets - 1);
	return &texts->known[at];
}

static int grow_known(struct cm_frame_texts *texts)
{
	struct cm_frame_known *old = texts->known;
	size_t n_old = texts->n_buckets;

	if (2 * texts->n_known < n_old)
		return 0;
	texts->n_buckets = n_old ? 2 * n_old : N_FIRST_BUCKETS;
	texts->known = calloc(texts->n_buckets, sizeof(*texts->known));
	if (!texts->known) {
		texts->known = old;
		texts->n_buckets = n_old;
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_old; i++)
		if (old[i].binary)
			*find_known(texts, old[i].binary, old[i].address) = old[i];
	free(old);
	return 0;
}

static int get_in(struct cm_frame_texts *texts, const struct cm_frame_binary *binary,
		  uint64_t address, const char **ret_text)
{
	struct cm_frame_known *known;

	if (binary->is_own)
		return 0;
	if (grow_known(texts) < 0)
		return -ENOMEM;
	known = find_known(texts, binary, address);
	if (!known->binary) {
		if (!binary->names || !cm_elf_names_is_plt(binary->names, address - 1)) {
			known->text = describe(texts, binary, address);
			if (!known->text)
				return -ENOMEM;
		}
		known->binary = binary;
		known->address = address;
		texts->n_known++;
	}
	*ret_text = known->text;
	return known->text ? 1 : 0;
}

int cm_frame_texts_get(struct cm_frame_texts *texts, uint64_t address, const char **ret_text)
{
	/* The call is before the return address, which may be behind the object's last byte. */
	const struct cm_spool_object *object = cm_object_map_find(&texts->map, address - 1);
	const struct cm_frame_binary *binary = NULL;
	const char *text;
	int rc = 0;

	if (object)
		binary = get_binary(texts, object, &rc);
	if (rc < 0)
		return rc;
	if (binary)
		return get_in(texts, binary, address - object->base, ret_text);
	text = cm_arena_format(&texts->reader->arena, "0x%" PRIx64 " [?]", address);
	if (!text)
		return -ENOMEM;
	*ret_text = text;
	return 1;
}

int cm_frame_texts_source(struct cm_frame_texts *texts, uint64_t entry, const char **ret_file,
			  int *ret_line)
{
	const struct cm_spool_object *object = cm_object_map_find(&texts->map, entry);
	const struct cm_frame_binary *binary = NULL;
	const char *file;
	int rc = 0, line;

	if (object)
		binary = get_binary(texts, object, &rc);
	if (rc < 0 || !binary || !binary->names ||
	    !cm_elf_names_line(binary->names, entry - object->base, true, &file, &line))
		return rc;
	file = cm_arena_copy(&texts->reader->arena, file, strlen(file));
	if (!file)
		return -ENOMEM;
	*ret_file = file;
	*ret_line = line;
	return 1;
}
