#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `export`: all tables in both formats hold exactly what is in the file, in bounded memory; outputs
# are complete or not there. Then the calls of a real run.
. "${0%/*}/lib.sh"

/usr/bin/python3 "$E2E/export_file.py" "$CALLMARK" || fail "see above"

profile 'callee_*' -- "$TARGETS/threads" 4 2500 exit
run_into out err "$CALLMARK" export --what=calls profiling_data.h5
expect_status 0
[ "$(grep -c '^0,callee_add,' out)" = 10000 ] || fail "not the 10000 calls of callee_add"
run_into out err "$CALLMARK" export profiling_data.h5
expect_status 0
expect_line out '^rank,region,library,symbols,calls,'
expect_line out '^0,callee_add,.*,10000,10000,10000,'
