#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The moves of bench_redistribute.c with PyTorch's DTensor on gloo, with one thread per rank: rows as in moves.h."""
import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

from settle import fastest

LINE = ["0R", "1R", "01", "PR", "P0", "R0"]
GRID = ["0110", "00R1", "P0R1", "PPRR"]
PLACEMENTS = {"0": Shard(0), "1": Shard(1), "R": Replicate(), "P": Partial()}
TEXTS = {"0": "S(0)", "1": "S(1)", "R": "R", "P": "P(sum)"}


def measure(rank, world, mesh, name, size, letters, budget):
    half = len(letters) // 2
    before, after = letters[:half], letters[half:]
    shape = [size, size]
    for dim, letter in enumerate(before):
        if letter in "01":
            shape[int(letter)] //= mesh.size(dim)
    local = torch.ones(shape)
    source = DTensor.from_local(local, mesh, [PLACEMENTS[c] for c in before], run_check=False)
    target = [PLACEMENTS[c] for c in after]
    n_calls = 100 if size == 64 else 1

    def repeat():
        """Seconds of a call, from the first rank's start to the last rank's end."""
        if size > 64:
            local.fill_(1)
        dist.barrier()
        start = time.perf_counter()
        for _ in range(n_calls):
            source.redistribute(placements=target)
        ends = torch.tensor([-start, time.perf_counter()], dtype=torch.float64)
        dist.all_reduce(ends, dist.ReduceOp.MAX)
        return ends.sum().item() / n_calls

    best = fastest(repeat, budget / n_calls)
    if rank == 0:
        move = " -> ".join(",".join(TEXTS[c] for c in part) for part in (before, after))
        print(f"torch\t{world}\t{name}\t[{size},{size}]\t{move}\t{best * 1e6:.4f}", flush=True)


def rank_main(rank, world, budget):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("BENCH_PORT", "29517"))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    for size in (2048, 64):
        mesh = init_device_mesh("cpu", (world,))
        for letters in LINE:
            measure(rank, world, mesh, str(world), size, letters, budget)
        if world == 4:
            mesh = init_device_mesh("cpu", (2, 2))
            for letters in GRID:
                measure(rank, world, mesh, "2x2", size, letters, budget)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    multiprocessing.spawn(rank_main, (arguments.ranks, 0.1 if arguments.quick else 0.5), nprocs=arguments.ranks)
