/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated registers: a hash table in a shared file, and what makes counters move. */
#include "tests/sim/registers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENABLED (1ull << 22) /* the same bit in AMD's and Intel's event selects */
#define COUNTER_MASK 0xffffffffffffull
#define ENERGY_MASK 0xffffffffull

/* Registers that count by themselves, at a fixed number a read and CPU. */
static const struct {
	uint32_t reg;
	uint32_t step;
	bool is_energy; /* 32 bits; the same on every CPU */
} free_running[] = {
	/* AMD: instructions, core clock, reference clock; energy of core and package */
	{0xc00000e9, 50000000, false},
	{0xc00000e8, 31200000, false},
	{0xc00000e7, 26000000, false},
	{0xc001029a, 65536, true},
	{0xc001029b, 131072, true},
	/* Intel: the same; energy of core, package, memory and graphics */
	{0x309, 50000000, false},
	{0x30a, 31200000, false},
	{0x30b, 26000000, false},
	{0x639, 65536, true},
	{0x611, 131072, true},
	{0x619, 131072, true},
	{0x641, 131072, true},
};

/* What LIKWID wants to find when nothing was written: units of energy, clocks, temperature. */
static const struct {
	uint32_t reg;
	uint64_t value;
} constants[] = {
	{0xc0010299, 0x000a1003}, {0x606, 0x000a0e03}, {0xce, 0x1a00},
	{0x1ad, 0x1e1e1e1e},	  {0x19c, 0x88280000}, {0x1a2, 0x640000},
};

#define N_FREE_RUNNING (sizeof(free_running) / sizeof(free_running[0]))
#define N_CONSTANTS (sizeof(constants) / sizeof(constants[0]))

int cm_sim_open(struct cm_sim_registers *registers, const char *path)
{
	size_t n_bytes = CM_SIM_N_CELLS * sizeof(registers->cells[0]);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *map;

	if (fd < 0)
		return -errno;
	map = ftruncate(fd, (off_t)n_bytes)
		      ? MAP_FAILED
		      : mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	registers->fd = fd;
	registers->cells = map;
	return 0;
}

/* The cell of a register, made when it is new. A full table is a machine that does not work. */
static uint64_t *find_cell(struct cm_sim_registers *registers, uint32_t cpu, int device,
			   uint32_t reg)
{
	uint64_t key = 1ull << 63 | (uint64_t)(cpu & 0xffff) << 46 |
		       (uint64_t)((unsigned)device & 0x3fff) << 32 | reg;
	uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 40) % CM_SIM_N_CELLS;

	for (uint32_t i = 0; i < CM_SIM_N_CELLS; i++) {
		struct cm_sim_cell *cell = &registers->cells[(at + i) % CM_SIM_N_CELLS];

		if (!cell->key)
			cell->key = key;
		if (cell->key == key)
			return &cell->value;
	}
	_exit(1);
}

static bool is_odd_in(uint32_t reg, uint32_t first, uint32_t last)
{
	return reg >= first && reg <= last && (reg & 1);
}

/* AMD's pairs of event select and counter: core, L3 and data fabric. */
static bool is_amd_counter(uint32_t reg)
{
	return is_odd_in(reg, 0xc0010201, 0xc001020b) || is_odd_in(reg, 0xc0010231, 0xc001023b) ||
	       is_odd_in(reg, 0xc0010241, 0xc0010247);
}

/* How far a programmed counter moves; 0 while it is disabled. */
static uint64_t programmed_step(uint32_t cpu, uint64_t base, uint64_t select, bool is_amd)
{
	uint64_t event = select & 0xff;

	if (!(select & ENABLED))
		return 0;
	if (is_amd)
		event |= (select >> 32 & 0xf) << 8;
	return (cpu + 1) * (base + 1000 * event + (select >> 8 & 0xff));
}

/* 0: an ordinary register, or a counter that stands still. */
static uint64_t find_step(struct cm_sim_registers *registers, uint32_t cpu, int device,
			  uint32_t reg, uint64_t *ret_mask)
{
	*ret_mask = COUNTER_MASK;
	if (device) {
		/* An Intel memory channel: four counters of 8 bytes, selects of 4. */
		if (reg < 0xa0 || reg >= 0xc0 || reg % 8)
			return 0;
		return programmed_step(cpu, 100000ull * (unsigned)device,
				       *find_cell(registers, cpu, device, 0xd8 + (reg - 0xa0) / 2),
				       false);
	}
	if (is_amd_counter(reg))
		return programmed_step(cpu, 1000000, *find_cell(registers, cpu, 0, reg - 1), true);
	if (reg >= 0xc1 && reg <= 0xc8)
		return programmed_step(cpu, 1000000,
				       *find_cell(registers, cpu, 0, 0x186 + reg - 0xc1), false);
	for (size_t i = 0; i < N_FREE_RUNNING; i++) {
		if (free_running[i].reg != reg)
			continue;
		if (!free_running[i].is_energy)
			return (cpu + 1ull) * free_running[i].step;
		*ret_mask = ENERGY_MASK;
		return free_running[i].step;
	}
	return 0;
}

static uint64_t read_locked(struct cm_sim_registers *registers, uint32_t cpu, int device,
			    uint32_t reg)
{
	uint64_t mask;
	uint64_t step = find_step(registers, cpu, device, reg, &mask);
	uint64_t *value = find_cell(registers, cpu, device, reg);

	*value += step;
	if (step)
		return *value & mask;
	for (size_t i = 0; i < N_CONSTANTS && !device && !*value; i++)
		if (constants[i].reg == reg)
			return constants[i].value;
	return *value;
}

uint64_t cm_sim_read(struct cm_sim_registers *registers, uint32_t cpu, int device, uint32_t reg)
{
	uint64_t value;

	/* Fails only for a bad descriptor. */
	(void)flock(registers->fd, LOCK_EX);
	value = read_locked(registers, cpu, device, reg);
	(void)flock(registers->fd, LOCK_UN);
	return value;
}

void cm_sim_write(struct cm_sim_registers *registers, uint32_t cpu, int device, uint32_t reg,
		  uint64_t value)
{
	(void)flock(registers->fd, LOCK_EX);
	if (!device && is_amd_counter(reg + 1) && !(value & ENABLED))
		(void)read_locked(registers, cpu, 0, reg + 1); /* moves while still enabled */
	*find_cell(registers, cpu, device, reg) = value;
	(void)flock(registers->fd, LOCK_UN);
}
