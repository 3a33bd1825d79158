/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The site file: how the entries of one object's functions can be intercepted (internal=yes).
 *
 * A contract header. callmark-sites, outside of the target, reads symbols, debug files and machine
 * code and writes the file; the preload applies it, `callmark symbols` shows it. One file holds
 * every function of one object that a rule with internal=yes matched, also those refused.
 *
 *	<cache>/<key>-<hash of the rules, 16 hex digits>.sites
 *		key: the object's build-id in hexadecimal; without one "s" and its device, inode,
 *		size and mtime [ns], in hexadecimal, '-' between
 *	cache: $CALLMARK_CACHE, else $XDG_CACHE_HOME/callmark, else $HOME/.cache/callmark, else (or
 *	where that cannot be written) <run folder of the spool>/sites; mode 0700, the user's own
 *
 * Layout: struct cm_site_file, n_functions of struct cm_site_function (ascending by offset, each
 * offset once), then strings. Little-endian, naturally aligned. Written beside its name and
 *renamed: complete or absent. The preload checks every field, and the code itself against
 *`expected`, before it changes a byte.
 *
 * How an entry is intercepted: the instructions that begin in the bytes of the jump are copied to
 * memory within 2 GiB of the object (`moved`, with its displacements adapted by `fixups`), and a
 * jump to the thunk takes their place. `moved` ends with a jump back to the rest of the function,
 *or needs none. An endbr64 at the entry stays; the jump stands behind it.
 */
#ifndef CALLMARK_PRELOAD_SITE_FILE_H
#define CALLMARK_PRELOAD_SITE_FILE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_SITE_FILE_MAGIC UINT64_C(0x31304554495343ff) /* "\xffCSITE01" */
#define CM_SITE_FILE_VERSION 3u				/* part of the hash: others are not found */
#define CM_SITE_FILE_MAX_BYTES (1u << 30)
#define CM_SITE_MAX_EXPECTED 32u
#define CM_SITE_MAX_MOVED 96u
#define CM_SITE_MAX_FIXUPS 6u
#define CM_SITE_JUMP_BYTES 5u  /* e9, distance */
#define CM_SITE_SHORT_BYTES 2u /* eb, distance */

struct cm_site_file {
	uint64_t magic; /* CM_SITE_FILE_MAGIC */
	uint32_t version;
	uint32_t n_functions;
	uint64_t n_bytes;    /* of the file */
	uint64_t rules_hash; /* cm_site_file_hash() */
	uint64_t strings;    /* position in the file of the first one, ""; the last byte is NUL */
	uint64_t n_symbols;  /* functions that the object and its debug file name */
	uint64_t debug_mtime_ns; /* of the debug file that was used */
	uint32_t object;     /* string: path that was read. Strings are offsets from `strings` */
	uint32_t debug_file; /* string: path, "" where none was found */
	uint32_t n_build_id; /* bytes; 0: the object has none */
	uint8_t build_id[36];
	uint32_t n_symtab; /* entries of the object's own .symtab: none once it is stripped */
	uint8_t reserved[20];
};
_Static_assert(sizeof(struct cm_site_file) == 128, "on-disk size");

enum cm_site_how {
	CM_SITE_HOW_REFUSED = 0, /* `reason` says why */
	CM_SITE_HOW_JUMP = 1,	 /* the five-byte jump at `place` */
	CM_SITE_HOW_SHORT = 2,	 /* the two-byte jump at `place`, to the five-byte one at `pad` */
	CM_SITE_HOW_TRAP = 3,	 /* int3 at `place`; only for rules with force=trap */
};

enum cm_site_fixup_kind {
	CM_SITE_FIXUP_REL32 = 1, /* 4 bytes at `at`: target - (address of `at` + tail) */
	CM_SITE_FIXUP_ABS64 = 2, /* 8 bytes at `at`: load base + target */
};

struct cm_site_fixup {
	uint8_t at;   /* position in `moved` */
	uint8_t kind; /* enum cm_site_fixup_kind */
	uint8_t tail; /* bytes from `at` to the end of the instruction, 4 or more */
	uint8_t reserved[5];
	uint64_t target; /* as an address in the object: to be added to its load base */
};
_Static_assert(sizeof(struct cm_site_fixup) == 16, "on-disk size");

struct cm_site_function {
	uint64_t offset;    /* of the entry, from the load base, as all addresses here */
	uint64_t size;	    /* bytes */
	uint64_t place;	    /* offset, or behind the endbr64 there */
	uint64_t pad;	    /* CM_SITE_HOW_SHORT: five bytes that nothing else uses */
	uint32_t rule;	    /* index among all rules */
	uint32_t symbol;    /* string: as the symbol table has it, "solve.constprop.0" */
	uint32_t base_name; /* string: what {symbol} becomes: as the rule matched it, "solve";
			       a part that was split off keeps its own, "solve.part.0" */
	uint32_t demangled; /* string, or "" */
	uint32_t source;    /* string: base name of the source file, "" where it is not known */
	uint32_t reason;    /* string: "short: ...", "" where not refused */
	uint8_t how;	    /* enum cm_site_how */
	uint8_t n_expected; /* bytes at `place` that are overwritten or moved: all of them must be
			       as in `expected` */
	uint8_t n_pad;	    /* bytes of expected_pad */
	uint8_t n_moved;
	uint8_t n_fixups;
	uint8_t is_single; /* the overwritten bytes begin in one instruction, or are padding: no
			      thread can stand between two of them */
	uint8_t reserved[2];
	uint8_t expected[CM_SITE_MAX_EXPECTED];
	uint8_t expected_pad[8];
	uint8_t moved[CM_SITE_MAX_MOVED];
	struct cm_site_fixup fixups[CM_SITE_MAX_FIXUPS];
};
_Static_assert(sizeof(struct cm_site_function) == 296, "on-disk size");

/* What the name of the file is made from. */
struct cm_site_identity {
	uint32_t n_build_id; /* 0: the four below */
	uint8_t build_id[36];
	uint64_t dev, ino, size, mtime_ns;
};

/*
 * Hash of the texts of rules: the file's (NULL: none) and the inline ones (NULL: none), and the
 * version. Any thread.
 */
uint64_t cm_site_file_hash(const char *config, size_t n_config, const char *symbols);

/* "<folder>/<key>-<hash>.sites". 0 or -ENAMETOOLONG. Any thread. */
int cm_site_file_path(const char *folder, const struct cm_site_identity *identity, uint64_t hash,
		      char *buf, size_t n_bytes);

/*
 * The cache folder by these variables' values (NULL or "": not set), see above; 1 and "" when none
 * is set. 0; -ENAMETOOLONG. Any thread.
 */
int cm_site_cache(const char *cache, const char *xdg, const char *home, char *buf, size_t n_bytes);

/*
 * Are n_bytes at `file` a site file with these rules, all of whose fields are within bounds? After
 * that nothing in it needs to be checked again but what it says about the object: 0, or -EBADMSG.
 * Any thread; no allocation.
 */
int cm_site_file_check(const void *file, size_t n_bytes, uint64_t hash);

static inline const struct cm_site_function *cm_site_functions(const struct cm_site_file *file)
{
	return (const struct cm_site_function *)(file + 1);
}

static inline const char *cm_site_string(const struct cm_site_file *file, uint32_t offset)
{
	return (const char *)file + file->strings + offset;
}

#endif
