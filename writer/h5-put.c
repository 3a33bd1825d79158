/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes and small datasets. */
#include "writer/h5-put.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "writer/h5-base.h"
#include "writer/utf8.h"

/* Rows of a table that are cleaned and written at once. */
#define N_TABLE_ROWS 1024

#define MAX_COMPACT_BYTES 1024

static int put_attribute(hid_t loc, const char *name, hid_t type, hid_t space, const void *value)
{
	hid_t attr = H5Acreate2(loc, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	int rc = attr < 0 || (value && H5Awrite(attr, type, value) < 0) ? -EIO : 0;

	cm_h5_close(attr);
	return rc;
}

static int put_vector(hid_t loc, const char *name, hid_t type, const void *values, size_t n)
{
	hsize_t dims = n;
	hid_t space = H5Screate_simple(1, &dims, NULL);
	int rc = space < 0 ? -EIO : put_attribute(loc, name, type, space, n ? values : NULL);

	cm_h5_close(space);
	return rc;
}

int cm_h5_put_integer(hid_t loc, const char *name, int64_t value)
{
	return put_attribute(loc, name, H5T_NATIVE_INT64, cm_h5_scalar(), &value);
}

int cm_h5_put_real(hid_t loc, const char *name, double value)
{
	return put_attribute(loc, name, H5T_NATIVE_DOUBLE, cm_h5_scalar(), &value);
}

int cm_h5_put_integers(hid_t loc, const char *name, const int64_t *values, size_t n)
{
	return put_vector(loc, name, H5T_NATIVE_INT64, values, n);
}

int cm_h5_put_bytes(hid_t loc, const char *name, const char *bytes, size_t n)
{
	if (n > CM_H5_PUT_MAX_BYTES)
		n = CM_H5_PUT_MAX_BYTES;
	return put_vector(loc, name, H5T_NATIVE_UINT8, bytes, n);
}

int cm_h5_put_string(hid_t loc, const char *name, const char *text)
{
	char *owned;
	int rc = cm_utf8_clean(text ? text : "", &owned);

	if (rc < 0)
		return rc;
	if (owned)
		text = owned;
	else if (!text)
		text = "";
	rc = put_attribute(loc, name, cm_h5_string_type(), cm_h5_scalar(), &text);
	free(owned);
	return rc;
}

/* Texts cleaned together: `texts` is what to write, `owned` what to free. */
struct batch {
	const char **texts;
	char **owned;
	size_t n;
};

static void batch_reset(struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++)
		free(batch->owned[i]);
	batch->n = 0;
}

static void batch_fini(struct batch *batch)
{
	batch_reset(batch);
	free(batch->texts);
	free(batch->owned);
}

static int batch_init(struct batch *batch, size_t n_max)
{
	*batch = (struct batch){
		.texts = calloc(n_max + 1, sizeof(*batch->texts)),
		.owned = calloc(n_max + 1, sizeof(*batch->owned)),
	};
	if (batch->texts && batch->owned)
		return 0;
	batch_fini(batch);
	*batch = (struct batch){0};
	return -ENOMEM;
}

static int batch_add(struct batch *batch, const char *text)
{
	char *owned;
	int rc = cm_utf8_clean(text ? text : "", &owned);

	if (rc < 0)
		return rc;
	batch->owned[batch->n] = owned;
	batch->texts[batch->n++] = owned ? owned : text ? text : "";
	return 0;
}

int cm_h5_put_strings(hid_t loc, const char *name, const char *const *texts, size_t n)
{
	struct batch batch;
	int rc;

	if (n > CM_H5_PUT_MAX_STRINGS)
		n = CM_H5_PUT_MAX_STRINGS;
	rc = batch_init(&batch, n);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = batch_add(&batch, texts[i]);
	if (rc == 0)
		rc = put_vector(loc, name, cm_h5_string_type(), batch.texts, n);
	batch_fini(&batch);
	return rc;
}

/* Little data stands in the object header itself: one write and one read less. */
static hid_t create_set(hid_t loc, const char *name, hid_t type, hid_t space, size_t n)
{
	bool is_small = n && n <= MAX_COMPACT_BYTES / H5Tget_size(type);

	return H5Dcreate2(loc, name, type, space, H5P_DEFAULT,
			  is_small ? cm_h5_compact() : H5P_DEFAULT, H5P_DEFAULT);
}

/* n: elements in all. */
static int put_values(hid_t loc, const char *name, hid_t type, const void *values, int n_dims,
		      const hsize_t *dims, size_t n)
{
	hid_t space = H5Screate_simple(n_dims, dims, NULL), set = H5I_INVALID_HID;
	int rc = -EIO;

	if (space >= 0)
		set = create_set(loc, name, type, space, n);
	if (set >= 0 && (!n || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0))
		rc = 0;
	cm_h5_close(set);
	cm_h5_close(space);
	return rc;
}

int cm_h5_put_array(hid_t loc, const char *name, hid_t type, const void *values, size_t n)
{
	hsize_t dims = n;

	return put_values(loc, name, type, values, 1, &dims, n);
}

int cm_h5_put_matrix(hid_t loc, const char *name, const double *values, size_t n_rows,
		     size_t n_columns)
{
	hsize_t dims[2] = {n_rows, n_columns};

	return put_values(loc, name, H5T_NATIVE_DOUBLE, values, 2, dims, n_rows * n_columns);
}

static int write_rows(hid_t set, hid_t space, hid_t type, hsize_t first, hsize_t n,
		      const void *values)
{
	hid_t memory = H5Screate_simple(1, &n, NULL);
	int rc = -EIO;

	if (memory >= 0 &&
	    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n, NULL) >= 0 &&
	    H5Dwrite(set, type, memory, space, cm_h5_small_transfer(), values) >= 0)
		rc = 0;
	cm_h5_close(memory);
	return rc;
}

int cm_h5_put_table(hid_t loc, const char *name, hid_t type, size_t n_members,
		    const char *(*text)(const void *ctx, size_t row, size_t member),
		    const void *ctx, size_t n)
{
	hsize_t dims = n;
	hid_t space = H5Screate_simple(1, &dims, NULL), set = H5I_INVALID_HID;
	struct batch batch;
	int rc = batch_init(&batch, N_TABLE_ROWS * n_members);

	if (rc == 0 && space >= 0)
		set = create_set(loc, name, type, space, n);
	if (rc == 0 && set < 0)
		rc = -EIO;
	for (size_t row = 0, end; row < n && rc == 0; row = end) {
		end = n - row < N_TABLE_ROWS ? n : row + N_TABLE_ROWS;
		for (size_t i = row * n_members; i < end * n_members && rc == 0; i++)
			rc = batch_add(&batch, text(ctx, i / n_members, i % n_members));
		if (rc == 0)
			rc = write_rows(set, space, type, row, end - row, batch.texts);
		batch_reset(&batch);
	}
	batch_fini(&batch);
	cm_h5_close(set);
	cm_h5_close(space);
	return rc;
}

static const char *list_text(const void *ctx, size_t row, size_t member)
{
	(void)member; /* a list has one */
	return ((const char *const *)ctx)[row];
}

int cm_h5_put_list(hid_t loc, const char *name, const char *const *texts, size_t n)
{
	return cm_h5_put_table(loc, name, cm_h5_string_type(), 1, list_text, texts, n);
}
