#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# LIKWID in somebody else's process: its children, its daemon, its descriptors, and environments in
# which it does not work. Whatever happens, the program behaves as in its bare run, its calls are
# timed, and `source` says where counters are from. On simulated counters.
. "${0%/*}/lib.sh"
. "${0%/*}/sim.sh"
. "${0%/*}/counters.sh"

# LIKWID's probes are forked and exit: no handler of the program's runs in them, nothing that the
# program has not yet written is written twice.
probe_children()
{
	measure callee_add -- "$TARGETS/mark-process" end 10
	expect_line out '^atexit handler$'
	[ "$(wc -l <out)" = 3 ] || fail "not three lines"
	likwid profiling_data.h5 'reads("callee_add") == 10' 'sources() == {"full_api"}'
}

late_probe_children()
{
	measure plugin_work -- "$TARGETS/mark-process" load 10 "$TARGETS/libplugin.so"
	[ "$(wc -l <out)" = 2 ] || fail "not two lines"
	likwid profiling_data.h5 'counted("plugin_work") == 1 == reads("plugin_work")' \
		'sources() == {"full_api"}'
}

# The daemon is nobody's child.
no_children()
{
	measure callee_add -- "$TARGETS/mark-process" wait 10
	expect_line out '^0 children, then No child processes$'
	likwid profiling_data.h5 'reads("callee_add") == 10' 'rows("callee_add") == 10'
}

no_child_signals()
{
	measure callee_add -- "$TARGETS/sigchld" 10
	likwid profiling_data.h5 'reads("callee_add") == 10'
	rm profiling_data.h5
	measure callee_add -- "$TARGETS/sigchld" 10 ignore
	likwid profiling_data.h5 'reads("callee_add") == 10' 'sources() == {"full_api"}'
}

# What was counted before is in the snapshots; what a dead daemon has made doubtful is not.
killed_daemon()
{
	measure callee_add callee_errno -- "$TARGETS/mark-process" kill 10
	likwid profiling_data.h5 'rows("callee_add") == 10 == rows("callee_errno")' \
		'skipped("daemon") == 10 == skipped()' 'sources() == {"marker_api"}' \
		'counted_tags() == ["callee_add"]' 'counted("callee_add") == 10' \
		'is_near(values("callee_add")[2], 10 * 1192000)' '"daemon" in fallback()'
	expect_line err 'callmark\[[0-9]+\]: no LIKWID marker for 10 calls: the access daemon'
}

killed_daemon_two_cpus()
{
	cpus=0,1
	measure callee_add callee_errno -- "$TARGETS/mark-process" kill 10
	likwid profiling_data.h5 'rows("callee_add") == 10 == rows("callee_errno")' \
		'sources() <= {"marker_api"}' 'skipped() >= 10' '"daemon" in fallback()'
}

# descriptors SHIFT: the program has taken LIKWID's numbers for files, sockets and pipes.
descriptors()
{
	mkdir own
	measure callee_add callee_errno -- "$TARGETS/mark-descriptors" own 10 "$1"
	likwid profiling_data.h5 'rows("callee_add") == 10 == rows("callee_errno")' \
		'skipped("daemon") == 10 == skipped()' 'sources() == {"marker_api"}' \
		'counted_tags() == ["callee_add"]' 'counted("callee_add") == 10'
}

low_descriptors()
{
	# shellcheck disable=SC3045 # dash and bash have it
	ulimit -n 300
	descriptors "$1"
}

# A forked child has no markers and its own file; the parent's are as if it had none.
# forked HOW
forked()
{
	measure callee_add -- "$TARGETS/mark-process" "$1" 10
	expect_line out '^child: '
	likwid profiling_data.h5 'calls("callee_add") == 20' 'reads("callee_add") == 20' \
		'sources() == {"full_api"}' 'skipped() == 0'
	likwid profiling_data.mark-process-*.h5 'calls("callee_add") == 20' 'not has_likwid()' \
		'rows("callee_add") == 20' 'skipped() == 0'
}

# The program that a child executes has none either: LIKWID's file has one name.
# executed HOW
executed()
{
	measure callee_add -- "$TARGETS/forks" "$1" 10 "$TARGETS/calls-lazy" 7
	likwid profiling_data.h5 'calls("callee_add") == 20' 'reads("callee_add") == 20' \
		'sources() == {"full_api"}'
	likwid profiling_data.calls-lazy-*.h5 'calls("callee_add") == 7' 'not has_likwid()' \
		'"has the markers" in notes()'
}

# One that replaces the program opens its own: LIKWID knows of no call before that.
replaced()
{
	measure callee_add -- "$TARGETS/forks" replace 10 "$TARGETS/calls-lazy" 7
	likwid profiling_data.h5 'calls("callee_add") == 7 == reads("callee_add")' \
		'sources() == {"full_api"}'
	likwid profiling_data.forks-*.h5 'calls("callee_add") == 10' 'not has_likwid()' \
		'"before its markers were closed" in notes()'
}

# LIKWID looks for its daemon with a shell, liblikwidpin starts one with nm and grep for every thread:
# they are not the program's, and nobody wants them profiled.
helpers()
{
	cpus=0,1
	measure '*' '!pthread_*' -- "$TARGETS/mark" pinned 5
	# Other marked calls of the main thread may hold a CPU meanwhile.
	likwid profiling_data.h5 'calls("callee_add") == 45' 'sources() == {"full_api"}' \
		'45 - skipped("busy") <= counted("callee_add") <= 45'
	files=$(echo ./*.h5)
	[ "$files" = ./profiling_data.h5 ] || fail "more files: $files"
}

script()
{
	measure callee_add -- sh -c "'$TARGETS/calls-lazy' 5; '$TARGETS/calls-now' 6; exit 9"
	for file in ./*.h5; do
		likwid "$file" 'calls("callee_add") in (5, 6)'
	done
}

cleared_environment()
{
	measure callee_add -- "$TARGETS/mark-process" clear 10
	likwid profiling_data.h5 'reads("callee_add") == 10' 'sources() == {"full_api"}' \
		'as_text(file["rank0/likwid"].attrs["LIKWID_THREADS"]) == "0"'
}

# ending HOW: LIKWID writes its file before the process is gone.
ending()
{
	measure callee_add -- "$TARGETS/endings" 10 "$1"
	likwid profiling_data.h5 'rows("callee_add") == calls("callee_add") >= 10' \
		'reads("callee_add") + skipped("late") == calls("callee_add")' \
		'sources() == {"full_api"}'
}

# killed HOW: there was nobody to write LIKWID's file.
killed()
{
	measure callee_add callee_call -- "$TARGETS/endings" 10 "$1"
	likwid profiling_data.h5 'rows("callee_add") == 10' 'sources() == set()' \
		'"before its markers were closed" in notes()'
}

# refused TEXT: no counters, and one line that says why; everything else as ever.
refused()
{
	expect_line err "^callmark\[[0-9]+\]: no hardware counters: .*$1"
	[ "$(grep -c 'no hardware counters' err)" = 1 ] || fail "said more than once"
	likwid profiling_data.h5 'rows("callee_add") == 30' 'rows("callee_call") == 10' \
		'not has_likwid()' 'skipped() == 0' '"no hardware counters" in notes()'
}

no_daemon()
{
	rm "$sim/likwid-accessD"
	PATH=$sim:/usr/bin:/bin
	by_hand callee_add callee_call -- "$TARGETS/mark" nested 10
	refused 'no access to the counters'
}

unsupported()
{
	by_hand callee_add callee_call -- "$TARGETS/mark" nested 10
	refused ''
}

# half_set NAME: three of the four variables are not enough.
half_set()
{
	bare -- "$TARGETS/mark" nested 10
	bare_status=$status
	export LIKWID_MODE=1 LIKWID_EVENTS=FLOPS_DP LIKWID_THREADS=0 LIKWID_FILEPATH="$work/markers"
	unset "$1"
	profile callee_add callee_call -- "$TARGETS/mark" nested 10
	expect_invisible
	refused "$1 is not"
}

unknown_group()
{
	groups=NO_SUCH_GROUP
	by_hand callee_add callee_call -- "$TARGETS/mark" nested 10
	refused 'NO_SUCH_GROUP'
}

no_such_cpu()
{
	cpus=0,77
	by_hand callee_add callee_call -- "$TARGETS/mark" nested 10
	refused '77'
}

# From here on CALLMARK runs where a liblikwid.so.5 that is none comes before the real one, and no
# likwid-perfctr is in reach.
hide_likwid()
{
	mkdir tools broken
	for tool in bash sh which env tr head cat; do
		ln -s "$(command -v $tool)" tools
	done
	echo none | tee broken/liblikwid.so.5 >broken/liblikwid.so
	cat >run-without-likwid <<END
#!/bin/sh
export PATH='$sim:$work/tools' LD_LIBRARY_PATH='$work/broken'
exec '$CALLMARK' "\$@"
END
	chmod +x run-without-likwid
	CALLMARK=$work/run-without-likwid
}

missing()
{
	hide_likwid
	by_hand callee_add callee_call -- "$TARGETS/mark" nested 10
	refused 'liblikwid'
}

only_home()
{
	mkdir -p home/lib
	library=$(find -L "$(dirname "$(command -v likwid-perfctr)")/../lib" -maxdepth 2 \
		-name liblikwid.so.5 | head -n 1)
	[ -n "$library" ] || skip "no liblikwid.so.5 below the prefix of likwid-perfctr"
	ln -s "$library" home/lib/liblikwid.so.5
	hide_likwid
	export LIKWID_HOME="$work/home"
	by_hand callee_add callee_call -- "$(command -v taskset)" -c 0 "$TARGETS/mark" nested 10
	likwid profiling_data.h5 'reads("callee_add") == 30' 'counted("callee_call") == 10' \
		'sources() == {"full_api"}' \
		'as_text(file["rank0/likwid"].attrs["LIKWID_HOME"]).endswith("/home")'
}

sim_setup zen3 2
for name in probe_children late_probe_children no_children no_child_signals killed_daemon \
	killed_daemon_two_cpus helpers replaced script cleared_environment no_daemon unknown_group \
	no_such_cpu missing only_home; do
	scenario $name $name
done
for shift in 0 1 2; do
	scenario descriptors_$shift descriptors $shift
	scenario low_descriptors_$shift low_descriptors $shift
done
scenario forked_exit forked exit
scenario forked__exit forked _exit
scenario executed_fork executed exec
scenario executed_vfork executed vfork
for how in exit _exit quick_exit thread atexit; do
	scenario ending_$how ending $how
done
for how in segv kill open; do
	scenario killed_$how killed $how
done
for name in MODE EVENTS THREADS FILEPATH; do
	scenario half_$name half_set LIKWID_$name
done
sim_setup unsupported 2
scenario unsupported unsupported
finish
