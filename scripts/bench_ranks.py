# SPDX-License-Identifier: BSD-3-Clause
"""bench_ranks.py BENCH_JOIN CALLMARK FOLDER RANKS..: the table of bench-ranks.sh.

Exit status 1 when a limit for 4,096 ranks is missed.
"""
import os
import subprocess
import sys

LIMITS = {"join [s]": 5.0, "join [MiB]": 256.0, "h5py [s]": 2.0, "inspect [s]": 2.0,
          "inspect [MiB]": 256.0}
READ = """
import h5py, sys
with h5py.File(sys.argv[1]) as file:
    calls = sum(file[name + "/regions/callee_add"].attrs["calls"]
                for name in file if name != "metadata")
assert calls == 3 * int(sys.argv[2]), calls
"""


def run(*command):
    """Processor seconds, peak MiB and stdout of a command that must succeed."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"bench-ranks: {' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def measure(join, callmark, folder, n_ranks):
    path = f"{folder}/{n_ranks}.h5"
    seconds, mib = run(join, str(n_ranks), path)[2].split()
    idle = run("/usr/bin/python3", "-c", "import h5py")[0]
    h5py_seconds = run("/usr/bin/python3", "-c", READ, path, str(n_ranks))[0] - idle
    inspect_seconds, inspect_mib, _ = run(callmark, "inspect", path)
    return {"join [s]": float(seconds), "join [MiB]": float(mib),
            "file [KiB]": os.path.getsize(path) / 1024, "h5py [s]": max(h5py_seconds, 0.0),
            "inspect [s]": inspect_seconds, "inspect [MiB]": inspect_mib}


def main():
    join, callmark, folder = sys.argv[1:4]
    missed = []
    for number, n_ranks in enumerate(int(text) for text in sys.argv[4:]):
        row = measure(join, callmark, folder, n_ranks)
        if number == 0:
            print("ranks" + "".join(f"{name:>15}" for name in row))
        print(f"{n_ranks:5}" + "".join(
            f"{value:15.2f}" if "[s]" in name else f"{value:15.0f}" for name, value in row.items()))
        if n_ranks == 4096:
            missed = [name for name, limit in LIMITS.items() if row[name] > limit]
    if missed:
        print("over the limit with 4,096 ranks: " + ", ".join(missed))
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
