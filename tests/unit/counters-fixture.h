/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ladder of counters with a spool made for it and a reader that is a shell script.
 *
 *	counters_add_closed();
 *	counters_set_marker_file();
 *	counters_set_script("make; kill -SEGV $$");     make: a whole result; $result: its path
 *	counters_collect();
 *	counters_expect_full();                         or counters_expect_file("the reason")
 *
 * counters_setup() and counters_teardown() around each test. Whatever fails fails the test.
 */
#ifndef CALLMARK_TESTS_COUNTERS_FIXTURE_H
#define CALLMARK_TESTS_COUNTERS_FIXTURE_H

#include <stdint.h>
#include <sys/types.h>

#include "collector/counters.h"
#include "tests/unit/spool-maker.h"

extern char counters_dir[64];	      /* all files of a test */
extern char counters_spool[96];	      /* in it */
extern char counters_marker_file[96]; /* LIKWID_FILEPATH */
extern struct spool_maker counters_maker;
extern struct cm_spool_reader counters_reader; /* open after collect() */
extern struct cm_profile counters_profile;
extern char counters_said[2048]; /* on stderr */

void counters_setup(void);
void counters_teardown(void);

void counters_add_state(uint32_t state, const char *reason);
void counters_add_marker(uint32_t marker, uint32_t region, const char *tag);
void counters_add_snapshot(uint32_t marker, uint32_t group, uint64_t count, double value);

/* The usual: closed, two tags of ours and one of the program. */
void counters_add_closed(void);

void counters_write_text(const char *path, const char *text, mode_t mode);
void counters_set_script(const char *script);
void counters_set_marker_file(void);

/* The whole ladder. */
void counters_collect(void);

/* These close the reader. */
void counters_expect_full(void);
void counters_expect_file(const char *why);

#endif
