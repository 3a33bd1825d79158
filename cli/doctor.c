/* SPDX-License-Identifier: BSD-3-Clause */
/* callmark doctor: can callmark, and can hardware counters work here? */
#include "cli/doctor.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/locate.h"
#include "cli/say.h"
#include "preload/environment.h"
#include "preload/spool-path.h"

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static const struct argp argp = {
	NULL,
	NULL,
	NULL,
	"Say whether hardware counters can work here: what LIKWID needs, what is missing, and what "
	"to do about it. Checks callmark's own parts, too.\v"
	"The exit status is 0 when counters can work, 1 when not, 2 for wrong options.",
	NULL,
	NULL,
	NULL};

void cm_doctor_say(enum cm_finding finding, const char *topic, const char *format, ...)
{
	static const char *const marks[] = {
		[CM_FINDING_OK] = "ok", [CM_FINDING_BAD] = "NO", [CM_FINDING_NOTE] = "note"};
	va_list args;

	printf("  %-4s  %-10s  ", marks[finding], topic);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void cm_doctor_advise(const char *format, ...)
{
	va_list args;

	printf("%20s-> ", "");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static void look_for(struct cm_doctor *doctor, enum cm_part part, const char *topic, char *path)
{
	struct cm_diag diag = {0};

	if (!cm_locate(part, path, PATH_MAX, &diag)) {
		cm_doctor_say(CM_FINDING_OK, topic, "%s", path);
		return;
	}
	path[0] = '\0';
	doctor->is_complete = false;
	cm_doctor_say(CM_FINDING_BAD, topic, "%s", diag.text);
	cm_doctor_advise("build callmark again (ninja), or install it again (ninja install)");
}

static void look_at_spool(struct cm_doctor *doctor)
{
	const char *base = cm_spool_base(getenv(CM_ENV_SPOOL), getenv("TMPDIR"));
	struct statvfs fs;

	if (access(base, W_OK | X_OK) || statvfs(base, &fs)) {
		doctor->is_complete = false;
		cm_doctor_say(CM_FINDING_BAD, "spool", "%s cannot be written: %s", base,
			      strerror(errno));
		cm_doctor_advise("name another folder: callmark run --spool=DIR, or %s",
				 CM_ENV_SPOOL);
		return;
	}
	cm_doctor_say(CM_FINDING_OK, "spool", "%s, %.1f GB free", base,
		      (double)fs.f_bavail * (double)fs.f_frsize / 1e9);
}

static void look_at_clock(void)
{
	char name[64] = "";
	FILE *file = fopen(CLOCK_SOURCE, "re");

	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	if (!strcmp(name, "tsc")) {
		cm_doctor_say(CM_FINDING_OK, "clock", "tsc, as the kernel itself");
		return;
	}
	cm_doctor_say(CM_FINDING_NOTE, "clock", "the kernel uses %s: calls are timed with %s",
		      name[0] ? name : "an unknown clock", "CLOCK_MONOTONIC, which costs more");
}

static int give_verdict(const struct cm_doctor *doctor)
{
	const char *simulated = doctor->is_simulated ? ", SIMULATED: the numbers mean nothing" : "";

	if (!doctor->is_complete)
		printf("\ncallmark cannot work here: see NO above\n");
	else if (!doctor->can_count)
		printf("\nHardware counters cannot work here; timings can\n");
	else
		printf("\nHardware counters can work here%s\n", simulated);
	return doctor->is_complete && doctor->can_count ? CM_EXIT_OK : CM_EXIT_FAILED;
}

int cm_cmd_doctor(int argc, char **argv)
{
	struct cm_doctor doctor = {.is_complete = true};
	error_t error = argp_parse(&argp, argc, argv, 0, NULL, NULL);
	char path[PATH_MAX];

	if (error) {
		cm_say("%s", strerror(error));
		return CM_EXIT_USAGE;
	}
	puts("callmark " CM_VERSION);
	look_for(&doctor, CM_PART_PRELOAD, "preload", path);
	look_for(&doctor, CM_PART_COLLECT, "collector", path);
	look_for(&doctor, CM_PART_READER, "reader", doctor.reader);
	cm_doctor_look_at_sites(&doctor);
	look_at_spool(&doctor);
	look_at_clock();
	puts("\nhardware counters");
	fflush(stdout); /* what follows takes a while */
	cm_supervise_init(&doctor.supervise);
	cm_doctor_look_at_likwid(&doctor);
	if (!doctor.is_interrupted)
		cm_doctor_look_at_machine(&doctor);
	cm_supervise_fini(&doctor.supervise); /* a signal that is pending ends us here */
	return give_verdict(&doctor);
}
