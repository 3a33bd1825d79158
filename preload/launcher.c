/* SPDX-License-Identifier: BSD-3-Clause */
/* Launchers by their names, and by what /proc says of a process's ancestors. */
#include "preload/launcher.h"

#include <stdint.h>
#include <string.h>

#include "preload/diag.h"
#include "preload/spool-path.h"
#include "preload/syscall.h"

#define N_ANCESTORS 64	/* deeper than any real chain */
#define COMM_BYTES 16	/* the kernel cuts the name of a process to 15 */
#define STAT_BYTES 1024 /* of /proc/<pid>/stat; all of it fits */
#define COMMAND_BYTES 4096

/* Programs, and scripts where a site or a vendor made one of them. */
static const char launchers[][20] = {
	/* Open MPI and PRRTE */
	"mpirun",
	"mpiexec",
	"mpirun.openmpi",
	"mpiexec.openmpi",
	"orterun",
	"orted",
	"oshrun",
	"prun",
	"prte",
	"prted",
	"prterun",
	/* MPICH, Intel MPI, MVAPICH2 */
	"mpirun.mpich",
	"mpiexec.mpich",
	"mpiexec.hydra",
	"hydra_pmi_proxy",
	"hydra_bstrap_proxy",
	"hydra_nameserver",
	"hydra_persist",
	"pmi_proxy",
	"mpiexec.gforker",
	"mpirun_rsh",
	"mpispawn",
	/* Slurm, Flux, PALS, others */
	"srun",
	"slurmstepd",
	"flux",
	"flux-broker",
	"flux-shell",
	"palsd",
	"palscmd",
	"aprun",
	"jsrun",
	"ibrun",
	/* LIKWID's own, which are Lua scripts */
	"likwid-mpirun",
	"likwid-perfctr",
	"likwid-pin",
};

/* What runs scripts. A version may follow: lua5.3, python3.11. */
static const char interpreters[][8] = {"sh",  "bash", "dash",	"ksh",	  "zsh",
				       "lua", "perl", "python", "likwid-"};

static bool is_launcher(const char *name)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (strcmp(launchers[i], name) == 0)
			return true;
	return false;
}

static bool is_interpreter(const char *name)
{
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		size_t n = strnlen(interpreters[i], sizeof(interpreters[i]));

		if (strncmp(name, interpreters[i], n) != 0)
			continue;
		while ((name[n] >= '0' && name[n] <= '9') || name[n] == '.')
			n++;
		if (!name[n])
			return true;
	}
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool cm_launcher_is(const char *executable, int argc, char *const *argv)
{
	const char *script;
	int i = 1;

	if (is_launcher(executable))
		return true;
	if (!is_interpreter(executable))
		return false;
	while (i < argc && argv[i][0] == '-' && argv[i][1] != 'c')
		i++;
	if (i >= argc || argv[i][0] == '-')
		return false;
	script = base_name(argv[i]);
	/* likwid-mpirun starts each rank with a shell on a script of this name. */
	return is_launcher(script) || strncmp(script, ".likwidscript_", 14) == 0;
}

/* Read a file as a string; false: not to be had, or empty. */
static bool read_text(const char *path, char *buf, size_t n_bytes)
{
	int fd = cm_sys_open(path, O_RDONLY, 0);
	long n;

	if (fd < 0)
		return false;
	n = cm_sys3(SYS_read, fd, (long)buf, (long)n_bytes - 1);
	cm_sys_close(fd);
	if (n <= 0)
		return false;
	for (long i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = '\n'; /* between the arguments of a command line */
	buf[n] = '\0';
	return true;
}

static bool read_proc(unsigned long pid, const char *name, char *buf, size_t n_bytes)
{
	struct cm_diag path = {0};

	(void)cm_diag_set(&path, 0, "/proc/%lu/%s", pid, name);
	return read_text(path.text, buf, n_bytes);
}

struct ancestor {
	unsigned long pid;
	unsigned long parent;
	unsigned long start_ticks;
	char comm[COMM_BYTES];
};

static unsigned long parse_number(const char **text)
{
	unsigned long value = 0;

	while (**text >= '0' && **text <= '9')
		value = value * 10 + (unsigned long)(*(*text)++ - '0');
	return value;
}

/* "4711 (name) S 4710 ...": the parent is field 4, the start field 22. */
static bool read_ancestor(unsigned long pid, struct ancestor *ancestor)
{
	char text[STAT_BYTES];
	const char *open, *close, *p;
	size_t n;

	if (!read_proc(pid, "stat", text, sizeof(text)))
		return false;
	open = strchr(text, '(');
	close = strrchr(text, ')'); /* the name itself may hold anything */
	if (!open || !close || close < open)
		return false;
	n = (size_t)(close - open - 1);
	if (n > COMM_BYTES - 1)
		n = COMM_BYTES - 1;
	*ancestor = (struct ancestor){.pid = pid};
	memcpy(ancestor->comm, open + 1, n);
	p = close + 1;
	for (int field = 2; *p && field < 22;) {
		if (*p++ != ' ')
			continue;
		if (++field == 4)
			ancestor->parent = parse_number(&p);
	}
	ancestor->start_ticks = parse_number(&p);
	return true;
}

static bool is_launcher_comm(const char *comm)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (strncmp(launchers[i], comm, COMM_BYTES - 1) == 0)
			return true;
	return false;
}

/* The nearest launcher above this process; without any, the direct parent. */
static bool find_launcher(struct ancestor *ret)
{
	unsigned long pid = (unsigned long)cm_sys3(SYS_getppid, 0, 0, 0);
	struct ancestor ancestor;
	bool has_parent = false;

	for (int i = 0; pid > 1 && i < N_ANCESTORS; i++) {
		if (!read_ancestor(pid, &ancestor))
			break;
		if (!has_parent || is_launcher_comm(ancestor.comm))
			*ret = ancestor;
		has_parent = true;
		if (is_launcher_comm(ancestor.comm))
			break;
		pid = ancestor.parent;
	}
	return has_parent;
}

static size_t put(char *buf, size_t n_bytes, const struct cm_diag *text)
{
	size_t n = strlen(text->text);

	if (!n_bytes)
		return 0;
	if (n > n_bytes - 1)
		n = n_bytes - 1;
	memcpy(buf, text->text, n);
	buf[n] = '\0';
	return n;
}

/* HOST:PORT behind --control-port in the proxy's command line. */
static size_t hydra_id(const struct ancestor *proxy, char *buf, size_t n_bytes)
{
	static const char option[] = "\n--control-port\n";
	char command[COMMAND_BYTES];
	struct cm_diag text = {0};
	char *value, *end;

	if (!read_proc(proxy->pid, "cmdline", command, sizeof(command)))
		return 0;
	value = strstr(command, option);
	if (!value)
		return 0;
	value += strlen(option);
	end = strchr(value, '\n');
	if (!end || end == value)
		return 0;
	*end = '\0';
	(void)cm_diag_set(&text, 0, "hydra-%s", value);
	return put(buf, n_bytes, &text);
}

static size_t ancestor_id(const struct ancestor *ancestor, char *buf, size_t n_bytes)
{
	struct cm_diag text = {0};
	char boot[9]; /* as much as tells one boot from another */

	if (!read_text("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)))
		boot[0] = '\0'; /* pid and start time nearly always do */
	(void)cm_diag_set(&text, 0, "%s-%lu-%lx", boot, ancestor->pid, ancestor->start_ticks);
	return put(buf, n_bytes, &text);
}

static bool has_rank(const char *(*get)(void *ctx, const char *name), void *ctx)
{
	static const char names[][24] = {
		"CALLMARK_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK",
		"PMI_RANK",	 "FLUX_TASK_RANK",	 "PALS_RANKID"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = get(ctx, names[i]);

		if (value && *value)
			return true;
	}
	return false;
}

size_t cm_launcher_run_id(const char *(*get)(void *ctx, const char *name), void *ctx, char *buf,
			  size_t n_bytes)
{
	const char *pmix = get(ctx, "PMIX_NAMESPACE"), *pmi = get(ctx, "PMI_RANK");
	struct ancestor launcher;
	size_t n = 0;

	/* Several Hydra jobs may follow one another in one Slurm step: it goes first. */
	if (pmi && *pmi && !(pmix && *pmix) && find_launcher(&launcher))
		n = hydra_id(&launcher, buf, n_bytes);
	if (!n)
		n = cm_spool_launcher_run_id(get, ctx, buf, n_bytes);
	if (!n && has_rank(get, ctx) && find_launcher(&launcher))
		n = ancestor_id(&launcher, buf, n_bytes);
	return n;
}
