/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * liblikwid inside the target: loaded when markers are wanted, and kept from doing harm there.
 *
 *	rc = cm_likwid_open(path, &diag);	    its functions found, its own imports guarded
 *	cm_likwid_call_tag(cm_likwid.start, tag, cpu, 0)
 *
 * What LIKWID imports from libc and could hurt the program with goes to our own functions instead
 * (likwid-guard.c): descriptors that the program has taken over are never touched, a dead daemon
 * raises no SIGPIPE, children are invisible to the program and run none of its exit handlers,
 * exit(1) in the library ends the call and not the program, nothing is printed, memory does not
 * come from a malloc that an interrupted thread may hold the lock of.
 *
 * Context: signals blocked around calls; vector registers are LIKWID's to use.
 * No prototype needs likwid.h: they are the same in LIKWID 5.0 to 5.5.
 */
#ifndef CALLMARK_PRELOAD_LIKWID_H
#define CALLMARK_PRELOAD_LIKWID_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/diag.h"

struct cm_likwid {
	void (*init)(void);
	void (*close)(void);
	void (*next_group)(void);
	int (*register_region)(const char *tag); /* 0, or negative; so are the next two */
	int (*start)(const char *tag);
	int (*stop)(const char *tag);
	void (*get)(const char *tag, int *n_events, double *events, double *seconds, int *count);
};
extern struct cm_likwid cm_likwid;

/* LIKWID_* variables as they were at the start, ended by NULL. */
extern char **cm_likwid_environment;

/* A descriptor or the daemon is gone: LIKWID must not be asked for counters again. */
extern _Atomic bool cm_likwid_is_lost;

/*
 * Load it (a copy that the program has is preferred), find its functions, guard its imports.
 * -ENOENT, -ENOSYS and a line in diag. Loader lock order: no lock of ours is held.
 */
int cm_likwid_open(const char *path, struct cm_diag *diag);

/*
 * Patch the marker calls of the program's own objects, as far as that has not been done: they share
 * the instance that we have opened. Sites lock not held.
 */
void cm_likwid_patch_program(void);

/* Is this thread inside of a call of ours? */
bool cm_likwid_is_inside(void);

/*
 * Call function(tag). LIKWID takes `cpu` for the one it runs on, is muted, and has the ABI's
 * default MXCSR (a program that unmasked exceptions must not see them from there). Large blocks
 * that it allocates meanwhile are filled with `fill` where it leaves them uninitialised. LIKWID's
 * return; -ECANCELED: it called exit(), and is lost.
 */
int cm_likwid_call_tag(int (*function)(const char *tag), const char *tag, int cpu, uint64_t fill);

/* The same for anything else, on the CPU LIKWID finds itself (-1) or is told. 0 or -ECANCELED. */
int cm_likwid_call_any(void (*function)(void *arg), void *arg, int cpu);

struct cm_object;

/* Every slot of the object for whose symbol choose() has a function; how many, or -ENOMEM. */
int cm_likwid_patch(struct cm_object *object,
		    const void *(*choose)(const char *symbol, uint64_t value));

/* likwid-guard.c: what liblikwid imports, and its calls of its own marker functions. */
int cm_likwid_guard(struct cm_object *object);

/* The shell that liblikwidpin starts for every thread is not profiled. Sites lock not held. */
void cm_likwid_guard_pin(void);

/* likwid-program.c: what a marker call of the program does once we have opened LIKWID, or NULL. */
const void *cm_likwid_program_call(const char *symbol);

/* likwid-child.c: fork and waitpid for the library. */
int cm_likwid_fork(void);
int cm_likwid_waitpid(int pid, int *ret_status, int options);

/* likwid-memory.c */
void *cm_likwid_malloc(size_t n_bytes);
void *cm_likwid_calloc(size_t n, size_t n_bytes);
void *cm_likwid_realloc(void *old, size_t n_bytes);
void cm_likwid_free(void *block);
char *cm_likwid_strdup(const char *string);

/* Of this thread, for likwid-guard.c and likwid-memory.c. */
struct cm_likwid_call {
	int cpu; /* + 1; 0: none given */
	bool is_inside;
	uint32_t mxcsr;
	int saved_errno;
	uint64_t fill;
	void *bail[5]; /* __builtin_setjmp */
};
extern __thread struct cm_likwid_call cm_likwid_call __attribute__((tls_model("initial-exec")));

#endif
