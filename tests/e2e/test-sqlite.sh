#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's sqlite3 creates a table and inserts 1,000 rows: as many calls as gdb counts.
. "${0%/*}/lib.sh"

{
	echo 'CREATE TABLE t(a INTEGER, b TEXT);'
	echo 'BEGIN;'
	seq 1000 | sed "s/.*/INSERT INTO t VALUES(&, 'row &');/"
	echo 'COMMIT;'
	echo 'SELECT count(*), sum(a) FROM t;'
} >in

gdb_count /usr/bin/sqlite3 'gdb.db <in' sqlite3_step sqlite3_prepare_v2
steps=$(count_of sqlite3_step)
prepares=$(count_of sqlite3_prepare_v2)
[ "$steps" -gt 1000 ] && [ "$prepares" -gt 1000 ] || fail "gdb counted $steps and $prepares"

bare -- /usr/bin/sqlite3 bare.db
profile sqlite3_step sqlite3_prepare_v2 -- /usr/bin/sqlite3 profiled.db
expect_status 0
cmp bare.out out || fail "another output than bare"
cmp bare.db profiled.db || fail "another database than bare"
expect_clean
h5 profiling_data.h5 "calls('sqlite3_step') == $steps" "calls('sqlite3_prepare_v2') == $prepares" \
	"rows('sqlite3_step') == $steps" 'tags() == ["sqlite3_prepare_v2", "sqlite3_step"]'
