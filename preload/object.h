/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded objects as the loader mapped them: their dynamic sections, relocations and symbols.
 *
 * The registry knows every object of the base namespace that was looked at. It is changed under
 * the sites lock only; entries of closed objects are marked, never moved, and used again when the
 * same file is loaded again. Strings that outlive an object (name, path) are copies. Not hook-safe.
 */
#ifndef CALLMARK_PRELOAD_OBJECT_H
#define CALLMARK_PRELOAD_OBJECT_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#define CM_MAX_TEXTS 4

struct cm_entries;
struct cm_site_file;

struct cm_object {
	uint64_t base;	    /* load bias */
	uint64_t low, high; /* of all segments */
	const Elf64_Dyn *dynamic;
	const char *path; /* as the loader names it; "" for the program */
	const char *name; /* base name; the program's own for the program */
	bool is_main;
	bool is_startup; /* loaded with the program: never closed */
	bool is_skipped; /* ours, the loader, the vDSO */
	bool is_gone;
	bool is_noted; /* gone, and its sites say so */
	bool is_patched;
	bool is_listed;		    /* in the log of objects (object-log.h) */
	bool has_likwid_calls;	    /* its marker calls have been looked at (likwid-program.c) */
	const uint64_t *check_slot; /* one slot we changed, and to what: a reloaded copy differs */
	uint64_t check_value;
	const uint8_t *check_entry; /* and a byte of code that we changed (entries.c) */
	uint8_t check_byte;
	bool are_entries_done;
	const struct cm_site_file *site_file; /* entries-file.c; or NULL */
	const struct cm_entries *entries;     /* patched ones; hooks read it */
	uint32_t birth;			      /* number of objects that were added before, and it */
	uint8_t build_id[36]; /* a copy: the object may be closed; n_build_id bytes */
	uint32_t n_build_id;
	const uint8_t *unwind_table; /* .eh_frame_hdr, or NULL */
	uint32_t n_loads;	     /* times it was loaded: what was at an address may be new */
	uint32_t mark;		     /* of the search that last came here */
	const char *names;	     /* DT_SONAME or "", each DT_NEEDED, ""; a copy */
	uint32_t name_hash, so_hash; /* of `name` and DT_SONAME */
	bool binds_now;
	bool binds_symbolically; /* DF_SYMBOLIC: to its own definitions first */
	bool binds_deeply;	 /* RTLD_DEEPBIND: to the opened object and its libraries first */
	const Elf64_Sym *symbols;
	const char *strings;
	const Elf64_Half *versions;
	const Elf64_Verneed *needs;
	const Elf64_Verdef *defs;
	const uint32_t *gnu_hash, *sysv_hash;
	const Elf64_Rela *rela, *plt_rela;
	uint64_t n_rela, n_plt_rela;
	struct {
		uint64_t low, high;
	} texts[CM_MAX_TEXTS]; /* executable segments */
	int n_texts;
};

/*
 * Look for objects that are not in the registry; mark those that are gone. One that comes back
 * takes its old entry. Returns how many new.
 */
int cm_object_refresh(void);

uint32_t cm_object_count(void);

/* How many were added so far, reloaded ones again. */
uint32_t cm_object_n_births(void);

/* How often code has come or gone: what was found out about an address may not hold since. */
uint64_t cm_object_n_changes(void);

/* How many of them, from the first on, the loader searches for everybody since the start. */
uint32_t cm_object_n_global(void);
struct cm_object *cm_object_at(uint32_t idx);
const struct cm_object *const *cm_object_list(void); /* all of them */

/* The object whose segments contain address, or NULL. hook-safe: it takes no lock. */
struct cm_object *cm_object_of(const void *address);

/* Make it fast for the objects of now. Once, by cm_object_refresh(). */
void cm_object_index(void);

/* Copy what the object is called and what it needs: others may look while it is being closed. */
void cm_object_keep_names(struct cm_object *object);

/* One more than the index of the last object that `from` needs, at any remove. */
uint32_t cm_object_end_of_needs(struct cm_object *from);

/* For a search: no object carries this one yet. */
uint32_t cm_object_new_mark(void);

/* Is `object` among the libraries that `opener` needs, or that those need? Sites lock held. */
bool cm_object_needs(const struct cm_object *opener, const struct cm_object *object);

/* Path of the preload itself, as the loader names it; NULL where it does not know. */
const char *cm_object_own_path(void);

/* Version name that a symbol's reference or definition carries; "" where none. */
const char *cm_object_version(const struct cm_object *object, uint32_t symbol_idx);

/*
 * The object's own definition of a function, as a reference with this version finds it: "" is a
 * reference without version, which binds to the base definition; NULL takes any.
 * NULL: none, or not a function.
 */
const Elf64_Sym *cm_object_find(const struct cm_object *object, const char *name,
				const char *version);

/*
 * The same in the first of the objects that came with the program and has one; *ret_object is set
 * then. Without version the search ends, in vain, at one that has only others.
 */
const Elf64_Sym *cm_object_find_global(const char *name, const char *version,
				       const struct cm_object **ret_object);

/*
 * Does a PLT entry of this object stand for the function, because code that is not
 * position-independent takes its address?
 */
bool cm_object_stands_in(const struct cm_object *object, const char *name);

/* Address of a definition, an IFUNC resolved. */
void *cm_object_address(const struct cm_object *object, const Elf64_Sym *symbol);

/* In one of the object's executable segments? */
bool cm_object_has_code(const struct cm_object *object, uint64_t address);

#endif
