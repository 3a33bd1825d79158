/* SPDX-License-Identifier: BSD-3-Clause */
/* Why likwid-perfctr refused, in one line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/perfctr.h"

enum subject {
	ABOUT_GROUPS,
	ABOUT_CPUS,
	ABOUT_ALL,
};

/* What it prints, from the most telling to the least; how LIKWID 5.2 and 5.5 say it. */
static const struct {
	const char *printed;
	enum subject about;
	const char *why;
} reasons[] = {
	{"Cannot get access to MSRs", ABOUT_ALL, "no access to the counters"},
	{"Cannot access MSRs", ABOUT_ALL, "no access to the counters"},
	{"Failed to execute the daemon", ABOUT_ALL, "no access to the counters"},
	{"Unsupported Processor", ABOUT_ALL, "this LIKWID does not support this CPU"},
	{"Unsupported Intel Processor", ABOUT_ALL, "this LIKWID does not support this CPU"},
	{"Unsupported AMD", ABOUT_ALL, "this LIKWID does not support this CPU"},
	{"Cannot read group file", ABOUT_GROUPS,
	 "LIKWID has no group of that name for this CPU (likwid-perfctr -a lists them)"},
	{"Access to performance group", ABOUT_GROUPS,
	 "LIKWID has no group of that name for this CPU (likwid-perfctr -a lists them)"},
	{"No event in given event string", ABOUT_GROUPS,
	 "none of its events can be counted on this CPU (likwid-perfctr -e lists them)"},
	{"not unique", ABOUT_CPUS, "a CPU is named twice"},
	{"CPUs given on commandline are not valid", ABOUT_CPUS,
	 "LIKWID finds no such CPUs here (likwid-pin -p lists them)"},
	{"starts with invalid character", ABOUT_ALL, "an argument may not begin with '-'"},
};

/* " -g A -g B", bounded. */
static void name_groups(char *buf, size_t n_bytes, const struct cm_perfctr_request *request)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < request->n_groups && n < n_bytes; i++)
		n += (size_t)snprintf(buf + n, n_bytes - n, "%s-g %s", i ? " " : "",
				      request->groups[i]);
}

/* Of several groups the log names the one without a file. */
static const char *guilty_group(const char *log, const struct cm_perfctr_request *request)
{
	const char *line = strstr(log, "Access to performance group ");
	size_t n;

	if (!line)
		return NULL;
	line += strlen("Access to performance group ");
	n = strcspn(line, " \n");
	for (size_t i = 0; i < request->n_groups; i++)
		if (strlen(request->groups[i]) == n && !strncmp(request->groups[i], line, n))
			return request->groups[i];
	return NULL;
}

/* The last line that is no rule of dashes; cut. */
static void last_line(char *buf, size_t n_bytes, const char *log)
{
	size_t n = strlen(log);

	buf[0] = '\0';
	while (n) {
		size_t end = n;

		while (n && log[n - 1] != '\n')
			n--;
		if (end > n && strspn(log + n, "- \t") < end - n) {
			snprintf(buf, n_bytes, "%.*s", (int)(end - n), log + n);
			return;
		}
		if (n)
			n--;
	}
}

int cm_perfctr_explain(const char *log, int status, const struct cm_perfctr_request *request,
		       struct cm_diag *diag)
{
	const char *guilty = guilty_group(log, request);
	char groups[256], line[160];

	name_groups(groups, sizeof(groups), request);
	if (guilty)
		snprintf(groups, sizeof(groups), "-g %s", guilty);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (!strstr(log, reasons[i].printed))
			continue;
		if (reasons[i].about == ABOUT_GROUPS)
			return cm_diag_set(diag, -EPROTO, "%s: %s", groups, reasons[i].why);
		if (reasons[i].about == ABOUT_CPUS)
			return cm_diag_set(diag, -EPROTO, "-C %s: %s", request->cpus,
					   reasons[i].why);
		return cm_diag_set(diag, -EPROTO, "%s", reasons[i].why);
	}
	last_line(line, sizeof(line), log);
	if (WIFSIGNALED(status))
		return cm_diag_set(diag, -EPROTO, "%s died: %s", request->path,
				   strsignal(WTERMSIG(status)));
	return cm_diag_set(diag, -EPROTO, "%s ended with status %d and says '%s'", request->path,
			   WEXITSTATUS(status), line);
}
