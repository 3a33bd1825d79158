#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make suite files for test-suite.sh, and look at what came of them.

  suite_file.py make FILE KIND..      a suite with a row for each KIND (a number before it: so often)
  suite_file.py rows DIR EXPRESSION.. each is true; f: suite.h5, row(i): the i-th file, report: JSON
                                      from the file `report.json`
  suite_file.py schema SCHEMA CLI     the schema and the parser agree on right and wrong files
  suite_file.py forge DIR             change a unit in row 1, and all hashes with it
"""
import copy
import hashlib
import json
import os
import shutil
import subprocess
import sys

import h5py
import numpy

COUNT = {"events": "RETIRED_INSTRUCTIONS:PMC0", "cpus": [0],
         "units": {"RETIRED_INSTRUCTIONS": "1"}}
FIXED = {"events": "INSTR_RETIRED_ANY:FIXC0", "cpus": [0], "units": {"INSTR_RETIRED_ANY": "1"}}
CURRENT = {"id": "worker", "kind": "current"}


def worker(name, **more):
    return dict({"worker": {"path": name + ".so"}}, **COUNT, **more)


KINDS = {
    "planned": {"unavailable": "no such machine"},
    "counted": worker("row", oracle={"function": "is_right"}),
    "two": {"worker": {"path": "row.so"}, "oracle": {"function": "is_right"},
            "events": "RETIRED_INSTRUCTIONS:PMC0,CPU_CLOCKS_UNHALTED:PMC1", "cpus": [1, 0],
            "units": {"CPU_CLOCKS_UNHALTED": "cycles", "RETIRED_INSTRUCTIONS": "1"}},
    "warned": worker("row", probes=[{"function": "is_missed", "blocking": False}]),
    "wrong": worker("row", oracle={"function": "is_never_right"}),
    "no-oracle": worker("row", oracle={"function": "not_there"}),
    "blocked": worker("row", probes=[{"function": "is_missed"}, {"function": "holds"}]),
    "setup": worker("fails-in-setup"),
    "workload": worker("fails-in-workload"),
    "cleanup": worker("fails-in-cleanup"),
    "crash": worker("crashes-in-setup"),
    "exit": worker("exits-in-setup"),
    "talk": worker("talks-in-setup"),
    "fill": worker("fills-in-setup"),
    "hang": worker("hangs-in-setup", timeout=1),
    "absent": worker("not-there"),
    "empty": worker("empty"),
}


def make(path, kinds):
    rows = []
    folder = os.path.dirname(path) or "."
    n_times = 1
    for kind in kinds:
        if kind.isdigit():
            n_times = int(kind)
            continue
        for _ in range(n_times):
            name, _, option = kind.partition("=")
            row = {"case": "%s-%d" % (name, len(rows) + 1), "target": CURRENT}
            if name == "tampered":  # the worker is another one than declared
                row.update(copy.deepcopy(KINDS["counted"]))
                row["worker"]["sha256"] = "0" * 64
            elif name == "target":  # a target that is what it says, or is not
                row.update(copy.deepcopy(KINDS["counted"]))
                with open(os.path.join(folder, "target.so"), "rb") as target:
                    digest = hashlib.sha256(target.read()).hexdigest()
                row["target"] = {"id": "t", "kind": "development", "source": "target.so",
                                 "sha256": option or digest}
            else:
                row.update(copy.deepcopy(KINDS[name]))
            rows.append(row)
        n_times = 1
    with open(path, "w") as out:
        json.dump({"callmark_suite": 1, "name": "suite <&>", "rows": rows}, out, indent=1)


def look(folder, expressions):
    f = h5py.File(os.path.join(folder, "suite.h5"))
    names = {"f": f, "numpy": numpy, "os": os, "json": json, "folder": folder,
             "row": lambda i: h5py.File(os.path.join(folder, "rows/%04d/row.h5" % i)),
             "text": lambda x: x.decode() if isinstance(x, bytes) else x}
    if os.path.exists("report.json"):
        with open("report.json") as report:
            names["report"] = json.load(report)
    failed = 0
    for expression in expressions:
        if not eval(expression, names):  # the test's own words
            print("not true:", expression, file=sys.stderr)
            failed = 1
    return failed


def schema(path, cli):
    """Right and wrong documents: what the schema says, and whether `suite run` exits with 2."""
    import jsonschema
    with open(path) as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    jsonschema.Draft202012Validator.check_schema(validator.schema)
    right = {"callmark_suite": 1, "name": "n", "rows": [
        dict(case="c", target=CURRENT, **KINDS["planned"]),
        dict(case="d", target={"id": "t", "kind": "release", "source": "/x", "version": "1"},
             worker={"path": "not-there.so"}, timeout=1,
             oracle={"function": "f", "required": False},
             probes=[{"function": "g", "blocking": True}], **FIXED),
        dict(case="e", target={"id": "t", "kind": "development", "source": "/x",
                               "build_id": "ab"}, **worker("not-there"))]}
    digest = "0" * 64
    # (path into the document, new value or None to remove, is it right?)
    changes = [
        ((), None, True), (("$schema",), "x", True), (("$schema",), 1, False),
        (("name",), None, False), (("name",), "", False), (("name",), "a\tb", False),
        (("callmark_suite",), 2, False), (("callmark_suite",), "1", False),
        (("rows",), [], True), (("rows",), {}, False), (("rows",), None, False),
        (("more",), 1, False), (("rows", 0), 1, False), (("rows", 0, "case"), "a b", False),
        (("rows", 0, "case"), "x" * 100, True), (("rows", 0, "case"), "x" * 101, False),
        (("rows", 0, "case"), "-x", False), (("rows", 0, "case"), None, False),
        (("rows", 0, "target"), None, False), (("rows", 0, "target", "id"), "", False),
        (("rows", 0, "target", "kind"), "other", False),
        (("rows", 0, "target", "source"), "/x", False),
        (("rows", 0, "unavailable"), "", False), (("rows", 0, "unavailable"), None, False),
        (("rows", 0, "cpus"), [0], False), (("rows", 0, "timeout"), 0, False),
        (("rows", 1, "target", "version"), None, False),
        (("rows", 1, "target", "source"), None, False),
        (("rows", 1, "target", "sha256"), digest, True),
        (("rows", 1, "target", "sha256"), digest[1:], False),
        (("rows", 1, "target", "soname"), "x", True), (("rows", 1, "target", "more"), 1, False),
        (("rows", 2, "target", "build_id"), None, False),
        (("rows", 2, "target", "version"), "2", True),
        (("rows", 1, "worker"), None, False), (("rows", 1, "worker", "path"), "", False),
        (("rows", 1, "worker", "sha256"), digest, True),
        (("rows", 1, "worker", "sha256"), "g" * 64, False),
        (("rows", 1, "worker", "files"), [], True),
        (("rows", 1, "worker", "files"), [{"path": "x", "sha256": digest}], True),
        (("rows", 1, "worker", "files"), [{"path": "x"}], False),
        (("rows", 1, "worker", "more"), 1, False),
        (("rows", 1, "oracle", "function"), "1f", False),
        (("rows", 1, "oracle", "function"), None, False),
        (("rows", 1, "oracle", "required"), 0, False), (("rows", 1, "oracle"), "f", False),
        (("rows", 1, "probes"), [], True), (("rows", 1, "probes", 0, "blocking"), 1, False),
        (("rows", 1, "probes", 0, "function"), "a b", False),
        (("rows", 1, "probes", 0), {}, False),
        (("rows", 1, "events"), None, False), (("rows", 1, "events"), "FLOPS_DP", False),
        (("rows", 1, "events"), "INSTR_RETIRED_ANY:FIXC0,", False),
        (("rows", 1, "events"), "INSTR_RETIRED_ANY:FIXC0\n", False),
        (("rows", 1, "events"), "INSTR_RETIRED_ANY:FIXC0:K", False),
        (("rows", 1, "events"), "INSTR_RETIRED_ANY:FIXC00", False),
        (("rows", 1, "events"), "INSTR_RETIRED_ANY:MBOX0C0", False),
        (("rows", 1, "cpus"), None, False), (("rows", 1, "cpus"), [], False),
        (("rows", 1, "cpus"), [0, 0], False), (("rows", 1, "cpus"), [-1], False),
        (("rows", 1, "cpus"), ["0"], False), (("rows", 1, "cpus"), 0, False),
        (("rows", 1, "units"), None, False), (("rows", 1, "units"), [], False),
        (("rows", 1, "units"), {"INSTR_RETIRED_ANY": "s"}, False),
        (("rows", 1, "units"), {"INSTR_RETIRED_ANY": ""}, False),
        (("rows", 1, "units"), {"INSTR_RETIRED_ANY": 1}, False),
        (("rows", 1, "timeout"), 31536000, True), (("rows", 1, "timeout"), 31536001, False),
        (("rows", 1, "timeout"), 1.5, False), (("rows", 1, "timeout"), "1", False),
        (("rows", 1, "more"), 1, False),
    ]
    failed = 0
    for i, (place, value, is_right) in enumerate(changes):
        document = copy.deepcopy(right)
        inner = document
        for key in place[:-1]:
            inner = inner[key]
        if place and value is None:
            del inner[place[-1]]
        elif place:
            inner[place[-1]] = value
        by_schema = validator.is_valid(document)
        with open("schema.json", "w") as out:
            json.dump(document, out)
        run = subprocess.run([cli, "suite", "run", "schema.json", "-o", "schema-%d" % i],
                             capture_output=True, text=True, timeout=30)
        by_parser = run.returncode != 2
        shutil.rmtree("schema-%d" % i, ignore_errors=True)
        if by_schema != is_right or by_parser != is_right:
            print(place, value, "schema:", by_schema, "parser:", by_parser, run.stderr,
                  file=sys.stderr)
            failed = 1
    return failed


def forge(folder):
    row = os.path.join(folder, "rows/0001")
    with h5py.File(os.path.join(row, "row.h5"), "r+") as f:
        f["evidence/observations/unit"][0] = "joule"
    for place in (row, folder):
        path = os.path.join(place, "integrity.json")
        with open(path) as file:
            integrity = json.load(file)
        for entry in integrity["files"]:
            with open(os.path.join(place, entry["path"]), "rb") as file:
                content = file.read()
            entry["bytes"] = len(content)
            entry["sha256"] = hashlib.sha256(content).hexdigest()
        with open(path, "w") as out:
            json.dump(integrity, out)
    return 0


COMMANDS = {"make": lambda args: make(args[0], args[1:]), "rows": lambda args: look(args[0], args[1:]),
            "schema": lambda args: schema(*args), "forge": lambda args: forge(*args)}
sys.exit(COMMANDS[sys.argv[1]](sys.argv[2:]))
