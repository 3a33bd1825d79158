#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that abort, are killed, or never call MPI_Finalize leave their own calls and everybody
# else's; a rank that left nothing is listed as missing; MPI and OpenMP together; no warning of
# Open MPI about forks.
. "${0%/*}/lib.sh"
. "$E2E/mpi.sh"

check_endings()
{
	for how in abort kill exit leave; do
		rm -f profiling_data.h5
		run_into out err timeout 60 "$CALLMARK" run -s 'MPI_*' -- \
			"mpirun.$mpi" -n 3 "$TARGETS/mpi-endings.$mpi" $how
		if [ $how = exit ] && [ "$status" = 0 ]; then
			:
		elif [ "$status" = 0 ] || [ "$status" = 124 ]; then
			fail "$mpi $how: exit status $status"
		fi
		expect_clean
		h5 profiling_data.h5 'ranks() == [0, 1, 2]' 'metadata("mpi_size") == 3' \
			'[calls("MPI_Barrier", r) for r in range(3)] == [5] * 3' \
			'list(file.attrs["missing_ranks"]) == []'
	done
	h5 profiling_data.h5 '"MPI_Finalize" not in tags(1)'

	# Each rank by itself: the launcher may kill `callmark run` as well, then it is recovered.
	rm -f profiling_data.h5
	run_into out err launch 3 "$CALLMARK" run -s 'MPI_*' -- "$TARGETS/mpi-endings.$mpi" kill
	i=0
	while [ $i -lt 50 ] && ! complete; do
		i=$((i + 1))
		sleep 0.1
		run_into out err "$CALLMARK" recover
	done
	h5 profiling_data.h5 'ranks() == [0, 1, 2]' \
		'[calls("MPI_Barrier", r) for r in range(3)] == [5] * 3'

	# A rank whose data is lost, as with its node: the others' are there, and it is named.
	rm -f profiling_data.h5
	# shellcheck disable=SC2016 # of the ranks' shells
	profile 'MPI_Barrier' -- "mpirun.$mpi" -n 3 sh -c 'exec env $(
		[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && echo CALLMARK_EXE=nothing || echo A=B
		) "$0"' "$TARGETS/mpi-endings.$mpi"
	expect_status 0
	expect_clean
	h5 profiling_data.h5 'ranks() == [0, 2]' 'list(file.attrs["missing_ranks"]) == [1]'
	run_into out err "$CALLMARK" inspect profiling_data.h5
	expect_status 0
	expect_line out 'missing.*1'
}

complete()
{
	[ -s profiling_data.h5 ] && "$CALLMARK" inspect --json profiling_data.h5 2>/dev/null |
		/usr/bin/python3 -c 'import json, sys; sys.exit(len(json.load(sys.stdin)["ranks"]) != 3)'
}

check_threads()
{
	rm -f profiling_data.h5
	run_into bare.out bare.err launch 2 "$TARGETS/mpi-endings.$mpi" threads
	expect_status 0
	profile 'MPI_*' 'GOMP_parallel' -- "mpirun.$mpi" -n 2 "$TARGETS/mpi-endings.$mpi" threads
	expect_status 0
	cmp bare.err err || fail "another stderr than bare: $(diff bare.err err)"
	h5 profiling_data.h5 '[calls("MPI_Wtime", r) for r in range(2)] == [30, 30]' \
		'[len(set(file["rank%d/regions/MPI_Wtime/threads" % r][:])) for r in range(2)] == [3, 3]' \
		'[calls("GOMP_parallel", r) for r in range(2)] == [1, 1]'
}

for_each_mpi check_endings
for_each_mpi check_threads
