#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The step of bench_pipeline.c with torch.distributed.pipelining: an MLP of 12 layers f32[512,512] in two stages on gloo, 8 micro-batches of 64
rows, 1F1B and zero bubble.

Prints a table, and a JSON object per figure with ours, which is read from FILE: what bench_pipeline printed.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import Schedule1F1B, ScheduleInterleavedZeroBubble

from settle import Settle

RANKS, LAYERS, WIDTH, ROWS, MICRO = 2, 12, 512, 64, 8
SCHEDULES = {"1f1b": lambda stage, loss: Schedule1F1B(stage, MICRO, loss_fn=loss),
             "zb-h1": lambda stage, loss: ScheduleInterleavedZeroBubble([stage], MICRO, loss_fn=loss)}


def step_seconds(rank, schedule, module, inputs, targets):
    module.zero_grad()
    dist.barrier()
    start = time.perf_counter()
    if rank == 0:
        schedule.step(inputs)
    else:
        schedule.step(target=targets, losses=[])
    seconds = torch.tensor(time.perf_counter() - start)
    dist.all_reduce(seconds, dist.ReduceOp.MAX)
    return seconds.item()


def measure(rank, name, budget):
    layers = [part for _ in range(LAYERS // RANKS) for part in (torch.nn.Linear(WIDTH, WIDTH, bias=False), torch.nn.ReLU())]
    module = torch.nn.Sequential(*layers)
    inputs, targets = torch.randn(MICRO * ROWS, WIDTH), torch.randn(MICRO * ROWS, WIDTH)
    stage = PipelineStage(module, rank, RANKS, torch.device("cpu"))
    schedule = SCHEDULES[name](stage, torch.nn.functional.mse_loss)
    settle = Settle(budget)
    while True:
        seconds = [step_seconds(rank, schedule, module, inputs, targets) for _ in range(settle.batch())]
        if not settle.continues(seconds):
            return settle.best


def run(rank, arguments, ours):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    for name in SCHEDULES:
        theirs = measure(rank, name, 0.1 if arguments.quick else 1) * 1e6
        if rank == 0:
            print(f"torch, gloo: {name:<8} {theirs:10.0f} us, {theirs / ours[name]:.2f} times ours")
            print(json.dumps({"bench": "pipeline", "config": {"schedule": name, "what": "step"}, "ours": ours[name], "unit": "us",
                              "peer": "torch", "theirs": round(theirs, 1), "ratio": round(theirs / ours[name], 3)}, separators=(",", ":")))
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("ours", metavar="FILE")
    arguments = parser.parse_args()
    with open(arguments.ours) as file:
        rows = [json.loads(line) for line in file if line.startswith("{")]
    ours = {row["config"]["schedule"]: row["ours"] for row in rows if row["config"]["what"] == "step"}
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("BENCH_PORT", "29519"))
    torch.multiprocessing.spawn(run, (arguments, ours), RANKS)


if __name__ == "__main__":
    main()
