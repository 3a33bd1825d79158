#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `inspect` of files that h5py made as layout.md says: with our attributes, as scope-profiler writes
# them, and broken ones. Expected numbers are worked out in Python.
. "${0%/*}/lib.sh"

/usr/bin/python3 "$E2E/inspect_file.py" "$CALLMARK" || fail "see above"
