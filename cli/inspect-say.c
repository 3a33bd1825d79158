/* SPDX-License-Identifier: BSD-3-Clause */
/* Paragraphs of a report. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-report.h"
#include "cli/text.h"

int cm_report_say(const struct cm_report *report, enum cm_style style, size_t hanging,
		  const char *format, ...)
{
	char *raw = NULL, *text = NULL;
	va_list args;
	size_t n_indent;
	int rc;

	va_start(args, format);
	rc = vasprintf(&raw, format, args);
	va_end(args);
	if (rc < 0)
		return -ENOMEM;
	rc = cm_text_escape(raw, &text);
	if (rc >= 0) {
		n_indent = strspn(text, " ");
		fprintf(report->out, "%*s%s", (int)n_indent, "",
			cm_terminal_style(&report->terminal, style));
		cm_text_wrap(report->out, text + n_indent, n_indent, hanging,
			     report->terminal.n_columns);
		if (style != CM_STYLE_PLAIN)
			fputs(cm_terminal_style(&report->terminal, CM_STYLE_PLAIN), report->out);
	}
	free(text);
	free(raw);
	return rc;
}
