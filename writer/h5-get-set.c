/* SPDX-License-Identifier: BSD-3-Clause */
/* Small datasets, guarded (writer/h5-get.h). */
#include <errno.h>
#include <stdbool.h>

#include "writer/h5-base.h"
#include "writer/h5-get.h"
#include "writer/h5-open.h"
#include "writer/h5-texts.h"

/* 1 and an open dataset, 0 where there is none. */
static int open_set(hid_t parent, const char *name, uint64_t n_file_bytes, hid_t *ret_set,
		    uint64_t *ret_n)
{
	hid_t set = cm_h5_open_child(parent, name, H5I_DATASET);
	bool is_constant;
	int rc;

	if (set < 0)
		return 0;
	rc = cm_h5_count_rows(set, n_file_bytes, ret_n, &is_constant);
	if (rc < 0 || is_constant) {
		cm_h5_close(set);
		return -EINVAL;
	}
	*ret_set = set;
	return 1;
}

int cm_h5_get_list(hid_t parent, const char *name, uint64_t n_file_bytes,
		   struct cm_text_store *store, const char *const **ret_texts, size_t *ret_n)
{
	uint64_t n;
	hid_t set;
	int rc = open_set(parent, name, n_file_bytes, &set, &n);

	if (rc <= 0)
		return rc;
	rc = cm_h5_texts_of_dataset(set, n, store, ret_texts);
	cm_h5_close(set);
	if (rc < 0)
		return rc;
	*ret_n = n;
	return 1;
}

/* Any number is read as a real one; only integers as integers. */
static int read_numbers(hid_t set, hid_t memory_type, void *values)
{
	hid_t type = H5Dget_type(set);
	H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
	int rc = -EINVAL;

	if ((class == H5T_INTEGER || (class == H5T_FLOAT && memory_type == H5T_NATIVE_DOUBLE)) &&
	    H5Dread(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0)
		rc = 0;
	cm_h5_close(type);
	return rc;
}

/* A new array of the store with all n elements of 8 bytes. */
static int load_numbers(hid_t set, hid_t memory_type, uint64_t n, struct cm_text_store *store,
			void **ret_values)
{
	void *values = cm_text_store_alloc(store, n, sizeof(int64_t));
	int rc = values ? 0 : -EFBIG;

	if (rc == 0 && n)
		rc = read_numbers(set, memory_type, values);
	if (rc == 0)
		*ret_values = values;
	return rc;
}

static int get_numbers(hid_t parent, const char *name, uint64_t n_file_bytes, hid_t memory_type,
		       struct cm_text_store *store, void **ret_values, size_t *ret_n)
{
	hid_t set;
	uint64_t n;
	int rc = open_set(parent, name, n_file_bytes, &set, &n);

	if (rc <= 0)
		return rc;
	rc = load_numbers(set, memory_type, n, store, ret_values);
	cm_h5_close(set);
	if (rc < 0)
		return rc;
	*ret_n = n;
	return 1;
}

int cm_h5_get_array(hid_t parent, const char *name, uint64_t n_file_bytes,
		    struct cm_text_store *store, const int64_t **ret_values, size_t *ret_n)
{
	void *values;
	int rc = get_numbers(parent, name, n_file_bytes, H5T_NATIVE_INT64, store, &values, ret_n);

	if (rc > 0)
		*ret_values = values;
	return rc;
}

int cm_h5_get_reals(hid_t parent, const char *name, uint64_t n_file_bytes,
		    struct cm_text_store *store, const double **ret_values, size_t *ret_n)
{
	void *values;
	int rc = get_numbers(parent, name, n_file_bytes, H5T_NATIVE_DOUBLE, store, &values, ret_n);

	if (rc > 0)
		*ret_values = values;
	return rc;
}

static bool is_empty(hid_t set)
{
	hid_t space = H5Dget_space(set);
	bool is_empty = space >= 0 && H5Sget_simple_extent_npoints(space) == 0;

	cm_h5_close(space);
	return is_empty;
}

int cm_h5_get_matrix(hid_t parent, const char *name, uint64_t n_file_bytes,
		     struct cm_text_store *store, const double **ret_values, size_t *ret_n_rows,
		     size_t *ret_n_columns)
{
	hid_t set = cm_h5_open_child(parent, name, H5I_DATASET);
	hsize_t dims[2] = {0, 0};
	bool is_constant = false;
	void *values = NULL;
	int rc;

	if (set < 0)
		return 0;
	rc = cm_h5_get_shape(set, n_file_bytes, 2, dims, &is_constant);
	if (rc < 0 && is_empty(set))
		rc = 0;
	if (is_constant)
		rc = -EINVAL;
	if (rc == 0)
		rc = load_numbers(set, H5T_NATIVE_DOUBLE, dims[0] * dims[1], store, &values);
	cm_h5_close(set);
	if (rc < 0)
		return rc;
	*ret_values = values;
	*ret_n_rows = dims[0];
	*ret_n_columns = dims[1];
	return 1;
}
