# SPDX-License-Identifier: Apache-2.0
"""examples/10_gpt as a program: the transfers of tensor and data parallel runs, which a communication policy of "error" permits; options
and files that are refused before it starts; progress, output, picture and trace."""
import json
import os
import pty
import re
import subprocess
import unittest
import xml.etree.ElementTree

import tool
from gpt import DTRUN, GPT, RECORDED, SMALL, GptTest, launch


class Program(GptTest):
    def counts(self, mesh, *arguments):
        """By call: collectives per step of a run without implicit transfers."""
        _, output = self.train(mesh, "--comm-policy", "error", *arguments)
        rows = re.findall(r"^(\w+) +([\d.]+ \w+) +([\d.]+) %  (.*)$", output[output.index("Communication"):], re.M)
        *calls, total = [(title, received, float(share), {kind: float(n) for n, kind in (part.split() for part in kinds.split(", "))})
                         for title, received, share, kinds in rows]
        self.assertEqual("all", total[0])
        self.assertEqual(sum(total[3].values()), sum(sum(kinds.values()) for _, _, _, kinds in calls), output)
        self.assertAlmostEqual(total[2], sum(share for _, _, share, _ in calls), delta=0.1 * len(calls))
        self.assertTrue(0 < total[2] <= 100, output)
        return {title: kinds for title, _, _, kinds in calls}

    def test_transfers_are_those_that_were_requested(self):
        # Two layers: two all-reduces each, forward and backward; one more for the embedding and for the output layer.
        counts = self.counts("tp=2")
        self.assertEqual({"all_reduce": 5}, counts["reduced"])
        self.assertEqual({"all_reduce": 5}, counts["backward"])
        self.assertEqual({"all_gather": 1}, counts["cross_entropy"])
        self.assertEqual({"reduced", "backward", "cross_entropy", "clip_grad_norm"}, set(counts))
        # Two more for each further layer, forward and backward, and nothing else.
        deeper = self.counts("tp=2", "--layers", "5")
        self.assertEqual({"all_reduce": 11}, deeper["reduced"])
        self.assertEqual({"all_reduce": 11}, deeper["backward"])
        self.assertEqual({"all_gather": 1}, deeper["cross_entropy"])
        # Instead of each all-reduce, a reduce-scatter and an all-gather; for the gradients of weights one more per block and output layer.
        counts = self.counts("tp=2", "--sequence-parallel", "--seq", "12")
        self.assertEqual({"reduce_scatter": 5}, counts["reduced"])
        self.assertEqual({"all_gather": 8}, counts["use"])
        deeper = self.counts("tp=2", "--sequence-parallel", "--seq", "12", "--layers", "5")
        self.assertEqual({"reduce_scatter": 11}, deeper["reduced"])
        self.assertEqual({"all_gather": 17}, deeper["use"])
        # All gradients in a few exchanges, however many layers there are.
        for layers in "1", "6":
            counts = self.counts("dp=2", "--layers", layers)
            self.assertEqual({"all_reduce"}, set(counts["backward"]))
            self.assertLessEqual(counts["backward"]["all_reduce"], 2)
            self.assertEqual({"backward", "class_total", "item"}, set(counts))
        # Fully sharded: the parameters of a block are gathered in one exchange, forward and backward; gradients scattered in a few.
        counts = self.counts("fsdp=2", "--layers", "12")
        self.assertLessEqual(sum(kinds.get("all_gather", 0) for kinds in counts.values()), 30)
        self.assertLessEqual(counts["backward"]["reduce_scatter"], 2)
        self.assertLessEqual(counts["backward"].get("all_reduce", 0), 2)

    def check_refused(self, arguments, text, mesh=""):
        with self.subTest(arguments):
            result = launch(mesh, arguments)
            errors = [line for line in result.stderr.splitlines() if not line.startswith("dtrun: ")]
            self.assertEqual((2, "", 1), (result.returncode, result.stdout, len(errors)), result.stderr)
            self.assertIn("gpt: " + text, errors[0])

    def test_invalid_options_are_one_line(self):
        for arguments, text in (["--frobnicate"], "unknown option '--frobnicate'; --help lists them"), \
                (["train"], "unknown option 'train'; --help lists them"), \
                (["--heads", "5"], "--heads: expected a divisor of the width 64, got 5"), \
                (["--steps", "x"], "--steps: expected an integer of at least 1, got 'x'"), (["--steps"], "--steps: expected a value"), \
                (["--steps=0"], "--steps: expected an integer of at least 1, got '0'"), \
                (["--steps", "99999999999999999999"], "--steps: expected an integer of at least 1, got '99999999999999999999'"), \
                (["--batch", "-2"], "--batch: expected an integer of at least 1, got '-2'"), \
                (["--layers", "1000"], "--layers: expected an integer from 1 to 255, got '1000'"), \
                (["--lr", "nan"], "--lr: expected a number of at least 0, got 'nan'"), \
                (["--dropout", "1"], "--dropout: expected less than 1, got 1"), \
                (["--tied", "2"], "--tied: expected an integer from 0 to 1, got '2'"), \
                (["--sequence-parallel=yes"], "--sequence-parallel: expected no value, got 'yes'"), \
                (["--dtype", "i8"], "--dtype: expected f32, f64 or bf16, got 'i8'"), \
                (["--comm-policy", "never"], "--comm-policy: expected allow, warn or error, got 'never'"), \
                (["--vocab", "5"], "--vocab: expected at least the 26 characters of the text, got 5"), \
                (["--tokens", "x.npy"], "--tokens: expected --vocab with it"), \
                (["--init", "a", "--resume", "b"], "--init and --resume: expected one of them"), \
                (["--mesh", ""], "--mesh: expected a text, got an empty one"), \
                (["--mesh", "dp"], "--mesh dp: "), (["--mesh", "dp=1,dp=1"], "--mesh dp=1,dp=1: "), \
                (["--mesh", "dp=2,xp=1"], "--mesh dp=2,xp=1: mesh_new: the world is too small: expected at least 2 ranks, got 1"):
            self.check_refused(arguments, text)
        self.check_refused("--layers 1 --schedule interleaved --stages 4".split(), "--stages: expected at most the 3 units of the model, got 4", "pp=2")
        self.check_refused(["--micro", "17"], "--micro: expected at most the 16 sequences of a batch, got 17", "pp=2")
        self.check_refused(["--schedule", "1f2b"], "--schedule 1f2b: schedule_new: ", "pp=2")
        self.check_refused([], "--mesh xp=2: expected dims dp, fsdp, tp and pp, got 'xp'", "xp=2")
        result = subprocess.run([DTRUN, "-n", "3", GPT, "--mesh", "dp=2"], capture_output=True, text=True, env=tool.environment(), timeout=300)
        self.assertEqual(2, result.returncode)
        self.assertIn("gpt: --mesh dp=2: expected 2 ranks, got 3; start it with dtrun -n 2\n", result.stderr)
        for mesh in "", "dp=2":
            text = launch(mesh, ["--help", "--layers", "0"]).stdout
            self.assertEqual(1, text.count("--sequence-parallel "))
        with open(os.path.join(tool.SOURCE, "examples", "10_gpt.c"), encoding="utf-8") as file:
            for name in re.findall(r'(?:OPTION|NUMBER)\("([a-z-]+)"', file.read()):
                self.assertRegex(text, rf"(?m)^  --{name} .*\w")

    def test_invalid_files_are_one_line(self):
        path, text, missing = (os.path.join(self.folder, name) for name in ("a.npz", "text.txt", "no/such"))
        with open(text, "w", encoding="utf-8") as file:
            file.write("too short")
        small = "--layers 1 --width 8 --heads 2 --seq 9 --batch 2 --steps 2 --sample 0".split()
        self.assertEqual(0, launch("", [*small, "--save", path]).returncode)
        tokens = os.path.join(RECORDED, "a", "tokens.npy")
        for arguments, expected in (["--data", missing], f"--data: cannot read '{missing}': No such file or directory"), \
                (["--data", self.folder], f"--data: cannot read '{self.folder}': Is a directory"), \
                (["--data", text], f"--data {text}: expected more than the 9 tokens of a sequence, got 9"), \
                (["--resume", missing], f"--resume {missing}: params_load_npz: load_npz: "), \
                (["--resume", text], f"--resume {text}: params_load_npz: load_npz: "), \
                (["--resume", os.path.join(RECORDED, "a", "weights.npz")], "--resume "), \
                (["--resume", path], "--steps or --stop: expected more than the 2 of the checkpoint, got 2"), \
                (["--resume", path, "--steps", "4", "--width", "16"], f"--resume {path}: params_load_npz: {path}: another model: its config is [1,8,2,26,9,1], expected [1,16,2,26,9,1]"), \
                (["--resume", path, "--steps", "4", "--heads", "4"], f"--resume {path}: params_load_npz: {path}: another model: its config is [1,8,2,26,9,1], expected [1,8,4,26,9,1]"), \
                (["--init", path, "--width", "16"], f"--init {path}: params_load_npz: {path}: tok.weight has another shape: expected [26,16], got [26,8]"), \
                (["--init", path, "--layers", "2"], f"--init {path}: params_load_npz: load_npz: {path}: no entry blocks.1.ln1.weight"), \
                (["--tokens", missing, "--vocab", "61"], f"--tokens {missing}: load_npy: "), \
                (["--tokens", tokens, "--vocab", "61"], f"--tokens {tokens}: expected i64[2,2,10], for --steps, --batch and --seq + 1"), \
                (["--tokens", tokens, "--vocab", "10", "--batch", "6", "--seq", "16"], f"--tokens {tokens}: expected 0 to 9, got "), \
                (["--save", missing], f"--save: cannot write '{missing}': No such file or directory"), \
                (["--svg", missing], f"--svg: cannot write '{missing}': "), (["--trace", missing], f"--trace: cannot write '{missing}': "), \
                (["--save", self.folder], f"--save: cannot write '{self.folder}': Is a directory"), \
                (["--log", self.folder], f"--log: cannot write '{self.folder}': Is a directory"):
            for mesh in "", "dp=2":
                self.check_refused([*small, *arguments], expected, mesh)

    def test_readme_shows_what_the_demo_communicates(self):
        rows = re.compile(r"^(\w+ +[\d.]+ \w+) +[\d.]+ %  (.*)$", re.M)
        result = launch("dp=2,tp=2", ["--steps", "1", "--sample", "0"])
        with open(os.path.join(tool.SOURCE, "README.md"), encoding="utf-8") as file:
            shown = file.read()
        self.assertEqual(rows.findall(result.stdout), rows.findall(shown))
        self.assertIn(result.stdout.splitlines()[0], shown)

    def test_output_of_a_short_run(self):
        data, svg, trace = (os.path.join(self.folder, name) for name in ("text.txt", "loss.svg", "trace.json"))
        with open(data, "w", encoding="utf-8") as file:
            file.write("one two three four five six seven. " * 40)
        arguments = "--layers 1 --width 16 --heads 2 --seq 8 --batch 4 --steps 10 --every 5 --sample 20".split()
        result = launch("dp=2", [*arguments, "--data", data, "--svg", svg, "--trace", trace])
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        self.assertEqual(["1/10", "5/10", "10/10"], re.findall(r"^step +(\S+)", result.stdout, re.M))
        self.assertNotIn("\r", result.stdout)
        for text in "A GPT of 1 layers, width 16, 2 heads and 15 tokens: 3680 parameters in f32, on mesh(dp=2)\n", \
                "A sample of what it writes:", "Loss over 10 steps:", "Communication of a step", "Memory of rank 0":
            self.assertIn(text, result.stdout)
        live = launch("dp=2", [*arguments, "--data", data, "--live"])
        self.assertEqual(10, live.stdout.count("\rstep "))
        with open(svg, encoding="utf-8") as file:
            picture = xml.etree.ElementTree.fromstring(file.read())
        curves = [path.get("d") for path in picture.iter("{http://www.w3.org/2000/svg}path") if path.get("fill") == "none"]
        self.assertEqual([10], [len(re.findall(r"[ML][\d.]+ [\d.]+", curve)) for curve in curves])
        with open(os.path.join(self.folder, "trace.0.json"), encoding="utf-8") as file:
            self.check_trace(json.load(file), "linear")

    def test_any_number_of_ranks_without_a_mesh(self):
        for ranks in 1, 2, 3, 4:
            result = subprocess.run([DTRUN, "-n", str(ranks), GPT, *SMALL, "--steps", "2"], capture_output=True, text=True,
                                    env=tool.environment(), timeout=300)
            self.assertEqual((0, ""), (result.returncode, result.stderr))
            self.assertIn("on one rank\n" if ranks == 1 else f"on mesh(dp={ranks})\n", result.stdout)

    def test_progress_on_a_terminal(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([GPT, *SMALL, "--steps", "3"], stdout=theirs, env=tool.environment())
        os.close(theirs)
        output = b""
        try:
            while chunk := os.read(ours, 65536):
                output += chunk
        except OSError:  # the other end was closed
            pass
        os.close(ours)
        self.assertEqual(0, process.wait(timeout=300))
        self.assertEqual(["1/3", "2/3", "3/3"], re.findall(r"\rstep +(\S+)  loss [\d.]+ +\d+ tokens/s +\d+ s left", output.decode()))

    def check_trace(self, events, name):
        """The JSON array format of trace viewers: durations, and metadata, with their process and thread."""
        self.assertTrue(events)
        for event in events:
            self.assertIn(event["ph"], ("X", "B", "E", "M", "i"), event)
            self.assertTrue(isinstance(event["pid"], int) and isinstance(event.get("tid", 0), int), event)
            if event["ph"] != "M":
                self.assertGreaterEqual(event["ts"], 0)
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
        self.assertTrue(any(name in event.get("name", "") for event in events), name)


if __name__ == "__main__":
    unittest.main()
