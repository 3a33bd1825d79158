/* SPDX-License-Identifier: BSD-3-Clause */
/* A token goes round the ranks 200 times. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, size, token = 0;
	double sum, mine;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int lap = 0; lap < 200; lap++) {
		if (rank == 0)
			MPI_Send(&token, 1, MPI_INT, 1 % size, 0, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		token += rank;
		if (rank)
			MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
	}
	mine = 1.0 / (rank + 1);
	MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("token %d sum %.17g\n", token, sum);
	MPI_Finalize();
	return 0;
}
