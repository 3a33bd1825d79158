/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spool: what the profiled process leaves on disk, and what the collector reads.
 *
 * This is a contract header: preload/ writes the format, collector/ reads it, and both sides
 * compile these structures. Everything is little-endian, fixed width, naturally aligned; a
 * reader must treat every byte as hostile (see collector/spool-reader.h).
 *
 *   <base>/callmark-<uid>/          base: $CALLMARK_SPOOL, else $TMPDIR, else /tmp; mode 0700
 *     <run id>/                     one run, shared by all its processes; mode 0700
 *       matched                     one byte a rule (under `run`): CM_MATCHED once it has a patched
 *                                   site, CM_MATCHED_REFUSED while it has only refused ones
 *       <pid>-<start ns, hex>/      one process image that recorded something; mode 0700
 *         process                   log of struct cm_spool_item: who, what, where, clock
 *         t<slot>.map               struct cm_spool_thread, then its ring and its open-call table
 *         t<slot>.s<k>              further rings of that thread (struct cm_spool_thread, no table)
 *         t<slot>.dat               the drained part of its record stream, words from offset 0
 *         t<slot>.tot               blocks of struct cm_spool_totals
 *         t<slot>.pth               struct cm_spool_path_total, one a call path of that slot
 *         done                      empty; the collector has taken everything over
 *
 * A slot is the storage of one thread at a time; CM_WORD_THREAD says where another thread took
 * it over. The process directory appears with the first intercepted call, not before.
 *
 * The record stream
 * -----------------
 * A thread's stream is a sequence of 64-bit words. Word i stands at byte 8*i of t<slot>.dat, or,
 * if a ring covers that position (stream_base <= 8*i < stream_base + ring_bytes) and holds a
 * non-zero word there, in the ring: the ring wins. A zero word is one that was never published;
 * readers skip it. That overlay makes a drain that was killed half way harmless.
 *
 * A call is one word when it is short and near the last reference point:
 *
 *   63        62..47   46..24            23..0
 *   1         region   duration [ticks]  end - base [ticks]
 *
 * All others have bit 63 clear and a kind in bits 62..56:
 *
 *   CM_WORD_LONG    55..52 flags, 51..36 region, 35..0 duration; next word: end. base := end
 *   CM_WORD_HUGE    55..52 flags, 51..36 region; next words: end, start.         base := end
 *   CM_WORD_THREAD  55..0 thread index (struct cm_spool_thread_item) from here on
 *   CM_WORD_NOP     nothing; readers skip it
 *
 * A LONG or HUGE whose following word is zero was not published. Ticks are those of the
 * process's clock (enum cm_spool_clock); absolute ones are never 0. Records stand in the order in
 * which their slots were taken: nearly, not exactly, that of their ends (signal handlers).
 *
 * A call is accounted exactly once: in the stream, or (region capped, trace=off, stream lost) in
 * a totals block, or (still running) in the open-call table. An open entry whose region and start
 * equal those of a call in the stream is that call, killed between the two; likewise one whose
 * frame carries CM_OPEN_COUNTED_BIT and another count than its region's block on that slot.
 */
#ifndef CALLMARK_PRELOAD_SPOOL_H
#define CALLMARK_PRELOAD_SPOOL_H

#include <assert.h>
#include <stdint.h>

#define CM_SPOOL_VERSION 1u
#define CM_SPOOL_THREAD_MAGIC UINT64_C(0x3130445248544d43)  /* "CMTHRD01" */
#define CM_SPOOL_PROCESS_MAGIC UINT64_C(0x31304f5250414d43) /* "CMAPRO01" */
#define CM_SPOOL_MAX_REGIONS 65535u
#define CM_SPOOL_N_BUCKETS 64u
#define CM_MATCHED 1
#define CM_MATCHED_REFUSED 2

/* Words of the stream. */
#define CM_WORD_SHORT_BIT (UINT64_C(1) << 63)
#define CM_WORD_SHORT_REGION_SHIFT 47
#define CM_WORD_SHORT_DURATION_SHIFT 24
#define CM_WORD_SHORT_DURATION_BITS 23
#define CM_WORD_SHORT_OFFSET_BITS 24
#define CM_WORD_KIND_SHIFT 56
#define CM_WORD_FLAGS_SHIFT 52
#define CM_WORD_REGION_SHIFT 36
#define CM_WORD_LONG_DURATION_BITS 36
#define CM_WORD_PAYLOAD_MASK ((UINT64_C(1) << 56) - 1)

enum cm_word_kind {
	CM_WORD_LONG = 1,
	CM_WORD_HUGE = 2,
	CM_WORD_THREAD = 3,
	CM_WORD_NOP = 4,
};

/* Flags of LONG and HUGE records. */
#define CM_CALL_UNWOUND 1u /* left by an exception, pthread_exit or cancellation */
#define CM_CALL_SKIPPED 2u /* left by longjmp; end is when that was noticed */

enum cm_spool_clock {
	CM_CLOCK_TSC = 1,	/* ticks of the time-stamp counter; convert with the sync points */
	CM_CLOCK_MONOTONIC = 2, /* ticks are ns of CLOCK_MONOTONIC */
};

/* First bytes of t<slot>.map and t<slot>.s<k>. */
struct cm_spool_thread {
	uint64_t magic; /* CM_SPOOL_THREAD_MAGIC */
	uint32_t version;
	uint32_t slot;
	uint64_t stream_base;  /* byte position in the stream of the ring's first word */
	uint64_t ring_offset;  /* in this file, bytes; multiple of 4096 */
	uint64_t ring_bytes;   /* multiple of 8 */
	uint64_t table_offset; /* in this file, bytes; 0 where there is no table */
	uint64_t n_entries;    /* of the table; those beyond the file's end or zero are unused */
	uint64_t n_dropped;    /* calls of this slot that were not timed at all */
};
_Static_assert(sizeof(struct cm_spool_thread) == 64, "on-disk size");

/* An open call; start == 0: the entry is free. */
struct cm_spool_open {
	uint64_t start; /* ticks */
	uint64_t frame; /* address of the thunk's frame: an identity, never dereferenced; or, while
			   the call is added to a totals block, that block's `pending` before it
			   with CM_OPEN_COUNTED_BIT set */
	uint32_t region;
	uint32_t thread;  /* thread index */
	uint64_t scratch; /* the process's own: what its thread had spent in markers when the call
			     began. Readers ignore it, and may use their copy */
};
_Static_assert(sizeof(struct cm_spool_open) == 32, "on-disk size");
#define CM_OPEN_COUNTED_BIT (UINT64_C(1) << 63)

/*
 * Calls of one region on one slot that have no record in the stream. Blocks start at every
 * multiple of CM_SPOOL_TOTALS_STRIDE in t<slot>.tot; one with used == 0 ends the file.
 *
 * The last call stands in `pending` and is added to the sums by the next one: that takes the
 * dependent additions out of the interval between two clock readings. Bit 63 says that there is
 * one, bits 62..40 count the block's calls modulo 2^23, bits 39..0 are its ticks. So the number of
 * calls is the sum of the buckets plus the pending one, and it must be congruent to that count: a
 * process killed between the exchange and the additions has counted one call more than it timed.
 */
#define CM_SPOOL_TOTALS_STRIDE 640u
struct cm_spool_totals {
	uint32_t used;
	uint32_t region;
	uint64_t total;	    /* ticks */
	uint64_t min;	    /* ticks; UINT64_MAX before the first call */
	uint64_t max;	    /* ticks */
	uint64_t sum_sq_lo; /* ticks^2, 128 bits */
	uint64_t sum_sq_hi;
	uint64_t n_unwound;
	uint64_t n_skipped;
	uint64_t n_lost;     /* of these calls: ones that the trace should have had */
	uint64_t tool_ticks; /* our own work inside this region's open calls */
	uint64_t buckets[CM_SPOOL_N_BUCKETS]; /* bucket b: 2^b <= ns < 2^(b+1); b == 0 also 0 ns */
	uint64_t pending;
};
#define CM_PENDING_VALID (UINT64_C(1) << 63)
#define CM_PENDING_COUNT_SHIFT 40
#define CM_PENDING_COUNT_MASK ((UINT64_C(1) << 63) - (UINT64_C(1) << CM_PENDING_COUNT_SHIFT))
#define CM_PENDING_TICKS_MASK ((UINT64_C(1) << CM_PENDING_COUNT_SHIFT) - 1)
_Static_assert(sizeof(struct cm_spool_totals) <= CM_SPOOL_TOTALS_STRIDE, "on-disk size");

/*
 * The process file: struct cm_spool_process, then items one after the other. Each item has this
 * header, its fixed part, then NUL-terminated strings in the order given; `bytes` counts all of
 * it and is a multiple of 8. What fills it up is CM_ITEM_PADDING: no string, for want of a NUL.
 * Appended under a lock; a torn last item is ignored.
 */
struct cm_spool_process {
	uint64_t magic; /* CM_SPOOL_PROCESS_MAGIC */
	uint32_t version;
	uint32_t clock; /* enum cm_spool_clock */
	uint64_t pid;
	uint64_t ppid;
	uint64_t uid;
	uint64_t start_mono_ns;	    /* CLOCK_MONOTONIC when the preload started */
	uint64_t start_realtime_ns; /* CLOCK_REALTIME then */
	uint64_t main_pid;	    /* the process that `callmark run` started, 0 without it */
};
_Static_assert(sizeof(struct cm_spool_process) == 64, "on-disk size");

struct cm_spool_item {
	uint32_t type; /* enum cm_spool_item_type */
	uint32_t bytes;
};

#define CM_ITEM_PADDING 0xff

enum cm_spool_item_type {
	CM_ITEM_IDENTITY = 1,  /* item; strings: run_id, hostname, executable, cwd, output (absolute
				  or empty; %r %p %h not yet replaced), compress (may be empty) */
	CM_ITEM_ARGV = 2,      /* item; strings: argv[0..]; several items continue one another */
	CM_ITEM_ENV = 3,       /* item; strings: NAME=VALUE, only names the file format or the rank
				  needs; several items */
	CM_ITEM_RULE = 4,      /* struct cm_spool_rule_item; strings: the rule as written */
	CM_ITEM_REGION = 5,    /* struct cm_spool_region_item; strings: tag */
	CM_ITEM_SITE = 6,      /* struct cm_spool_site_item; strings: symbol, version, object,
				  library, reason */
	CM_ITEM_SYNC = 7,      /* struct cm_spool_sync_item */
	CM_ITEM_THREAD = 8,    /* struct cm_spool_thread_item; strings: name. A later item with the
				  same index replaces an earlier one */
	CM_ITEM_CPU = 9,       /* struct cm_spool_cpu_item: a CPU on which a thread was seen */
	CM_ITEM_EXIT = 10,     /* struct cm_spool_exit_item */
	CM_ITEM_NOTE = 11,     /* item; strings: text of a degradation, for the user */
	CM_ITEM_COUNTERS = 12, /* struct cm_spool_counters_item; strings: path of liblikwid, reason.
				  The last one counts; none: no marker environment */
	CM_ITEM_MARKER = 13,   /* struct cm_spool_marker_item; strings: the tag LIKWID has */
	CM_ITEM_SKIPS = 14,    /* struct cm_spool_skips_item */
	CM_ITEM_SNAPSHOT = 15, /* struct cm_spool_snapshot_item, n_events doubles; no strings */
	CM_ITEM_OBJECT = 16, /* struct cm_spool_object_item; strings: path, build-id in hexadecimal
				("" without one). Loaded, or closed: what stands between two
				items about the same addresses belongs to the first */
	CM_ITEM_FUNCTION = 17, /* struct cm_spool_function_item: what a region stands for; no
				  strings. Several for one region where it has several functions */
	CM_ITEM_PATH = 18,     /* struct cm_spool_path_item, n_frames addresses; no strings */
};

struct cm_spool_rule_item {
	struct cm_spool_item item;
	uint32_t rule; /* index, in file order, 0 based */
	uint32_t line;
};

struct cm_spool_region_item {
	struct cm_spool_item item;
	uint32_t region;
	uint32_t rule;
	uint64_t max_events; /* 0: no trace; UINT64_MAX: no cap */
};

enum cm_site_kind {
	CM_SITE_JUMP_SLOT = 1,
	CM_SITE_GLOB_DAT = 2,
	CM_SITE_DLSYM = 3, /* handed out by dlsym */
	CM_SITE_ENTRY = 4, /* the function's first bytes (internal=yes): object == library */
	CM_SITE_TRAP = 5,  /* a trap there (force=trap) */
};

enum cm_site_state {
	CM_SITE_PATCHED = 1,
	CM_SITE_REFUSED = 2, /* `reason` says why */
	CM_SITE_GONE = 3,    /* its object was closed */
};

struct cm_spool_site_item {
	struct cm_spool_item item;
	uint32_t rule;
	uint32_t region; /* UINT32_MAX when refused */
	uint32_t kind;	 /* enum cm_site_kind */
	uint32_t state;	 /* enum cm_site_state */
};

struct cm_spool_object_item {
	struct cm_spool_item item;
	uint64_t base;	    /* load bias: address = base + address in the file */
	uint64_t low, high; /* of all segments */
	uint32_t is_closed;
	uint32_t reserved;
};

struct cm_spool_function_item {
	struct cm_spool_item item;
	uint32_t region;
	uint32_t reserved;
	uint64_t address; /* of its entry */
};

/* From where a region was entered: return addresses, innermost first. callers=N. */
#define CM_PATH_CUT 1u	 /* no unwind information: there are more frames than could be seen */
#define CM_PATH_LIMIT 2u /* the rule's number of frames was reached */
#define CM_PATH_OTHER 4u /* all paths beyond the bound of CM_SPOOL_MAX_PATHS; no frames */
#define CM_SPOOL_MAX_PATHS 4096u /* a region and process */
struct cm_spool_path_item {
	struct cm_spool_item item;
	uint32_t path; /* index, dense, over all regions of the process */
	uint32_t region;
	uint32_t n_frames;
	uint32_t flags; /* CM_PATH_* */
};

/*
 * Calls by path, of one slot; one with used == 0 ends the file. A call is added after it was
 * recorded: those of a killed process may be one behind the region's own count.
 */
struct cm_spool_path_total {
	uint32_t used;
	uint32_t path;
	uint64_t n_calls;
	uint64_t total_ticks;
	uint64_t reserved;
};
_Static_assert(sizeof(struct cm_spool_path_total) == 32, "on-disk size");

struct cm_spool_sync_item {
	struct cm_spool_item item;
	uint64_t tick;
	uint64_t mono_ns;
	uint64_t realtime_ns;
};

struct cm_spool_thread_item {
	struct cm_spool_item item;
	uint32_t thread; /* index, 0 based, dense */
	uint32_t slot;
	uint64_t tid;
	uint64_t start; /* ticks */
};

struct cm_spool_cpu_item {
	struct cm_spool_item item;
	uint32_t thread;
	uint32_t cpu;
};

struct cm_spool_exit_item {
	struct cm_spool_item item;
	int32_t status; /* argument of exit */
	uint32_t has_status;
	uint64_t tick;
	uint64_t n_dropped; /* calls that were not timed and belong to no slot */
	uint64_t n_no_stub; /* sites left alone because the stubs were spent */
};

enum cm_counters_state {
	CM_COUNTERS_ARMED = 1,	 /* markers are opened; the process has not closed them (yet) */
	CM_COUNTERS_REFUSED = 2, /* `reason` says why no marker was opened */
	CM_COUNTERS_CLOSED = 3,	 /* LIKWID has written its marker file, LIKWID_FILEPATH */
	CM_COUNTERS_EMPTY = 4,	 /* no marker was ever opened: there is no marker file */
	CM_COUNTERS_LOST = 5,	 /* `reason`; no marker file, the snapshots are all there is */
};

struct cm_spool_counters_item {
	struct cm_spool_item item;
	uint32_t state; /* enum cm_counters_state */
	uint32_t n_groups;
};

/* A tag that was given to LIKWID; the file has the region's own (shortened, newline replaced). */
struct cm_spool_marker_item {
	struct cm_spool_item item;
	uint32_t region; /* UINT32_MAX: the program's own tag, as it is */
	uint32_t marker; /* order of registration, 0 based */
};

/* Calls whose region wanted a marker and got none: X(enumerator, name in the file, meaning). */
#define CM_MARKER_SKIPS(X)                                                            \
	X(UNLISTED, "unlisted", "on a CPU outside LIKWID_THREADS")                    \
	X(BUSY, "busy", "another thread had markers open on that CPU")                \
	X(MIGRATED, "migrated", "the thread changed its CPU during the call")         \
	X(DAEMON, "daemon", "the access daemon or its connection was gone")           \
	X(FAILED, "failed", "LIKWID refused to start or stop the region")             \
	X(NESTED, "nested", "too many markers were open, or LIKWID was being called") \
	X(TAGS, "tags", "too many different tags")                                    \
	X(LATE, "late", "after the markers were closed, at the end of the process")   \
	X(UNKNOWN, "unknown", "the call itself could not be recorded")

enum cm_marker_skip {
#define CM_MARKER_SKIP(name, text, meaning) CM_MARKER_SKIP_##name,
	CM_MARKER_SKIPS(CM_MARKER_SKIP)
#undef CM_MARKER_SKIP
		CM_N_MARKER_SKIPS,
};

struct cm_spool_skips_item {
	struct cm_spool_item item;
	uint64_t n[16]; /* by enum cm_marker_skip; the rest is 0 */
};
_Static_assert(CM_N_MARKER_SKIPS <= 16, "room in the item");

/* What LIKWID had summed for one tag just before it was closed: the exiting thread's CPU only. */
struct cm_spool_snapshot_item {
	struct cm_spool_item item;
	uint32_t marker;
	uint32_t cpu;
	uint32_t group; /* index into LIKWID_EVENTS */
	uint32_t n_events;
	uint64_t count;
	double seconds;
};
_Static_assert(sizeof(struct cm_spool_snapshot_item) == 40, "on-disk size");

#endif
