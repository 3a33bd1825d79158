/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "tests/unit/spool-maker.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_OFFSET 4096u
#define MIN_TABLE 64u

static void check(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	abort();
}

void spool_maker_init(struct spool_maker *maker, const char *dir, uint32_t clock)
{
	memset(maker, 0, sizeof(*maker));
	snprintf(maker->dir, sizeof(maker->dir), "%s", dir);
	check(mkdir(dir, 0700) == 0, dir);
	maker->head.magic = CM_SPOOL_PROCESS_MAGIC;
	maker->head.version = CM_SPOOL_VERSION;
	maker->head.clock = clock;
	maker->head.pid = 4242;
	maker->head.ppid = 1;
	maker->head.uid = geteuid();
	maker->head.start_mono_ns = 1000000;
	maker->head.start_realtime_ns = UINT64_C(1700000000000000000);
}

void spool_maker_fini(struct spool_maker *maker)
{
	free(maker->items);
	maker->items = NULL;
}

static void append(struct spool_maker *maker, const void *data, size_t n)
{
	if (maker->n_items + n > maker->n_room) {
		maker->n_room = 2 * (maker->n_items + n);
		maker->items = realloc(maker->items, maker->n_room);
		check(maker->items != NULL, "realloc");
	}
	memcpy(maker->items + maker->n_items, data, n);
	maker->n_items += n;
}

void spool_maker_item(struct spool_maker *maker, uint32_t type, void *fixed, size_t n_fixed, ...)
{
	char padding[8];
	size_t first = maker->n_items;
	struct cm_spool_item head = {.type = type};
	const char *text;
	va_list args;

	append(maker, fixed, n_fixed);
	va_start(args, n_fixed);
	while ((text = va_arg(args, const char *)))
		append(maker, text, strlen(text) + 1);
	va_end(args);
	memset(padding, CM_ITEM_PADDING, sizeof(padding));
	append(maker, padding, (8 - (maker->n_items - first) % 8) % 8);
	head.bytes = (uint32_t)(maker->n_items - first);
	memcpy(maker->items + first, &head, sizeof(head));
}

void spool_maker_identity(struct spool_maker *maker, const char *run_id, const char *output)
{
	struct cm_spool_item item = {0};
	char host[256] = "";

	check(gethostname(host, sizeof(host) - 1) == 0, "gethostname");
	spool_maker_item(maker, CM_ITEM_IDENTITY, &item, sizeof(item), run_id, host,
			 "/usr/bin/prog", "/tmp", output, "", NULL);
}

void spool_maker_env(struct spool_maker *maker, const char *variable)
{
	struct cm_spool_item item = {0};

	spool_maker_item(maker, CM_ITEM_ENV, &item, sizeof(item), variable, NULL);
}

void spool_maker_region(struct spool_maker *maker, uint32_t region, const char *tag,
			uint64_t max_events)
{
	struct cm_spool_region_item item = {.region = region, .max_events = max_events};

	spool_maker_item(maker, CM_ITEM_REGION, &item, sizeof(item), tag, NULL);
}

void spool_maker_site(struct spool_maker *maker, uint32_t region, const char *symbol,
		      const char *library, uint32_t state)
{
	struct cm_spool_site_item item = {
		.region = region, .kind = CM_SITE_JUMP_SLOT, .state = state};

	spool_maker_item(maker, CM_ITEM_SITE, &item, sizeof(item), symbol, "V1", "prog", library,
			 "", NULL);
}

void spool_maker_thread(struct spool_maker *maker, uint32_t thread, uint32_t slot, uint64_t tid,
			const char *name)
{
	struct cm_spool_thread_item item = {.thread = thread, .slot = slot, .tid = tid, .start = 1};

	spool_maker_item(maker, CM_ITEM_THREAD, &item, sizeof(item), name, NULL);
}

void spool_maker_sync(struct spool_maker *maker, uint64_t tick, uint64_t mono_ns)
{
	struct cm_spool_sync_item item = {.tick = tick, .mono_ns = mono_ns};

	spool_maker_item(maker, CM_ITEM_SYNC, &item, sizeof(item), NULL);
}

void spool_maker_object(struct spool_maker *maker, const char *path, const char *build_id,
			uint64_t base, uint64_t n_bytes, int is_closed)
{
	struct cm_spool_object_item item = {
		.base = base, .low = base, .high = base + n_bytes, .is_closed = is_closed != 0};

	spool_maker_item(maker, CM_ITEM_OBJECT, &item, sizeof(item), path, build_id, NULL);
}

void spool_maker_function(struct spool_maker *maker, uint32_t region, uint64_t address)
{
	struct cm_spool_function_item item = {.region = region, .address = address};

	spool_maker_item(maker, CM_ITEM_FUNCTION, &item, sizeof(item), NULL);
}

void spool_maker_path(struct spool_maker *maker, uint32_t path, uint32_t region, uint32_t flags,
		      const uint64_t *frames, uint32_t n_frames)
{
	struct {
		struct cm_spool_path_item head;
		uint64_t frames[512];
	} item = {.head = {.path = path, .region = region, .n_frames = n_frames, .flags = flags}};
	size_t n_bytes = n_frames * sizeof(*frames);

	check(n_bytes <= sizeof(item.frames), "too many frames");
	if (n_frames)
		memcpy(item.frames, frames, n_bytes);
	spool_maker_item(maker, CM_ITEM_PATH, &item, sizeof(item.head) + n_bytes, NULL);
}

static int create(const struct spool_maker *maker, const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", maker->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(fd >= 0, path);
	return fd;
}

static void put(int fd, const void *data, size_t n_bytes, uint64_t off)
{
	while (n_bytes) {
		ssize_t n = pwrite(fd, data, n_bytes, (off_t)off);

		check(n > 0, "pwrite");
		data = (const char *)data + n;
		n_bytes -= (size_t)n;
		off += (uint64_t)n;
	}
}

void spool_maker_file(const struct spool_maker *maker, const char *name, const void *data,
		      size_t n_bytes)
{
	int fd = create(maker, name);

	put(fd, data, n_bytes, 0);
	close(fd);
}

void spool_maker_path_totals(const struct spool_maker *maker, uint32_t slot,
			     const struct cm_spool_path_total *totals, size_t n)
{
	char name[32];

	snprintf(name, sizeof(name), "t%u.pth", slot);
	spool_maker_file(maker, name, totals, n * sizeof(*totals));
}

void spool_maker_process(const struct spool_maker *maker)
{
	int fd = create(maker, "process");

	put(fd, &maker->head, sizeof(maker->head), 0);
	put(fd, maker->items, maker->n_items, sizeof(maker->head));
	close(fd);
}

void spool_maker_dat(const struct spool_maker *maker, uint32_t slot,
		     const struct spool_words *words)
{
	char name[32];

	snprintf(name, sizeof(name), "t%u.dat", slot);
	spool_maker_file(maker, name, words->words, 8 * words->n);
}

void spool_maker_ring(const struct spool_maker *maker, uint32_t slot, const char *suffix,
		      const struct spool_ring *ring)
{
	size_t n_room = ring->n_room > ring->n_words ? ring->n_room : ring->n_words;
	size_t n_table = (ring->n_open + MIN_TABLE) * sizeof(struct cm_spool_open);
	struct cm_spool_thread head = {
		.magic = CM_SPOOL_THREAD_MAGIC,
		.version = CM_SPOOL_VERSION,
		.slot = slot,
		.stream_base = ring->stream_base,
		.ring_offset = TABLE_OFFSET + ((n_table + 4095) & ~(size_t)4095),
		.ring_bytes = 8 * n_room,
		.table_offset = *suffix == 's' ? 0 : TABLE_OFFSET,
		.n_entries = *suffix == 's' ? 0 : ring->n_open + MIN_TABLE,
		.n_dropped = ring->n_dropped,
	};
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "t%u.%s", slot, suffix);
	fd = create(maker, name);
	check(ftruncate(fd, (off_t)(head.ring_offset + head.ring_bytes)) == 0, "ftruncate");
	put(fd, &head, sizeof(head), 0);
	if (*suffix != 's')
		put(fd, ring->open, ring->n_open * sizeof(*ring->open), TABLE_OFFSET);
	put(fd, ring->words, 8 * ring->n_words, head.ring_offset);
	close(fd);
}

void spool_maker_totals(const struct spool_maker *maker, uint32_t slot,
			const struct cm_spool_totals *blocks, size_t n)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "t%u.tot", slot);
	fd = create(maker, name);
	for (size_t i = 0; i < n; i++)
		put(fd, &blocks[i], sizeof(blocks[i]), i * CM_SPOOL_TOTALS_STRIDE);
	/* As the preload leaves it: unused blocks, all zero, at the end. */
	check(ftruncate(fd, (off_t)((n + 2) * CM_SPOOL_TOTALS_STRIDE)) == 0, "ftruncate");
	close(fd);
}

void spool_words_raw(struct spool_words *words, uint64_t word)
{
	if (words->n == words->n_room) {
		words->n_room = words->n_room ? 2 * words->n_room : 1024;
		words->words = realloc(words->words, 8 * words->n_room);
		check(words->words != NULL, "realloc");
	}
	words->words[words->n++] = word;
}

void spool_words_thread(struct spool_words *words, uint64_t thread)
{
	spool_words_raw(words, (uint64_t)CM_WORD_THREAD << CM_WORD_KIND_SHIFT | thread);
}

void spool_words_call(struct spool_words *words, uint32_t region, uint64_t start, uint64_t end,
		      unsigned int flags)
{
	uint64_t duration = end - start, offset = end - words->base;
	uint64_t head = (uint64_t)flags << CM_WORD_FLAGS_SHIFT | (uint64_t)region
									 << CM_WORD_REGION_SHIFT;

	if (words->base && end >= words->base && !flags &&
	    !(duration >> CM_WORD_SHORT_DURATION_BITS) && !(offset >> CM_WORD_SHORT_OFFSET_BITS)) {
		spool_words_raw(words, CM_WORD_SHORT_BIT |
					       (uint64_t)region << CM_WORD_SHORT_REGION_SHIFT |
					       duration << CM_WORD_SHORT_DURATION_SHIFT | offset);
		return;
	}
	if (duration >> CM_WORD_LONG_DURATION_BITS) {
		spool_words_raw(words, (uint64_t)CM_WORD_HUGE << CM_WORD_KIND_SHIFT | head);
		spool_words_raw(words, end);
		spool_words_raw(words, start);
	} else {
		spool_words_raw(words,
				(uint64_t)CM_WORD_LONG << CM_WORD_KIND_SHIFT | head | duration);
		spool_words_raw(words, end);
	}
	words->base = end;
}

void spool_words_fini(struct spool_words *words)
{
	free(words->words);
	memset(words, 0, sizeof(*words));
}

void spool_maker_tempdir(char *buf, size_t n_bytes)
{
	check(snprintf(buf, n_bytes, "/tmp/callmark-test-XXXXXX") < (int)n_bytes, "tempdir");
	check(mkdtemp(buf) != NULL, "mkdtemp");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st; /* only paths matter here */
	(void)type;
	(void)walk;
	return remove(path);
}

void spool_maker_remove(const char *dir)
{
	/* Part of it may be gone already: what the test removed is not missed. */
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
