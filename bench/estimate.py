#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Estimates of GPT steps (examples/10_gpt) next to measured steps, with a machine model that is calibrated first, on single ops and
collectives only.

Parts: step (a rank alone, and dp, fsdp and tp on two ranks, of the small and the large model), link (two ranks on two hosts that a limited
link joins, scripts/netns.sh, as root), more (more ranks than cores), trace (a step with DTENSOR_TRACE next to one without) and scale (the
seconds and the memory that an estimate of a GPT of 65 G parameters takes). Measured is the fastest step. Prints a table, and a JSON object
per figure: ours is predicted, theirs is measured.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import gpt

ROOT = os.path.dirname(gpt.HERE)
DTENSOR = os.path.join(gpt.BUILD, "bin", "dtensor")
STEP_TARGET, TRACE_TARGET = 0.15, 0.03
LINKS = {"50": 0.1, "200": 0.1, "1000": 0.2}
LARGE = "--layers 80 --width 8192 --heads 64 --vocab 32000 --seq 4096 --steps 1 --sample 0".split()
SCALES = {4096: ("dp=8,fsdp=64,tp=8", "512", 1.0, 200), 65536: ("dp=32,fsdp=256,tp=8", "8192", 5.0, None)}
PARTS = ["step", "link", "more", "trace", "scale"]


def print_row(part, config, unit, ours, theirs, target):
    """target: the largest difference from 1 of the ratio, that of a trace only above it; or, without a measured figure, the largest value."""
    ratio = ours / theirs if theirs else None
    excess = 0 if target is None else ours - target if ratio is None else (ratio - 1 if part == "trace" else abs(ratio - 1)) - target
    reached = "" if target is None else "yes" if excess <= 0 else "NO"
    measured = "" if theirs is None else f"{theirs:11.4g}"
    print(f"{part:<6} {' '.join(str(value) for value in config.values()):<28} {ours:11.4g} {unit:<3} {measured:>11} "
          f"{'' if ratio is None else f'{ratio:7.2f}':>7} {'' if target is None else target:>7} {reached}", flush=True)
    print(json.dumps({"bench": "estimate", "config": {"part": part, **config}, "ours": float(f"{ours:.5g}"), "unit": unit,
                      "peer": "measured" if theirs else "limit", "theirs": float(f"{theirs:.5g}") if theirs else target,
                      "ratio": round(ratio, 3) if ratio else None, "target": target}, separators=(",", ":")), flush=True)


def fastest(path):
    """The fastest step but the first, which prepares the others."""
    with open(path, encoding="utf-8") as file:
        return min([json.loads(line)["seconds"] for line in file][1:])


def run_step(command, n_steps, **variables):
    """Seconds of the fastest step of a program that takes --times; None after an error."""
    with tempfile.TemporaryDirectory() as folder:
        times = os.path.join(folder, "times.jsonl")
        variables = {name: value.replace("FOLDER", folder) for name, value in variables.items()}
        result = subprocess.run([*command, "--steps", str(n_steps), "--times", times], capture_output=True,
                                env={**os.environ, "OMP_NUM_THREADS": "1", "DTENSOR_THREADS": "1", **variables})
        if result.returncode:
            sys.stderr.write(f"{' '.join(command)}: exit {result.returncode}\n{result.stderr.decode()[-1000:]}")
            return None
        return fastest(times)


def program(size, mesh):
    return [os.path.join(gpt.BUILD, "examples", "10_gpt"), *gpt.options(gpt.SIZES[size]), "--dropout", "0", "--tied", "0", "--sample", "0",
            *(["--mesh", mesh] if mesh else [])]


def predict(size, mesh, ranks, model):
    return run_step(program(size, mesh), 3, DTENSOR_ESTIMATE=f"world={ranks},rank=0,threads=1", DTENSOR_MACHINE=model)


def measure(size, mesh, ranks, model, rounds, n_steps):
    launch = [os.path.join(gpt.BUILD, "bin", "dtrun"), "-n", str(ranks)] if ranks > 1 else []
    measured = [run_step(launch + program(size, mesh), n_steps, DTENSOR_MACHINE=model) for _ in range(rounds)]
    return None if None in measured else min(measured)


def compare(part, size, mesh, ranks, model, a, target):
    predicted, measured = predict(size, mesh, ranks, model), measure(size, mesh, ranks, model, a.rounds, a.steps)
    if predicted and measured:
        print_row(part, {"size": size, "mesh": mesh or "one"}, "ms", 1e3 * predicted, 1e3 * measured, target)


def calibrate(model, quick, ranks):
    subprocess.run([DTENSOR, "calibrate", "--ops", "--ranks", str(ranks), *(["--quick"] if quick else []), "-o", model], check=True,
                   env={**os.environ, "DTENSOR_THREADS": "1", "OMP_NUM_THREADS": "1"})


def compare_links(model, a):
    """On two hosts: this program again, on the first of them."""
    for rate, target in LINKS.items():
        command = [os.path.join(ROOT, "scripts", "netns.sh"), "--rate", rate + "mbit", sys.executable, os.path.abspath(__file__),
                   "--inside", rate, "--model", model, "--rounds", str(a.rounds)]
        status = subprocess.run(command).returncode
        if status == 77:
            return
        if status:
            sys.exit(f"scripts/netns.sh: {' '.join(command)}: exit code {status}")


def compare_inside(a):
    """The links are measured and added to a copy of the model; then steps of the small model."""
    launch = [os.path.join(ROOT, "scripts", "netns_mpirun.sh"), "openmpi", "-x", "DTENSOR_THREADS=1", "-x", "OMP_NUM_THREADS=1"]
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "machine.txt")
        with open(a.model, encoding="utf-8") as read, open(model, "w", encoding="utf-8") as written:
            written.write(read.read())
        subprocess.run([*launch, "-n", "2", DTENSOR, "calibrate", "-o", model], check=True)
        for mode in "dp", "fsdp", "tp":
            mesh = mode + "=2"
            predicted = predict("small", mesh, 2, model)
            measured = run_step([*launch, "-x", f"DTENSOR_MACHINE={model}", "-n", "2", *program("small", mesh)], 4)
            if predicted and measured:
                print_row("link", {"mbit": a.inside, "mesh": mesh}, "ms", 1e3 * predicted, 1e3 * measured, LINKS[a.inside])


def compare_traces(a):
    """In turn; the fastest of each."""
    for mesh in ("", "dp=2", "tp=2"):
        ranks, best = 2 if mesh else 1, [1e30, 1e30]
        launch = [os.path.join(gpt.BUILD, "bin", "dtrun"), "-n", str(ranks)] if ranks > 1 else []
        for _ in range(2 * a.rounds):
            for i, variables in enumerate(({"DTENSOR_TRACE": "FOLDER/trace.json"}, {})):
                seconds = run_step(launch + program("small", mesh), a.steps, **variables)
                best[i] = min(best[i], seconds or 1e30)
        print_row("trace", {"size": "small", "mesh": mesh or "one"}, "ms", 1e3 * best[0], 1e3 * best[1], TRACE_TARGET)


def measure_scales():
    for ranks, (mesh, batch, seconds, megabytes) in SCALES.items():
        command = [os.path.join(gpt.BUILD, "examples", "10_gpt"), *LARGE, "--batch", batch, "--mesh", mesh]
        begin = time.monotonic()
        subprocess.run([DTENSOR, "estimate", "--json", "--ranks", str(ranks), "--", *command], check=True, stdout=subprocess.DEVNULL)
        print_row("scale", {"ranks": ranks, "what": "time"}, "s", time.monotonic() - begin, None, seconds)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                   env={**os.environ, "DTENSOR_ESTIMATE": f"world={ranks},rank=0", "DTENSOR_THREADS": "1"})
        _, _, usage = os.wait4(process.pid, 0)
        print_row("scale", {"ranks": ranks, "what": "memory"}, "MB", usage.ru_maxrss / 1024, None, megabytes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the small model, one round")
    parser.add_argument("--part", default=os.environ.get("PART", ""), help="one of the parts, or several; also by the variable PART")
    parser.add_argument("--rounds", type=int, help="of each measurement; the fastest counts")
    parser.add_argument("--model", help="a machine model with rates, in place of calibrating")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    a = parser.parse_args()
    a.rounds = a.rounds or (1 if a.quick else 3)
    a.steps = 6 if a.quick else 12
    parts = a.part.split(",") if a.part else PARTS
    for part in parts:
        if part not in PARTS:
            parser.error(f"expected {', '.join(PARTS)}, got {part}")
    if a.inside:
        compare_inside(a)
        return
    print(f"{'part':<6} {'':<28} {'predicted':>11}     {'measured':>11} {'ratio':>7} {'target':>7} reached")
    with tempfile.TemporaryDirectory() as folder:
        model = a.model or os.path.join(folder, "machine.txt")
        if not a.model and {"step", "link", "more"} & set(parts):
            calibrate(model, a.quick, 4 if "more" in parts else 2)
        for size in ("small",) if a.quick else ("small", "large"):
            for mode in gpt.MODES if "step" in parts else ():
                compare("step", size, "" if mode == "one" else mode + "=2", 1 if mode == "one" else 2, model, a, STEP_TARGET)
        if "link" in parts:
            compare_links(model, a)
        for mesh in ("dp=4", "fsdp=4", "tp=4") if "more" in parts else ():
            compare("more", "small", mesh, 4, model, a, None)
    if "trace" in parts:
        compare_traces(a)
    if "scale" in parts:
        measure_scales()


if __name__ == "__main__":
    main()
