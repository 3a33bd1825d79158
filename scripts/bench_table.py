# SPDX-License-Identifier: BSD-3-Clause
"""bench_table.py: samples of a bench-*.sh on stdin, the table of ratios on stdout.

A sample is "NAME VALUE". A limit is given as an argument, "TITLE|A - B|C - D|MAXIMUM": the median
of A less that of B, divided by that of C less that of D (none or several - B, - D), may be at
most MAXIMUM; without one it is only shown. Exit status 1 when one is over.
"""
import statistics
import sys


def read_samples(lines):
    samples = {}
    for line in lines:
        name, value = line.split()
        samples.setdefault(name, []).append(float(value))
    return {name: statistics.median(values) for name, values in samples.items()}


def difference(term, medians):
    names = [name.strip() for name in term.split(" - ")]
    return medians[names[0]] - sum(medians[name] for name in names[1:])


def main():
    medians = read_samples(sys.stdin)
    n_over = 0
    print(f"{'':52}{'this':>8}{'other':>8}{'ratio':>7}{'limit':>7}")
    for argument in sys.argv[1:]:
        title, measured, reference, maximum = argument.split("|")
        try:
            this, other = difference(measured, medians), difference(reference, medians)
        except KeyError as missing:
            print(f"{title:52}  not measured: {missing}")
            n_over += 1
            continue
        ratio = this / other
        if not maximum:
            print(f"{title:52}{this:8.2f}{other:8.2f}{ratio:7.3f}")
            continue
        verdict = "pass" if ratio <= float(maximum) else "MISS"
        n_over += verdict == "MISS"
        print(f"{title:52}{this:8.2f}{other:8.2f}{ratio:7.3f}{float(maximum):7.2f}  {verdict}")
    n_limits = sum(not argument.endswith("|") for argument in sys.argv[1:])
    print(f"{n_limits - n_over} of {n_limits} within their limits")
    return n_over != 0


if __name__ == "__main__":
    sys.exit(main())
