# SPDX-License-Identifier: Apache-2.0
"""examples/10_gpt trains: the recorded runs of PyTorch in tests/golden/gpt, alone and on meshes; the same loss curve on every mesh;
checkpoints; bf16."""
import os
import subprocess
import sys
import unittest

import tool
from gpt import DTRUN, GPT, RECORDED, GptTest, ranks_of


class Training(GptTest):
    def check_recorded(self, mesh, dtype, *extra, names="abe"):
        run = f"{DTRUN} -n {ranks_of(mesh)}" if mesh else ""
        folders = [os.path.join(RECORDED, name) for name in names]
        command = [sys.executable, os.path.join(RECORDED, "check_gpt.py"), GPT, *folders, "--run", run, "--mesh", mesh,
                   "--dtype", dtype, "--extra=" + " ".join(extra)]
        result = subprocess.run(command, capture_output=True, text=True, env=tool.environment(), timeout=600)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        self.assertEqual(len(folders), result.stdout.count(": ok"))

    def test_recorded_runs_are_reproduced(self):
        # In b neither 5 sequences, 3 heads, 50 tokens nor 9 positions divide by 2; on dp=6 and dp=2,fsdp=3 a rank has no sequence.
        for mesh in "", "dp=2", "tp=2", "fsdp=2", "dp=2,tp=2", "tp=3", "fsdp=2,tp=2", "dp=6", "dp=2,fsdp=3":
            with self.subTest(mesh):
                self.check_recorded(mesh, "f64", "--comm-policy", "error")
        for mesh in "tp=2", "dp=2,tp=2":
            with self.subTest(f"{mesh}, sequence parallel"):
                self.check_recorded(mesh, "f64", "--sequence-parallel", "--comm-policy", "error")
        for mesh in "", "dp=2,tp=2":
            with self.subTest(f"{mesh} f32"):
                self.check_recorded(mesh, "f32")

    def test_pipelines_reproduce_recorded_runs(self):
        # Every schedule on every mesh. a has 4 units, b, whose output layer is not tied, 3 and e 10: a schedule with two stages per rank of
        # pp=4 has 8. Batches of 5, 6 and 8 in 3 micro-batches are uneven, but for 6.
        for ranks, meshes in (2, ("pp=2", "pp=2,dp=2", "pp=2,fsdp=2")), (3, ("pp=3,tp=2",)), (4, ("pp=4",)):
            for schedule in "gpipe", "1f1b", "zb-h1", "interleaved", "zb-v", "dualpipe-v":
                stages = ranks if schedule in ("gpipe", "1f1b", "zb-h1") else 2 * ranks
                for mesh in meshes:
                    with self.subTest(f"{schedule} on {mesh}"):
                        self.check_recorded(mesh, "f64", "--schedule", schedule, "--micro", "3", "--comm-policy", "error",
                                            names="b" if stages <= 3 else "a" if stages <= 4 else "e")
        for mesh, micro, names in ("pp=2", 3, "ae"), ("pp=3,tp=2", 4, "a"), ("pp=4", 8, "e"):
            self.check_recorded(mesh, "f64", "--schedule", "zb-h1", "--micro", str(micro), "--comm-policy", "error", names=names)
        self.check_recorded("pp=2", "f32")

    def test_untied_pipelines_of_every_schedule(self):
        options = ["--tied", "0", "--dropout", "0", "--micro", "5"]
        expected, _ = self.train("", *options[:4])
        for mesh, schedule in ("pp=2", "zb-v"), ("pp=2,dp=2", "dualpipe-v"), ("pp=2,tp=2", "interleaved"), ("pp=3", "zb-h1"):
            with self.subTest(f"{schedule} on {mesh}"):
                got, _ = self.train(mesh, *options, "--schedule", schedule)
                self.assertLess(max(abs(a["loss"] - b["loss"]) for a, b in zip(expected, got)), 1e-4)

    def test_dropout_of_pipelines_depends_on_stage_and_micro_batch_only(self):
        expected, _ = self.train("pp=2", "--schedule", "interleaved")
        self.assertLess(expected[-1]["loss"], expected[0]["loss"] - 0.5)
        for mesh, schedule in ("pp=2,dp=2", "interleaved"), ("pp=2", "zb-v"), ("pp=2,tp=2", "dualpipe-v"):
            with self.subTest(f"{schedule} on {mesh}"):
                got, _ = self.train(mesh, "--schedule", schedule)
                self.assertLess(max(abs(a["loss"] - b["loss"]) for a, b in zip(expected, got)), 1e-4)

    def test_loss_curve_is_the_same_on_every_mesh(self):
        expected, _ = self.train("")
        self.assertEqual(20, len(expected))
        self.assertLess(expected[-1]["loss"], expected[0]["loss"] - 0.5)
        for mesh in ("dp=2", "dp=3", "dp=4", "dp=5", "dp=6", "tp=2", "tp=3", "tp=4", "tp=5", "tp=6", "fsdp=2", "fsdp=3", "fsdp=4", "fsdp=5",
                     "fsdp=6", "dp=2,tp=2", "dp=2,tp=3", "dp=3,tp=2", "fsdp=2,tp=2", "fsdp=2,tp=3", "fsdp=3,tp=2", "dp=2,fsdp=2", "dp=2,fsdp=3",
                     "tp=2 --sequence-parallel", "tp=3 --sequence-parallel", "dp=2,tp=2 --sequence-parallel", "fsdp=2,tp=3 --sequence-parallel"):
            with self.subTest(mesh):
                got, _ = self.train(*mesh.split())
                self.assertEqual(20, len(got))
                self.assertLess(max(abs(a["loss"] - b["loss"]) for a, b in zip(expected, got)), 1e-4)

    def test_a_checkpoint_continues(self):
        path = os.path.join(self.folder, "checkpoint.npz")
        for mesh, to in ("", "tp=2"), ("dp=2,tp=2", "pp=2"), ("fsdp=3", "tp=2"), ("pp=2", "dp=2"):
            with self.subTest(mesh):
                dropout = ["--dropout", "0"] if "pp" in mesh + to else []  # drawn by stage and micro-batch in pipelines
                expected, _ = self.train(mesh, *dropout)
                first, _ = self.train(mesh, *dropout, "--stop", "8", "--save", path)
                rest, _ = self.train(mesh, *dropout, "--resume", path)
                self.assertEqual(expected, first + rest)
                other, _ = self.train(to, *dropout, "--resume", path)
                self.assertEqual(12, len(other))
                self.assertLess(max(abs(a["loss"] - b["loss"]) for a, b in zip(expected[8:], other)), 1e-4)

    def test_checkpoints_of_blocks_compute_the_same(self):
        for mesh in "", "fsdp=2,tp=2", "pp=2":
            with self.subTest(mesh):
                expected, _ = self.train(mesh)
                self.assertEqual(expected, self.train(mesh, "--checkpoint")[0])
        self.check_recorded("dp=2,tp=2", "f64", "--checkpoint", "--comm-policy", "error", names="b")

    def test_bf16_computes_nearly_the_same(self):
        expected, _ = self.train("")
        for mesh in "", "dp=2,tp=2", "fsdp=3":
            with self.subTest(mesh):
                got, _ = self.train(mesh, "--dtype", "bf16", "--comm-policy", "error")
                difference = max(abs(a["loss"] - b["loss"]) for a, b in zip(expected, got))
                self.assertTrue(0 < difference < 0.05, difference)


if __name__ == "__main__":
    unittest.main()
