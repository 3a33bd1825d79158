/* SPDX-License-Identifier: BSD-3-Clause */
/* Holding a suite's folder against what its integrity.json files say. */
#include "collector/suite-check.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collector/suite-bundle.h"
#include "collector/suite-folder.h"
#include "collector/suite-integrity.h"

struct checking {
	struct cm_suite_check *check;
	const char *path;
	struct cm_integrity integrity;
	struct cm_diag *diag;
};

static int note(struct checking *checking, const char *path, const char *what)
{
	struct cm_suite_check *check = checking->check;
	struct cm_suite_finding *findings;
	struct cm_suite_finding finding = {
		cm_arena_copy(&check->arena, path, strlen(path)),
		cm_arena_copy(&check->arena, what, strlen(what)),
	};

	if (check->n_findings == check->n_room) {
		size_t n_room = 2 * check->n_room + 16;

		findings = cm_arena_array(&check->arena, n_room, sizeof(*findings));
		if (!findings)
			return cm_diag_set(checking->diag, -ENOMEM, "out of memory");
		if (check->n_findings)
			memcpy(findings, check->findings, check->n_findings * sizeof(*findings));
		check->findings = findings;
		check->n_room = n_room;
	}
	if (!finding.path || !finding.what)
		return cm_diag_set(checking->diag, -ENOMEM, "out of memory");
	findings = (struct cm_suite_finding *)check->findings; /* our own */
	findings[check->n_findings++] = finding;
	return 0;
}

/* A text about folder/path that begins with just that. */
static const char *without_folder(const struct checking *checking, const char *text)
{
	size_t n = strlen(checking->path);

	return !strncmp(text, checking->path, n) && text[n] == '/' ? text + n + 1 : text;
}

static int note_diag(struct checking *checking, const char *path, const struct cm_diag *diag)
{
	const char *text = without_folder(checking, diag->text);
	size_t n = strlen(path);

	if (!strncmp(text, path, n) && !strncmp(text + n, ": ", 2))
		text += n + 2;
	return note(checking, path, text);
}

static int check_file(struct checking *checking, const struct cm_integrity_file *file,
		      const char *folder, const char *shown)
{
	struct cm_diag diag = {0};
	const char *problem;
	int rc = cm_integrity_check_file(file, folder, &problem, &diag);

	if (rc < 0)
		return note_diag(checking, shown, &diag);
	return rc ? note(checking, shown, problem) : 0;
}

static int check_definitions(struct checking *checking, const struct cm_bundle *bundle,
			     const char *shown)
{
	char id[CM_SHA256_TEXT_BYTES];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < bundle->n_observations; i++) {
		const struct cm_bundle_observation *observation = &bundle->observations[i];

		rc = cm_suite_definition_id(bundle, observation, id, checking->diag);
		if (rc == 0 && strcmp(id, observation->definition_id) != 0)
			return note(checking, shown, "an observation is not of what its id says");
	}
	return rc;
}

/* The evidence itself. */
static int check_bundle(struct checking *checking, size_t row_idx, const char *shown)
{
	struct cm_suite_check *check = checking->check;
	struct cm_bundle_file *file;
	struct cm_diag diag = {0};
	enum cm_row_verdict verdict;
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", checking->path, shown);
	rc = cm_bundle_read(&file, path, &diag);
	if (rc < 0)
		return note_diag(checking, shown, &diag);
	verdict = cm_row_verdict_find(file->bundle.verdict);
	if (strcmp(file->bundle.run_id, check->run_id) != 0 ||
	    file->bundle.row != (int64_t)row_idx + 1)
		rc = note(checking, shown, "is another row, or of another run");
	else if (verdict == CM_N_ROW_VERDICTS)
		rc = note(checking, shown, "has no verdict");
	else
		rc = check_definitions(checking, &file->bundle, shown);
	if (verdict != CM_N_ROW_VERDICTS)
		cm_suite_tally_add(&check->tally, verdict, file->bundle.oracle,
				   file->bundle.n_warnings, file->bundle.is_attempted);
	cm_bundle_free(file);
	return rc;
}

/* A row against its own integrity.json. */
static int check_row_integrity(struct checking *checking, size_t row_idx, const char *shown,
			       const char *shown_h5)
{
	struct cm_suite_check *check = checking->check;
	struct cm_integrity integrity;
	struct cm_diag diag = {0};
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", checking->path, shown);
	rc = cm_integrity_read(&integrity, path, &check->arena, &diag);
	if (rc < 0)
		return note_diag(checking, shown, &diag);
	if (integrity.row != row_idx + 1 || integrity.n_files != 1 ||
	    strcmp(integrity.files[0].path, CM_SUITE_ROW_H5_NAME) != 0 ||
	    strcmp(integrity.run_id, check->run_id) != 0)
		return note(checking, shown, "is of another row or run");
	*strrchr(path, '/') = '\0';
	return check_file(checking, &integrity.files[0], path, shown_h5);
}

static int check_row(struct checking *checking, size_t row_idx)
{
	struct cm_suite_check *check = checking->check;
	const char *json = cm_suite_row_path(row_idx, CM_INTEGRITY_NAME, &check->arena);
	const char *h5 = cm_suite_row_path(row_idx, CM_SUITE_ROW_H5_NAME, &check->arena);
	size_t n_before = check->n_findings;
	int rc = json && h5 ? 0 : cm_diag_set(checking->diag, -ENOMEM, "out of memory");

	if (rc == 0 && check->is_complete && !cm_integrity_find(&checking->integrity, json))
		rc = note(checking, json, "is not in " CM_INTEGRITY_NAME);
	if (rc == 0 && check->is_complete && !cm_integrity_find(&checking->integrity, h5))
		rc = note(checking, h5, "is not in " CM_INTEGRITY_NAME);
	if (rc == 0)
		rc = check_row_integrity(checking, row_idx, json, h5);
	/* Of a file that was changed there is no more to say. */
	if (rc == 0 && check->n_findings == n_before)
		rc = check_bundle(checking, row_idx, h5);
	return rc;
}

static bool has_row(const struct checking *checking, size_t row_idx)
{
	char name[CM_SUITE_ROW_NAME_BYTES], path[PATH_MAX];
	struct stat st;

	cm_suite_row_name(row_idx, name);
	snprintf(path, sizeof(path), "%s/" CM_SUITE_ROWS_NAME "/%s", checking->path, name);
	return lstat(path, &st) == 0;
}

/* All rows up to the last that is there, or all. */
static int check_rows(struct checking *checking)
{
	struct cm_suite_check *check = checking->check;
	int rc = 0;

	for (check->n_found = check->n_rows; check->n_found; check->n_found--)
		if (has_row(checking, check->n_found - 1))
			break;
	for (size_t i = 0; rc == 0 && i < check->n_rows; i++) {
		char name[CM_SUITE_ROW_NAME_BYTES], shown[2 * CM_SUITE_ROW_NAME_BYTES];

		if (!check->is_complete && i >= check->n_found)
			break;
		cm_suite_row_name(i, name);
		snprintf(shown, sizeof(shown), CM_SUITE_ROWS_NAME "/%s", name);
		rc = has_row(checking, i) ? check_row(checking, i)
					  : note(checking, shown, "missing");
	}
	return rc;
}

/* The number of the row in "rows/0001...", from 1; 0: it is none of the suite's rows. */
static size_t row_of(const struct checking *checking, const char *shown)
{
	size_t row;

	if (strncmp(shown, CM_SUITE_ROWS_NAME "/", strlen(CM_SUITE_ROWS_NAME "/")) != 0)
		return 0;
	row = strtoul(shown + strlen(CM_SUITE_ROWS_NAME "/"), NULL, 10);
	return row <= checking->check->n_rows ? row : 0;
}

/* Is it something that we write? */
static bool is_known(const struct checking *checking, const char *shown, bool is_folder)
{
	const char *rest = shown + strlen(CM_SUITE_ROWS_NAME "/");
	char name[CM_SUITE_ROW_NAME_BYTES];
	size_t row = row_of(checking, shown);

	if (!row)
		return is_folder ? !strcmp(shown, CM_SUITE_ROWS_NAME)
				 : !strcmp(shown, CM_SUITE_H5_NAME) ||
					   !strcmp(shown, CM_SUITE_JSON_NAME) ||
					   !strcmp(shown, CM_INTEGRITY_NAME);
	cm_suite_row_name(row - 1, name);
	if (is_folder)
		return !strcmp(rest, name);
	return !strncmp(rest, name, strlen(name)) &&
	       (!strcmp(rest + strlen(name), "/" CM_SUITE_ROW_H5_NAME) ||
		!strcmp(rest + strlen(name), "/" CM_INTEGRITY_NAME));
}

/* The list at the top: what a run writes, and each file as it says. */
static int check_listed(struct checking *checking)
{
	const struct cm_integrity *integrity = &checking->integrity;
	size_t n_expected = 2 + (integrity->is_complete ? 2 * integrity->n_rows : 0);
	bool is_odd = integrity->row || integrity->n_files != n_expected ||
		      integrity->is_complete == !*integrity->verdict;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < integrity->n_files; i++) {
		const struct cm_integrity_file *file = &integrity->files[i];
		size_t row = row_of(checking, file->path);

		if (!is_known(checking, file->path, false) ||
		    !strcmp(file->path, CM_INTEGRITY_NAME))
			is_odd = true;
		else if (!row || has_row(checking, row - 1)) /* one that is gone is said once */
			rc = check_file(checking, file, checking->path, file->path);
	}
	return rc == 0 && is_odd ? note(checking, CM_INTEGRITY_NAME, "is not what a run writes")
				 : rc;
}

/* The row that was being written when the run was killed. */
static bool is_leftover(const struct checking *checking, const char *shown)
{
	char name[CM_SUITE_ROW_NAME_BYTES];

	if (checking->check->is_complete)
		return false;
	cm_suite_row_temporary(checking->check->n_found, name);
	return !strncmp(shown, CM_SUITE_ROWS_NAME "/", strlen(CM_SUITE_ROWS_NAME "/")) &&
	       !strcmp(shown + strlen(CM_SUITE_ROWS_NAME "/"), name);
}

static int look_into(struct checking *checking, const char *shown);

static int look_at(struct checking *checking, const char *shown)
{
	struct cm_suite_check *check = checking->check;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", checking->path, shown);
	if (lstat(path, &st) < 0)
		return cm_diag_set(checking->diag, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode) && is_leftover(checking, shown)) {
		check->leftover = cm_arena_copy(&check->arena, shown, strlen(shown));
		return 0;
	}
	if (!is_known(checking, shown, S_ISDIR(st.st_mode)))
		return note(checking, shown, "does not belong here");
	return S_ISDIR(st.st_mode) ? look_into(checking, shown) : 0;
}

/* shown "": the folder itself. */
static int look_into(struct checking *checking, const char *shown)
{
	struct cm_arena *arena = &checking->check->arena;
	char path[PATH_MAX];
	struct dirent *entry;
	int rc = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", checking->path, shown);
	dir = opendir(path);
	if (!dir)
		return cm_diag_set(checking->diag, -errno, "%s: %s", path, strerror(errno));
	while (rc == 0 && (entry = readdir(dir))) {
		const char *name;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		name = cm_arena_format(arena, "%s%s%s", shown, *shown ? "/" : "", entry->d_name);
		rc = name ? look_at(checking, name)
			  : cm_diag_set(checking->diag, -ENOMEM, "out of memory");
	}
	(void)closedir(dir); /* read only */
	return rc;
}

static int check_verdict(struct checking *checking)
{
	struct cm_suite_check *check = checking->check;
	const char *verdict = cm_suite_verdict_name(cm_suite_tally_verdict(&check->tally));

	if (!check->is_complete || check->n_findings || !strcmp(verdict, check->verdict))
		return 0;
	return note(checking, CM_INTEGRITY_NAME, "its verdict is not that of the rows");
}

int cm_suite_check(struct cm_suite_check *check, const char *path, struct cm_diag *diag)
{
	struct checking checking = {.check = check, .path = path, .diag = diag};
	struct cm_diag own = {0};
	char name[PATH_MAX];
	struct stat st;
	int rc;

	*check = (struct cm_suite_check){.run_id = "", .verdict = ""};
	if (strlen(path) >= PATH_MAX / 2)
		return cm_diag_set(diag, -ENAMETOOLONG, "%s: the path is too long", path);
	if (stat(path, &st) < 0)
		return cm_diag_set(diag, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return cm_diag_set(diag, -ENOTDIR, "%s: is no folder of a suite", path);
	snprintf(name, sizeof(name), "%s/" CM_INTEGRITY_NAME, path);
	rc = cm_integrity_read(&checking.integrity, name, &check->arena, &own);
	if (rc < 0)
		return note_diag(&checking, CM_INTEGRITY_NAME, &own);
	check->is_complete = checking.integrity.is_complete;
	check->run_id = checking.integrity.run_id;
	check->verdict = checking.integrity.verdict;
	check->n_rows = checking.integrity.n_rows;
	check->n_files = checking.integrity.n_files;
	rc = check_listed(&checking);
	if (rc == 0)
		rc = check_rows(&checking);
	if (rc == 0)
		rc = look_into(&checking, "");
	return rc < 0 ? rc : check_verdict(&checking);
}

void cm_suite_check_fini(struct cm_suite_check *check)
{
	cm_arena_fini(&check->arena);
	memset(check, 0, sizeof(*check));
}
