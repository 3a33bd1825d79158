/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading strings, fixed and variable. */
#include "writer/h5-texts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-references.h"

#ifdef CM_SMALL_PIECES /* fuzzers */
#define N_PIECE 2
#else
#define N_PIECE 64 /* strings that HDF5 holds at once */
#endif
#define MAX_FIXED_BYTES (1u << 20) /* of one string of a fixed-length type */

/* How a string type is read: a memory type, bytes of one element there. */
struct reader {
	hid_t type;
	size_t n_bytes;
	bool is_variable;
};

static int reader_init(struct reader *reader, hid_t file_type)
{
	reader->type = H5I_INVALID_HID;
	if (H5Tget_class(file_type) != H5T_STRING)
		return -EINVAL;
	reader->is_variable = H5Tis_variable_str(file_type) > 0;
	reader->n_bytes = reader->is_variable ? sizeof(char *) : H5Tget_size(file_type);
	if (reader->n_bytes == 0 || reader->n_bytes > MAX_FIXED_BYTES)
		return -EINVAL;
	/* The file's own type, so that no bytes are converted, cut or padded. */
	reader->type = H5Tget_native_type(file_type, H5T_DIR_ASCEND);
	return reader->type < 0 || H5Tget_size(reader->type) != reader->n_bytes ? -EINVAL : 0;
}

/* Copy n elements as HDF5 left them in memory. */
static int take(const struct reader *reader, const char *memory, size_t n,
		struct cm_text_store *store, const char **texts)
{
	for (size_t i = 0; i < n; i++) {
		const char *text = memory + i * reader->n_bytes;
		size_t n_bytes;

		if (reader->is_variable)
			memcpy(&text, memory + i * sizeof(text), sizeof(text));
		if (!text)
			text = "";
		n_bytes = reader->is_variable ? strlen(text) : strnlen(text, reader->n_bytes);
		texts[i] = cm_text_store_copy(store, text, n_bytes);
		if (!texts[i])
			return -EFBIG;
	}
	return 0;
}

/* What HDF5 allocated for variable strings. */
static void release(const struct reader *reader, char *memory, size_t n)
{
	for (size_t i = 0; reader->is_variable && i < n; i++) {
		char *text;

		memcpy(&text, memory + i * sizeof(text), sizeof(text));
		(void)H5free_memory(text); /* NULL is allowed */
	}
}

int cm_h5_texts_of_attribute(hid_t attr, hid_t type, size_t n, struct cm_text_store *store,
			     const char *const **ret_texts)
{
	const char **texts = cm_text_store_alloc(store, n, sizeof(*texts));
	char *memory = NULL;
	struct reader reader;
	int rc = texts ? reader_init(&reader, type) : -EFBIG;

	if (!texts)
		return rc;
	if (rc == 0) {
		memory = n > store->n_left / reader.n_bytes ? NULL : calloc(n + 1, reader.n_bytes);
		rc = memory ? 0 : -EFBIG;
	}
	if (rc == 0 && n) {
		if (H5Aread(attr, reader.type, memory) < 0) {
			rc = -EINVAL;
		} else {
			rc = take(&reader, memory, n, store, texts);
			release(&reader, memory, n);
		}
	}
	free(memory);
	cm_h5_close(reader.type);
	if (rc == 0)
		*ret_texts = texts;
	return rc;
}

static int read_piece(hid_t set, const struct reader *reader, hid_t space, hsize_t first, hsize_t n,
		      char *memory)
{
	hid_t target = H5Screate_simple(1, &n, NULL);
	int rc = -EINVAL;

	memset(memory, 0, n * reader->n_bytes);
	if (target >= 0 &&
	    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n, NULL) >= 0 &&
	    H5Dread(set, reader->type, target, space, cm_h5_small_transfer(), memory) >= 0)
		rc = 0;
	cm_h5_close(target);
	return rc;
}

static int read_pieces(hid_t set, const struct reader *reader, hid_t space, uint64_t n,
		       struct cm_text_store *store, const char **texts)
{
	char *memory = calloc(N_PIECE, reader->n_bytes);
	int rc = memory ? 0 : -ENOMEM;

	for (uint64_t first = 0, n_piece; first < n && rc == 0; first += n_piece) {
		n_piece = n - first < N_PIECE ? n - first : N_PIECE;
		rc = read_piece(set, reader, space, first, n_piece, memory);
		if (rc < 0)
			break;
		rc = take(reader, memory, n_piece, store, texts + first);
		release(reader, memory, n_piece);
	}
	free(memory);
	return rc;
}

int cm_h5_texts_of_dataset(hid_t set, uint64_t n, struct cm_text_store *store,
			   const char *const **ret_texts)
{
	const char **texts = cm_text_store_alloc(store, n, sizeof(*texts));
	hid_t type = H5Dget_type(set), space = H5Dget_space(set);
	struct reader reader = {.type = H5I_INVALID_HID};
	int rc = !texts ? -EFBIG : type < 0 || space < 0 ? -EINVAL : reader_init(&reader, type);

	if (rc == 0 && reader.is_variable)
		rc = cm_h5_check_references(set, n);
	if (rc == 0)
		rc = read_pieces(set, &reader, space, n, store, texts);
	cm_h5_close(reader.type);
	cm_h5_close(space);
	cm_h5_close(type);
	if (rc == 0)
		*ret_texts = texts;
	return rc;
}
