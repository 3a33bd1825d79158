/* SPDX-License-Identifier: BSD-3-Clause */
/* One row a launcher, in order of precedence. */
#include "collector/rank.h"

#include <stddef.h>

#define MAX_RANK INT64_C(0x7fffffff)
/* Slurm's own steps (batch script, extern, interactive, pending) have ids from here on. */
#define SLURM_FIRST_SPECIAL_STEP INT64_C(0xfffffff0)

static const struct launcher {
	const char *name;
	const char *rank;
	const char *sizes[2]; /* the first that is good */
} launchers[] = {
	{"Open MPI", "OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE", NULL}},
	{"MVAPICH2", "MV2_COMM_WORLD_RANK", {"MV2_COMM_WORLD_SIZE", NULL}},
	{"PMIx", "PMIX_RANK", {"PMIX_SIZE", NULL}},
	{"PMI", "PMI_RANK", {"PMI_SIZE", NULL}},
	{"Slurm", "SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}},
};

#define N_LAUNCHERS (sizeof(launchers) / sizeof(*launchers))
#define SLURM (&launchers[N_LAUNCHERS - 1])

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

static int64_t find_size(const struct launcher *launcher,
			 const char *(*get)(void *ctx, const char *name), void *ctx)
{
	for (size_t i = 0; i < 2 && launcher->sizes[i]; i++) {
		int64_t size = parse_number(get(ctx, launcher->sizes[i]), MAX_RANK);

		if (size > 0)
			return size;
	}
	return 0;
}

/* In an allocation, but not started by srun, SLURM_PROCID is 0 for everybody. */
static bool is_in_step(const char *(*get)(void *ctx, const char *name), void *ctx)
{
	int64_t step = parse_number(get(ctx, "SLURM_STEP_ID"), INT64_C(0xffffffff));

	return step >= 0 && step < SLURM_FIRST_SPECIAL_STEP;
}

static bool find_launcher(const char *(*get)(void *ctx, const char *name), void *ctx,
			  struct cm_rank *ret_rank)
{
	for (size_t i = 0; i < N_LAUNCHERS; i++) {
		const struct launcher *launcher = &launchers[i];
		int64_t rank = parse_number(get(ctx, launcher->rank), MAX_RANK);

		if (rank < 0 || (launcher == SLURM && !is_in_step(get, ctx)))
			continue;
		ret_rank->has_rank = true;
		ret_rank->rank = rank;
		ret_rank->size = find_size(launcher, get, ctx);
		ret_rank->launcher = launcher->name;
		/* PMIx gives no size of its own: Slurm's, where it is the one that launched. */
		if (!ret_rank->size && is_in_step(get, ctx))
			ret_rank->size = find_size(SLURM, get, ctx);
		if (ret_rank->size && ret_rank->size <= rank)
			ret_rank->size = 0;
		return true;
	}
	return false;
}

void cm_rank_find(const char *(*get)(void *ctx, const char *name), void *ctx,
		  struct cm_rank *ret_rank)
{
	struct cm_rank found = {.size = 1, .launcher = ""};
	int64_t rank = parse_number(get(ctx, "CALLMARK_RANK"), MAX_RANK);
	bool has_launcher = find_launcher(get, ctx, &found);

	if (rank >= 0) {
		found.has_rank = true;
		found.rank = rank;
		found.size = has_launcher && found.size > rank ? found.size : 0;
		found.launcher = "CALLMARK_RANK";
	}
	*ret_rank = found;
}
