#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `callmark inspect` says about hardware counters, compared with what h5py stored."""
import json
import math
import os
import re
import subprocess
import sys
import unicodedata

import numpy as np
from counters_file import HOSTILE, SIMULATED, make_file

CALLMARK = sys.argv[1]
COUNTERS, CALLS = make_file("counters.h5")


def inspect(*args, width=80, status=0):
    done = subprocess.run([CALLMARK, "inspect", *args, "counters.h5"], capture_output=True,
                          check=False, env={"PATH": os.environ["PATH"], "COLUMNS": str(width)})
    assert done.returncode == status, (args, done)
    return (done.stderr if status else done.stdout).decode()


def columns(line):
    widths = {"W": 2, "F": 2}
    return sum(0 if unicodedata.combining(c) else widths.get(unicodedata.east_asian_width(c), 1)
               for c in line)


class Table:
    """One printed table, its blocks put side by side again."""

    def __init__(self, text):
        lines = text.split("\n")
        self.title = lines[0]
        self.regions, self.rows, self.order = [], {}, []
        for line in lines[1:]:
            if line.startswith("counter "):
                self.regions += re.split("  +", line)[1:]
                n = len(re.split("  +", line)) - 1
                is_first = not self.order
            elif "  " in line.strip() and not line.startswith((" ", "!", "over")):
                cells = re.split("  +", line)
                assert len(cells) == n + 1, (n, line)
                self.rows.setdefault(cells[0], []).extend(cells[1:])
                if is_first:
                    self.order.append(cells[0])
            elif line in ("Events", "Metrics") and is_first:
                self.order.append(line)
        for name, row in self.rows.items():
            assert len(row) == len(self.regions), (name, text)

    def __getitem__(self, key):
        name, column = key
        return self.rows[name][column]


def tables(*args, width=80):
    text = inspect(*args, width=width)
    for line in text.split("\n"):
        assert columns(line) <= width, (width, line)
        assert all(c >= " " for c in line), line
    parts = re.split(r"^(?=LIKWID counters)", text, flags=re.M)[1:]
    return [Table(re.split(r"\n\n(?:rank \d|calls of all)", part)[0]) for part in parts]


def event(value):
    return f"{value:.0f}" if value == math.floor(value) else f"{value:.6g}"


def test_tables():
    for width in (60, 80, 120, 300):
        *_, mem, flops, rank2 = tables("--per-rank", width=width)
        assert mem.title == f"LIKWID counters (rank 0, group MEM_DP, {SIMULATED})", mem.title
        assert flops.title == f"LIKWID counters (rank 0, group FLOPS_DP, {SIMULATED})"
        assert rank2.title == f"LIKWID counters (rank 2, group MEM_DP, {SIMULATED})"
        by_tag = {c.tag: c for c in COUNTERS[0][:4]}
        # As in the table of regions: the costliest first, what has no times last.
        tags = [HOSTILE, "costly", "cheap", "untimed"]
        assert mem.regions[1:] == tags[1:] and len(mem.regions) == 4, mem.regions
        first = COUNTERS[0][0]
        assert mem.order == ["call count", "runtime [s]", "Events", *first.labels, "Metrics",
                             *first.names[2]], mem.order
        for i, tag in enumerate(tags):
            region = by_tag[tag]
            assert mem["call count", i] == str(region.counts.sum())
            assert mem["runtime [s]", i] == f"{region.times.max():.6g}"
            for label, values in zip(region.labels, region.events):
                assert mem[label, i] == event(values.sum()), (label, tag)
            for name, values in zip(region.names[2], region.metrics):
                assert mem[name, i] == f"{values.mean():.6g}", (name, tag)
        assert flops.regions == ["costly"]
    # A region whose events have no names beside one whose events have.
    assert rank2.regions == ["costly", "cheap"]
    assert rank2.rows["event_1"] == [event(COUNTERS[2][1].events[1][0]), "-"]
    assert rank2.rows["CPI"][0] == "-"


def test_threads_and_extremes():
    mem, flops, _ = tables("--threads")  # of several ranks: as --per-rank
    assert flops.rows["hardware thread"] == ["0", "3"] and flops.regions == ["costly"] * 2
    region = COUNTERS[0][4]
    assert flops.rows["call count"] == [str(n) for n in region.counts]
    assert flops.rows["runtime [s]"] == [f"{s:.6g}" for s in region.times]
    for label, values in region.columns().items():
        shown = [f"{v:.6g}" if label in region.names[2] else event(v) for v in values]
        assert flops.rows[label] == shown, label
    assert len(mem.regions) == 8
    assert mem.rows["CPI"][5] == "nan" and "inf" in mem.rows["Memory bandwidth [MBytes/s]"]
    text = inspect("--min-max", "-i", "costly", "-r", "0", width=120)
    values = region.events[1]
    assert re.search(rf"^RETIRED_FLOPS +{event(values.sum())}\n  min +{event(values.min())}\n"
                     rf"  max +{event(values.max())}$", text, re.M), text
    values = region.metrics[0]
    assert re.search(rf"^CPI +{values.mean():.6g}\n  min +{values.min():.6g}\n"
                     rf"  max +{values.max():.6g}$", text, re.M), text
    assert re.search(rf"^call count +{region.counts.sum()}\n  min +{region.counts.min()}\n", text,
                     re.M), text
    assert "--min-max" in inspect("--min-max", "--threads", status=2)


def test_filters_and_notes():
    # Over ranks, and of the two that have counters.
    shown = tables("--per-rank", "-i", "c", "-x", "costly")
    assert [table.regions for table in shown] == [["cheap"]] * 3
    assert [table.title[:25] for table in tables("-r", "2")] == ["LIKWID counters (rank 2, "]
    assert not tables("-r", "1")
    flat = re.sub(r"\s+", " ", inspect("--per-rank"))
    for part in ("LIKWID could not read its counters back: callmark-reader was killed by signal "
                 "11\\x1b", "counters of costly: read from LIKWID's marker file",
                 "1,234 calls without counters: on a CPU outside LIKWID_THREADS",
                 "1 call without counters: another thread had markers open on that CPU",
                 "2 calls without counters: tomorrow", "call count and events are sums, runtime "
                 "is the maximum, metrics are means; --threads shows each thread"):
        assert part in flat, (part, flat)
    assert "are sums" not in inspect("--threads") and "are sums" not in inspect("-r", "2")
    assert "!" not in inspect("-r", "0")


def same(found, expected):
    return all(f is None if math.isnan(e) else float(f) == e for f, e in zip(found, expected))


def test_json():
    ranks = json.loads(inspect("--json"))["ranks"]
    assert [rank["likwid"]["collected"] for rank in ranks] == [True, False, True]
    assert ranks[0]["likwid"]["environment"] == {"LIKWID_MODE": "1"}
    assert ranks[0]["likwid"]["cpu_name"] == SIMULATED and ranks[0]["likwid"]["fallback"] == ""
    assert ranks[2]["likwid"]["fallback"].startswith("callmark-reader was killed")
    assert ranks[2]["likwid"]["markers_skipped"] == {"unlisted": 1234, "busy": 1, "tomorrow": 2}
    assert ranks[1]["likwid"]["regions"] == []
    for rank in (ranks[0], ranks[2]):
        found = {(r["tag"], r["group_name"]): r for r in rank["likwid"]["regions"]}
        assert len(found) == len(COUNTERS[rank["rank"]])
        for region in COUNTERS[rank["rank"]]:
            got = found[region.tag, region.group_name]
            assert got["group_id"] == region.group_id and got["source"] == region.source
            assert got["cpus"] == region.cpus and got["call_counts"] == region.counts.tolist()
            assert got["times"] == region.times.tolist()
            assert got["event_labels"] == region.labels and got["event_names"] == region.names[0]
            assert got["counter_names"] == (region.names[1] or None)
            assert got["metric_names"] == region.names[2]
            assert len(got["events"]) == len(region.events)
            assert len(got["metrics"]) == len(region.metrics)
            for values, expected in zip(got["events"] + got["metrics"],
                                        [*region.events, *region.metrics]):
                assert len(values) == len(expected) and same(values, expected), (values, expected)
    everything = np.concatenate([c.metrics.ravel() for c in COUNTERS[0]])
    assert np.isnan(everything).sum() == 1 and np.isinf(everything).sum() == 1


for test in (test_tables, test_threads_and_extremes, test_filters_and_notes, test_json):
    test()
