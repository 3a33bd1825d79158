#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program with LIKWID markers of its own: one initialisation, one end, both sets of regions, and
# its own regions count what they count without us. On simulated counters.
. "${0%/*}/lib.sh"
. "${0%/*}/sim.sh"
. "${0%/*}/counters.sh"

[ -x "$TARGETS/mark-own" ] || skip "no likwid-marker.h: mark-own was not built"

# own GROUPS..: here the bare run is one with likwid-perfctr.
own()
{
	for group; do
		set -- "$@" -g "$group"
		shift
	done
	run_into bare.out bare.err likwid-perfctr -o bare.csv -C $cpus "$@" -m \
		"$TARGETS/mark-own" 20
	bare_status=$status
	expect_status 6
	sim_reset
	run_into out err likwid-perfctr -o table.csv -C $cpus "$@" -m \
		"$CALLMARK" run -s callee_add -s callee_call -- "$TARGETS/mark-own" 20
	expect_invisible
}

# The counts of a region in LIKWID's own table.
calls_of()
{
	awk -F , -v region="TABLE,Region $2," '
		index($0, region) {here = 1}
		here && /^call count/ {print $2; exit}' "$1"
}

shared()
{
	own FLOPS_DP
	likwid profiling_data.h5 'calls("callee_add") == 41' 'calls("callee_call") == 20' \
		'counted_tags() == ["below", "callee_add", "callee_call", "own"]' \
		'sources() == {"full_api"}' 'skipped() == 0' \
		'counted("own") == 20' 'reads("own", registered=[1]) == 20 * 5' \
		'counted("below") == 20 == reads("below")' \
		'counted("callee_call") == 20' 'reads("callee_call", registered=[1]) == 20 * 3' \
		'counted("callee_add") == 41 == reads("callee_add")' \
		'tags() == ["callee_add", "callee_call"]'
	for region in own below; do
		[ "$(calls_of bare.csv $region)" = 20 ] || fail "bare: $region"
		[ "$(calls_of table.csv $region)" = 20 ] || fail "LIKWID's table: $region"
	done
	[ "$(calls_of table.csv callee_add)" = 41 ] || fail "LIKWID's table: callee_add"
}

# With nothing of ours to count, everything of its own is left to the program.
left_alone()
{
	echo 'callee_* markers=off' >rules
	run_into out err likwid-perfctr -o table.csv -C 0 -g FLOPS_DP -m \
		"$CALLMARK" run -c rules -- "$TARGETS/mark-own" 20
	expect_status 6
	expect_line out '^102$'
	likwid profiling_data.h5 'calls("callee_add") == 41' 'skipped() == 0'
	[ "$(calls_of table.csv own)" = 20 ] || fail "LIKWID's table: own"
	expect_line table.csv "^RETIRED_INSTRUCTIONS,PMC0,$((20 * $(sim_step 192 0)))\$"
}

# No group is switched while a region of the program is open.
two_groups()
{
	own FLOPS_DP BRANCH
	likwid profiling_data.h5 'counted("own") == 20 == counted("below")' \
		'counted("callee_add") == 41' 'counted("callee_call") == 20' 'skipped() == 0' \
		'sources() == {"full_api"}'
}

without_reader()
{
	fake_reader fake-giving-up <<'END'
[ "$1" = --check ] && exec "$reader" "$@"
exit 1
END
	own FLOPS_DP
	likwid profiling_data.h5 'sources() == {"marker_file"}' 'counted("own") == 20' \
		'counted_tags() == ["below", "callee_add", "callee_call", "own"]' \
		'is_near(values("own")[2], 100 * 1192000)'
}

# No marker environment: neither its markers nor ours.
no_environment()
{
	compare 'callee_*' -- "$TARGETS/mark-own" 20
	likwid profiling_data.h5 'calls("callee_add") == 41' 'not has_likwid()' 'skipped() == 0'
}

sim_setup zen3 2
for name in shared left_alone two_groups without_reader no_environment; do
	scenario $name $name
done
finish
