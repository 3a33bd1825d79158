/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The per-thread files: which slots there are, their open calls, and copies of their rings.
 *
 * A copy holds only while the ring's place in the stream does: a drain that happens meanwhile
 * moves it. So the header is read again behind the copy, and the copy repeated if it moved. What a
 * drain takes out of a ring is in the drained part before, whose size is therefore noted last.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/spool-reader.h"

#define MAX_COPY_BYTES ((uint64_t)48 << 20) /* of all rings; those beyond are read in place */
#define MAX_TRIES 8
#ifdef CM_SMALL_PIECES /* fuzzers */
#define PIECE_BYTES (sizeof(struct cm_spool_open) * 2)
#else
#define PIECE_BYTES ((size_t)64 << 10)
#endif
#define MAX_ENTRIES ((uint64_t)1 << 22) /* open calls of one slot */

/* What a file's name says: 'm'ap, 's'egment, 'd'at, 't'ot, 'p'th. False: not one of ours. */
static bool parse_name(const char *name, uint32_t *ret_slot, char *ret_kind)
{
	char kind[5] = "", extra = 0;
	unsigned int segment;
	uint32_t slot;

	if (sscanf(name, "t%u.%4[a-z]%c", &slot, kind, &extra) == 2) {
		if (strcmp(kind, "map") && strcmp(kind, "dat") && strcmp(kind, "tot") &&
		    strcmp(kind, "pth"))
			return false;
	} else if (sscanf(name, "t%u.s%u%c", &slot, &segment, &extra) == 2) {
		kind[0] = 's';
	} else {
		return false;
	}
	*ret_slot = slot;
	*ret_kind = kind[0];
	return strlen(name) < sizeof(((struct cm_ring *)0)->name);
}

struct found {
	uint32_t slot;
	char kind;
	char name[24];
};

static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	/* "m" < "s": the file with the table comes first. */
	return x->kind != y->kind ? x->kind - y->kind : strcmp(x->name, y->name);
}

static int add_found(struct found **files, size_t *n, size_t *n_room, const struct found *file)
{
	if (*n == *n_room) {
		struct found *more;

		*n_room = *n_room ? 2 * *n_room : 64;
		more = reallocarray(*files, *n_room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		*files = more;
	}
	(*files)[(*n)++] = *file;
	return 0;
}

/* All per-thread files, sorted; the caller frees. */
static int list_files(const struct cm_spool_reader *reader, struct found **ret_files, size_t *ret_n)
{
	size_t n = 0, n_room = 0;
	struct found *files = NULL;
	struct dirent *entry;
	int fd = dup(reader->dir_fd), rc = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rewinddir(dir);
	while (rc == 0 && (entry = readdir(dir))) {
		struct found file = {0};

		if (!parse_name(entry->d_name, &file.slot, &file.kind))
			continue;
		strcpy(file.name, entry->d_name); /* parse_name checked the length */
		rc = add_found(&files, &n, &n_room, &file);
	}
	closedir(dir);
	if (rc < 0) {
		free(files);
		return rc;
	}
	if (n)
		qsort(files, n, sizeof(*files), compare_found);
	*ret_files = files;
	*ret_n = n;
	return 0;
}

static int compare_open(const void *a, const void *b)
{
	const struct cm_spool_open *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static int add_open(struct cm_slot *slot, const struct cm_spool_open *entry, size_t *n_room)
{
	if (slot->n_open == *n_room) {
		struct cm_spool_open *more;

		*n_room = *n_room ? 2 * *n_room : 16;
		more = reallocarray(slot->open, *n_room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		slot->open = more;
	}
	slot->open[slot->n_open++] = *entry;
	return 0;
}

/* The entries in use; the table is mostly a hole, and skipped as such. */
static int read_table(struct cm_slot *slot, int fd, const struct cm_spool_thread *head)
{
	struct cm_spool_open *piece;
	uint64_t off = head->table_offset;
	uint64_t n_entries = head->n_entries < MAX_ENTRIES ? head->n_entries : MAX_ENTRIES;
	uint64_t end;
	size_t n_room = 0;
	int rc = 0;

	if (!off || __builtin_add_overflow(off, n_entries * sizeof(*piece), &end))
		return 0;
	piece = malloc(PIECE_BYTES);
	if (!piece)
		return -ENOMEM;
	while (rc == 0 && off < end) {
		off_t data = off < INT64_MAX ? lseek(fd, (off_t)off, SEEK_DATA) : -1;
		size_t n_bytes = end - off < PIECE_BYTES ? (size_t)(end - off) : PIECE_BYTES;
		long n;

		if (data < 0)
			break; /* ENXIO: nothing but a hole, or the file's end */
		if ((uint64_t)data > off) {
			off += ((uint64_t)data - off) / sizeof(*piece) * sizeof(*piece);
			if (off >= end)
				break;
			n_bytes = end - off < PIECE_BYTES ? (size_t)(end - off) : PIECE_BYTES;
		}
		n = cm_spool_reader_pread(fd, piece, n_bytes, off);
		if (n < (long)sizeof(*piece))
			break;
		for (size_t i = 0; rc == 0 && i < (size_t)n / sizeof(*piece); i++) {
			if (piece[i].start)
				rc = add_open(slot, &piece[i], &n_room);
		}
		off += (uint64_t)n / sizeof(*piece) * sizeof(*piece);
	}
	free(piece);
	return rc;
}

static int read_head(int fd, struct cm_spool_thread *ret_head)
{
	long n = cm_spool_reader_pread(fd, ret_head, sizeof(*ret_head), 0);

	if (n < 0)
		return (int)n;
	if (n < (long)sizeof(*ret_head) || ret_head->magic != CM_SPOOL_THREAD_MAGIC ||
	    ret_head->version != CM_SPOOL_VERSION || ret_head->stream_base % 8 ||
	    ret_head->ring_bytes % 8)
		return -EINVAL;
	return 0;
}

/* The window as the header has it, cut to what the file holds and what can be addressed. */
static void clip_window(struct cm_ring *ring, const struct cm_spool_thread *head, uint64_t n_file)
{
	ring->base = head->stream_base;
	ring->file_off = head->ring_offset;
	ring->n_bytes = head->ring_bytes;
	if (ring->file_off >= n_file)
		ring->n_bytes = 0;
	else if (ring->n_bytes > n_file - ring->file_off)
		ring->n_bytes = (n_file - ring->file_off) & ~UINT64_C(7);
	if (ring->base > INT64_MAX / 2 || ring->n_bytes > INT64_MAX / 2)
		ring->n_bytes = 0;
}

/* Copy the window's words. -EAGAIN: it moved meanwhile. */
static int copy_window(struct cm_spool_reader *reader, struct cm_ring *ring, int fd)
{
	struct cm_spool_thread again;
	uint64_t *words;
	long n;
	int rc;

	if (!ring->n_bytes || reader->ring_copy_bytes + ring->n_bytes > MAX_COPY_BYTES)
		return 0; /* read in place, cm_spool_reader_has_moved() tells what became of it */
	words = cm_arena_array(&reader->arena, ring->n_bytes, 1);
	if (!words)
		return -ENOMEM;
	reader->ring_copy_bytes += ring->n_bytes;
	n = cm_spool_reader_pread(fd, words, ring->n_bytes, ring->file_off);
	if (n < 0)
		return (int)n;
	ring->words = words;
	ring->n_bytes = (uint64_t)n & ~UINT64_C(7);
	rc = read_head(fd, &again);
	return rc == 0 && again.stream_base != ring->base ? -EAGAIN : 0;
}

/* One map or segment file: its table (map only) and its ring. */
static int read_ring_file(struct cm_spool_reader *reader, struct cm_slot *slot,
			  const struct found *file)
{
	struct cm_ring ring = {0};
	struct cm_spool_thread head;
	struct stat st;
	int fd, rc;

	fd = cm_spool_reader_open_file(reader, file->name);
	if (fd < 0)
		return fd == -ENOMEM ? fd : -EINVAL;
	rc = read_head(fd, &head);
	if (rc == 0 && file->kind == 'm') {
		slot->n_dropped += head.n_dropped;
		rc = read_table(slot, fd, &head);
	}
	for (int i = 0; rc == 0 && i < MAX_TRIES; i++) {
		rc = fstat(fd, &st) < 0 ? -errno : read_head(fd, &head);
		if (rc < 0)
			break;
		clip_window(&ring, &head, (uint64_t)st.st_size);
		rc = copy_window(reader, &ring, fd);
		if (rc != -EAGAIN)
			break;
		ring.words = NULL;
		rc = 0;
	}
	close(fd);
	if (rc == 0 && ring.n_bytes) {
		memcpy(ring.name, file->name, sizeof(ring.name));
		slot->rings[slot->n_rings++] = ring;
	}
	return rc;
}

static int compare_rings(const void *a, const void *b)
{
	const struct cm_ring *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

static void note_dat(struct cm_spool_reader *reader, struct cm_slot *slot, const char *name)
{
	struct stat st;

	if (fstatat(reader->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode)) {
		reader->n_bad_files++;
		return;
	}
	slot->has_dat = true;
	slot->dat_bytes = (uint64_t)st.st_size & ~UINT64_C(7);
}

/* The files of one slot, in the order the copy needs: table, rings, size of the drained part. */
static int read_slot(struct cm_spool_reader *reader, const struct found *files, size_t n)
{
	struct cm_slot *slot = &reader->slots[reader->n_slots++];
	const struct found *dat = NULL;
	int rc;

	slot->slot = files[0].slot;
	slot->rings = cm_arena_array(&reader->arena, n, sizeof(*slot->rings));
	if (!slot->rings)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		rc = files[i].kind == 'p' ? cm_spool_reader_add_paths(reader, files[i].name) : 0;
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < n; i++) {
		if (files[i].kind == 'p') {
			continue;
		} else if (files[i].kind == 'd') {
			dat = &files[i];
		} else if (files[i].kind == 't') {
			slot->has_tot = true;
		} else {
			rc = read_ring_file(reader, slot, &files[i]);
			if (rc == -ENOMEM)
				return rc;
			if (rc < 0)
				reader->n_bad_files++; /* loses only itself */
		}
	}
	if (dat)
		note_dat(reader, slot, dat->name);
	if (slot->n_rings)
		qsort(slot->rings, slot->n_rings, sizeof(*slot->rings), compare_rings);
	if (slot->n_open)
		qsort(slot->open, slot->n_open, sizeof(*slot->open), compare_open);
	return 0;
}

int cm_spool_reader_read_slots(struct cm_spool_reader *reader, struct cm_diag *diag)
{
	struct found *files = NULL;
	size_t n = 0, n_slots = 0, first = 0;
	int rc = list_files(reader, &files, &n);

	for (size_t i = 0; i < n; i++)
		n_slots += i == 0 || files[i].slot != files[i - 1].slot;
	if (rc == 0) {
		reader->slots = cm_arena_array(&reader->arena, n_slots, sizeof(*reader->slots));
		rc = reader->slots ? 0 : -ENOMEM;
	}
	for (size_t i = 1; rc == 0 && i <= n; i++) {
		if (i < n && files[i].slot == files[first].slot)
			continue;
		rc = read_slot(reader, files + first, i - first);
		first = i;
	}
	free(files);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: cannot read the spool: %s", reader->path,
				   strerror(-rc));
	return 0;
}

int cm_spool_reader_has_moved(const struct cm_spool_reader *reader)
{
	for (size_t i = 0; i < reader->n_slots; i++) {
		const struct cm_slot *slot = &reader->slots[i];

		for (size_t k = 0; k < slot->n_rings; k++) {
			const struct cm_ring *ring = &slot->rings[k];
			struct cm_spool_thread head;
			int fd, rc;

			if (ring->words)
				continue;
			fd = cm_spool_reader_open_file(reader, ring->name);
			if (fd < 0)
				return 1;
			rc = read_head(fd, &head);
			close(fd);
			if (rc < 0 || head.stream_base != ring->base)
				return 1;
		}
	}
	return 0;
}
