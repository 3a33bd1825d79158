/* SPDX-License-Identifier: BSD-3-Clause */
/* What an output stream can show: width, colours, progress. */
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_FIRST_NS INT64_C(500000000)
#define PROGRESS_EVERY_NS INT64_C(100000000)

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* A terminal that understands escape sequences. */
static bool is_capable(FILE *out)
{
	return isatty(fileno(out)) && is_set("TERM") && strcmp(getenv("TERM"), "dumb");
}

static size_t find_columns(FILE *out, bool is_terminal)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned long n;
	char *end;

	if (columns && *columns >= '0' && *columns <= '9') {
		n = strtoul(columns, &end, 10);
		if (!*end && n > 0)
			return n;
	}
	if (is_terminal && !ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return CM_TERMINAL_COLUMNS;
}

void cm_terminal_init(struct cm_terminal *terminal, FILE *out)
{
	size_t n;

	terminal->is_terminal = isatty(fileno(out));
	terminal->has_colours = is_capable(out) && !is_set("NO_COLOR");
	n = find_columns(out, terminal->is_terminal);
	if (n < CM_TERMINAL_MIN_COLUMNS)
		n = CM_TERMINAL_MIN_COLUMNS;
	if (n > CM_TERMINAL_MAX_COLUMNS)
		n = CM_TERMINAL_MAX_COLUMNS;
	terminal->n_columns = n;
}

const char *cm_terminal_style(const struct cm_terminal *terminal, enum cm_style style)
{
	static const char *const sequences[CM_N_STYLES] = {
		[CM_STYLE_PLAIN] = "\x1b[0m",
		[CM_STYLE_BOLD] = "\x1b[1m",
		[CM_STYLE_DIM] = "\x1b[2m",
		[CM_STYLE_WARNING] = "\x1b[33m",
	};

	return terminal->has_colours ? sequences[style] : "";
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void cm_progress_init(struct cm_progress *progress, const char *what)
{
	progress->what = what;
	progress->is_on = is_capable(stderr);
	progress->is_drawn = false;
	progress->begin_ns = progress->is_on ? now_ns() : 0;
	progress->next_ns = progress->begin_ns + PROGRESS_FIRST_NS;
}

/* Is it time to draw? */
static bool is_due(struct cm_progress *progress)
{
	int64_t now;

	if (!progress->is_on)
		return false;
	now = now_ns();
	if (now < progress->next_ns)
		return false;
	progress->next_ns = now + PROGRESS_EVERY_NS;
	progress->is_drawn = true;
	return true;
}

void cm_progress_show(struct cm_progress *progress, uint64_t done, uint64_t total)
{
	if (!total || !is_due(progress))
		return;
	fprintf(stderr, "\r%s: %3.0f %%\x1b[K", progress->what,
		100.0 * (double)(done < total ? done : total) / (double)total);
	fflush(stderr);
}

void cm_progress_wait(struct cm_progress *progress)
{
	if (!is_due(progress))
		return;
	fprintf(stderr, "\r%s: %.0f s\x1b[K", progress->what,
		(double)(now_ns() - progress->begin_ns) * 1e-9);
	fflush(stderr);
}

void cm_progress_fini(struct cm_progress *progress)
{
	if (progress->is_drawn) {
		fputs("\r\x1b[K", stderr);
		fflush(stderr);
	}
	progress->is_drawn = false;
	progress->is_on = false;
}
