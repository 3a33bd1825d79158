#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What libcallmark-preload.so brings into someone's process: the exported symbols are those of
# preload/preload.map, the undefined ones stand in tests/data/preload-undefined.txt and come from
# libc or the loader, which are all it needs; no text relocation, no executable stack.
#
#   scripts/check-preload.sh [--update] [PRELOAD]    default: build/preload/libcallmark-preload.so
#
# --update writes the list of undefined symbols: look at its diff before you commit it.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
list=$top/tests/data/preload-undefined.txt
update=no
if [ "${1:-}" = --update ]; then
	update=yes
	shift
fi
preload=${1:-$top/build/preload/libcallmark-preload.so}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
offence()
{
	echo "check-preload: $*"
	bad=1
}

[ -f "$preload" ] || {
	echo "check-preload: $preload is not there: build first"
	exit 1
}

undefined()
{
	nm -D --undefined-only "$preload" | sed 's/.* //; s/@.*//' | LC_ALL=C sort -u
}

if [ $update = yes ]; then
	{
		echo '# What the preload asks of libc and the loader; written by check-preload.sh --update.'
		undefined
	} >"$list"
	exit 0
fi

# Exports: the global: part of the version script, neither more nor less.
nm -D --defined-only "$preload" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | LC_ALL=C sort -u \
	>"$work/exported"
tr -d ' \t' <"$top/preload/preload.map" | sed 's,/\*.*\*/,,; s/#.*//' | awk '
	/global:/ {on = 1; sub(/.*global:/, "")}
	/local:/ {on = 0}
	on {n = split($0, names, ";"); for (i = 1; i <= n; i++) if (names[i] ~ /^[A-Za-z_]/) print names[i]}
	' | LC_ALL=C sort -u >"$work/mapped"
comm -23 "$work/exported" "$work/mapped" | sed 's/^/exported, but not in preload.map: /' >"$work/bad"
comm -13 "$work/exported" "$work/mapped" | sed 's/^/in preload.map, but not exported: /' >>"$work/bad"

# Undefined symbols: on the list, and libc's or the loader's.
grep -v '^#' "$list" | LC_ALL=C sort -u >"$work/allowed"
undefined >"$work/undefined"
comm -23 "$work/undefined" "$work/allowed" |
	sed 's/^/undefined, but not in preload-undefined.txt: /' >>"$work/bad"
libc=$(${CC:-cc} -print-file-name=libc.so.6)
loader=$(readelf -lW "$(command -v env)" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
nm -D --defined-only "$libc" "$loader" | awk 'NF == 3 {print $3}' | sed 's/@.*//' |
	LC_ALL=C sort -u >"$work/provided"
# Weak ones that crtbegin.o always refers to and nothing has to provide.
printf '%s\n' _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __gmon_start__ |
	LC_ALL=C sort -u - "$work/provided" >"$work/available"
comm -23 "$work/undefined" "$work/available" |
	sed 's/^/neither libc nor the loader provides: /' >>"$work/bad"
while read -r line; do
	offence "$line"
done <"$work/bad"

# What has to be loaded with it, and how.
readelf -dW "$preload" >"$work/dynamic"
for needed in $(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamic"); do
	case $needed in
	libc.so.6 | ld-linux-*.so.*) ;;
	*) offence "needs $needed" ;;
	esac
done
grep -q '(NEEDED).*\[libc\.so\.6\]' "$work/dynamic" || offence "does not say that it needs libc"
! grep -q 'TEXTREL' "$work/dynamic" || offence "has text relocations"
! grep -Eq '\((RPATH|RUNPATH)\)' "$work/dynamic" || offence "has a library path"
grep -q 'NODELETE' "$work/dynamic" || offence "can be unloaded: -z nodelete is missing"
readelf -lW "$preload" | grep -q 'GNU_STACK.* RW ' || offence "wants an executable stack"
exit $bad
