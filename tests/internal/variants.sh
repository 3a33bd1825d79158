# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Which programs scripts/torture-internal.sh generates, one line each:
#   NAME SAMPLE KIND N RANDOM HOW COMPILER FLAGS..
# SAMPLE is s where the program belongs to the sample; the rest as build.sh has it. Sourced.

# of_c COMPILER: what both C compilers can.
of_c()
{
	for level in 0 1 2 3 s; do
		in_sample=-
		case $1$level in gcc2 | gcc0 | clang2) in_sample=s ;; esac
		echo "$1-O$level $in_sample c 2 60 exe $1 -O$level"
		echo "$1-O$level-fp - c 2 60 exe $1 -O$level -fno-omit-frame-pointer"
	done
	for level in 0 2 3; do
		echo "$1-O$level-nopie - c 2 60 exe $1 -O$level -fno-pie -no-pie"
	done
	echo "$1-O2-fp-nopie - c 2 60 exe $1 -O2 -fno-omit-frame-pointer -fno-pie -no-pie"
	lld=
	[ "$1" = gcc ] || lld=-fuse-ld=lld
	for level in 1 2 3 s; do
		echo "$1-O$level-lto - c 2 60 exe $1 -O$level -flto $lld"
	done
	for how in lib link id mini; do
		echo "$1-O2-$how - c 2 60 $how $1 -O2 -g"
	done
	echo "$1-O0-lib - c 2 60 lib $1 -O0"
	echo "$1-O3-lib-fp - c 2 60 lib $1 -O3 -fno-omit-frame-pointer"
	echo "$1-avx2 - c 2 60 exe $1 -O2 -mavx2"
	echo "$1-cet - c 2 60 exe $1 -O2 -fcf-protection=full"
	echo "$1-no-cet - c 2 60 exe $1 -O2 -fcf-protection=none"
	echo "$1-canaries - c 2 60 exe $1 -O2 -fstack-protector-all"
	echo "$1-patchable-5 - c 2 60 exe $1 -O2 -fpatchable-function-entry=5"
	echo "$1-patchable-5-5 - c 2 60 exe $1 -O2 -fpatchable-function-entry=10,5"
	echo "$1-fentry - c 2 60 exe $1 -O2 -pg -mfentry"
	echo "$1-no-tables - c 2 60 exe $1 -O2 -fno-asynchronous-unwind-tables -fno-exceptions"
	echo "$1-large - c 2 60 exe $1 -O2 -mcmodel=large -fno-pie -no-pie"
	echo "$1-instrument - c 2 60 exe $1 -O1 -finstrument-functions"
	echo "$1-sections - c 2 60 exe $1 -O2 -ffunction-sections -Wl,--gc-sections -Wl,-z,now"
	echo "$1-lld - c 2 60 exe $1 -O2 -fuse-ld=lld -Wl,--icf=all -ffunction-sections"
	echo "$1-mold - c 2 60 exe $1 -O2 -fuse-ld=mold"
}

of_gcc()
{
	echo "gcc-O3-lto-nopie s c 2 60 exe gcc -O3 -flto -fno-pie -no-pie"
	echo "gcc-Os-link s c 2 60 link gcc -Os -g"
	echo "gcc-O1-lib-fp s c 2 60 lib gcc -O1 -fno-omit-frame-pointer"
	echo "gcc-pg - c 2 60 exe gcc -O2 -pg"
	echo "gcc-Og - c 2 60 exe gcc -Og"
	echo "gcc-packed s c 2 60 exe gcc -O2 -falign-functions=1 -fcf-protection=none"
	echo "gcc-patchable-2 - c 2 60 exe gcc -O2 -fpatchable-function-entry=2"
	echo "gcc-patchable-5-3 s c 2 60 exe gcc -O2 -fpatchable-function-entry=8,3"
	echo "gcc-nop-mcount - c 2 60 exe gcc -O2 -pg -mfentry -mnop-mcount -fno-pie -no-pie"
	echo "gcc-hotpatch - c 2 60 exe gcc -O2 -falign-functions=16 -mno-red-zone"
	echo "gcc-retpoline - c 2 60 exe gcc -O2 -fcf-protection=none -mindirect-branch=thunk -mfunction-return=thunk"
	echo "gcc-avx512 - c 2 60 exe gcc -O3 -mavx512f -mprefer-vector-width=512 -ffp-contract=off"
	echo "gcc-no-ipa-ra - c 2 60 exe gcc -O2 -fno-ipa-ra"
	echo "gcc-clones - c 2 60 exe gcc -O3 -fipa-cp-clone -fno-semantic-interposition -fno-inline-small-functions"
	echo "gcc-gold - c 2 60 exe gcc -O2 -fuse-ld=gold"
}

others()
{
	for level in 0 1 2 3 s; do
		in_sample=-
		[ $level != 2 ] || in_sample=s
		for compiler in g++ clang++; do
			echo "$compiler-O$level $in_sample c++ 3 0 exe $compiler -O$level"
			echo "$compiler-O$level-fp - c++ 3 0 exe $compiler -O$level -fno-omit-frame-pointer"
		done
		echo "gfortran-O$level $in_sample fortran 4 0 exe gfortran -O$level -fno-inline"
		echo "gfortran-O$level-fp - fortran 4 0 exe gfortran -O$level -fno-inline -fno-omit-frame-pointer"
		echo "rustc-O$level $in_sample rust 1 0 exe rustc -C opt-level=$level"
		echo "rustc-O$level-fp - rust 1 0 exe rustc -C opt-level=$level -C force-frame-pointers=yes"
	done
	echo "g++-O0-lib - c++ 3 0 lib g++ -O0"
	echo "g++-O2-lto - c++ 1 0 exe g++ -O2 -flto"
	echo "g++-O3-nopie - c++ 3 0 exe g++ -O3 -fno-pie -no-pie"
	echo "g++-O2-link - c++ 3 0 link g++ -O2 -g"
	echo "clang++-O2-lto - c++ 1 0 exe clang++ -O2 -flto -fuse-ld=lld"
	echo "clang++-O3-nopie - c++ 3 0 exe clang++ -O3 -fno-pie -no-pie"
	echo "clang++-O1-lib - c++ 3 0 lib clang++ -O1"
	echo "gfortran-O2-lto - fortran 1 0 exe gfortran -O2 -fno-inline -flto"
	echo "gfortran-O3-nopie - fortran 4 0 exe gfortran -O3 -fno-inline -fno-pie -no-pie"
	echo "gfortran-O2-id - fortran 4 0 id gfortran -O2 -fno-inline -g"
	echo "rustc-lto - rust 1 0 exe rustc -C opt-level=3 -C lto=fat"
	echo "rustc-many - rust 3 0 exe rustc -C opt-level=3 -C codegen-units=16"
}

variants()
{
	of_c gcc
	of_c clang
	of_gcc
	others
}
