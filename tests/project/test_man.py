# SPDX-License-Identifier: Apache-2.0
"""The man pages are well formed, and dtensor(7) documents every environment variable that the library or a tool reads."""
import re
import shutil
import subprocess
import sys

import tree


def main():
    pages = [name for name in tree.files(".1", ".3", ".7") if name.parts[0] == "man"]
    overview = (tree.ROOT / "man/dtensor.7").read_text()
    code = "".join((tree.ROOT / name).read_text() for name in tree.files(*tree.CODE) if name.parts[0] in ("src", "tools"))
    ours = set(re.findall(r'"(DTENSOR_[A-Z_]+)"', code))
    wrong = [f"man/dtensor.7 does not document {name}" for name in sorted(ours) if f".It Ev {name}\n" not in overview]
    every_page = "".join((tree.ROOT / name).read_text() for name in pages)
    wrong += [f"no man page documents {name}" for name in sorted(set(re.findall(r'getenv\("(\w+)"\)', code)))
              if f"Ev {name}" not in every_page]
    if "DTENSOR_LOG" not in ours:
        wrong.append("DTENSOR_LOG is not found in the sources: this test does not see what it should")
    if shutil.which("mandoc"):
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *map(str, pages)], cwd=tree.ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wrong += lint.stdout.splitlines()
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
