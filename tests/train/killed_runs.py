# SPDX-License-Identifier: Apache-2.0
"""Kills ranks of a training run (prog_run.c) under dtrun --restarts, at random moments, saves included. The run ends, its losses
are those of a run that nothing disturbed, to the bit, and every folder with the name of a checkpoint is complete."""
import os
import pathlib
import random
import shutil
import signal
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "dtrun"))
import launch  # noqa: E402
from seed import test_seed  # noqa: E402

PROGRAM = str(launch.BUILD / "tests" / "train.run")


def make_folder(name):
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"dtensor_{name}_"))
    tokens = random.Random(test_seed(3))
    (folder / "tokens.bin").write_bytes(struct.pack("<2000H", *(tokens.randrange(61) for _ in range(2000))))
    return folder


def losses(folder):
    """All bits of each step's loss, as a set, because steps after a checkpoint are made again."""
    found = {}
    path = folder / "losses"
    for line in path.read_text().splitlines() if path.exists() else []:
        words = line.split()
        if len(words) == 2:  # a rank may be killed while it writes
            found.setdefault(int(words[0]), set()).add(words[1])
    return found


def contents(folder):
    """The bytes of all checkpoints by step and file."""
    return {step.name: {path.name: path.read_bytes() for path in sorted(step.iterdir())}
            for step in sorted((folder / "run").glob("step-*"))}


class Killer:
    """A disturbed run of n ranks next to an undisturbed one."""

    def __init__(self, n, steps, pause, seed):
        self.n, self.steps, self.pause, self.random = n, steps, pause, random.Random(test_seed(seed))
        self.expected_folder, self.folder = make_folder("quiet"), make_folder("killed")

    def free(self):
        for folder in (self.expected_folder, self.folder):
            shutil.rmtree(folder, ignore_errors=True)

    def check_folders(self, expected):
        for step, files in contents(self.folder).items():
            if files != expected[step]:
                return f"{step} differs: {sorted(files)}, expected {sorted(expected[step])}"
        return None

    def kill_one(self, running):
        """Kills a rank; whether there was one."""
        ranks = [pid for pid in running.roles()["others"]]
        if not ranks:
            return False
        try:
            os.kill(self.random.choice(ranks), signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def run(self, n_kills):
        """What is wrong, and how many ranks were killed."""
        code, _, err = launch.Launch("-n", self.n, PROGRAM, self.expected_folder, self.steps).end(seconds=120)
        if code:
            return f"undisturbed: exit code {code}: {err}", 0
        expected = contents(self.expected_folder)
        running = launch.Launch("-n", self.n, "--restarts", 10 * n_kills + 10, PROGRAM, self.folder, self.steps, self.pause)
        killed = 0
        try:
            while killed < n_kills and running.process.poll() is None:
                launch.wait_until(lambda: len(running.roles()["others"]) >= self.n or running.process.poll() is not None)
                # With pauses the run is long, and most launches last a second, so that dtrun does not wait for the next one.
                time.sleep(self.random.random() * 0.3 + (1 if self.pause and self.random.random() < 0.8 else 0))
                killed += self.kill_one(running)
                wrong = self.check_folders(expected)
                if wrong:
                    return f"after {killed} kills: {wrong}", killed
            code, _, err = running.end(seconds=120)
        finally:
            running.destroy()
        if code:
            return f"exit code {code}: {err}", killed
        if contents(self.folder) != expected:
            return "the checkpoints are not those of the undisturbed run", killed
        if losses(self.folder) != losses(self.expected_folder):
            return "the losses are not those of the undisturbed run", killed
        parts = [path.name for path in (self.folder / "run").iterdir() if not path.name.startswith("step-")]
        return (f"left: {parts}" if parts else None), killed


def check(n, steps, pause, n_kills, seed):
    killer = Killer(n, steps, pause, seed)
    try:
        wrong, killed = killer.run(n_kills)
    finally:
        killer.free()
    print(f"{n} ranks, seed {seed}: {killed} kills: {wrong or 'ok'}", flush=True)
    return (1 if wrong else 0), killed
