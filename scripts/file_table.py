#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of files of src/: one line per name, from the first sentence of the head comment of its header, or else of its
source. Writes it to docs/files.md; --check compares instead, and exits with 1 if they differ."""
import collections
import pathlib
import re
import sys

import tree

PAGE = "docs/files.md"
HEAD = re.compile(r"/\* SPDX[^\n]*\n \*\n(.*?)\*/", re.S)
INTRODUCTION = """# Files

Where things are in `src/`, folder by folder in the order of their list in [architecture.md](architecture.md), which also
follows a matmul through the files. `x.h` of folder `x` is its interface to other folders, and the folder's own page
explains how it works. Generated from the head comments by `scripts/file_table.py`.
"""


def first_sentence(text):
    """The first sentence of a file's head comment, on one line; "" without one."""
    head = HEAD.match(text)
    paragraph = re.split(r"^ \*(?:\s*$|    )", head.group(1), maxsplit=1, flags=re.M)[0] if head else ""
    words = " ".join(re.sub(r"^ \* ?", "", paragraph, flags=re.M).split()).replace("|", "\\|")
    end = re.search(r"[.:](?= [A-Z`(]|$)", words)
    return words[:end.start()] + "." if end else words


def folders():
    return re.findall(r"^    src/(\w+)/\s+(.*)", (tree.ROOT / "docs/architecture.md").read_text(), re.M)


def table():
    files = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in tree.files(".c", ".h"):
        if name.parts[0] == "src":
            files[name.parts[1]][name.stem].append(name)
    lines = [INTRODUCTION]
    for folder, purpose in folders():
        lines += [f"## src/{folder}", "", f"{purpose[0].upper()}{purpose[1:]} ([page](../src/{folder}/README.md)).", "", "| file | |", "|---|---|"]
        for stem, names in sorted(files.pop(folder, {}).items(), key=lambda item: (item[0] != folder, item[0])):
            endings = ", ".join(f"`{name.name}`" for name in sorted(names, reverse=True))
            texts = [first_sentence((tree.ROOT / name).read_text()) for name in sorted(names, reverse=True)]
            lines.append(f"| {endings} | {next((text for text in texts if text), '')} |".replace("  ", " "))
        lines.append("")
    assert not files, f"docs/architecture.md does not list {sorted(files)}"
    return "\n".join(lines)


def main():
    if sys.argv[1:] == ["--check"]:
        if (tree.ROOT / PAGE).read_text() != table():
            sys.exit(f"{PAGE} is out of date: run scripts/file_table.py")
    elif len(sys.argv) == 1:
        (tree.ROOT / PAGE).write_text(table())
    else:
        sys.exit("usage: file_table.py [--check]")


if __name__ == "__main__":
    main()
