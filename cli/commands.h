/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The subcommands of `callmark`. main.c calls one with argv[0] = "callmark NAME" and the rest of
 * the command line; what it returns is the exit status. Each prints its own messages.
 */
#ifndef CALLMARK_CLI_COMMANDS_H
#define CALLMARK_CLI_COMMANDS_H

enum cm_exit {
	CM_EXIT_OK = 0,
	CM_EXIT_FAILED = 1,	  /* bad input, nothing usable */
	CM_EXIT_USAGE = 2,	  /* wrong options or rules; nothing was started */
	CM_EXIT_INCOMPLETE = 3,	  /* `suite`: not all evidence is written, or there */
	CM_EXIT_UNAVAILABLE = 3,  /* `measure`: there can be no counters */
	CM_EXIT_BLOCKED = 4,	  /* `measure`: a blocking probe was missed */
	CM_EXIT_INVALID = 5,	  /* `measure`: the result is wrong */
	CM_EXIT_CANNOT_RUN = 126, /* `run`: the program was found but cannot be executed */
	CM_EXIT_NOT_FOUND = 127,  /* `run`: there is no such program */
	CM_EXIT_SIGNAL = 128,	  /* `run`: plus the number of the signal that ended the program */
};

int cm_cmd_run(int argc, char **argv);
int cm_cmd_merge(int argc, char **argv);
int cm_cmd_recover(int argc, char **argv);
int cm_cmd_symbols(int argc, char **argv);
int cm_cmd_inspect(int argc, char **argv);
int cm_cmd_export(int argc, char **argv);
int cm_cmd_measure(int argc, char **argv);
int cm_cmd_suite(int argc, char **argv);
int cm_cmd_doctor(int argc, char **argv);
int cm_cmd_capture(int argc, char **argv);

#endif
