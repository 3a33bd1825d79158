! SPDX-License-Identifier: BSD-3-Clause
! fortran N: N calls of each subroutine of fortran-lib.f90.
program fortran
  implicit none
  character(len=40) :: joined
  character(len=8) :: argument
  integer :: n_rounds, n, total, i
  call get_command_argument(1, argument)
  read (argument, *) n_rounds
  do i = 1, n_rounds
    n = mod(i, 7)
    call join_names('left', n, 'on the right', joined)
    call sum_ninety(1+n, 2, 3+n, 4, 5+n, 6, 7+n, 8, 9+n, 10, 11+n, 12, 13+n, 14, 15+n, 16, &
      17+n, 18, 19+n, 20, 21+n, 22, 23+n, 24, 25+n, 26, 27+n, 28, 29+n, 30, 31+n, 32, 33+n, 34, &
      35+n, 36, 37+n, 38, 39+n, 40, 41+n, 42, 43+n, 44, 45+n, 46, 47+n, 48, 49+n, 50, 51+n, 52, &
      53+n, 54, 55+n, 56, 57+n, 58, 59+n, 60, 61+n, 62, 63+n, 64, 65+n, 66, 67+n, 68, 69+n, 70, &
      71+n, 72, 73+n, 74, 75+n, 76, 77+n, 78, 79+n, 80, 81+n, 82, 83+n, 84, 85+n, 86, 87+n, 88, &
      89+n, 90, total)
    print *, joined, total
  end do
end program fortran
