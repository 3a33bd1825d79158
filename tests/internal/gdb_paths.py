# SPDX-License-Identifier: BSD-3-Clause
"""gdb -batch -x gdb_paths.py PROGRAM: one line a call of site_target, its callers by gdb.

"NAME < NAME < ..", innermost first, up to main.
"""
import gdb

gdb.execute("set pagination off")
gdb.execute("set debuginfod enabled off")
gdb.execute("set print inferior-events off")


class Site(gdb.Breakpoint):
    """At the function's first instruction, where nothing has been pushed yet."""

    def stop(self):
        names = []
        frame = gdb.newest_frame().older()
        while frame is not None and frame.is_valid():
            names.append(frame.name() or "?")
            if names[-1] == "main":
                break
            frame = frame.older()
        print("PATH\t" + " < ".join(names))
        return False


Site("*site_target")
gdb.execute("run")
