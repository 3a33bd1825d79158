# SPDX-License-Identifier: BSD-3-Clause
"""same.py BARE1 BARE2 PROFILED: exit status 0 when PROFILED is as the bare runs were.

Words that differ between the two bare runs are not compared; everything else must be equal.
Prints how many lines had such words, or the first differences.
"""
import re
import sys

WORD = re.compile(rb"[0-9A-Za-z]+|[^0-9A-Za-z]")


def lines_of(path):
    """The lines of a file."""
    with open(path, "rb") as file:
        return file.read().split(b"\n")


def is_same(first, second, other):
    """Is a line of the profiled run as these two of the bare runs?"""
    if other in (first, second):
        return True
    first, second, other = (WORD.findall(line) for line in (first, second, other))
    if not len(first) == len(second) == len(other):
        return False
    return all(a != b or a == c for a, b, c in zip(first, second, other))


def main():
    """Compare, print, and return the exit status."""
    first, second, other = (lines_of(path) for path in sys.argv[1:])
    if len(first) != len(second):
        print("two bare runs differ:", len(first), "and", len(second), "lines")
        return 2
    if len(other) != len(first):
        print(len(other), "lines, bare", len(first))
    n_differences = 0
    for number, (a, b, c) in enumerate(zip(first, second, other), 1):
        if is_same(a, b, c):
            continue
        n_differences += 1
        if n_differences <= 3:
            print(f"line {number}, bare:     {a[:300].decode(errors='replace')}")
            print(f"line {number}, profiled: {c[:300].decode(errors='replace')}")
    if n_differences or len(other) != len(first):
        return 1
    print(sum(a != b for a, b in zip(first, second)))
    return 0


sys.exit(main())
