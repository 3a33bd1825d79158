# SPDX-License-Identifier: BSD-3-Clause
"""A program with LIKWID markers of its own, and what a result of callmark-reader must hold.

    likwid_markers.py run STEP...        steps: cpu=N, TAG*COUNT (start and stop so often), next
                                         (the next group), start=TAG, stop=TAG, sh=COMMAND
    likwid_markers.py check RESULT FILE EXPRESSION...
                                         the result says what the marker file does; expressions
                                         use value(tag, event, cpu), metric(tag, metric, cpu),
                                         region(tag, group), result
"""
import ctypes
import json
import math
import os
import subprocess
import sys


def run(steps):
    likwid = ctypes.CDLL("liblikwid.so.5")
    likwid.likwid_markerInit()
    for step in steps:
        name, _, argument = step.partition("=")
        if name == "cpu":
            os.sched_setaffinity(0, {int(argument)})
        elif name == "next":
            likwid.likwid_markerNextGroup()
        elif name == "start":
            assert likwid.likwid_markerStartRegion(os.fsencode(argument)) == 0, step
        elif name == "stop":
            assert likwid.likwid_markerStopRegion(os.fsencode(argument)) == 0, step
        elif name == "sh":
            subprocess.run(argument, shell=True, check=False)
        else:
            tag, _, count = step.rpartition("*")
            for _ in range(int(count)):
                assert likwid.likwid_markerStartRegion(os.fsencode(tag)) == 0, step
                assert likwid.likwid_markerStopRegion(os.fsencode(tag)) == 0, step
    likwid.likwid_markerClose()


def same(a, b):
    return (a is None and math.isnan(b)) or a == b


def read_markers(path):
    """{(tag, group): {cpu: (count, seconds, values)}}, of threads that took part."""
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    names, regions = {}, {}
    for line in lines[1:]:
        index, colon, rest = line.partition(b":")
        if colon:
            tag, _, group = rest.rpartition(b"-")
            names[int(index)] = (os.fsdecode(tag), int(group))
        elif line:
            words = line.split()
            if int(words[2]) >= 0 and int(words[3]) > 0:
                regions.setdefault(names[int(words[0])], {})[int(words[2])] = (
                    int(words[3]), float(words[4]), [float(word) for word in words[6:]])
    return regions


def check(result_path, marker_path, expressions):
    with open(result_path, encoding="utf-8") as file:
        result = json.load(file)
    expected = read_markers(marker_path)
    assert result["callmark_reader"] == 1 and result["complete"] is True

    def tag_of(entry):
        return os.fsdecode(bytes.fromhex(entry["tag_hex"])) if "tag_hex" in entry else entry["tag"]

    def region(tag, group=0):
        return [r for r in result["regions"] if tag_of(r) == tag and r["group"] == group][0]

    def group_of(entry):
        return result["groups"][entry["group"]]

    def value(tag, event, cpu, group=0):
        entry = region(tag, group)
        return entry["events"][group_of(entry)["events"].index(event)][entry["cpus"].index(cpu)]

    def metric(tag, name, cpu, group=0):
        entry = region(tag, group)
        return entry["metrics"][group_of(entry)["metrics"].index(name)][entry["cpus"].index(cpu)]

    assert {(tag_of(r), r["group"]) for r in result["regions"]} == set(expected), result["regions"]
    for (tag, group), threads in expected.items():
        entry = region(tag, group)
        assert entry["cpus"] == list(threads), (tag, entry["cpus"])
        for i, (count, seconds, values) in enumerate(threads.values()):
            assert entry["counts"][i] == count and entry["times"][i] == seconds, (tag, entry)
            assert len(values) == len(entry["events"]) == len(group_of(entry)["counters"])
            assert all(same(row[i], v) for row, v in zip(entry["events"], values)), (tag, entry)
    names = {"result": result, "region": region, "value": value, "metric": metric}
    for expression in expressions:
        assert eval(expression, names), f"{expression}: {result}"  # pylint: disable=eval-used


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(sys.argv[2:])
    else:
        check(sys.argv[2], sys.argv[3], sys.argv[4:])
