# SPDX-License-Identifier: Apache-2.0
"""The blocks of code, commands and text in comments of headers, Markdown pages and man pages.

A block has a kind: "c", "cpp", "sh", "json" or "text". In Markdown it is the word after the fence; a path after it
("c src/plan/plan.h") makes the block a quotation of that file. A fence without a word, and an indented paragraph, are
text. In comments and man pages the kind follows from the first line.
"""
import pathlib
import re
from typing import NamedTuple


class Block(NamedTuple):
    kind: str
    line: int  # of its first line in the document
    text: str
    quotes: str = ""  # the file that it is quoted from


CODE_START = re.compile(r"#include|static |struct |typedef |const |int main|dt_\w+ ?[(*]|dt_\w+ \*|double |char |if \(|"
                        r"dt_\w+ \w+ =|for \(|return |printf\(")
SHELL_START = re.compile(r"\$ |(dtensor|dtrun|cc|c\+\+) ")


def kind_of(text):
    if SHELL_START.match(text):
        return "sh"
    if text.startswith('{"'):
        return "json"
    if CODE_START.match(text):
        return "cpp" if "dtensor.hpp" in text else "c"
    return "text"


def markdown_blocks(text):
    blocks, lines, at = [], text.splitlines(), 0
    while at < len(lines):
        start = at
        if fence := re.match(r"( *)```(\w*) ?(\S*)$", lines[at]):
            at += 1
            while at < len(lines) and lines[at] != fence[1] + "```":
                at += 1
            inside = "\n".join(line[len(fence[1]):] for line in lines[start + 1:at]) + "\n"
            blocks.append(Block(fence[2] or "text", start + 2, inside, fence[3]))
        elif lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            while at < len(lines) and lines[at].startswith("    "):
                at += 1
            blocks.append(Block("text", start + 1, "\n".join(line[4:] for line in lines[start:at]) + "\n"))
        at += 1
    return blocks


def comment_blocks(text):
    """Lines of comments that are indented by four more, and empty ones between them; commands begin another block."""
    blocks, lines = [], []
    inside = False
    for number, line in enumerate(text.splitlines() + [""], 1):
        if inside and (found := re.match(r" \*     (.*)", line)) and "*/" not in line:
            lines.append(found[1])
            continue
        if lines and line == " *":
            lines.append("")
            continue
        if lines:
            start = number - len(lines)
            for block in re.split(r"\n\n(?=\$ )", "\n".join(lines).rstrip("\n")):
                blocks.append(Block(kind_of(block.lstrip()), start, block + "\n"))
                start += block.count("\n") + 2
            lines = []
        inside = ("/*" in line or inside) and "*/" not in line
    return blocks


def unescape(text):
    return text.replace("\\e", "\\").replace("\\(dq", '"').replace("\\&", "").replace("\\-", "-")


def man_blocks(text):
    blocks, lines, start = [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(".Bd -literal"):
            lines, start = [], number + 1
        elif line == ".Ed" and lines is not None:
            block = unescape("\n".join(lines) + "\n")
            blocks.append(Block(kind_of(block), start, block))
            lines = None
        elif lines is not None:
            lines.append(line)
        elif line.startswith(".Dl "):
            block = unescape(line[4:] + "\n")
            blocks.append(Block(kind_of(block), number, block))
    return blocks


def blocks_of(name, text):
    if name.endswith(".md"):
        return markdown_blocks(text)
    if re.search(r"\.[1-9]$", name):
        return man_blocks(text)
    return comment_blocks(text)


def documents(root):
    """The documents of the project, with their texts."""
    root = pathlib.Path(root)
    names = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("src/**/*.md"), *root.glob("include/dtensor/*.h*"), *root.glob("man/*.[1-9]"),
             *root.glob("examples/*.c*")]
    return {str(path.relative_to(root)): path.read_text() for path in sorted(names)}
