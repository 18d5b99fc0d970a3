# SPDX-License-Identifier: Apache-2.0
"""The blocks of Python in README and docs run, those of a page one after the other, on four ranks."""
import pathlib
import re
import subprocess
import sys

import python_tests
import pytest

FILE = __file__
SOURCE = pathlib.Path(__file__).resolve().parents[2]


def pages():
    for path in [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]:
        blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S)
        if blocks:
            yield pytest.param("\n".join(blocks), id=path.name)


@pytest.mark.parametrize("program", pages())
def test_blocks_run(program, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(program if "import dtensor" in program else "import dtensor as dt\n" + program)
    command = [str(python_tests.BUILD / "bin" / "dtrun"), "-n", "4", sys.executable, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=python_tests.environment())
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    python_tests.main(FILE)
