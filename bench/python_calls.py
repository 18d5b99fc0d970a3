# SPDX-License-Identifier: Apache-2.0
"""Nanoseconds per call from Python, on f32[4,4] that is distributed over a mesh of one rank: ours, and PyTorch's DTensor where
python3 has it. The smallest of several rounds, less an empty function. Printed as "name ours torch"."""
import os
import sys
import time

import dtensor as dt

ROUNDS, CALLS = 15, 2000


def fastest(call, calls=CALLS):
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter_ns() - begin) / calls)
    return best


def our_calls():
    mesh = dt.init_device_mesh("cpu", (1,))
    x = dt.ones(4, 4, device_mesh=mesh, placements=[dt.Shard(0)])
    y = dt.ones(4, 4, device_mesh=mesh, placements=[dt.Shard(0)])
    w = dt.ones(4, 4, device_mesh=mesh, placements=[dt.Replicate()])

    def assign():
        x[1:3] = 0

    return {"add": lambda: x + y, "relu": lambda: x.relu(), "matmul": lambda: x @ w, "sum": lambda: x.sum(dim=1, keepdim=True),
            "slice": lambda: x[1:3], "assign": assign}


def torch_calls():
    import torch
    import torch.distributed as dist
    from torch.distributed.tensor import DTensor, Replicate, Shard, init_device_mesh
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", RANK="0", WORLD_SIZE="1")
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (1,))
    x, y = (DTensor.from_local(torch.ones(4, 4), mesh, [Shard(0)]) for _ in range(2))
    w = DTensor.from_local(torch.ones(4, 4), mesh, [Replicate()])
    return {"add": lambda: x + y, "relu": lambda: x.relu(), "matmul": lambda: x @ w, "sum": lambda: x.sum(dim=1, keepdim=True)}


def main():
    empty = fastest(lambda: None)
    ours = {name: fastest(call) - empty for name, call in our_calls().items()}
    try:
        theirs = {name: fastest(call, 200) - empty for name, call in torch_calls().items()} if "--torch" in sys.argv else {}
    except ImportError:
        theirs = {}
    for name, ns in ours.items():
        print(f"{name} {ns:.0f} {theirs[name]:.0f}" if name in theirs else f"{name} {ns:.0f} -")


main()
