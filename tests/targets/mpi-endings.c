/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-endings HOW: 5 barriers on every rank, then rank 1 ends as HOW says: abort (MPI_Abort), kill
 * (SIGKILL), exit (without MPI_Finalize, as do all others), leave (alone without it, the others
 * wait in MPI_Finalize). threads: three OpenMP threads call MPI_Wtime 10 times each, and all is
 * well.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void use_threads(void)
{
#pragma omp parallel num_threads(3)
	for (int i = 0; i < 10; i++)
		(void)MPI_Wtime();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int rank, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 5; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(how, "threads"))
		use_threads();
	if (!strcmp(how, "exit"))
		return 0;
	if (rank == 1) {
		if (!strcmp(how, "abort"))
			MPI_Abort(MPI_COMM_WORLD, 3);
		if (!strcmp(how, "kill"))
			raise(SIGKILL);
		if (!strcmp(how, "leave"))
			_exit(5);
	}
	MPI_Finalize();
	return 0;
}
