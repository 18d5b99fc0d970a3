# SPDX-License-Identifier: Apache-2.0
"""The archive of a release: it has all files, the same bytes each time, and its checks of form pass without a repository.
tests/project/test_dist_build.sh builds, tests and installs it."""
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import make_dist
import tree

CHECKS = ("test_tree.py", "test_pages.py", "test_names.py")


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first, second = make_dist.write(folder / "first"), make_dist.write(folder / "second")
        if first.read_bytes() != second.read_bytes():
            wrong.append("two archives of the same files differ")
        top = first.name.removesuffix(".tar.gz")
        with tarfile.open(first) as archive:
            found = sorted(archive.getnames())
            archive.extractall(folder)
        expected = sorted(f"{top}/{path}" for path in tree.files(exempt=()))
        wrong += [f"{path}: is missing in the archive" for path in expected if path not in set(found)]
        wrong += [f"{path}: is no file of the project" for path in found if path not in set(expected)]
        root = folder / top
        environment = {**os.environ, "PYTHONPATH": f"{root}/scripts:{root}/tests/project", "DTENSOR_SOURCE": str(root),
                       "GIT_CEILING_DIRECTORIES": name}
        for check in CHECKS:
            run = subprocess.run([sys.executable, root / "tests/project" / check], cwd=root, env=environment, capture_output=True, text=True)
            if run.returncode:
                wrong.append(f"{check} fails without a repository:\n{run.stdout}{run.stderr}")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
