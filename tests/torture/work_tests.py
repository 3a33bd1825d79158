# SPDX-License-Identifier: BSD-3-Clause
"""Run Python's own tests, given by module name, and print how many passed: no times.

What the tests themselves print (random orders, modules that are not there) is dropped.
"""
import contextlib
import io
import random
import sys
import unittest


def main():
    """Print a line for each module, and the names of the tests that did not pass."""
    for name in sys.argv[1:]:
        random.seed(name)
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            suite = unittest.defaultTestLoader.loadTestsFromName(name)
            result = unittest.TextTestRunner(stream=text).run(suite)
        bad = result.failures + result.errors
        print(name, result.testsRun, len(bad), len(result.skipped), flush=True)
        for test, _ in bad:
            print(name, "failed:", test.id(), file=sys.stderr)


if __name__ == "__main__":
    main()
