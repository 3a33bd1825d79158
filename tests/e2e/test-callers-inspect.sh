#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callers=N in the file: names, lines, sums, and what inspect, export and merge make of them.
. "${0%/*}/lib.sh"

program=$TARGETS/paths-plain
source=${E2E%/*}/targets/paths.c
file=profiling_data.h5

# line TEXT: where that stands in the source.
line()
{
	grep -n -m 1 -F "$1" "$source" | cut -d: -f1
}

# Names, objects, lines.
profile 'callee_add callers=20' -- "$program" sites 50
expect_status 0
h5 $file 'calls("callee_add") == 150' 'len(paths("callee_add")) == 3' \
	'set(paths("callee_add").values()) == {50}' \
	"sorted(path[0] for path in paths('callee_add')) == [
	'site_one [paths-plain] paths.c:$(line 'SITE(site_one)')',
	'site_three [paths-plain] paths.c:$(line 'SITE(site_three)')',
	'site_two [paths-plain] paths.c:$(line 'SITE(site_two)')']" \
	'all(path[1].startswith("main [paths-plain] paths.c:") for path in paths("callee_add"))' \
	'not any("libcallmark" in frame for path in paths("callee_add") for frame in path)' \
	'source("callee_add")[0] == "callee.c" and source("callee_add")[1] > 0'
/usr/bin/python3 "$E2E/check_layout.py" $file >out || fail "$(cat out)"
cp $file sites.h5

# Paths are those of all threads; of totals as well as of traces.
for trace in '' ' trace=off'; do
	profile "callee_add callers=20$trace" -- "$program" threads 1000
	expect_status 0
	h5 $file 'calls("callee_add") == 4000' 'sum(paths("callee_add").values()) == 4000' \
		'len({path[0] for path in paths("callee_add")}) == 2'
done

# What is beyond the bound of paths is one last row, and nothing is lost.
profile 'callee_add callers=40' -- "$program" many 5000
expect_status 0
h5 $file 'paths("callee_add")[("(other)",)] == 904' 'len(paths("callee_add")) == 4097' \
	'sum(paths("callee_add").values()) == calls("callee_add")'

# A path that cannot be followed says so; one of no more frames than asked for says nothing.
profile 'callee_add callers=20' -- "$program" cut 30
expect_status 0
h5 $file '[path[-1] for path in paths("callee_add")] == ["(no unwind information)"]'
profile 'callee_add callers=2' -- "$program" sites 50
h5 $file '{len(path) for path in paths("callee_add")} == {2}'

# Constructors of plugins that come and go, on two threads: an object is noted when it is open.
for name in plugin other; do
	cp "$TARGETS/libpaths-$name.so" .
done
profile 'callee_step callers=30' -- "$program" open 50 "$PWD/libpaths-plugin.so" \
	"$PWD/libpaths-other.so"
expect_status 0
h5 $file 'calls("callee_step") > 0' \
	'{path[0].split(" ")[0] for path in paths("callee_step")} == {"callee_factorial"}' \
	'({path[1].split(" paths")[0].replace(".constprop.0", "") for path in paths("callee_step")} ==
	{"begin [libpaths-plugin.so]", "begin [libpaths-other.so]"})'

# Killed: the calls that have no path (yet) are among the others.
profile 'callee_add callers=20' -- sh -c "timeout -s KILL 1 '$program' wait 1000 >/dev/null; :"
h5 $file 'calls("callee_add") == 1000' 'sum(paths("callee_add").values()) == 1000'

# A stripped program has the names that it exports; its debug file gives back the others.
mkdir stripped
(
	cd stripped
	objcopy --only-keep-debug "$program" paths-plain.debug
	objcopy --strip-all --add-gnu-debuglink=paths-plain.debug "$program" paths-plain
	mv paths-plain.debug away
)
set -- 'callee_add callers=1' -- env LD_LIBRARY_PATH="$TARGETS" stripped/paths-plain sites 5
profile "$@"
h5 $file 'all(path[0].startswith("0x") and path[0].endswith(" [paths-plain]")
	for path in paths("callee_add"))' 'len(paths("callee_add")) == 3'
mv stripped/away stripped/paths-plain.debug
profile "$@"
h5 $file '(sorted(path[0].split()[0] for path in paths("callee_add")) ==
	["site_one", "site_three", "site_two"])'

# inspect: both trees, and JSON.
"$CALLMARK" inspect --callers sites.h5 >out 2>err || fail "inspect --callers"
[ ! -s err ] || fail "inspect --callers said something"
expect_line out '^from where 1 region was entered$'
expect_line out '^callee_add  *150 .* 100%$'
expect_line out '^  site_two \[paths-plain\] paths\.c:[0-9]*  *50 '
expect_line out '^ *callee_add  *50 '
"$CALLMARK" inspect --json --callers sites.h5 >out 2>err || fail "inspect --json --callers"
/usr/bin/python3 - out <<'EOF' || fail "the JSON of inspect --callers"
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)


def leaves(nodes):
    """Names of the leaves, once each node is known to have the calls of its children."""
    found = []
    for node in nodes:
        assert set(node) == {"name", "calls", "total_ns", "share", "children"}, node
        for key in ("calls", "total_ns"):
            assert not node["children"] or node[key] == sum(
                child[key] for child in node["children"]), node
        found += leaves(node["children"]) or [node["name"]]
    return found


region = document["all_ranks"]["regions"][0]
assert region["source_file"].endswith("/callee.c") and region["source_lineno"] > 0, region
up, down = document["callers"]["bottom_up"], document["callers"]["top_down"]
assert [(node["name"], node["calls"], len(node["children"])) for node in up] == [
    ("callee_add", 150, 3)], up
assert leaves(up) and set(leaves(down)) == {"callee_add"}
assert sum(node["calls"] for node in down) == 150
EOF

# export: the same rows as the file has.
"$CALLMARK" export --what=callers sites.h5 >out 2>err || fail "export --what=callers"
[ "$(head -n 1 out | tr -d '\r')" = rank,region,path,calls,total_ns ] || fail "the names"
[ "$(grep -c '^0,callee_add,site_.* < main .*,50,[0-9]' out)" = 3 ] || fail "the rows"
"$CALLMARK" export --what=callers --format=json sites.h5 >out 2>err || fail "export as JSON"
/usr/bin/python3 -c 'import json, sys
rows = json.load(open("out"))
sys.exit(len(rows) != 3 or sum(row["calls"] for row in rows) != 150)' || fail "the JSON of export"
"$CALLMARK" export --what=regions --format=json sites.h5 >out 2>err || fail "export of regions"
/usr/bin/python3 -c 'import json, sys
row, = json.load(open("out"))
sys.exit(not row["source_file"].endswith("/callee.c"))' || fail "no source in the regions"

# merge: two runs as two ranks; inspect sums over them, or takes one.
cp sites.h5 again.h5
"$CALLMARK" merge --renumber -o both.h5 sites.h5 again.h5 >out 2>err || fail "merge"
h5 both.h5 'len(paths("callee_add", 1)) == 3' 'sum(paths("callee_add").values()) == 300'
"$CALLMARK" inspect --callers both.h5 >out 2>err || fail "inspect of two ranks"
expect_line out '^from where 1 region was entered, summed over 2 ranks$'
expect_line out '^callee_add  *300 '
"$CALLMARK" inspect --callers -r 1 both.h5 >out 2>err || fail "inspect of one of two ranks"
expect_line out '^callee_add  *150 '

# A file without any, and what does not go together.
profile callee_add -- "$program" sites 5
"$CALLMARK" inspect --callers $file >out 2>err || fail "inspect without call paths"
expect_line out '^no call paths: the rules of these regions have no callers=N$'
"$CALLMARK" export --what=callers $file >out 2>err || fail "export without call paths"
[ "$(wc -l <out)" = 1 ] || fail "rows out of nothing"
run_into out err "$CALLMARK" inspect --callers --per-rank sites.h5
expect_status 2
expect_line err 'choose a rank with --ranks, not with --per-rank'
