/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as `callmark inspect` prints them. */
#include "cli/inspect-format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cm_format_count(char *buf, uint64_t n)
{
	char digits[24], *to = buf;
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), i;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buf;
}

const char *cm_format_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

const char *cm_format_ns(char *buf, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned unit = 0;

	if (isnan(ns))
		return strcpy(buf, "-");
	if (ns < 1000 && ns == floor(ns)) {
		snprintf(buf, CM_FORMAT_BYTES, "%.0f ns", ns);
		return buf;
	}
	/* 999.5 and up round to 1000, which is 1.00 of the next unit. */
	while (ns >= 999.5 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	if (ns >= 999.5) {
		cm_format_count(buf, ns < 1e19 ? (uint64_t)llround(ns) : UINT64_MAX);
		return strcat(buf, " s");
	}
	snprintf(buf, CM_FORMAT_BYTES, "%.*f %s",
		 ns < 9.995   ? 2
		 : ns < 99.95 ? 1
			      : 0,
		 ns, units[unit]);
	return buf;
}

const char *cm_format_estimate(char *buf, double ns, bool is_exact)
{
	if (isnan(ns) || is_exact)
		return cm_format_ns(buf, ns);
	buf[0] = '~';
	cm_format_ns(buf + 1, ns);
	return buf;
}

const char *cm_format_share(char *buf, double fraction, bool is_exact)
{
	const char *mark = is_exact ? "" : "~";
	double percent = fraction * 100;

	if (isnan(fraction))
		return strcpy(buf, "-");
	if (percent > 100.05)
		snprintf(buf, CM_FORMAT_BYTES, "%s>100%%", mark);
	else if (percent > 0 && percent < 0.1)
		strcpy(buf, "<0.1%"); /* an estimate is never too low */
	else
		snprintf(buf, CM_FORMAT_BYTES, "%s%.*f%%", mark, percent >= 99.95 ? 0 : 1, percent);
	return buf;
}

static const char *format_special(char *buf, double value)
{
	return strcpy(buf, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

const char *cm_format_metric(char *buf, double value)
{
	if (!isfinite(value))
		return format_special(buf, value);
	snprintf(buf, CM_FORMAT_BYTES, "%.6g", value);
	return buf;
}

const char *cm_format_event(char *buf, double value)
{
	if (!isfinite(value) || value != floor(value) || fabs(value) >= 1e18)
		return cm_format_metric(buf, value);
	snprintf(buf, CM_FORMAT_BYTES, "%.0f", value);
	return buf;
}

const char *cm_format_exact(char *buf, double value)
{
	int n_digits;

	if (!isfinite(value))
		return format_special(buf, value);
	for (n_digits = 15; n_digits <= 17; n_digits++) {
		snprintf(buf, CM_FORMAT_BYTES, "%.*g", n_digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	return buf;
}
