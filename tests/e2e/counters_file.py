# SPDX-License-Identifier: BSD-3-Clause
"""A profile with hardware counters, made with h5py as layout.md says, and what it holds."""
import h5py
import numpy as np

TEXT = h5py.string_dtype("utf-8")
# A quote, a comma, a line break, wide characters, an escape sequence.
HOSTILE = 'a "b", c\nd/\u4e2d\x1b[31m'
SIMULATED = "Simulated Zen3"
MEM = (["INSTR_RETIRED_ANY", "CAS_COUNT_RD", "CAS_COUNT_RD", "PWR_PKG_ENERGY"],
       ["FIXC0", "MBOX0C0", "MBOX1C0", "PWR0"],
       ["Runtime (RDTSC) [s]", "CPI", "Memory bandwidth [MBytes/s]"])
MEM_LABELS = ["INSTR_RETIRED_ANY", "CAS_COUNT_RD:MBOX0C0", "CAS_COUNT_RD:MBOX1C0",
              "PWR_PKG_ENERGY"]
FLOPS = (["INSTR_RETIRED_ANY", "RETIRED_FLOPS"], ["FIXC0", "PMC2"], ["CPI", "DP [MFLOP/s]"])
FLOPS_LABELS = FLOPS[0]
POSITIONAL = (["event_0", "event_1", "event_2"], [], [])


class Counters:
    """One tag in one event group, on the hardware threads `cpus`."""

    def __init__(self, tag, group_id, group_name, names, labels, cpus, seed, source="full_api"):
        self.tag, self.group_id, self.group_name, self.source = tag, group_id, group_name, source
        self.names, self.labels, self.cpus = names, labels, cpus
        rng = np.random.default_rng(seed)
        n = len(cpus)
        self.times = rng.random(n)
        self.counts = rng.integers(1, 10**9, n)
        self.events = rng.integers(0, 2**48, (len(names[0]), n)).astype(float)
        if names is MEM:
            self.events[3] = rng.random(n) * 100
        self.metrics = rng.random((len(names[2]), n)) * 10.0 ** rng.integers(-5, 6)

    def columns(self):
        """By name: the values of all hardware threads."""
        return dict(zip(list(self.labels) + list(self.names[2]), [*self.events, *self.metrics]))

    def store(self, regions, name):
        group = regions.create_group(name)
        group.attrs.update({"tag": self.tag, "group_id": np.int64(self.group_id),
                            "group_name": self.group_name, "source": self.source})
        for kind, names in zip(("event_names", "counter_names", "metric_names"), self.names):
            group.attrs.create(kind, names, dtype=TEXT, shape=(len(names),))
        group["cpus"] = np.array(self.cpus, dtype=np.int64)
        group["times"] = self.times
        group["call_counts"] = self.counts.astype(np.int64)
        group["events"], group["metrics"] = self.events, self.metrics


def make_counters():
    """By rank. Rank 1 has times alone, rank 2 fell back to the marker file for a region."""
    rank0 = [Counters(tag, 0, "MEM_DP", MEM, MEM_LABELS, [0, 3], seed)
             for seed, tag in enumerate(["cheap", "costly", HOSTILE, "untimed"])]
    rank0.append(Counters("costly", 1, "FLOPS_DP", FLOPS, FLOPS_LABELS, [0, 3], 7))
    rank0[0].metrics[1][1] = np.nan
    rank0[0].metrics[2][0] = np.inf
    rank0[1].events[0][0] = 2**53 - 1
    rank2 = [Counters("cheap", 0, "MEM_DP", MEM, MEM_LABELS, [5], 11),
             Counters("costly", 0, "MEM_DP", POSITIONAL, POSITIONAL[0], [5], 12, "marker_file")]
    return {0: rank0, 2: rank2}


def store_times(rank, tag, ns, threads):
    group = rank.create_group("regions/" + tag.replace("/", "|"))
    starts = 10**15 + 10**6 * np.arange(len(ns), dtype=np.int64)
    group["start_times"], group["end_times"] = starts, starts + ns
    if threads is not None:
        group["threads"] = threads
    group.attrs["tag"] = tag
    return [(start, start + each) for start, each in zip(starts.tolist(), ns)]


def make_file(path):
    """Returns the counters and the calls, both by rank."""
    counters, calls = make_counters(), {}
    with h5py.File(path, "w") as file:
        file.attrs.update({"scope_profiler_schema": 1, "callmark_schema": 1, "run_id": "r"})
        file.create_group("metadata").attrs["timestamp"] = "2026-11-30T03:26:57Z"
        for number in (0, 1, 2):
            rank = file.create_group(f"rank{number}")
            threads = rank.create_group("threads")
            threads["tid"] = np.array([10, 11], dtype=np.int64)
            threads["first_ns"] = threads["last_ns"] = np.zeros(2, dtype=np.int64)
            for name in ("name", "cpus"):
                threads.create_dataset(name, data=["", ""], dtype=TEXT)
            calls[number] = {}
            for k, tag in enumerate(["cheap", "costly", HOSTILE, "uncounted"]):
                ns = [(100 + i) * 10**k for i in range(5)]
                index = np.array([0, 1, 0, 1, 1], dtype=np.int32) if number else None
                calls[number][tag] = store_times(rank, tag, ns, index)
            if number not in counters:
                continue
            likwid = rank.create_group("likwid")
            likwid.attrs.update({"LIKWID_MODE": "1", "num_regions": np.int64(4),
                                 "cpu_name": SIMULATED})
            regions = likwid.create_group("regions")
            for i, region in enumerate(counters[number]):
                region.store(regions, region.tag.replace("/", "|") + f"#{i}")
        rank2 = file["rank2"]
        rank2.attrs["likwid_fallback"] = "callmark-reader was killed by signal 11\x1b"
        rank2.attrs["markers_skipped_unlisted"] = np.int64(1234)
        rank2.attrs["markers_skipped_busy"] = np.int64(1)
        rank2.attrs["markers_skipped_tomorrow"] = np.int64(2)
    return counters, calls
