#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Install what is missing, build, and run every check and test. The last line is
# "N passed, N failed"; exit status 1 when something failed. With CI=true warnings are errors.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
build=$top/build
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0

finish()
{
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
	exit
}

# check NAME COMMAND..: one line when it passes, its output when it does not.
check()
{
	name=$1
	shift
	if "$@" >"$log" 2>&1 </dev/null; then
		passed=$((passed + 1))
		echo "ok    $name"
		grep '^note:' "$log" | sed 's/^/      /'
		return 0
	fi
	failed=$((failed + 1))
	echo "FAIL  $name"
	grep -v '^\[[0-9]*/[0-9]*\] [CLG]' "$log" | tail -n 60 | sed 's/^/      /'
	return 1
}

# configure FOLDER OPTION..: makes the build folder, or changes the one that is there.
configure()
{
	folder=$1
	shift
	if [ -f "$folder/build.ninja" ]; then
		meson configure "$folder" "$@"
	else
		meson setup "$folder" "$@"
	fi
}

# Run the tests of a build folder; a line for each, and into the counts.
run_tests()
{
	folder=$1 title=$2
	shift 2
	rm -f "$folder/meson-logs/testlog.json"
	meson test -C "$folder" "$@" >"$log" 2>&1 </dev/null
	if [ ! -s "$folder/meson-logs/testlog.json" ]; then
		echo "FAIL  $title"
		tail -n 30 "$log" | sed 's/^/      /'
		failed=$((failed + 1))
		return
	fi
	# One line a test, then two numbers for us.
	/usr/bin/python3 scripts/test_summary.py "$title" "$folder/meson-logs/testlog.json" "$log"
	read -r tests_passed tests_failed <"$log"
	passed=$((passed + tests_passed))
	failed=$((failed + tests_failed))
}

# Criterion's children report leaks without failing: every report is a file, and a failure.
no_reports()
{
	! cat "$build-sanitize"/report.* 2>/dev/null
}

scripts/setup.sh --test </dev/null || {
	failed=1
	finish
}
warnings=-Dwerror=false
[ "${CI:-}" != true ] || warnings=-Dwerror=true
check 'build: configure' configure "$build" -Dtests=true $warnings || finish
check 'build: compile' ninja -k 0 -C "$build" || finish
check 'check: style' scripts/check-style.sh
check 'check: includes' scripts/check-includes.sh
check 'check: preload symbols' scripts/check-preload.sh "$build/preload/libcallmark-preload.so"
check 'check: instructions per call' scripts/count-instructions.sh --check "$build"
run_tests "$build" test --no-rebuild

# The unit tests once more, with the address and undefined-behaviour sanitizers.
rm -f "$build-sanitize"/report.*
export ASAN_OPTIONS="log_path=$build-sanitize/report:detect_stack_use_after_return=1"
export LSAN_OPTIONS="suppressions=$top/tests/data/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS="log_path=$build-sanitize/report:print_stacktrace=1"
if check 'build: sanitizers' configure "$build-sanitize" -Dtests=true -Db_lundef=false \
	-Db_sanitize=address,undefined -Dc_args=-fno-sanitize-recover=undefined; then
	run_tests "$build-sanitize" sanitized --suite unit
	check 'check: no sanitizer report' no_reports
fi

# And some seconds of each fuzzer; the cases that it once found have been replayed above.
unset ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS
check 'fuzz: sample' scripts/fuzz.sh "$build-fuzz" --sample
finish
