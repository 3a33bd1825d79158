/* SPDX-License-Identifier: BSD-3-Clause */
/* Find and open what holds the stripped symbols of a binary. */
#include "collector/elf-stripped.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/elf-build-id.h"
#include "collector/elf-code.h"
#include "collector/elf-image.h"

#define DEBUG_ROOT "/usr/lib/debug"
#define MAX_MINI_BYTES ((size_t)1 << 28)
#define MAX_MINI_MEMORY ((uint64_t)1 << 28)

struct cm_elf_stripped {
	int fd;
	Elf *handle;
	char *bytes; /* of .gnu_debugdata, expanded */
};

/* What a debug file must have in common with the binary. */
struct wanted {
	const uint8_t *build_id;
	size_t n_build_id;
	uint32_t crc;
	dev_t dev; /* of the binary, which may have the very name that the link tells */
	ino_t ino;
};

static bool is_regular(const char *path, struct stat *st)
{
	return !stat(path, st) && S_ISREG(st->st_mode);
}

static bool take(struct cm_elf_stripped_place *place, const char *path, const struct stat *st)
{
	if (strlen(path) >= sizeof(place->path))
		return false;
	strcpy(place->path, path);
	place->mtime_ns =
		(uint64_t)st->st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)st->st_mtim.tv_nsec;
	return true;
}

static bool find_by_build_id(struct cm_elf_stripped_place *place, const struct wanted *wanted)
{
	char path[sizeof(DEBUG_ROOT) + 160];
	int n = snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/");
	struct stat st;

	if (wanted->n_build_id < 2 || wanted->n_build_id > 64)
		return false;
	for (size_t i = 0; i < wanted->n_build_id; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, i ? "%02x" : "%02x/",
			      wanted->build_id[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	return is_regular(path, &st) && take(place, path, &st);
}

static bool has_crc(int fd, uint32_t crc)
{
	uint8_t buf[65536];
	uint32_t sum = 0;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			sum = lzma_crc32(buf, (size_t)n, sum);
	return n == 0 && sum == crc;
}

/* Through sections: a debug file has the segments' headers, but not what was in them. */
static bool has_build_id(int fd, const struct wanted *wanted)
{
	Elf *handle = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	bool is_same = false;
	GElf_Shdr shdr;

	while (handle && !is_same && (section = elf_nextscn(handle, section))) {
		const uint8_t *id;
		const Elf_Data *data;
		size_t n;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_NOTE)
			continue;
		data = elf_rawdata(section, NULL);
		is_same = data && data->d_buf &&
			  cm_elf_notes_build_id(data->d_buf, data->d_size,
						shdr.sh_addralign == 8 ? 8 : 4, &id, &n) == 1 &&
			  n == wanted->n_build_id && !memcmp(id, wanted->build_id, n);
	}
	(void)elf_end(handle); /* NULL is allowed */
	return is_same;
}

static bool is_wanted(const char *path, const struct wanted *wanted, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is_same = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) &&
	    (st->st_dev != wanted->dev || st->st_ino != wanted->ino))
		is_same = wanted->n_build_id ? has_build_id(fd, wanted) : has_crc(fd, wanted->crc);
	close(fd);
	return is_same;
}

static bool find_by_link(struct cm_elf_stripped_place *place, const char *folder, const char *name,
			 const struct wanted *wanted)
{
	static const char before[][16] = {"", "", DEBUG_ROOT}, between[][8] = {"", "/.debug", ""};
	char path[PATH_MAX + 512];
	struct stat st;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		int n = snprintf(path, sizeof(path), "%s%s%s/%s", before[i], folder, between[i],
				 name);

		if (n < PATH_MAX && is_wanted(path, wanted, &st) && take(place, path, &st))
			return true;
	}
	return false;
}

/* A name, NUL, padding to 4, and the checksum of the file with that name. */
static bool read_link(struct cm_elf *elf, char *name, size_t n_name, uint32_t *ret_crc)
{
	struct cm_code_part link;
	size_t n, length;

	if (!cm_elf_code_section(elf, ".gnu_debuglink", &link))
		return false;
	n = (size_t)(link.end - link.begin);
	length = strnlen((const char *)link.bytes, n);
	if (!length || length >= n_name || length / 4 * 4 + 8 > n ||
	    memchr(link.bytes, '/', length))
		return false;
	memcpy(name, link.bytes, length);
	name[length] = '\0';
	memcpy(ret_crc, link.bytes + length / 4 * 4 + 4, sizeof(*ret_crc));
	return true;
}

int cm_elf_stripped_find(struct cm_elf_stripped_place *place, struct cm_elf *elf, const char *path)
{
	struct wanted wanted = {0};
	char folder[PATH_MAX], name[256], *slash;
	struct stat st;

	place->path[0] = '\0';
	place->mtime_ns = 0;
	if (cm_elf_build_id(elf, &wanted.build_id, &wanted.n_build_id, NULL) < 0)
		wanted.n_build_id = 0;
	if (find_by_build_id(place, &wanted) || !read_link(elf, name, sizeof(name), &wanted.crc) ||
	    !realpath(path, folder) || fstat(elf->fd, &st))
		return 0;
	wanted.dev = st.st_dev;
	wanted.ino = st.st_ino;
	slash = strrchr(folder, '/');
	*slash = '\0';
	(void)find_by_link(place, folder, name, &wanted); /* or there is none */
	return 0;
}

/* The whole of an xz file. NULL: damaged, or too large to be what it should be. */
static char *expand(const struct cm_code_part *data, size_t *ret_n)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t n_room = 0;
	char *bytes = NULL;
	lzma_ret rc = lzma_stream_decoder(&stream, MAX_MINI_MEMORY, 0);

	stream.next_in = data->bytes;
	stream.avail_in = (size_t)(data->end - data->begin);
	while (rc == LZMA_OK && n_room < MAX_MINI_BYTES) {
		size_t n_more = n_room ? 2 * n_room : 1 << 16;
		char *more = realloc(bytes, n_more);

		if (!more)
			break;
		bytes = more;
		stream.next_out = (uint8_t *)bytes + n_room;
		stream.avail_out = n_more - n_room;
		n_room = n_more;
		rc = lzma_code(&stream, LZMA_FINISH);
	}
	*ret_n = (size_t)stream.total_out;
	lzma_end(&stream);
	if (rc == LZMA_STREAM_END)
		return bytes;
	free(bytes);
	return NULL;
}

static Elf *open_inside(struct cm_elf_stripped *debug, struct cm_elf *elf)
{
	struct cm_code_part data;
	size_t n;

	if (!cm_elf_code_section(elf, ".gnu_debugdata", &data) || data.begin == data.end)
		return NULL;
	debug->bytes = expand(&data, &n);
	return debug->bytes ? elf_memory(debug->bytes, n) : NULL;
}

int cm_elf_stripped_open(struct cm_elf_stripped **ret_debug, struct cm_elf *elf, const char *path)
{
	struct cm_elf_stripped *debug = calloc(1, sizeof(*debug));
	GElf_Ehdr header;

	if (!debug)
		return -ENOMEM;
	debug->fd = -1;
	if (*path) {
		debug->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (debug->fd >= 0)
			debug->handle = elf_begin(debug->fd, ELF_C_READ, NULL);
	} else {
		debug->handle = open_inside(debug, elf);
	}
	if (!debug->handle || elf_kind(debug->handle) != ELF_K_ELF ||
	    !gelf_getehdr(debug->handle, &header) || header.e_machine != EM_X86_64 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64) {
		cm_elf_stripped_close(debug);
		return 0;
	}
	*ret_debug = debug;
	return 1;
}

void cm_elf_stripped_close(struct cm_elf_stripped *debug)
{
	if (!debug)
		return;
	(void)elf_end(debug->handle); /* NULL is allowed */
	if (debug->fd >= 0)
		close(debug->fd);
	free(debug->bytes);
	free(debug);
}

Elf *cm_elf_stripped_handle(const struct cm_elf_stripped *debug)
{
	return debug ? debug->handle : NULL;
}
