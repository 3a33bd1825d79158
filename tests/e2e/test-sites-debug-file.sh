#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callmark-sites finds the symbols of stripped programs, in all places and only the right ones, and
# makes a file of the cache again when they come, go or change.
. "${0%/*}/lib.sh"

sites=${CALLMARK%/*}/../collector/callmark-sites
read_sites=$E2E/sites_file.py

cat >program.c <<'C'
static __attribute__((noinline, noclone)) int hidden(int x)
{
	__asm__ volatile("");
	return 3 * x + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return hidden(argc) != 4;
}
C

# expect HOW DEBUG_FILE PROGRAM: what is told of `hidden`; HOW "" means that nothing is.
expect()
{
	"$sites" -s 'hidden internal=yes' --output sites "$3" || fail "$3: status $?"
	[ "$("$read_sites" sites --debug)" = "$2" ] ||
		fail "$3: the debug file is $("$read_sites" sites --debug), not $2"
	[ "$("$read_sites" sites | cut -d ' ' -f 1,2)" = "${1:+$1 hidden}" ] ||
		fail "$3: $("$read_sites" sites), not $1"
}

mkdir .debug
for id in sha1 none; do
	gcc -g -O2 -Wl,--build-id=$id program.c -o whole
	objcopy --only-keep-debug whole "program-$id.debug"
	objcopy --strip-all --add-gnu-debuglink="program-$id.debug" whole "program-$id"
	expect jump '' whole
	expect jump "$PWD/program-$id.debug" "program-$id"
	mv "program-$id.debug" .debug
	expect jump "$PWD/.debug/program-$id.debug" "program-$id"
	"$read_sites" sites | grep -q ' program.c ' || fail "the source is not known"
	rm ".debug/program-$id.debug"
	expect '' '' "program-$id"
done

# Of another program: by the build-id, and by the checksum.
sed 's/3 \* x/4 * x - 1/' program.c >other.c
for id in sha1 none; do
	gcc -g -O2 -Wl,--build-id=$id other.c -o other
	objcopy --only-keep-debug other "program-$id.debug"
	expect '' '' "program-$id"
done

# Inside, compressed; and damaged.
gcc -g -O2 program.c -o whole
objcopy --only-keep-debug whole debug
nm -f posix whole | awk '$2 ~ /^[tT]$/ {print $1}' >keep
objcopy -S --remove-section .comment --keep-symbols=keep debug small
/usr/bin/python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read()))' \
	<small >small.xz
strip --strip-all whole -o inside
objcopy --add-section .gnu_debugdata=small.xz inside
expect jump '' inside
head -c 200 small.xz >cut.xz
strip --strip-all whole -o damaged
objcopy --add-section .gnu_debugdata=cut.xz damaged
expect '' '' damaged

# The cache: kept, and made again when the debug file has changed, or symbols were stripped.
gcc -g -O2 -Wl,--build-id=sha1 program.c -o whole
objcopy --only-keep-debug whole program.debug
objcopy --strip-all --add-gnu-debuglink=program.debug whole program
cached()
{
	"$sites" -s 'hidden internal=yes' --cache stored "$PWD/program" || fail "status $?"
	[ "$(find stored -type f | wc -l)" = 1 ] || fail "$(ls stored)"
	stat -c %i stored/*.sites
	find stored -name '*.sites' -exec "$read_sites" {} ';' | cut -d ' ' -f 1,2
}
first=$(cached)
[ "${first#*
}" = 'jump hidden' ] || fail "$first"
[ "$(cached)" = "$first" ] || fail "it was made twice"
touch -d '1 hour ago' program.debug
second=$(cached)
[ "$second" != "$first" ] || fail "not made again for a debug file that has changed"
rm program.debug
third=$(cached)
[ "$(echo "$third" | wc -l)" = 1 ] || fail "$third: the debug file is gone"
mv whole program
[ "$(cached | tail -n 1)" = 'jump hidden' ] || fail "not made again for one with symbols"
strip program
[ "$(cached | wc -l)" = 1 ] || fail "not made again for one that was stripped"

# One line for what cannot be read, the others are done; status 1. Usage: 2.
if "$sites" -s 'hidden internal=yes' --cache stored /nowhere program.c other 2>err; then
	fail "no failure"
else
	[ $? = 1 ] || fail "status $?"
fi
[ "$(wc -l <err)" = 2 ] || fail "not one line an object"
expect_line err '^callmark-sites: /nowhere: No such file or directory$'
expect_line err '^callmark-sites: program.c: not an ELF file$'
[ "$(find stored -type f | wc -l)" = 2 ] || fail "the third was not done"
for wrong in "--cache stored" "--output sites inside whole" "inside" "-s 'x internal=maybe' --output sites inside"; do
	# shellcheck disable=SC2086 # words
	eval "\"$sites\" $wrong" 2>err && fail "$wrong: no failure"
	eval "\"$sites\" $wrong" 2>err || [ $? = 2 ] || fail "$wrong: status $?"
done
