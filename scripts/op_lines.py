#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts lines of code per op: all files of src/ops that are written by hand, without comments and empty lines.

    scripts/op_lines.py           a line per file with ops, then what they share, and the average
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_OPS = {"op_functions.h", "op_calls.c", "ops.c", "ops.h", "own_elementwise.c"}  # calls, the table


def code_lines(text):
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    return sum(bool(line.strip()) for line in text.splitlines())


def main():
    n_ops, n_lines, shared = 0, 0, 0
    print(f"{'file':24} {'ops':>5} {'lines':>6} {'per op':>7}")
    for path in sorted((ROOT / "src/ops").glob("*.[ch]")):
        if path.name in NOT_OPS:
            continue
        text = path.read_text()
        ops, lines = len(re.findall(r"^const dt_op dt__op_\w+ = \{", text, re.M)), code_lines(text)
        if ops:
            print(f"{path.name:24} {ops:5} {lines:6} {lines / ops:7.1f}")
        else:
            shared += lines
        n_ops, n_lines = n_ops + ops, n_lines + lines
    print(f"{'shared':24} {'':5} {shared:6}")
    print(f"{'all':24} {n_ops:5} {n_lines:6} {n_lines / n_ops:7.1f}")


main()
