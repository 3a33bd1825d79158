/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening binaries by their sections, and finding the debug file of one. */
#include "collector/elf-debug.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_FOLDER "/usr/lib/debug"
#define MAX_CRC_BYTES ((off_t)4 << 30)
#define PIECE_BYTES ((size_t)64 << 10)

int cm_elf_debug_open(struct cm_elf_debug_file *file, const char *path)
{
	struct stat st;
	int rc = 0;

	memset(file, 0, sizeof(*file));
	file->path = strdup(path);
	if (!file->path)
		return -ENOMEM;
	/* Not blocking: a FIFO by this name must not hang us. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0)
		rc = -errno;
	else if (fstat(file->fd, &st) < 0 || !S_ISREG(st.st_mode))
		rc = -ENOEXEC;
	(void)elf_version(EV_CURRENT); /* fails only for versions libelf does not know */
	if (rc == 0)
		file->handle = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (rc == 0 && (!file->handle || elf_kind(file->handle) != ELF_K_ELF))
		rc = -ENOEXEC;
	if (rc < 0)
		cm_elf_debug_close(file);
	return rc;
}

void cm_elf_debug_close(struct cm_elf_debug_file *file)
{
	if (!file->path)
		return;
	(void)elf_end(file->handle); /* a count of users, NULL is allowed */
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	memset(file, 0, sizeof(*file));
}

Elf_Scn *cm_elf_debug_section(Elf *handle, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *found;
	size_t names;

	if (elf_getshdrstrndx(handle, &names))
		return NULL;
	while ((section = elf_nextscn(handle, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		found = elf_strptr(handle, names, header.sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

void cm_elf_debug_build_id(Elf *handle, char *buf, size_t n_bytes)
{
	Elf_Scn *section = cm_elf_debug_section(handle, ".note.gnu.build-id");
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t at = 0, name_at, desc_at;
	GElf_Nhdr note;

	*buf = '\0';
	while (data && (at = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
		const unsigned char *id = (const unsigned char *)data->d_buf + desc_at;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((const char *)data->d_buf + name_at, "GNU", 4) != 0 ||
		    2 * (size_t)note.n_descsz >= n_bytes)
			continue;
		for (size_t i = 0; i < note.n_descsz; i++)
			snprintf(buf + 2 * i, 3, "%02x", id[i]);
		return;
	}
}

/* The checksum of .gnu_debuglink: CRC-32, bits reflected. */
static void make_crc_table(uint32_t *table)
{
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
	}
}

static bool has_crc(const struct cm_elf_debug_file *file, uint32_t wanted)
{
	unsigned char *piece = malloc(PIECE_BYTES);
	uint32_t table[256], crc = UINT32_MAX;
	off_t at = 0;
	ssize_t n = 0;
	bool is_it;

	make_crc_table(table);
	while (piece && at < MAX_CRC_BYTES && (n = pread(file->fd, piece, PIECE_BYTES, at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			crc = table[(crc ^ piece[i]) & 0xff] ^ crc >> 8;
		at += n;
	}
	is_it = piece && n == 0 && ~crc == wanted;
	free(piece);
	return is_it;
}

/* Name and checksum of .gnu_debuglink. */
static bool read_link(const struct cm_elf_debug_file *binary, const char **ret_name,
		      uint32_t *ret_crc)
{
	Elf_Scn *section = cm_elf_debug_section(binary->handle, ".gnu_debuglink");
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	size_t length;

	if (!data || data->d_size < 8)
		return false;
	length = strnlen(data->d_buf, data->d_size);
	length = (length + 4) & ~(size_t)3; /* with its NUL, padded */
	if (length + sizeof(*ret_crc) > data->d_size || strchr(data->d_buf, '/') ||
	    !*(const char *)data->d_buf)
		return false;
	*ret_name = data->d_buf;
	memcpy(ret_crc, (const char *)data->d_buf + length, sizeof(*ret_crc));
	return true;
}

static int find_by_build_id(struct cm_elf_debug_file *ret_file, const char *build_id)
{
	char path[PATH_MAX], found[2 * 64 + 1];
	int rc;

	if (strlen(build_id) < 4 ||
	    snprintf(path, sizeof(path), DEBUG_FOLDER "/.build-id/%.2s/%s.debug", build_id,
		     build_id + 2) >= (int)sizeof(path))
		return -ENOENT;
	rc = cm_elf_debug_open(ret_file, path);
	if (rc < 0)
		return rc;
	cm_elf_debug_build_id(ret_file->handle, found, sizeof(found));
	if (strcmp(found, build_id) == 0)
		return 0;
	cm_elf_debug_close(ret_file);
	return -ENOENT;
}

/* It must be the binary's: by its build-id, or else its checksum. */
static int open_link(struct cm_elf_debug_file *ret_file, const char *path, const char *build_id,
		     uint32_t crc)
{
	char found[2 * 64 + 1];
	int rc = cm_elf_debug_open(ret_file, path);

	if (rc < 0)
		return rc;
	cm_elf_debug_build_id(ret_file->handle, found, sizeof(found));
	if (*build_id && *found ? strcmp(found, build_id) == 0 : has_crc(ret_file, crc))
		return 0;
	cm_elf_debug_close(ret_file);
	return -ENOENT;
}

static int find_by_link(struct cm_elf_debug_file *ret_file, const struct cm_elf_debug_file *binary,
			const char *build_id)
{
	char real[PATH_MAX], path[PATH_MAX];
	const char *name;
	uint32_t crc;
	int n_folder, rc = -ENOENT;

	if (!read_link(binary, &name, &crc) || !realpath(binary->path, real))
		return -ENOENT;
	n_folder = (int)(strrchr(real, '/') - real);
	for (int i = 0; rc < 0 && i < 3; i++) {
		if (snprintf(path, sizeof(path), "%s%.*s/%s%s", i == 2 ? DEBUG_FOLDER : "",
			     n_folder, real, i == 1 ? ".debug/" : "", name) < (int)sizeof(path) &&
		    strcmp(path, real) != 0)
			rc = open_link(ret_file, path, build_id, crc);
	}
	return rc;
}

int cm_elf_debug_find(struct cm_elf_debug_file *ret_file, const struct cm_elf_debug_file *binary,
		      const char *build_id)
{
	int rc = find_by_build_id(ret_file, build_id);

	return rc < 0 ? find_by_link(ret_file, binary, build_id) : rc;
}
