#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `inspect` over several ranks: exact numbers of files that h5py made, and a real MPI run whose
# numbers are worked out from the file in Python.
. "${0%/*}/lib.sh"
. "${0%/*}/mpi.sh"

/usr/bin/python3 "$E2E/inspect_ranks.py" "$CALLMARK" || fail "see above"

# Which rank is slowest is not known beforehand: the file says it.
check_mpi()
{
	rm -f profiling_data.h5
	profile 'MPI_*' -- timeout 60 "mpirun.$mpi" -n 4 "$TARGETS/mpi-ring.$mpi" 20
	expect_status 0
	run_into out err "$CALLMARK" inspect profiling_data.h5
	expect_status 0
	[ ! -s err ] || fail "something on stderr"
	expect_line out '^over 4 ranks: 6 regions'
	expect_line out '^region +calls +mean +min +max +slowest +imbalance +lost$'
	# 4 * 21 + 0 + 1 + 2 + 3 calls.
	expect_line out '^MPI_Comm_rank +90 '
	expect_line out '^MPI_Sendrecv +80 '
	expect_line out '^started within '
	! grep -q '^rank [0-9]' out || fail "each rank is shown without --per-rank"
	/usr/bin/python3 "$E2E/inspect_ranks.py" "$CALLMARK" profiling_data.h5 || fail "see above"
	run_into out err "$CALLMARK" inspect --per-rank profiling_data.h5
	expect_status 0
	[ "$(grep -c '^rank [0-9]: 6 regions' out)" = 4 ] || fail "not all ranks are shown"
}
for_each_mpi check_mpi
