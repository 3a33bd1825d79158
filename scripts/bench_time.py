# SPDX-License-Identifier: BSD-3-Clause
"""bench_time.py COMMAND..: run it; print its wall seconds and its peak resident KiB."""
import os
import sys
import time


def main():
    null = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    start = time.perf_counter()
    pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=null)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - start
    print(f"{seconds:.4f} {usage.ru_maxrss}")
    return status != 0


if __name__ == "__main__":
    sys.exit(main())
