#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The calls of bench_dispatch.c with PyTorch: [4,4] tensors, plain and as DTensors on a mesh of one rank.

Prints a table, and a JSON object per figure next to ours, which is read from FILE: what bench_dispatch printed.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as functional
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

from settle import fastest

CALLS_PER_REPEAT = 100
CALLS = {
    "add": lambda x, y, b: x + y,
    "mul": lambda x, y, b: x * y,
    "mul_scalar": lambda x, y, b: x * 2.5,
    "relu": lambda x, y, b: torch.relu(x),
    "mm": lambda x, y, b: torch.mm(x, b[0]),
    "linear": lambda x, y, b: functional.linear(x, b[0], b[1]),
    "sum": lambda x, y, b: x.sum(1),
    "softmax": lambda x, y, b: torch.softmax(x, -1),
    "layer_norm": lambda x, y, b: functional.layer_norm(x, [4], b[1], b[1]),
    "view": lambda x, y, b: x.view(4, 2, 2),
    "transpose": lambda x, y, b: x.transpose(0, 1),
    "add_": lambda x, y, b: x.add_(y),
}


def nanoseconds(call, operands, budget):
    def repeat():
        start = time.perf_counter()
        for _ in range(CALLS_PER_REPEAT):
            call(*operands)
        return time.perf_counter() - start

    return fastest(repeat, budget) / CALLS_PER_REPEAT * 1e9


def read_ours(path):
    """Nanoseconds by op and kind ("plain", "added")."""
    ours = {}
    with open(path) as file:
        for row in (json.loads(line) for line in file if line.startswith("{")):
            if row["bench"] == "dispatch" and row["unit"] == "ns":
                ours[row["config"]["op"], row["config"]["what"]] = row["ours"]
    return ours


def print_row(op, what, ours, theirs):
    print(json.dumps({"bench": "dispatch", "config": {"op": op, "what": what}, "ours": round(ours, 1), "unit": "ns", "peer": "torch",
                      "theirs": round(theirs, 1), "ratio": round(theirs / ours, 3)}, separators=(",", ":")))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("ours", metavar="FILE")
    arguments = parser.parse_args()
    ours = read_ours(arguments.ours)
    budget = 0.02 if arguments.quick else 0.2
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("BENCH_PORT", "29518"))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=0, world_size=1)
    mesh = init_device_mesh("cpu", (1,))
    square, row = torch.full((4, 4), 0.5), torch.full((4,), 0.5)
    plain = (square.clone(), square.clone(), (square, row))
    spread = (distribute_tensor(square, mesh, [Shard(0)]), distribute_tensor(square, mesh, [Shard(0)]),
              (distribute_tensor(square, mesh, [Replicate()]), distribute_tensor(row, mesh, [Replicate()])))
    print(f"{'torch':<12} {'plain ns':>9} {'distributed':>12} {'added ns':>11}")
    with torch.no_grad():
        for name, call in CALLS.items():
            a, b = nanoseconds(call, plain, budget), nanoseconds(call, spread, budget)
            print(f"{name:<12} {a:9.1f} {b:12.1f} {b - a:11.1f}")
            if (name, "plain") in ours:
                print_row(name, "plain", ours[name, "plain"], a)
                print_row(name, "distributed", ours[name, "plain"] + ours[name, "added"], b)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
