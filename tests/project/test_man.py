# SPDX-License-Identifier: Apache-2.0
"""The man pages are well formed, and dtensor(7) tells of every environment variable that the library or a tool reads."""
import re
import shutil
import subprocess
import sys

import tree


def main():
    pages = [name for name in tree.files(".1", ".3", ".7") if name.parts[0] == "man"]
    overview = (tree.ROOT / "man/dtensor.7").read_text()
    read = {name for source in tree.files(*tree.CODE) if source.parts[0] in ("src", "tools")
            for name in re.findall(r'getenv\("(\w+)"\)', (tree.ROOT / source).read_text())}
    wrong = [f"man/dtensor.7 does not tell of {name}" for name in sorted(read) if f".It Ev {name}\n" not in overview]
    if "DTENSOR_LOG" not in read:
        wrong.append("DTENSOR_LOG is not found in the sources: this test does not see what it should")
    if shutil.which("mandoc"):
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *map(str, pages)], cwd=tree.ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wrong += lint.stdout.splitlines()
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
