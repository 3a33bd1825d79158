/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser of the rules file: text into statements, statements into rules (preload/rules.h).
 *
 * A statement is found first, with its quotes closed and free of control bytes; everything after
 * that works on slices of the text, so that every message can name a column.
 */
#include "preload/rules.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "preload/rules-parse.h"

/* What is shown of a file's name: its end, since the place after it must not be cut off. */
#define NAME_BYTES 200u

/* One line of a file or one rule of inline text, not yet looked into. */
struct statement {
	struct cm_rules_slice code; /* without comment and outer blanks; may be empty */
	const char *next;	    /* where the next one begins */
	bool ends_line;		    /* and not merely an inline rule */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

int cm_rules_fail(const struct cm_rules_parser *parser, const char *at, const char *format, ...)
{
	char message[CM_DIAG_BYTES];
	unsigned int column = (unsigned int)(at - parser->origin) + 1;
	const char *name = parser->name;
	const char *cut = "";
	va_list args;

	va_start(args, format);
	(void)cm_diag_format(message, sizeof(message), format, args); /* a cut message is fine */
	va_end(args);
	if (!name)
		return cm_diag_set(parser->diag, -EINVAL, "rule %u, column %u: %s", parser->line,
				   column, message);
	if (strlen(name) > NAME_BYTES) {
		name += strlen(name) - NAME_BYTES;
		cut = "...";
	}
	return cm_diag_set(parser->diag, -EINVAL, "%s%s:%u:%u: %s", cut, name, parser->line, column,
			   message);
}

const char *cm_rules_show(struct cm_rules_slice slice, char buf[CM_RULES_SHOWN_BYTES])
{
	static const char dots[] = "...";
	size_t n = (size_t)(slice.end - slice.begin);
	size_t room = CM_RULES_SHOWN_BYTES - sizeof(dots);
	char *end;

	if (n < CM_RULES_SHOWN_BYTES) {
		end = mempcpy(buf, slice.begin, n);
		*end = '\0';
		return buf;
	}
	while (room && ((unsigned char)slice.begin[room] & 0xc0) == 0x80)
		room--; /* not inside a UTF-8 character */
	end = mempcpy(buf, slice.begin, room);
	memcpy(end, dots, sizeof(dots));
	return buf;
}

const char *cm_rules_store(struct cm_rules_parser *parser, struct cm_rules_slice slice)
{
	char *string = parser->strings;
	char *out = string;

	for (const char *p = slice.begin; p < slice.end; p++) {
		if (*p == '"')
			continue;
		if (*p == '\\' && p + 1 < slice.end)
			*out++ = *p++;
		*out++ = *p;
	}
	*out++ = '\0';
	parser->strings = out;
	return string;
}

/* A byte that text does not hold; a carriage return is one unless it ends the line. */
static bool is_binary(const struct cm_rules_parser *parser, const char *p)
{
	unsigned char c = (unsigned char)*p;

	if (c == '\r')
		return p + 1 < parser->end && p[1] != '\n';
	return (c < 0x20 && c != '\t') || c == 0x7f;
}

/*
 * Find where the statement at p ends, and where its comment begins. Bytes in comments count as
 * binary too: a program given as rules file should be told so, not ignored.
 */
static int find_statement(struct cm_rules_parser *parser, const char *p, struct statement *ret)
{
	const char *quote = NULL;
	const char *comment = NULL;
	const char *code_end;

	ret->code.begin = p;
	for (; p < parser->end && *p != '\n'; p++) {
		if (is_binary(parser, p))
			return cm_rules_fail(
				parser, p, "found byte 0x%x, expected text (is this a rules file?)",
				(unsigned char)*p);
		if (!parser->name && *p == ';' && !quote)
			break;
		if (comment)
			continue;
		if (*p == '"')
			quote = quote ? NULL : p;
		else if (*p == '\\' && p + 1 < parser->end && !is_binary(parser, p + 1) &&
			 p[1] != '\n' && p[1] != '\r')
			p++;
		else if (*p == '#' && !quote && (p == ret->code.begin || is_blank(p[-1])))
			comment = p;
	}
	if (quote)
		return cm_rules_fail(parser, quote, "quote without end, expected another '\"'");
	ret->ends_line = p < parser->end && *p == '\n';
	ret->next = p < parser->end ? p + 1 : p;
	code_end = comment ? comment : p;
	if (code_end > ret->code.begin && code_end[-1] == '\r')
		code_end--;
	ret->code.end = code_end;
	return 0;
}

/* Take blanks off both ends; a blank behind a backslash belongs to the pattern. */
static struct cm_rules_slice trim(struct cm_rules_slice slice)
{
	while (slice.begin < slice.end && is_blank(*slice.begin))
		slice.begin++;
	while (slice.begin < slice.end && is_blank(slice.end[-1])) {
		const char *p = slice.end - 1;

		while (p > slice.begin && p[-1] == '\\')
			p--;
		if ((slice.end - 1 - p) % 2)
			break;
		slice.end--;
	}
	return slice;
}

/* The next token of *rest, up to a blank outside quotes; empty where there is none. */
static struct cm_rules_slice next_token(struct cm_rules_slice *rest)
{
	struct cm_rules_slice token;
	bool quoted = false;
	const char *p;

	while (rest->begin < rest->end && is_blank(*rest->begin))
		rest->begin++;
	for (p = rest->begin; p < rest->end && (quoted || !is_blank(*p)); p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '\\' && p + 1 < rest->end)
			p++;
	}
	token = (struct cm_rules_slice){rest->begin, p};
	rest->begin = p;
	return token;
}

static int parse_rule(struct cm_rules_parser *parser, struct cm_rules_slice code,
		      struct cm_rule *rule)
{
	struct cm_rules_slice token = next_token(&code);
	const char *start = token.begin;
	uint32_t seen = 0;
	int rc;

	*rule = (struct cm_rule){
		.line = parser->line,
		.column = (uint32_t)(token.begin - parser->origin) + 1,
		.exclude = *token.begin == '!',
		.markers = true,
		.trace = true,
		.region = "{symbol}",
		.sample = 1,
		.max_events = CM_RULES_DEFAULT_MAX_EVENTS,
		.stack_bytes = CM_RULES_DEFAULT_STACK_BYTES,
	};
	token.begin += rule->exclude;
	rc = cm_rules_set_pattern(parser, rule, token);
	for (token = next_token(&code); rc == 0 && token.begin < token.end;
	     token = next_token(&code))
		rc = cm_rules_set_key(parser, rule, token, &seen);
	if (rc == 0)
		rc = cm_rules_check_keys(parser, rule, start);
	if (!rule->trace || rule->max_events == 0) {
		rule->trace = false;
		rule->max_events = 0;
	}
	return rc;
}

/* The rule as written: code[] without anything outside it. */
static const char *store_text(struct cm_rules_parser *parser, struct cm_rules_slice code)
{
	char *text = parser->strings;

	parser->strings = mempcpy(text, code.begin, (size_t)(code.end - code.begin));
	*parser->strings++ = '\0';
	return text;
}

/* Go through the statements. With rules == NULL they are only counted: no string is stored. */
static int parse_statements(struct cm_rules_parser *parser, const char *text, struct cm_rule *rules,
			    uint32_t first_index)
{
	struct statement statement = {.next = text};

	parser->line = 0;
	parser->n_rules = 0;
	while (statement.next < parser->end) {
		bool is_inline = !parser->name;
		struct cm_rule *rule;
		int rc;

		/* Inline text counts rules, and columns from where a rule begins. */
		parser->line = is_inline ? parser->n_rules + 1 : parser->line + 1;
		parser->origin = statement.next;
		while (is_inline && parser->origin < parser->end && is_blank(*parser->origin))
			parser->origin++;
		rc = find_statement(parser, statement.next, &statement);
		if (rc < 0)
			return rc;
		statement.code = trim(statement.code);
		if (statement.code.begin == statement.code.end)
			continue;
		parser->n_rules++;
		if (!rules)
			continue;
		rule = &rules[parser->n_rules - 1];
		rc = parse_rule(parser, statement.code, rule);
		if (rc < 0)
			return rc;
		rule->index = first_index + parser->n_rules - 1;
		rule->text = store_text(parser, statement.code);
	}
	return 0;
}

/* Allocate for n_new rules behind the old ones, parse into that. */
static int parse_all(struct cm_rules_parser *parser, struct cm_rules *rules, const char *text,
		     const struct cm_rules_alloc *alloc)
{
	uint32_t n_old = rules->n_rules;
	struct cm_diag *diag = parser->diag;
	struct cm_rule *array;
	size_t n_bytes;
	uint32_t n_all;
	int rc;

	/* Counts up to the first bad statement, silently: the second pass meets an error before it.
	 */
	parser->diag = NULL;
	(void)parse_statements(parser, text, NULL, n_old);
	parser->diag = diag;
	if (parser->n_rules == 0)
		return parse_statements(parser, text, NULL, n_old);
	if (__builtin_add_overflow(n_old, parser->n_rules, &n_all) || n_all == UINT32_MAX ||
	    __builtin_mul_overflow((size_t)n_all, sizeof(*array), &n_bytes))
		return -ENOMEM;
	array = alloc->alloc(alloc->ctx, n_bytes);
	/*
	 * A rule of n bytes stores its text and at most as much again in pieces, each of which
	 * has a separator (blank, ':', '=' or the end) to make room for its NUL; its pattern
	 * perhaps twice.
	 */
	parser->strings = alloc->alloc(alloc->ctx, 3 * (size_t)(parser->end - text) + 3);
	if (!array || !parser->strings)
		return -ENOMEM;
	if (n_old)
		memcpy(array, rules->rules, n_old * sizeof(*array));
	rc = parse_statements(parser, text, array + n_old, n_old);
	if (rc < 0)
		return rc;
	for (uint32_t i = n_old; i < n_all; i++) {
		rules->has_demangled |= array[i].is_demangled;
		rules->wants_demangled |= array[i].is_demangled && !array[i].exclude;
		rules->has_library |= array[i].library != NULL;
		rules->has_mpi |= array[i].mpi != NULL;
		rules->has_internal |= array[i].internal;
		rules->has_callers |= array[i].callers > 0;
		rules->has_trap |= array[i].force_trap;
	}
	rules->rules = array;
	rules->n_rules = n_all;
	return cm_rules_index(rules, alloc);
}

int cm_rules_parse(struct cm_rules *rules, const char *text, size_t n_bytes, const char *name,
		   const struct cm_rules_alloc *alloc, struct cm_diag *diag)
{
	struct cm_rules_parser parser = {.name = name, .diag = diag};
	struct cm_rules result = *rules;
	const char *shown = name ? name : "inline rules";
	int rc;

	if (n_bytes > CM_RULES_MAX_BYTES)
		return cm_diag_set(diag, -EFBIG, "%s: %zu bytes, expected at most %u", shown,
				   n_bytes, CM_RULES_MAX_BYTES);
	if (!n_bytes)
		return 0;
	parser.end = text + n_bytes;
	if (name && n_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3; /* an editor's byte order mark */
	rc = parse_all(&parser, &result, text, alloc);
	if (rc == -ENOMEM)
		return cm_diag_set(diag, rc, "%s: no memory for %u rules", shown, parser.n_rules);
	if (rc == 0)
		*rules = result;
	return rc;
}
