/* SPDX-License-Identifier: BSD-3-Clause */
/* Two passes over the lines: count the rows of each region, then fill them in. */
#include "collector/marker-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/whole-file.h"

#define MAX_CPU (1 << 20)

struct line {
	const char *text;
	size_t n;
};

/* What stands in a line of values. */
struct row {
	uint64_t region;
	int64_t group;
	int64_t cpu;
	int64_t count;
	double seconds;
	size_t n_events;
	const char *values;
};

struct parser {
	struct cm_marker_file *file;
	struct cm_arena *arena;
	const char *name;
	const char *next; /* behind the line at hand */
	const char *end;
	size_t line_number;
	const char **tag_lines; /* of each region that has one */
	size_t *n_filled;	/* rows of each region, second pass */
};

/* The next whole line; one without its newline was cut off. */
static bool next_line(struct parser *parser, struct line *ret_line)
{
	size_t n_left = (size_t)(parser->end - parser->next);
	const char *newline = n_left ? memchr(parser->next, '\n', n_left) : NULL;

	if (!newline)
		return false;
	ret_line->text = parser->next;
	ret_line->n = (size_t)(newline - parser->next);
	parser->next = newline + 1;
	parser->line_number++;
	return true;
}

static void set_damage(struct parser *parser, const char *what)
{
	cm_diag_set(&parser->file->damage, -EINVAL, "%s line %zu: %s", parser->name,
		    parser->line_number, what);
}

/* A decimal number at *p, which is moved behind it; NUL and newline end every line. */
static bool take_int(const char **p, int64_t *ret_value)
{
	char *end;
	long long value;

	if (**p != '-' && (**p < '0' || **p > '9'))
		return false;
	errno = 0;
	value = strtoll(*p, &end, 10);
	if (errno || end == *p)
		return false;
	*p = end;
	*ret_value = value;
	return true;
}

/* Blanks, then a number that is not negative. */
static bool take_size(const char **p, uint64_t *ret_value)
{
	int64_t value;

	*p += strspn(*p, " ");
	if (!take_int(p, &value) || value < 0)
		return false;
	*ret_value = (uint64_t)value;
	return true;
}

static bool take_double(const char **p, double *ret_value)
{
	char *end;

	*p += strspn(*p, " ");
	if ((unsigned char)**p <= ' ')
		return false;	       /* strtod would go on to the next line */
	*ret_value = strtod(*p, &end); /* too large: inf, too small: 0 */
	if (end == *p || (*end != ' ' && *end != '\n'))
		return false;
	*p = end;
	return true;
}

static bool parse_head(struct parser *parser, const struct line *line, uint64_t *ret_n_regions)
{
	const char *p = line->text;
	uint64_t n_threads, n_regions, n_groups;

	if (!take_size(&p, &n_threads) || !take_size(&p, &n_regions) || !take_size(&p, &n_groups))
		return false;
	if (p + strspn(p, " ") != line->text + line->n)
		return false;
	parser->file->n_threads = n_threads;
	parser->file->n_groups = n_groups;
	*ret_n_regions = n_regions;
	return true;
}

/* "<id>:<tag>-<group>". */
static int take_tag(struct parser *parser, const struct line *line, const char *colon, int64_t id)
{
	struct cm_marker_file *file = parser->file;
	const char *dash = memrchr(colon, '-', (size_t)(line->text + line->n - colon));
	const char *p = dash ? dash + 1 : NULL;
	struct cm_marker_region *region;
	int64_t group;

	if (!dash || !take_int(&p, &group) || p != line->text + line->n ||
	    (uint64_t)group >= file->n_groups || memchr(colon, 0, (size_t)(dash - colon)) ||
	    (uint64_t)id >= file->n_regions || file->regions[id].tag) {
		set_damage(parser, "not a tag with its group");
		return 0;
	}
	region = &file->regions[id];
	parser->tag_lines[id] = line->text;
	region->group = group;
	region->tag = cm_arena_copy(parser->arena, colon + 1, (size_t)(dash - colon - 1));
	return region->tag ? 0 : -ENOMEM;
}

/* The parts of a line of values, but for the values. */
static bool parse_row(const char *p, struct row *ret_row)
{
	uint64_t region, group, count, n_events;
	int64_t cpu;

	if (!take_size(&p, &region) || !take_size(&p, &group))
		return false;
	p += strspn(p, " ");
	if (!take_int(&p, &cpu) || !take_size(&p, &count) || !take_double(&p, &ret_row->seconds) ||
	    !take_size(&p, &n_events))
		return false;
	if (n_events > CM_MARKER_FILE_MAX_EVENTS || cpu >= MAX_CPU)
		return false;
	ret_row->region = region;
	ret_row->group = (int64_t)group;
	ret_row->cpu = cpu;
	ret_row->count = (int64_t)count;
	ret_row->n_events = n_events;
	ret_row->values = p;
	return true;
}

/* Exactly n_events numbers up to the end of the line? */
static bool has_values(const struct row *row, const struct line *line)
{
	const char *p = row->values;
	double value;

	for (size_t i = 0; i < row->n_events; i++) {
		if (!take_double(&p, &value))
			return false;
	}
	return p + strspn(p, " ") == line->text + line->n;
}

static void count_row(struct parser *parser, const struct line *line)
{
	struct cm_marker_file *file = parser->file;
	struct cm_marker_region *region;
	struct row row;
	size_t n_values;

	if (!parse_row(line->text, &row) || row.region >= file->n_regions ||
	    !file->regions[row.region].tag || !has_values(&row, line)) {
		set_damage(parser, "not the values of a region");
		return;
	}
	region = &file->regions[row.region];
	n_values = (size_t)(line->text + line->n - row.values);
	if (n_values > file->longest_values)
		file->longest_values = n_values;
	if (row.group != region->group ||
	    (row.cpu >= 0 && region->n_rows && row.n_events != region->n_events)) {
		set_damage(parser, "does not fit the region's other lines");
		return;
	}
	if (row.cpu < 0)
		return; /* never entered there */
	region->n_events = row.n_events;
	region->n_rows++;
}

static void fill_row(struct parser *parser, const struct line *line)
{
	struct cm_marker_file *file = parser->file;
	struct cm_marker_region *region;
	struct row row;
	const char *p;
	size_t at;

	/* The same conditions as in the first pass, which has said what is wrong. */
	if (!parse_row(line->text, &row) || row.region >= file->n_regions || row.cpu < 0)
		return;
	region = &file->regions[row.region];
	/* Values before their region's tag were not counted. */
	if (!region->tag || line->text < parser->tag_lines[row.region] ||
	    row.group != region->group || row.n_events != region->n_events ||
	    !has_values(&row, line))
		return;
	at = parser->n_filled[row.region]++;
	region->cpus[at] = row.cpu;
	region->counts[at] = row.count;
	region->times[at] = row.seconds;
	p = row.values;
	for (size_t i = 0; i < row.n_events; i++)
		(void)take_double(&p, &region->events[i * region->n_rows + at]); /* has_values */
}

static int make_rows(struct parser *parser)
{
	struct cm_marker_file *file = parser->file;

	parser->n_filled =
		cm_arena_array(parser->arena, file->n_regions, sizeof(*parser->n_filled));
	if (!parser->n_filled)
		return -ENOMEM;
	for (size_t i = 0; i < file->n_regions; i++) {
		struct cm_marker_region *region = &file->regions[i];
		size_t n = region->n_rows;

		region->cpus = cm_arena_array(parser->arena, n, sizeof(*region->cpus));
		region->counts = cm_arena_array(parser->arena, n, sizeof(*region->counts));
		region->times = cm_arena_array(parser->arena, n, sizeof(*region->times));
		/* The lines hold at least two bytes a value: no overflow. */
		region->events =
			cm_arena_array(parser->arena, n * region->n_events, sizeof(double));
		if (!region->cpus || !region->counts || !region->times || !region->events)
			return -ENOMEM;
	}
	return 0;
}

/* "<digits>:" starts a tag's line; the colon, or NULL. */
static const char *find_colon(const struct line *line, int64_t *ret_id)
{
	const char *p = line->text;

	return *p != '-' && take_int(&p, ret_id) && *p == ':' ? p : NULL;
}

static int count_lines(struct parser *parser)
{
	struct line line;
	int rc = 0;

	while (rc >= 0 && next_line(parser, &line)) {
		int64_t id;
		const char *colon = find_colon(&line, &id);

		if (line.n > parser->file->longest_line)
			parser->file->longest_line = line.n;
		if (colon)
			rc = take_tag(parser, &line, colon, id);
		else
			count_row(parser, &line);
	}
	parser->line_number++;
	if (parser->next != parser->end)
		set_damage(parser, "cut off");
	return rc;
}

static void fill_lines(struct parser *parser, const char *first)
{
	struct line line;
	int64_t id;

	parser->next = first;
	while (next_line(parser, &line)) {
		if (!find_colon(&line, &id))
			fill_row(parser, &line);
	}
}

int cm_marker_file_parse(struct cm_marker_file *file, const char *text, size_t n_bytes,
			 const char *name, struct cm_arena *arena, struct cm_diag *diag)
{
	struct parser parser = {.file = file, .arena = arena, .name = name};
	uint64_t n_regions, n_lines = 0;
	struct line head;
	int rc;

	memset(file, 0, sizeof(*file));
	parser.next = text;
	parser.end = text + n_bytes;
	if (!next_line(&parser, &head) || !parse_head(&parser, &head, &n_regions))
		return cm_diag_set(diag, -EINVAL,
				   "%s: not a marker file of LIKWID (its first line must hold "
				   "three numbers)",
				   name);
	for (const char *p = parser.next; p < parser.end; p++)
		n_lines += *p == '\n';
	/* Each has a line: a number that is larger is no reason to allocate. */
	file->n_regions = n_regions < n_lines ? n_regions : n_lines;
	file->regions = cm_arena_array(arena, file->n_regions, sizeof(*file->regions));
	parser.tag_lines = cm_arena_array(arena, file->n_regions, sizeof(*parser.tag_lines));
	rc = file->regions && parser.tag_lines ? count_lines(&parser) : -ENOMEM;
	if (rc >= 0 && n_regions > n_lines)
		set_damage(&parser, "the file ends before its last region");
	if (rc >= 0)
		rc = make_rows(&parser);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", name, strerror(-rc));
	fill_lines(&parser, head.text + head.n + 1);
	return 0;
}

int cm_marker_file_load(struct cm_marker_file *file, const char *path, struct cm_arena *arena,
			struct cm_diag *diag)
{
	const char *text;
	size_t n_bytes;
	int rc = cm_whole_file_read(path, CM_MARKER_FILE_MAX_BYTES, arena, &text, &n_bytes, diag);

	return rc < 0 ? rc : cm_marker_file_parse(file, text, n_bytes, path, arena, diag);
}
