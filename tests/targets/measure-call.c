/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses callmark/measure.h as a stranger's program would, prints all of the result, one item a
 * line, and compares what must not change in the caller.
 *
 *	measure-call [OPTION..] EVENT_SET CPUS EVENT=UNIT..
 *
 *	fail=N           the function returns N
 *	nested           the function opens a window itself
 *	fork             the function forks a child and waits for it
 *	own=topology     the program has initialised LIKWID's topology before; likewise numa,
 *	own=numa         perfmon
 *	own=perfmon, own=perfmon-alone (the topology is given up again)
 *	pid              LIKWID_PERF_PID is this process
 *	twice            one more window, afterwards
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <callmark/measure.h>

#define MAX_ITEMS 16

struct call {
	int fail;
	bool is_nested;
	bool forks;
	const char *owned;
	bool is_twice;
	int n_calls;
	struct cm_declaration declaration;
};

static int work(void *ctx)
{
	struct call *call = ctx;
	struct cm_counter_result inner;

	call->n_calls++;
	if (call->is_nested) {
		printf("inner %d", cm_measure_counters(work, call, &call->declaration, &inner));
		printf(" %s %s\n", cm_counter_status_name(inner.status), inner.reason);
		cm_counter_result_free(&inner);
	}
	if (call->forks) {
		pid_t child = fork();
		int status = 0;

		if (child == 0)
			_exit(7);
		if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
			return -1;
		puts("waited");
	}
	return call->fail;
}

static void at_exit(void)
{
	puts("at exit");
}

static void on_child(int sig)
{
	(void)sig;
}

/* Everything of ours that a measurement could disturb, as one text. */
static char *describe(void)
{
	static const char *const files[] = {
		"/proc/self/status", "/proc/sys/kernel/perf_event_paranoid",
		"/proc/sys/kernel/nmi_watchdog", "/proc/sys/kernel/kptr_restrict",
		"/proc/sys/kernel/randomize_va_space"};
	struct sigaction action = {0};
	char *text = NULL, line[512];
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	for (size_t i = 0; out && i < sizeof(files) / sizeof(*files); i++) {
		FILE *in = fopen(files[i], "r");

		while (in && fgets(line, sizeof(line), in)) {
			if (i || !strncmp(line, "Cap", 3) || !strncmp(line, "Cpus", 4) ||
			    !strncmp(line, "Mems", 4) || !strncmp(line, "Sig", 3) ||
			    !strncmp(line, "NoNew", 5) || !strncmp(line, "Seccomp", 7) ||
			    !strncmp(line, "Uid", 3))
				fputs(strncmp(line, "SigQ", 4) != 0 ? line : "", out);
		}
		if (in)
			fclose(in);
	}
	for (char **variable = environ; out && *variable; variable++)
		fprintf(out, "%s\n", *variable);
	sigaction(SIGCHLD, NULL, &action);
	if (out) {
		fprintf(out, "SIGCHLD %p %x\n", *(void **)&action.sa_handler,
			(unsigned)action.sa_flags);
		fclose(out);
	}
	return text;
}

static void own(const char *what)
{
	void *likwid = dlopen("liblikwid.so.5", RTLD_NOW | RTLD_LOCAL);
	int (*init)(void) = NULL, (*add)(const char *events) = NULL;
	void (*finalize)(void) = NULL;
	int (*perfmon_init)(int n, const int *cpus) = NULL;
	static const int cpus[] = {0};

	if (!likwid)
		return;
	if (!strcmp(what, "numa")) {
		/* NUMA alone: the topology is given up again. */
		*(void **)&init = dlsym(likwid, "topology_init");
		init();
		*(void **)&init = dlsym(likwid, "numa_init");
		init();
		*(void **)&finalize = dlsym(likwid, "topology_finalize");
		finalize();
	} else if (!strcmp(what, "topology")) {
		*(void **)&init = dlsym(likwid, "topology_init");
		init();
	} else {
		*(void **)&perfmon_init = dlsym(likwid, "perfmon_init");
		*(void **)&add = dlsym(likwid, "perfmon_addEventSet");
		*(void **)&finalize = dlsym(likwid, "topology_finalize");
		perfmon_init(1, cpus);
		add("RETIRED_INSTRUCTIONS:PMC0");
		if (!strcmp(what, "perfmon-alone")) {
			finalize();
			*(void **)&finalize = dlsym(likwid, "numa_finalize");
			finalize();
		}
	}
}

static void print_result(const struct cm_counter_result *result, const struct call *call)
{
	printf("status %s\nreason %s\ndetail %s\nerror %s\n",
	       cm_counter_status_name(result->status), result->reason, result->detail,
	       result->error);
	printf("calls %d was_called %d fn_status %d\n", call->n_calls, result->was_called,
	       result->fn_status);
	for (size_t i = 0; i < result->n_records; i++)
		printf("record %s %s %d %s %.17g\n", result->records[i].event,
		       result->records[i].counter, result->records[i].cpu_id,
		       result->records[i].unit, result->records[i].value);
	printf("allowed");
	for (size_t i = 0; i < result->n_allowed_cpuids; i++)
		printf(" %d", result->allowed_cpuids[i]);
	printf("\ncpuids");
	for (size_t i = 0; i < result->n_cpuids; i++)
		printf(" %d", result->cpuids[i]);
	printf("\ngroup_time %s\nmode %s\n",
	       result->has_group_time ? result->group_time_seconds >= 0 ? "yes" : "negative" : "no",
	       cm_access_mode_name(result->access_mode));
	printf("pid %s\n", !result->has_perf_pid		? "none"
			   : result->perf_pid == (long)getpid() ? "own"
								: "foreign");
	for (size_t i = 0; i < result->n_backend_added_events; i++)
		printf("added %s\n", result->backend_added_events[i]);
	for (size_t i = 0; i < result->n_variables; i++)
		printf("variable %s\n", result->variables[i]);
	printf("cpu %s\nlibrary %s\n", result->cpu_name, result->library);
}

/* Options up to the first argument that is none. */
static int take_options(struct call *call, int argc, char **argv)
{
	int i = 1;
	char pid[24];

	for (; i < argc; i++) {
		if (!strncmp(argv[i], "fail=", 5)) {
			call->fail = atoi(argv[i] + 5);
		} else if (!strcmp(argv[i], "nested")) {
			call->is_nested = true;
		} else if (!strcmp(argv[i], "fork")) {
			call->forks = true;
		} else if (!strncmp(argv[i], "own=", 4)) {
			call->owned = argv[i] + 4;
		} else if (!strcmp(argv[i], "twice")) {
			call->is_twice = true;
		} else if (!strcmp(argv[i], "pid")) {
			snprintf(pid, sizeof(pid), "%ld", (long)getpid());
			setenv("LIKWID_PERF_PID", pid, 1);
		} else {
			break;
		}
	}
	return i;
}

static void measure(struct call *call)
{
	struct cm_counter_result result;
	int rc = cm_measure_counters(work, call, &call->declaration, &result);

	printf("returned %d\n", rc);
	print_result(&result, call);
	cm_counter_result_free(&result);
}

int main(int argc, char **argv)
{
	static int cpus[MAX_ITEMS];
	static struct cm_event_unit units[MAX_ITEMS];
	struct call call = {0};
	char *before, *after;
	int i = take_options(&call, argc, argv);

	if (argc - i < 2)
		return 2;
	call.declaration.event_set = argv[i];
	call.declaration.cpuids = cpus;
	call.declaration.units = units;
	for (char *cpu = strtok(argv[i + 1], ","); cpu; cpu = strtok(NULL, ","))
		cpus[call.declaration.n_cpuids++] = atoi(cpu);
	for (i += 2; i < argc; i++) {
		units[call.declaration.n_units].event = strtok(argv[i], "=");
		units[call.declaration.n_units++].unit = strtok(NULL, "=");
	}
	if (call.owned)
		own(call.owned);
	atexit(at_exit);
	signal(SIGCHLD, on_child);
	printf("written once\n"); /* stays in the buffer when stdout is a file */
	before = describe();
	measure(&call);
	if (call.is_twice)
		measure(&call);
	after = describe();
	puts(before && after && !strcmp(before, after) ? "unchanged" : "changed");
	if (before && after && strcmp(before, after) != 0)
		fprintf(stderr, "before:\n%s\nafter:\n%s\n", before, after);
	free(before);
	free(after);
	return 0;
}
