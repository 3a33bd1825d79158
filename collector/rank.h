/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank and size of a process from its launcher's environment; no MPI library is asked.
 *
 * A contract header: the collector asks for a spooled environment, `callmark run` for its own.
 * Order of precedence, highest first: CALLMARK_RANK, Open MPI (OMPI_COMM_WORLD_*), MVAPICH2
 * (MV2_COMM_WORLD_*), PMIx (PMIX_RANK), PMI (PMI_RANK/PMI_SIZE: MPICH, Intel MPI), Slurm
 * (SLURM_PROCID/SLURM_NTASKS, only inside a step: SLURM_STEP_ID set and more than one task or an
 * explicit step). Values must be plain non-negative integers; others are passed over.
 * Any thread; no allocation.
 */
#ifndef CALLMARK_COLLECTOR_RANK_H
#define CALLMARK_COLLECTOR_RANK_H

#include <stdbool.h>
#include <stdint.h>

struct cm_rank {
	bool has_rank;	      /* some launcher gave one */
	int64_t rank;	      /* 0 without */
	int64_t size;	      /* 0: not known; 1 without a launcher */
	const char *launcher; /* "Open MPI", "PMIx", ...; "" without */
};

/* get(ctx, name) returns the value (borrowed) or NULL, as getenv. */
void cm_rank_find(const char *(*get)(void *ctx, const char *name), void *ctx,
		  struct cm_rank *ret_rank);

#endif
