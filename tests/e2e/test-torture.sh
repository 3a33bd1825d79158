#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Real programs behave as without us under the rule `*` and under every function of libc's large
# families: a sample of scripts/torture.sh, which says what is compared.
. "${0%/*}/lib.sh"

run_into out err "$E2E/../../scripts/torture.sh" --sample "${CALLMARK%/cli/callmark}"
cat out
expect_status 0
expect_line out '^[0-9]+ passed, 0 failed, [0-9]+ cases skipped; [0-9]+ different programs'
# At least half of the sample's programs are on every Debian.
n_passed=$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' out)
[ "$n_passed" -ge 16 ] || fail "only $n_passed runs were compared"
