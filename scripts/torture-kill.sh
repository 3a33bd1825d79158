#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kill a program that makes intercepted calls at random moments, and compare what is recovered with
# what it had counted itself: every call that had ended is there, and none that had not begun.
#
#   scripts/torture-kill.sh [N [BUILD]]
#
# N trials (1000) in turn with a full trace, without one, and with a cap; with and without a signal
# handler that makes calls. The random moments are those of SEED (the time); the last line repeats
# it. Exit status 1 when something was lost or invented.
set -eu
n=${1:-1000}
build=${2:-$(cd "$(dirname "$0")/.." && pwd)/build}
seed=${SEED:-$(date +%s)}
exec /usr/bin/python3 "$(dirname "$0")/torture_kill.py" "$n" "$build" "$seed"
