/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Run another program to its end and keep what it printed: likwid-perfctr and callmark-reader,
 * which may hang, crash, or leave children behind.
 *
 *	cm_supervise_init(&supervise);
 *	rc = cm_command_run(&output, &supervise, &command);
 *	... output.text, output.status ...
 *	cm_command_output_free(&output);
 *	cm_supervise_fini(&supervise);
 *
 * It gets a session of its own, no stdin, and dies with us; whatever it left running in its process
 * group is killed when it ends.
 *
 * Threads: one, and no other in the process (as supervise.h).
 */
#ifndef CALLMARK_CLI_COMMAND_H
#define CALLMARK_CLI_COMMAND_H

#include "cli/supervise.h"

struct cm_command {
	const char *path;
	char *const *argv;
	char **envp;
	unsigned n_seconds;   /* after which it is killed */
	const char *progress; /* what a terminal shows from 0.5 s on, with the seconds; or NULL */
};

struct cm_command_output {
	char *text; /* stdout and stderr as they came, at most 1 MiB; owned; "" rather than NULL */
	int status; /* waitpid's */
};

/*
 * 0 when it has ended, well or not. -ETIMEDOUT: it was killed; output.text is what it had printed.
 * -EINTR: one of the signals that end us is pending (still blocked), and it was killed. Other
 * negative errno: it could not be started; output is empty then.
 */
int cm_command_run(struct cm_command_output *output, const struct cm_supervise *supervise,
		   const struct cm_command *command);

void cm_command_output_free(struct cm_command_output *output);

#endif
