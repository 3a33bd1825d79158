#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check a profiling_data.h5 against its contract (callmark-profile(5)), with h5py.

usage: check_layout.py FILE               every group, dataset, attribute and type
       check_layout.py --scope FILE       read it as scope-profiler does, print what is there

Prints one line and exits 0, or names the first violation and exits 1. Needs Debian's h5py
(/usr/bin/python3). Imported by other tests: check(path), read_as_scope_profiler(path).
"""

import re
import sys

import h5py
import numpy as np

MAX_CHARS = 60000

ROOT_ATTRS = {
    "scope_profiler_schema": "int", "callmark_schema": "int", "callmark_version": "str",
    "run_id": "str", "missing_ranks": "ints",
}
RANK_ATTRS = {
    "hostname": "str", "pid": "int", "executable": "str", "clock": "str",
    "monotonic_to_realtime_ns": "int", "dropped_events": "int",
}
RANK_OPTIONAL = {"exit_status": "int", "overhead_ns_per_call": "real", "likwid_fallback": "str"}
RANK_DATASETS = {"command_line": "str", "never_called": "str", "notes": "str"}
SITE_MEMBERS = ("rule", "symbol", "version", "object", "kind", "state", "reason")
THREAD_DATASETS = {
    "tid": np.int64, "name": "str", "first_ns": np.int64, "last_ns": np.int64, "cpus": "str",
}
REGION_ATTRS = {
    "tag": "str", "library": "str", "calls": "int", "total_ns": "int", "min_ns": "int",
    "max_ns": "int", "sum_sq_ns2": "real", "tool_ns": "int", "unwound": "int", "skipped": "int",
    "open": "int", "dropped_events": "int", "max_events": "int",
}
REGION_DATASETS = {
    "start_times": np.int64, "end_times": np.int64, "threads": np.int32, "symbols": "str",
    "histogram": np.uint64,
}
PATH_DATASETS = {"frames": "str", "calls": np.uint64, "total_ns": np.int64}
LIKWID_ATTRS = {"num_regions": "int", "cpu_name": "str"}
COUNTERS_ATTRS = {
    "tag": "str", "group_id": "int", "group_name": "str", "source": "str", "event_names": "strs",
    "counter_names": "strs", "metric_names": "strs",
}
COUNTERS_DATASETS = {
    "cpus": np.int64, "times": np.float64, "call_counts": np.int64, "events": np.float64,
    "metrics": np.float64,
}
SOURCES = {"full_api", "marker_file", "marker_api"}
MAX_NAMES = 4000  # of one attribute; a dataset of its name has all when there are more
METADATA_INTS = {"start_time_ns", "mpi_size", "total_cores", "omp_num_threads"}
METADATA_LISTS = {"modules"}
FILTERS = {"gzip", None}


class Violation(Exception):
    """What the file has that the contract does not allow."""


def need(condition, where, what):
    if not condition:
        raise Violation(f"{where}: {what}")


def is_text_type(dtype):
    info = h5py.check_string_dtype(dtype)
    return info is not None and info.length is None and info.encoding == "utf-8"


def attr_kind(attrs, name):
    """The kind of an attribute from its stored type, exactly: str strs int ints real bytes."""
    attr = attrs.get_id(name)
    is_scalar = attr.shape == ()
    if is_text_type(attr.dtype):
        return "str" if is_scalar else "strs"
    if attr.dtype == np.dtype("<i8"):
        return "int" if is_scalar else "ints"
    if attr.dtype == np.dtype("<f8") and is_scalar:
        return "real"
    if attr.dtype == np.dtype("u1") and len(attr.shape) == 1:
        return "bytes"
    return str(attr.dtype) + ("" if is_scalar else "[]")


def check_attrs(obj, required, optional=None, pattern=None, pattern_kind="int"):
    for name, kind in required.items():
        need(name in obj.attrs, obj.name, f"attribute {name} is missing")
        got = attr_kind(obj.attrs, name)
        need(got == kind, obj.name, f"attribute {name} is {got}, not {kind}")
    for name in obj.attrs:
        if name in required:
            continue
        kind = (optional or {}).get(name)
        if kind is None and pattern and re.fullmatch(pattern, name):
            kind = pattern_kind
        need(kind, obj.name, f"attribute {name} is not in the contract")
        got = attr_kind(obj.attrs, name)
        need(got == kind, obj.name, f"attribute {name} is {got}, not {kind}")


def check_dataset(group, name, dtype, ndim=1):
    where = f"{group.name}/{name}"
    need(name in group, where, "is missing")
    need(group.get(name, getlink=True).__class__ is h5py.HardLink, where, "is a link")
    data = group[name]
    need(isinstance(data, h5py.Dataset), where, "is not a dataset")
    need(data.ndim == ndim, where, f"has {data.ndim} dimensions")
    if dtype == "str":
        need(is_text_type(data.dtype), where, f"is {data.dtype}, not variable-length UTF-8")
    else:
        need(data.dtype == np.dtype(dtype), where, f"is {data.dtype}, not {np.dtype(dtype)}")
    need(data.compression in FILTERS and not data.fletcher32 and data.scaleoffset is None, where,
         "has a filter that is not standard")
    return data


def check_metadata(f):
    need("metadata" in f, "/", "metadata is missing")
    group = f["metadata"]
    need(isinstance(group, h5py.Group) and len(group) == 0, "/metadata",
         "holds more than attributes")
    for name in group.attrs:
        kind = attr_kind(group.attrs, name)
        want = ("int",) if name in METADATA_INTS else (
            ("strs",) if name in METADATA_LISTS else ("str",))
        need(kind in want, "/metadata", f"{name} is {kind}, not {want[0]}")
        if kind == "str":
            value = group.attrs[name]
            need(len(value) <= MAX_CHARS, "/metadata", f"{name} has {len(value)} characters")
    return group.attrs


def group_name(tag):
    """The name of a region's group, without what makes it unique."""
    if tag in ("", "."):
        return "(dot)" if tag else "(empty)"
    return tag.replace("/", "|")


def check_names(regions):
    """'/' as '|', the first of a name plain, later ones '#2', '#3'..."""
    for name, region in regions.items():
        base = group_name(region.attrs["tag"])
        if len(base.encode()) > 4096:
            continue
        if name == base:
            continue
        suffix = re.fullmatch(re.escape(base) + r"#(\d+)", name, re.DOTALL)
        need(suffix and int(suffix[1]) >= 2, region.name, f"is not a name for the tag {base!r}")
        need(base in regions, region.name, "has a number, but nothing has its plain name")


def log2_histogram(durations):
    limits = 2 ** np.arange(1, 63, dtype=np.int64)
    buckets = np.searchsorted(limits, durations, side="right")
    return np.bincount(buckets, minlength=64).astype(np.uint64)


def check_trace(region, n_threads):
    starts = region["start_times"][()]
    ends = region["end_times"][()]
    threads = region["threads"][()]
    need(len(starts) == len(ends) == len(threads), region.name, "its columns differ in length")
    need(np.all(starts[1:] >= starts[:-1]), region.name, "start_times are not ascending")
    need(np.all(ends >= starts), region.name, "a call ends before it starts")
    need(np.all((threads >= 0) & (threads < n_threads)), region.name, "names unknown threads")
    return starts, ends


def check_totals(region, starts, ends):
    """Exact numbers against the trace, as far as the trace has all calls."""
    attrs = {name: region.attrs[name] for name in REGION_ATTRS}
    durations = ends - starts
    timed = int(attrs["calls"]) - int(attrs["open"])
    histogram = region["histogram"][()]
    need(len(histogram) == 64, region.name, "its histogram has not 64 buckets")
    need(attrs["calls"] >= 1, region.name, "was never entered and has a group")
    need(attrs["calls"] >= len(starts), region.name, "has more rows than calls")
    need(int(histogram.sum()) == timed, region.name,
         f"its histogram counts {int(histogram.sum())} of {timed} completed calls")
    need(attrs["max_events"] >= -1, region.name, "max_events is below -1")
    need(attrs["max_events"] != 0 or len(starts) == 0, region.name, "trace=off, but has rows")
    if timed:
        need(attrs["min_ns"] <= attrs["max_ns"] <= attrs["total_ns"], region.name,
             "min, max and total do not fit")
    if len(starts) == timed and timed:
        need(int(durations.sum()) == attrs["total_ns"], region.name, "total_ns is not the sum")
        need(int(durations.min()) == attrs["min_ns"], region.name, "min_ns is not the least")
        need(int(durations.max()) == attrs["max_ns"], region.name, "max_ns is not the greatest")
        squares = float(np.sum(durations.astype(np.float64) ** 2))
        need(np.isclose(squares, attrs["sum_sq_ns2"], rtol=1e-6), region.name,
             "sum_sq_ns2 is not the sum of squares")
        need(np.array_equal(log2_histogram(durations), histogram), region.name,
             "its histogram is not that of its trace")


def check_tag_bytes(region):
    if "tag_bytes" in region.attrs:
        raw = bytes(region.attrs["tag_bytes"])
        need(raw.decode("utf-8", errors="replace").count("\ufffd") > 0, region.name,
             "tag_bytes is valid UTF-8")
        need("\ufffd" in region.attrs["tag"], region.name,
             "tag has no U+FFFD for its invalid bytes")


def check_paths(region):
    """With callers=N: a row a path, the calls of all of them are the region's."""
    if "call_paths" not in region:
        return
    paths = region["call_paths"]
    need(isinstance(paths, h5py.Group), paths.name, "is not a group")
    need(set(paths) == set(PATH_DATASETS), paths.name, f"its members are {sorted(paths)}")
    columns = {name: check_dataset(paths, name, dtype)[()]
               for name, dtype in PATH_DATASETS.items()}
    frames = [text.decode() for text in columns["frames"]]
    need(len({len(column) for column in columns.values()}) == 1, paths.name,
         "its columns differ in length")
    need(len(set(frames)) == len(frames), paths.name, "has the same path twice")
    need("(other)" not in frames[:-1], paths.name, "(other) is not the last row")
    need(all(frame.strip() for text in frames for frame in text.split(" < ")), paths.name,
         "has an empty frame")
    need(np.all(columns["calls"] > 0), paths.name, "has a path without calls")
    need(int(columns["calls"].sum()) == int(region.attrs["calls"]), paths.name,
         f"counts {int(columns['calls'].sum())} of {region.attrs['calls']} calls")
    need(np.all(columns["total_ns"] >= 0), paths.name, "has a negative time")


def check_region(region, n_threads):
    need(isinstance(region, h5py.Group), region.name, "is not a group")
    check_attrs(region, REGION_ATTRS,
                {"tag_bytes": "bytes", "source_file": "str", "source_lineno": "int"})
    need(("source_file" in region.attrs) == ("source_lineno" in region.attrs), region.name,
         "has a source file without a line, or a line without a file")
    need(region.attrs.get("source_lineno", 1) > 0, region.name, "its line is not above 0")
    check_paths(region)
    for name, dtype in REGION_DATASETS.items():
        check_dataset(region, name, dtype)
    for name in region:
        need(name in REGION_DATASETS or name == "call_paths", f"{region.name}/{name}",
             "is not in the contract")
    check_tag_bytes(region)
    starts, ends = check_trace(region, n_threads)
    check_totals(region, starts, ends)
    return len(starts)


def check_threads(rank):
    need("threads" in rank and isinstance(rank["threads"], h5py.Group), rank.name,
         "threads is not a group")
    columns = [check_dataset(rank["threads"], name, dtype)
               for name, dtype in THREAD_DATASETS.items()]
    need(len({len(column) for column in columns}) == 1, f"{rank.name}/threads",
         "its columns differ in length")
    need(set(rank["threads"]) == set(THREAD_DATASETS), f"{rank.name}/threads",
         "has other members")
    return len(columns[0])


def check_sites(rank):
    need("sites" in rank, rank.name, "sites is missing")
    dtype = rank["sites"].dtype
    need(dtype.names == SITE_MEMBERS, f"{rank.name}/sites", f"its members are {dtype.names}")
    for name in SITE_MEMBERS:
        need(is_text_type(dtype[name]), f"{rank.name}/sites", f"{name} is {dtype[name]}")
    need(rank["sites"].ndim == 1, f"{rank.name}/sites", "is not a list")


def count_names(group, name):
    """How many names the attribute has, or the dataset beside it where it has no room."""
    names = group.attrs[name]
    need(group.attrs.get_id(name).shape == (len(names),), group.name, f"{name} is not a list")
    if name not in group:
        return len(names)
    need(len(names) == MAX_NAMES, group.name, f"a dataset {name}, but the attribute has room")
    full = check_dataset(group, name, "str")
    need(len(full) > MAX_NAMES, full.name, "is not longer than the attribute")
    need([text.decode() for text in full[:MAX_NAMES]] == list(names), full.name,
         "does not begin as the attribute does")
    return len(full)


def check_counters(group):
    """One tag in one event group."""
    need(isinstance(group, h5py.Group), group.name, "is not a group")
    check_attrs(group, COUNTERS_ATTRS, {"tag_bytes": "bytes"})
    check_tag_bytes(group)
    need(group.attrs["source"] in SOURCES, group.name, f"source is {group.attrs['source']!r}")
    need(group.attrs["group_id"] >= 0, group.name, "group_id is below 0")
    data = {name: check_dataset(group, name, dtype, 2 if name in ("events", "metrics") else 1)
            for name, dtype in COUNTERS_DATASETS.items()}
    n_cpus = len(data["cpus"])
    n_events, n_counters, n_metrics = (
        count_names(group, name) for name in ("event_names", "counter_names", "metric_names"))
    need(n_counters in (0, n_events), group.name, f"{n_counters} counters, {n_events} events")
    for name, shape in (("times", (n_cpus,)), ("call_counts", (n_cpus,)),
                        ("events", (n_events, n_cpus)), ("metrics", (n_metrics, n_cpus))):
        need(data[name].shape == shape, data[name].name,
             f"has the shape {data[name].shape}, not {shape}")
    for name in group:
        need(name in COUNTERS_DATASETS or name.endswith("_names"), f"{group.name}/{name}",
             "is not in the contract")
    cpus = data["cpus"][()]
    need(len(set(cpus)) == n_cpus and np.all(cpus >= 0), group.name, "cpus are not unique")
    need(np.all(data["call_counts"][()] >= 0), group.name, "a negative call count")
    need(not np.any(data["times"][()] < 0), group.name, "a negative time")


def check_likwid(rank):
    """Nothing where no counters were collected; the number of groups otherwise."""
    if "likwid" not in rank:
        return 0
    likwid = rank["likwid"]
    need(isinstance(likwid, h5py.Group), likwid.name, "is not a group")
    check_attrs(likwid, LIKWID_ATTRS, None, r"LIKWID_\w+", "str")
    need(set(likwid) == {"regions"}, likwid.name, f"its members are {sorted(likwid)}")
    regions = likwid["regions"]
    need(isinstance(regions, h5py.Group) and len(regions.attrs) == 0, regions.name,
         "is not a group without attributes")
    need(likwid.attrs["num_regions"] == len(regions), likwid.name,
         f"num_regions is {likwid.attrs['num_regions']}, but there are {len(regions)}")
    check_names(regions)
    seen = set()
    for group in regions.values():
        check_counters(group)
        key = bytes(group.attrs.get("tag_bytes", group.attrs["tag"].encode())), group.attrs[
            "group_id"]
        need(key not in seen, group.name, "the same tag and event group twice")
        seen.add(key)
    return len(regions)


def check_rank(rank):
    check_attrs(rank, RANK_ATTRS, RANK_OPTIONAL, r"markers_skipped_\w+")
    for name in rank.attrs:
        need(not name.startswith("markers_skipped_") or rank.attrs[name] > 0, rank.name,
             f"{name} is not above 0")
    need(rank.attrs["clock"] in ("tsc", "monotonic"), rank.name,
         f"its clock is {rank.attrs['clock']!r}")
    for name, dtype in RANK_DATASETS.items():
        check_dataset(rank, name, dtype)
    check_sites(rank)
    n_threads = check_threads(rank)
    for name in rank:
        need(name in RANK_DATASETS or name in ("regions", "threads", "sites", "likwid"),
             f"{rank.name}/{name}", "is not in the contract")
    need("regions" in rank and isinstance(rank["regions"], h5py.Group), rank.name,
         "regions is not a group")
    need(len(rank["regions"].attrs) == 0, f"{rank.name}/regions", "has attributes")
    check_names(rank["regions"])
    n_calls = sum(check_region(region, n_threads) for region in rank["regions"].values())
    n_counted = check_likwid(rank)
    need(len(rank["regions"]) or n_counted, rank.name, "recorded nothing, yet has a group")
    return len(rank["regions"]), n_calls


def check(path):
    """Raise Violation at the first thing that is wrong; return ranks, regions and rows."""
    n_ranks = n_regions = n_calls = 0
    with h5py.File(path, "r") as f:
        check_attrs(f, ROOT_ATTRS)
        need(f.attrs["scope_profiler_schema"] == 1, "/", "scope_profiler_schema is not 1")
        need(f.attrs["callmark_schema"] == 1, "/", "callmark_schema is not 1")
        metadata = check_metadata(f)
        for name in f:
            if name == "metadata":
                continue
            need(re.fullmatch(r"rank(0|[1-9]\d*)", name), "/", f"{name} is no rank")
            need(name in f, "/", f"{name} leads nowhere")
            regions, calls = check_rank(f[name])
            n_ranks += 1
            n_regions += regions
            n_calls += calls
        need(n_ranks, "/", "no rank at all")
        missing = [int(rank) for rank in f.attrs["missing_ranks"]]
        need(missing == sorted(set(missing)), "/", "missing_ranks is not ascending")
        for rank in missing:
            need(f"rank{rank}" not in f, "/", f"rank {rank} is missing and there")
        if "mpi_size" in metadata:
            need(n_ranks + len(missing) >= metadata["mpi_size"], "/",
                 "ranks are neither there nor missing")
    return n_ranks, n_regions, n_calls


def read_as_scope_profiler(path):
    """{rank: {region: (starts, ends)}} by the rules of scope-profiler's own reader."""
    ranks = {}
    with h5py.File(path, "r") as f:
        version = f.attrs.get("scope_profiler_schema", 1)
        need(isinstance(version, (int, np.integer)) and version == 1, "/",
             f"schema {version!r} is not one it reads")
        if "metadata" in f:
            for name in f["metadata"].attrs:
                _ = f["metadata"].attrs[name]
        for name in sorted((n for n in f if n != "metadata"),
                           key=lambda n: int(n.replace("rank", ""))):
            regions = ranks.setdefault(int(name.replace("rank", "")), {})
            if "regions" not in f[name]:
                continue
            for region, group in f[name]["regions"].items():
                starts = group["start_times"][()]
                ends = group["end_times"][()]
                need(isinstance(starts, np.ndarray) and len(starts) == len(ends),
                     group.name, "starts and ends are no arrays of one length")
                if "tags" in group.attrs:
                    tuple(group.attrs["tags"])
                regions[region] = (starts, ends)
    return ranks


def main(arguments):
    if len(arguments) not in (1, 2) or (len(arguments) == 2 and arguments[0] != "--scope"):
        print(__doc__, file=sys.stderr)
        return 2
    path = arguments[-1]
    try:
        if arguments[0] == "--scope":
            for rank, regions in read_as_scope_profiler(path).items():
                for name, (starts, ends) in regions.items():
                    print(f"rank {rank}  {name}: {len(starts)} calls, "
                          f"{int((ends - starts).sum())} ns")
        else:
            n_ranks, n_regions, n_calls = check(path)
            print(f"{path}: {n_ranks} ranks, {n_regions} regions, {n_calls} rows: as it should be")
    except (Violation, OSError, KeyError, ValueError) as error:
        print(f"{path}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
