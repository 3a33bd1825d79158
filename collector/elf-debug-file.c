/* SPDX-License-Identifier: BSD-3-Clause */
/* Find what holds the stripped symbols and lines of a binary. */
#include "collector/elf-debug-file.h"

#include <errno.h>
#include <libelf.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/elf-build-id.h"

#define DEBUG_ROOT "/usr/lib/debug"
#define MAX_CRC_BYTES ((off_t)4 << 30)
#define MAX_INSIDE_BYTES ((size_t)1 << 28)
#define MAX_INSIDE_MEMORY ((uint64_t)1 << 28)

/* What a debug file must have in common with the binary. */
struct wanted {
	const uint8_t *id;
	size_t n_id;
	bool has_crc;
	uint32_t crc;
	dev_t dev; /* of the binary, which may have the very name that the link tells */
	ino_t ino;
};

/* The bytes of a section as they are in the file; NULL: it is not there, or empty. */
static const Elf_Data *read_section(Elf *handle, const char *name)
{
	Elf_Scn *section = cm_elf_file_section(handle, name);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	return data && data->d_buf && data->d_size ? data : NULL;
}

static bool has_crc(int fd, uint32_t crc)
{
	uint8_t buf[65536];
	uint32_t sum = 0;
	off_t at = 0;
	ssize_t n = 0;

	while (at < MAX_CRC_BYTES && (n = pread(fd, buf, sizeof(buf), at)) > 0) {
		sum = lzma_crc32(buf, (size_t)n, sum);
		at += n;
	}
	return n == 0 && sum == crc;
}

static bool is_wanted(const struct cm_elf_file *file, const struct stat *st,
		      const struct wanted *wanted)
{
	const uint8_t *id;
	size_t n_id;

	if (st->st_dev == wanted->dev && st->st_ino == wanted->ino)
		return false;
	if (wanted->n_id && cm_elf_sections_build_id(file->handle, &id, &n_id) == 1)
		return n_id == wanted->n_id && !memcmp(id, wanted->id, n_id);
	return wanted->has_crc && has_crc(file->fd, wanted->crc);
}

/* Is the file at this path the one? Then it is the place. */
static bool try_path(struct cm_elf_debug_place *place, const char *path,
		     const struct wanted *wanted)
{
	struct cm_elf_file file;
	struct stat st;
	bool is_it;

	if (strlen(path) >= sizeof(place->path) || cm_elf_file_open(&file, path) < 0)
		return false;
	is_it = !fstat(file.fd, &st) && is_wanted(&file, &st, wanted);
	cm_elf_file_close(&file);
	if (!is_it)
		return false;
	strcpy(place->path, path);
	place->mtime_ns =
		(uint64_t)st.st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)st.st_mtim.tv_nsec;
	return true;
}

static bool find_by_build_id(struct cm_elf_debug_place *place, const struct wanted *wanted)
{
	char path[sizeof(DEBUG_ROOT) + 160];
	int n = snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/");

	if (wanted->n_id < 2 || wanted->n_id > 64)
		return false;
	for (size_t i = 0; i < wanted->n_id; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, i ? "%02x" : "%02x/",
			      wanted->id[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	return try_path(place, path, wanted);
}

/* A name, NUL, padding to 4, and the checksum of the file with that name. */
static bool read_link(Elf *handle, char *name, size_t n_name, uint32_t *ret_crc)
{
	const Elf_Data *link = read_section(handle, ".gnu_debuglink");
	size_t length;

	if (!link)
		return false;
	length = strnlen(link->d_buf, link->d_size);
	if (!length || length >= n_name || length / 4 * 4 + 8 > link->d_size ||
	    memchr(link->d_buf, '/', length))
		return false;
	memcpy(name, link->d_buf, length);
	name[length] = '\0';
	memcpy(ret_crc, (const char *)link->d_buf + length / 4 * 4 + 4, sizeof(*ret_crc));
	return true;
}

static bool find_by_link(struct cm_elf_debug_place *place, const char *folder, const char *name,
			 const struct wanted *wanted)
{
	static const char before[][16] = {"", "", DEBUG_ROOT}, between[][8] = {"", "/.debug", ""};
	char path[PATH_MAX + 512];

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		snprintf(path, sizeof(path), "%s%s%s/%s", before[i], folder, between[i], name);
		if (try_path(place, path, wanted))
			return true;
	}
	return false;
}

void cm_elf_debug_find(struct cm_elf_debug_place *place, Elf *handle, const char *path,
		       const uint8_t *id, size_t n_id)
{
	struct wanted wanted = {.id = id, .n_id = n_id};
	char folder[PATH_MAX], name[256];
	struct stat st;

	place->path[0] = '\0';
	place->mtime_ns = 0;
	if (find_by_build_id(place, &wanted) ||
	    !read_link(handle, name, sizeof(name), &wanted.crc) || !realpath(path, folder) ||
	    stat(folder, &st))
		return;
	wanted.has_crc = true;
	wanted.dev = st.st_dev;
	wanted.ino = st.st_ino;
	*strrchr(folder, '/') = '\0';
	(void)find_by_link(place, folder, name, &wanted); /* or there is none */
}

/* The whole of an xz file. -ENOENT: damaged, or too large to be what it should be. */
static int expand(const Elf_Data *data, char **ret_bytes, size_t *ret_n)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t n_room = 0;
	char *bytes = NULL;
	lzma_ret rc = lzma_stream_decoder(&stream, MAX_INSIDE_MEMORY, 0);

	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	while (rc == LZMA_OK && n_room < MAX_INSIDE_BYTES) {
		size_t n_more = n_room ? 2 * n_room : 1 << 16;
		char *more = realloc(bytes, n_more);

		if (!more) {
			rc = LZMA_MEM_ERROR;
			break;
		}
		bytes = more;
		stream.next_out = (uint8_t *)bytes + n_room;
		stream.avail_out = n_more - n_room;
		n_room = n_more;
		rc = lzma_code(&stream, LZMA_FINISH);
	}
	*ret_n = (size_t)stream.total_out;
	lzma_end(&stream);
	if (rc == LZMA_STREAM_END) {
		*ret_bytes = bytes;
		return 0;
	}
	free(bytes);
	return rc == LZMA_MEM_ERROR ? -ENOMEM : -ENOENT;
}

int cm_elf_debug_expand(struct cm_elf_file *ret_file, Elf *handle)
{
	const Elf_Data *data = read_section(handle, ".gnu_debugdata");
	struct cm_elf_file file = {.fd = -1};
	size_t n;
	int rc = data ? expand(data, &file.bytes, &n) : -ENOENT;

	if (rc < 0)
		return rc;
	file.handle = elf_memory(file.bytes, n);
	if (file.handle && elf_kind(file.handle) == ELF_K_ELF) {
		*ret_file = file;
		return 0;
	}
	(void)elf_end(file.handle); /* NULL is allowed */
	free(file.bytes);
	return -ENOENT;
}
