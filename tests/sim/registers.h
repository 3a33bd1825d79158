/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated registers of the CPUs that the stand-in for likwid-accessD pretends to have. What they
 * show is plumbing, never performance: a counter moves when it is looked at, and by a number that
 * a test can work out.
 *
 *	cm_sim_open(&registers, path);
 *	value = cm_sim_read(&registers, cpu, device, reg);
 *
 * A counter that is programmed and enabled moves by
 *
 *	K = (cpu + 1) * (1000000 + 1000 * event + umask)
 *
 * at every read. AMD counters also move when they are disabled, because LIKWID stops them before
 * it reads them. Of an uncore box (device not 0) `cpu` is the socket and the million is replaced
 * by 100000 * device: every memory channel differs. All other registers keep what was written.
 *
 * The values stand in a file that all daemons of one folder share, as CPUs share registers; they
 * take turns with flock(). Removing the file resets the machine.
 *
 * Threads: one a process. Errors: negative errno from open.
 */
#ifndef CALLMARK_TESTS_SIM_REGISTERS_H
#define CALLMARK_TESTS_SIM_REGISTERS_H

#include <stdint.h>

#define CM_SIM_N_CELLS 32768u

struct cm_sim_cell {
	uint64_t key; /* 0: free */
	uint64_t value;
};

struct cm_sim_registers {
	int fd;
	struct cm_sim_cell *cells; /* CM_SIM_N_CELLS, shared */
};

int cm_sim_open(struct cm_sim_registers *registers, const char *path);

/* 0 for what was never written and is no counter. */
uint64_t cm_sim_read(struct cm_sim_registers *registers, uint32_t cpu, int device, uint32_t reg);
void cm_sim_write(struct cm_sim_registers *registers, uint32_t cpu, int device, uint32_t reg,
		  uint64_t value);

#endif
