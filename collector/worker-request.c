/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. What belongs to one item follows its first key. */
#include "collector/worker-request.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES (64 << 20)

static void put(FILE *out, const char *key, const char *value)
{
	if (!value)
		return;
	(void)fwrite(key, strlen(key) + 1, 1, out); /* the stream remembers an error */
	(void)fwrite(value, strlen(value) + 1, 1, out);
}

static void put_declaration(FILE *out, const struct cm_declaration *declaration)
{
	put(out, "event_set", declaration->event_set);
	for (size_t i = 0; i < declaration->n_cpuids; i++) {
		char cpu[16];

		snprintf(cpu, sizeof(cpu), "%d", declaration->cpuids[i]);
		put(out, "cpu", cpu);
	}
	for (size_t i = 0; i < declaration->n_units; i++) {
		put(out, "unit_event", declaration->units[i].event);
		put(out, "unit", declaration->units[i].unit);
	}
}

static void put_row(FILE *out, const struct cm_worker_row *row)
{
	put(out, "source", row->source.path);
	put(out, "source_sha256", row->source.sha256);
	for (size_t i = 0; i < row->n_files; i++) {
		put(out, "file", row->files[i].path);
		put(out, "file_sha256", row->files[i].sha256);
	}
	put(out, "target", row->target.path);
	put(out, "target_sha256", row->target.sha256);
	put(out, "target_build_id", row->target.build_id);
	put(out, "target_soname", row->target.soname);
	put(out, "target_version", row->target.version);
	put(out, row->is_oracle_required ? "oracle_required" : "oracle", row->oracle);
	for (size_t i = 0; i < row->n_probes; i++)
		put(out, row->probes[i].is_blocking ? "probe_blocking" : "probe",
		    row->probes[i].function);
	put_declaration(out, &row->declaration);
	for (size_t i = 0; row->command && row->command[i]; i++)
		put(out, "argument", row->command[i]);
}

int cm_worker_request_write(const struct cm_worker_row *row)
{
	int fd = memfd_create("callmark-request", MFD_CLOEXEC), copy;
	FILE *out;
	bool is_bad;

	if (fd < 0)
		return -errno;
	copy = dup(fd);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out) {
		int rc = -errno;

		if (copy >= 0)
			close(copy);
		close(fd);
		return rc;
	}
	put_row(out, row);
	is_bad = ferror(out);
	if (fclose(out) != 0 || is_bad) {
		close(fd);
		return -ENOMEM;
	}
	return fd;
}

/* Growing lists, each with room for as many items as there are keys. */
struct reading {
	struct cm_worker_row *row;
	struct cm_worker_file *files;
	struct cm_worker_probe *probes;
	int *cpus;
	struct cm_event_unit *units;
	const char **arguments;
	size_t n_arguments;
};

static int take_cpu(struct reading *reading, const char *value)
{
	char *end;
	long cpu = strtol(value, &end, 10);

	if (end == value || *end || cpu < INT_MIN || cpu > INT_MAX)
		return -EINVAL;
	reading->cpus[reading->row->declaration.n_cpuids++] = (int)cpu;
	return 0;
}

/* Keys that set one text. NULL: another key. */
static const char **find_text(struct cm_worker_row *row, const char *key)
{
	struct {
		const char *key;
		const char **text;
	} texts[] = {
		{"source", &row->source.path},
		{"source_sha256", &row->source.sha256},
		{"target", &row->target.path},
		{"target_sha256", &row->target.sha256},
		{"target_build_id", &row->target.build_id},
		{"target_soname", &row->target.soname},
		{"target_version", &row->target.version},
		{"event_set", &row->declaration.event_set},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (!strcmp(texts[i].key, key))
			return texts[i].text;
	}
	return NULL;
}

static int take(struct reading *reading, const char *key, const char *value)
{
	struct cm_worker_row *row = reading->row;
	const char **text = find_text(row, key);

	if (text) {
		*text = value;
	} else if (!strcmp(key, "file")) {
		reading->files[row->n_files++].path = value;
	} else if (!strcmp(key, "file_sha256") && row->n_files) {
		reading->files[row->n_files - 1].sha256 = value;
	} else if (!strcmp(key, "oracle") || !strcmp(key, "oracle_required")) {
		row->oracle = value;
		row->is_oracle_required = key[6] == '_';
	} else if (!strcmp(key, "probe") || !strcmp(key, "probe_blocking")) {
		reading->probes[row->n_probes++] = (struct cm_worker_probe){value, key[5] == '_'};
	} else if (!strcmp(key, "cpu")) {
		return take_cpu(reading, value);
	} else if (!strcmp(key, "unit_event")) {
		reading->units[row->declaration.n_units++].event = value;
	} else if (!strcmp(key, "unit") && row->declaration.n_units) {
		reading->units[row->declaration.n_units - 1].unit = value;
	} else if (!strcmp(key, "argument")) {
		reading->arguments[reading->n_arguments++] = value;
	} else {
		return -EINVAL;
	}
	return 0;
}

static int make_lists(struct reading *reading, size_t n, struct cm_arena *arena)
{
	struct cm_worker_row *row = reading->row;

	reading->files = cm_arena_array(arena, n, sizeof(*reading->files));
	reading->probes = cm_arena_array(arena, n, sizeof(*reading->probes));
	reading->cpus = cm_arena_array(arena, n, sizeof(*reading->cpus));
	reading->units = cm_arena_array(arena, n, sizeof(*reading->units));
	reading->arguments = cm_arena_array(arena, n + 1, sizeof(*reading->arguments));
	if (!reading->files || !reading->probes || !reading->cpus || !reading->units ||
	    !reading->arguments)
		return -ENOMEM;
	row->files = reading->files;
	row->probes = reading->probes;
	row->declaration.cpuids = reading->cpus;
	row->declaration.units = reading->units;
	return 0;
}

static int parse(struct cm_worker_row *row, const char *text, size_t n_bytes,
		 struct cm_arena *arena)
{
	struct reading reading = {.row = row};
	const char *end = text + n_bytes;
	size_t n_texts = 0;
	int rc;

	for (size_t i = 0; i < n_bytes; i++)
		n_texts += !text[i];
	if (!n_bytes || end[-1] || n_texts % 2)
		return -EINVAL;
	memset(row, 0, sizeof(*row));
	rc = make_lists(&reading, n_texts / 2, arena);
	while (rc == 0 && text < end) {
		const char *value = text + strlen(text) + 1;

		rc = take(&reading, text, value);
		text = value + strlen(value) + 1;
	}
	if (reading.n_arguments)
		row->command = reading.arguments;
	return rc;
}

int cm_worker_request_read(struct cm_worker_row *row, int fd, struct cm_arena *arena)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size > MAX_BYTES)
		return -EINVAL;
	text = cm_arena_array(arena, (size_t)st.st_size + 1, 1);
	if (!text)
		return -ENOMEM;
	if (pread(fd, text, (size_t)st.st_size, 0) != st.st_size)
		return -EINVAL;
	return parse(row, text, (size_t)st.st_size, arena);
}
