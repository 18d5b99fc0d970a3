#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the output of the tests that failed in a run of ctest, so that it is the last thing on the screen.

Usage: failed_tests.py FILE, what ctest wrote with --output-junit. Of a long output the end is printed; all of it is in the
file. Prints nothing where no test failed.
"""
import sys
import xml.etree.ElementTree

MAX_LINES = 200


def failed(xml_text):
    """Pairs of a test and its output."""
    return [(test.get("name"), test.findtext("system-out") or "")
            for test in xml.etree.ElementTree.fromstring(xml_text).iter("testcase")
            if test.find("failure") is not None or test.find("error") is not None]


def main(arguments):
    if len(arguments) != 1:
        print("usage: failed_tests.py FILE", file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as file:
        tests = failed(file.read())
    for name, output in tests:
        lines = output.splitlines()
        print(f"== failed: {name}")
        if len(lines) > MAX_LINES:
            print(f"({len(lines) - MAX_LINES} lines before are in {arguments[0]})")
        print("\n".join(lines[-MAX_LINES:]) or "(no output)")
    if tests:
        print("Failed: " + ", ".join(name for name, _ in tests))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
