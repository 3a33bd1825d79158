/* SPDX-License-Identifier: BSD-3-Clause */
/* callmark run: start a program, profile it, return its status. */
#include "cli/run.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/say.h"
#include "preload/environment.h"

enum {
	KEY_COMPRESS = 0x100,
	KEY_CLOCK,
	KEY_SPOOL,
	KEY_SHARDS,
};

static const struct argp_option options[] = {
	{"config", 'c', "RULES", 0, "File of rules: which functions to time", 0},
	{"symbol", 's', "RULE", 0, "One more rule; may be repeated", 0},
	{"group", 'g', "GROUP", 0,
	 "Count these events in every call as well (likwid-perfctr -a lists groups); may be "
	 "repeated",
	 0},
	{"cpus", 'C', "CPUS", 0,
	 "With -g: pin the threads to these CPUs, such as 0-3, and count there; default: no "
	 "pinning, all CPUs",
	 0},
	{"output", 'o', "FILE", 0,
	 "The profile, default profiling_data.h5; %r is the rank, %p the process, %h the host", 0},
	{"compress", KEY_COMPRESS, "HOW", 0,
	 "none, fast or small; default: fast up to 1 million calls, none above", 0},
	{"clock", KEY_CLOCK, "CLOCK", 0, "tsc or monotonic; default: tsc where it can be trusted",
	 0},
	{"spool", KEY_SPOOL, "DIR", 0, "Folder for data until it is collected, default $TMPDIR", 0},
	{"shards", KEY_SHARDS, NULL, 0,
	 "Leave each rank of a parallel program in its own file, linked from the profile; always "
	 "so "
	 "above 256 ranks",
	 0},
	{"verbose", 'v', NULL, 0, "Say where the file is; twice: what was intercepted, too", 0},
	{0},
};

/* Rules in CALLMARK_SYMBOLS have ';' between them. */
static int add_symbol(struct cm_run *run, const char *rule)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", run->symbols ? run->symbols : "", run->symbols ? ";" : "",
		     rule) < 0)
		return -ENOMEM;
	free(run->symbols);
	run->symbols = joined;
	return 0;
}

static int add_group(struct cm_run *run, const char *group)
{
	const char **groups = reallocarray(run->groups, run->n_groups + 1, sizeof(run->groups[0]));

	if (!groups)
		return -ENOMEM;
	run->groups = groups;
	run->groups[run->n_groups++] = group;
	return 0;
}

static const char *one_of(struct argp_state *state, const char *what, const char *value,
			  const char *const *allowed)
{
	for (size_t i = 0; allowed[i]; i++)
		if (!strcmp(value, allowed[i]))
			return value;
	argp_error(state, "--%s=%s: expected %s, %s%s%s", what, value, allowed[0], allowed[1],
		   allowed[2] ? " or " : "", allowed[2] ? allowed[2] : "");
	return NULL;
}

static error_t parse_program(int key, struct argp_state *state, struct cm_run *run)
{
	switch (key) {
	case ARGP_KEY_ARG:
		/* The program's name; what follows is its own. */
		run->argv = &state->argv[state->next - 1];
		state->next = state->argc;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program given");
		break;
	case ARGP_KEY_SUCCESS:
		if (run->cpus && !run->n_groups)
			argp_error(state, "-C is for counters: name a group with -g as well");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const compressions[] = {"none", "fast", "small", NULL};
	static const char *const clocks[] = {"tsc", "monotonic", NULL};
	struct cm_run *run = state->input;

	switch (key) {
	case 'c':
		run->config = arg;
		break;
	case 's':
		return add_symbol(run, arg) ? ENOMEM : 0;
	case 'g':
		return add_group(run, arg) ? ENOMEM : 0;
	case 'C':
		run->cpus = arg;
		break;
	case 'o':
		run->output = arg;
		break;
	case KEY_COMPRESS:
		run->compress = one_of(state, "compress", arg, compressions);
		break;
	case KEY_CLOCK:
		run->clock = one_of(state, "clock", arg, clocks);
		break;
	case KEY_SPOOL:
		run->spool = arg;
		break;
	case KEY_SHARDS:
		run->keep_shards = true;
		break;
	case 'v':
		run->verbosity++;
		break;
	default:
		return parse_program(key, state, run);
	}
	return 0;
}

static const struct argp argp = {
	options,
	parse_option,
	"[--] PROGRAM [ARGUMENT...]",
	"Start PROGRAM and time every call of the functions that the rules name.\v"
	"The exit status is the program's; 128+N when signal N ended it; 126 or 127 when it "
	"cannot be started; 2 for wrong options or rules: then nothing was started.",
	NULL,
	NULL,
	NULL};

/* Options win over variables; both together can name no rule at all. */
static int load_rules(struct cm_run *run, struct cm_diag *diag)
{
	const char *config = run->config ? run->config : getenv(CM_ENV_CONFIG);
	const char *symbols = run->symbols ? run->symbols : getenv(CM_ENV_SYMBOLS);

	if (config && !config[0])
		config = NULL;
	if (symbols && !symbols[0])
		symbols = NULL;
	if (!config && !symbols)
		return cm_diag_set(diag, -ENODATA,
				   "no rules: name functions with -s RULE or -c FILE "
				   "(callmark run --help)");
	return cm_rule_set_load(&run->set, config, symbols, diag);
}

static int cannot_start(const struct cm_run *run, int rc)
{
	const char *interpreter = run->program.interpreter;

	if (rc == -ENOENT && interpreter[0])
		cm_say("%s: its interpreter %s: %s", run->argv[0], interpreter, strerror(-rc));
	else
		cm_say("%s: %s", run->argv[0], strerror(-rc));
	return rc == -ENOENT || rc == -ENOTDIR ? CM_EXIT_NOT_FOUND : CM_EXIT_CANNOT_RUN;
}

/* A shell says this of its children; it would not know about ours. */
static void say_signal(const struct cm_run *run, int status)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (sig && sig != SIGINT && sig != SIGPIPE)
		cm_say("%s: %s%s", run->argv[0], strsignal(sig),
		       WCOREDUMP(status) ? " (core dumped)" : "");
}

static int supervise(struct cm_run *run, bool is_profiled)
{
	struct cm_start start = {.path = run->program.path,
				 .argv = run->argv,
				 .envp = is_profiled ? run->env.vars : environ,
				 .is_text = run->program.is_text,
				 .cpus = run->is_placed ? &run->allowed : NULL};
	int status = 0;
	pid_t pid;
	int rc;

	if (is_profiled)
		start.pid_text = cm_environ_get(&run->env, CM_ENV_MAIN_PID);
	rc = cm_supervise_start(&run->supervise, &start, &pid);
	if (rc < 0) {
		if (is_profiled)
			cm_run_folder_close(&run->folder, cm_run_folder_is_last(&run->folder));
		return cannot_start(run, rc);
	}
	rc = cm_supervise_wait(pid, &status);
	if (rc < 0)
		return cannot_start(run, rc);
	say_signal(run, status);
	if (is_profiled)
		cm_run_finish(run, pid);
	return cm_supervise_exit_status(status);
}

/* The signal that is pending ends us once it is let through. */
static int end_by_signal(struct cm_run *run)
{
	cm_run_folder_close(&run->folder, cm_run_folder_is_last(&run->folder));
	cm_supervise_fini(&run->supervise);
	return CM_EXIT_SIGNAL + SIGTERM; /* it was taken back by then */
}

static int run_program(struct cm_run *run)
{
	struct cm_diag diag = {0};
	int rc = load_rules(run, &diag);

	if (!rc)
		rc = cm_environ_init(&run->env);
	if (rc < 0) {
		cm_say("%s", diag.text[0] ? diag.text : strerror(-rc));
		return CM_EXIT_USAGE;
	}
	rc = cm_program_find(&run->program, run->argv[0], &diag);
	if (rc < 0) {
		cm_say("%s", diag.text);
		return rc == -ENOENT || rc == -ENOTDIR ? CM_EXIT_NOT_FOUND : CM_EXIT_CANNOT_RUN;
	}
	cm_supervise_init(&run->supervise);
	if (run->program.obstacle[0]) {
		cm_say("%s runs without being profiled: %s", run->program.path,
		       run->program.obstacle);
		return supervise(run, false);
	}
	rc = cm_run_prepare(run, &diag);
	if (rc == -ENOSPC || rc == -EDQUOT) {
		cm_say("%s runs without being profiled: %s", run->program.path, diag.text);
		return supervise(run, false);
	}
	if (rc < 0) {
		cm_say("%s", diag.text);
		return CM_EXIT_USAGE;
	}
	if (run->folder.is_full)
		cm_say("the disk of the spool is full: %s (see --spool)", run->folder.path);
	if (cm_run_sites(run) == -EINTR || cm_run_counters(run) == -EINTR)
		return end_by_signal(run);
	return supervise(run, true);
}

int cm_cmd_run(int argc, char **argv)
{
	struct cm_run run = {.folder = {.matched_fd = -1, .outputs_fd = -1}};
	int status = CM_EXIT_USAGE;
	error_t error = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run);

	if (error)
		cm_say("%s", strerror(error));
	else
		status = run_program(&run);
	cm_run_folder_close(&run.folder, false);
	cm_environ_fini(&run.env);
	cm_rule_set_fini(&run.set);
	free(run.marker_file);
	free(run.groups);
	free(run.symbols);
	return status;
}
