# SPDX-License-Identifier: Apache-2.0
"""The types of the package, and of a program that uses it, pass mypy --strict, and the stubs stubtest."""
import subprocess
import sys

import python_tests
import pytest

FILE = __file__
PROGRAM = """
import dtensor as dt

mesh = dt.init_device_mesh("cpu", (1, -1), mesh_dim_names=("dp", "tp"))
x = dt.randn(8, 4, device_mesh=mesh, placements=[dt.Shard(0), dt.Replicate()])
w: dt.DTensor = dt.ones(4, 6, device_mesh=mesh, placements="R,S(1)", requires_grad=True)
y = (x @ w).relu().sum(dim=-1)
y.sum().backward()
gradient = w.grad
assert gradient is not None
sizes: tuple[int, ...] = gradient.shape
largest: dt.DTensor = y.max(dim=0).values
z = 2 * x + x.view(2, 16).view(8, 4) - dt.zeros(8, 4, dtype=dt.float32, device_mesh=mesh)
params = dt.Params(device_mesh=mesh)
optimizer = dt.AdamW(params, lr=1e-3)
with dt.no_grad(), dt.block():
    both = dt.cat([x, z], dim=0)
"""
WRONG = PROGRAM + "dt.relu(3)\ny.sum(dim='a')\n"


def mypy_options():
    """Stubs ignore errors that only some versions find. Versions before 1.4 have no way to permit that in the stubs."""
    done = subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("there is no mypy")
    version = tuple(int(number) for number in done.stdout.split()[1].split("+")[0].split(".")[:2])
    return ["--strict", *(["--no-warn-unused-ignores"] if version < (1, 4) else [])]


@pytest.mark.parametrize("program, errors", [(PROGRAM, 0), (WRONG, 2)])
def test_types(program, errors, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(program)
    command = [sys.executable, "-m", "mypy", *mypy_options(), "--cache-dir", str(tmp_path / "cache"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path,
                          env=python_tests.environment(MYPYPATH=str(python_tests.PACKAGE), PYTHONPATH=""))
    found = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(found) == errors, done.stdout + done.stderr


def test_stubs_are_those_of_the_extension():
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "dtensor._dtensor", "--concise"], capture_output=True, text=True,
                          env=python_tests.environment(MYPYPATH=str(python_tests.PACKAGE)))
    if "No module named" in done.stderr:
        pytest.skip("there is no stubtest")
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    python_tests.main(FILE)
