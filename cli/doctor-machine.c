/* SPDX-License-Identifier: BSD-3-Clause */
/* What `callmark doctor` finds out about this machine: ways to the counters, and what blurs them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/run-program.h"

#define DAEMON_NAME "likwid-accessD"
#define MSR "/dev/cpu/0/msr"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define PARANOID_ENOUGH 0 /* LIKWID counts per CPU, uncore included */
#define SMT "/sys/devices/system/cpu/smt/active"

/* What is missing stands in the way only where the attempt failed. */
static enum cm_finding missing(const struct cm_doctor *doctor)
{
	return doctor->can_count ? CM_FINDING_NOTE : CM_FINDING_BAD;
}

static bool read_number(const char *path, int *ret_number)
{
	FILE *file = fopen(path, "re");
	bool is_read = file && fscanf(file, "%d", ret_number) == 1;

	if (file)
		fclose(file);
	return is_read;
}

/* With what rights the daemon runs; NULL: with ours. */
static const char *rights_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return NULL;
	if ((st.st_mode & S_ISUID) && st.st_uid == 0)
		return "setuid root";
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		return "with file capabilities";
	return geteuid() == 0 ? "not setuid, but we are root" : NULL;
}

static void look_at_daemon(const struct cm_doctor *doctor)
{
	struct cm_diag ignored = {0};
	struct cm_program daemon;
	const char *rights;

	if (cm_program_find(&daemon, DAEMON_NAME, &ignored) < 0) {
		cm_doctor_say(missing(doctor), "daemon",
			      "no executable " DAEMON_NAME " in PATH (it may be in .../sbin)");
		cm_doctor_advise("as root: make it executable, chown root, chmod u+s; see "
				 "likwid-accessD(1)");
		return;
	}
	rights = rights_of(daemon.path);
	if (rights) {
		cm_doctor_say(CM_FINDING_OK, "daemon", "%s, %s", daemon.path, rights);
	} else if (doctor->can_count && doctor->is_simulated) {
		cm_doctor_say(CM_FINDING_NOTE, "daemon", "%s, without rights: simulated too",
			      daemon.path);
	} else {
		cm_doctor_say(missing(doctor), "daemon", "%s has no rights of its own",
			      daemon.path);
		cm_doctor_advise("as root: chown root %s && chmod u+s %s", daemon.path,
				 daemon.path);
	}
}

static void look_at_msr(const struct cm_doctor *doctor)
{
	if (!access(MSR, R_OK | W_OK)) {
		cm_doctor_say(CM_FINDING_OK, "msr", MSR " can be read and written");
		return;
	}
	cm_doctor_say(missing(doctor), "msr", MSR ": %s", strerror(errno));
	if (errno == ENOENT || errno == ENXIO)
		cm_doctor_advise("as root: modprobe msr (where the machine has such registers)");
	else
		cm_doctor_advise(
			"the access daemon reads them for users; they need no rights here");
}

static void look_at_perf_event(void)
{
	int level;

	if (!read_number(PARANOID, &level)) {
		cm_doctor_say(CM_FINDING_NOTE, "perf_event", "not in this kernel");
		return;
	}
	if (level <= PARANOID_ENOUGH || geteuid() == 0) {
		cm_doctor_say(CM_FINDING_OK, "perf_event",
			      "perf_event_paranoid is %d: allowed (for a LIKWID that was built for "
			      "it)",
			      level);
		return;
	}
	cm_doctor_say(CM_FINDING_NOTE, "perf_event",
		      "perf_event_paranoid is %d: no counting of whole CPUs", level);
	cm_doctor_advise("only where LIKWID was built for it, as root: sysctl "
			 "kernel.perf_event_paranoid=0");
}

/* A flag of the first CPU in /proc/cpuinfo. */
static bool has_flag(const char *flag)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	size_t n = strlen(flag), n_room = 0;
	bool is_found = false;
	char *line = NULL;

	while (file && !is_found && getline(&line, &n_room, file) > 0) {
		if (strncmp(line, "flags", 5))
			continue;
		for (char *at = line; !is_found && (at = strstr(at, flag)); at += n)
			is_found = at[-1] == ' ' && (at[n] == ' ' || at[n] == '\n');
		break;
	}
	free(line);
	if (file)
		fclose(file);
	return is_found;
}

static void look_at_sharing(void)
{
	int smt = 0;

	if (has_flag("hypervisor")) {
		cm_doctor_say(CM_FINDING_NOTE, "virtual",
			      "a virtual machine: many have no counters, or ones that stay 0");
		cm_doctor_advise("compare a run on real hardware; ask for a guest with a PMU");
	}
	if (read_number(SMT, &smt) && smt) {
		cm_doctor_say(CM_FINDING_NOTE, "SMT",
			      "hardware threads share their core, and some of its counters");
		cm_doctor_advise("pin to one hardware thread a core: -C E:N:<threads>:1:2");
	}
}

void cm_doctor_look_at_machine(const struct cm_doctor *doctor)
{
	look_at_daemon(doctor);
	look_at_msr(doctor);
	look_at_perf_event();
	look_at_sharing();
}
