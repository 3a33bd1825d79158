/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/rank.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

struct rank_row {
	char env[160]; /* NAME=VALUE, blanks between */
	int64_t rank;  /* -1: none */
	int64_t size;
	char launcher[24];
	int64_t local_rank; /* one more; 0: not known */
	int64_t node;
};

static const char *get(void *ctx, const char *name)
{
	static char value[64];
	size_t n = strlen(name);

	for (const char *p = ctx; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		if (strncmp(p, name, n) || p[n] != '=')
			continue;
		snprintf(value, sizeof(value), "%.*s", (int)strcspn(p + n + 1, " "), p + n + 1);
		return value;
	}
	return NULL;
}

ParameterizedTestParameters(rank, is_found_in_the_launchers_environment)
{
	static struct rank_row rows[] = {
		{"", -1, 1, ""},
		{"HOME=/root", -1, 1, ""},
		{"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4", 3, 4, "Open MPI"},
		{"OMPI_COMM_WORLD_RANK=3", 3, 0, "Open MPI"},
		{"MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=2", 1, 2, "MVAPICH2"},
		{"PMIX_RANK=5", 5, 0, "PMIx"},
		{"PMIX_RANK=5 SLURM_STEP_ID=0 SLURM_PROCID=5 SLURM_NTASKS=8", 5, 8, "PMIx"},
		{"PMIX_RANK=5 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=8", 5, 0, "PMIx"},
		{"PMI_RANK=0 PMI_SIZE=2", 0, 2, "PMI"},
		{"SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_STEP_ID=0", 2, 4, "Slurm"},
		{"SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_STEP_ID=0", 0, 1, "Slurm"},
		{"SLURM_PROCID=2 SLURM_NTASKS=9 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_ID=0", 2, 4,
		 "Slurm"},
		{"FLUX_TASK_RANK=3 FLUX_JOB_SIZE=8", 3, 8, "Flux"},
		{"PALS_RANKID=4 PMI_RANK=4 PMI_SIZE=6", 4, 6, "PMI"},
		{"PALS_RANKID=4", 4, 0, "PALS"},
		/* Local rank and node, each from whoever knows and has the same rank. */
		{"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1", 3, 4,
		 "Open MPI", 2, 0},
		{"MV2_COMM_WORLD_RANK=3 MV2_COMM_WORLD_LOCAL_RANK=0", 3, 0, "MVAPICH2", 1, 0},
		{"PMI_RANK=3 PMI_SIZE=4 MPI_LOCALRANKID=1", 3, 4, "PMI", 2, 0},
		{"PMI_RANK=3 PMI_SIZE=4 PMI_LOCAL_RANK=2", 3, 4, "PMI", 3, 0},
		{"FLUX_TASK_RANK=3 FLUX_TASK_LOCAL_ID=1", 3, 0, "Flux", 2, 0},
		{"PMI_RANK=4 PMI_SIZE=6 PALS_RANKID=4 PALS_LOCAL_RANKID=0 PALS_NODEID=2", 4, 6,
		 "PMI", 1, 3},
		{"PMIX_RANK=5 SLURM_PROCID=5 SLURM_STEP_ID=0 SLURM_NTASKS=8 SLURM_LOCALID=1 "
		 "SLURM_NODEID=2",
		 5, 8, "PMIx", 2, 3},
		{"OMPI_COMM_WORLD_RANK=3 SLURM_PROCID=0 SLURM_STEP_ID=0 SLURM_NODEID=2", 3, 0,
		 "Open MPI"},
		/* An allocation or a batch script, not a step of srun. */
		{"SLURM_PROCID=0 SLURM_NTASKS=4", -1, 1, ""},
		{"SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_ID=4294967291", -1, 1, ""},
		{"SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_ID=batch", -1, 1, ""},
		/* Precedence. */
		{"PMI_RANK=7 PMI_SIZE=8 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4", 3, 4,
		 "Open MPI"},
		{"SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_STEP_ID=0 PMI_RANK=1 PMI_SIZE=4", 1, 4,
		 "PMI"},
		{"CALLMARK_RANK=6 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8", 6, 8,
		 "CALLMARK_RANK"},
		{"CALLMARK_RANK=6", 6, 0, "CALLMARK_RANK"},
		/* Values that are no plain numbers are passed over. */
		{"OMPI_COMM_WORLD_RANK=-1 PMI_RANK=1 PMI_SIZE=2", 1, 2, "PMI"},
		{"OMPI_COMM_WORLD_RANK= PMI_RANK=1 PMI_SIZE=2", 1, 2, "PMI"},
		{"PMI_RANK=1x PMI_SIZE=2", -1, 1, ""},
		{"PMI_RANK=99999999999999999999", -1, 1, ""},
		{"CALLMARK_RANK=+3", -1, 1, ""},
		{"PMI_RANK=3 PMI_SIZE=2", 3, 0, "PMI"}, /* the size contradicts */
		{"PMI_RANK=0 PMI_SIZE=zero", 0, 0, "PMI"},
	};

	return cr_make_param_array(struct rank_row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct rank_row *row, rank, is_found_in_the_launchers_environment)
{
	struct cm_rank rank;

	cm_rank_find(get, row->env, &rank);
	cr_assert_eq(rank.has_rank, row->rank >= 0, "%s", row->env);
	cr_assert_eq(rank.rank, row->rank >= 0 ? row->rank : 0, "%s: %ld", row->env,
		     (long)rank.rank);
	cr_assert_eq(rank.size, row->size, "%s: size %ld", row->env, (long)rank.size);
	cr_assert_str_eq(rank.launcher, row->launcher);
	cr_assert_eq(rank.local_rank, row->local_rank - 1, "%s: local rank %ld", row->env,
		     (long)rank.local_rank);
	cr_assert_eq(rank.node, row->node - 1, "%s: node %ld", row->env, (long)rank.node);
}
