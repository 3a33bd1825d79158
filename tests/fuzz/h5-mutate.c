/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer's mutator for fuzz-h5-load: changes to an HDF5 file that leave its checksums right, so
 * that a reader looks further than them. Without, nearly all that libFuzzer does ends there.
 *
 * The result is what another program could have written: other values (attributes, datasets,
 * strings in heaps), names, targets of links; or damage that no checksum shows (sizes in heaps).
 * Not changed is what HDF5 alone looks at behind its checksums, such as sizes of messages and
 * references into heaps: HDF5 1.10 crashes on lies there at once, which is not ours to mend, and
 * cli/guard.h makes a clear error of it. One in eight mutations is libFuzzer's own.
 *
 * Known are the superblock from version 2 on, object headers of version 2 and some messages, and
 * global heaps (HDF5 File Format Specification 3.0, II.A, IV.A.1.b, IV.A.2, III.E).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAX_PIECES 4096
#define WINDOW_BYTES 64
#define MAX_DEPTH 8
#define SUPERBLOCK_BYTES 44 /* before its checksum, with 8-byte addresses */

enum message_type {
	MESSAGE_DATATYPE = 3,
	MESSAGE_LINK = 6,
	MESSAGE_LAYOUT = 8,
	MESSAGE_ATTRIBUTE = 12,
	MESSAGE_CONTINUATION = 16,
};

enum piece_kind {
	PIECE_VALUE,
	PIECE_NAME,
	PIECE_ADDRESS, /* of a hard link */
	PIECE_HEAP,    /* the head of an object in a heap */
	N_KINDS,
};

struct piece {
	size_t off, n_bytes;
};

struct image {
	uint8_t *data;
	size_t n_bytes;
	uint32_t random;
	struct piece pieces[N_KINDS][MAX_PIECES];
	size_t n_pieces[N_KINDS];
	bool is_damaged; /* some checksum is wrong */
};

enum task { LIST, REPAIR };

size_t LLVMFuzzerMutate(uint8_t *data, size_t n_bytes, size_t max_bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n_bytes, size_t max_bytes, unsigned int seed);
uint32_t H5_checksum_metadata(const void *data, size_t n_bytes, uint32_t first);

static uint64_t read_le(const struct image *image, size_t off, unsigned int n)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < n && off + i < image->n_bytes; i++)
		value |= (uint64_t)image->data[off + i] << 8 * i;
	return value;
}

static void add(struct image *image, enum piece_kind kind, uint64_t off, uint64_t n)
{
	if (n == 0 || off >= image->n_bytes || n > image->n_bytes - off ||
	    image->n_pieces[kind] == MAX_PIECES)
		return;
	image->pieces[kind][image->n_pieces[kind]++] = (struct piece){off, n};
}

/* Integers, floats, fixed strings, bit fields: no reference into a heap is in them. */
static bool is_plain(unsigned int type)
{
	return (type & 15) <= 4;
}

/* Version 3: sizes of name, type and space, a byte of encoding; then these, then the value. */
static void add_attribute(struct image *image, size_t off, size_t n)
{
	size_t n_name = read_le(image, off + 2, 2), n_type = read_le(image, off + 4, 2);
	size_t n_head = 9 + n_name + n_type + read_le(image, off + 6, 2);

	if (image->data[off] != 3 || n_head > n || !n_name)
		return;
	add(image, PIECE_NAME, off + 9, n_name - 1); /* without its NUL */
	if (is_plain(image->data[off + 9 + n_name]))
		add(image, PIECE_VALUE, off + n_head, n - n_head);
}

/* Version 3: class 0 has the data itself, class 1 says where they are. */
static void add_layout(struct image *image, size_t off, size_t n)
{
	if (n < 4 || image->data[off] != 3)
		return;
	if (image->data[off + 1] == 0)
		add(image, PIECE_VALUE, off + 4, read_le(image, off + 2, 2));
	else if (image->data[off + 1] == 1)
		add(image, PIECE_VALUE, read_le(image, off + 2, 8), read_le(image, off + 10, 8));
}

/* Version 1: flags, then what they say is there, the length of the name, it, and an address. */
static void add_link(struct image *image, size_t off, size_t n)
{
	unsigned int flags = image->data[off + 1], n_size = 1u << (flags & 3);
	size_t at = off + 2, n_name;

	if (flags & 8 && image->data[at++] != 0) /* soft, external */
		return;
	at += (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
	n_name = read_le(image, at, n_size);
	at += n_size;
	if (at + n_name + 8 > off + n)
		return;
	add(image, PIECE_NAME, at, n_name);
	add(image, PIECE_ADDRESS, at + n_name, 8);
}

/* Look at, or repair, the checksum behind the bytes from start to end. */
static void check(struct image *image, size_t start, size_t end, enum task task)
{
	uint32_t sum = H5_checksum_metadata(image->data + start, end - start, 0);

	if (task == LIST) {
		image->is_damaged |= read_le(image, end, 4) != sum;
		return;
	}
	for (int i = 0; i < 4; i++)
		image->data[end + (size_t)i] = (uint8_t)(sum >> 8 * i);
}

static void list_message(struct image *image, unsigned int type, unsigned int datatype, size_t off,
			 size_t n)
{
	if (type == MESSAGE_ATTRIBUTE && n > 9)
		add_attribute(image, off, n);
	if (type == MESSAGE_LINK && n > 2)
		add_link(image, off, n);
	if (type == MESSAGE_LAYOUT && is_plain(datatype))
		add_layout(image, off, n);
}

static void walk(struct image *image, size_t off, size_t end, bool has_order, enum task task,
		 int depth);

/* A piece of the header that stands elsewhere: signature, messages, checksum. */
static void walk_chunk(struct image *image, size_t message, bool has_order, enum task task,
		       int depth)
{
	size_t chunk = read_le(image, message, 8), n = read_le(image, message + 8, 8);

	if (depth == MAX_DEPTH || chunk >= image->n_bytes || n < 8 || n > image->n_bytes - chunk)
		return;
	walk(image, chunk + 4, chunk + n - 4, has_order, task, depth + 1);
	check(image, chunk, chunk + n - 4, task);
}

/* Messages from `off` to `end`, and what they lead to. */
static void walk(struct image *image, size_t off, size_t end, bool has_order, enum task task,
		 int depth)
{
	size_t n_head = has_order ? 6 : 4;
	unsigned int datatype = UINT8_MAX;

	while (end - off >= n_head) {
		unsigned int type = image->data[off];
		size_t n = read_le(image, off + 1, 2), body = off + n_head;

		if (n > end - body)
			return;
		if (type == MESSAGE_DATATYPE && n)
			datatype = image->data[body];
		if (task == LIST)
			list_message(image, type, datatype, body, n);
		if (type == MESSAGE_CONTINUATION && n >= 16)
			walk_chunk(image, body, has_order, task, depth);
		off = body + n;
	}
}

static void walk_header(struct image *image, size_t off, enum task task)
{
	unsigned int flags = image->data[off + 5], n_size = 1u << (flags & 3);
	size_t body = off + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0), n;

	n = read_le(image, body, n_size);
	body += n_size;
	if (body >= image->n_bytes || n > image->n_bytes - body || image->n_bytes - body - n < 4)
		return;
	walk(image, body, body + n, flags & 4, task, 0);
	check(image, off, body + n, task);
}

static void list_heap(struct image *image, size_t off)
{
	size_t end = off + read_le(image, off + 8, 8), at = off + 16;

	while (at < end && end - at >= 16 && end <= image->n_bytes) {
		uint64_t n = read_le(image, at + 8, 8);

		add(image, PIECE_HEAP, at, 16);
		if (read_le(image, at, 2) == 0 || n > end - at - 16)
			return;
		add(image, PIECE_VALUE, at + 16, n);
		at += 16 + ((n + 7) & ~UINT64_C(7));
	}
}

static bool has_magic(const struct image *image, size_t off, const char *magic)
{
	uint32_t four, wanted;

	memcpy(&four, image->data + off,
	       4); /* a call of memcmp for each byte takes most of the time */
	memcpy(&wanted, magic, 4);
	return four == wanted && image->data[off + 4] == magic[4];
}

static void walk_file(struct image *image, enum task task)
{
	if (image->n_bytes < SUPERBLOCK_BYTES + 4)
		return;
	for (size_t off = 0; off + 32 <= image->n_bytes; off++) {
		if (has_magic(image, off, "OHDR\2"))
			walk_header(image, off, task);
		else if (task == LIST && has_magic(image, off, "GCOL\1"))
			list_heap(image, off);
	}
	check(image, 0, SUPERBLOCK_BYTES, task);
}

static uint32_t random_below(struct image *image, size_t n)
{
	image->random = image->random * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)image->random * n >> 32);
}

static void change(struct image *image, const struct piece *piece)
{
	size_t n = piece->n_bytes < WINDOW_BYTES ? piece->n_bytes : WINDOW_BYTES;
	size_t off = piece->off + random_below(image, piece->n_bytes - n + 1);
	uint8_t window[WINDOW_BYTES];

	memcpy(window, image->data + off, n);
	(void)LLVMFuzzerMutate(window, n, n); /* a shorter result leaves the end as it was */
	memcpy(image->data + off, window, n);
}

/*
 * A name or an address is that of another place: types and shapes change hands. A name that is
 * longer keeps its end.
 */
static void copy(struct image *image, const struct piece *to, const struct piece *from)
{
	memmove(image->data + to->off, image->data + from->off,
		to->n_bytes < from->n_bytes ? to->n_bytes : from->n_bytes);
}

static enum piece_kind choose(struct image *image)
{
	uint32_t number = random_below(image, 16);

	return number < 8    ? PIECE_VALUE
	       : number < 12 ? PIECE_NAME
	       : number < 15 ? PIECE_ADDRESS
			     : PIECE_HEAP;
}

/*
 * false: nothing was done. A checksum is wrong already, and repairing it would make a lie of the
 * damage.
 */
static bool mutate(uint8_t *data, size_t n_bytes, unsigned int seed)
{
	static struct image image;

	image.data = data;
	image.n_bytes = n_bytes;
	image.random = seed;
	image.is_damaged = false;
	memset(image.n_pieces, 0, sizeof(image.n_pieces));
	walk_file(&image, LIST);
	if (image.is_damaged)
		return false;
	for (uint32_t n = 1 + random_below(&image, 3); n > 0; n--) {
		enum piece_kind kind = choose(&image);
		const struct piece *pieces = image.pieces[kind], *piece;

		if (!image.n_pieces[kind])
			continue;
		piece = &pieces[random_below(&image, image.n_pieces[kind])];
		if (kind == PIECE_ADDRESS || (kind == PIECE_NAME && random_below(&image, 2)))
			copy(&image, piece, &pieces[random_below(&image, image.n_pieces[kind])]);
		else
			change(&image, piece);
	}
	walk_file(&image, REPAIR);
	return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n_bytes, size_t max_bytes, unsigned int seed)
{
	if (seed % 8 && mutate(data, n_bytes, seed))
		return n_bytes;
	return LLVMFuzzerMutate(data, n_bytes, max_bytes);
}
