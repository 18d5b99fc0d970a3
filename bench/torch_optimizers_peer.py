#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One step of every optimizer of bench_gradients.c with PyTorch: 100 parameters of [4,4] and 100 of [256,256], fused where PyTorch has that on
CPUs, and foreach.

Prints a table, and a JSON object per figure with ours, which is read from FILE: what bench_gradients printed. Ours is the distributed step.
"""
import argparse
import json
import time

import torch

from settle import fastest

METHODS = {
    "adam": (torch.optim.Adam, {}),
    "adamw": (torch.optim.AdamW, {}),
    "sgd": (torch.optim.SGD, {"momentum": 0.9}),
    "adagrad": (torch.optim.Adagrad, {}),
    "rmsprop": (torch.optim.RMSprop, {}),
    "adamax": (torch.optim.Adamax, {}),
    "nadam": (torch.optim.NAdam, {}),
    "radam": (torch.optim.RAdam, {}),
}


def microseconds(method, size, form, budget):
    """The fastest step in this form; None: PyTorch does not have it."""
    kind, options = METHODS[method]
    parameters = [torch.randn(size, size, requires_grad=True) for _ in range(100)]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    try:
        optimizer = kind(parameters, lr=1e-3, **options, **{form: True})
        optimizer.step()
    except (TypeError, RuntimeError):
        return None

    def repeat():
        start = time.perf_counter()
        optimizer.step()
        return time.perf_counter() - start

    return fastest(repeat, budget) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("ours", metavar="FILE")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with open(arguments.ours) as file:
        ours = {row["config"]["step"]: row["ours"] for row in map(json.loads, (line for line in file if line.startswith("{")))}
    print(f"{'step, us':<20} {'ours':>10} {'fused':>10} {'foreach':>10} {'ratio':>7}")
    for method in METHODS:
        for name, size in ("small", 4), ("large", 256):
            step = f"{method}_100_{name}"
            forms = {form: microseconds(method, size, form, 0.05 if arguments.quick else 0.5) for form in ("fused", "foreach")}
            theirs = min(value for value in forms.values() if value)
            print(f"{step:<20} {ours[step]:10.1f} " + " ".join(f"{value:10.1f}" if value else f"{'-':>10}" for value in forms.values()) +
                  f" {theirs / ours[step]:7.2f}")
            print(json.dumps({"bench": "gradients", "config": {"step": step}, "ours": ours[step], "unit": "us", "peer": "torch",
                              "theirs": round(theirs, 3), "ratio": round(theirs / ours[step], 3)}, separators=(",", ":")))


if __name__ == "__main__":
    main()
