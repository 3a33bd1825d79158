#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls that are hard to count: threads where LIKWID cannot count them, calls that are left by
# another way than their return, handlers that interrupt LIKWID, tags that LIKWID cannot write,
# registers that must survive. On simulated counters.
. "${0%/*}/lib.sh"
. "${0%/*}/sim.sh"
. "${0%/*}/counters.sh"

# --- threads and CPUs

# The thread on CPU 1 is not counted, but timed.
unlisted()
{
	measure callee_call callee_add -- "$TARGETS/mark" pinned 10
	likwid profiling_data.h5 'calls("callee_call") == 30' 'rows("callee_add") == 90' \
		'counted("callee_call") == 10' 'reads("callee_add") == 30' \
		'skipped("unlisted") == 20 + 60 == skipped()' 'sources() == {"full_api"}'
}

moving()
{
	cpus=0,1
	measure callee_call -- "$TARGETS/mark" moving 20
	likwid profiling_data.h5 'rows("callee_call") == 40' 'skipped("migrated") == 20 == skipped()' \
		'counted("callee_call", 0) == 20 == reads("callee_call")' \
		'counted("callee_call") == 20' 'sources() == {"full_api"}'
}

# One holder at a time: a call is counted, or skipped because another thread was.
crowd()
{
	measure callee_call callee_add -- "$TARGETS/mark" crowd 50
	likwid profiling_data.h5 'rows("callee_call") == 400' 'rows("callee_add") == 1200' \
		'skipped() == skipped("busy")' 'sources() == {"full_api"}' \
		'counted("callee_call") + counted("callee_add") + skipped() == 1600' \
		'counted("callee_call") >= 50' 'reads("callee_add") == counted("callee_add")' \
		'len(rows_by_thread("callee_call")) == 8'
}

# --- other ways out of a call

thrown()
{
	measure callee_call -- "$TARGETS/throw" 20
	likwid profiling_data.h5 'calls("callee_call") == 60' 'attr("callee_call", "unwound") == 40' \
		'counted("callee_call") == 40 == reads("callee_call")' 'skipped() == 0'
}

leapt()
{
	measure callee_call callee_leap callee_add -- "$TARGETS/leap" 20
	likwid profiling_data.h5 'calls("callee_call") == 20' 'calls("callee_add") == 20' \
		'counted("callee_add") == 20 == reads("callee_add")' 'sources() == {"full_api"}' \
		'counted("callee_call") == 20 == counted("callee_leap")' 'skipped() == 0'
}

leapt_from_handler()
{
	measure callee_call callee_factorial callee_add -- "$TARGETS/signals" 20 leap
	likwid profiling_data.h5 'calls("callee_call") == 20' 'reads("callee_add") == 20' \
		'counted("callee_add") == 20' 'counted("callee_factorial") == 20' 'skipped() == 0'
}

thread_exit()
{
	measure callee_call -- "$TARGETS/mark" exit 10
	likwid profiling_data.h5 'calls("callee_call") == 20' 'sources() == {"full_api"}' \
		'counted("callee_call") == 20 == reads("callee_call")' 'skipped() == 0'
}

cancelled()
{
	measure callee_wait callee_add -- "$TARGETS/threads" 1 10 cancel
	likwid profiling_data.h5 'calls("callee_add") == 10' 'reads("callee_add") == 10' \
		'calls("callee_wait") == 1' 'sources() == {"full_api"}'
}

# alarm WHICH: a handler interrupts whatever there is, LIKWID and malloc included.
alarm()
{
	bare -- "$TARGETS/mark-alarm" "$1" 600 counts
	bare_status=$status
	run_options="-g $groups -C $cpus"
	profile 'callee_add trace=off' callee_factorial callee_step 'malloc trace=off' \
		'free trace=off' -- "$TARGETS/mark-alarm" "$1" 600 counts
	expect_invisible
	read -r n_add n_factorial <counts
	# Both functions of a recursion once; but not for an add that the handler interrupted.
	likwid profiling_data.h5 "calls('callee_add') == $n_add" \
		"calls('callee_factorial') + calls('callee_step') == 5 * $n_factorial / 3" \
		"counted('callee_factorial') == $n_factorial / 3 == counted('callee_step')" \
		"counted('callee_add') == $n_add" 'skipped() == 0' 'sources() == {"full_api"}'
}

# --- tags

# Long ones are shortened for LIKWID only; each keeps its own counters and its real name.
long_tags()
{
	long=$(printf '%0200d' 0)
	measure "callee_add region=$long" "callee_call region=${long}1" -- "$TARGETS/mark" nested 10
	likwid profiling_data.h5 "counted_tags() == ['$long', '${long}1']" \
		"reads('$long') == 30 == calls('$long')" "reads('${long}1', registered=[1]) == 70" \
		'sources() == {"full_api"}' 'skipped() == 0'
	rm profiling_data.h5
	fake_reader fake-giving-up <<'END'
[ "$1" = --check ] && exec "$reader" "$@"
exit 1
END
	measure "callee_add region=$long" "callee_call region=${long}1" -- "$TARGETS/mark" nested 10
	likwid profiling_data.h5 "counted_tags() == ['$long', '${long}1']" \
		"is_near(values('$long')[2], 30 * 1192000)" 'sources() == {"marker_file"}'
}

odd_tags()
{
	measure 'callee_add region=a/b/{symbol}' 'callee_call region="Größe: 3 µm | -1 {lib}"' \
		-- "$TARGETS/mark" nested 10
	likwid profiling_data.h5 \
		'counted_tags() == ["Größe: 3 µm | -1 libcallee.so", "a/b/callee_add"]' \
		'reads("a/b/callee_add") == 30' 'sources() == {"full_api"}' \
		'reads("Größe: 3 µm | -1 libcallee.so", registered=[1]) == 70'
}

newline_tag()
{
	odd="new
line.so"
	cp "$TARGETS/libplugin.so" "$odd"
	cp "$TARGETS/libcallee.so" .
	measure 'plugin_work region={lib}' callee_add -- "$TARGETS/plugin-host" "$work/$odd" 10
	likwid profiling_data.h5 'counted("new\nline.so") == 1' 'reads("callee_add") == 10' \
		'reads("new\nline.so", registered=(0, 1)) == 21' 'sources() == {"full_api"}'
}

many_tags()
{
	measure 'callee_* region=x' '* region={symbol}' -- "$TARGETS/abi" 5
	likwid profiling_data.h5 'counted("x") > 5' 'sources() == {"full_api"}'
}

# --- what a program must not notice

# Nothing is marked before the library is loaded; then everything in it.
late()
{
	measure callee_add -- "$TARGETS/plugin-host" "$TARGETS/libplugin.so" 10
	likwid profiling_data.h5 'reads("callee_add") == 10' 'rows("callee_add") == 10' \
		'sources() == {"full_api"}'
}

# wide PREFIX: how libc handles a tag, and with which registers, depends on its length.
wide()
{
	measure "wide_* region=$1{symbol}" -- "$TARGETS/mark-wide" 20
	expect_line out '^0 wrong$'
	likwid profiling_data.h5 "counted('$1wide_nothing') == 80 == calls('$1wide_nothing')" \
		"counted('$1wide_half') == calls('$1wide_half')" 'skipped() == 0' \
		"len(groups('$1wide_half')) == $(echo "$groups" | wc -w)"
}

wide_rotating()
{
	groups='FLOPS_DP BRANCH'
	wide vector/registers/of/the/widest/
}

conventions()
{
	measure 'callee_*' -- "$TARGETS/abi" 20
	likwid profiling_data.h5 'counted("callee_sixty") == 20 == reads("callee_sixty")'
}

sim_setup zen3 2
scenario alarm_REAL alarm REAL
scenario alarm_PROF alarm PROF
for name in unlisted moving crowd thrown leapt leapt_from_handler thread_exit cancelled long_tags \
	odd_tags newline_tag many_tags late wide_rotating conventions; do
	scenario $name $name
done
scenario wide_short wide ''
scenario wide_medium wide vector/registers/
scenario wide_long wide vector/registers/that/must/survive/whatever/is/done/with/a/long/tag/
finish
