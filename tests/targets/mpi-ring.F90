! SPDX-License-Identifier: BSD-3-Clause
! As mpi-ring.c, without its argument: 20 rounds. MODULE is mpi or mpi_f08; without it mpif.h.
program ring
#ifdef MODULE
  use MODULE
#endif
  implicit none
#ifndef MODULE
  include 'mpif.h'
#endif
  integer, parameter :: n = 20
  integer :: ierr, rank, size, again, i, token, received, total

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  do i = 1, n + rank
    call MPI_Comm_rank(MPI_COMM_WORLD, again, ierr)
  end do
  token = rank
  do i = 1, n
    call MPI_Sendrecv(token, 1, MPI_INTEGER, mod(rank + 1, size), 0, received, 1, &
      MPI_INTEGER, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    token = received
  end do
  call MPI_Allreduce(token, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(i0,a,i0)', size, ' ranks, sum ', total
  call MPI_Finalize(ierr)
end program ring
