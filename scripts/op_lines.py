#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts lines of code per op: all files of src/ops that are written by hand, without comments and empty lines.

    scripts/op_lines.py           a line per file with ops, then what they share, and the average; the median; and the ops
                                  with most lines of their own, with reasons
    scripts/op_lines.py --ops     a line per op

An op's own lines are its descriptor and what the descriptor leads to in the same file: functions, tables and types. A
definition to which several ops lead is divided among them, and so is one to which none leads.
"""
import argparse
import collections
import pathlib
import re
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_OPS = {"op_functions.h", "op_calls.c", "ops.c", "ops.h", "own_elementwise.c"}  # calls, the table
LONGEST = 10
REASONS = {
    "index_put": "reads and writes any mix of indices, masks and slices, also in place and added up",
    "cross_entropy_backward": "one pass over the logits for classes and for probabilities, and the same made of ops",
    "moment_norm_backward": "three gradients in one pass and one meeting, for means of any dims and weights of others",
    "moment_norm": "ranks merge counts, means and squares; batch, group and instance norms are this op",
    "prod_of_others": "zeros, infinities and NaN are counted instead of multiplied",
    "rotary_embedding": "two orders of pairs, positions of a shard, and a gradient that rotates back",
    "cross_entropy": "targets of two kinds, four terms of a loss, and classes that are sharded",
    "einsum": "its own language: labels, ellipses and diagonals, and a product of matrices of any of them",
    "scaled_dot_product_attention": "masks, dropout and groups of heads, and keys that are sharded",
    "native_layer_norm_backward": "three gradients in one pass, and ranks that add the sums of their shards",
    "_fused_rms_norm_backward": "as native_layer_norm_backward, with which it shares its functions",
}


def without_comments(text):
    return re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)


def code_lines(text):
    return sum(bool(line.strip()) for line in without_comments(text).splitlines())


def definitions(text):
    """Each begins with a line that is not indented."""
    found = []
    before = ""
    for line in without_comments(text).splitlines():
        if re.match(r"[^\s}]", line) and not before.endswith("\\"):
            found.append("")
        if found and line.strip():
            found[-1] += line + "\n"
        before = line
    return [part for part in found if not part.startswith("#include")]


def names_of(part):
    """What a definition defines; a call of a macro that makes functions may define each of its arguments."""
    words = lambda some: set(re.findall(r"[A-Za-z_]\w*", some))
    if part.startswith("#define"):
        return words(part.split()[1].split("(")[0])
    if re.match(r"[A-Z_0-9]+\(", part):
        return words(part[part.index("("):])
    if re.match(r"(static const )?(typedef )?(enum|struct)\b", part) and "{" in part:
        return words(part) if "enum" in part else words(part.split("{")[0]) | words(part.rsplit("}", 1)[-1])
    if part.startswith("typedef"):
        return words(part)
    head = re.split(r"[{=;]", part)[0]
    name = re.search(r"(\w+)\s*[\[(]", head) or re.search(r"(\w+)\s*$", head)
    return {name[1]} if name else set()


def lines_by_op(text):
    """The own lines of each op of a file."""
    parts = definitions(text)
    words = [set(re.findall(r"\w+", part)) for part in parts]
    owners = collections.defaultdict(list)
    for i, part in enumerate(parts):
        for name in names_of(part):
            owners[name].append(i)
    led_to = collections.defaultdict(set)  # by definition: ops
    ops = {i: re.match(r"const dt_op dt__op_(\w+)", part)[1] for i, part in enumerate(parts) if part.startswith("const dt_op dt__op_")}
    for op in ops:
        pending, seen = [op], {op}
        while pending:
            at = pending.pop()
            led_to[at].add(op)
            more = {i for word in words[at] for i in owners[word] if i not in ops} - seen
            seen |= more
            pending += more
    lines = dict.fromkeys(ops, 0.0)
    for i, part in enumerate(parts):
        users = led_to[i] or ops
        for op in users:
            lines[op] += part.count("\n") / len(users)
    return {ops[op]: count for op, count in lines.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", action="store_true", help="print a line per op")
    by_op = parser.parse_args().ops
    n_ops, n_lines, shared, own = 0, 0, 0, {}
    if not by_op:
        print(f"{'file':24} {'ops':>5} {'lines':>6} {'per op':>7}")
    for path in sorted((ROOT / "src/ops").glob("*.[ch]")):
        if path.name in NOT_OPS:
            continue
        text = path.read_text()
        ops, lines = len(re.findall(r"^const dt_op dt__op_\w+ = \{", text, re.M)), code_lines(text)
        if ops:
            own.update(lines_by_op(text))
        if ops and not by_op:
            print(f"{path.name:24} {ops:5} {lines:6} {lines / ops:7.1f}")
        shared += 0 if ops else lines
        n_ops, n_lines = n_ops + ops, n_lines + lines
    if by_op:
        for op, lines in sorted(own.items()):
            print(f"{op:32} {lines:6.1f}")
        return
    print(f"{'shared':24} {'':5} {shared:6}")
    print(f"{'all':24} {n_ops:5} {n_lines:6} {n_lines / n_ops:7.1f}")
    print(f"{'own lines, median':37} {statistics.median(own.values()):7.1f}")
    for op in sorted(own, key=own.get, reverse=True)[:LONGEST]:
        print(f"  {op:34} {own[op]:7.1f}  {REASONS.get(op, '')}")


main()
