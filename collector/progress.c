/* SPDX-License-Identifier: BSD-3-Clause */
/* At most ten lines a second, and none in the first 300 ms: short work stays silent. */
#include "collector/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS INT64_C(300000000)
#define EVERY_NS INT64_C(100000000)

static int64_t now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) < 0)
		return 0;
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void cm_progress_start(struct cm_progress *progress, bool is_wanted, const char *what,
		       uint64_t total)
{
	memset(progress, 0, sizeof(*progress));
	progress->is_shown = is_wanted && isatty(STDERR_FILENO);
	progress->what = what;
	progress->total = total;
	progress->next_ns = progress->is_shown ? now_ns() + FIRST_NS : 0;
}

void cm_progress_add(struct cm_progress *progress, uint64_t n)
{
	unsigned int percent;
	int64_t now;

	progress->n_done += n;
	if (!progress->is_shown)
		return;
	now = now_ns();
	if (now < progress->next_ns)
		return;
	progress->next_ns = now + EVERY_NS;
	progress->has_line = true;
	if (!progress->total) {
		fprintf(stderr, "\r%s...", progress->what);
		return;
	}
	percent = (unsigned int)(100.0 * (double)progress->n_done / (double)progress->total);
	fprintf(stderr, "\r%s: %3u %%", progress->what, percent > 100 ? 100 : percent);
}

void cm_progress_stop(struct cm_progress *progress)
{
	if (progress->has_line)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
	progress->has_line = false;
}
