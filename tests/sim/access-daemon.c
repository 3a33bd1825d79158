/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in for likwid-accessD: the same records over the same socket, but the registers are
 * simulated (registers.h). With it first in PATH, the real liblikwid counts as any user on a
 * machine without counters.
 *
 * liblikwid starts the daemon with an empty argument list and environment and connects to
 * /tmp/likwid-<its pid>; so the folder of this executable is all that can configure it: the state
 * is the file `state` there.
 */
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/sim/registers.h"

#define CONNECT_SECONDS 15 /* a client that died before it came */

/* One request, and the answer to it; the same from LIKWID 5.2.2 to 5.5.1, native byte order. */
struct record {
	uint32_t cpu; /* the socket, where device is not 0 */
	uint32_t reg;
	uint64_t data;
	int32_t device; /* 0: model-specific registers of a CPU */
	int32_t type;
	int32_t error;
	uint32_t padding;
};
_Static_assert(sizeof(struct record) == 32, "LIKWID's record");

enum record_type {
	RECORD_READ = 0,
	RECORD_WRITE = 1,
	RECORD_CHECK = 2,
	RECORD_EXIT = 3,
};
#define ERROR_UNKNOWN_TYPE 1

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void give_up(int sig)
{
	(void)sig;
	unlink(address.sun_path);
	_exit(1);
}

static int open_registers(struct cm_sim_registers *registers)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("/state"));
	char *slash;

	if (n < 0)
		return -1;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return -1;
	memcpy(slash, "/state", sizeof("/state"));
	return cm_sim_open(registers, path);
}

/* The one client, or -1. The name is gone once it is connected. */
static int accept_client(void)
{
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = -1;

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/likwid-%d", (int)getpid());
	unlink(address.sun_path);
	umask(077);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)))
		return -1;
	signal(SIGALRM, give_up);
	signal(SIGTERM, give_up);
	alarm(CONNECT_SECONDS);
	if (!listen(listener, 1))
		client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	alarm(0);
	unlink(address.sun_path);
	close(listener);
	return client;
}

static void answer(struct cm_sim_registers *registers, struct record *record)
{
	record->error = 0;
	switch (record->type) {
	case RECORD_READ:
		record->data = cm_sim_read(registers, record->cpu, record->device, record->reg);
		break;
	case RECORD_WRITE:
		cm_sim_write(registers, record->cpu, record->device, record->reg, record->data);
		break;
	case RECORD_CHECK:
		break;
	default:
		record->error = ERROR_UNKNOWN_TYPE;
	}
}

int main(void)
{
	struct cm_sim_registers registers;
	struct record record;
	int client;

	if (open_registers(&registers) < 0)
		return 1;
	client = accept_client();
	if (client < 0)
		return 1;
	while (recv(client, &record, sizeof(record), MSG_WAITALL) == sizeof(record)) {
		if (record.type == RECORD_EXIT)
			break;
		answer(&registers, &record);
		if (send(client, &record, sizeof(record), MSG_NOSIGNAL) != sizeof(record))
			break;
	}
	return 0;
}
