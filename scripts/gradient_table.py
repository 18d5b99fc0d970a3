#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/gradient-placements.md: for the first sample of every op that has a gradient, and for each row of its rule with shards or
partial sums, the placements of the gradients on four ranks and what the backward pass moves. Ops with the same rows share a table.

    scripts/gradient_table.py           runs `dtensor query` of the build folder (DTENSOR_BUILD) and writes the page
    scripts/gradient_table.py --check   fails where the page differs from what it would write
"""
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gradient-placements.md"
DTENSOR = os.path.join(os.environ.get("DTENSOR_BUILD", ROOT / "build"), "bin", "dtensor")
RANKS = 4
HEAD = f"""# Placements of gradients, op by op

Made by `scripts/gradient_table.py` from the descriptors of the ops: change those. Each table has a call on {RANKS} ranks, with inputs in the
placements of each row of the op's rule that has shards or partial sums (of an op that is made of others, each dim of the first tensor), the placements of the results, those of the gradients (`-`: none),
and what the backward pass from the sum of the results moves, bringing gradients to their placements included. The placement of a gradient
follows from that of its tensor ([gradients.md](gradients.md)); what has to move for it depends on the op.
"""


def split(text, separator=";"):
    """Parts of a list; separators in brackets and quotes do not count."""
    parts, depth, quoted = [""], 0, False
    for char in text:
        quoted ^= char == '"'
        depth += (char in "[{(") - (char in "]})") if not quoted else 0
        if char == separator and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


class Call:
    """A sample as a request: "sum(f32[5,3]; dim=[1])"."""

    def __init__(self, text):
        self.text, self.tensors, self.kwargs = text, [], {}
        self.op, rest = text[:text.index("(")], text[text.index("(") + 1:-1]
        self.args = []
        for part in split(rest):
            named = re.match(r"(\w+)=(.*)", part)
            if named:
                self.kwargs[named[1]] = self.value(named[2])
            else:
                self.args.append(self.value(part))

    def value(self, text):
        tensor = re.fullmatch(r"(f16|bf16|f32|f64|i8|u8|i16|i32|i64|bool|c64|c128)\[([\d,]*)\]", text)
        if tensor:
            shape = [int(size) for size in tensor[2].split(",") if size]
            n, dtype = math.prod(shape), tensor[1]
            numbers = [i % 2 for i in range(n)] if dtype[0] in "iub" and dtype != "bf16" else [0.2 + 0.7 * (i * 7 % 11) / 11 for i in range(n)]
            self.tensors.append({"shape": shape, "dtype": dtype, "data": [bool(x) for x in numbers] if dtype == "bool" else numbers})
            return {"t": len(self.tensors) - 1}
        if text.startswith("{"):
            return [self.value(part) for part in split(text[1:-1])]
        if text.startswith("["):
            return [self.value(part) for part in split(text[1:-1], ",")]
        constants = {"true": True, "false": False, "none": None, "inf": "inf", "-inf": "-inf"}
        if text in constants:
            return constants[text]
        if text.startswith('"'):
            return text[1:-1]
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return float(text)
        except ValueError:
            return text

    def request(self, placements):
        tensors = [{**tensor, "placements": placement} for tensor, placement in zip(self.tensors, placements)]
        return {"q": "run", "op": self.op, "mesh": [RANKS], "tensors": tensors, "args": self.args, "kwargs": self.kwargs, "grad": True}


def samples():
    """The first sample of each op with its rows, from the text of `dtensor ops`."""
    table = subprocess.run([DTENSOR, "ops", "--json"], check=True, capture_output=True, text=True).stdout
    for name in sorted({op["name"].split(".")[0] for op in json.loads(table)}):
        text = subprocess.run([DTENSOR, "ops", name], check=True, capture_output=True, text=True).stdout
        blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith(f"{name}(") and "->" not in block.splitlines()[0]]
        for lines in blocks[:1]:
            rows = [line.strip().split(" (")[0] for line in lines[1:] if "->" in line]
            yield name, lines[0], rows


def is_shown(row):
    return not re.search(r"P\((avg|max|min|product)\)", row) and re.search(r"S\(|P\(sum", row)


def without_rows(call):
    """Placements of the inputs of an op that is made of others: each dim of the first tensor, and of those with its shape; P(sum)."""
    first = call.tensors[0]["shape"] if call.tensors else []
    for place in [f"S({d})" for d in range(len(first))] + ["P(sum)"]:
        yield [place if tensor["shape"] == first and tensor["dtype"][0] == "f" else "R" for tensor in call.tensors]


def tables():
    """Rows by op: (op, call, [(inputs, outputs, gradients, moves)])."""
    cases = []
    for name, sample, rows in samples():
        call = Call(sample)
        places = [[part.strip() for part in row.split("->")[0].split(";")] for row in rows if is_shown(row)]
        for inputs in places or (without_rows(call) if not rows else []):
            if len(inputs) == len(call.tensors):
                cases.append((name, sample, call.request(inputs)))
    lines = "".join(json.dumps(case[2]) + "\n" for case in cases)
    answers = subprocess.run([DTENSOR, "query"], input=lines, check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(answers) == len(cases), f"{len(cases)} requests, {len(answers)} answers"
    found = {}
    for (name, sample, request), line in zip(cases, answers):
        answer = json.loads(line)
        if "error" in answer or not any(answer.get("grads", [])):
            continue
        grads = "; ".join(grad["placements"] if grad else "-" for grad in answer["grads"])
        moves = ", ".join(f"{kind} {n}" for kind, n in sorted(answer["collectives"]["backward"].items())) or "nothing"
        outputs = "; ".join(output["placements"] for output in answer["outputs"])
        inputs = "; ".join(tensor["placements"] for tensor in request["tensors"])
        found.setdefault((name, sample), []).append((inputs, outputs, grads, moves))
    return found


def page():
    groups = {}
    for (name, sample), rows in tables().items():
        shape = sample[len(name):]
        groups.setdefault((shape, tuple(rows)), []).append(name)
    out = [HEAD]
    for (shape, rows), names in sorted(groups.items(), key=lambda item: item[1]):
        out.append("## " + ", ".join(f"`{name}`" for name in names) + "\n")
        out.append(f"`{names[0]}{shape}`\n")
        out.append("| inputs | results | gradients | backward moves |\n|---|---|---|---|")
        out += [f"| {' | '.join(row)} |" for row in rows]
        out.append("")
    return "\n".join(out)


def main():
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text)
        return 0
    old = PAGE.read_text() if PAGE.exists() else ""
    if old == text:
        return 0
    for a, b in itertools.zip_longest(old.splitlines(), text.splitlines()):
        if a != b:
            print(f"docs/gradient-placements.md is out of date: run scripts/gradient_table.py\nhas      {a}\nexpected {b}")
            break
    return 1


if __name__ == "__main__":
    sys.exit(main())
