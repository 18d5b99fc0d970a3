# SPDX-License-Identifier: Apache-2.0
"""Every source has its license, and no file has a path of a particular machine."""
import re
import sys

import tree

LICENSED = (".c", ".h", ".cpp", ".py", ".sh", ".bash", ".cmake", ".map", ".1", ".3", ".7", "CMakeLists.txt", "Makefile", "run")
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(work|root|home|Users)\b(?!-)")


def complaints(name, text):
    if name.endswith(LICENSED) and "SPDX-License-Identifier: Apache-2.0" not in "\n".join(text.split("\n")[:3]):
        yield "1: has no SPDX line at its top"
    for number, line in enumerate(text.split("\n"), 1):
        if MACHINE_PATH.search(line):
            yield f"{number}: has a path of one machine: {line.strip()}"


def test_the_checker():
    license = "/* SPDX-License-Identifier: Apache-2.0 */\n"
    assert not list(complaints("a.c", license + "x = a/root; b = ../work; // https://x.org/home"))
    assert len(list(complaints("a.c", "int x;\n"))) == 1
    assert not list(complaints("a.md", "text\n"))
    for folder in ("work", "root", "home"):
        assert len(list(complaints("a.c", license + f'open("/{folder}/x")'))) == 1


def main():
    test_the_checker()
    wrong = []
    for name in tree.files():
        data = (tree.ROOT / name).read_bytes()
        if b"\0" not in data:
            wrong += [f"{name}:{complaint}" for complaint in complaints(name.name, data.decode())]
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
