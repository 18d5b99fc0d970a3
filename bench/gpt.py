#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of a GPT: examples/10_gpt next to PyTorch and JAX, where python3 has them, and the bound that OpenBLAS sets.

Modes: one (a rank with one thread, as every process here), dp, fsdp and tp on two ranks. Peers run in turn, in rounds, and the fastest step
of all rounds counts. Memory is the largest resident set of a process; the start is from the launch to the beginning of the first step.
The rows bf16 compare a step in bf16 with our own in f32. The rows fsdp=2 and fsdp=4 compare the peak of proportional set sizes (PSS) per rank, with one sequence per rank: pages that ranks share count
once.
The bound is the time of the step's products alone, by OpenBLAS, on as many processes at the same time (bench_gpt.c has the arithmetic).
Prints a table, and a JSON object per figure.
"""
import argparse
import json
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time

import gpt_shares

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(os.path.dirname(HERE), "build")
SIZES = {
    "small": {"layers": 4, "width": 256, "heads": 8, "vocab": 4096, "seq": 128, "batch": 8},
    "large": {"layers": 6, "width": 512, "heads": 8, "vocab": 4096, "seq": 128, "batch": 8},
    "gpt2": {"layers": 12, "width": 768, "heads": 12, "vocab": 50257, "seq": 256, "batch": 2},
}
MODES = ["one", "dp", "fsdp", "tp"]
TARGETS = {"small": {"one": 1.15, "dp": 1.2, "fsdp": 1.8, "tp": 2.2}, "large": {"one": 1.1, "dp": 1.2, "fsdp": 1.55, "tp": 1.8}}
BOUND_TARGETS = {"small": {"one": 0.92, "dp": 0.85, "fsdp": 0.86, "tp": 0.84}}
BOUND_TARGET, MEMORY_TARGET, HALF_TARGET, START_LIMIT_S = 0.8, 2.0, 1.4, 0.1
SHARDED_RANKS, SAMPLE_S = (2, 4), 0.01


def options(model):
    return [word for name, value in model.items() for word in ("--" + name, str(value))]


class Result:
    """The fastest step and start of several runs of one program, and the largest memory."""

    def __init__(self):
        self.seconds, self.start, self.memory = None, 1e30, 0

    def add(self, seconds, start, memory):
        self.seconds = seconds if self.seconds is None else min(self.seconds, seconds)
        self.start, self.memory = min(self.start, start), max(self.memory, memory)


def run_together(commands, environments):
    """Output of the first of several processes, their largest resident set in MB, and when they were launched; None if one fails."""
    launched = time.time()
    one_thread = dict(os.environ, OMP_NUM_THREADS="1", DTENSOR_THREADS="1")
    running = [subprocess.Popen(command, env={**one_thread, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
               for command, more in zip(commands, environments)]
    outputs = [process.stdout.read() for process in running]
    errors = [process.stderr.read() for process in running]
    memory, failed = 0, False
    for process, error in zip(running, errors):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        memory = max(memory, usage.ru_maxrss / 1024)
        if process.returncode:
            failed = True
            sys.stderr.write(f"{process.args[1]}: exit {process.returncode}\n{error.decode()[-1000:]}")
    return None if failed else (outputs, memory, launched)


def processes_below(pid):
    """The process and those that it has started, directly or not."""
    found = [pid]
    for parent in found:
        try:
            with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
        except OSError:  # it has ended
            pass
    return found


def pss_of(pid):
    """Its proportional set size in MB; 0 once it has ended."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            return sum(int(line.split()[1]) / 1024 for line in file if line.startswith("Pss:"))
    except OSError:
        return 0


def run_sampled(commands, environments):
    """The largest sum of the proportional set sizes of all processes in MB; None if one fails."""
    one_thread = dict(os.environ, OMP_NUM_THREADS="1", DTENSOR_THREADS="1")
    running = [subprocess.Popen(command, env={**one_thread, **more}, stdout=subprocess.DEVNULL) for command, more in zip(commands, environments)]
    peak = 0
    while any(process.poll() is None for process in running):
        peak = max(peak, sum(pss_of(pid) for process in running for pid in processes_below(process.pid)))
        time.sleep(SAMPLE_S)
    return None if any(process.returncode for process in running) else peak


def write_tokens(path, n_steps, model):
    """The same random batch in every step, as a .npy file i64[steps,batch,seq+1]."""
    n = model["batch"] * (model["seq"] + 1)
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({n_steps}, {model['batch']}, {model['seq'] + 1}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    draw = random.Random(0)
    batch = struct.pack(f"<{n}q", *(draw.randrange(model["vocab"]) for _ in range(n)))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + batch * n_steps)


def our_command(mode, model, n_steps, folder, *more, ranks=2):
    tokens = os.path.join(folder, f"tokens{n_steps}.npy")
    write_tokens(tokens, n_steps, model)
    command = [os.path.join(BUILD, "examples", "gpt"), *options(model), "--tied", "0", "--dropout", "0", "--clip", "0", "--lr", "0.001",
               "--warmup", "1", "--sample", "0", "--steps", str(n_steps), "--tokens", tokens, *more]
    if mode != "one":
        command = [os.path.join(BUILD, "bin", "dtrun"), "-n", str(ranks), *command, "--mesh", f"{mode}={ranks}"]
    return command


def run_ours(mode, model, n_steps, result, *more):
    with tempfile.TemporaryDirectory() as folder:
        times = os.path.join(folder, "times.jsonl")
        ran = run_together([our_command(mode, model, n_steps, folder, "--times", times, *more)], [{}])
        if ran:
            with open(times, encoding="utf-8") as file:
                steps = [json.loads(line) for line in file]
            result.add(min(step["seconds"] for step in steps[1:]), steps[0]["begin"] - ran[2], ran[1])


def peer_launch(program, mode, model, seconds, n):
    """The commands and environments of n processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, os.path.join(HERE, program), "--mode", mode, "--seconds", str(seconds), *options(model)]
    return [command] * n, [{"RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": str(n), "MASTER_ADDR": "127.0.0.1",
                            "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"} for r in range(n)]


def run_peer(program, mode, model, seconds, result):
    ran = run_together(*peer_launch(program, mode, model, seconds, 2 if mode != "one" and program.startswith("torch") else 1))
    if ran:
        measured = json.loads(ran[0][0].splitlines()[-1])
        result.add(measured["seconds"], measured["begun"] - ran[2], ran[1])


def run_bound(mode, model, seconds):
    """Seconds of the step's products on the slowest rank, and their GFLOP on all ranks."""
    n = 1 if mode == "one" else 2
    command = [os.path.join(BUILD, "bench", "bench_gpt"), mode, *(str(value) for value in model.values()), str(seconds)]
    ran = run_together([command] * n, [{}] * n)
    measured = [json.loads(output) for output in ran[0]] if ran else []
    return (max(row["seconds"] for row in measured), sum(row["gflop"] for row in measured)) if measured else None


def print_row(size, mode, what, unit, ours, peer, theirs, ratio, target):
    reached = "" if target is None else "yes" if ratio >= target else "NO"
    print(f"{size:<6} {mode:<6} {what:<8} {ours:9.4g} {unit:<3} {peer:<9} {theirs:9.4g} {ratio:7.2f} "
          f"{'' if target is None else target:>7} {reached}", flush=True)
    print(json.dumps({"bench": "gpt", "config": {"mode": mode, "size": size, "what": what}, "ours": float(f"{ours:.5g}"), "unit": unit,
                      "peer": peer, "theirs": float(f"{theirs:.5g}"), "ratio": round(ratio, 3), "target": target},
                     separators=(",", ":")), flush=True)


def measure(size, mode, peers, rounds, seconds):
    model = SIZES[size]
    ours, results, bounds = Result(), {peer: Result() for peer in peers}, []
    run_ours(mode, model, 3, ours)
    if ours.seconds is None:
        sys.exit(1)
    n_steps = max(4, round(seconds / ours.seconds))
    for _ in range(rounds):
        run_ours(mode, model, n_steps, ours)
        for peer, result in results.items():
            run_peer(f"{peer}_gpt_peer.py", mode, model, seconds, result)
        if size in TARGETS:
            bounds.append(run_bound(mode, model, seconds))
    for peer, result in results.items():
        if result.seconds is None:
            continue
        target = 1.0 if peer == "jax" else TARGETS.get(size, {}).get(mode)
        print_row(size, mode, "step", "ms", 1e3 * ours.seconds, peer, 1e3 * result.seconds, result.seconds / ours.seconds, target)
        print_row(size, mode, "memory", "MB", ours.memory, peer, result.memory, result.memory / ours.memory,
                  MEMORY_TARGET if peer == "torch" and size in TARGETS else None)
        print_row(size, mode, "start", "s", ours.start, peer, result.start, result.start / ours.start, None)
    if bounds and all(bounds):
        bound, gflop = min(row[0] for row in bounds), bounds[0][1]
        print_row(size, mode, "products", "ms", 1e3 * ours.seconds, "openblas", 1e3 * bound, bound / ours.seconds,
                  BOUND_TARGETS.get(size, {}).get(mode, BOUND_TARGET))
        print(f"{size:<6} {mode:<5} {gflop:.1f} GFLOP in products; {gflop / bound:.0f} GFLOP/s by OpenBLAS alone, "
              f"{gflop / ours.seconds:.0f} in the step")
    if size in TARGETS:
        print_row(size, mode, "start", "s", ours.start, "limit", START_LIMIT_S, START_LIMIT_S / ours.start, 1.0)


def measure_half(size, mode, rounds):
    """A step in bf16 next to one in f32."""
    results = {"f32": Result(), "bf16": Result()}
    for _ in range(rounds + 1):
        for dtype, result in results.items():
            run_ours(mode, SIZES[size], 6, result, "--dtype", dtype)
    half, single = results["bf16"].seconds, results["f32"].seconds
    if half and single:
        print_row(size, mode, "bf16", "ms", 1e3 * half, "f32", 1e3 * single, single / half, HALF_TARGET)


def measure_sharded_memory(size, ranks):
    """The peak of fully sharded training next to PyTorch's fully_shard."""
    model = dict(SIZES[size], batch=ranks)
    with tempfile.TemporaryDirectory() as folder:
        ours = run_sampled([our_command("fsdp", model, 4, folder, ranks=ranks)], [{}])
    theirs = run_sampled(*peer_launch("torch_gpt_peer.py", "fsdp", model, 0, ranks))
    if ours and theirs:
        print_row(size, f"fsdp={ranks}", "pss", "MB", ours / ranks, "torch", theirs / ranks, theirs / ours, MEMORY_TARGET)


def print_shares(size, mode):
    """Where the time of a traced step goes."""
    with tempfile.TemporaryDirectory() as folder:
        command = our_command(mode, SIZES[size], 8, folder, "--trace", os.path.join(folder, "trace.json"))
        if run_together([command], [{}]):
            paths = [os.path.join(folder, name) for name in (["trace.json"] if mode == "one" else ["trace.0.json", "trace.1.json"])]
            milliseconds, shares = gpt_shares.shares_of(paths)
            print(f"{size:<6} {mode:<5} {milliseconds:8.1f} ms: " + ", ".join(f"{kind} {100 * share:.1f} %" for kind, share in shares.items()))
            print(json.dumps({"bench": "gpt", "config": {"mode": mode, "size": size, "what": "shares"}, "ours": round(milliseconds, 2),
                              "unit": "ms", "shares": {kind: round(share, 4) for kind, share in shares.items()}}, separators=(",", ":")),
                  flush=True)


def has_module(name):
    return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the small model, one round")
    parser.add_argument("--size", default=os.environ.get("SIZE", ""), help="small, large, gpt2, or several; also by the variable SIZE")
    parser.add_argument("--shares", action="store_true", default=bool(os.environ.get("SHARES")),
                        help="only where the time of a step goes; also by the variable SHARES=1")
    parser.add_argument("--mode", default=os.environ.get("MODE", ""), help="one, dp, fsdp, tp, or several; also by the variable MODE")
    a = parser.parse_args()
    sizes = (a.size or ("small" if a.quick else "small,large")).split(",")
    modes = (a.mode or ",".join(MODES)).split(",")
    for given, known in (sizes, SIZES), (modes, MODES):
        for name in given:
            if name not in known:
                parser.error(f"expected {', '.join(known)}, got {name}")
    if a.shares:
        for size in sizes:
            for mode in modes:
                print_shares(size, mode)
        return
    peers = []
    for name in "torch", "jax":
        if has_module(name):
            peers.append(name)
        else:
            print(f"{name}: skipped, python3 does not have it")
    print(f"{'size':<6} {'mode':<6} {'what':<8} {'ours':>9}     {'peer':<9} {'theirs':>9} {'ratio':>7} {'target':>7} reached")
    for size in sizes:
        for mode in modes:
            if size == "gpt2":  # once: what it takes, next to PyTorch
                measure(size, mode, [peer for peer in peers if peer == "torch"], 1, 2)
                continue
            measure(size, mode, peers, 1 if a.quick else 3, 2 if a.quick else 5)
            measure_half(size, mode, 1 if a.quick else 3)
            print_shares(size, mode)
        for ranks in SHARDED_RANKS if "fsdp" in modes and "torch" in peers else ():
            measure_sharded_memory(size, ranks)


if __name__ == "__main__":
    main()
