/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-join N FILE: make N ranks' files of three calls each and join them, one after the other;
 * print the processor seconds that joining took, and the peak of resident memory in MiB.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "writer/writer.h"

#define N_CALLS 3
#define RUN_ID "bench-join"

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const int64_t starts[N_CALLS] = {1000, 2000, 3000};
static const int64_t ends[N_CALLS] = {1010, 2020, 3030};
static const char *const symbols[] = {"callee_add"};
static const struct cm_profile_region region = {
	.tag = "callee_add",
	.library = "libcallee.so",
	.symbols = symbols,
	.n_symbols = 1,
	.n_trace = N_CALLS,
	.calls = N_CALLS,
	.total_ns = 60,
	.min_ns = 10,
	.max_ns = 30,
	.sum_sq_ns2 = 1400,
	.max_events = UINT64_MAX,
	.histogram = {[3] = 1, [4] = 2},
	.one_thread = true,
};
static const struct cm_profile_thread thread = {
	.tid = 1, .name = "main", .first_ns = 1000, .last_ns = 3030, .cpus = "0"};

static int write_shard(const char *path, int64_t rank, int64_t n_ranks, struct cm_diag *diag)
{
	const struct cm_meta metadata[] = {
		{.name = "mpi_size", .kind = CM_META_INT, .integer = n_ranks},
		{.name = "source", .kind = CM_META_STRING, .string = "native"},
	};
	const struct cm_profile profile = {.run_id = RUN_ID,
					   .version = CM_VERSION,
					   .rank = rank,
					   .mpi_size = n_ranks,
					   .metadata = metadata,
					   .n_metadata = 2,
					   .hostname = "node",
					   .pid = rank + 1,
					   .executable = "/usr/bin/true",
					   .clock = "tsc",
					   .overhead_ns_per_call = NAN,
					   .threads = &thread,
					   .n_threads = 1,
					   .regions = &region,
					   .n_regions = 1};
	struct cm_writer *writer;
	int rc;

	rc = cm_writer_open(&writer, path, &profile, &(struct cm_writer_options){0}, diag);
	if (rc < 0)
		return rc;
	rc = cm_writer_append(writer, 0, starts, ends, NULL, N_CALLS, diag);
	if (rc == 0)
		return cm_writer_commit(writer, diag);
	cm_writer_discard(writer);
	return rc;
}

int main(int argc, char **argv)
{
	long n_ranks = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	struct cm_diag diag = {0};
	struct rusage usage = {0};
	double seconds = 0;
	int rc = n_ranks > 0 ? 0 : -EINVAL;

	for (long rank = 0; rank < n_ranks && rc == 0; rank++) {
		char shard[PATH_MAX];
		double start;

		rc = cm_writer_shard_path(argv[2], RUN_ID, rank, rank + 1, shard, sizeof(shard));
		if (rc == 0)
			rc = write_shard(shard, rank, n_ranks, &diag);
		start = cpu_seconds();
		if (rc == 0)
			rc = cm_writer_join(shard, argv[2], RUN_ID, rank, n_ranks, false, &diag);
		seconds += cpu_seconds() - start;
	}
	if (rc < 0) {
		fprintf(stderr, "bench-join: %s\n", diag.text[0] ? diag.text : strerror(-rc));
		return 1;
	}
	(void)getrusage(RUSAGE_SELF, &usage); /* zeros otherwise */
	printf("%.3f %ld\n", seconds, usage.ru_maxrss / 1024);
	return 0;
}
