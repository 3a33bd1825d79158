#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI_* rules and Fortran programs: mpif.h, mpi, mpi_f08 of both MPIs have the same regions as C,
# and each call counts once. PMPI tools work on either side, and have each call too.
. "${0%/*}/lib.sh"
. "$E2E/mpi.sh"

check_fortran()
{
	for binding in mpif mpi f08; do
		if [ ! -x "$TARGETS/mpi-ring-$binding.$mpi" ]; then
			continue
		fi
		profile 'MPI_*' -- "mpirun.$mpi" -n 2 "$TARGETS/mpi-ring-$binding.$mpi"
		check_ring 2
		expect_line out '^2 ranks, sum 1$'
		h5 profiling_data.h5 'all(s.decode().lower().startswith("mpi_sendrecv") for s in file["rank0/regions/MPI_Sendrecv/symbols"][:])'
	done
	# A rule in Fortran's spelling, one on a very symbol, and the profiling interface by name.
	profile 'MPI_SENDRECV' '!MPI_INIT' 'MPI_INIT*' mpi_allreduce_ 'PMPI_*' 'MPI_F*' -- \
		"mpirun.$mpi" -n 2 "$TARGETS/mpi-ring-mpi.$mpi"
	expect_status 0
	h5 profiling_data.h5 'calls("MPI_Sendrecv", 0) == 20' 'calls("mpi_allreduce_", 1) == 1' \
		'calls("MPI_Finalize", 1) == 1' '"MPI_Init" not in tags(0)'
	rm profiling_data.h5
}

# The tool before us and after us, in C and in Fortran (whose bindings of MPICH call it).
check_tool()
{
	tool=$TARGETS/mpi-tool.$mpi
	for order in "$tool:$PRELOAD" "$PRELOAD:$tool"; do
		run_into out err env LD_PRELOAD="$order" CALLMARK_SYMBOLS='MPI_*' timeout 60 \
			"mpirun.$mpi" -n 2 "$TARGETS/mpi-ring.$mpi" 20
		check_ring 2
		expect_line out '^tool: 21 MPI_Comm_rank, 1 MPI_Allreduce$'
		rm profiling_data.h5
	done
	run_into bare.out bare.err env LD_PRELOAD="$tool" timeout 60 \
		"mpirun.$mpi" -n 2 "$TARGETS/mpi-ring-mpi.$mpi"
	run_into out err env LD_PRELOAD="$tool:$PRELOAD" CALLMARK_SYMBOLS='MPI_*' timeout 60 \
		"mpirun.$mpi" -n 2 "$TARGETS/mpi-ring-mpi.$mpi"
	check_ring 2
	sort bare.out >bare.sorted
	sort out | cmp - bare.sorted || fail "the tool counts otherwise than without us"
	rm profiling_data.h5
}

for_each_mpi check_fortran
for_each_mpi check_tool
