# SPDX-License-Identifier: BSD-3-Clause
"""share.py FOLDER GLOB..: which entries of the objects GLOB did the profiles in FOLDER patch?

Prints "PATCHED REFUSED CALLED", CALLED the number of regions that were entered, and then per object
a line with its share and the reasons of the refusals, the first words of each.
"""
import collections
import fnmatch
import os
import sys

import h5py


def text_of(value):
    """A string of the file."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def main():
    """Read all, print."""
    folder, globs = sys.argv[1], sys.argv[2:]
    patched = collections.defaultdict(set)
    refused = collections.defaultdict(dict)
    regions = set()
    for name in os.listdir(folder):
        if not name.endswith(".h5"):
            continue
        with h5py.File(os.path.join(folder, name)) as file:
            for rank in (file[key] for key in file if key.startswith("rank")):
                regions.update(rank["regions"])
                for site in rank["sites"][:] if "sites" in rank else ():
                    kind, state, symbol, reason, place = (text_of(site[key]) for key in (
                        "kind", "state", "symbol", "reason", "object"))
                    place = os.path.basename(place)
                    if kind not in ("entry", "trap") or not any(fnmatch.fnmatch(place, glob) for glob in globs):
                        continue
                    if state == "refused":
                        refused[place][symbol] = reason.split(":")[0]
                    else:
                        patched[place].add(symbol)
    print(sum(map(len, patched.values())), sum(map(len, refused.values())), len(regions))
    for place in sorted(set(patched) | set(refused)):
        n, reasons = len(patched[place]), collections.Counter(refused[place].values())
        text = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
        print(f"{place}: {n} of {n + len(refused[place])} patched, "
              f"{100 * n / max(1, n + len(refused[place])):.1f}%; refused: {text or 'none'}")


main()
