#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The calls of bench_linalg.c with PyTorch and NumPy, in turn with ours, batch by batch until the fastest of all have settled.

Wall time, with as many threads for each. Prints a table and a JSON object per call and peer.
"""
import argparse
import json
import subprocess
import time

import numpy as np
import torch

from settle import Settle


def make_calls(name):
    """The call with PyTorch and with NumPy."""
    op, _, size = name.partition("_")
    op, _, dtype = op.partition(".")
    count, _, n = size.rpartition("x")
    shape = (int(count or 1), int(n), int(n))
    number = torch.complex64 if dtype == "c64" else torch.float32
    x = torch.randn(shape, dtype=number)
    a = x @ x.mH + int(n) * torch.eye(int(n))
    b = torch.randn(*shape[:2], 1, dtype=number)
    if not count:
        a, b = a[0].clone(), b[0].clone()
    if dtype == "f64":
        a, b = a.double(), b.double()
    c, d = a.numpy(), b.numpy()
    return {
        "cholesky": (lambda: torch.linalg.cholesky(a), lambda: np.linalg.cholesky(c)),
        "lu": (lambda: torch.linalg.lu_factor(a), None),
        "qr": (lambda: torch.linalg.qr(a), lambda: np.linalg.qr(c)),
        "solve": (lambda: torch.linalg.solve(a, b), lambda: np.linalg.solve(c, d)),
        "inv": (lambda: torch.linalg.inv(a), lambda: np.linalg.inv(c)),
        "eigh": (lambda: torch.linalg.eigh(a), lambda: np.linalg.eigh(c)),
        "svd": (lambda: torch.linalg.svd(a, full_matrices=False), lambda: np.linalg.svd(c, full_matrices=False)),
        "svdvals": (lambda: torch.linalg.svdvals(a), lambda: np.linalg.svd(c, compute_uv=False)),
        "norm2": (lambda: torch.linalg.matrix_norm(a, 2), lambda: np.linalg.norm(c, 2)),
    }[op]


def repeat(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(batches, budget_s):
    """Seconds of the fastest repeat of each."""
    settles = [Settle(budget_s) for _ in batches]
    continues = [True] * len(batches)
    while any(continues):
        for i, settle in enumerate(settles):
            if continues[i]:
                continues[i] = settle.continues(batches[i](min(settle.batch(), 500)))
    return [settle.best for settle in settles]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("program", metavar="PROGRAM")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    names = subprocess.run([arguments.program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    command = [arguments.program, "--serve", "--threads", str(arguments.threads)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        def ours(name, n):
            process.stdin.write(f"{name} {n}\n")
            process.stdin.flush()
            return [float(word) for word in process.stdout.readline().split()]

        print(f"{'f32, threads: ' + str(arguments.threads):<20} {'ours ms':>9} {'torch ms':>9} {'times':>6} {'numpy ms':>9} {'times':>6}")
        for name in names:
            peers = [(peer, call) for peer, call in zip(("torch", "numpy"), make_calls(name)) if call]
            batches = [lambda n, name=name: ours(name, n)]
            batches += [lambda n, call=call: [repeat(call) for _ in range(n)] for _, call in peers]
            a, *others = measure(batches, 0.02 if arguments.quick else 0.2)
            line = f"{name:<20} {a * 1e3:9.3f}"
            for (peer, _), b in zip(peers, others):
                print(json.dumps({"bench": "linalg", "config": {"op": name, "threads": arguments.threads}, "ours": round(a * 1e3, 4), "unit": "ms",
                                  "peer": peer, "theirs": round(b * 1e3, 4), "ratio": round(b / a, 3)}, separators=(",", ":")))
                line += f" {b * 1e3:9.3f} {b / a:6.2f}"
            print(line, flush=True)
        process.stdin.close()
        return process.wait()


if __name__ == "__main__":
    raise SystemExit(main())
