# SPDX-License-Identifier: BSD-3-Clause
"""test_summary.py TITLE TESTLOG_JSON COUNTS: meson's test log, readable.

COUNTS gets one line, "passed failed". A skipped test is shown with its reason and is neither.
"""
import json
import sys

TAIL_LINES = 60


def show(title, test):
    result = test["result"]
    output = (test.get("stdout") or "") + (test.get("stderr") or "")
    lines = output.strip().splitlines()
    name = test["name"].split(" / ")[-1]
    if result in ("OK", "EXPECTEDFAIL"):
        print(f"ok    {title}: {name} ({test['duration']:.1f} s)")
    elif result == "SKIP":
        reason = next((line for line in lines if line.startswith("SKIPPED")), "SKIPPED")
        print(f"skip  {title}: {name}: {reason}")
    else:
        print(f"FAIL  {title}: {name}: {result}")
        for line in lines[-TAIL_LINES:]:
            print(f"      {line}")


def main():
    with open(sys.argv[2], encoding="utf-8") as log:
        tests = [json.loads(line) for line in log if line.strip()]
    for test in sorted(tests, key=lambda test: test["name"]):
        show(sys.argv[1], test)
    n_passed = sum(test["result"] in ("OK", "EXPECTEDFAIL") for test in tests)
    n_skipped = sum(test["result"] == "SKIP" for test in tests)
    with open(sys.argv[3], "w", encoding="utf-8") as counts:
        counts.write(f"{n_passed} {len(tests) - n_passed - n_skipped}\n")


if __name__ == "__main__":
    main()
