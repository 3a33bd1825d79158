/* SPDX-License-Identifier: BSD-3-Clause */
/* Which objects need which, by the names in their dynamic sections. */
#include <string.h>

#include "preload/memory.h"
#include "preload/object.h"

/* Copy the string to *at, where there is room for it. Returns its length with the NUL. */
static size_t put(char *at, const char *string)
{
	size_t n = strlen(string) + 1;

	if (at)
		memcpy(at, string, n);
	return n;
}

/* Fill names; with NULL only count them. The object cannot be unmapped meanwhile. */
static size_t list_names(const struct cm_object *object, char *names)
{
	const char *soname = "";
	size_t n;

	for (const Elf64_Dyn *dyn = object->dynamic; dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_SONAME)
			soname = object->strings + dyn->d_un.d_val;
	n = put(names, soname);
	for (const Elf64_Dyn *dyn = object->dynamic; dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_NEEDED)
			n += put(names ? names + n : NULL, object->strings + dyn->d_un.d_val);
	return n + put(names ? names + n : NULL, "");
}

/* Of a file's name; 0 with a folder in front. */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 1;

	for (; *name && *name != '/'; name++)
		hash = hash * 33 + (unsigned char)*name;
	return *name ? 0 : hash | 1;
}

/* Others may look for these names while the object is being closed: they are copied. */
void cm_object_keep_names(struct cm_object *object)
{
	size_t n = object->strings ? list_names(object, NULL) : 0;
	char *names = n ? cm_memory_get(NULL, n) : NULL;

	if (names)
		(void)list_names(object, names); /* as many as before */
	object->names = names ? names : "\0";
	object->name_hash = hash_name(object->name);
	object->so_hash = hash_name(object->names);
}

/* Does a DT_NEEDED entry mean this object? hash: of the entry. */
static bool is_named(const struct cm_object *object, const char *needed, uint32_t hash)
{
	if (!hash)
		return !strcmp(object->path, needed);
	return (object->so_hash == hash && !strcmp(object->names, needed)) ||
	       (object->name_hash == hash && !strcmp(object->name, needed));
}

static uint32_t end_of_needs(struct cm_object *from, uint32_t mark)
{
	const struct cm_object *const *objects = cm_object_list();
	const char *needed = from->names + strlen(from->names) + 1;
	uint32_t end = 1;

	from->mark = mark;
	for (; *needed; needed += strlen(needed) + 1) {
		uint32_t i = 1, hash = hash_name(needed), own;

		while (i < cm_object_count() && !is_named(objects[i], needed, hash))
			i++;
		if (i == cm_object_count() || objects[i]->mark == mark)
			continue;
		own = end_of_needs(cm_object_at(i), mark);
		end = own > end ? own : end;
		end = i + 1 > end ? i + 1 : end;
	}
	return end;
}

uint32_t cm_object_end_of_needs(struct cm_object *from)
{
	return end_of_needs(from, cm_object_new_mark());
}

static bool reaches(struct cm_object *from, const struct cm_object *to, uint32_t mark)
{
	const char *needed = from->names + strlen(from->names) + 1;

	from->mark = mark;
	for (; *needed; needed += strlen(needed) + 1) {
		uint32_t hash = hash_name(needed);

		for (uint32_t i = 1; i < cm_object_count(); i++) {
			struct cm_object *object = cm_object_at(i);

			if (object->is_gone || object->is_skipped || object->mark == mark ||
			    !is_named(object, needed, hash))
				continue;
			if (object == to || reaches(object, to, mark))
				return true;
		}
	}
	return false;
}

bool cm_object_needs(const struct cm_object *opener, const struct cm_object *object)
{
	return reaches((struct cm_object *)opener, object, cm_object_new_mark());
}
