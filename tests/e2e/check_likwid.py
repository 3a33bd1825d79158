# SPDX-License-Identifier: BSD-3-Clause
"""check_likwid.py FILE EXPRESSION..: as check_profile.py, and what LIKWID counted on the simulator.

The file is checked against its whole contract first (check_layout.py). An expression sees class
Counters as well. On the simulator a counter moves by a known step whenever it is read, so that
every value is `reads` times a step: LIKWID reads when a region starts and when it stops, and a
region gains what is read between the two. `reads` is an error unless all counters agree on it.
"""
import os
import sys

import h5py
import numpy

import check_layout
from check_profile import Profile, Wrong, as_text, explain, need

# How far a counter moves at each read on CPU 0, for the events of the groups that are measured.
CORE_STEPS = {
    "ACTUAL_CPU_CLOCK": 31200000,
    "MAX_CPU_CLOCK": 26000000,
    "RETIRED_INSTRUCTIONS": 1000000 + 1000 * 0xc0,
    "CPU_CLOCKS_UNHALTED": 1000000 + 1000 * 0x76,
    "RETIRED_SSE_AVX_FLOPS_ALL": 1000000 + 1000 * 0x03 + 0x0f,
    "MERGE": 1000000 + 1000 * 0xfff,
    "RETIRED_BRANCH_INSTR": 1000000 + 1000 * 0xc2,
    "RETIRED_MISP_BRANCH_INSTR": 1000000 + 1000 * 0xc3,
}
DIGITS = 2e-6  # the marker file has seven


class Counters(Profile):
    """What the expressions see: its public methods, those of Profile, `rank0` .., `file`."""

    def _groups(self, tag, rank=0, group=None):
        likwid = self.file[f"rank{rank}"].get("likwid")
        for entry in likwid["regions"].values() if likwid is not None else ():
            if as_text(entry.attrs["tag"]) == tag and \
                    group in (None, as_text(entry.attrs["group_name"]),
                              int(entry.attrs["group_id"])):
                yield entry

    def _one(self, tag, rank, group):
        found = list(self._groups(tag, rank, group))
        need(len(found) == 1, f"rank{rank}: {tag} was counted in {len(found)} groups")
        return found[0]

    def has_likwid(self, rank=0):
        return "likwid" in self.file[f"rank{rank}"]

    def counted_tags(self, rank=0):
        """The tags with counters, once for each group."""
        regions = self.file[f"rank{rank}/likwid/regions"] if self.has_likwid(rank) else {}
        return sorted(as_text(entry.attrs["tag"]) for entry in regions.values())

    def sources(self, tag=None, rank=0):
        """Where the counters of a tag are from, or of all tags."""
        regions = self.file[f"rank{rank}/likwid/regions"] if self.has_likwid(rank) else {}
        return {as_text(entry.attrs["source"]) for entry in regions.values()
                if tag in (None, as_text(entry.attrs["tag"]))}

    def groups(self, tag, rank=0):
        return sorted(as_text(entry.attrs["group_name"]) for entry in self._groups(tag, rank))

    def counted(self, tag, cpu=None, group=None, rank=0):
        """Calls between start and stop, of one CPU or all, of one group or all."""
        return sum(int(count) for entry in self._groups(tag, rank, group)
                   for at, count in zip(entry["cpus"][:], entry["call_counts"][:])
                   if cpu in (None, int(at)))

    def cpus(self, tag, group=None, rank=0):
        """Those on which it was counted at least once."""
        return sorted({int(cpu) for entry in self._groups(tag, rank, group)
                       for cpu, count in zip(entry["cpus"][:], entry["call_counts"][:]) if count})

    def labels(self, tag, group=None, rank=0):
        """EVENT:COUNTER of every event."""
        entry = self._one(tag, rank, group)
        return [f"{as_text(event)}:{as_text(counter)}" for event, counter
                in zip(entry.attrs["event_names"], entry.attrs["counter_names"])]

    def metric_names(self, tag, group=None, rank=0):
        return [as_text(name) for name in self._one(tag, rank, group).attrs["metric_names"]]

    def _value(self, tag, names, values, name, where):
        cpu, group, rank = where
        entry = self._one(tag, rank, group)
        column = [int(at) for at in entry["cpus"][:]].index(cpu)
        row = [as_text(text) for text in entry.attrs[names]].index(name)
        return float(entry[values][row, column])

    def event(self, tag, name, cpu=0, group=None, rank=0):
        return self._value(tag, "event_names", "events", name, (cpu, group, rank))

    def metric(self, tag, name, cpu=0, group=None, rank=0):
        return self._value(tag, "metric_names", "metrics", name, (cpu, group, rank))

    def values(self, tag, cpu=0, group=None, rank=0):
        """All its events on a CPU, in LIKWID's order; also where their names are not known."""
        entry = self._one(tag, rank, group)
        column = [int(at) for at in entry["cpus"][:]].index(cpu)
        return [float(value) for value in entry["events"][:, column]]

    def reads(self, tag, cpu=0, group=None, rank=0, registered=(0,)):
        """How often the counters were read while the region was open: all of them agree.

        When a tag is registered, LIKWID reads the group's first counter on every CPU:
        `registered` says how many tags may have been registered while the region was open.
        """
        entry = self._one(tag, rank, group)
        column = [int(at) for at in entry["cpus"][:]].index(cpu)
        found = []
        for name, value in zip(entry.attrs["event_names"], entry["events"][:, column]):
            if as_text(name) in CORE_STEPS:
                step = CORE_STEPS[as_text(name)] * (cpu + 1)
                found.append(round(value / step))
                need(abs(value - found[-1] * step) <= DIGITS * value,
                     f"{entry.name}: {as_text(name)} is {value}, no multiple of {step}")
        need(len(found) > 1 and len(set(found[1:])) == 1 and found[0] - found[1] in registered,
             f"{entry.name}: cpu {cpu}: counters read {found} times")
        return found[1]

    def skipped(self, reason=None, rank=0):
        """Calls without a marker, for one reason or all."""
        attrs = self.file[f"rank{rank}"].attrs
        return sum(int(attrs[key]) for key in attrs if key.startswith("markers_skipped_")
                   and reason in (None, key[len("markers_skipped_"):]))

    def fallback(self, rank=0):
        attrs = self.file[f"rank{rank}"].attrs
        return as_text(attrs["likwid_fallback"]) if "likwid_fallback" in attrs else ""

    def notes(self, rank=0):
        entry = self.file[f"rank{rank}"]
        return "\n".join(as_text(text) for text in entry["notes"][:]) if "notes" in entry else ""

    def median(self, tag):
        return float(numpy.median(self.durations(tag)))


def is_near(value, expected):
    return abs(value - expected) <= DIGITS * abs(expected)


def main():
    n_wrong = 0
    try:
        check_layout.check(sys.argv[1])
        with h5py.File(sys.argv[1], "r") as file:
            counters = Counters(file)
            names = {name: getattr(counters, name) for name in dir(counters) if name[0] != "_"}
            names.update(as_text=as_text, is_near=is_near, environ=os.environ)
            for argument in sys.argv[2:]:
                expression = " ".join(argument.split())
                if not eval(expression, names):  # pylint: disable=eval-used
                    print(f"{sys.argv[1]}: not {expression}: {explain(expression, names)}",
                          file=sys.stderr)
                    n_wrong += 1
    except (OSError, KeyError, ValueError, Wrong, check_layout.Violation) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        n_wrong += 1
    return n_wrong != 0


if __name__ == "__main__":
    sys.exit(main())
