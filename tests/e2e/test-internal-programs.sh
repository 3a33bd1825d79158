#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Generated programs and real binaries whose every entry is patched behave as bare, and every call
# is counted: a sample of scripts/torture-internal.sh, which says what is compared.
. "${0%/*}/lib.sh"

run_into out err "$E2E/../../scripts/torture-internal.sh" --sample "${CALLMARK%/cli/callmark}"
cat out
expect_status 0
expect_line out '^[0-9]+ passed, 0 failed, [0-9]+ skipped; [0-9]+ functions patched'
n_patched=$(sed -n 's/^[0-9]* passed, .* \([0-9]*\) functions patched$/\1/p' out)
[ "$n_patched" -ge 2000 ] || fail "only $n_patched functions were patched"
