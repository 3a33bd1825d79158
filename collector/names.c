/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns, and who has the main name. */
#include "collector/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "preload/environment.h"

#define MAX_EXE 64 /* bytes of an executable's name that go into a file's */

static bool uses(const char *pattern, char key)
{
	for (const char *p = strchr(pattern, '%'); p && p[1]; p = strchr(p + 2, '%')) {
		if (p[1] == key)
			return true;
	}
	return false;
}

/* Appends are cut silently at the end; the caller sees a full buffer. */
static size_t put(char *buf, size_t n_bytes, size_t n, const char *text)
{
	size_t n_text = strlen(text);

	if (n + n_text >= n_bytes)
		return n_bytes;
	memcpy(buf + n, text, n_text + 1);
	return n + n_text;
}

static int expand(const char *pattern, const struct cm_spool_reader *reader, int64_t rank,
		  char *buf, size_t n_bytes)
{
	size_t n = 0;

	buf[0] = '\0';
	for (const char *p = pattern; *p && n < n_bytes; p++) {
		char piece[24] = {*p, '\0'};
		const char *text = piece;
		char key = *p == '%' ? p[1] : '\0';

		if (key == 'r')
			snprintf(piece, sizeof(piece), "%ld", (long)rank);
		else if (key == 'p')
			snprintf(piece, sizeof(piece), "%lu", (unsigned long)reader->process.pid);
		else if (key == 'h')
			text = *reader->hostname ? reader->hostname : "unknown";
		if (key == 'r' || key == 'p' || key == 'h')
			p++;
		n = put(buf, n_bytes, n, text);
	}
	return n < n_bytes ? 0 : -ENAMETOOLONG;
}

/* The executable's base name, safe inside a file's name. */
static void plain_exe(const char *executable, char *buf)
{
	const char *base = strrchr(executable, '/');
	size_t n = 0;

	for (base = base ? base + 1 : executable; *base && n < MAX_EXE; base++) {
		bool is_plain = (*base >= '0' && *base <= '9') || (*base >= 'a' && *base <= 'z') ||
				(*base >= 'A' && *base <= 'Z') || strchr("._+-", *base);

		buf[n++] = is_plain ? *base : '_';
	}
	buf[n] = '\0';
	if (!n)
		strcpy(buf, "process");
}

/* <stem>.<exe>-<pid>.h5; the stem is the main name without its .h5. */
static int find_other(struct cm_names *names, const struct cm_spool_reader *reader)
{
	size_t n_stem = strlen(names->main_path);
	char exe[MAX_EXE + 1];
	int n;

	if (n_stem > 3 && !strcmp(names->main_path + n_stem - 3, ".h5") &&
	    names->main_path[n_stem - 4] != '/')
		n_stem -= 3;
	plain_exe(reader->executable, exe);
	n = snprintf(names->other_path, sizeof(names->other_path), "%.*s.%s-%lu.h5", (int)n_stem,
		     names->main_path, exe, (unsigned long)reader->process.pid);
	return n < (int)sizeof(names->other_path) ? 0 : -ENAMETOOLONG;
}

/* The spool's own pattern; a relative one (or none) is in the process's working directory. */
static const char *in_cwd(struct cm_spool_reader *reader)
{
	const char *pattern = *reader->output ? reader->output : CM_DEFAULT_OUTPUT;

	if (*pattern == '/' || !*reader->cwd)
		return pattern;
	return cm_arena_format(&reader->arena, "%s/%s", reader->cwd, pattern);
}

int cm_names_find(struct cm_names *names, struct cm_spool_reader *reader,
		  const struct cm_rank *rank, const char *pattern, struct cm_diag *diag)
{
	const char *ranked = cm_spool_reader_getenv(reader, CM_ENV_RANKED);
	uint64_t main_pid = reader->process.main_pid;
	bool is_started = !main_pid || main_pid == reader->process.pid;
	int rc;

	names->is_ranked = ranked && !strcmp(ranked, "1");
	if (!pattern || !*pattern)
		pattern = in_cwd(reader);
	rc = pattern ? 0 : -ENOMEM;
	if (rc == 0)
		rc = expand(pattern, reader, rank->rank, names->main_path,
			    sizeof(names->main_path));
	if (rc == 0)
		rc = find_other(names, reader);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: the output's name: %s", reader->path,
				   strerror(-rc));
	names->has_main = is_started || (rank->has_rank && !names->is_ranked) || uses(pattern, 'p');
	names->join_size =
		rank->has_rank && !uses(pattern, 'r') && !uses(pattern, 'p') ? rank->size : 1;
	return 0;
}
