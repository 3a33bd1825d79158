#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One case of the torture, bare or profiled alike:   tests/torture/case.sh NAME
# The working directory is empty, HERE is this folder, IN what prepare.sh made (not to be changed),
# PORT a free port of 127.0.0.1. What the case prints and leaves in its folder is compared, so it
# must not depend on the time, a pid or the order of threads.
set -u
: "${HERE:?}" "${IN:?}" "${PORT:?}"
# Cases delete what they made: never anywhere else.
if [ "$PWD" != "${IN%/in}/cwd" ]; then
	echo "case.sh: not started by scripts/torture.sh" >&2
	exit 99
fi
for file in text build languages systems; do
	. "$HERE/cases-$file.sh"
done
"case_$1"
