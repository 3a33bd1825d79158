/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries: functions intercepted at their first bytes (internal=yes), as the site file of their
 * object says (site-file.h).
 *
 *	constructor:	cm_entries_init(&rules), cm_entries_refresh(NULL, true)
 *	dlopen:		cm_danger_opening(&opening), dlopen, cm_entries_refresh(&opening, ...)
 *
 * The bytes of a jump replace the instructions there, which are copied to memory near the object.
 * A patched function is called through the jump by whoever calls it; stubs for its slots call the
 * copy, so that no call is counted twice, in whichever order slots and entries are patched.
 *
 * No other thread may be between the instructions that are replaced. So an object is patched only
 * while the process has one thread; before anything of the program itself has run; opened later,
 * when no thread has begun since then and nobody else is opening objects; or while all others wait
 * for a thread to wake them, as the workers that a library's constructor has started soon do, and
 * no handler of a signal, which would wake them too, leads there. What cannot be known is refused
 * ("threads: ...").
 */
#ifndef CALLMARK_PRELOAD_ENTRIES_H
#define CALLMARK_PRELOAD_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/object.h"
#include "preload/rules.h"
#include "preload/site-file.h"

#define CM_MAX_TASKS 1000

struct cm_stub;

/* The process's threads at one moment. */
struct cm_tasks {
	int n; /* -1: not known, or too many */
	int tids[CM_MAX_TASKS];
};

/* What was the case before an object was opened. */
struct cm_opening {
	struct cm_tasks tasks;
	uint32_t birth;	     /* of the youngest object */
	uint32_t n_finished; /* loader calls so far */
};

/* What has been done to one object. */
struct cm_entries {
	const struct cm_site_file *file;
	const uint32_t *near; /* by function: offset in near_code of the moved instructions; 0: the
				 function was not patched */
	uint8_t *near_code;
	uint64_t n_near_bytes;
	struct cm_object *object;
	uint32_t n_loads; /* of the object then */
	struct cm_entries *other;
};

/* The texts of the rules, for the name of the cached files; NULL: none. Init only; -ENOMEM. */
int cm_entries_init(const struct cm_rules *rules, const char *config_path, const char *config,
		    size_t n_config, const char *symbols, const char *cache);

/* Is there a rule with internal=yes? */
extern bool cm_entries_are_used;

/*
 * Patch what is new; forget what was closed. opening: the loader call that has just returned; NULL
 * at the start of the process and after dlclose. may_wait: as in sites.h; what could not be looked
 * at is by the call around this one. Not hook-safe.
 */
void cm_entries_refresh(const struct cm_opening *opening, bool may_wait);

/* The function that begins at `address` of the object, if its entry was patched; hook-safe. */
const struct cm_site_function *cm_entries_find(const struct cm_object *object, uint64_t address);

/*
 * Is the function left alone because it calls another copy of itself, which is counted under this
 * rule (a constructor's twin, a thunk)? Then its slots are left alone too. Sites lock held.
 */
bool cm_entries_is_twin(const struct cm_object *object, const void *function,
			const struct cm_rule *rule);

/* Give every object that has none its site file, if there is one to be had. Sites lock held. */
void cm_entries_find_files(void);

/* What to call instead of the function: itself, or the copy of its first instructions. */
void *cm_entries_target(const void *function);

/* entries-file.c: the object's site file, mapped for good; NULL: none was there, or is to be had.
 */
const struct cm_site_file *cm_entries_file(const struct cm_object *object);

/* Have callmark-sites make the files of these objects. true: it was started and has ended. */
bool cm_entries_make_files(struct cm_object *const *objects, uint32_t n);

/* Where cm_entries_file() looks. Init only; -ENOMEM. */
int cm_entries_file_init(uint64_t hash, const char *config_path, const char *symbols,
			 const char *cache);

/* entries-danger.c: how far the other threads are known to be away from the code. */
enum cm_danger {
	CM_DANGER_NONE,
	CM_DANGER_EXPORTED, /* only what others can find by name may be running */
	CM_DANGER_ANY,	    /* but what replaces one instruction, with one store, harms nobody */
	CM_DANGER_NOT_YET,  /* others are opening objects: the last of them will know */
};

/* An object is about to be opened. */
void cm_danger_opening(struct cm_opening *opening);

/* *ms: how long to wait for other threads to fall asleep; 0 after it was in vain. */
enum cm_danger cm_danger_find(const struct cm_object *object, const struct cm_opening *opening,
			      uint32_t n_finished_since, unsigned int *ms);

/* The call that cm_danger_opening() began has returned. Returns how many others did meanwhile. */
uint32_t cm_danger_opened(const struct cm_opening *opening);

/* The start of the process is over. */
void cm_danger_begin(void);

/* entries-tasks.c: which threads are there, and has one come that was not? */
void cm_tasks_list(struct cm_tasks *tasks);
bool cm_tasks_have_come(const struct cm_tasks *before);

/*
 * Do all other threads wait for a thread of this process, or come to within max_ms? Then none of
 * them runs anything (but a signal handler) before the caller wakes it.
 */
bool cm_tasks_all_wait(unsigned int max_ms);

/*
 * entries-patch.c. Near code: a head, then for each function a lead, which takes the call to the
 * thunk, and its moved instructions. A function's part is a multiple of 16 bytes long.
 */
#define CM_NEAR_HEAD_BYTES 64
#define CM_NEAR_LEAD_BYTES 32
uint32_t cm_entries_near_bytes(const struct cm_site_function *function);
uint32_t cm_entries_write_near(uint8_t *near, const struct cm_site_function *function,
			       uint64_t base, const struct cm_stub *stub, uint8_t *head);

/* Replace the function's first bytes; they have been found as expected. Its text is writable. */
void cm_entries_write_jump(const struct cm_site_function *function, uint64_t base,
			   const uint8_t *near);

/* Do the bytes in memory stand as the file expects them? */
bool cm_entries_are_as_expected(const struct cm_object *object,
				const struct cm_site_function *function);

/*
 * Make the object's code writable, or return a negative errno; and give all of it back the
 * protection that it had, in either case. Sites lock held.
 */
int cm_entries_open_code(const struct cm_object *object);
void cm_entries_close_code(void);

/* Who does not let code be changed or made, as far as a process can tell: a site's reason. */
const char *cm_entries_policy(void);

/* Memory for near code that reaches all of the object; NULL: none. To be made executable by _seal.
 */
uint8_t *cm_entries_near_memory(const struct cm_object *object, uint64_t n_bytes);
int cm_entries_seal_near(uint8_t *near, uint64_t n_bytes);

#endif
