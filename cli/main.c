/* SPDX-License-Identifier: BSD-3-Clause */
/* callmark: choose the subcommand. */
#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/perfctr.h"

struct command {
	const char *name; /* with the program's: argv[0] of the command */
	const char *summary;
	int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
	{"callmark run", "start a program and profile it", cm_cmd_run},
	{"callmark inspect", "show what a profile holds", cm_cmd_inspect},
	{"callmark export", "write what a profile holds as CSV or JSON", cm_cmd_export},
	{"callmark symbols", "list what can be intercepted in a binary", cm_cmd_symbols},
	{"callmark merge", "put the ranks of several profiles into one file", cm_cmd_merge},
	{"callmark recover", "collect what killed programs left behind", cm_cmd_recover},
	{"callmark measure", "count hardware events once, as declared", cm_cmd_measure},
	{"callmark suite", "run many declared windows and keep the evidence", cm_cmd_suite},
	{"callmark doctor", "say whether hardware counters can work here", cm_cmd_doctor},
	{"callmark " CM_CAPTURE_NAME, NULL, cm_cmd_capture}, /* not for users */
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char *short_name(const struct command *command)
{
	return strchr(command->name, ' ') + 1;
}

static void print_usage(FILE *out)
{
	fputs("Usage: callmark COMMAND [OPTION...] ARGUMENTS\n"
	      "       callmark --help | --version\n\n"
	      "Profile unmodified Linux programs: time every call of the functions you name.\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < N_COMMANDS && commands[i].summary; i++)
		fprintf(out, "  %-9s %s\n", short_name(&commands[i]), commands[i].summary);
	fputs("\nOptions:\n"
	      "  -?, --help     give this help\n"
	      "  -V, --version  print the version\n\n"
	      "`callmark COMMAND --help' describes the options of a command; callmark(1) is\n"
	      "the manual.\n",
	      out);
}

static bool is_option(const char *arg, const char *one, const char *two, const char *three)
{
	return !strcmp(arg, one) || !strcmp(arg, two) || !strcmp(arg, three);
}

/* A closed or full stdout must not look like success. */
static int flush(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		perror("callmark: stdout");
		return status ? status : CM_EXIT_FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	argp_err_exit_status = CM_EXIT_USAGE;
	argp_program_version = "callmark " CM_VERSION;
	if (!name) {
		print_usage(stderr);
		return CM_EXIT_USAGE;
	}
	if (is_option(name, "--help", "-?", "-h")) {
		print_usage(stdout);
		return flush(CM_EXIT_OK);
	}
	if (is_option(name, "--version", "-V", "version")) {
		puts(argp_program_version);
		return flush(CM_EXIT_OK);
	}
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (strcmp(name, short_name(&commands[i])))
			continue;
		argv[1] = (char *)(uintptr_t)commands[i].name; /* never written to */
		return flush(commands[i].run(argc - 1, argv + 1));
	}
	fprintf(stderr, "callmark: unknown command '%s'; `callmark --help' lists them\n", name);
	return CM_EXIT_USAGE;
}
