#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make profiles with h5py and compare what `callmark inspect` says about them."""
import json
import math
import os
import pty
import random
import re
import subprocess
import sys
import unicodedata

import h5py
import numpy as np

CALLMARK = sys.argv[1]
TEXT = h5py.string_dtype("utf-8")
# Escape sequences, a line break, wide and combining characters, longer than 80 columns.
HOSTILE = "a\x1b]0;owned\x07\nb\x7f/\u4e2d\u6587e\u0301" + "x" * 90 + "\u202eend"
rng = random.Random(2)


def inspect(*args, env=None, status=0):
    """Run `callmark inspect`; its stdout (stderr is empty unless it fails: then that line)."""
    done = subprocess.run([CALLMARK, "inspect", *args], capture_output=True, check=False,
                          env={"PATH": os.environ["PATH"], **(env or {})})
    assert done.returncode == status, (args, done)
    if status:
        assert done.stdout == b"", (args, done)
        assert done.stderr.count(b"\n") == 1, (args, done)
        return done.stderr.decode()
    assert done.stderr == b"", (args, done)
    return done.stdout.decode()


def columns(line):
    widths = {"W": 2, "F": 2}
    return sum(0 if unicodedata.combining(c) else widths.get(unicodedata.east_asian_width(c), 1)
               for c in line)


def check_text(text, width):
    for line in text.split("\n"):
        assert columns(line) <= width, (width, line)
        assert all(c >= " " and c not in "\x7f\u202e" for c in line), line


class Region:
    """Random calls, and the numbers that must come out."""

    def __init__(self, tag, n, kept=None, max_events=-1, scale=1000, **counts):
        self.tag, self.n, self.counts, self.max_events = tag, n, counts, max_events
        self.kept = n if kept is None else kept
        starts = np.sort(np.array([rng.randrange(10**9) for _ in range(n)], dtype=np.int64))
        self.starts = starts + 5 * 10**14
        self.ns = np.array([int(rng.expovariate(1 / scale)) for _ in range(n)], dtype=np.int64)

    def histogram(self):
        buckets = np.zeros(64, dtype=np.uint64)
        for ns in self.ns:
            buckets[max(int(ns).bit_length() - 1, 0)] += np.uint64(1)
        return buckets

    def store(self, rank, ours):
        group = rank.create_group("regions/" + self.tag.replace("/", "|"))
        group["start_times"] = self.starts[:self.kept]
        group["end_times"] = self.starts[:self.kept] + self.ns[:self.kept]
        if not ours:
            return
        group["threads"] = np.zeros(self.kept, dtype=np.int32)
        group["histogram"] = self.histogram()
        group.create_dataset("symbols", data=[self.tag], dtype=TEXT)
        group.attrs.update({"tag": self.tag, "library": "libtest.so.1"})
        numbers = {"calls": self.n + self.counts.get("open", 0), "total_ns": int(self.ns.sum()),
                   "min_ns": int(self.ns.min()), "max_ns": int(self.ns.max()), "tool_ns": 17,
                   "unwound": 0, "skipped": 0, "open": 0, "dropped_events": 0,
                   "max_events": self.max_events, **self.counts}
        for name, number in numbers.items():
            group.attrs[name] = np.int64(number)
        group.attrs["sum_sq_ns2"] = float((self.ns.astype(float) ** 2).sum())


def percentile(ns, percent):
    return int(np.sort(ns)[max(math.ceil(len(ns) * percent / 100), 1) - 1])


def check_region(found, regions, profiled_ns):
    """`regions`: of one tag, one or several ranks."""
    ns = np.concatenate([region.ns for region in regions])
    open_calls = sum(region.counts.get("open", 0) for region in regions)
    assert found["calls"] == len(ns) + open_calls, found
    assert found["completed"] == len(ns), found
    assert found["traced"] == sum(region.kept for region in regions), found
    assert found["total_ns"] == int(ns.sum()), found
    assert (found["min_ns"], found["max_ns"]) == (int(ns.min()), int(ns.max())), found
    assert math.isclose(found["avg_ns"], ns.mean(), rel_tol=1e-12), found
    assert math.isclose(found["std_ns"], ns.std(), rel_tol=1e-6), found
    assert math.isclose(found["share"], ns.sum() / profiled_ns, rel_tol=1e-12), found
    for name in ("unwound", "skipped", "dropped_events"):
        assert found[name] == sum(region.counts.get(name, 0) for region in regions), found
    is_exact = all(region.kept == region.n for region in regions)
    for percent in (50, 95, 99):
        value = found[f"p{percent}"]
        assert value["exact"] == is_exact, found
        exact = percentile(ns, percent)
        if is_exact:
            assert value["ns"] == exact, (percent, exact, found)
        else:
            assert exact.bit_length() == value["ns"].bit_length(), (percent, exact, found)
    histogram = sum(region.histogram() for region in regions)
    assert found["histogram"] == [int(n) for n in np.trim_zeros(histogram, "b")], found


def store_rank(file, number, regions, ours=True):
    rank = file.create_group(f"rank{number}")
    for region in regions:
        region.store(rank, ours)
    if not ours:
        return
    rank.attrs.update({"hostname": f"node{number}", "executable": "/usr/bin/prog\x1b",
                       "clock": "tsc", "pid": 4242 + number, "exit_status": 3 * number,
                       "monotonic_to_realtime_ns": 7, "dropped_events": 5 * number,
                       "overhead_ns_per_call": 16.5})
    rank.create_dataset("command_line", data=["prog", "two words", "it's"], dtype=TEXT)
    rank.create_dataset("never_called", data=[f"never_{i}" for i in range(13)], dtype=TEXT)
    rank.create_dataset("notes", data=["likwid: not there"] if number else [], dtype=TEXT,
                        shape=(1 if number else 0,))
    threads = rank.create_group("threads")
    threads["tid"] = np.array([10, 11], dtype=np.int64)
    threads["first_ns"] = np.array([5 * 10**14, 5 * 10**14], dtype=np.int64)
    threads["last_ns"] = np.array([5 * 10**14 + 10**9, 5 * 10**14 + 10**8], dtype=np.int64)
    threads.create_dataset("name", data=["prog", "worker"], dtype=TEXT)
    threads.create_dataset("cpus", data=["0-1", ""], dtype=TEXT)


RANK0 = [Region("step", 70000, scale=3000), Region("mpi/send", 1500, kept=1000, max_events=1000),
         Region(HOSTILE, 3), Region("quiet", 800, kept=0, max_events=0)]
RANK2 = [Region("step", 50000, open=1, unwound=2, skipped=1),
         Region("lossy", 900, kept=890, dropped_events=10), Region("mpi/send", 40)]
PROFILED_NS = 10**9 + 10**8


def make_ours(path):
    with h5py.File(path, "w") as file:
        file.attrs.update({"scope_profiler_schema": 1, "callmark_schema": 1,
                           "callmark_version": "0.1.0", "run_id": "run-77"})
        file.attrs["missing_ranks"] = np.array([1], dtype=np.int64)
        metadata = file.create_group("metadata")
        metadata.attrs.update({"timestamp": "2026-11-30T03:26:57Z", "user": "me",
                               "platform": "Linux-6.1", "mpi_size": 3, "hostname": "node0"})
        metadata.attrs.create("modules", ["gcc/12", "openmpi"], dtype=TEXT)
        store_rank(file, 0, RANK0)
        store_rank(file, 2, RANK2)


def test_json_of_ours():
    found = json.loads(inspect("--json", "ours.h5"))
    assert found["callmark_inspect"] == 1 and found["run_id"] == "run-77"
    assert found["mpi_size"] == 3 and found["missing_ranks"] == [1]
    assert found["metadata"]["modules"] == ["gcc/12", "openmpi"]
    assert [rank["rank"] for rank in found["ranks"]] == [0, 2]
    for rank, regions in zip(found["ranks"], (RANK0, RANK2)):
        assert rank["profiled_ns"] == PROFILED_NS and not rank["complete"]
        assert rank["command_line"] == ["prog", "two words", "it's"]
        assert rank["exit_status"] == 3 * rank["rank"] and rank["pid"] == 4242 + rank["rank"]
        assert rank["untimed_calls"] == 5 * rank["rank"]
        assert rank["threads"][0]["cpus"] == "0-1" and len(rank["never_called"]) == 13
        by_tag = {region["tag"]: region for region in rank["regions"]}
        assert set(by_tag) == {region.tag for region in regions}
        for region in regions:
            check_region(by_tag[region.tag], [region], PROFILED_NS)
        totals = [region["total_ns"] for region in rank["regions"]]
        assert totals == sorted(totals, reverse=True)
    everything = found["all_ranks"]
    assert everything["n_ranks"] == 2 and everything["untimed_calls"] == 10
    for region in everything["regions"]:
        parts = [part for part in RANK0 + RANK2 if part.tag == region["tag"]]
        assert region["n_ranks"] == len(parts)
        check_region(region, parts, 2 * PROFILED_NS)


def test_text_of_ours():
    text = inspect("--per-rank", "ours.h5")
    check_text(text, 80)
    flat = re.sub(r"\s+", " ", text)
    for part in ("command prog 'two words' 'it'\\''s'", "program /usr/bin/prog\\x1b", "2 of 3",
                 "missing rank: 1", "written by callmark 0.1.0, run run-77", "over 2 ranks on 2 nodes:", "calls of all 2 ranks:",
                 "mpi/send: trace holds 1,000 of 1,500 calls (max-events)",
                 "quiet: totals only, no trace of 800 calls (trace=off)",
                 "lossy: 10 records lost, the calls are counted",
                 "step: 1 call still open at the end, not in the times; 2 calls left by an "
                 "exception or a thread's end; 1 call left by longjmp",
                 "10 calls not timed", "! likwid: not there", "never called (13): never_0, ",
                 "never_9 and 3 more", "node2, pid 4244, exit status 6", "~ estimated",
                 "never called (13): as on rank 0"):
        assert part in flat, (part, text)
    for row in ("step +120,001 ", "mpi/send +1,540 .*~", "quiet +800 .*~", "lossy +900 .*~"):
        assert re.search(f"^{row}", text, re.M), (row, text)
    for width in (40, 60, 100, 200):
        check_text(inspect("ours.h5", env={"COLUMNS": str(width)}), width)
        check_text(inspect("--per-rank", "ours.h5", env={"COLUMNS": str(width)}), width)
    for name in ("calls", "total", "share", "avg", "min", "max", "p50", "p95", "p99", "std"):
        assert re.search(rf"^region.*\b{name}\b", text, re.M), name


def test_filters():
    def tags(*args):
        ranks = json.loads(inspect("--json", *args, "ours.h5"))["ranks"]
        return [[region["tag"] for region in rank["regions"]] for rank in ranks]

    assert tags("--include", "st", "--ranks", "0") == [["step"]]
    assert tags("--include", "tep", "--ranks", "0") == [[]]
    assert tags("-i", "step|mpi", "-x", "mpi", "-r", "0-2") == [["step"], ["step"]]
    assert tags("--sort=name", "--ranks=2") == [["lossy", "mpi/send", "step"]]
    assert tags("--sort=calls", "--ranks=2") == [["step", "lossy", "mpi/send"]]
    assert "no region matches" in inspect("-i", "nothing", "ours.h5")
    for args, part in ((("-i", "a("), "a("), (("--ranks", "1-"), "1-"), (("-s", "cost"), "cost"),
                       (("-x", "\x1b["), "\\x1b[")):
        assert part in inspect(*args, "ours.h5", status=2)
    assert "no rank 1 in it" in inspect("-r", "1", "ours.h5", status=1)


def test_scope_profilers_file():
    regions = [Region("main|loop", 66000), Region("io", 20)]
    with h5py.File("scope.h5", "w") as file:
        file.attrs["scope_profiler_schema"] = 1
        file.create_group("metadata").attrs["timestamp"] = "2026-01-01T00:00:00+00:00"
        store_rank(file, 0, regions, ours=False)
    ends = [int((region.starts + region.ns).max()) for region in regions]
    span = max(ends) - min(int(region.starts[0]) for region in regions)
    found = json.loads(inspect("--json", "scope.h5"))
    assert found["callmark_version"] == "" and found["ranks"][0]["exit_status"] is None
    assert found["ranks"][0]["complete"] and found["ranks"][0]["profiled_ns"] == span
    by_tag = {region["tag"]: region for region in found["ranks"][0]["regions"]}
    # Without a tag attribute the group's name is all there is; | may have been /.
    for region in regions:
        tag = region.tag if region.tag in by_tag else region.tag.replace("|", "/")
        check_region(by_tag[tag], [region], span)
    text = inspect("scope.h5")
    check_text(text, 80)
    assert "not by callmark" in text and "!" not in text and "~" not in text, text


def test_bad_files():
    with open("text.h5", "w", encoding="utf-8") as file:
        file.write("no profile\n" * 100)
    with open("ours.h5", "rb") as whole, open("cut.h5", "wb") as cut:
        cut.write(whole.read()[:20000])
    with h5py.File("foreign.h5", "w") as file:
        file["temperature"] = [1.0, 2.0]
    os.mkdir("folder.h5")
    with open("empty.h5", "wb"):
        pass
    for name in ("text", "cut", "foreign", "folder", "empty", "missing", "mis\x1bsing"):
        line = inspect(f"{name}.h5", status=1)
        assert line.startswith("callmark: "), line
        assert name.replace("\x1b", "\\x1b") in line and "\x1b" not in line, line
    assert "FILE" in subprocess.run([CALLMARK, "inspect"], capture_output=True, text=True,
                                    check=False).stderr
    done = subprocess.run([CALLMARK, "inspect", "ours.h5"], stdout=open("/dev/full", "wb"),
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and done.stderr.count(b"\n") == 1, done


def test_damaged_heaps():
    """The HDF5 library crashes on some of these: still one line, exit status 1."""
    with open("ours.h5", "rb") as file:
        whole = file.read()
    statuses = set()
    heaps = [match.start() for match in re.finditer(b"GCOL", whole)]
    for heap in heaps[:8]:
        for offset, value in ((16, b"\xff\xff"), (24, b"\xff\xff\xff"), (24, b"\xff" * 8)):
            damaged = bytearray(whole)
            damaged[heap + offset:heap + offset + len(value)] = value
            with open("damaged.h5", "wb") as file:
                file.write(damaged)
            done = subprocess.run([CALLMARK, "inspect", "damaged.h5"], capture_output=True,
                                  check=False, timeout=60)
            statuses.add(done.returncode)
            assert done.returncode in (0, 1), done
            assert done.stderr.count(b"\n") == done.returncode, done
            assert not done.returncode or b"damaged.h5" in done.stderr, done
    assert 1 in statuses, "nothing was damaged"


def test_user_block():
    """Addresses of strings count from behind what a user has put in front of the file."""
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(folder + "/../data/h5-load/paths", "rb") as file:
        whole = file.read()
    for name, head in (("plain", b""), ("moved", bytes(512))):
        with open(name + ".h5", "wb") as file:
            file.write(head + whole)
    plain, moved = (inspect("--callers", name + ".h5") for name in ("plain", "moved"))
    assert "main;b;a" in plain
    assert moved.replace("moved.h5", "plain.h5") == plain


def on_terminal(**env):
    ours, theirs = pty.openpty()
    with subprocess.Popen([CALLMARK, "inspect", "ours.h5"], stdin=theirs, stdout=theirs,
                          stderr=theirs, env={"PATH": os.environ["PATH"], **env}) as process:
        os.close(theirs)
        output = b""
        try:
            while data := os.read(ours, 65536):
                output += data
        except OSError:  # EIO: the other side is closed
            pass
    os.close(ours)
    assert process.returncode == 0, output
    return output.decode().replace("\r\n", "\n")


def test_terminal():
    assert "\x1b[1m" in on_terminal(TERM="xterm")
    plain = on_terminal(TERM="xterm", NO_COLOR="1")
    assert "\x1b" not in plain and "step" in plain
    assert "\x1b" not in on_terminal(TERM="dumb")
    assert "\x1b[1m" in on_terminal(TERM="xterm", NO_COLOR="")
    names = re.sub(r"\x1b\[\d+m", "", on_terminal(TERM="xterm"))
    assert "\x1b" not in names, names


make_ours("ours.h5")
for test in (test_json_of_ours, test_text_of_ours, test_filters, test_scope_profilers_file,
             test_bad_files, test_damaged_heaps, test_user_block, test_terminal):
    test()
