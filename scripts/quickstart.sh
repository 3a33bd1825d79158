#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a checkout to a first profile: install what is missing, build, profile two programs of this
# machine that nobody recompiled, and show what was found; at last with hardware counters, simulated
# ones where this machine has none.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
step=0
say()
{
	step=$((step + 1))
	printf '\n==> %d/5 %s\n' "$step" "$*"
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

# The group that `callmark doctor` tried with success; nothing where counters cannot work.
countable_group()
{
	"$callmark" doctor | sed -n 's/^  ok  *attempt  *group \(.*\) can be counted$/\1/p'
}

group=$(countable_group)
label=
if [ -z "$group" ]; then
	label=' (SIMULATED: this machine has none)'
	mkdir sim
	quietly cc -O2 -D_GNU_SOURCE -I "$top" -o sim/likwid-accessD \
		"$top/tests/sim/access-daemon.c" "$top/tests/sim/registers.c"
	"$top/tests/sim/topology.sh" zen3 >sim/topology.xml
	export PATH="$work/sim:$PATH" HWLOC_XMLFILE="$work/sim/topology.xml" HWLOC_THISSYSTEM=1
	group=FLOPS_DP
fi
say "Count what the processor does in these products$label"
if [ -n "$label" ]; then
	"$callmark" doctor | sed -n '/^hardware counters/,$p'
	echo
	echo "LIKWID is real, the processor and its numbers are simulated: they show how it looks."
fi
cpu=$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*\([0-9]*\).*/\1/p' /proc/self/status)
cat <<END
\$ callmark run -g $group -C $cpu -s cblas_dgemm -o counters.h5 -- /usr/bin/python3 product.py
\$ callmark inspect counters.h5
END
"$callmark" run -g "$group" -C "$cpu" -s cblas_dgemm -o counters.h5 -- \
	/usr/bin/python3 product.py
"$callmark" inspect counters.h5
[ -z "$label" ] || echo "The counters above are SIMULATED."

printf '\nNow yours: %s run -s FUNCTION -- PROGRAM, then %s inspect profiling_data.h5\n' \
	build/cli/callmark build/cli/callmark
