#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The calls of bench_ops.c with PyTorch, in turn with ours, batch by batch until the fastest of both have settled.

One thread each; milliseconds of the CPU, so that other programs on the machine disturb little. Prints a table, a JSON object per op,
and the geometric mean of the ratios.
"""
import argparse
import json
import math
import subprocess
import time

import torch
import torch.nn.functional as functional

from settle import Settle

ROWS, COLUMNS = 4096, 1024
PLACES = 1 << 20


def make_calls():
    def heads():
        return torch.randn(4, 8, 512, 64)

    x, y = torch.randn(ROWS, COLUMNS), torch.randn(ROWS, COLUMNS)
    half, weight, bias = x.bfloat16(), torch.randn(COLUMNS), torch.randn(COLUMNS)
    mean, variance, step = torch.randn(ROWS, COLUMNS), torch.ones(ROWS, COLUMNS), torch.tensor(7.0)
    q, k, v, grad = heads(), heads(), heads(), heads()
    table, text = torch.randn(50000, COLUMNS), torch.randint(0, 50000, (8192,))
    classes = torch.randint(0, COLUMNS, (ROWS,))
    rows, columns = torch.randint(0, ROWS, (ROWS, COLUMNS)), torch.randint(0, COLUMNS, (ROWS, COLUMNS))
    places = torch.randint(0, PLACES, (ROWS * COLUMNS,))
    attend = functional.scaled_dot_product_attention

    def backward(causal):
        """Of a result that was computed before, so that only the gradients are measured."""
        inputs = [t.clone().requires_grad_() for t in (q, k, v)]
        out = attend(*inputs, is_causal=causal)
        return lambda: torch.autograd.grad(out, inputs, grad, retain_graph=True)

    leaf, affine, shift = (t.clone().requires_grad_() for t in (x, weight, bias))
    words = table.clone().requires_grad_()
    half_words = table.bfloat16().requires_grad_()

    def gradients(call, *inputs):
        """The same of any call."""
        with torch.enable_grad():
            out = call()
        at_out = torch.randn_like(out)
        return lambda: torch.autograd.grad(out, inputs, at_out, retain_graph=True)

    recorded = {
        "mul": (lambda: leaf * y, leaf),
        "relu": (lambda: torch.relu(leaf), leaf),
        "exp": (lambda: torch.exp(leaf), leaf),
        "tanh": (lambda: torch.tanh(leaf), leaf),
        "gelu": (lambda: functional.gelu(leaf), leaf),
        "gelu_tanh": (lambda: functional.gelu(leaf, approximate="tanh"), leaf),
        "softmax": (lambda: torch.softmax(leaf, 1), leaf),
        "softmax_0": (lambda: torch.softmax(leaf, 0), leaf),
        "log_softmax": (lambda: torch.log_softmax(leaf, 1), leaf),
        "layer_norm": (lambda: functional.layer_norm(leaf, [COLUMNS], affine, shift), leaf, affine, shift),
        "rms_norm": (lambda: functional.rms_norm(leaf, [COLUMNS], affine), leaf, affine),
        "cross_entropy": (lambda: functional.cross_entropy(leaf, classes), leaf),
        "embedding": (lambda: functional.embedding(text, words), words),
        "embedding_bf16": (lambda: functional.embedding(text, half_words), half_words),
    }
    image, signal = torch.randn(8, 64, 56, 56, requires_grad=True), torch.randn(8, 64, 4096, requires_grad=True)
    filter_3, filter_1, filter_each, filter_signal, filter_up = (
        torch.randn(shape, requires_grad=True) for shape in ((64, 64, 3, 3), (64, 64, 1, 1), (64, 1, 3, 3), (64, 64, 3), (64, 32, 2, 2)))
    per_channel, offsets = torch.randn(64, requires_grad=True), torch.randn(64, requires_grad=True)
    images = {
        "conv2d_3": (lambda: functional.conv2d(image, filter_3, padding=1), image, filter_3),
        "conv2d_1": (lambda: functional.conv2d(image, filter_1), image, filter_1),
        "conv2d_depthwise": (lambda: functional.conv2d(image, filter_each, padding=1, groups=64), image, filter_each),
        "conv1d": (lambda: functional.conv1d(signal, filter_signal, padding=1), signal, filter_signal),
        "conv_transpose2d": (lambda: functional.conv_transpose2d(image, filter_up, stride=2), image, filter_up),
        "max_pool2d": (lambda: functional.max_pool2d(image, 2), image),
        "avg_pool2d": (lambda: functional.avg_pool2d(image, 2), image),
        "batch_norm": (lambda: functional.batch_norm(image, None, None, per_channel, offsets, True), image, per_channel, offsets),
        "group_norm": (lambda: functional.group_norm(image, 8, per_channel, offsets), image, per_channel, offsets),
        "interpolate_nearest": (lambda: functional.interpolate(image, scale_factor=2), image),
        "interpolate_bilinear": (lambda: functional.interpolate(image, scale_factor=2, mode="bilinear"), image),
    }
    bounds, which = torch.randn(COLUMNS).sort().values, torch.randperm(ROWS)
    batch_x, batch_y = torch.randn(64, 128, 128), torch.randn(64, 128, 128)
    rows_512, matrix = torch.randn(512, 1024), torch.randn(1024, 1024)

    def products():
        """x W and x Wt in three dtypes."""
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            name = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16"}[dtype]
            for m, n in ((1, 4096), (8, 4096), (512, 1024)):
                few, matrix = torch.randn(m, n).to(dtype), torch.randn(n, n).to(dtype)
                yield f"product_{m}_{name}", lambda few=few, matrix=matrix: few @ matrix
                yield f"product_t_{m}_{name}", lambda few=few, matrix=matrix: few @ matrix.t()

    backwards = {name + "_backward": gradients(*of) for name, of in (recorded | images).items()}
    return backwards | dict(products()) | {name: of[0] for name, of in images.items()} | {
        "index_put": lambda: x.index_put((which,), y),
        "index_put_add": lambda: x.index_put((which,), y, accumulate=True),
        "histc": lambda: torch.histc(x, 100, -3, 3),
        "median": lambda: x.median(1),
        "searchsorted": lambda: torch.searchsorted(bounds, x),
        "einsum_product": lambda: torch.einsum("ij,kj->ik", rows_512, matrix),
        "einsum_batch": lambda: torch.einsum("bij,bjk->bik", batch_x, batch_y),
        "einsum_heads": lambda: torch.einsum("bhqd,bhkd->bhqk", q, k),
        "einsum_outer": lambda: torch.einsum("i,j->ij", bias, weight),
        "einsum_sum": lambda: torch.einsum("ij,ij->i", x, y),
        "add": lambda: x + y,
        "mul": lambda: x * y,
        "relu": lambda: torch.relu(x),
        "exp": lambda: torch.exp(x),
        "tanh": lambda: torch.tanh(x),
        "gelu": lambda: functional.gelu(x),
        "gelu_tanh": lambda: functional.gelu(x, approximate="tanh"),
        "softmax": lambda: torch.softmax(x, 1),
        "softmax_0": lambda: torch.softmax(x, 0),
        "log_softmax": lambda: torch.log_softmax(x, 1),
        "layer_norm": lambda: functional.layer_norm(x, [COLUMNS], weight, bias),
        "rms_norm": lambda: functional.rms_norm(x, [COLUMNS], weight),
        "sum_0": lambda: x.sum(0),
        "sum_1": lambda: x.sum(1),
        "max": lambda: x.max(1),
        "argmax": lambda: x.argmax(1),
        "cumsum": lambda: x.cumsum(1),
        "transposed_copy": lambda: x.t().contiguous(),
        "cat": lambda: torch.cat((x, y), 1),
        "to_bf16": lambda: x.bfloat16(),
        "from_bf16": lambda: half.float(),
        "normal": lambda: torch.randn(ROWS, COLUMNS),
        "dropout": lambda: functional.dropout(x, 0.1),
        "adamw": lambda: torch._fused_adamw_([x], [y], [mean], [variance], [], [step], lr=0.0, beta1=0.9, beta2=0.999,
                                             weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False),
        "cross_entropy": lambda: functional.cross_entropy(x, classes),
        "embedding": lambda: functional.embedding(text, table),
        "scatter_add_0": lambda: torch.scatter_add(x, 0, rows, y),
        "scatter_add_1": lambda: torch.scatter_add(x, 1, columns, y),
        "scatter_add_bf16_0": lambda: torch.scatter_add(half, 0, rows, half),
        "scatter_add_bf16_1": lambda: torch.scatter_add(half, 1, columns, half),
        "scatter_add_vector": lambda: torch.scatter_add(y.view(-1)[:PLACES], 0, places, y.view(-1)),
        "scatter_add_bf16_vector": lambda: torch.scatter_add(half.view(-1)[:PLACES], 0, places, half.view(-1)),
        "attention": lambda: attend(q, k, v),
        "attention_causal": lambda: attend(q, k, v, is_causal=True),
        "attention_backward": backward(False),
        "attention_causal_backward": backward(True),
    }


class Ours:
    """A process that runs bench_ops --serve."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def batch(self, name, n):
        self.process.stdin.write(f"{name} {n}\n")
        self.process.stdin.flush()
        return [float(word) for word in self.process.stdout.readline().split()]

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def repeat(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(ours, name, call, budget_s):
    """Seconds of the fastest repeat of both."""
    settles = [Settle(budget_s), Settle(budget_s)]
    open_ones = [True, True]
    while any(open_ones):
        for i, settle in enumerate(settles):
            if open_ones[i]:
                n = min(settle.batch(), 500)
                open_ones[i] = settle.continues(ours.batch(name, n) if i == 0 else [repeat(call) for _ in range(n)])
    return settles[0].best, settles[1].best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", metavar="OP", nargs="*")
    parser.add_argument("program", metavar="PROGRAM")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    calls = make_calls()
    ours = Ours(arguments.program)
    names = arguments.only or subprocess.run([arguments.program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    ratios = []
    print(f"{'op, one thread':<26} {'ours ms':>9} {'torch ms':>9} {'times':>6}")
    with torch.no_grad():
        for name in names:
            with torch.enable_grad() if name.endswith("backward") else torch.no_grad():
                a, b = measure(ours, name, calls[name], 0.02 if arguments.quick else 0.2)
            ratios.append(b / a)
            print(json.dumps({"bench": "ops", "config": {"op": name}, "ours": round(a * 1e3, 4), "unit": "ms", "peer": "torch",
                              "theirs": round(b * 1e3, 4), "ratio": round(b / a, 3)}, separators=(",", ":")))
            print(f"{name:<26} {a * 1e3:9.3f} {b * 1e3:9.3f} {b / a:6.2f}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{'geometric mean':<26} {'':>9} {'':>9} {mean:6.2f}; {sum(r < 0.95 for r in ratios)} of {len(ratios)} slower")
    return ours.close()


if __name__ == "__main__":
    raise SystemExit(main())
