/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-ring N: on every rank r 1 + N + r calls of MPI_Comm_rank (counts that differ by rank), N
 * rounds of MPI_Sendrecv around the ring, one MPI_Allreduce; rank 0 prints.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	long token, sum = 0;
	int rank, size, again;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (long i = 0; i < n + rank; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &again);
	token = rank;
	for (long i = 0; i < n; i++) {
		long received;

		MPI_Sendrecv(&token, 1, MPI_LONG, (rank + 1) % size, 0, &received, 1, MPI_LONG,
			     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		token = received;
	}
	MPI_Allreduce(&token, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks, sum %ld\n", size, sum);
	MPI_Finalize();
	return 0;
}
