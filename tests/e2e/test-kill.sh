#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A sample of scripts/torture-kill.sh: SIGKILL at random moments loses and invents nothing.
. "${0%/*}/lib.sh"

run_into out err "$E2E/../../scripts/torture-kill.sh" "${KILLS:-30}" "${TARGETS%/tests/targets}"
cat out
expect_status 0
expect_line out '^[0-9]+ trials, .* 0 wrong, seed'
