#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a program can see of us: no child, no descriptor, no signal, no byte on its streams.
. "${0%/*}/lib.sh"

compare callee_add -- "$TARGETS/sigchld" 1000
expect_line out '^2000, 1 own$'
h5 profiling_data.h5 'calls("callee_add") == 1000'
compare callee_add -- "$TARGETS/sigchld" 1000 ignore
expect_line out '^2000, 0 own$'
h5 profiling_data.h5 'calls("callee_add") == 1000'

# It holds no descriptor, and needs none that the program closes.
compare callee_add -- "$TARGETS/closer" 200000
expect_line out '^800000$'
h5 profiling_data.h5 'calls("callee_add") == 400000' 'rows("callee_add") == 400000'

# Standard streams that are closed stay closed.
compare callee_add -- sh -c "exec '$TARGETS/calls-lazy' 10 >&- 2>&-"
h5 profiling_data.h5 'calls("callee_add") == 10'

# stdin, stdout, stderr and the status pass through.
printf 'some input\n' >in
profile 'callee_add' -- sh -c 'cat; echo error >&2; exit 42'
expect_status 42
expect_line out '^some input$'
expect_line err '^error$'
rm in

# The program's environment is its own but for what its children need.
bare -- env
profile callee_add -- env
grep -v -E '^(CALLMARK_[A-Z_]*|LD_PRELOAD|_)=' out | sort >with
grep -v -E '^(CALLMARK_[A-Z_]*|LD_PRELOAD|_)=' bare.out | sort >without
cmp -s with without || fail "another environment: $(diff without with)"

# Signals for the program reach it through `run`.
rm out # the run before has left one, which is not what is waited for
"$CALLMARK" run -s callee_add -- "$TARGETS/endings" 10 hang >out 2>err </dev/null &
run_pid=$!
for i in $(seq 100); do
	[ ! -s out ] || break
	sleep 0.1
done
kill -TERM "$run_pid"
status=0
wait "$run_pid" || status=$?
expect_status 143
h5 profiling_data.h5 'calls("callee_add") == 10'
expect_clean
