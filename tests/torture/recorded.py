# SPDX-License-Identifier: BSD-3-Clause
"""recorded.py FOLDER PROGRAMS: print "PROCESSES CALLS REGIONS" of the profiles in FOLDER.

The names of the profiled programs are appended to the file PROGRAMS. "0 0 0" where nothing was.
"""
import os
import sys

import h5py

folder, programs = sys.argv[1:]
processes = calls = 0
names = set()
tags = set()
for name in os.listdir(folder):
    if not name.endswith(".h5"):
        continue
    with h5py.File(os.path.join(folder, name)) as profile:
        for key in profile:
            if not key.startswith("rank"):
                continue
            processes += 1
            executable = profile[key].attrs["executable"]
            if isinstance(executable, bytes):
                executable = executable.decode()
            names.add(os.path.basename(executable))
            for tag, region in profile[key + "/regions"].items():
                tags.add(tag)
                calls += int(region.attrs["calls"])
with open(programs, "a", encoding="utf-8") as file:
    file.writelines(name + "\n" for name in sorted(names))
print(processes, calls, len(tags))
