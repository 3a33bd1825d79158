/* SPDX-License-Identifier: BSD-3-Clause */
/* One row a launcher, in order of precedence. */
#include "collector/rank.h"

#include <stddef.h>

#define MAX_RANK INT64_C(0x7fffffff)
/* Slurm's own steps (batch script, extern, interactive, pending) have ids from here on. */
#define SLURM_FIRST_SPECIAL_STEP INT64_C(0xfffffff0)

/* Where there are two names, the first that is good counts. */
static const struct launcher {
	const char *name;
	const char *rank;
	const char *sizes[2];
	const char *local_ranks[2];
	const char *nodes[2];
} launchers[] = {
	{"Open MPI",
	 "OMPI_COMM_WORLD_RANK",
	 {"OMPI_COMM_WORLD_SIZE"},
	 {"OMPI_COMM_WORLD_LOCAL_RANK"},
	 {0}},
	{"MVAPICH2",
	 "MV2_COMM_WORLD_RANK",
	 {"MV2_COMM_WORLD_SIZE"},
	 {"MV2_COMM_WORLD_LOCAL_RANK"},
	 {0}},
	{"PMIx", "PMIX_RANK", {"PMIX_SIZE"}, {"PMIX_LOCAL_RANK"}, {0}},
	{"PMI", "PMI_RANK", {"PMI_SIZE"}, {"MPI_LOCALRANKID", "PMI_LOCAL_RANK"}, {0}},
	{"Flux", "FLUX_TASK_RANK", {"FLUX_JOB_SIZE"}, {"FLUX_TASK_LOCAL_ID"}, {0}},
	{"PALS", "PALS_RANKID", {"PALS_SIZE"}, {"PALS_LOCAL_RANKID"}, {"PALS_NODEID"}},
	{"Slurm",
	 "SLURM_PROCID",
	 {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
	 {"SLURM_LOCALID"},
	 {"SLURM_NODEID"}},
};

#define N_LAUNCHERS (sizeof(launchers) / sizeof(*launchers))
#define SLURM (&launchers[N_LAUNCHERS - 1])

struct environment {
	const char *(*get)(void *ctx, const char *name);
	void *ctx;
};

/* A plain non-negative integer up to max, or -1. */
static int64_t parse_number(const char *text, int64_t max)
{
	int64_t number = 0;

	if (!text || !*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		number = number * 10 + (*text - '0');
		if (number > max)
			return -1;
	}
	return number;
}

static int64_t get_number(const struct environment *env, const char *name)
{
	return parse_number(env->get(env->ctx, name), MAX_RANK);
}

/* The first of the two that is a number of at least `least`; -1: none. */
static int64_t first_number(const struct environment *env, const char *const names[2],
			    int64_t least)
{
	for (int i = 0; i < 2 && names[i]; i++) {
		int64_t number = get_number(env, names[i]);

		if (number >= least)
			return number;
	}
	return -1;
}

/* In an allocation, but not started by srun, SLURM_PROCID is 0 for everybody. */
static bool is_in_step(const struct environment *env)
{
	int64_t step = parse_number(env->get(env->ctx, "SLURM_STEP_ID"), INT64_C(0xffffffff));

	return step >= 0 && step < SLURM_FIRST_SPECIAL_STEP;
}

/* The rank that this launcher gives, or -1. */
static int64_t rank_of(const struct launcher *launcher, const struct environment *env)
{
	int64_t rank = get_number(env, launcher->rank);

	return launcher == SLURM && !is_in_step(env) ? -1 : rank;
}

/* What is not known yet, from a launcher that gives the same rank. */
static void complete(struct cm_rank *found, const struct launcher *launcher,
		     const struct environment *env)
{
	int64_t size = first_number(env, launcher->sizes, 1);

	if (found->size == 0 && size > found->rank)
		found->size = size;
	if (found->local_rank < 0)
		found->local_rank = first_number(env, launcher->local_ranks, 0);
	if (found->node < 0)
		found->node = first_number(env, launcher->nodes, 0);
}

static void find_launcher(struct cm_rank *found, const struct environment *env)
{
	for (size_t i = 0; i < N_LAUNCHERS; i++) {
		int64_t rank = rank_of(&launchers[i], env);

		if (rank < 0 || (found->has_rank && rank != found->rank))
			continue;
		if (!found->has_rank)
			*found = (struct cm_rank){.has_rank = true,
						  .rank = rank,
						  .local_rank = -1,
						  .node = -1,
						  .launcher = launchers[i].name};
		complete(found, &launchers[i], env);
	}
}

void cm_rank_find(const char *(*get)(void *ctx, const char *name), void *ctx,
		  struct cm_rank *ret_rank)
{
	struct environment env = {get, ctx};
	struct cm_rank found = {.size = 1, .local_rank = -1, .node = -1, .launcher = ""};
	int64_t rank = get_number(&env, "CALLMARK_RANK");
	bool has_size;

	find_launcher(&found, &env);
	has_size = found.has_rank && found.size > rank;
	if (rank >= 0) {
		found.has_rank = true;
		found.rank = rank;
		found.size = has_size ? found.size : 0;
		found.launcher = "CALLMARK_RANK";
	}
	*ret_rank = found;
}
