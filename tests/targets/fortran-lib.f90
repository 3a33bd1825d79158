! SPDX-License-Identifier: BSD-3-Clause
! Character arguments, whose lengths are passed behind all others, and a subroutine with 91.
subroutine join_names(first, n, second, joined)
  implicit none
  character(len=*), intent(in) :: first, second
  integer, intent(in) :: n
  character(len=*), intent(out) :: joined
  joined = first // repeat('-', n) // second
end subroutine join_names

subroutine sum_ninety(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, &
    a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, &
    a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, &
    a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, a67, a68, a69, a70, &
    a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, a81, a82, a83, a84, a85, a86, a87, a88, &
    a89, a90, total)
  implicit none
  integer, intent(in) :: a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, &
    a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, &
    a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, &
    a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, a67, a68, a69, a70, &
    a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, a81, a82, a83, a84, a85, a86, a87, a88, &
    a89, a90
  integer, intent(out) :: total
  total = 1*a1 + 2*a2 + 3*a3 + 4*a4 + 5*a5 + 6*a6 + 7*a7 + 8*a8 + 9*a9 + 10*a10 + 11*a11 + &
    12*a12 + 13*a13 + 14*a14 + 15*a15 + 16*a16 + 17*a17 + 18*a18 + 19*a19 + 20*a20 + 21*a21 + &
    22*a22 + 23*a23 + 24*a24 + 25*a25 + 26*a26 + 27*a27 + 28*a28 + 29*a29 + 30*a30 + 31*a31 + &
    32*a32 + 33*a33 + 34*a34 + 35*a35 + 36*a36 + 37*a37 + 38*a38 + 39*a39 + 40*a40 + 41*a41 + &
    42*a42 + 43*a43 + 44*a44 + 45*a45 + 46*a46 + 47*a47 + 48*a48 + 49*a49 + 50*a50 + 51*a51 + &
    52*a52 + 53*a53 + 54*a54 + 55*a55 + 56*a56 + 57*a57 + 58*a58 + 59*a59 + 60*a60 + 61*a61 + &
    62*a62 + 63*a63 + 64*a64 + 65*a65 + 66*a66 + 67*a67 + 68*a68 + 69*a69 + 70*a70 + 71*a71 + &
    72*a72 + 73*a73 + 74*a74 + 75*a75 + 76*a76 + 77*a77 + 78*a78 + 79*a79 + 80*a80 + 81*a81 + &
    82*a82 + 83*a83 + 84*a84 + 85*a85 + 86*a86 + 87*a87 + 88*a88 + 89*a89 + 90*a90
end subroutine sum_ninety
