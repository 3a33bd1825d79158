#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command line of internal=yes: what `symbols` says of a program's own functions, and the cache
# of `run`: made, kept, made again, and refused where it is not the user's own.
. "${0%/*}/lib.sh"
command -v gcc >/dev/null || skip "no gcc"

run()
{
	run_into out err "$CALLMARK" "$@"
}

# entries EXPRESSION..: each is true of what `symbols --json` printed: `entry(SYMBOL)` and
# `entry(SYMBOL, SOURCE)` are the rows, `entries()` all of the first object.
entries()
{
	/usr/bin/python3 - "$@" <<'END' || fail "symbols --json: $*"
import json
import sys

with open("out", encoding="utf-8") as file:
    found = json.load(file)
objects = {thing["name"]: thing for thing in found["objects"]}


def entries(name=None):
    thing = objects[name] if name else found["objects"][0]
    return thing["entries"]


def entry(symbol, source=None, name=None):
    rows = [row for row in entries(name) if row["symbol"] == symbol
            and source in (None, row["source"])]
    assert len(rows) == 1, (symbol, source, rows)
    return rows[0]


for text in sys.argv[1:]:
    assert eval(text), (text, found["objects"][0]["entries"])
END
}

cat >a.c <<'END'
#include <stdio.h>
#include <stdlib.h>

int step(int n);
int three(int n);
int four(int n);

static __attribute__((noinline)) int helper(int n)
{
	for (int i = 0; i < 3; i++)
		n = n * 31 + i;
	return n;
}

static __attribute__((noinline)) double residual(const double *x, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sum;
}

int main(int argc, char **argv)
{
	double x[100] = {argc};
	int n = argc > 1 ? atoi(argv[1]) : 10;
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += helper(i) + step(i) + three(i) + four(i) + (int)residual(x, 100);
	printf("%d\n", sum);
	return 0;
}
END
cat >b.c <<'END'
int step(int n);

static __attribute__((noinline)) int helper(int n)
{
	for (int i = 0; i < 5; i++)
		n = n * 7 + i;
	return n;
}

int step(int n)
{
	return helper(n) + helper(n + 1);
}
END
# Three and four bytes long, and nothing between them; then a branch into the first bytes.
cat >short.s <<'END'
	.text
	.globl	three, four, branched
	.type	three, @function
	.type	four, @function
	.type	branched, @function
	.balign	16
three:	movl	%edi, %eax
	ret
	.size	three, .-three
four:	movl	%edi, %eax
	incl	%eax
	ret
	.size	four, .-four
branched:
	incl	%edi
again:	decl	%edi
	jnz	again
	movl	%edi, %eax
	ret
	.size	branched, .-branched
	.section .note.GNU-stack, "", @progbits
END
gcc -O2 -o program a.c b.c short.s 2>cc.log || fail "gcc: $(cat cc.log)"
./program 10 >expected

### symbols: one line a function, under its own name and that of its file
run symbols --json -s 'helper internal=yes region=own/{symbol}' -s 'residual internal=yes' \
	-s 'three internal=yes' -s 'branched internal=yes' -s 'absent internal=yes' ./program
expect_status 0
[ ! -s err ] || fail "symbols says something on stderr"
entries 'entry("helper", "a.c")["how"] == "jump"' 'entry("helper", "b.c")["how"] == "jump"' \
	'entry("helper", "a.c")["address"] != entry("helper", "b.c")["address"]' \
	'entry("helper", "a.c")["region"] == "own/helper"' \
	'entry("helper", "a.c")["rule"] == "helper internal=yes region=own/{symbol}"' \
	'entry("helper", "a.c")["size"] > 5 and entry("helper", "a.c")["reason"] is None' \
	'entry("residual.constprop.0", "a.c")["base_name"] == "residual"' \
	'entry("residual.constprop.0")["region"] == "residual"' \
	'entry("residual.constprop.0")["how"] == "jump"' \
	'entry("three")["how"] is None and entry("three")["size"] == 3' \
	'entry("three")["reason"].startswith("short: ")' \
	'entry("branched")["reason"].startswith("branch: ")' \
	'len(entries()) == 5' 'found["unmatched_rules"] == ["absent internal=yes"]'
# The addresses are nm's.
nm program | awk '$3 == "helper" {print "0x" $1}' | sort >nm.out
/usr/bin/python3 -c '
import json
with open("out") as file:
    rows = json.load(file)["objects"][0]["entries"]
print("\n".join(sorted("0x%016x" % row["address"] for row in rows if row["symbol"] == "helper")))
' >ours.out
cmp -s nm.out ours.out || fail "other addresses than nm: $(diff nm.out ours.out)"

# A source file selects static functions; the first rule that matches counts.
run symbols --json -s 'b.c:* internal=yes' -s 'helper' -s 'h* internal=yes' ./program
expect_status 0
entries 'entry("helper", "b.c") and len(entries()) == 1' \
	'found["unmatched_rules"] == ["helper", "h* internal=yes"]'
run symbols --json -s 'st* internal=yes' -s '!helper' -s 'b.c:* internal=yes' ./program
entries 'len(entries()) == 1 and entry("step")'

# A trap, or a jump of two bytes, where it is asked for.
run symbols --json -s 'three internal=yes force=trap' -s 'helper internal=yes force=trap' ./program
entries 'entry("three")["how"] in ("trap", "short jump")' 'entry("three")["reason"] is None' \
	'entry("helper", "a.c")["how"] == "jump"'

### symbols: tables
run symbols -s 'helper internal=yes' -s 'three internal=yes' -s 'residual internal=yes' ./program
expect_status 0
[ "$(grep -c '^helper .* [ab]\.c .* 0x[0-9a-f]* .* jump .*helper internal=yes' out)" = 2 ] ||
	fail "not two lines for the two functions"
expect_line out '^residual\.constprop\.0 +a\.c .* jump +residual internal=yes'
expect_line out '^three .* - +short: '
tr -s '\n ' ' ' <out >joined
expect_line joined 'program: of [0-9]+ functions inside, rules with internal=yes can have 3 \(3 jump\)'
expect_line joined '3 \(3 jump\) and cannot have 1 \(1 short\)'
if grep -q '.\{81\}' out; then
	fail "a line is wider than 80 columns"
fi

# All functions; the same as the rule says.
run symbols --internal ./program
expect_status 0
for name in main helper step three four; do
	expect_line out "^$name "
done
expect_line out '^frame_dummy .* forbidden: '
run symbols --json -s '* internal=yes' ./program
mv out rule.out
run symbols --json --internal ./program
cmp -s rule.out out || fail "--internal is not the rule"
run symbols --json --internal -s 'helper internal=yes region=x' ./program
entries 'entry("helper", "a.c")["region"] == "x" and entry("main")["region"] == "main"'

# Without such rules nothing is different.
run symbols --json -s 'printf' ./program
if grep -q '"entries"' out; then
	fail "entries without internal=yes"
fi

# Libraries: all of them, or the one that is named.
run symbols --json --deps -s 'libc.so*:qsort internal=yes' ./program
entries 'entry("qsort", name="libc.so.6")["how"] is None' \
	'entry("qsort", name="libc.so.6")["reason"].startswith("forbidden: ")' \
	'[name for name in objects if "entries" in objects[name]] == ["libc.so.6"]'

# A stripped program, and its debug file.
strip -o stripped program
run symbols --json -s '* internal=yes' ./stripped
expect_status 0
entries 'not [row for row in entries() if row["symbol"] == "helper"]' \
	'found["objects"][0]["debug_file"] is None'
objcopy --only-keep-debug program program.debug
objcopy --strip-all --add-gnu-debuglink=program.debug program linked
run symbols --json -s 'helper internal=yes' ./linked
expect_status 0
entries 'len(entries()) == 2' 'found["objects"][0]["debug_file"].endswith("/program.debug")'

### symbols: what goes wrong is one line
mkdir -p elsewhere/cli
cp "$CALLMARK" elsewhere/cli/callmark
run_into out err elsewhere/cli/callmark symbols --internal ./program
expect_status 1
[ "$(wc -l <err)" = 1 ] || fail "not one line"
expect_line err '^callmark: callmark-sites is neither in '
[ ! -s out ] || fail "half of the output"
TMPDIR=/nonexistent run symbols --internal ./program
expect_status 1
expect_line err '^callmark: /nonexistent/'
[ "$(wc -l <err)" = 1 ] || fail "not one line"
mkdir tmp
TMPDIR=$work/tmp run symbols --internal --deps ./program
expect_status 0
[ -z "$(ls -A tmp)" ] || fail "symbols leaves something behind"

### run: the cache
n_files()
{
	find "$1" -name '*.sites' 2>/dev/null | wc -l
}

CALLMARK_CACHE=$work/deep/cache
export CALLMARK_CACHE
compare 'helper internal=yes' -- ./program 10
h5 profiling_data.h5 'calls("helper") == 30'
n=$(n_files deep/cache)
[ "$n" -ge 2 ] || fail "$n site files for a program and libc"
[ "$(stat -c %a deep/cache)" = 700 ] || fail "the cache is open to others"
find deep/cache -name '*.sites' -printf '%p %i %T@\n' | sort >before
compare 'helper internal=yes' -- ./program 10
find deep/cache -name '*.sites' -printf '%p %i %T@\n' | sort >after
cmp -s before after || fail "the second start made files: $(diff before after)"

# Other rules, other files; the same text in a file of rules is another one, too.
compare 'step internal=yes' -- ./program 10
h5 profiling_data.h5 'calls("step") == 10'
[ "$(n_files deep/cache)" = $((2 * n)) ] || fail "the rules are not in the name"

# Damaged ones are made again.
for file in deep/cache/*.sites; do
	head -c 100 "$file" >part
	cat part >"$file"
done
compare 'step internal=yes' -- ./program 10
h5 profiling_data.h5 'calls("step") == 10'
[ "$(find deep/cache -name '*.sites' -size +100c | wc -l)" = "$n" ] || fail "not made again"

# A program that was changed is another one.
sed -i 's/i < 3/i < 4/' a.c
gcc -O2 -o program a.c b.c short.s 2>cc.log || fail "gcc: $(cat cc.log)"
compare 'step internal=yes' -- ./program 10
h5 profiling_data.h5 'calls("step") == 10'

# Where the cache is by default.
unset CALLMARK_CACHE
XDG_CACHE_HOME=$work/xdg compare 'step internal=yes' -- ./program
[ "$(n_files xdg/callmark)" = "$n" ] || fail "not in XDG_CACHE_HOME"
mkdir home
HOME=$work/home XDG_CACHE_HOME='' compare 'step internal=yes' -- ./program
[ "$(n_files home/.cache/callmark)" = "$n" ] || fail "not in HOME"

# A relative one is one for all, wherever the program goes.
# shellcheck disable=SC2016 # the inner shell's
CALLMARK_CACHE=near compare 'step internal=yes' -- sh -c 'cd / && exec "$0"' "$PWD/program"
[ "$(n_files near)" -ge "$n" ] || fail "not in the folder that was named"

# No cache to be had: the run's own folder, which is gone at the end.
: >file
mkdir -p target
ln -s target link
mkdir -m 777 open
for cache in "$work/file" "$work/file/x" "$work/link" "$work/open" /proc/none; do
	CALLMARK_CACHE=$cache compare 'helper internal=yes' -- ./program 10
	h5 profiling_data.h5 'calls("helper") == 30'
	[ "$(n_files target)$(n_files open)" = 00 ] || fail "files in $cache"
done
if [ "$(id -u)" = 0 ]; then
	mkdir -m 755 foreign
	chown nobody foreign
	CALLMARK_CACHE=$work/foreign compare 'helper internal=yes' -- ./program 10
	h5 profiling_data.h5 'calls("helper") == 30'
	[ "$(n_files foreign)" = 0 ] || fail "files in another user's folder"
fi

### run: rules that match nothing, and those that match only what is refused
CALLMARK_CACHE=$work/cache
export CALLMARK_CACHE
profile 'helper internal=yes' 'absent internal=yes' 'three internal=yes' -- ./program 10
expect_status 0
cmp -s expected out || ./program 10 | cmp -s - out || fail "another output"
expect_line err '1 of 3 rules matched nothing: absent$'
expect_line err '1 of 3 rules matched only what cannot be intercepted .*: three$'

compare 'three internal=yes force=trap' -- ./program 10
h5 profiling_data.h5 'calls("three") == 10'

### run: callmark-sites is not there
mkdir -p elsewhere/preload elsewhere/collector
cp "$PRELOAD" elsewhere/preload/
cp "${CALLMARK%/cli/*}/collector/callmark-collect" elsewhere/collector/
CALLMARK_CACHE=$work/never run_into out err elsewhere/cli/callmark run -s 'helper internal=yes' \
	-- ./program 10
expect_status 0
./program 10 | cmp -s - out || fail "another output"
expect_line err '^callmark: internal=yes: callmark-sites is neither in '
expect_no_file never

### doctor
run doctor
expect_line out '^  ok +sites +/.*/callmark-sites$'
expect_line out "^  ok +cache +$work/cache$"
CALLMARK_CACHE=$work/link run doctor
expect_line out '^  note +cache .*/link is a symbolic link'
expect_line out '-> .*CALLMARK_CACHE'
run_into out err elsewhere/cli/callmark doctor
expect_status 1
expect_line out '^  NO +sites +callmark-sites is neither in '

### the example of the README
sed -n '/^```c$/,/^```$/p' "$E2E/../../README.md" | sed '/^```/d' >solver.c
gcc -O2 -g -o solver solver.c -lm 2>cc.log || fail "the README's program: $(cat cc.log)"
compare 'residual internal=yes callers=2' -- ./solver
h5 profiling_data.h5 'calls("residual") == 202'
