#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reading counters back: callmark-reader crashes, hangs or lies, LIKWID's file is gone or damaged.
# The values are there all the same, and `source` says from where. On simulated counters; a fake
# reader calls the real one for all but its own fault.
. "${0%/*}/lib.sh"
. "${0%/*}/sim.sh"
. "${0%/*}/counters.sh"

# nested SOURCE: whichever rung of the ladder answers, these are the values.
nested()
{
	measure callee_call callee_add -- "$TARGETS/mark" nested 10
	likwid profiling_data.h5 'rows("callee_add") == 30' 'rows("callee_call") == 10' \
		"sources() == {'$1'}" 'counted("callee_add") == 30' 'counted("callee_call") == 10' \
		'all(is_near(value, 30 * step) for value, step in zip(values("callee_add"),
		     (31200000, 26000000, 1192000, 1118000, 1003015, 5095000)))' \
		'is_near(values("callee_call")[2], 70 * 1192000)' \
		"(fallback() == '') == ('$1' == 'full_api')" \
		"len(metric_names('callee_add')) == (5 if '$1' == 'full_api' else 0)"
	[ "$1" = full_api ] || expect_line err '^callmark: counters'
}

crash_before()
{
	fake_reader fake-crash <<'END'
[ "$1" = --check ] && exec "$reader" "$@"
kill -SEGV $$
END
	nested marker_file
	likwid profiling_data.h5 '"signal 11" in fallback()'
}

crash_after()
{
	fake_reader fake-crash-later <<'END'
"$reader" "$@" || exit
[ "$1" = --check ] || kill -SEGV $$
END
	nested full_api
}

fail_after()
{
	fake_reader fake-status <<'END'
"$reader" "$@"
[ "$1" = --check ] || exit 1
END
	nested full_api
}

give_up()
{
	fake_reader fake-giving-up <<'END'
[ "$1" = --check ] && exec "$reader" "$@"
echo "a reason of its own" >&2
exit 1
END
	nested marker_file
	likwid profiling_data.h5 '"a reason of its own" in fallback()'
}

hang()
{
	export CALLMARK_READER_TIMEOUT=2
	fake_reader fake-hanging <<'END'
[ "$1" = --check ] && exec "$reader" "$@"
sleep 50
END
	nested marker_file
	likwid profiling_data.h5 '"within 2 s" in fallback()'
}

garbage()
{
	fake_reader fake-talking <<'END'
[ "$1" = --check ] || head -c 100000 /dev/urandom
exec "$reader" "$@"
END
	nested full_api
}

cut_off()
{
	fake_reader fake-half <<'END'
"$reader" "$@" || exit
[ "$1" = --check ] || { head -c 300 "$2" >"$2.half" && mv "$2.half" "$2"; }
END
	nested marker_file
}

nonsense()
{
	fake_reader fake-nonsense <<'END'
[ "$1" = --check ] && exec "$reader" "$@"
head -c 1000 /dev/urandom >"$2"
END
	nested marker_file
}

# unchecked TEXT: LIKWID is not even loaded into the program.
unchecked()
{
	measure callee_call callee_add -- "$TARGETS/mark" nested 10
	expect_line err "^callmark\[[0-9]+\]: no hardware counters: $1"
	likwid profiling_data.h5 'rows("callee_add") == 30' 'not has_likwid()' 'skipped() == 0' \
		'"no hardware counters" in notes()'
}

check_crash()
{
	fake_reader fake-crash <<'END'
kill -SEGV $$
END
	unchecked 'LIKWID crashed'
}

check_garbage()
{
	fake_reader fake-talking <<'END'
head -c 100000 /dev/urandom | tr '/' '.'
END
	unchecked ''
}

check_hang()
{
	fake_reader fake-hanging <<'END'
sleep 50
END
	unchecked 'LIKWID did not answer'
}

no_reader()
{
	export CALLMARK_READER="$work/no-such-program"
	unchecked 'callmark-reader could not be started'
}

# --- LIKWID's marker file

no_file()
{
	fake_reader fake-removing <<'END'
[ "$1" = --check ] && exec "$reader" "$@"
rm "$LIKWID_FILEPATH"
exec "$reader" "$@"
END
	nested marker_api
}

empty_file()
{
	fake_reader fake-emptying <<'END'
[ "$1" = --check ] && exec "$reader" "$@"
: >"$LIKWID_FILEPATH"
exec "$reader" "$@"
END
	nested marker_api
}

# What is whole is taken from the file, the rest from what the program has noted itself.
truncated_file()
{
	fake_reader fake-truncating <<'END'
[ "$1" = --check ] && exec "$reader" "$@"
head -c -60 "$LIKWID_FILEPATH" >half && cat half >"$LIKWID_FILEPATH"
exit 1
END
	measure callee_call callee_add -- "$TARGETS/mark" nested 10
	likwid profiling_data.h5 'rows("callee_add") == 30' 'counted("callee_add") == 30' \
		'counted("callee_call") == 10' 'sources() == {"marker_file", "marker_api"}' \
		'is_near(values("callee_add")[2], 30 * 1192000)' \
		'is_near(values("callee_call")[2], 70 * 1192000)'
}

# A CPU on which a region never ran stands in LIKWID's file as -1, an event it lost as nan.
nan_and_absent()
{
	cpus=0,1
	fake_reader fake-spoiling <<'END'
[ "$1" = --check ] && exec "$reader" "$@"
awk 'NF == 1 {print; next} NR > 1 && $3 == 0 && $4 == 30 {$7 = "nan"} {print}' \
	"$LIKWID_FILEPATH" >spoilt
cp "$LIKWID_FILEPATH" original
cat spoilt >"$LIKWID_FILEPATH"
exit 1
END
	measure callee_call callee_add -- taskset -c 0 "$TARGETS/mark" nested 10
	expect_line original '^[01] 0 -1 0 '
	likwid profiling_data.h5 'rows("callee_add") == 30' 'cpus("callee_add") == [0]' \
		'sources() == {"marker_file"}' 'list(values("callee_add"))[0] != values("callee_add")[0]' \
		'is_near(values("callee_add")[2], 30 * 1192000)' \
		'is_near(values("callee_call")[2], 70 * 1192000)'
}

absent()
{
	cpus=0,1
	measure callee_call callee_add -- taskset -c 0 "$TARGETS/mark" nested 10
	likwid profiling_data.h5 'reads("callee_add") == 30' 'cpus("callee_add") == [0]' \
		'sources() == {"full_api"}' 'skipped() == 0'
}

sim_setup zen3 2
for name in check_hang crash_before crash_after fail_after give_up hang garbage cut_off nonsense \
	check_crash check_garbage no_reader no_file empty_file truncated_file nan_and_absent absent; do
	scenario $name $name
done
finish
