# SPDX-License-Identifier: Apache-2.0
"""`make format` on a copy of the project, in which code is badly formatted and generated files are out of date, restores it."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import lint
import tree


def run(folder, *command, path=None):
    environment = {**os.environ, **({"PATH": path} if path else {})}
    environment.pop("MAKEFLAGS", None)
    result = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


def spoil(copy):
    """Returns the files that it changed."""
    code = ["src/base/arena.c", "src/base/hash.h", "include/dtensor/dtensor.hpp", "tests/project/consumer/consumer.cpp"]
    for name in code:
        path = copy / name
        text = path.read_text()
        path.write_text(text.replace("\n    return ", "\n  return  "))
        assert path.read_text() != text, name
    generated = ["docs/files.md", "include/dtensor/ops.h", "include/dtensor/calls.hpp"]
    for name in generated:
        lines = (copy / name).read_text().splitlines(keepends=True)
        (copy / name).write_text("".join(lines[:-3] + lines[-2:]))
    return code + generated


def main():
    try:
        lint.find_tool("clang-format", lint.LLVM)
    except lint.Skip as reason:
        print(f"skipped: {reason}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "copy"
        for name in tree.files():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tree.ROOT / name, copy / name)
        names = spoil(copy)
        small = pathlib.Path(folder) / "small"
        for name in ("scripts/lint.py", "scripts/tree.py", ".clang-format", "src/base/arena.c", "include/dtensor/dtensor.hpp"):
            (small / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(copy / name, small / name)
        status, output = run(small, "scripts/lint.py", "format")
        assert status == 1 and "src/base/arena.c" in output and "dtensor.hpp" in output, output
        assert run(small, "scripts/lint.py", "--fix") == (0, "")
        status, output = run(small, "scripts/lint.py", "format")
        assert status == 0, output
        status, output = run(copy, "make", "format")
        assert status == 0, output
        for name in names:
            assert (copy / name).read_text() == (tree.ROOT / name).read_text(), f"make format did not restore {name}"
        # Where the formatter is missing, that is what it prints.
        bin_folder = pathlib.Path(folder) / "bin"
        bin_folder.mkdir()
        (bin_folder / "python3").symlink_to(sys.executable)
        for tool in ("env", "git"):
            if shutil.which(tool):
                (bin_folder / tool).symlink_to(shutil.which(tool))
        status, output = run(small, "scripts/lint.py", "--fix", path=str(bin_folder))
        assert status == 1 and output == "format: cannot format: there is no clang-format of version 14\n", (status, output)
    return 0


sys.exit(main())
