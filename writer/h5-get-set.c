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

int cm_h5_get_array(hid_t parent, const char *name, uint64_t n_file_bytes,
		    struct cm_text_store *store, const int64_t **ret_values, size_t *ret_n)
{
	int64_t *values;
	hid_t set, type;
	uint64_t n;
	int rc = open_set(parent, name, n_file_bytes, &set, &n);

	if (rc <= 0)
		return rc;
	type = H5Dget_type(set);
	values = cm_text_store_alloc(store, n, sizeof(*values));
	if (type < 0 || H5Tget_class(type) != H5T_INTEGER)
		rc = -EINVAL;
	else if (!values)
		rc = -EFBIG;
	else if (n && H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
		rc = -EINVAL;
	cm_h5_close(type);
	cm_h5_close(set);
	if (rc < 0)
		return rc;
	*ret_values = values;
	*ret_n = n;
	return 1;
}
