/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands under a name (writer/h5-merge.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "writer/h5-base.h"
#include "writer/h5-get.h"
#include "writer/h5-load.h"
#include "writer/h5-merge.h"
#include "writer/h5-open.h"
#include "writer/h5-schema.h"
#include "writer/writer.h"

#define STORE_BYTES ((size_t)256 << 20)

static int compare(const void *a, const void *b)
{
	const struct cm_present_rank *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int read_ranks(struct cm_presence *presence, hid_t file, struct cm_text_store *store)
{
	struct cm_load_names names;
	int rc = cm_load_names(&names, file, store);

	if (rc < 0)
		return rc;
	presence->ranks = calloc(names.n + 1, sizeof(*presence->ranks));
	for (size_t i = 0; presence->ranks && i < names.n; i++) {
		struct cm_present_rank *rank = &presence->ranks[presence->n_ranks];

		rank->is_link = names.items[i].type != H5L_TYPE_HARD;
		if (cm_load_rank_number(names.items[i].name, &rank->rank) == 0)
			presence->n_ranks++;
	}
	free(names.items);
	if (!presence->ranks)
		return -ENOMEM;
	qsort(presence->ranks, presence->n_ranks, sizeof(*presence->ranks), compare);
	return 0;
}

static int read_profile(struct cm_presence *presence, hid_t file)
{
	struct cm_text_store store;
	const char *run_id = "";
	int rc;

	if (H5Aexists(file, CM_H5_OUR_SCHEMA) <= 0 && H5Aexists(file, CM_H5_SCOPE_SCHEMA) <= 0)
		return 0;
	cm_text_store_init(&store, STORE_BYTES);
	rc = cm_h5_get_string(file, CM_H5_RUN_ID, &store, &run_id);
	if (rc >= 0)
		rc = read_ranks(presence, file, &store);
	if (rc == 0) {
		presence->run_id = strdup(run_id);
		presence->what = CM_PRESENT_PROFILE;
		rc = presence->run_id ? 0 : -ENOMEM;
	}
	cm_text_store_fini(&store);
	return rc;
}

int cm_presence_init(struct cm_presence *presence, const char *path, struct cm_diag *diag)
{
	struct cm_diag ignored = {0};
	struct stat st;
	hid_t file;
	int rc;

	*presence = (struct cm_presence){.what = CM_PRESENT_NOTHING};
	if (stat(path, &st) < 0) {
		rc = errno == ENOENT ? 0 : -errno;
		return rc == 0 ? 0 : cm_diag_set(diag, rc, "%s: %s", path, strerror(-rc));
	}
	if (S_ISREG(st.st_mode) && st.st_size == 0)
		return 0; /* made by mktemp or the like: nothing to lose */
	presence->what = CM_PRESENT_FOREIGN;
	rc = cm_h5_open_file(path, &file, &ignored);
	if (rc == -ENOENT)
		presence->what = CM_PRESENT_NOTHING; /* gone since */
	if (rc == -ENOENT || rc == -EINVAL)
		return 0;
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s", ignored.text);
	rc = read_profile(presence, file);
	(void)H5Eclear2(H5E_DEFAULT); /* of look-ups that may fail */
	cm_h5_close_file(file);
	if (rc == -EINVAL) { /* damaged: nobody's to replace */
		cm_presence_fini(presence);
		presence->what = CM_PRESENT_FOREIGN;
		return 0;
	}
	if (rc < 0) {
		cm_presence_fini(presence);
		return cm_diag_set(diag, rc, "%s: %s", path, strerror(-rc));
	}
	return 0;
}

bool cm_writer_is_profile(const char *path)
{
	struct cm_presence presence;
	bool is_profile =
		cm_presence_init(&presence, path, NULL) == 0 && presence.what == CM_PRESENT_PROFILE;

	cm_presence_fini(&presence);
	return is_profile;
}

void cm_presence_fini(struct cm_presence *presence)
{
	free(presence->run_id);
	free(presence->ranks);
	*presence = (struct cm_presence){.what = CM_PRESENT_NOTHING};
}

const struct cm_present_rank *cm_presence_find(const struct cm_presence *presence, int64_t rank)
{
	struct cm_present_rank key = {.rank = rank};

	if (!presence->n_ranks)
		return NULL;
	return bsearch(&key, presence->ranks, presence->n_ranks, sizeof(key), compare);
}
