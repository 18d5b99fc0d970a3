#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the tests that a run of ctest skipped, whole or in part, with their reasons.

Usage: skipped_tests.py [--bare] FILE, what ctest wrote with --output-junit. A test prints "skipped: reason" before it exits
with 77, a function of a C test by test_skip. With --bare, exits with 1 if anything was skipped for another reason than that
the kernel forbids it ("the kernel ...").
"""
import re
import sys
import xml.etree.ElementTree

NO_REASON = "no reason printed"
REASON = re.compile(r"(?:^|: )skipped[:,] (.*)")
RUN = re.compile(r"\[ RUN      \] (\w+)")
SKIPPED = re.compile(r"\[  SKIPPED \] (\w+)$")


def skipped_parts(name, output):
    """Pairs of a function of a C test, or else the test, and the reason that it printed."""
    found = []
    function, reason = None, NO_REASON
    for line in output.splitlines():
        if RUN.search(line):
            function, reason = RUN.search(line)[1], NO_REASON
        elif function and SKIPPED.search(line) and SKIPPED.search(line)[1] == function:
            found.append((f"{name}, {function}", reason))
            function = None
        elif REASON.search(line):
            reason = REASON.search(line)[1]
            if not function:
                found.append((name, reason))
    return found


def skipped(xml_text):
    found = []
    for test in xml.etree.ElementTree.fromstring(xml_text).iter("testcase"):
        parts = skipped_parts(test.get("name"), test.findtext("system-out") or "")
        if test.find("skipped") is not None and not parts:
            parts = [(test.get("name"), NO_REASON)]
        found += parts
    return found


def main(arguments):
    bare = arguments[:1] == ["--bare"]
    if len(arguments) != 1 + bare:
        print("usage: skipped_tests.py [--bare] FILE", file=sys.stderr)
        return 2
    with open(arguments[-1], "rb") as file:
        tests = skipped(file.read())
    print(f"Skipped: {len(tests) or 'nothing'}")
    for name, reason in tests:
        print(f"  {name}: {reason}")
    return 1 if bare and any(not reason.startswith("the kernel") for _, reason in tests) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
