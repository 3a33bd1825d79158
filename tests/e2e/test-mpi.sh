#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI and MPICH, MPI_*: one file with all ranks and exact counts, whoever starts whom; the
# launchers record nothing; one file a rank by name; links with --shards; merge.
. "${0%/*}/lib.sh"
. "$E2E/mpi.sh"

check_both()
{
	run_into bare.out bare.err launch 4 "$TARGETS/mpi-ring.$mpi" 20
	expect_status 0
	expect_line bare.out '^4 ranks, sum 6$'

	# The launcher starts `callmark run` on every rank.
	run_into out err launch 4 "$CALLMARK" run -s 'MPI_*' -- "$TARGETS/mpi-ring.$mpi" 20
	check_ring 4
	cmp bare.out out || fail "another output than bare"
	cmp bare.err err || fail "another stderr than bare"
	rm profiling_data.h5

	# `callmark run` starts the launcher; rules that it would match itself do not matter.
	profile 'MPI_*' '!mem*' 'getenv' -- "mpirun.$mpi" -n 4 "$TARGETS/mpi-ring.$mpi" 20
	expect_status 0
	h5 profiling_data.h5 'ranks() == [0, 1, 2, 3]' \
		'all("mpi-ring" in rank_attr("executable", r) for r in range(4))'
	files=$(find . -maxdepth 1 -name '*.h5' | wc -l)
	[ "$files" = 1 ] || fail "the launcher was profiled: $(echo ./*.h5)"
	profile 'MPI_*' -- "mpirun.$mpi" -n 16 "$TARGETS/mpi-ring.$mpi" 20
	check_ring 16

	# A second run replaces the file of the first: no rank of it is left.
	profile 'MPI_*' -- "mpirun.$mpi" -n 2 "$TARGETS/mpi-ring.$mpi" 5
	expect_status 0
	h5 profiling_data.h5 'ranks() == [0, 1]' \
		'[calls("MPI_Sendrecv", r) for r in range(2)] == [5, 5]'
	rm profiling_data.h5

	# Nothing but an exported preload.
	run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS='MPI_*' timeout 60 \
		"mpirun.$mpi" -n 3 "$TARGETS/mpi-ring.$mpi" 20
	check_ring 3
	rm profiling_data.h5

	# One file a rank, by name; merged by hand.
	run_options="-o rank%r.h5"
	profile 'MPI_Send*' -- "mpirun.$mpi" -n 3 "$TARGETS/mpi-ring.$mpi" 5
	expect_status 0
	for rank in 0 1 2; do
		h5 "rank$rank.h5" "ranks() == [$rank]" "calls('MPI_Sendrecv') == 5"
	done
	run_into out err "$CALLMARK" merge -o all.h5 rank2.h5 rank0.h5 rank1.h5
	expect_status 0
	h5 all.h5 'ranks() == [0, 1, 2]' "[calls('MPI_Sendrecv', r) for r in range(3)] == [5] * 3"
	run_into out err "$CALLMARK" merge -o more.h5 rank0.h5 all.h5
	expect_status 1
	expect_line err '^callmark: rank 0 is in rank0.h5 and in all.h5: .*--renumber$'
	expect_no_file more.h5
	rm rank?.h5 all.h5

	# Links on request, made one file afterwards.
	run_options="--shards"
	profile 'MPI_*' -- "mpirun.$mpi" -n 3 "$TARGETS/mpi-ring.$mpi" 20
	run_options=
	expect_status 0
	h5 profiling_data.h5 'ranks() == [0, 1, 2]' \
		'file.get("rank0", getlink=True).__class__.__name__ == "ExternalLink"'
	run_into out err "$CALLMARK" merge -o profiling_data.h5 profiling_data.h5
	check_ring 3
	rm profiling_data.h5
}

for_each_mpi check_both
