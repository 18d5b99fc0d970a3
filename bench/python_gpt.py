#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training step of the GPT in Python (examples/python/03_gpt.py) next to the one in C (examples/10_gpt.c): the same model, batches and
results, one rank with one thread. Both run alternately, and the fastest step of all rounds counts. Prints a row and a JSON object.

    $ PYTHONPATH=build/python bench/python_gpt.py [--quick]
"""
import json
import os
import sys
import tempfile

import gpt

LIMIT = 1.01  # times the step in C
PROGRAM = os.path.join(os.path.dirname(gpt.HERE), "examples", "python", "03_gpt.py")


def command(model, n_steps, folder, is_python):
    words = gpt.our_command("one", model, n_steps, folder)
    words[words.index("--clip") + 1] = "1"
    if not is_python:
        return words
    at = words.index("--sample")  # the program in Python writes no sample
    return [sys.executable, PROGRAM, *words[1:at], *words[at + 2:]]


def fastest_step(model, n_steps, is_python):
    with tempfile.TemporaryDirectory() as folder:
        times = os.path.join(folder, "times.jsonl")
        if not gpt.run_together([[*command(model, n_steps, folder, is_python), "--times", times]], [{}]):
            sys.exit("python_gpt: a program has failed")
        with open(times, encoding="utf-8") as file:
            return min(json.loads(line)["seconds"] for line in file)


def main():
    rounds, n_steps = (3, 6) if "--quick" in sys.argv else (10, 10)
    best = {False: 1e30, True: 1e30}
    for _ in range(rounds):
        for is_python in best:
            best[is_python] = min(best[is_python], fastest_step(gpt.SIZES["small"], n_steps, is_python))
    ours, c = best[True], best[False]
    print(f"{'GPT step':<12} {1e3 * ours:7.2f} ms, in C {1e3 * c:.2f} ms, {ours / c:.4f} times (limit {LIMIT})")
    print(json.dumps({"bench": "python", "config": {"call": "GPT step"}, "ours": round(1e3 * ours, 4), "unit": "ms", "peer": "C",
                      "theirs": round(1e3 * c, 4)}, separators=(",", ":")))


if __name__ == "__main__":
    main()
