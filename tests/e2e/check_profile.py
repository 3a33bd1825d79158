# SPDX-License-Identifier: BSD-3-Clause
"""check_profile.py FILE EXPRESSION..: is FILE what layout.md says, and is every expression true?

Each expression is Python and sees the functions of class Profile. A false one prints both sides
of its comparison. Run with /usr/bin/python3, which has h5py.
"""
import ast
import re
import sys

import h5py
import numpy

METADATA = ("timestamp start_time_ns user hostname platform uname chip_information "
            "working_directory mpi_size total_cores source source_language").split()
RANK_ATTRS = "hostname pid executable clock monotonic_to_realtime_ns".split()
REGION_ATTRS = ("tag library calls total_ns min_ns max_ns sum_sq_ns2 tool_ns unwound skipped open "
                "dropped_events").split()


class Wrong(Exception):
    """One thing in the file that layout.md does not allow."""


def need(condition, text):
    if not condition:
        raise Wrong(text)


def as_text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def check_trace(name, region, n_threads):
    """Types, order and plausibility of one region's datasets. Returns starts and ends."""
    starts, ends = region["start_times"], region["end_times"]
    for dataset in (starts, ends):
        need(dataset.dtype == numpy.int64, f"{name}: {dataset.name} is {dataset.dtype}")
    need(starts.shape == ends.shape and len(starts.shape) == 1, f"{name}: shapes differ")
    starts, ends = starts[:], ends[:]
    need((numpy.diff(starts) >= 0).all(), f"{name}: start_times are not sorted")
    need((ends >= starts).all(), f"{name}: an end before its start")
    threads = region["threads"]
    need(threads.dtype == numpy.int32 and threads.shape == starts.shape, f"{name}: threads")
    threads = threads[:]
    need(((threads >= 0) & (threads < n_threads)).all(), f"{name}: a thread that is not there")
    return starts, ends


def histogram_of(durations):
    """The 64 log2 buckets of layout.md: 2^b <= ns < 2^(b+1), and 0 ns in the first."""
    buckets = numpy.frexp(numpy.maximum(durations, 1).astype(numpy.float64))[1] - 1
    return numpy.bincount(buckets, minlength=64).astype(numpy.uint64)


def check_sums(name, region, starts, ends):
    """The attributes agree with the histogram and, where every call was traced, with the trace."""
    attrs = {key: region.attrs[key] for key in REGION_ATTRS}
    histogram = region["histogram"]
    need(histogram.dtype == numpy.uint64 and histogram.shape == (64,), f"{name}: histogram")
    histogram = histogram[:]
    n_done = int(attrs["calls"]) - int(attrs["open"])
    # A call that was killed, or jumped out of, while it was being added up has no time.
    need(n_done - int(attrs["dropped_events"]) <= int(histogram.sum()) <= n_done,
         f"{name}: histogram holds {histogram.sum()} of {n_done}")
    need(len(starts) <= n_done, f"{name}: more records than calls")
    need(attrs["unwound"] + attrs["skipped"] <= n_done, f"{name}: more abnormal ends than calls")
    if n_done == 0 or len(starts) != n_done:
        return
    durations = ends - starts
    computed = {"total_ns": durations.sum(), "min_ns": durations.min(), "max_ns": durations.max()}
    for key, value in computed.items():
        need(attrs[key] == value, f"{name}: {key} is {attrs[key]}, the trace says {value}")
    squares = (durations.astype(numpy.float64) ** 2).sum()
    need(abs(attrs["sum_sq_ns2"] - squares) <= 1e-6 * squares + 1, f"{name}: sum_sq_ns2")
    need((histogram == histogram_of(durations)).all(), f"{name}: histogram is not the trace's")


def check_paths(name, region):
    """The rows of call_paths sum up to the region's calls."""
    if "call_paths" not in region:
        return
    paths = region["call_paths"]
    frames, calls, totals = (paths[key][:] for key in ("frames", "calls", "total_ns"))
    need(calls.dtype == numpy.uint64 and totals.dtype == numpy.int64, f"{name}: call_paths")
    need(len(frames) == len(calls) == len(totals), f"{name}: call_paths differ in length")
    need(int(calls.sum()) == int(region.attrs["calls"]),
         f"{name}: paths of {calls.sum()} of {region.attrs['calls']} calls")
    need((totals >= 0).all(), f"{name}: a path with a negative time")
    need(b"(other)" not in list(frames[:-1]), f"{name}: (other) is not the last path")


def check_region(path, group_name, region, n_threads):
    name = f"{path}/{group_name}"
    for key in REGION_ATTRS:
        need(key in region.attrs, f"{name}: no attribute {key}")
    tag = as_text(region.attrs["tag"])
    need(re.sub(r"#\d+$", "", group_name) in (tag.replace("/", "|"),
                                             re.sub(r"#\d+$", "", tag).replace("/", "|")),
         f"{name}: group name of tag {tag}")
    need(int(region.attrs["calls"]) > 0, f"{name}: a region that was never entered")
    need(h5py.check_string_dtype(region["symbols"].dtype) is not None, f"{name}: symbols")
    check_paths(name, region)
    starts, ends = check_trace(name, region, n_threads)
    check_sums(name, region, starts, ends)


def check_rank(name, rank):
    for key in RANK_ATTRS:
        need(key in rank.attrs, f"{name}: no attribute {key}")
    need(as_text(rank.attrs["clock"]) in ("tsc", "monotonic"), f"{name}: clock")
    for key in ("command_line", "never_called"):
        need(h5py.check_string_dtype(rank[key].dtype) is not None, f"{name}: {key} are no strings")
    need(set(rank["sites"].dtype.names) ==
         {"rule", "symbol", "version", "object", "kind", "state", "reason"}, f"{name}: sites")
    threads = rank["threads"]
    n_threads = len(threads["tid"])
    for key in ("name", "first_ns", "last_ns", "cpus"):
        need(len(threads[key]) == n_threads, f"{name}: threads/{key}")
    for group_name, region in rank["regions"].items():
        check_region(f"{name}/regions", group_name, region, n_threads)


def check_layout(file):
    need(file.attrs["scope_profiler_schema"] == 1, "scope_profiler_schema")
    need(file.attrs["callmark_schema"] == 1, "callmark_schema")
    for key in ("callmark_version", "run_id"):
        need(as_text(file.attrs[key]) != "", f"no {key}")
    for key in METADATA:
        need(key in file["metadata"].attrs, f"metadata: no {key}")
    names = set(file) - {"metadata"}
    need(names, "no rank")
    for name in names:
        need(re.fullmatch(r"rank(0|[1-9]\d*)", name), f"/{name} is neither metadata nor a rank")
        check_rank(name, file[name])


class Profile:
    """What the expressions see: its public methods, `rank0` .., `file`, `len`, `sum`, .."""

    def __init__(self, file):
        self.file = file

    def _regions(self, tag, rank):
        for name in self.file:
            if name != "metadata" and rank in (None, int(name[4:])):
                for region in self.file[name]["regions"].values():
                    if as_text(region.attrs["tag"]) == tag:
                        yield region

    def ranks(self):
        return sorted(int(name[4:]) for name in self.file if name != "metadata")

    def tags(self, rank=0):
        return sorted(as_text(region.attrs["tag"])
                      for region in self.file[f"rank{rank}/regions"].values())

    def attr(self, tag, key, rank=None):
        return sum(int(region.attrs[key]) for region in self._regions(tag, rank))

    def calls(self, tag, rank=None):
        return self.attr(tag, "calls", rank)

    def rows(self, tag, rank=None):
        return sum(len(region["start_times"]) for region in self._regions(tag, rank))

    def rows_by_thread(self, tag, rank=0):
        """Sorted numbers of records, one for each thread that has any."""
        counts = [numpy.bincount(region["threads"][:]) for region in self._regions(tag, rank)]
        return sorted(int(n) for count in counts for n in count if n)

    def durations(self, tag):
        return [int(ns) for region in self._regions(tag, None)
                for ns in region["end_times"][:] - region["start_times"][:]]

    def inside(self, inner, outer):
        """Does every record of inner lie within one of outer?"""
        inners = [pair for region in self._regions(inner, None)
                  for pair in zip(region["start_times"][:], region["end_times"][:])]
        outers = [pair for region in self._regions(outer, None)
                  for pair in zip(region["start_times"][:], region["end_times"][:])]
        return all(any(a <= start and end <= b for a, b in outers) for start, end in inners)

    def paths(self, tag, rank=None):
        """{path: calls} of a region with callers=N, summed over ranks; a path is a tuple of frames."""
        sums = {}
        for region in self._regions(tag, rank):
            if "call_paths" in region:
                for text, calls in zip(region["call_paths/frames"][:], region["call_paths/calls"][:]):
                    path = tuple(as_text(text).split(" < "))
                    sums[path] = sums.get(path, 0) + int(calls)
        return sums

    def source(self, tag, rank=0):
        """(base name of the file, line) of the region's function, or None."""
        for region in self._regions(tag, rank):
            if "source_file" in region.attrs:
                return (as_text(region.attrs["source_file"]).rsplit("/", 1)[-1],
                        int(region.attrs["source_lineno"]))
        return None

    def never_called(self, rank=0):
        return sorted(as_text(tag) for tag in self.file[f"rank{rank}/never_called"][:])

    def rank_attr(self, key, rank=0):
        value = self.file[f"rank{rank}"].attrs[key]
        return int(value) if isinstance(value, numpy.integer) else as_text(value)

    def metadata(self, key):
        value = self.file["metadata"].attrs[key]
        return int(value) if isinstance(value, numpy.integer) else as_text(value)

    def sites(self, state="patched", rank=0):
        """(symbol, base name of the caller, kind) of every site in this state."""
        return sorted((as_text(row["symbol"]), as_text(row["object"]).rsplit("/", 1)[-1],
                       as_text(row["kind"]))
                      for row in self.file[f"rank{rank}/sites"][:] if as_text(row["state"]) == state)


def explain(expression, names):
    """Both sides of a false comparison, or the value of anything else."""
    tree = ast.parse(expression, mode="eval").body
    parts = [tree.left] + tree.comparators if isinstance(tree, ast.Compare) else [tree]
    values = [repr(eval(ast.unparse(part), names)) for part in parts]  # pylint: disable=eval-used
    return " | ".join(value[:400] for value in values)


def main():
    n_wrong = 0
    try:
        with h5py.File(sys.argv[1], "r") as file:
            check_layout(file)
            profile = Profile(file)
            names = {name: getattr(profile, name) for name in dir(profile) if name[0] != "_"}
            names["as_text"] = as_text
            for expression in sys.argv[2:]:
                if not eval(expression, names):  # pylint: disable=eval-used
                    print(f"{sys.argv[1]}: not {expression}: {explain(expression, names)}",
                          file=sys.stderr)
                    n_wrong += 1
    except (OSError, KeyError, Wrong) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        n_wrong += 1
    return n_wrong != 0


if __name__ == "__main__":
    sys.exit(main())
