# SPDX-License-Identifier: BSD-3-Clause
"""check_paths.py PROFILE GDB_OUTPUT PROGRAM: are the call paths of site_target those that gdb saw?

Frame by frame, up to main, by function; what gdb names in other objects than PROGRAM may have
another name (an alias, a debug file that only one of the two looks for), but must be there.
"""
import collections
import re
import sys

import h5py

from check_counts import key_of, text_of

FRAME = re.compile(r"^(?P<name>.*) \[(?P<object>[^\]]*)\](?: (?P<place>\S+:\d+))?$")
ELSEWHERE = "elsewhere"


def ours(frames, program):
    """One row of call_paths as a tuple of names, up to main."""
    names = []
    for frame in frames.split(" < "):
        match = FRAME.match(frame)
        if not match:
            names.append(f"not a frame: {frame}")
            continue
        names.append(simple(match["name"]) if match["object"] == program else ELSEWHERE)
        if names[-1] == "main":
            break
    return without_repeats(names)


def simple(name):
    """The name, less what debuggers and demanglers call lambdas in their own ways."""
    return "lambda" if "lambda" in name or name == "operator()" else key_of(name)


def without_repeats(names):
    """What stands elsewhere, as one: gdb shows functions that libc's compiler has inlined."""
    return tuple(name for i, name in enumerate(names)
                 if name != ELSEWHERE or names[i - 1:i] != [ELSEWHERE])


def theirs(line, known):
    """One line of gdb's as a tuple of names; known: the functions of the program."""
    names = (simple(name) for name in line.rstrip("\n").split("\t")[1].split(" < "))
    return without_repeats([name if name in known else ELSEWHERE for name in names])


def main():
    """Compare the two multisets of paths; returns the exit status."""
    profile, gdb_output, program = sys.argv[1:]
    paths = collections.Counter()
    with h5py.File(profile) as file:
        region = file["rank0/regions/site_target"]
        rows = region["call_paths"]
        for frames, calls in zip(rows["frames"][:], rows["calls"][:]):
            paths[ours(text_of(frames), program)] += int(calls)
        total = int(region.attrs["calls"])
    known = {"main", "lambda"}
    with open(gdb_output, encoding="utf-8") as file:
        lines = [line for line in file if line.startswith("PATH\t")]
    for line in lines:
        known.update(name for name in map(simple, line.rstrip("\n").split("\t")[1].split(" < "))
                     if re.fullmatch(r"(.*::)?[a-z]?f\d+_\d+(<.*>)?|.*f\d+_\d+.*|.*::step", name))
    expected = collections.Counter(theirs(line, known) for line in lines)
    for path, n in (expected - paths).items():
        print(f"gdb {n} times: {' < '.join(path)}")
    for path, n in (paths - expected).items():
        print(f"we {n} times:  {' < '.join(path)}")
    distinct = len(expected)
    if distinct < 50 or total != len(lines):
        print(f"{distinct} paths, {total} calls, {len(lines)} by gdb")
        return 1
    print(f"{distinct} paths of {min(map(len, expected))} to {max(map(len, expected))} frames agree")
    return paths != expected


if __name__ == "__main__":
    sys.exit(main())
