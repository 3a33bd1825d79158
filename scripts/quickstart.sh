#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a checkout to a first profile: install what is missing, build, profile two programs of this
# machine that nobody recompiled, and show what was found.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
step=0
say()
{
	step=$((step + 1))
	printf '\n==> %d/4 %s\n' "$step" "$*"
}

# quietly COMMAND..: its output only when it fails.
quietly()
{
	if ! "$@" >"$log" 2>&1 </dev/null; then
		tail -n 30 "$log" >&2
		echo "quickstart: failed: $*" >&2
		exit 1
	fi
}

work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT

say "Install what is missing (Debian packages)"
scripts/setup.sh --demo

say "Build callmark in build/"
[ -f build/build.ninja ] || quietly meson setup build -Dtests=false
quietly ninja -C build
callmark=$top/build/cli/callmark

say "Profile numpy's matrix products inside Debian's own Python"
cat >"$work/product.py" <<'END'
import numpy

a = numpy.random.rand(500, 500)
b = numpy.random.rand(500, 500)
for _ in range(10):
    a = numpy.tanh(a @ b)
END
cat <<'END'
$ callmark run -s cblas_dgemm -o numpy.h5 -- /usr/bin/python3 product.py
$ callmark inspect numpy.h5
END
cd "$work"
"$callmark" run -s cblas_dgemm -o numpy.h5 -- /usr/bin/python3 product.py
"$callmark" inspect numpy.h5

say "Profile Debian's sqlite3 inserting 1,000 rows"
{
	echo 'CREATE TABLE t(a INTEGER, b TEXT); BEGIN;'
	seq 1000 | sed "s/.*/INSERT INTO t VALUES(&, 'row &');/"
	echo 'COMMIT;'
} >rows.sql
cat <<'END'
$ callmark run -s 'sqlite3_*' -o sqlite.h5 -- /usr/bin/sqlite3 rows.db <rows.sql
$ callmark inspect sqlite.h5 --include 'sqlite3_(step|prepare|exec|finalize)'
END
"$callmark" run -s 'sqlite3_*' -o sqlite.h5 -- /usr/bin/sqlite3 rows.db <rows.sql
"$callmark" inspect sqlite.h5 --include 'sqlite3_(step|prepare|exec|finalize)'

printf '\nNow yours: %s run -s FUNCTION -- PROGRAM, then %s inspect profiling_data.h5\n' \
	build/cli/callmark build/cli/callmark
