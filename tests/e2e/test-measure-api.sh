#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callmark/measure.h and callmark/worker.h as a stranger uses them: installed, and the examples of
# the headers compiled and run as they stand there, with a FAKE liblikwid.
. "${0%/*}/lib.sh"
. "${0%/*}/fake-likwid.sh"

cc=$(command -v cc || command -v gcc) || skip "no C compiler"
command -v pkg-config >/dev/null || skip "no pkg-config"
build=${CALLMARK%/cli/callmark}
meson install -C "$build" --no-rebuild --quiet --destdir "$work/root" >install.log 2>&1 ||
	fail "meson install: $(tail -n 5 install.log)"
folder=$(dirname "$(find root -path '*/include/callmark/measure.h')")
[ -f "$folder/worker.h" ] || fail "the headers are not installed"
PKG_CONFIG_PATH=$(dirname "$(find "$work/root" -name callmark.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR="$work/root"
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
flags=$(pkg-config --cflags --libs callmark) || fail "pkg-config does not find callmark"

# example HEADER OUT: from " * EXAMPLE" to the next heading, without the comment's margin.
example()
{
	awk '/^ \* [A-Z]/ {here = /^ \* EXAMPLE$/; next}
		here {sub(/^ \*\t?/, ""); print}' "$folder/$1" >"$2"
	grep -q perf_workload "$2" || grep -q 'int main' "$2" || fail "no example in $1"
}
example measure.h example.c
example worker.h worker.c
strict="-pedantic -Wall -Wextra -Werror"
# shellcheck disable=SC2086 # flags
$cc -std=c11 $strict -o example example.c $flags || fail "the example of measure.h"
# shellcheck disable=SC2086 # flags
$cc -std=c11 $strict -fvisibility=hidden -Wno-missing-prototypes -shared -fPIC -o worker.so worker.c \
	$flags || fail "the example of worker.h"
if command -v c++ >/dev/null; then
	printf '#include <callmark/measure.h>\n#include <callmark/worker.h>\nint main() { cm_counter_result_free(nullptr); }\n' >cc.cc
	# shellcheck disable=SC2086 # flags
	c++ -std=c++11 $strict -o cc cc.cc $flags || fail "from C++"
fi
library=$(dirname "$(find "$work/root" -name libcallmark.so.0)")
# The library needs nothing of LIKWID's when it is linked.
! readelf -d "$library/libcallmark.so.0" | grep -i 'NEEDED.*likwid' || fail "linked with LIKWID"

fake_likwid
export LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$library"
run_into out err timeout 60 ./example
expect_status 0
expect_line out '^complete $'
expect_line out '^INSTR_RETIRED_ANY on CPU 0: 1000 1$'

installed=$(find "$work/root" -path '*/bin/callmark')
run_into out err timeout 60 "$installed" measure --events=INSTR_RETIRED_ANY:FIXC0 --cpus=0 \
	--unit=INSTR_RETIRED_ANY=1 --oracle=sum_is_right worker.so
expect_status 0
expect_line out '^oracle +passed$'
expect_line out '^INSTR_RETIRED_ANY +FIXC0 +0 +1000 +1$'
