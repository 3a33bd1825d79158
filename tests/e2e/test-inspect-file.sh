#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `inspect` of files that h5py made as layout.md says: with our attributes, as scope-profiler writes
# them, and broken ones. Expected numbers are worked out in Python.
. "${0%/*}/lib.sh"

/usr/bin/python3 "$E2E/inspect_file.py" "$CALLMARK" || fail "see above"

# Found by fuzzing: libhdf5 1.10.8 copies from a null pointer while it looks up a link, and it would
# believe any number for that of a string in a heap. One line.
for file in libhdf5/null-copy.h5 h5-load/no-such-object; do
	run_into out err "$CALLMARK" inspect "$E2E/../data/$file"
	expect_status 1
	[ "$(wc -l <err)" = 1 ] || fail "$file: more than one line"
	expect_line err "^callmark: .*$file: "
	[ ! -s out ] || fail "$file: output of a damaged file"
done
