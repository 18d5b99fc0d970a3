# SPDX-License-Identifier: Apache-2.0
"""The programs that the documents show are compiled and run, and print what the documents say.

A document holds one program, in one or several pieces, and sessions: "$ dtrun -n 4 ./name" followed by what it prints.
Lines of several ranks may come in any order.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tree

BUILD = pathlib.Path(os.environ["DTENSOR_BUILD"])


def markdown_blocks(text):
    return [block for block in re.findall(r"^```\w*\n(.*?)^```$", text, re.M | re.S)]


def comment_blocks(text):
    """Paragraphs of the first comment that are indented by four more."""
    head = text[:text.index("*/")]
    paragraphs = re.split(r"\n \*\n", head)
    blocks = [re.sub(r"^ \*     ?", "", part, flags=re.M) + "\n" for part in paragraphs if part.startswith(" *     ")]
    return blocks


def man_blocks(text):
    blocks = re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", text, re.M | re.S)
    return [block.replace("\\e", "\\") for block in blocks]


DOCUMENTS = {
    "README.md": markdown_blocks,
    "include/dtensor/dtensor.h": comment_blocks,
    "man/dtensor.7": man_blocks,
}


def sessions(blocks):
    """(arguments of dtrun, lines that it prints) of every session in the blocks."""
    for block in blocks:
        for command, output in re.findall(r"^\$ (.*)\n((?:[^$\n].*\n)*)", block, re.M):
            if found := re.match(r"dtrun (.*) \./\w+", command):
                yield found[1].split(), output.splitlines()


def run(command, cwd):
    result = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return result.returncode, result.stdout


def check(name, blocks, folder):
    code = "\n".join(block for block in blocks if not block.startswith("$") and not block.startswith("make "))
    (folder / "program.c").write_text(code)
    status, output = run(["cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{tree.ROOT}/include",
                          "program.c", "-o", "program", f"-L{BUILD}/lib", "-ldtensor", f"-Wl,-rpath,{BUILD}/lib"], folder)
    if status:
        return [f"{name}: its program does not compile:\n{output}"]
    wrong = []
    for arguments, lines in sessions(blocks):
        status, output = run([BUILD / "bin/dtrun", *arguments, "./program"], folder)
        if status or sorted(output.splitlines()) != sorted(lines):
            wrong.append(f"{name}: dtrun {' '.join(arguments)} ended with {status} and printed\n{output}")
    return wrong


def main():
    wrong = []
    for name, blocks_of in DOCUMENTS.items():
        blocks = blocks_of((tree.ROOT / name).read_text())
        if not any("int main" in block for block in blocks) or not list(sessions(blocks)):
            wrong.append(f"{name}: there is no program or no session in it")
            continue
        with tempfile.TemporaryDirectory() as folder:
            wrong += check(name, blocks, pathlib.Path(folder))
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
