#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `callmark inspect` says over several ranks, compared with what h5py stored.

    inspect_ranks.py CALLMARK            files made here, exact numbers
    inspect_ranks.py CALLMARK FILE       a real run: the numbers follow from the file
"""
import json
import math
import os
import re
import subprocess
import sys

import h5py
import numpy as np
from counters_file import SIMULATED, make_file

CALLMARK = sys.argv[1]
TEXT = h5py.string_dtype("utf-8")
MS = 10**6
START = 5 * 10**14
# By rank: durations of the calls by region, distance to real time, first start after START.
RANKS = {
    0: ({"solve": [30 * MS, 10 * MS], "MPI_Wait": [5 * MS], "only/zero": [7]}, 10**18, 0),
    1: ({"solve": [20 * MS], "MPI_Wait": [15 * MS]}, 10**18, 3 * MS),
    3: ({"solve": [90 * MS], "MPI_Wait": [1 * MS] * 4}, 10**18 + 50 * MS, -40 * MS),
}
NODES = {0: "node0", 1: "node0", 3: "node1"}
SPAN = 200 * MS


def inspect(*args, path="ranks.h5", width=80, status=0):
    done = subprocess.run([CALLMARK, "inspect", *args, path], capture_output=True, check=False,
                          env={"PATH": os.environ["PATH"], "COLUMNS": str(width)})
    assert done.returncode == status, (args, done)
    text = (done.stderr if status else done.stdout).decode()
    if "--json" not in args and not status:
        for line in text.split("\n"):
            assert len(line) <= width and all(c >= " " for c in line), (width, line)
    return text


def store_region(rank, tag, first, durations):
    group = rank.create_group("regions/" + tag.replace("/", "|"))
    starts = first + 10 * MS * np.arange(len(durations), dtype=np.int64)
    ns = np.array(durations, dtype=np.int64)
    group["start_times"], group["end_times"] = starts, starts + ns
    histogram = np.zeros(64, dtype=np.uint64)
    for each in durations:
        histogram[each.bit_length() - 1] += np.uint64(1)
    group["histogram"] = histogram
    group.attrs.update({"tag": tag, "library": "lib.so", "sum_sq_ns2": float((ns * 1.0) @ ns)})
    for name, value in {"calls": len(ns), "total_ns": ns.sum(), "min_ns": ns.min(),
                        "max_ns": ns.max(), "max_events": -1}.items():
        group.attrs[name] = np.int64(value)


def make_ranks(path, has_offsets=True):
    with h5py.File(path, "w") as file:
        file.attrs.update({"scope_profiler_schema": 1, "callmark_schema": 1,
                           "callmark_version": "0.1.0", "run_id": "run-77"})
        file.attrs["missing_ranks"] = np.array([2], dtype=np.int64)
        file.create_group("metadata").attrs.update({"mpi_size": 4, "timestamp": "now"})
        for number, (regions, offset, first) in RANKS.items():
            rank = file.create_group(f"rank{number}")
            rank.attrs.update({"hostname": NODES[number], "pid": 100 + number,
                               "monotonic_to_realtime_ns": offset if has_offsets else 0})
            if number != 1:
                rank.attrs["exit_status"] = 3 * number
            rank.create_dataset("notes", data=["no LIKWID", f"only {number}"], dtype=TEXT)
            rank.create_dataset("never_called", data=["unused", f"unused{number}"], dtype=TEXT)
            threads = rank.create_group("threads")
            for name, value in {"tid": 1, "first_ns": START + first,
                                "last_ns": START + first + SPAN}.items():
                threads[name] = np.array([value], dtype=np.int64)
            for name in ("name", "cpus"):
                threads.create_dataset(name, data=[""], dtype=TEXT)
            for tag, durations in regions.items():
                store_region(rank, tag, START + first, durations)


def expected_balance(totals):
    """`totals` by rank, 0 where it did not enter the region."""
    slowest = min(rank for rank, ns in totals.items() if ns == max(totals.values()))
    return {"mean_ns": sum(totals.values()) / len(totals), "min_ns": min(totals.values()),
            "max_ns": max(totals.values()), "slowest_rank": slowest,
            "imbalance": max(totals.values()) * len(totals) / sum(totals.values()) - 1,
            "lost_ns": sum(max(totals.values()) - ns for ns in totals.values())}


def check_balance(found, totals):
    for name, value in expected_balance(totals).items():
        assert math.isclose(found[name], value, rel_tol=1e-12, abs_tol=1e-12), (name, found, totals)


def totals_of(tag, ranks=tuple(RANKS)):
    return {rank: sum(RANKS[rank][0].get(tag, [])) for rank in ranks}


def table(text):
    """The cells of the table over ranks by region, its blocks put side by side."""
    rows, titles = {}, []
    body = re.split(r"\n\n(?=calls of all|rank \d|LIKWID)", text.split("\nover ")[1])[0]
    for line in body.split("\n")[1:]:
        cells = re.split("  +", line)
        if cells[0] == "region":
            titles, n_before = titles + cells[1:], len(titles)
        elif len(cells) == len(titles) - n_before + 1 if titles else False:
            rows.setdefault(cells[0], []).extend(cells[1:])
    return {tag: dict(zip(titles, cells)) for tag, cells in rows.items()}


def test_numbers():
    found = json.loads(inspect("--json"))
    assert found["mpi_size"] == 4 and found["missing_ranks"] == [2]
    regions = {region["tag"]: region for region in found["all_ranks"]["regions"]}
    assert set(regions) == {"solve", "MPI_Wait", "only/zero"}
    for tag, region in regions.items():
        check_balance(region["over_ranks"], totals_of(tag))
    # Worked out by hand: 40, 20 and 90 ms.
    assert regions["solve"]["over_ranks"] == {"mean_ns": 50.0 * MS, "min_ns": 20 * MS,
                                              "max_ns": 90 * MS, "slowest_rank": 3,
                                              "imbalance": 0.8, "lost_ns": 120 * MS}
    found = json.loads(inspect("--json", "-r", "0-1"))["all_ranks"]["regions"]
    assert [region["tag"] for region in found] == ["solve", "MPI_Wait", "only/zero"]
    for region in found:
        check_balance(region["over_ranks"], totals_of(region["tag"], (0, 1)))
    found = json.loads(inspect("--json", "-r", "3"))["all_ranks"]
    assert "likwid" not in found
    for region in found["regions"]:
        check_balance(region["over_ranks"], totals_of(region["tag"], (3,)))


def test_table():
    for width in (60, 80, 120):
        text = inspect(width=width)
        rows = table(text)
        assert list(rows) == ["solve", "MPI_Wait", "only/zero"], rows
        assert rows["solve"] == {"calls": "4", "mean": "50.0 ms", "min": "20.0 ms",
                                 "max": "90.0 ms", "slowest": "3", "imbalance": "80.0%",
                                 "lost": "120 ms", "total": "150 ms", "share": "25.0%",
                                 "ranks": "3"}, rows
        assert rows["only/zero"] == {"calls": "1", "mean": "2.33 ns", "min": "0 ns", "max": "7 ns",
                                     "slowest": "0", "imbalance": "200%", "lost": "14 ns",
                                     "total": "7 ns", "share": "<0.1%", "ranks": "1"}, rows
        flat = re.sub(r"\s+", " ", text)
        for part in ("ranks 3 of 4", "missing rank: 2", "over 3 ranks on 2 nodes: 3 regions",
                     "0 for a rank that did not enter the region", "--per-rank shows each",
                     # On the common axis rank 0 is at 0 ms, 1 at 3 ms, 3 at 50 - 40 = 10 ms.
                     "started within 10.0 ms (rank 0 first, rank 3 last), ended within 10.0 ms "
                     "(rank 0 first, rank 3 last), 210 ms from the first start to the last end",
                     "! rank 3: exit status 9", "! rank 1: exit not recorded",
                     "! all ranks: no LIKWID", "! rank 3: only 3",
                     "never called on any rank (1): unused"):
            assert part in flat, (part, text)
        assert not re.search(r"^(rank \d|calls of all)", text, re.M), text
    assert "did not enter" not in inspect("-i", "solve")


def test_per_rank():
    text = inspect("--per-rank")
    assert table(text) == table(inspect()), text
    assert re.findall(r"^(rank \d|calls of all \d ranks):", text, re.M) == \
        ["calls of all 3 ranks", "rank 0", "rank 1", "rank 3"], text
    flat = re.sub(r"\s+", " ", text)
    for part in ("profiled 200 ms, from 0 ns to 200 ms; node0, pid 100, exit status 0",
                 "from 3.00 ms to 203 ms; node0, pid 101",
                 "from 10.0 ms to 210 ms; node1, pid 103, exit status 9"):
        assert part in flat, (part, text)
    assert text.count("p50") == 4, text
    # One rank has no other to be compared with.
    assert inspect("-r", "3") == inspect("-r", "3", "--per-rank")
    assert "over " not in inspect("-r", "3")


def test_filters_and_order():
    def tags(*args):
        return list(table(inspect(*args)))

    assert tags("-i", "MPI_|only", "-x", "only") == ["MPI_Wait"]
    assert tags("--sort=calls") == ["MPI_Wait", "solve", "only/zero"]
    assert tags("--sort=imbalance") == ["only/zero", "MPI_Wait", "solve"]
    assert tags("--sort=lost") == ["solve", "MPI_Wait", "only/zero"]
    assert tags("--sort=min") == ["solve", "MPI_Wait", "only/zero"]
    assert tags("--sort=name") == ["MPI_Wait", "only/zero", "solve"]
    assert table(inspect("-r", "0,3"))["solve"]["slowest"] == "3"
    assert "imbalance" in inspect("--sort=fairness", status=2)
    assert "no region matches" in inspect("-i", "nothing")
    found = json.loads(inspect("--json", "--sort=imbalance"))["all_ranks"]["regions"]
    assert [region["tag"] for region in found] == ["only/zero", "MPI_Wait", "solve"]


def test_axis():
    found = json.loads(inspect("--json"))
    zero = found["aligned_zero_realtime_ns"]
    assert zero == START + 10**18
    for rank in found["ranks"]:
        regions, offset, first = RANKS[rank["rank"]]
        aligned = START + first + offset - zero
        assert rank["aligned_first_ns"] == aligned and rank["aligned_last_ns"] == aligned + SPAN
        # The raw values stay.
        assert rank["threads"][0]["first_ns"] == START + first
        assert rank["monotonic_to_realtime_ns"] == offset
        for region in rank["regions"]:
            last = max(10 * MS * i + ns for i, ns in enumerate(regions[region["tag"]]))
            assert region["first_ns"] == START + first
            assert region["last_ns"] == START + first + last
            assert region["aligned_first_ns"] == aligned
            assert region["aligned_last_ns"] == aligned + last
    # Without offsets, two nodes have no axis in common, one has.
    found = json.loads(inspect("--json", path="no-offsets.h5"))
    assert found["aligned_zero_realtime_ns"] is None
    assert all(rank["aligned_first_ns"] is None for rank in found["ranks"])
    text = re.sub(r"\s+", " ", inspect(path="no-offsets.h5"))
    assert "all ranks: times on no common axis" in text and "started within" not in text, text
    found = json.loads(inspect("--json", "-r", "0-1", path="no-offsets.h5"))
    assert [rank["aligned_first_ns"] for rank in found["ranks"]] == [0, 3 * MS]


def merged_counters(counters):
    """Tag and group of full_api: the regions of all ranks that have it."""
    merged = {}
    for regions in counters.values():
        for region in regions:
            key = region.tag, region.group_name, region.source
            merged.setdefault(key, []).append(region)
    return merged


def test_counters():
    counters, _ = make_file("counters.h5")
    merged = merged_counters(counters)
    everything = json.loads(inspect("--json", path="counters.h5"))["all_ranks"]["likwid"]
    assert everything["n_ranks"] == 2 and everything["cpu_name"] == SIMULATED
    assert len(everything["regions"]) == len(merged)
    for found in everything["regions"]:
        parts = merged[found["tag"], found["group_name"], found["source"]]
        assert found["n_ranks"] == len(parts) and found["event_labels"] == parts[0].labels
        assert found["call_count"] == sum(int(part.counts.sum()) for part in parts)
        assert found["n_hardware_threads"] == sum(len(part.cpus) for part in parts)
        assert found["max_time"] == max(part.times.max() for part in parts)
        for i, value in enumerate(found["event_sums"]):
            assert math.isclose(value, sum(part.events[i].sum() for part in parts), rel_tol=1e-14)
        for i, name in enumerate(found["metric_names"]):
            values = np.concatenate([part.metrics[i] for part in parts])
            if not np.isfinite(values).all():
                continue
            assert name == parts[0].names[2][i]
            assert math.isclose(found["metric_means"][i], values.mean(), rel_tol=1e-12)
            assert found["metric_mins"][i] == values.min()
            assert found["metric_maxs"][i] == values.max()
    text = inspect(path="counters.h5", width=200)
    cheap = merged["cheap", "MEM_DP", "full_api"]
    assert len(cheap) == 2
    values = np.concatenate([part.metrics[0] for part in cheap])
    total = f"{sum(part.events[0].sum() for part in cheap):.0f}"
    assert f"LIKWID counters (over 2 ranks, group MEM_DP, {SIMULATED})" in text, text
    for pattern in (rf"^INSTR_RETIRED_ANY .*\b{total}\b",
                    rf"^Runtime \(RDTSC\) \[s\] .*{values.mean():.6g}.*\n  min .*"
                    rf"{values.min():.6g}.*\n  max .*{values.max():.6g}"):
        assert re.search(pattern, text, re.M), (pattern, text)
    flat = re.sub(r"\s+", " ", text)
    for part in ("! 2 of 3 ranks have counters", "! rank 2: LIKWID could not read its counters",
                 "counters of costly: read from LIKWID's marker file", "1,234 calls without",
                 "over the hardware threads of all ranks"):
        assert part in flat, (part, text)


def test_many_ranks():
    """Ranks are listed as ranges, and not without end."""
    with h5py.File("many.h5", "w") as file:
        file.attrs.update({"scope_profiler_schema": 1, "callmark_schema": 1})
        file.create_group("metadata").attrs["mpi_size"] = 120
        for number in range(120):
            rank = file.create_group(f"rank{number}")
            rank.attrs.update({"hostname": f"n{number % 7}", "pid": 1, "exit_status": 0})
            store_region(rank, "step", START, [100 + number])
            texts = ["early" if number < 5 or number == 9 else "odd" if number % 2 else "",
                     f"own {number}" if number < 30 else ""]
            texts = [text for text in texts if text]
            rank.create_dataset("notes", data=texts, shape=(len(texts),), dtype=TEXT)
    text = re.sub(r"\s+", " ", inspect(path="many.h5"))
    assert "over 120 ranks on 7 nodes: 1 region" in text
    assert "! ranks 0-4, 9: early" in text, text
    assert "! ranks 5, 7, 11, 13, 15, 17, 19, 21, 23, 25 and 47 more: odd" in text, text
    assert "! and 22 more such notes; --per-rank shows all" in text, text
    row = table(inspect(path="many.h5"))["step"]
    assert row["mean"] == "160 ns" and row["slowest"] == "119", row
    assert row["lost"] == f"{120 * 119 / 2 / 1000:.2f} us", row


def check_real(path):
    with h5py.File(path) as file:
        ranks = sorted(int(name[4:]) for name in file if name.startswith("rank"))
        stored = {rank: {group.attrs["tag"]: {name: int(group.attrs[name])
                                              for name in ("calls", "total_ns")}
                         for group in file[f"rank{rank}/regions"].values()} for rank in ranks}
        offsets = {rank: int(file[f"rank{rank}"].attrs["monotonic_to_realtime_ns"])
                   for rank in ranks}
        firsts = {rank: int(file[f"rank{rank}/threads/first_ns"][:].min()) for rank in ranks}
    found = json.loads(inspect("--json", path=path))
    tags = {tag for regions in stored.values() for tag in regions}
    assert {region["tag"] for region in found["all_ranks"]["regions"]} == tags
    for region in found["all_ranks"]["regions"]:
        own = {rank: stored[rank].get(region["tag"], {"calls": 0, "total_ns": 0})
               for rank in ranks}
        assert region["calls"] == sum(each["calls"] for each in own.values()), region
        check_balance(region["over_ranks"], {rank: own[rank]["total_ns"] for rank in ranks})
    zero = min(firsts[rank] + offsets[rank] for rank in ranks)
    assert found["aligned_zero_realtime_ns"] == zero
    for rank in found["ranks"]:
        number = rank["rank"]
        assert rank["aligned_first_ns"] == firsts[number] + offsets[number] - zero
    rows = table(inspect(path=path, width=120))
    for region in found["all_ranks"]["regions"]:
        row = rows[region["tag"]]
        assert row["calls"] == f"{region['calls']:,}" and row["ranks"] == str(region["n_ranks"])
        assert row["slowest"] == str(region["over_ranks"]["slowest_rank"]), (row, region)
    order = sorted(tags, key=lambda tag: -sum(regions.get(tag, {"total_ns": 0})["total_ns"]
                                              for regions in stored.values()))
    assert list(rows) == order, (list(rows), order)


if len(sys.argv) > 2:
    check_real(sys.argv[2])
else:
    make_ranks("ranks.h5")
    make_ranks("no-offsets.h5", has_offsets=False)
    for test in (test_numbers, test_table, test_per_rank, test_filters_and_order, test_axis,
                 test_counters, test_many_ranks):
        test()
