/* SPDX-License-Identifier: BSD-3-Clause */
/* Read .eh_frame and the tables of landing pads. */
#include "collector/elf-frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/elf-image.h"

/* Encodings of pointers (DW_EH_PE_*). */
#define PE_OMIT 0xff
#define PE_FORM 0x0f
#define PE_PCREL 0x10
#define PE_APPLICATION 0x70

/* What is left of a table, and the address of its next byte. */
struct cursor {
	const uint8_t *at, *end;
	uint64_t address;
	bool is_bad;
};

/* What a common information entry says about those that refer to it. */
struct common {
	uint64_t offset; /* in .eh_frame */
	uint8_t pointers, landings;
	bool has_augmentation;
	bool is_known;
};

static uint64_t take_bytes(struct cursor *cursor, size_t n)
{
	uint64_t value = 0;

	if ((size_t)(cursor->end - cursor->at) < n) {
		cursor->is_bad = true;
		cursor->at = cursor->end;
		return 0;
	}
	memcpy(&value, cursor->at, n < sizeof(value) ? n : sizeof(value));
	cursor->at += n;
	cursor->address += n;
	return value;
}

static uint64_t take_leb(struct cursor *cursor, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)take_bytes(cursor, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && (byte & 0x40) && shift < 64)
		value |= UINT64_MAX << shift;
	return value;
}

/* A number in this encoding, sign-extended. */
static uint64_t take_number(struct cursor *cursor, uint8_t encoding)
{
	switch (encoding & PE_FORM) {
	case 0x00:
	case 0x04:
	case 0x0c:
		return take_bytes(cursor, 8);
	case 0x01:
		return take_leb(cursor, false);
	case 0x02:
		return take_bytes(cursor, 2);
	case 0x03:
		return take_bytes(cursor, 4);
	case 0x09:
		return take_leb(cursor, true);
	case 0x0a:
		return (uint64_t)(int16_t)take_bytes(cursor, 2);
	case 0x0b:
		return (uint64_t)(int32_t)take_bytes(cursor, 4);
	default:
		cursor->is_bad = true;
		return 0;
	}
}

/* A pointer; 0 where it is 0, whatever it would be relative to. */
static uint64_t take_pointer(struct cursor *cursor, uint8_t encoding)
{
	uint64_t from = cursor->address, value = take_number(cursor, encoding);

	if ((encoding & PE_APPLICATION) != 0 && (encoding & PE_APPLICATION) != PE_PCREL)
		cursor->is_bad = true;
	return value && (encoding & PE_APPLICATION) == PE_PCREL ? value + from : value;
}

static void read_augmentation(struct cursor *cursor, const char *letters, struct common *common)
{
	(void)take_leb(cursor, false); /* its size: all that may be in it is known */
	for (letters++; *letters && !cursor->is_bad; letters++) {
		if (*letters == 'L')
			common->landings = (uint8_t)take_bytes(cursor, 1);
		else if (*letters == 'R')
			common->pointers = (uint8_t)take_bytes(cursor, 1);
		else if (*letters == 'P')
			(void)take_pointer(cursor,
					   (uint8_t)take_bytes(cursor, 1)); /* personality */
		else if (*letters != 'S' && *letters != 'B')
			return;
	}
}

static void read_common(struct common *common, uint64_t offset, struct cursor cursor)
{
	char letters[8];
	size_t n;
	uint8_t version = (uint8_t)take_bytes(&cursor, 1);

	memset(common, 0, sizeof(*common));
	common->offset = offset;
	common->landings = PE_OMIT;
	n = strnlen((const char *)cursor.at, (size_t)(cursor.end - cursor.at));
	if (n >= sizeof(letters) || n == (size_t)(cursor.end - cursor.at))
		return;
	memcpy(letters, cursor.at, n + 1);
	(void)take_bytes(&cursor, n + 1);
	(void)take_leb(&cursor, false); /* alignment of code */
	(void)take_leb(&cursor, true);	/* of data */
	if (version == 1)
		(void)take_bytes(&cursor, 1); /* register of the return address */
	else
		(void)take_leb(&cursor, false);
	common->has_augmentation = letters[0] == 'z';
	if (common->has_augmentation)
		read_augmentation(&cursor, letters, common);
	common->is_known = !cursor.is_bad && (letters[0] == 'z' || !letters[0]);
}

static int append(struct cm_elf_frames *frames, const struct cm_elf_frame *frame)
{
	if (frames->n_frames == frames->n_room) {
		size_t n_room = frames->n_room ? 2 * frames->n_room : 1024;
		struct cm_elf_frame *more = reallocarray(frames->frames, n_room, sizeof(more[0]));

		if (!more)
			return -ENOMEM;
		frames->frames = more;
		frames->n_room = n_room;
	}
	frames->frames[frames->n_frames++] = *frame;
	return 0;
}

static int add_frame(struct cm_elf_frames *frames, const struct cm_elf_code *code,
		     struct cursor cursor, const struct common *common)
{
	struct cm_elf_frame frame = {0};
	uint64_t n_bytes;

	frame.begin = take_pointer(&cursor, common->pointers);
	n_bytes = take_number(&cursor, common->pointers);
	if (common->has_augmentation)
		(void)take_leb(&cursor, false); /* its size */
	if (common->has_augmentation && common->landings != PE_OMIT)
		frame.landing = take_pointer(&cursor, common->landings);
	if (cursor.is_bad || !n_bytes || __builtin_add_overflow(frame.begin, n_bytes, &frame.end) ||
	    !cm_elf_code_text(code, frame.begin))
		return 0;
	return append(frames, &frame);
}

static int read_records(struct cm_elf_frames *frames, const struct cm_elf_code *code,
			const struct cm_code_part *part)
{
	struct cursor cursor = {part->bytes, part->bytes + (part->end - part->begin), part->begin,
				false};
	struct common common = {.offset = UINT64_MAX};
	int rc = 0;

	while (rc >= 0 && cursor.end - cursor.at >= 8) {
		uint64_t n = take_bytes(&cursor, 4), here, id;
		struct cursor record;

		if (n == UINT32_MAX)
			n = take_bytes(&cursor, 8);
		if (n < 4 || n > (uint64_t)(cursor.end - cursor.at)) /* 0: the end */
			break;
		record = cursor;
		record.end = record.at + n;
		here = cursor.address - part->begin;
		id = take_bytes(&record, 4);
		if (id && here - id != common.offset && id <= here) { /* another one than before */
			struct cursor other = {part->bytes + (here - id), cursor.end,
					       part->begin + (here - id), false};

			n = take_bytes(&other, 4);
			if (n >= 4 && n <= (uint64_t)(other.end - other.at)) {
				other.end = other.at + n;
				(void)take_bytes(&other, 4);
				read_common(&common, here - id, other);
			}
		}
		if (id && here - id == common.offset && common.is_known)
			rc = add_frame(frames, code, record, &common);
		n = (uint64_t)(record.end - cursor.at);
		(void)take_bytes(&cursor, n);
	}
	return rc;
}

static int by_begin(const void *a, const void *b)
{
	const struct cm_elf_frame *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Through the header that the loader hands to unwinders, where there are no sections. */
static bool find_by_segment(const struct cm_elf *elf, const struct cm_elf_code *code,
			    struct cm_code_part *ret_part)
{
	for (size_t i = 0; i < elf->n_phdrs; i++) {
		const uint8_t *head;
		struct cursor cursor;

		if (elf->phdrs[i].p_type != PT_GNU_EH_FRAME)
			continue;
		head = cm_elf_code_at(code, elf->phdrs[i].p_vaddr, 12);
		if (!head || head[0] != 1)
			return false;
		cursor = (struct cursor){head + 4, head + 12, elf->phdrs[i].p_vaddr + 4, false};
		ret_part->begin = take_pointer(&cursor, head[1]);
		ret_part->end = ret_part->begin + cm_elf_available(elf, ret_part->begin);
		ret_part->bytes =
			cm_elf_code_at(code, ret_part->begin, ret_part->end - ret_part->begin);
		return !cursor.is_bad && ret_part->bytes;
	}
	return false;
}

int cm_elf_frames_read(struct cm_elf_frames *frames, struct cm_elf *elf,
		       const struct cm_elf_code *code)
{
	struct cm_code_part part;
	int rc;

	memset(frames, 0, sizeof(*frames));
	if (!cm_elf_code_section(elf, ".eh_frame", &part) && !find_by_segment(elf, code, &part))
		return 0;
	rc = read_records(frames, code, &part);
	if (rc < 0) {
		cm_elf_frames_fini(frames);
		return rc;
	}
	if (frames->n_frames)
		qsort(frames->frames, frames->n_frames, sizeof(frames->frames[0]), by_begin);
	return 0;
}

void cm_elf_frames_fini(struct cm_elf_frames *frames)
{
	free(frames->frames);
	memset(frames, 0, sizeof(*frames));
}

const struct cm_elf_frame *cm_elf_frames_find(const struct cm_elf_frames *frames, uint64_t address)
{
	struct cm_elf_frame key = {.begin = address};

	return frames->n_frames
		       ? bsearch(&key, frames->frames, frames->n_frames, sizeof(key), by_begin)
		       : NULL;
}

bool cm_elf_frames_cover(const struct cm_elf_frames *frames, uint64_t address)
{
	size_t low = 0, high = frames->n_frames;

	while (low < high) { /* the first one that begins behind it */
		size_t mid = low + (high - low) / 2;

		if (frames->frames[mid].begin <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 && address < frames->frames[low - 1].end;
}

static int read_landings(const struct cm_elf_frame *frame, struct cursor cursor,
			 int (*found)(void *ctx, uint64_t from, uint64_t to), void *ctx)
{
	uint8_t encoding = (uint8_t)take_bytes(&cursor, 1);
	uint64_t base = encoding == PE_OMIT ? frame->begin : take_pointer(&cursor, encoding);
	uint64_t n_bytes;
	int rc = 0;

	if (take_bytes(&cursor, 1) != PE_OMIT)
		(void)take_leb(&cursor, false); /* where the types are */
	encoding = (uint8_t)take_bytes(&cursor, 1);
	n_bytes = take_leb(&cursor, false);
	if (cursor.is_bad || n_bytes > (uint64_t)(cursor.end - cursor.at))
		return 0;
	cursor.end = cursor.at + n_bytes;
	while (rc >= 0 && cursor.at < cursor.end && !cursor.is_bad) {
		uint64_t landing;

		(void)take_number(&cursor, encoding); /* calls from here on */
		(void)take_number(&cursor, encoding); /* for so many bytes */
		landing = take_number(&cursor, encoding);
		(void)take_leb(&cursor, false); /* action */
		if (landing && !cursor.is_bad)
			rc = found(ctx, frame->begin, base + landing);
	}
	return rc;
}

int cm_elf_frames_landings(const struct cm_elf_frames *frames, const struct cm_elf_code *code,
			   int (*found)(void *ctx, uint64_t from, uint64_t to), void *ctx)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < frames->n_frames; i++) {
		const struct cm_elf_frame *frame = &frames->frames[i];
		const uint8_t *table =
			frame->landing ? cm_elf_code_at(code, frame->landing, 1) : NULL;
		const struct cm_code_part *segment = code->segments;

		if (!table)
			continue;
		while (frame->landing < segment->begin || frame->landing >= segment->end)
			segment++;
		rc = read_landings(frame,
				   (struct cursor){table,
						   segment->bytes + (segment->end - segment->begin),
						   frame->landing, false},
				   found, ctx);
	}
	return rc;
}
