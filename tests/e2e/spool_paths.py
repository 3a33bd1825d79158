# SPDX-License-Identifier: BSD-3-Clause
"""spool_paths.py FOLDER EXPRESSION..: the call paths that processes left in a spool, checked.

Folders of processes are looked for below FOLDER; one line a path is printed. An expression sees
    paths(REGION)       {path: calls} of all processes; a path is "inner < outer < .. < outermost",
                        by names of `nm`, an object's base name where there is none, then
                        " < (cut)", " < (limit)"; "(other)"
    heads(REGION)       the same, each path up to below main (and what an optimizing compiler makes
                        part of it) or the first frame without a name
    ticks(REGION), n_paths(REGION), n_processes, calls(REGION), objects (base names, in order)
    functions(REGION)   names of what it stands for
and must be true.
"""
import bisect
import glob
import os
import re
import struct
import subprocess
import sys

CUT, LIMIT, OTHER = 1, 2, 4
ITEM_REGION, ITEM_OBJECT, ITEM_FUNCTION, ITEM_PATH = 5, 16, 17, 18


class Symbols:
    """Function names of one file, of those that have a size."""

    def __init__(self, path):
        self.rows = {}
        for option in ["-D"], []:
            done = subprocess.run(["nm", "-S", "--defined-only", *option, path], text=True,
                                  capture_output=True, check=False)
            for line in done.stdout.splitlines():
                fields = line.split()
                if len(fields) == 4 and fields[2] in "tTwWi":
                    self.rows[int(fields[0], 16)] = (int(fields[1], 16), fields[3].split("@")[0])
        self.starts = sorted(self.rows)

    def find(self, address):
        i = bisect.bisect_right(self.starts, address)
        start = self.starts[i - 1] if i else 0
        size, name = self.rows.get(start, (0, None))
        return name if address < start + size else None


class Process:
    cache = {}

    def __init__(self, folder):
        self.folder = folder
        self.objects, self.regions, self.paths, self.functions = [], {}, [], []
        with open(os.path.join(folder, "process"), "rb") as f:
            self.read_items(f.read())
        self.totals = {}
        for name in glob.glob(os.path.join(glob.escape(folder), "t*.pth")):
            with open(name, "rb") as f:
                self.read_totals(f.read())

    def read_items(self, data):
        at = 64
        while at + 8 <= len(data):
            kind, n_bytes = struct.unpack_from("<II", data, at)
            body = data[at:at + n_bytes]
            if kind == ITEM_REGION:
                region = struct.unpack_from("<I", body, 8)[0]
                self.regions[region] = body[24:].split(b"\0")[0].decode()
            elif kind == ITEM_OBJECT:
                base, low, high, closed, _ = struct.unpack_from("<QQQII", body, 8)
                self.objects.append((base, low, high, closed, body[40:].split(b"\0")[0].decode()))
            elif kind == ITEM_FUNCTION:
                region, _, address = struct.unpack_from("<IIQ", body, 8)
                self.functions.append((self.regions[region], self.name(address + 1)))
            elif kind == ITEM_PATH:
                path, region, n, flags = struct.unpack_from("<IIII", body, 8)
                assert path == len(self.paths), f"{self.folder}: path {path} after {len(self.paths)}"
                assert n_bytes == 24 + 8 * n
                frames = struct.unpack_from(f"<{n}Q", body, 24)
                self.paths.append((self.regions[region], frames, flags, len(self.objects)))
            at += n_bytes

    def read_totals(self, data):
        for at in range(0, len(data) // 32 * 32, 32):
            used, path, n_calls, ticks, _ = struct.unpack_from("<IIQQQ", data, at)
            if not used:
                break
            old = self.totals.get(path, (0, 0))
            self.totals[path] = (old[0] + n_calls, old[1] + ticks)

    def name(self, address, n_objects=None):
        live = {}
        known = self.objects[:n_objects]
        later = self.objects[n_objects:] if n_objects is not None else []
        for base, low, high, closed, path in known + later:
            live = {k: v for k, v in live.items() if v[1] <= low or v[0] >= high} \
                if (base, low, high, closed, path) in known else live
            if not closed:
                live.setdefault((low, path), (low, high, base, path))
        for low, high, base, path in live.values():
            if low <= address - 1 < high:
                if path not in Process.cache:
                    Process.cache[path] = Symbols(path)
                symbols = Process.cache[path]
                return symbols.find(address - 1 - base) or os.path.basename(path)
        return "?"

    def named(self):
        """(region, text, calls, ticks) of each path."""
        for i, (region, frames, flags, n_objects) in enumerate(self.paths):
            text = " < ".join(re.sub(r"\.(constprop|isra|part)\.\d+", "",
                                     self.name(frame, n_objects)) for frame in frames)
            text += " < (cut)" if flags & CUT else " < (limit)" if flags & LIMIT else ""
            if flags & OTHER:
                text = "(other)"
            yield (region, text, *self.totals.get(i, (0, 0)))


def main():
    folders = [os.path.dirname(p) for p in
               glob.glob(os.path.join(glob.escape(sys.argv[1]), "**", "process"), recursive=True)]
    processes = [Process(folder) for folder in sorted(folders)]
    rows = [row for process in processes for row in process.named()]
    for region, text, n_calls, ticks in rows[:200]:
        print(f"{region}: {n_calls} calls, {ticks} ticks: {text}")

    def paths(region):
        found = {}
        for name, text, n_calls, _ in rows:
            if name == region:
                found[text] = found.get(text, 0) + n_calls
        return found

    def heads(region):
        """What is below main, or the first frame without a name."""
        found = {}
        for text, n_calls in paths(region).items():
            head = re.split(r" < (?:main|run|handle|use_\w+|(?:lib|ld-)\S*\.so\S*)(?: |$)", text)[0]
            found[head] = found.get(head, 0) + n_calls
        return found

    names = {
        "paths": paths,
        "heads": heads,
        "ticks": lambda region: sum(row[3] for row in rows if row[0] == region),
        "calls": lambda region: sum(row[2] for row in rows if row[0] == region),
        "n_paths": lambda region: sum(row[0] == region for row in rows),
        "n_processes": len(processes),
        "objects": [os.path.basename(o[4]) for p in processes for o in p.objects],
        "functions": lambda region: sorted({f[1] for p in processes for f in p.functions
                                            if f[0] == region}),
    }
    bad = 0
    for expression in sys.argv[2:]:
        if not eval(expression, names):  # pylint: disable=eval-used
            print(f"FALSE: {expression}", file=sys.stderr)
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
