# SPDX-License-Identifier: Apache-2.0
"""Runs examples/10_gpt for the tests of this folder, alone and on meshes."""
import json
import os
import re
import subprocess
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


class GptTest(unittest.TestCase):
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
