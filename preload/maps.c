/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking the kernel about a mapping. */
#include "preload/maps.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/ioctl.h>

#include "preload/syscall.h"

/* PROCMAP_QUERY of linux/fs.h, which Debian 12's headers do not have yet. */
struct map_query {
	uint64_t size, flags, address;
	uint64_t start, end, vma_flags;
	uint64_t page_size, offset, inode;
	uint32_t dev_major, dev_minor, name_size, build_id_size;
	uint64_t name, build_id;
};
#define CM_MAP_QUERY _IOWR('f', 17, struct map_query)

/* State of reading "low-high rwxp ..." lines byte by byte. */
struct parser {
	struct cm_mapping mapping;
	uint64_t number;
	int column; /* 0 low, 1 high, 2.. protection, -1 rest of the line */
};

/* true: a line's first three fields are complete in p->mapping. */
static bool feed(struct parser *p, char c)
{
	if (c == '\n') {
		*p = (struct parser){0};
		return false;
	}
	if (p->column < 0)
		return false;
	if (p->column < 2) {
		if (c == '-' || c == ' ') {
			*(p->column ? &p->mapping.high : &p->mapping.low) = p->number;
			p->number = 0;
			p->column++;
		} else {
			p->number = p->number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
		}
		return false;
	}
	p->mapping.prot |= c == 'r' ? PROT_READ : c == 'w' ? PROT_WRITE : c == 'x' ? PROT_EXEC : 0;
	if (c != ' ')
		return false;
	p->column = -1;
	return true;
}

static int find_line(int fd, uint64_t address, struct cm_mapping *ret_mapping)
{
	struct parser parser = {0};
	char text[512];
	long n;

	while ((n = cm_sys3(SYS_read, fd, (long)text, sizeof(text))) > 0) {
		for (long i = 0; i < n; i++) {
			if (!feed(&parser, text[i]) || address >= parser.mapping.high)
				continue;
			if (address < parser.mapping.low)
				return -ENOENT;
			*ret_mapping = parser.mapping;
			return 0;
		}
	}
	return n < 0 ? (int)n : -ENOENT;
}

int cm_maps_open(void)
{
	return cm_sys_open("/proc/self/maps", O_RDONLY, 0);
}

int cm_maps_find_in(int fd, uint64_t address, struct cm_mapping *ret_mapping)
{
	struct map_query query = {.size = sizeof(query), .address = address};
	long rc;

	rc = cm_sys3(SYS_ioctl, fd, (long)CM_MAP_QUERY, (long)&query);
	if (!rc) {
		ret_mapping->low = query.start;
		ret_mapping->high = query.end;
		ret_mapping->prot = (query.vma_flags & 1 ? PROT_READ : 0) |
				    (query.vma_flags & 2 ? PROT_WRITE : 0) |
				    (query.vma_flags & 4 ? PROT_EXEC : 0);
	} else if (rc != -ENOENT) {
		rc = cm_sys3(SYS_lseek, fd, 0, 0 /* SEEK_SET */);
		rc = rc < 0 ? rc : find_line(fd, address, ret_mapping);
	}
	return (int)rc;
}

int cm_maps_find(uint64_t address, struct cm_mapping *ret_mapping)
{
	int fd = cm_maps_open(), rc;

	if (fd < 0)
		return fd;
	rc = cm_maps_find_in(fd, address, ret_mapping);
	cm_sys_close(fd);
	return rc;
}

/* Take the highest place for n_bytes in [from, to), cut to [low, high). */
static void offer(uint64_t from, uint64_t to, uint64_t n_bytes, uint64_t *best)
{
	if (to > from && to - from >= n_bytes + 4096)
		*best = to - 4096 - n_bytes;
}

int cm_maps_gap(uint64_t low, uint64_t high, uint64_t n_bytes, uint64_t *ret_address)
{
	int fd = cm_sys_open("/proc/self/maps", O_RDONLY, 0);
	uint64_t end = (low + 4095) & ~UINT64_C(4095), best = 0; /* end: of what is in use so far */
	struct parser parser = {0};
	char text[512];
	long n;

	if (fd < 0)
		return fd;
	high &= ~UINT64_C(4095);
	while ((n = cm_sys3(SYS_read, fd, (long)text, sizeof(text))) > 0)
		for (long i = 0; i < n; i++) {
			if (!feed(&parser, text[i]) || parser.mapping.high <= end)
				continue;
			offer(end, parser.mapping.low < high ? parser.mapping.low : high, n_bytes,
			      &best);
			end = parser.mapping.high;
		}
	cm_sys_close(fd);
	offer(end, high, n_bytes, &best);
	*ret_address = best;
	return best ? 0 : -ENOMEM;
}
