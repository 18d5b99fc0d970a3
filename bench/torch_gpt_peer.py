#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of the model of examples/10_gpt.c with PyTorch: forward, backward, fused AdamW, f32, one thread per process.

Modes: one; dp (DistributedDataParallel), fsdp (fully_shard of each block), tp (parallelize_module, with the sequence sharded between the
linear layers and the loss over sharded classes). A process is one rank of a launch whose ranks, size and address are in the variables
that torch.distributed reads. Prints one JSON object: seconds of the fastest step, and the time at which the first one began.
"""
import argparse
import contextlib
import json
import time
import warnings

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore")


class Block(nn.Module):
    def __init__(self, width, head_width):
        super().__init__()
        self.head_width = head_width
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(width, width) for _ in range(4))
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.enter = nn.Identity()  # where tensor parallel gathers the sequence

    def heads(self, x):
        return x.unflatten(-1, (-1, self.head_width)).transpose(1, 2)

    def forward(self, x):
        h = self.enter(self.ln1(x))
        q, k, v = self.heads(self.wq(h)), self.heads(self.wk(h)), self.heads(self.wv(h))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.wo(y.transpose(1, 2).flatten(2))
        return x + self.fc2(F.gelu(self.fc1(self.enter(self.ln2(x))), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.tok, self.pos = nn.Embedding(a.vocab, a.width), nn.Embedding(a.seq, a.width)
        self.blocks = nn.ModuleList(Block(a.width, a.width // a.heads) for _ in range(a.layers))
        self.ln, self.head = nn.LayerNorm(a.width), nn.Linear(a.width, a.vocab, bias=False)

    def forward(self, tokens, positions):
        x = self.tok(tokens) + self.pos(positions)
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


def make_parallel(model, mode):
    """The module to call, and the scope of a step."""
    if mode == "dp":
        return nn.parallel.DistributedDataParallel(model), contextlib.nullcontext
    if mode == "one":
        return model, contextlib.nullcontext
    from torch.distributed.device_mesh import init_device_mesh
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    if mode == "fsdp":
        from torch.distributed.fsdp import fully_shard
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)
        return model, contextlib.nullcontext
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel,
                                                   loss_parallel, parallelize_module)
    parallelize_module(model, mesh, {
        "tok": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "pos": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(0)),
        "ln": SequenceParallel(),
        "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False)})
    columns, rows = ColwiseParallel(), RowwiseParallel(output_layouts=Shard(1))
    for block in model.blocks:
        parallelize_module(block, mesh, {
            "ln1": SequenceParallel(), "ln2": SequenceParallel(),
            "enter": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),), use_local_output=True),
            "wq": columns, "wk": columns, "wv": columns, "wo": rows, "fc1": columns, "fc2": rows})
    return model, loss_parallel


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["one", "dp", "fsdp", "tp"], required=True)
    parser.add_argument("--seconds", type=float, required=True, help="about how long to step")
    for name in "layers", "width", "heads", "vocab", "seq", "batch":
        parser.add_argument("--" + name, type=int, required=True)
    a = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rank, world = 0, 1
    if a.mode != "one":
        dist.init_process_group("gloo")
        rank, world = dist.get_rank(), dist.get_world_size()
    model = Gpt(a)
    tokens = torch.randint(0, a.vocab, (a.batch, a.seq + 1))
    if a.mode in ("dp", "fsdp"):
        tokens = tokens.chunk(world)[rank]
    inputs, targets, positions = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), torch.arange(a.seq)
    net, scope = make_parallel(model, a.mode)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    begun, best, spent, n = time.time(), 1e30, 0.0, 0
    while n < 4 or spent < a.seconds:
        if world > 1:
            dist.barrier()
        start = time.perf_counter()
        with scope():
            loss = F.cross_entropy(net(inputs, positions).flatten(0, 1), targets.flatten())
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        step = torch.tensor([time.perf_counter() - start], dtype=torch.float64)
        if world > 1:
            dist.all_reduce(step, op=dist.ReduceOp.MAX)
        n += 1
        spent += step.item()
        if n > 1:
            best = min(best, step.item())
    if rank == 0:
        print(json.dumps({"seconds": best, "begun": begun, "steps": n}), flush=True)
    if world > 1:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
