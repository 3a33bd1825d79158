# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# A FAKE liblikwid for one test (tests/targets/fake-likwid-window.c), for the paths that no real one
# takes; sourced after lib.sh. It counts nothing.
#
#   fake_likwid [WHAT,..]        from here on it is the one that is found, and this goes wrong
#   fake_steps                   what the process that counted has called, in one line
: "${work:?}" "${TARGETS:?}"

fake_likwid()
{
	mkdir -p "$work/fake"
	[ -e "$work/fake/liblikwid.so.5" ] ||
		cp "$TARGETS/libfake-likwid-window.so" "$work/fake/liblikwid.so.5"
	rm -f "$work/fake.log"
	export LD_LIBRARY_PATH="$work/fake" FAKE_LIKWID="${1:-}" FAKE_LIKWID_LOG="$work/fake.log"
}

# Of the last process in the log: the trial's child comes before it.
fake_steps()
{
	awk '{steps[$1] = steps[$1] " " $2; last = $1} END {print substr(steps[last], 2)}' fake.log
}
