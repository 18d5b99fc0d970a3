# SPDX-License-Identifier: Apache-2.0
"""Runs a test of the Python package with pytest, against the package of the build, or its functions as ranks.

A test file imports this module before the package and pytest, which skips it where either is missing, and ends with
`python_tests.main(__file__)`.
"""
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(os.environ.get("DTENSOR_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))
PACKAGE = BUILD / "python"
sys.path.insert(0, str(PACKAGE))


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


if not (PACKAGE / "dtensor" / "_dtensor.abi3.so").exists():
    skip("the Python package was not built: it needs python3-dev, and Python 3.11 or later")
try:
    import pytest
except ImportError:
    skip("there is no pytest")


def environment(**more):
    paths = os.pathsep.join([str(PACKAGE), str(pathlib.Path(__file__).parent)])
    return {**os.environ, "PYTHONPATH": paths, "DTENSOR_TIMEOUT": "60", **more}


def run_ranks(n, file, function, arguments=()):
    """Runs a function of the file on n ranks, each a process; fails with their output."""
    command = [str(BUILD / "bin" / "dtrun"), "-n", str(n), sys.executable, file, "--rank", function, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def main(file):
    module = sys.modules["__main__"]
    if sys.argv[1:2] == ["--rank"]:
        getattr(module, sys.argv[2])()
        return
    sys.exit(pytest.main([file, "-q", "-x", "-p", "no:cacheprovider", "--tb=short"]))
