/* SPDX-License-Identifier: BSD-3-Clause */
/* One file from many ranks' files. */
#include "writer/h5-merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-get.h"
#include "writer/h5-open.h"
#include "writer/h5-put.h"
#include "writer/h5-schema.h"
#include "writer/h5-sink.h"
#include "writer/tempfile.h"

/* A list of more missing ranks than this says nothing any more. */
#define MAX_MISSING (1 << 24)

#define ROOT_TEXT_BYTES ((size_t)1 << 20)

int cm_merge_mpi_size(const char *path, int64_t *ret_size, struct cm_diag *diag)
{
	hid_t file, group;
	int64_t size = 0;
	int rc = cm_h5_open_file(path, &file, diag);

	if (rc < 0)
		return rc;
	group = cm_h5_open_child(file, CM_H5_METADATA, H5I_GROUP);
	if (group >= 0)
		rc = cm_h5_get_integer(group, CM_H5_MPI_SIZE, &size);
	cm_h5_close(group);
	cm_h5_close_file(file);
	*ret_size = rc > 0 ? size : 0;
	return 0;
}

bool cm_merge_has_rank(const char *path, int64_t rank)
{
	char name[32];
	hid_t file;
	bool has_rank;

	if (cm_h5_open_file(path, &file, NULL) < 0)
		return false;
	snprintf(name, sizeof(name), CM_H5_RANK_PREFIX "%lld", (long long)rank);
	has_rank = H5Lexists(file, name, H5P_DEFAULT) > 0;
	cm_h5_close_file(file);
	return has_rank;
}

static int put_missing(hid_t file, const struct cm_merge_part *parts, size_t n, int64_t mpi_size)
{
	size_t n_missing = 0, next = 0;
	int64_t *missing;
	int rc;

	if (mpi_size <= 0 || mpi_size > MAX_MISSING)
		return cm_h5_put_integers(file, CM_H5_MISSING_RANKS, NULL, 0);
	missing = calloc((size_t)mpi_size, sizeof(*missing));
	if (!missing)
		return -ENOMEM;
	for (int64_t rank = 0; rank < mpi_size; rank++) {
		while (next < n && parts[next].rank < rank)
			next++;
		if (next == n || parts[next].rank != rank)
			missing[n_missing++] = rank;
	}
	rc = cm_h5_put_integers(file, CM_H5_MISSING_RANKS, missing, n_missing);
	free(missing);
	return rc;
}

static int set_mpi_size(hid_t file, int64_t mpi_size)
{
	hid_t group = H5Gopen2(file, CM_H5_METADATA, H5P_DEFAULT);
	int rc = -EIO;

	if (group >= 0 &&
	    (H5Aexists(group, CM_H5_MPI_SIZE) <= 0 || H5Adelete(group, CM_H5_MPI_SIZE) >= 0))
		rc = cm_h5_put_integer(group, CM_H5_MPI_SIZE, mpi_size);
	cm_h5_close(group);
	return rc;
}

/* The root's attributes and /metadata, from the first part's file. */
static int put_root(hid_t file, hid_t first, const struct cm_merge_how *how)
{
	const char *version = "", *run_id = "";
	struct cm_text_store store;
	int rc;

	cm_text_store_init(&store, ROOT_TEXT_BYTES);
	rc = cm_h5_get_string(first, CM_H5_VERSION, &store, &version);
	if (rc >= 0)
		rc = cm_h5_get_string(first, CM_H5_RUN_ID, &store, &run_id);
	if (rc >= 0)
		rc = cm_h5_put_integer(file, CM_H5_SCOPE_SCHEMA, CM_H5_SCHEMA_VERSION);
	if (rc == 0)
		rc = cm_h5_put_integer(file, CM_H5_OUR_SCHEMA, CM_H5_SCHEMA_VERSION);
	if (rc == 0)
		rc = cm_h5_put_string(file, CM_H5_VERSION, version);
	if (rc == 0)
		rc = cm_h5_put_string(file, CM_H5_RUN_ID, how->drop_run_id ? "" : run_id);
	if (rc == 0 &&
	    H5Ocopy(first, CM_H5_METADATA, file, CM_H5_METADATA, H5P_DEFAULT, H5P_DEFAULT) < 0)
		rc = -EIO;
	if (rc == 0 && how->set_mpi_size)
		rc = set_mpi_size(file, how->mpi_size);
	cm_text_store_fini(&store);
	return rc;
}

static int put_part(hid_t file, const struct cm_merge_part *part, hid_t source)
{
	char name[32];
	const char *group = part->group ? part->group : name;
	herr_t status;

	snprintf(name, sizeof(name), CM_H5_RANK_PREFIX "%lld", (long long)part->rank);
	if (part->link)
		status =
			H5Lcreate_external(part->link, group, file, name, H5P_DEFAULT, H5P_DEFAULT);
	else
		status = H5Ocopy(source, group, file, name, H5P_DEFAULT, H5P_DEFAULT);
	return status < 0 ? -EIO : 0;
}

/* The file of a part; several parts in a row may be in one. */
struct source {
	hid_t file;
	const char *path;
};

static int open_source(struct source *source, const char *path, struct cm_diag *diag)
{
	int rc;

	if (source->path && strcmp(source->path, path) == 0)
		return 0;
	cm_h5_close_file(source->file);
	*source = (struct source){.file = H5I_INVALID_HID};
	rc = cm_h5_open_file(path, &source->file, diag);
	if (rc == 0)
		source->path = path;
	return rc;
}

static int put_parts(struct cm_h5_sink *sink, hid_t file, const struct cm_merge_part *parts,
		     size_t n, const struct cm_merge_how *how, struct cm_diag *diag)
{
	struct source source = {.file = H5I_INVALID_HID};
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		if (i == 0 || !parts[i].link)
			rc = open_source(&source, parts[i].path, diag);
		if (rc < 0)
			break; /* diag has it */
		if (i == 0)
			rc = put_root(file, source.file, how);
		if (rc == 0)
			rc = put_part(file, &parts[i], source.file);
		if (rc == 0)
			rc = sink->error; /* HDF5 does not know (h5-driver.h) */
		if (rc < 0)
			rc = cm_h5_sink_fail(sink, diag, parts[i].path, "cannot be merged");
	}
	cm_h5_close_file(source.file);
	if (rc == 0 && put_missing(file, parts, n, how->mpi_size) < 0)
		rc = cm_h5_sink_fail(sink, diag, parts[0].path, "cannot be merged");
	return rc;
}

int cm_merge(const char *path, const struct cm_merge_part *parts, size_t n,
	     const struct cm_merge_how *how, struct cm_diag *diag)
{
	hid_t file = H5I_INVALID_HID;
	struct cm_tempfile temp;
	struct cm_h5_sink sink;
	int rc = cm_h5_init(diag), closed;

	if (rc == 0)
		rc = cm_tempfile_open(&temp, path, diag);
	if (rc < 0)
		return rc;
	cm_h5_sink_init(&sink, temp.fd);
	rc = cm_h5_sink_create(&sink, path, &file, diag);
	if (rc == 0)
		rc = put_parts(&sink, file, parts, n, how, diag);
	if (rc < 0)
		cm_h5_sink_drop(&sink);
	closed = cm_h5_sink_close(&sink, file, path, rc < 0 ? NULL : diag);
	if (rc == 0)
		rc = closed;
	if (rc == 0)
		return cm_tempfile_commit(&temp, diag);
	cm_tempfile_discard(&temp);
	return rc;
}
