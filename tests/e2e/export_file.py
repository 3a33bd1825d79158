#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `callmark export` writes, read with csv and json and compared with what h5py stored."""
import csv
import io
import json
import math
import os
import resource
import subprocess
import sys

import h5py
import numpy as np
from counters_file import HOSTILE, SIMULATED, TEXT, make_file

CALLMARK = sys.argv[1]
COUNTERS, CALLS = make_file("counters.h5")
FIXED = ["rank", "region", "thread", "cpu", "group", "source", "cpu_name", "time", "call_count"]


def run(*args, status=0, **options):
    done = subprocess.run([CALLMARK, "export", *args], stderr=subprocess.PIPE, check=False,
                          stdout=subprocess.PIPE, timeout=100, **options)
    assert done.returncode == status, (args, done)
    if status:
        assert done.stdout == b"" and done.stderr.startswith(b"callmark"), done
        return done.stderr.decode()
    assert done.stderr == b"", done
    return done.stdout.decode()


def read_csv(text):
    names, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert all(len(row) == len(names) for row in rows)
    assert len(set(names)) == len(names)
    return names, [dict(zip(names, row)) for row in rows]


def same(found, expected):
    return math.isnan(found) if math.isnan(expected) else found == expected


def expected_rows(ranks=(0, 2), wanted=lambda tag: True):
    return {(rank, region.tag, region.group_name, thread): (region, thread)
            for rank in ranks for region in COUNTERS[rank] if wanted(region.tag)
            for thread in range(len(region.cpus))}


def check_likwid(rows, expected, absent):
    assert len(rows) == len(expected)
    for row in rows:
        region, thread = expected[int(row["rank"]), row["region"], row["group"],
                                  int(row["thread"])]
        assert int(row["cpu"]) == region.cpus[thread] and row["source"] == region.source
        assert row["cpu_name"] == SIMULATED
        assert int(row["call_count"]) == region.counts[thread]
        assert float(row["time"]) == region.times[thread]
        columns = region.columns()
        for name in row:
            if name in columns:
                value = math.nan if row[name] is None else float(row[name])
                assert same(value, columns[name][thread]), (name, row)
            else:
                assert name in FIXED or row[name] == absent, (name, row)
        assert set(columns) <= set(row)


def test_likwid():
    text = run("counters.h5")
    assert text.count("\r\n") == len(expected_rows()) + 1 and text.endswith("\r\n")
    names, rows = read_csv(text)
    union = [*COUNTERS[0][0].labels, "RETIRED_FLOPS", *COUNTERS[2][1].labels]
    union += [*COUNTERS[0][0].names[2], "DP [MFLOP/s]"]
    assert names[:len(FIXED)] == FIXED and sorted(names[len(FIXED):]) == sorted(union), names
    check_likwid(rows, expected_rows(), "")
    assert sum(row["CPI"] == "nan" for row in rows) == 1
    assert any(row["region"] == HOSTILE for row in rows)
    rows = json.loads(run("--format", "json", "--what=likwid", "counters.h5"))
    check_likwid(rows, expected_rows(), None)
    assert any("event_0" in row for row in rows) and not all("event_0" in row for row in rows)
    names, rows = read_csv(run("-i", "c", "-x", "costly", "-r", "0", "counters.h5"))
    check_likwid(rows, expected_rows((0,), lambda tag: tag == "cheap"), "")
    assert "event_0" not in names
    assert read_csv(run("-i", "nothing", "counters.h5")) == (FIXED, [])
    assert json.loads(run("-i", "nothing", "-f", "json", "counters.h5")) == []


def test_regions():
    inspected = json.loads(subprocess.run([CALLMARK, "inspect", "--json", "counters.h5"],
                                          check=True, stdout=subprocess.PIPE).stdout)
    from_csv = read_csv(run("--what=regions", "counters.h5"))[1]
    from_json = json.loads(run("--what=regions", "--format=json", "counters.h5"))
    regions = [(rank["rank"], r) for rank in inspected["ranks"] for r in rank["regions"]]
    assert len(from_csv) == len(from_json) == len(regions) == 12
    for row, same_row, (rank, region) in zip(from_csv, from_json, regions):
        calls = CALLS[rank][region["tag"]]
        ns = [end - start for start, end in calls]
        assert int(row["rank"]) == same_row["rank"] == rank
        assert row["region"] == same_row["region"] == region["tag"]
        assert int(row["total_ns"]) == same_row["total_ns"] == sum(ns)
        assert float(row["sum_sq_ns2"]) == same_row["sum_sq_ns2"] == sum(n * n for n in ns)
        for name in ("calls", "completed", "traced", "min_ns", "max_ns", "avg_ns", "std_ns",
                     "tool_ns", "unwound", "skipped", "open", "dropped_events", "backwards"):
            assert float(row[name]) == same_row[name] == region[name], name
        assert same_row["share"] == region["share"]
        for name in ("p50", "p95", "p99"):
            assert int(row[name + "_ns"]) == same_row[name + "_ns"] == region[name]["ns"]
            assert json.loads(row[name + "_exact"]) is same_row[name + "_exact"] is True
        assert same_row["histogram"] == region["histogram"]
        assert [int(n) for n in row["histogram"].split()] == region["histogram"]
        assert same_row["symbols"] == region["symbols"]
    # Without counters on the ranks asked for, regions are the default.
    assert "total_ns" in read_csv(run("-r", "1", "counters.h5"))[0]


def test_calls():
    def expect(rank, tag):
        threads = [0, 1, 0, 1, 1] if rank else [None] * 5
        return [(rank, tag, thread, *call) for thread, call in zip(threads, CALLS[rank][tag])]

    everything = [row for rank, tags in CALLS.items() for tag in tags for row in expect(rank, tag)]
    names, rows = read_csv(run("--what=calls", "counters.h5"))
    assert names == ["rank", "region", "thread", "start_ns", "end_ns"]
    found = [(int(row["rank"]), row["region"], int(row["thread"]) if row["thread"] else None,
              int(row["start_ns"]), int(row["end_ns"])) for row in rows]
    assert sorted(found, key=str) == sorted(everything, key=str)
    found = json.loads(run("--what=calls", "--format=json", "counters.h5"))
    assert sorted((tuple(row.values()) for row in found), key=str) == sorted(everything, key=str)
    found = json.loads(run("--what=calls", "-fjson", "-r", "2", "-i", "cost", "counters.h5"))
    assert [tuple(row.values()) for row in found] == expect(2, "costly")


def test_many_calls():
    """Three million: every row, in memory that does not hold them (they are 48 MB as int64)."""
    n = 3 * 10**6
    starts = np.arange(n, dtype=np.int64) * 1000 + 5 * 10**17
    with h5py.File("many.h5", "w") as file:
        file.attrs.update({"scope_profiler_schema": 1})
        file.create_group("metadata").attrs["timestamp"] = "2026"
        group = file.create_group("rank0/regions/step")
        group.create_dataset("start_times", data=starts, chunks=(65536,))
        group.create_dataset("end_times", data=starts + 17, chunks=(65536,))
    with open(CALLMARK, "rb") as program:
        limit = resource.RLIM_INFINITY if b"__asan_init" in program.read() else 24 << 20
    run("--what=calls", "-o", "many.csv", "many.h5",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
    with open("many.csv", "rb") as table:
        assert table.readline() == b"rank,region,thread,start_ns,end_ns\r\n"
        found = np.loadtxt(table, dtype=np.int64, delimiter=",", usecols=(0, 3, 4))
    assert len(found) == n and not found[:, 0].any()
    assert (found[:, 1] == starts).all() and (found[:, 2] == starts + 17).all()
    os.unlink("many.csv")


def test_odd_names():
    """An event called like a fixed column, and a metric called like an event."""
    with h5py.File("odd.h5", "w") as file:
        file.attrs.update({"scope_profiler_schema": 1, "callmark_schema": 1})
        file.create_group("metadata").attrs["timestamp"] = "2026"
        group = file.create_group("rank0/likwid/regions/r")
        group.attrs.update({"tag": "r", "group_id": 0, "group_name": "G", "source": "full_api"})
        group.attrs.create("event_names", ["time", "X,Y"], dtype=TEXT)
        group.attrs.create("counter_names", ["PMC0", "PMC1"], dtype=TEXT)
        group.attrs.create("metric_names", ["X,Y", "CPI", "CPI"], dtype=TEXT)
        group["cpus"], group["call_counts"], group["times"] = [0], [1], [0.5]
        group["events"], group["metrics"] = [[1.0], [2.0]], [[3.0], [4.0], [5.0]]
    names, (row,) = read_csv(run("odd.h5"))
    assert names[len(FIXED):] == ["time#2", "X,Y", "X,Y#2", "CPI", "CPI#2"], names
    assert [row[name] for name in names[len(FIXED):]] == ["1", "2", "3", "4", "5"]
    assert row["time"] == "0.5" and row["cpu_name"] == ""


def test_output():
    run("-o", "out.csv", "counters.h5")
    with open("out.csv", encoding="utf-8", newline="") as table:
        assert table.read() == run("counters.h5")
    with open("text.h5", "w", encoding="utf-8") as file:
        file.write("no profile\n" * 100)
    before = sorted(os.listdir())
    for args, status, part in (
            (("text.h5",), 1, "text.h5"), (("missing.h5",), 1, "missing.h5"),
            (("-r", "7", "counters.h5"), 1, "no rank 7"),
            (("--what=likwid", "-r", "1", "counters.h5"), 1, "no LIKWID counters"),
            (("--what=likwid", "many.h5"), 1, "no LIKWID counters"),
            (("--what=all", "counters.h5"), 2, "likwid, regions, calls or callers"),
            (("--format=xml", "counters.h5"), 2, "csv or json"),
            (("-i", "a(", "counters.h5"), 2, "callmark export --help")):
        line = run(*args, "-o", "out.csv", status=status)
        assert part in line and line.count("\n") == 1, line
        with open("out.csv", encoding="utf-8", newline="") as table:
            assert table.read() == run("counters.h5"), args
        assert sorted(os.listdir()) == before, args
    assert "FILE" in run(status=2)
    assert "itself" in run("counters.h5", "-o", "./counters.h5", status=2)
    assert run("counters.h5", "-o", "none/out.csv", status=1).count("\n") == 1
    assert "No space" in run("counters.h5", "-o", "/dev/full", status=1)
    with open("/dev/full", "wb") as full:
        for what in ("likwid", "calls"):
            done = subprocess.run([CALLMARK, "export", "counters.h5", "--what", what], stdout=full,
                                  stderr=subprocess.PIPE, check=False)
            assert done.returncode == 1 and done.stderr.count(b"\n") == 1, done
    with open("counters.h5", "rb") as whole, open("cut.h5", "wb") as cut:
        cut.write(whole.read()[:20000])
    assert "cut.h5" in run("cut.h5", "-o", "cut.csv", status=1) and not os.path.exists("cut.csv")


for test in (test_likwid, test_regions, test_calls, test_many_calls, test_odd_names, test_output):
    test()
