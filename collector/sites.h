/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of callmark-sites: from one object and the rules to its site file (preload/site-file.h).
 *
 *	rc = cm_sites_rules_load(&rules, config, symbols, &diag);
 *	rc = cm_sites_object_write(&rules, path, &target, &diag);	 for each object
 *	cm_sites_rules_fini(&rules);
 *
 * The steps on one object, in order: open, match, plan, check, twins, write.
 *
 * Threads: one at a time. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_COLLECTOR_SITES_H
#define CALLMARK_COLLECTOR_SITES_H

#include "collector/arena.h"
#include "collector/code-sweep.h"
#include "collector/elf-debug-file.h"
#include "collector/elf-frames.h"
#include "collector/elf-names.h"
#include "collector/elf-slots.h"
#include "collector/elf-symbols.h"
#include "preload/rules.h"
#include "preload/site-file.h"

struct cm_sites_rules {
	struct cm_rules rules;
	uint64_t hash;
	struct cm_arena arena;
};

/* Either text may be NULL. -EINVAL and what cm_rules_parse() and open(2) say. */
int cm_sites_rules_load(struct cm_sites_rules *rules, const char *config, const char *symbols,
			struct cm_diag *diag);
void cm_sites_rules_fini(struct cm_sites_rules *rules);

/* Where files go: to `output`, or into the first of the folders that can be written. */
struct cm_sites_target {
	const char *output; /* NULL: folders */
	const char *const *folders;
	size_t n_folders;
	bool force; /* made again even if a good one is there */
};

int cm_sites_object_write(const struct cm_sites_rules *rules, const char *path,
			  const struct cm_sites_target *target, struct cm_diag *diag);

/* A function that a rule matched. Strings are owned by the object, "" where there is none. */
struct cm_sites_row {
	struct cm_site_function site; /* but for its strings */
	const struct cm_rule *rule;
	const char *symbol, *base_name, *demangled, *source, *reason;
	size_t first_alias, n_aliases; /* among the object's symbols */
};

struct cm_sites_object {
	const char *path, *name; /* name: its last part, which rules call the library */
	struct cm_elf *elf;
	struct cm_elf_file debug; /* or what is in .gnu_debugdata */
	struct cm_elf_debug_place debug_place;
	struct cm_site_identity identity;
	struct cm_elf_code code;
	struct cm_elf_symbols symbols; /* ascending by address, best name first */
	struct cm_elf_frames frames;
	bool has_tables; /* most functions are in the unwind tables */
	bool is_go;	 /* its runtime moves stacks */
	struct cm_elf_slots slots;
	struct cm_elf_names *names; /* opened when first needed, or NULL */
	bool has_names;		    /* that was tried */
	struct cm_code_map map;
	struct cm_code_sweep sweep;
	uint64_t *pads; /* of -fpatchable-function-entry: where nops begin; ascending */
	size_t n_pads;
	struct cm_arena arena;
	struct cm_sites_row *rows; /* ascending by offset */
	size_t n_rows;
	uint64_t n_functions; /* that symbols name */
};

/* Open and identify; nothing is read that a good file in the cache would make useless. */
int cm_sites_object_open(struct cm_sites_object *object, const char *path, struct cm_diag *diag);
void cm_sites_object_close(struct cm_sites_object *object);

/* All steps between open and write. */
int cm_sites_object_make(struct cm_sites_object *object, const struct cm_sites_rules *rules,
			 struct cm_diag *diag);

/* Fill the rows: which rule, which names, which bounds. */
int cm_sites_match(struct cm_sites_object *object, const struct cm_rules *rules,
		   struct cm_diag *diag);

/* How each row's entry can be changed, or the reason why not. */
int cm_sites_plan(struct cm_sites_object *object, struct cm_diag *diag);

/*
 * Private to cm_sites_plan(): plan the row for a jump of n_jump bytes (-ENOSPC, -EINVAL, a reason
 * in entry); what is wrong with that plan, given the sorted sweep (1: not even a trap would be
 * right; the row's reason says it).
 */
struct cm_code_entry;
int cm_sites_plan_entry(const struct cm_sites_object *object, struct cm_sites_row *row,
			unsigned int n_jump, struct cm_code_entry *entry);
int cm_sites_check_row(struct cm_sites_object *object, struct cm_sites_row *row,
		       const struct cm_code_entry *entry);

/* Filling instructions at this address that belong to nobody, in bytes, up to `limit`. */
size_t cm_sites_count_padding(const struct cm_sites_object *object, uint64_t address,
			      uint64_t limit);

/* Where the compiler was told to leave room (-fpatchable-function-entry). */
int cm_sites_pads_read(struct cm_sites_object *object, struct cm_diag *diag);

/* Watch the padding that the row might need, and later use it for a row that was refused. */
void cm_sites_pads_watch(struct cm_sites_object *object, const struct cm_sites_row *row);
int cm_sites_shorten(struct cm_sites_object *object, struct cm_sites_row *row);

/* Of constructors and destructors that call one another, keep the innermost. */
int cm_sites_twins(struct cm_sites_object *object);

/* The words of a refusal, kept as long as the object. -ENOMEM. */
int cm_sites_refuse(struct cm_sites_object *object, struct cm_sites_row *row, const char *format,
		    ...) __attribute__((format(printf, 3, 4)));

/*
 * The name without what compilers and linkers append to copies and parts of a function and to
 * versions of a symbol: .constprop.0, .isra.0, @@V1. The symbol itself where there is nothing to
 * strip; NULL: no memory.
 */
const char *cm_sites_base_name(struct cm_arena *arena, const char *symbol);

/*
 * What {symbol} stands for: the name that the rule matched; but a part that was split off keeps its
 * own (foo.part.0), for it is called by the rest of its function, and by what that was inlined
 * into, and no call must count twice. NULL: no memory.
 */
const char *cm_sites_region_name(struct cm_arena *arena, const char *symbol, const char *base_name);

/* Is it the part of a function that is hardly ever reached? */
bool cm_sites_is_cold(const char *symbol);

/*
 * What patterns with "::" are compared with: C++ and Rust names as libiberty prints them, and
 * module::procedure for Fortran. "" for others; NULL: no memory.
 */
const char *cm_sites_demangle(struct cm_arena *arena, const char *base_name);

/*
 * Is a library of this SONAME called from the preload, in the middle of calls? Its own calls must
 * not be taken for the program's.
 */
bool cm_sites_is_ours(const char *soname);

/* Why the entry of a function with this name is never changed, or NULL. */
const char *cm_sites_forbidden(const char *base_name);

/* Write what there is to the file, beside its name first. */
int cm_sites_file_write(const struct cm_sites_object *object, uint64_t rules_hash, const char *path,
			struct cm_diag *diag);

/* Is the file good, and about this object as it is now? */
bool cm_sites_file_is_good(struct cm_sites_object *object, uint64_t rules_hash, const char *path);

/* Make the folder (0700) or see that it is the user's own. -EPERM and others. */
int cm_sites_folder_make(const char *folder, struct cm_diag *diag);

#endif
