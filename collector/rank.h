/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank and size of a process from its launcher's environment; no MPI library is asked.
 *
 * A contract header: the collector asks for a spooled environment, `callmark run` for its own.
 * Any thread; no allocation.
 *
 * Order of precedence, highest first. What stands inside comes first: an mpirun in a job of Slurm
 * has ranks of its own.
 *
 *	CALLMARK_RANK
 *	Open MPI	OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK
 *	MVAPICH2	MV2_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK
 *	PMIx		PMIX_RANK, PMIX_SIZE, PMIX_LOCAL_RANK
 *	PMI		PMI_RANK, PMI_SIZE, MPI_LOCALRANKID or PMI_LOCAL_RANK (MPICH, Intel MPI,
 *Cray) Flux		FLUX_TASK_RANK, FLUX_JOB_SIZE, FLUX_TASK_LOCAL_ID PALS PALS_RANKID,
 *PALS_SIZE, PALS_LOCAL_RANKID, PALS_NODEID
 *	Slurm		SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, SLURM_LOCALID,
 *SLURM_NODEID, only inside of a step (a numeric SLURM_STEP_ID that is not one of Slurm's own)
 *
 * What the first one does not say (PMIx has no size) is taken from the next in this order that
 * gives the same rank. CALLMARK_RANK changes the rank alone. A size that the rank contradicts is
 * not known. Values must be plain non-negative integers; others are passed
 * over.
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
	int64_t local_rank;   /* among those of its node; -1: not known */
	int64_t node;	      /* number of its node; -1: not known */
};

/* get(ctx, name) returns the value (borrowed) or NULL, as getenv. */
void cm_rank_find(const char *(*get)(void *ctx, const char *name), void *ctx,
		  struct cm_rank *ret_rank);

#endif
