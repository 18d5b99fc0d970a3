# SPDX-License-Identifier: Apache-2.0
"""The declarations of the public headers, for the other tests in this folder."""
import pathlib
import re

import tree


def public_headers():
    return [name for name in tree.files(".h") if name.parts[0] == "include"]


def table(page, title):
    """The rows of the page's table of folders with this title: (folder, the names in its second column)."""
    rows = re.search(rf"^\| folder \| {title} \|\n\|---\|---\|\n((?:\|.*\n?)+)", page, re.M)[1]
    return [(folder, re.findall(r"`([\w.]+)`", names)) for folder, names in re.findall(r"^\| `(\w+)` \| (.*) \|$", rows, re.M)]


def folder_of(header, page):
    """The folder of src/ to which a public header belongs, by src/README.md: dtensor/op.h, or its path."""
    header = pathlib.PurePath(header)
    return next((folder for folder, names in table(page, "its other public headers") if header.name in names), header.stem)


def exported_functions(text):
    """(line, name, comment) of each function that is declared DT_API; the comment is the nearest one above it in the
    same paragraph, or ""."""
    text = re.sub(r"\\\n", " \n", text)
    tokens = re.compile(r"(?P<comment>/\*.*?\*/)|(?P<gap>\n[ \t]*\n)|(?P<directive>^[ \t]*#[^\n]*)"
                        r"|\bDT_API\b[^;(]*?\b(?P<name>\w+)\s*\(", re.S | re.M)
    comment = ""
    for token in tokens.finditer(text):
        if token["comment"]:
            comment = token["comment"]
        elif token["gap"]:
            comment = ""
        elif token["name"]:
            yield text.count("\n", 0, token.start("name")) + 1, token["name"], comment
