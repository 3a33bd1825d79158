/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LIKWID measures the clock rate while it sleeps twice for 500 ms. A mere check needs no rate:
 * callmark-reader has a nanosleep and a clock_nanosleep of its own, which liblikwid binds to.
 */
#ifndef CALLMARK_COLLECTOR_READER_SLEEP_H
#define CALLMARK_COLLECTOR_READER_SLEEP_H

/* From now on long sleeps are short. Before that, and without it, both are the system's. */
void cm_reader_sleep_shorten(void);

#endif
