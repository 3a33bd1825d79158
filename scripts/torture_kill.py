# SPDX-License-Identifier: BSD-3-Clause
"""The trials of torture-kill.sh: torture_kill.py N BUILD SEED."""
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import h5py

RULES = {
    "trace": ["callee_* max-events=unlimited"],
    "totals": ["callee_* trace=off"],
    "capped": ["callee_* max-events=5000"],
}
N_CALLERS = 4
FUNCTIONS = ("callee_add", "callee_call")
LONGEST_US = 60000
MAX_WRONG = 10  # then it is clear


def read_counts(path):
    """{function: (begun, done)}, all callers together; None: killed before there were any."""
    if not os.path.exists(path) or os.path.getsize(path) < 4096:
        return None
    with open(path, "rb") as file:
        words = struct.unpack(f"<{N_CALLERS * 4}Q", file.read(N_CALLERS * 32))
    return {name: (sum(words[2 * i::4]), sum(words[2 * i + 1::4]))
            for i, name in enumerate(FUNCTIONS)}


def read_profile(path):
    """{function: attributes and rows of its region}."""
    if not os.path.exists(path):
        return {}
    with h5py.File(path) as file:
        return {name: dict(region.attrs, rows=len(region["start_times"]),
                           histogram=int(region["histogram"][:].sum()))
                for name, region in file["rank0/regions"].items()}


def judge(counts, found, rule):
    """What is wrong with one trial; an empty list when nothing is."""
    wrong = []
    for name in FUNCTIONS:
        begun, done = counts[name] if counts else (0, 0)
        region = found.get(name, dict.fromkeys(("calls", "open", "rows", "histogram",
                                                "dropped_events", "skipped", "unwound"), 0))
        calls, ended = int(region["calls"]), int(region["calls"]) - int(region["open"])
        if calls > begun:
            wrong.append(f"{name}: {calls} calls, {begun} were begun")
        if ended < done:
            wrong.append(f"{name}: {ended} calls have ended, {done} should have")
        if region["rows"] > ended or (rule == "totals" and region["rows"]):
            wrong.append(f"{name}: {region['rows']} rows of {ended} calls")
        if rule == "trace" and ended - region["rows"] != int(region["dropped_events"]):
            wrong.append(f"{name}: {region['rows']} rows of {ended} calls")
        if not ended - int(region["dropped_events"]) <= region["histogram"] <= ended:
            wrong.append(f"{name}: histogram of {region['histogram']}, {ended} calls")
        if region["skipped"] or region["unwound"]:
            wrong.append(f"{name}: skipped {region['skipped']}, unwound {region['unwound']}")
    return wrong


def run_trial(build, rule, microseconds, signals):
    """A list of what is wrong; the trial's files stand in the current folder."""
    command = [os.path.join(build, "cli/callmark"), "run", "--compress=none"]
    for text in RULES[rule]:
        command += ["-s", text]
    command += ["--", os.path.join(build, "tests/targets/killed"), "counts", str(microseconds)]
    done = subprocess.run(command + (["signals"] if signals else []), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    left = [os.path.join(top, name) for top, folders, files in os.walk("spool")
            for name in files + folders if top.count("/") > 0]
    wrong = judge(read_counts("counts"), read_profile("profiling_data.h5"), rule)
    if done.returncode != 137:
        wrong.append(f"exit status {done.returncode}: {done.stderr.decode()}")
    if left:
        wrong.append(f"left in the spool: {left}")
    return wrong


def main():
    n, build, seed = int(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    moments = random.Random(seed)
    n_bad = n_empty = 0
    work = tempfile.mkdtemp(prefix="callmark-kill.")
    os.chdir(work)
    os.environ["CALLMARK_SPOOL"] = os.path.join(work, "spool")
    os.mkdir(os.environ["CALLMARK_SPOOL"])
    try:
        for i in range(n):
            rule = list(RULES)[i % len(RULES)]
            # Half of them early: the first calls are the ones that make things.
            microseconds = moments.randrange(100, LONGEST_US if i // 3 % 2 else 4000)
            signals = i // 6 % 2 == 1
            wrong = run_trial(build, rule, microseconds, signals)
            n_empty += not os.path.exists("profiling_data.h5")
            for text in wrong:
                print(f"trial {i} ({rule}, {microseconds} us, signals {signals}): {text}")
            n_bad += bool(wrong)
            if n_bad == MAX_WRONG:
                n = i + 1
                break
            for name in ("counts", "profiling_data.h5"):
                if os.path.exists(name):
                    os.remove(name)
            shutil.rmtree(os.environ["CALLMARK_SPOOL"])
            os.mkdir(os.environ["CALLMARK_SPOOL"])
    finally:
        shutil.rmtree(work)
    print(f"{n} trials, {n_empty} before the first call, {n_bad} wrong, seed {seed}")
    return 1 if n_bad or (n >= 30 and n_empty == n) else 0


if __name__ == "__main__":
    sys.exit(main())
