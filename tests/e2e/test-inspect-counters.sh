#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The LIKWID tables of `inspect`, of a file that h5py made as layout.md says: sums over hardware
# threads, single ones, extremes, filters, notes, JSON. Expected numbers are worked out in Python.
. "${0%/*}/lib.sh"

/usr/bin/python3 "$E2E/inspect_counters.py" "$CALLMARK" || fail "see above"
