# SPDX-License-Identifier: Apache-2.0
"""examples/gpt: the recorded runs of PyTorch in tests/golden/gpt, alone and on meshes; the same loss curve on every mesh; checkpoints;
the transfers of tensor and data parallel runs, which a communication policy of "error" permits; options, output, picture and trace."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import tool

GPT = os.path.join(tool.BUILD, "examples", "gpt")
DTRUN = os.path.join(tool.BUILD, "bin", "dtrun")
RECORDED = os.path.join(tool.SOURCE, "tests", "golden", "gpt")
SMALL = "--layers 2 --width 24 --heads 3 --seq 13 --batch 6 --steps 20 --warmup 4 --sample 0 --lr 0.01".split()


def ranks_of(mesh):
    ranks = 1
    for size in re.findall(r"=(\d+)", mesh):
        ranks *= int(size)
    return ranks


def launch(mesh, arguments):
    """The finished process of a run on a mesh; "" is a program without ranks."""
    command = [GPT, *arguments]
    if mesh:
        command = [DTRUN, "-n", str(ranks_of(mesh)), *command, "--mesh", mesh]
    result = subprocess.run(command, capture_output=True, env=tool.environment(), timeout=300)
    result.stdout, result.stderr = result.stdout.decode(), result.stderr.decode()
    return result


class Gpt(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def train(self, mesh, *arguments, small=True):
        """The records of a run's log, and its output."""
        log = os.path.join(self.folder, "log.jsonl")
        result = launch(mesh, [*(SMALL if small else []), *arguments, "--log", log])
        self.assertEqual(0, result.returncode, result.stderr)
        with open(log, encoding="utf-8") as file:
            return [json.loads(line) for line in file], result.stdout

    def check_recorded(self, mesh, dtype, *extra):
        run = f"{DTRUN} -n {ranks_of(mesh)}" if mesh else ""
        command = [sys.executable, os.path.join(RECORDED, "check_gpt.py"), GPT, os.path.join(RECORDED, "a"), os.path.join(RECORDED, "b"),
                   "--run", run, "--mesh", mesh, "--dtype", dtype, "--extra=" + " ".join(extra)]
        result = subprocess.run(command, capture_output=True, text=True, env=tool.environment(), timeout=600)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        self.assertEqual(2, result.stdout.count(": ok"))

    def test_recorded_runs_are_reproduced(self):
        # In b neither 5 sequences, 3 heads, 50 tokens nor 9 positions divide by 2.
        for mesh in "", "dp=2", "tp=2", "fsdp=2", "dp=2,tp=2", "tp=3", "fsdp=2,tp=2":
            with self.subTest(mesh):
                self.check_recorded(mesh, "f64", "--comm-policy", "error")
        for mesh in "tp=2", "dp=2,tp=2":
            with self.subTest(f"{mesh}, sequence parallel"):
                self.check_recorded(mesh, "f64", "--sequence-parallel", "--comm-policy", "error")
        for mesh in "", "dp=2,tp=2":
            with self.subTest(f"{mesh} f32"):
                self.check_recorded(mesh, "f32")

    def test_loss_curve_is_the_same_on_every_mesh(self):
        expected, _ = self.train("")
        self.assertEqual(20, len(expected))
        self.assertLess(expected[-1]["loss"], expected[0]["loss"] - 0.5)
        for mesh in ("dp=2", "dp=3", "dp=4", "dp=5", "dp=6", "tp=2", "tp=3", "tp=4", "tp=5", "tp=6", "fsdp=2", "fsdp=3", "fsdp=4", "fsdp=5",
                     "fsdp=6", "dp=2,tp=2", "dp=2,tp=3", "dp=3,tp=2", "fsdp=2,tp=2", "fsdp=3,tp=2", "dp=2,fsdp=2", "dp=2,fsdp=3"):
            with self.subTest(mesh):
                got, _ = self.train(mesh)
                self.assertEqual(20, len(got))
                self.assertLess(max(abs(a["loss"] - b["loss"]) for a, b in zip(expected, got)), 1e-4)

    def test_a_checkpoint_continues(self):
        path = os.path.join(self.folder, "checkpoint.npz")
        for mesh in "", "dp=2,tp=2", "fsdp=3":
            with self.subTest(mesh):
                expected, _ = self.train(mesh)
                first, _ = self.train(mesh, "--stop", "8", "--save", path)
                rest, _ = self.train(mesh, "--resume", path)
                self.assertEqual(expected, first + rest)
                other, _ = self.train("tp=2", "--resume", path)
                self.assertEqual(12, len(other))
                self.assertLess(max(abs(a["loss"] - b["loss"]) for a, b in zip(expected[8:], other)), 1e-4)

    def counts(self, mesh, *arguments):
        """By op: collectives per step of a run of which no transfer is implicit."""
        _, output = self.train(mesh, "--comm-policy", "error", *arguments)
        lines = output[output.index("Communication"):].splitlines()[2:]
        kinds = lines[0].replace("bytes received", "").split()[1:]
        return {words[1]: {kind: int(n) / 20 for kind, n in zip(kinds, words[2:]) if n != "0"}
                for words in (line.split() for line in lines[2:])}

    def test_transfers_are_those_that_were_requested(self):
        # Two layers: two all-reduces each, forward and backward; one more for the embedding and for the output layer.
        counts = self.counts("tp=2")
        self.assertEqual({"all_reduce": 5}, counts["reduced"])
        self.assertEqual({"all_reduce": 5}, counts["backward"])
        self.assertEqual({"all_gather": 1}, counts["cross_entropy"])
        self.assertEqual({"reduced", "backward", "cross_entropy", "clip_grad_norm"}, set(counts))
        # Instead of each all-reduce, a reduce-scatter and an all-gather, and another all-gather for the gradients of weights.
        counts = self.counts("tp=2", "--sequence-parallel", "--seq", "12")
        self.assertEqual({"reduce_scatter": 5}, counts["reduced"])
        self.assertEqual({"all_gather": 10}, counts["use"])
        # All gradients in a few exchanges.
        counts = self.counts("dp=2")
        self.assertLessEqual(counts["backward"]["all_reduce"], 3)
        self.assertEqual({"backward", "cross_entropy", "item"}, set(counts))

    def test_invalid_options_are_one_line(self):
        for arguments, text in (["--frobnicate"], "unknown option '--frobnicate'; --help lists them"), \
                (["--heads", "5"], "--heads: expected a divisor of the width 64, got 5"), \
                (["--steps", "x"], "--steps: expected an integer, got 'x'"), (["--steps"], "--steps: expected a value"), \
                (["--dtype", "i8"], "--dtype: expected f32 or f64, got 'i8'"), \
                (["--data", "/nonexistent"], "cannot read '/nonexistent': No such file or directory"), \
                (["--mesh", "dp=2,xp=1"], "expected at least 2 ranks, got 1"):
            with self.subTest(arguments):
                result = launch("", arguments)
                self.assertEqual((2, "", 1), (result.returncode, result.stdout, result.stderr.count("\n")), result.stderr)
                self.assertIn(text, result.stderr)
        self.assertIn("--mesh xp=2: expected dims dp, fsdp and tp, got 'xp'", launch("xp=2", []).stderr)
        self.assertIn("--sequence-parallel", launch("", ["--help"]).stdout)

    def test_output_of_a_short_run(self):
        data, svg, trace = (os.path.join(self.folder, name) for name in ("text.txt", "loss.svg", "trace.json"))
        with open(data, "w", encoding="utf-8") as file:
            file.write("one two three four five six seven. " * 40)
        arguments = "--layers 1 --width 16 --heads 2 --seq 8 --batch 4 --steps 10 --every 5 --sample 20".split()
        result = launch("dp=2", [*arguments, "--data", data, "--svg", svg, "--trace", trace])
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        self.assertEqual(["1/10", "5/10", "10/10"], re.findall(r"^step +(\S+)", result.stdout, re.M))
        self.assertNotIn("\r", result.stdout)
        for text in "A sample of what it writes:", "Loss over 10 steps:", "Communication of all steps":
            self.assertIn(text, result.stdout)
        live = launch("dp=2", [*arguments, "--data", data, "--live"])
        self.assertEqual(10, live.stdout.count("\rstep "))
        with open(svg, encoding="utf-8") as file:
            self.assertEqual(10, len(re.findall(r"[ML][\d.]+ [\d.]+", file.read().split("stroke-width")[1])))
        with open(os.path.join(self.folder, "trace.0.json"), encoding="utf-8") as file:
            names = {event.get("name", "") for event in json.load(file)}
        self.assertTrue(any("linear" in name for name in names), names)


if __name__ == "__main__":
    unittest.main()
