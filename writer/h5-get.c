/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes, guarded. */
#include "writer/h5-get.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-texts.h"

/* An attribute that is a number or text of n elements, opened and looked at. */
struct attribute {
	hid_t id, type, space;
	H5T_class_t class;
	bool is_scalar;
	size_t n;
};

/* No attribute of the layout has more elements; mpi runs are not that large yet. */
#define MAX_ELEMENTS (1u << 24)

static void attribute_close(struct attribute *attr)
{
	cm_h5_close(attr->space);
	cm_h5_close(attr->type);
	cm_h5_close(attr->id);
}

/* Takes over id, which may be invalid. */
static int attribute_look(struct attribute *attr, hid_t id)
{
	hssize_t n = -1;

	*attr = (struct attribute){.id = id, .type = H5I_INVALID_HID, .space = H5I_INVALID_HID};
	if (id >= 0) {
		attr->type = H5Aget_type(id);
		attr->space = H5Aget_space(id);
	}
	if (attr->type >= 0 && attr->space >= 0) {
		attr->class = H5Tget_class(attr->type);
		attr->is_scalar = H5Sget_simple_extent_type(attr->space) == H5S_SCALAR;
		n = H5Sget_simple_extent_npoints(attr->space);
		if (!attr->is_scalar && H5Sget_simple_extent_ndims(attr->space) != 1)
			n = -1;
	}
	if (n < 0 || n > MAX_ELEMENTS) {
		attribute_close(attr);
		return -EINVAL;
	}
	attr->n = (size_t)n;
	return 1;
}

static int attribute_open(struct attribute *attr, hid_t loc, const char *name)
{
	htri_t has = H5Aexists(loc, name);

	if (has <= 0)
		return has < 0 ? -EINVAL : 0;
	return attribute_look(attr, H5Aopen(loc, name, H5P_DEFAULT));
}

/* One number; memory_type is a native one. */
static int get_number(hid_t loc, const char *name, hid_t memory_type, void *ret_value)
{
	struct attribute attr;
	char value[8];
	int rc = attribute_open(&attr, loc, name);

	if (rc <= 0)
		return rc;
	if (attr.n != 1 || (attr.class != H5T_INTEGER && attr.class != H5T_FLOAT) ||
	    H5Aread(attr.id, memory_type, value) < 0)
		rc = -EINVAL;
	else
		memcpy(ret_value, value, sizeof(value));
	attribute_close(&attr);
	return rc;
}

int cm_h5_get_integer(hid_t loc, const char *name, int64_t *ret_value)
{
	return get_number(loc, name, H5T_NATIVE_INT64, ret_value);
}

int cm_h5_get_real(hid_t loc, const char *name, double *ret_value)
{
	return get_number(loc, name, H5T_NATIVE_DOUBLE, ret_value);
}

int cm_h5_get_string(hid_t loc, const char *name, struct cm_text_store *store,
		     const char **ret_text)
{
	struct attribute attr;
	const char *const *texts;
	int rc = attribute_open(&attr, loc, name);

	if (rc <= 0)
		return rc;
	rc = attr.n == 1 ? cm_h5_texts_of_attribute(attr.id, attr.type, 1, store, &texts) : -EINVAL;
	attribute_close(&attr);
	if (rc < 0)
		return rc;
	*ret_text = texts[0];
	return 1;
}

int cm_h5_get_integers(hid_t loc, const char *name, struct cm_text_store *store,
		       const int64_t **ret_values, size_t *ret_n)
{
	struct attribute attr;
	int64_t *values = NULL;
	int rc = attribute_open(&attr, loc, name);

	if (rc <= 0)
		return rc;
	if (attr.class != H5T_INTEGER) {
		rc = -EINVAL;
	} else {
		values = cm_text_store_alloc(store, attr.n, sizeof(*values));
		if (!values)
			rc = -EFBIG;
		else if (attr.n && H5Aread(attr.id, H5T_NATIVE_INT64, values) < 0)
			rc = -EINVAL;
	}
	if (rc > 0) {
		*ret_values = values;
		*ret_n = attr.n;
	}
	attribute_close(&attr);
	return rc;
}

int cm_h5_get_strings(hid_t loc, const char *name, struct cm_text_store *store,
		      const char *const **ret_texts, size_t *ret_n)
{
	struct attribute attr;
	int rc = attribute_open(&attr, loc, name);

	if (rc <= 0)
		return rc;
	if (attr.n)
		rc = cm_h5_texts_of_attribute(attr.id, attr.type, attr.n, store, ret_texts);
	if (rc >= 0)
		*ret_n = attr.n;
	attribute_close(&attr);
	return rc < 0 ? rc : 1;
}

int cm_h5_get_bytes(hid_t loc, const char *name, struct cm_text_store *store, const char **ret_text)
{
	struct attribute attr;
	char *bytes = NULL;
	int rc = attribute_open(&attr, loc, name);

	if (rc <= 0)
		return rc;
	if (attr.class == H5T_INTEGER && H5Tget_size(attr.type) == 1) {
		bytes = cm_text_store_alloc(store, attr.n + 1, 1);
		rc = bytes ? 1 : -EFBIG;
	} else {
		rc = -EINVAL;
	}
	if (rc > 0 && attr.n &&
	    (H5Aread(attr.id, H5T_NATIVE_UINT8, bytes) < 0 || memchr(bytes, '\0', attr.n)))
		rc = -EINVAL;
	if (rc > 0)
		*ret_text = bytes;
	attribute_close(&attr);
	return rc;
}

/* The growing list that an iteration over /metadata fills. */
struct meta_list {
	struct cm_text_store *store;
	struct cm_meta *items; /* malloc */
	size_t n, n_room;
	int rc;
};

static int read_strings(const struct attribute *attr, struct cm_text_store *store,
			struct cm_meta *meta)
{
	const char *const *texts;
	int rc = cm_h5_texts_of_attribute(attr->id, attr->type, attr->n, store, &texts);

	if (rc < 0)
		return rc;
	meta->kind = attr->is_scalar ? CM_META_STRING : CM_META_STRINGS;
	if (attr->is_scalar)
		meta->string = texts[0];
	else
		meta->strings = texts;
	meta->n_strings = attr->is_scalar ? 0 : attr->n;
	return 1;
}

/* 1 read, 0 of a kind that is passed over. */
static int read_meta(const struct attribute *attr, struct cm_text_store *store,
		     struct cm_meta *meta)
{
	char text[32];
	double real;

	if (attr->class == H5T_STRING)
		return read_strings(attr, store, meta);
	if (attr->n != 1)
		return 0;
	if (attr->class == H5T_INTEGER || attr->class == H5T_ENUM) {
		meta->kind = CM_META_INT;
		return H5Aread(attr->id, H5T_NATIVE_INT64, &meta->integer) < 0 ? 0 : 1;
	}
	if (attr->class != H5T_FLOAT || H5Aread(attr->id, H5T_NATIVE_DOUBLE, &real) < 0)
		return 0;
	snprintf(text, sizeof(text), "%.17g", real);
	meta->kind = CM_META_STRING;
	meta->string = cm_text_store_copy(store, text, strlen(text));
	return meta->string ? 1 : -EFBIG;
}

static int add_meta(struct meta_list *list, const char *name, const struct attribute *attr)
{
	struct cm_meta meta = {0};
	int rc = read_meta(attr, list->store, &meta);

	if (rc <= 0)
		return rc;
	meta.name = cm_text_store_copy(list->store, name, strlen(name));
	if (!meta.name)
		return -EFBIG;
	if (list->n == list->n_room) {
		size_t n_room = list->n_room ? 2 * list->n_room : 64;
		struct cm_meta *items = reallocarray(list->items, n_room, sizeof(*items));

		if (!items)
			return -ENOMEM;
		list->items = items;
		list->n_room = n_room;
	}
	list->items[list->n++] = meta;
	return 0;
}

static herr_t visit_attribute(hid_t group, const char *name, const H5A_info_t *info, void *ctx)
{
	struct meta_list *list = ctx;
	struct attribute attr;

	(void)info;
	/* One of a shape that is not ours is another tool's business. */
	if (attribute_look(&attr, H5Aopen(group, name, H5P_DEFAULT)) < 0)
		return 0;
	list->rc = add_meta(list, name, &attr);
	attribute_close(&attr);
	return list->rc < 0 ? -1 : 0;
}

int cm_h5_get_metadata(hid_t group, struct cm_text_store *store, const struct cm_meta **ret_meta,
		       size_t *ret_n)
{
	struct meta_list list = {.store = store};
	struct cm_meta *copy = NULL;
	herr_t status;
	int rc;

	/*
	 * Iterating over an attribute that cannot be decoded crashes in HDF5 1.10. Looking for a
	 * name decodes them all and fails properly.
	 */
	if (H5Aexists(group, "?") < 0)
		return -EINVAL;
	status = H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_attribute, &list);
	rc = list.rc < 0 ? list.rc : status < 0 ? -EINVAL : 1;
	if (rc > 0) {
		copy = cm_text_store_alloc(store, list.n, sizeof(*copy));
		rc = copy ? 1 : -EFBIG;
	}
	if (rc > 0) {
		if (list.n)
			memcpy(copy, list.items, list.n * sizeof(*copy));
		*ret_meta = copy;
		*ret_n = list.n;
	}
	free(list.items);
	return rc;
}
