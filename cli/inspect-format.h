/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as `callmark inspect` prints them. Each writes into the caller's buffer, which holds
 * CM_FORMAT_BYTES, and returns it. No errors, no locale. Any thread.
 */
#ifndef CALLMARK_CLI_INSPECT_FORMAT_H
#define CALLMARK_CLI_INSPECT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define CM_FORMAT_BYTES 48

/*
 * Nanoseconds with three significant digits in ns, us, ms or s ("12.3 us"); seconds from 1000 on
 * as whole ones ("36,000 s"). "-" for NaN.
 */
const char *cm_format_ns(char *buf, double ns);

/* The same with a leading "~" unless it is exact. */
const char *cm_format_estimate(char *buf, double ns, bool is_exact);

/* "3,524,578" */
const char *cm_format_count(char *buf, uint64_t n);

/* "" for 1, else "s": "1 call", "2 calls". */
const char *cm_format_plural(uint64_t n);

/*
 * A fraction as "45.3%"; "<0.1%", ">100%"; "-" for NaN. One that is not exact may be too high: "~"
 * before it.
 */
const char *cm_format_share(char *buf, double fraction, bool is_exact);

/*
 * What LIKWID counted: exact where it is whole and below 10^18, else as a metric: six significant
 * digits. "nan", "inf" and "-inf" for those.
 */
const char *cm_format_event(char *buf, double value);
const char *cm_format_metric(char *buf, double value);

/* The shortest of at most 17 digits that reads back as the same double; "nan", "inf", "-inf". */
const char *cm_format_exact(char *buf, double value);

#endif
