# SPDX-License-Identifier: BSD-3-Clause
"""check_counts.py PROFILE OUTPUT OBJECT: does the profile count what the program itself counted?

OUTPUT is what the program printed, with "COUNT name least most" for each function; OBJECT a glob of
the base names of the objects whose entries were to be patched. Clones, overloads and twins of a
name are summed. A function that was refused may be counted through its slots or not at all; the
reason must be given. Prints "PATCHED REFUSED CHECKED", and the refusals on stderr with -v.
Exit status 1 where a count is wrong, or where fewer than nine tenths of the names were checked.
"""
import collections
import fnmatch
import os
import re
import sys

import h5py

HASH = re.compile(r"::h[0-9a-f]{16}$")
FORTRAN = re.compile(r"^__(\w+?)_MOD_")


def text_of(value):
    """A string of the file."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def without_parameters(name):
    """The name less what stands in parentheses, but for operator()."""
    text, depth = "", 0
    for i, c in enumerate(name):
        if depth == 0 and text.endswith("operator") and name[i:i + 2] == "()":
            text += "("
        elif depth == 0 and text.endswith("operator(") and c == ")":
            text += c
        elif c in "()":
            depth += 1 if c == "(" else -1
        elif depth == 0:
            text += c
    return text


def key_of(name):
    """The name without parameters, return type, hash and what clones are called."""
    name = FORTRAN.sub(r"\1::", HASH.sub("", name.replace("(anonymous namespace)", "{anon}")))
    name = re.sub(r" (const|\[clone .*\])*$", "", without_parameters(name))
    depth = start = 0
    for i, c in enumerate(name):
        if c == "<" and not name[:i].endswith("operator"):
            depth += 1
        elif c == ">" and depth:
            depth -= 1
        elif depth == 0 and c == " " and not name[:i].endswith("operator"):
            start = i + 1
    kind = "thunk to " if " thunk to " in name else ""
    return kind + re.sub(r"(?<=\w)\.[\w.]+$", "", name[start:])


def read_counts(path):
    """name -> [least, most] of what the program printed."""
    counts = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("COUNT\t"):
                _, name, least, most = line.rstrip("\n").split("\t")
                row = counts.setdefault(key_of(name), [0, 0])
                row[0] += int(least)
                row[1] += int(most)
    return counts


class Profile:
    """What the profile says: calls by name, and the entries."""

    def __init__(self, path, glob):
        self.calls = collections.Counter()
        self.patched = set()
        self.refused = {}
        with h5py.File(path) as file:
            for rank in (file[name] for name in file if name.startswith("rank")):
                for region in rank["regions"].values():
                    self.calls[key_of(text_of(region.attrs["tag"]))] += int(region.attrs["calls"])
                    if region.attrs["dropped_events"]:
                        print("dropped:", text_of(region.attrs["tag"]))
                for site in rank["sites"][:] if "sites" in rank else ():
                    self.add_site(site, glob)

    def add_site(self, site, glob):
        """One row of the list of sites, if it is about an entry."""
        kind, state, symbol, reason, place = (text_of(site[key]) for key in
                                              ("kind", "state", "symbol", "reason", "object"))
        if kind not in ("entry", "trap") or not fnmatch.fnmatch(os.path.basename(place), glob):
            return
        if state == "refused":
            self.refused[symbol] = reason
        else:
            self.patched.add(symbol)


def demangled(symbols):
    """symbol -> its key, as the profile's tags have it."""
    import subprocess  # only where it is needed
    text = subprocess.run(["c++filt"], input="\n".join(re.sub(r"\.[\w.]+$", "", s) for s in symbols),
                          capture_output=True, text=True, check=True).stdout
    return dict(zip(symbols, (key_of(line) for line in text.splitlines())))


def main():
    """Compare; returns the exit status."""
    verbose = sys.argv[1] == "-v"
    path, output, glob = sys.argv[1 + verbose:]
    profile = Profile(path, glob)
    counts = read_counts(output)
    names = demangled(sorted(profile.patched | set(profile.refused)))
    refused = {names[symbol] for symbol in profile.refused}
    patched = {names[symbol] for symbol in profile.patched}
    n_checked = n_wrong = 0
    for name, (least, most) in counts.items():
        got = profile.calls[name]
        if name in refused:
            n_wrong += got > most
            if got > most:
                print(f"{name}: {got} calls, of which at most {most} were made; refused in part")
        elif name in patched:
            n_checked += 1
            if not least <= got <= most:
                n_wrong += 1
                print(f"{name}: {got} calls, expected {least} to {most}")
        elif least:
            print(f"{name}: neither patched nor refused")
            n_wrong += 1
    for symbol, reason in sorted(profile.refused.items()):
        if ":" not in reason:
            n_wrong += 1
            print(f"{symbol}: refused without a reason: '{reason}'")
        if verbose:
            print(f"{symbol}: {reason}", file=sys.stderr)
    if n_checked < 0.8 * len(counts):
        n_wrong += 1
        print(f"only {n_checked} of {len(counts)} names were checked")
    print(len(profile.patched), len(profile.refused), n_checked)
    return n_wrong != 0


if __name__ == "__main__":
    sys.exit(main())
