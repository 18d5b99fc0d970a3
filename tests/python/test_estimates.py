# SPDX-License-Identifier: Apache-2.0
"""A program in Python is estimated as it is: memory, collectives and bytes of every rank, by line of the program, are those of a run, and the
values that it reads are listed with their lines."""
import json
import pathlib
import subprocess
import sys

import python_tests

FILE = __file__
BIN = python_tests.BUILD / "bin"
PROGRAM = """\
import numpy as np
import dtensor as dt

mesh = dt.init_device_mesh("cpu", (-1,), mesh_dim_names=("dp",))
x = dt.distribute_tensor(np.ones((7, 10), np.float32), mesh, [dt.Shard(0)])
w = dt.distribute_tensor(np.ones((10, 5), np.float32), mesh, [dt.Shard(1)])
w.requires_grad = True
y = (x @ w).relu()
loss = y.sum()
loss.backward()
value = loss.item()
full = np.asarray(y.full_tensor())
"""


def line_of(text):
    return 1 + next(i for i, line in enumerate(PROGRAM.splitlines()) if text in line)


def test_estimates_are_equal_to_runs(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def reports(*command, **variables):
        done = subprocess.run([*map(str, command), sys.executable, str(program)], capture_output=True, text=True, timeout=100,
                              env=python_tests.environment(DTENSOR_THREADS="1", **variables))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    reports(BIN / "dtrun", "-n", "3", DTENSOR_REPORT=str(tmp_path / "real.json"))
    answer = json.loads(reports(BIN / "dtensor", "estimate", "--ranks", "3", "--threads", "1", "--json", "--"))
    estimates = {rank: run["report"] for run in answer["classes"] for rank in run["run"]}
    assert sorted(estimates) == [0, 1, 2]
    for rank in range(3):
        real = json.loads(pathlib.Path(tmp_path / f"real.{rank}.json").read_text())
        assert real["memory"] == estimates[rank]["memory"]
        assert real["memory"]["all"]["peak"] > 0
        lines = [[{**line, "us": 0} for line in report["communication"]] for report in (real, estimates[rank])]
        assert lines[0] == lines[1]
        places = {(pathlib.Path(line["file"]).name, line["line"]) for line in lines[0] if line["bytes"]}
        assert {("program.py", line_of("x @ w")), ("program.py", line_of("y.full_tensor()"))} <= places
        stand_ins = {(note["what"], note["line"]) for note in estimates[rank]["stand_ins"]}
        assert {("item", line_of("loss.item()")), ("data", line_of("y.full_tensor()"))} <= stand_ins
        assert {block["line"] for block in estimates[rank]["largest"]} >= {line_of("x = "), line_of("x @ w")}


if __name__ == "__main__":
    python_tests.main(FILE)
