#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.checkpoint on gloo, as bench_checkpoint.c measures the library: rows "torch RANKS PLACEMENT WHAT SECONDS"."""
import os
import shutil
import sys
import time
import warnings

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as multiprocessing
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

N_TENSORS, COLUMNS = 8, 4096
PLACES = {"R": Replicate(), "S(0)": Shard(0), "S(1)": Shard(1)}


def fastest(action, before, repeats):
    best = float("inf")
    for i in range(repeats + 1):
        before()
        dist.barrier()
        start = time.perf_counter()
        action()
        ends = torch.tensor([-start, time.perf_counter()], dtype=torch.float64)
        dist.all_reduce(ends, dist.ReduceOp.MAX)
        best = min(best, ends.sum().item()) if i else best
    return best


def rank_main(rank, world, folder, megabytes, repeats):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("BENCH_PORT", "29519"))
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    mesh = init_device_mesh("cpu", (world,))
    rows = (megabytes << 20) // N_TENSORS // COLUMNS // 4
    for place in PLACES if world > 1 else ("R",):
        state = {f"w{i}": distribute_tensor(torch.full((rows, COLUMNS), float(i)), mesh, [PLACES[place]]) for i in range(N_TENSORS)}

        def remove():
            if rank == 0:
                shutil.rmtree(folder, ignore_errors=True)

        for what, sync in (("save", False), ("save_synced", True)):
            writer = lambda: dcp.FileSystemWriter(folder, sync_files=sync)  # noqa: B023, E731
            seconds = fastest(lambda: dcp.save(state, storage_writer=writer()), remove, repeats)  # noqa: B023
            if rank == 0:
                print(f"torch\t{world}\t{place}\t{what}\t{seconds:.4f}", flush=True)
        seconds = fastest(lambda: dcp.load(state, checkpoint_id=folder), lambda: None, repeats)  # noqa: B023
        if rank == 0:
            print(f"torch\t{world}\t{place}\tload\t{seconds:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    ranks, to, size, n = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    multiprocessing.spawn(rank_main, args=(ranks, to, size, n), nprocs=ranks)
