# SPDX-License-Identifier: Apache-2.0
"""A set-uid program does not read the variables with which its caller could make it load code or open files."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import launch

NOBODY = 65534


def start(program, trace):
    """The exit code and the standard error of a program with variables that would fail or leave a file."""
    environment = {"DTENSOR_TRACE": str(trace), "DTENSOR_TRANSPORT": "mpi", "DTENSOR_MPI": "/nonexistent/module.so",
                   "DTENSOR_MACHINE": "/nonexistent/machine", "DTENSOR_LAUNCH": "no launch"}
    ended = subprocess.run([program, "clear"], env=environment, capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stderr


def main():
    if os.getuid() != 0:
        print("skipped: making a set-uid program needs root")
        return 77
    if launch.IS_SANITIZED:
        print("skipped: the leak sanitizer traces the process, which a set-uid program refuses")
        return 77
    with tempfile.TemporaryDirectory(dir=launch.BUILD) as folder:
        program, trace = pathlib.Path(folder, "reports"), pathlib.Path(folder, "trace")
        shutil.copy(launch.BUILD / "tests/dtrun.reports", program)
        os.chmod(folder, 0o777)
        code, text = start(program, trace)
        if code == 0:
            print("the variables have no effect at all: this test checks nothing")
            return 1
        os.chown(program, NOBODY, NOBODY)
        os.chmod(program, 0o4755)
        if subprocess.run(["findmnt", "-no", "OPTIONS", "-T", folder], capture_output=True, text=True).stdout.find("nosuid") >= 0:
            print("skipped: the file system ignores set-uid bits")
            return 77
        code, text = start(program, trace)
        if code != 0 or trace.exists():
            print(f"expected 0 and no trace, got {code}: {text}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
