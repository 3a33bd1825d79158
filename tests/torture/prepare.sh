#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Make the input of the torture's cases in the folder IN:   tests/torture/prepare.sh IN
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
mkdir -p "$1/src/preload" "$1/src/collector" "$1/c" "$1/cc"
cd "$1"

# blocks N FILE..: the files N times, with @N@ as the number.
blocks()
{
	n=$1
	shift
	for i in $(seq "$n"); do
		sed "s/@N@/$i/g" "$@"
	done
}

blocks 10 "$here/block.sh.in" >workload.sh
blocks 7 "$here/block.sh.in" "$here/block.bash.in" >workload.bash
{
	# shellcheck disable=SC2016 # Perl's own variables
	echo 'use strict; use warnings; use POSIX qw(strftime); use List::Util qw(sum);'
	echo 'use Data::Dumper; use Digest::MD5 qw(md5_hex); use Digest::SHA qw(sha1_base64);'
	echo 'use MIME::Base64; use Tie::File; use Math::BigInt; $| = 1;'
	blocks 22 "$here/block.pl.in"
} >workload.pl
{
	echo "const crypto = require('crypto'), zlib = require('zlib'), fs = require('fs');"
	echo 'const later = [];'
	blocks 7 "$here/block.js.in"
	echo '(async () => { for (const job of later) await job(); })();'
} >workload.js

# A corpus of text that is there: our own sources, and one large file of them.
cp "$top"/preload/*.[chS] src/preload
cp "$top"/collector/*.[ch] src/collector
cat src/*/* >text
awk 'BEGIN {for (i = 0; i < 20000; i++) print (i * 7919) % 10007, "item" i % 97, i / 8}' >table

for i in $(seq 50); do
	sed "s/@N@/$i/g" "$here/unit.c.in" >"c/unit$i.c"
	sed "s/@N@/$i/g" "$here/unit.cc.in" >"cc/unit$i.cc"
	echo "int unit_$i(int n);" >>c/units.h
done
{
	echo '#include <stdio.h>'
	echo '#include "units.h"'
	echo 'int main(void) {'
	for i in 1 $(seq 10 19); do
		echo "	printf(\"%d\\\\n\", unit_$i($i));"
	done
	echo '	return 0; }'
} >c/main.c
{
	echo 'all: program'
	echo 'program: main.o $(patsubst %.c,%.o,$(wildcard unit1*.c))'
	printf '\t$(CC) -o $@ $^\n%%.o: %%.c\n\t$(CC) -O1 -c -o $@ $<\n'
} >c/Makefile

{
	echo 'CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL); CREATE INDEX i ON t(b);'
	echo 'BEGIN;'
	awk 'BEGIN {
		for (i = 1; i <= 8000; i++)
			printf "INSERT INTO t VALUES(%d, \047name %d\047, %g);\n", i, i * 7 % 501, i / 3
		for (i = 1; i <= 1000; i++)
			printf "UPDATE t SET c = c * 2 WHERE a = %d;\n", i * 5
		for (i = 1; i <= 500; i++)
			printf "DELETE FROM t WHERE a = %d;\n", i * 9
	}'
	echo 'COMMIT;'
	awk 'BEGIN {for (i = 0; i < 500; i++)
		printf "SELECT count(*), round(sum(c), 3) FROM t WHERE b = \047name %d\047;\n", i}'
	echo 'SELECT a, b FROM t ORDER BY c DESC, a LIMIT 20; SELECT nothing FROM t;'
	echo 'PRAGMA integrity_check; SELECT json_group_array(a) FROM t WHERE a < 30;'
} >statements.sql
