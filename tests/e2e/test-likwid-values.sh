#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What LIKWID counts in every intercepted call, to the last digit: simulated counters move by a
# known step at each read, so nesting, repetition, threads and groups can be worked out.
# Plumbing, not performance.
. "${0%/*}/lib.sh"
. "${0%/*}/sim.sh"
. "${0%/*}/counters.sh"

# A region's own stop is one read, each region within it two more. Where the inner tag was first met
# and so registered, the group's first counter was read once more.
nested()
{
	measure callee_call callee_add -- "$TARGETS/mark" nested 100
	likwid profiling_data.h5 'calls("callee_call") == 100' 'calls("callee_add") == 300' \
		'rows("callee_add") == 300' 'sources() == {"full_api"}' 'fallback() == ""' \
		'counted_tags() == ["callee_add", "callee_call"]' 'skipped() == 0' \
		'counted("callee_call") == 100' 'reads("callee_call", registered=[1]) == 100 * (1 + 3 * 2)' \
		'counted("callee_add") == 300' 'reads("callee_add") == 300' \
		'cpus("callee_call") == cpus("callee_add") == [0]' \
		'is_near(metric("callee_add", "CPI"), 1118 / 1192)' \
		'labels("callee_add")[2] == "RETIRED_INSTRUCTIONS:PMC0"'
	# LIKWID's own time is nobody's: the leaf has none, and the outer region's is told apart.
	h5 profiling_data.h5 'attr("callee_add", "tool_ns") == 0' \
		'attr("callee_call", "tool_ns") > 0' \
		'attr("callee_call", "tool_ns") <= attr("callee_call", "total_ns")' \
		'inside("callee_add", "callee_call")'
	likwid profiling_data.h5 \
		'300 * median("callee_add") < attr("callee_call", "tool_ns") / 10'
}

# One marker at the outermost level: what a function calls of itself is part of it.
recursion()
{
	measure callee_factorial callee_step -- "$TARGETS/mark" recursion 20
	likwid profiling_data.h5 'calls("callee_factorial") == 100' 'calls("callee_step") == 80' \
		'counted("callee_factorial") == 20' 'reads("callee_factorial", registered=[1]) == 20 * 3' \
		'counted("callee_step") == 20' 'reads("callee_step") == 20' 'skipped() == 0'
}

one_recursive_region()
{
	measure 'callee_*' -- "$TARGETS/mark" recursion 20
	likwid profiling_data.h5 'reads("callee_factorial", registered=[1]) == 60' 'reads("callee_step") == 20'
	rm profiling_data.h5
	measure 'callee_* region=all' -- "$TARGETS/mark" recursion 20
	likwid profiling_data.h5 'calls("all") == 180' 'counted("all") == 20' 'reads("all") == 20'
}

pinned()
{
	cpus=0,1
	measure callee_call callee_add -- "$TARGETS/mark" pinned 50
	likwid profiling_data.h5 'calls("callee_add") == 450' 'skipped() == 0' \
		'cpus("callee_add") == [0, 1] == cpus("callee_call")' \
		'[counted("callee_call", cpu) for cpu in (0, 1)] == [50, 100]' \
		'[reads("callee_call", cpu, registered=(0, 1)) for cpu in (0, 1)] == [350, 700]' \
		'[counted("callee_add", cpu) for cpu in (0, 1)] == [150, 300]' \
		'[reads("callee_add", cpu) for cpu in (0, 1)] == [150, 300]' \
		'rows_by_thread("callee_add") == [150, 300]' 'sources() == {"full_api"}'
}

# A region's first calls go through all groups in turn; no call is in two groups or none.
two_groups()
{
	groups='FLOPS_DP BRANCH'
	measure callee_add callee_errno -- "$TARGETS/mark" slow 20
	likwid profiling_data.h5 'counted_tags() == ["callee_add"] * 2 + ["callee_errno"] * 2' \
		'groups("callee_add") == ["BRANCH", "FLOPS_DP"] == groups("callee_errno")' \
		'counted("callee_add") == 20 == counted("callee_errno")' 'skipped() == 0' \
		'all(counted("callee_add", group=g) > 1 for g in (0, 1))' \
		'all(counted("callee_errno", group=g) > 1 for g in (0, 1))' \
		'all(reads("callee_add", group=g) == counted("callee_add", group=g) for g in (0, 1))' \
		'all(reads("callee_errno", group=g) == counted("callee_errno", group=g) for g in (0, 1))' \
		'"Branch rate" in metric_names("callee_add", "BRANCH")' \
		'"CPI" in metric_names("callee_add", "FLOPS_DP")' 'sources() == {"full_api"}' \
		'file["rank0/likwid"].attrs["num_regions"] == 4'
}

# No group is switched under an open region: all that is within it is in its group.
two_groups_nested()
{
	groups='FLOPS_DP BRANCH' cpus=0,1
	measure callee_call callee_add -- "$TARGETS/mark" pinned 50
	likwid profiling_data.h5 'counted("callee_call") == 150' 'counted("callee_add") == 450' \
		'skipped() == 0' 'groups("callee_call") == ["BRANCH", "FLOPS_DP"]' \
		'sum(reads("callee_add", c, g) for c in (0, 1) for g in (0, 1)
		     if counted("callee_add", c, g)) == 450' \
		'all(counted("callee_add", c, g) == 3 * counted("callee_call", c, g)
		     for c in (0, 1) for g in (0, 1))' \
		'all(reads("callee_call", c, g, registered=(0, 1)) == 7 * counted("callee_call", c, g)
		     for c in (0, 1) for g in (0, 1) if counted("callee_call", c, g))'
}

# The same numbers as in LIKWID's own table, from a marker file that we have left alone.
perfctr_table()
{
	bare -- "$TARGETS/mark" nested 10
	bare_status=$status
	run_into out err likwid-perfctr -o table.csv -C 0 -g FLOPS_DP -m \
		"$CALLMARK" run -s 'callee_*' -- "$TARGETS/mark" nested 10
	expect_invisible
	expect_line table.csv '^TABLE,Region callee_add,Group 1 Raw,FLOPS_DP'
	expect_line table.csv '^call count,30,'
	expect_line table.csv "^RETIRED_INSTRUCTIONS,PMC0,$((30 * $(sim_step 192 0)))\$"
	expect_line table.csv "^RETIRED_INSTRUCTIONS,PMC0,$((10 * 7 * $(sim_step 192 0)))\$"
	likwid profiling_data.h5 'reads("callee_add") == 30' 'reads("callee_call", registered=[1]) == 70' \
		'sources() == {"full_api"}'
}

markers_key()
{
	measure 'callee_call markers=off' 'callee_add sample=3' -- "$TARGETS/mark" nested 100
	likwid profiling_data.h5 'counted_tags() == ["callee_add"]' 'counted("callee_add") == 100' \
		'reads("callee_add") == 100' 'calls("callee_add") == 300' \
		'calls("callee_call") == 100' 'rows("callee_add") == 300' 'skipped() == 0'
}

no_markers_wanted()
{
	measure 'callee_* markers=off' -- "$TARGETS/mark" nested 10
	likwid profiling_data.h5 'calls("callee_add") == 30' 'not has_likwid()' 'skipped() == 0'
}

trace_off()
{
	measure 'callee_* trace=off' -- "$TARGETS/mark" nested 10
	likwid profiling_data.h5 'calls("callee_add") == 30' 'rows("callee_add") == 0' \
		'reads("callee_add") == 30' 'reads("callee_call", registered=[1]) == 70'
}

# Everything that the program calls, libc included.
everything()
{
	measure '*' -- "$TARGETS/mark" nested 10
	likwid profiling_data.h5 'reads("callee_add") == 30' 'reads("callee_call", registered=[1]) == 70' \
		'counted("pthread_barrier_init") == 1 == reads("pthread_barrier_init")' 'sources() == {"full_api"}'
}

# Six memory channels count under one name: labels tell them apart, the values are each its own.
memory_channels()
{
	groups=MEM
	measure callee_call callee_add -- "$TARGETS/mark" nested 100
	likwid profiling_data.h5 'sources() == {"full_api"}' 'counted("callee_add") == 300' \
		'labels("callee_add").count("CAS_COUNT_RD:MBOX0C0") == 1' \
		'[label for label in labels("callee_add") if "CAS_COUNT_RD" in label] ==
		 [f"CAS_COUNT_RD:MBOX{i}C0" for i in range(6)]' \
		'dict(zip(labels("callee_add"), values("callee_add")))[
			"CPU_CLK_UNHALTED_CORE:FIXC1"] == 300 * 31200000' \
		'all(is_near(value, 300 * (100000 * device + 4000 + 3)) for value, device
		     in zip(values("callee_add")[3::2], (5, 6, 7, 9, 10, 11)))' \
		'all(is_near(value, 700 * (100000 * device + 4000 + 12)) for value, device
		     in zip(values("callee_call")[4::2], (5, 6, 7, 9, 10, 11)))' \
		'is_near(metric("callee_add", "Memory read data volume [GBytes]"),
			 300 * 64e-9 * sum(100000 * d + 4003 for d in (5, 6, 7, 9, 10, 11)))'
	"$CALLMARK" export profiling_data.h5 --what likwid --format csv >likwid.csv
	expect_line likwid.csv ',CAS_COUNT_RD:MBOX0C0,CAS_COUNT_WR:MBOX0C1,.*,CAS_COUNT_RD:MBOX5C0,'
	expect_line likwid.csv "^0,callee_add,.*,$((300 * 504003)),$((300 * 504012)),"
	"$CALLMARK" inspect profiling_data.h5 >table
	expect_line table "^CAS_COUNT_RD:MBOX5C0 .* $((700 * 1104003)) +$((300 * 1104003))\$"
}

# An event that cannot be counted on that counter is NaN, and nothing else is.
nan_event()
{
	groups=INSTR_RETIRED_ANY:FIXC0,L1D_REPLACEMENT:PMC1,L1D_REPLACEMENT:PMC0
	measure callee_add -- "$TARGETS/mark" nested 10
	likwid profiling_data.h5 'counted("callee_add") == 30' \
		'any(value != value for value in values("callee_add"))' \
		'event("callee_add", "INSTR_RETIRED_ANY") == 30 * 50000000'
}

sim_setup zen3 2
for name in nested recursion one_recursive_region pinned two_groups two_groups_nested \
	perfctr_table markers_key no_markers_wanted trace_off everything; do
	scenario $name $name
done
sim_setup skx 2
scenario memory_channels memory_channels
scenario nan_event nan_event
finish
