# SPDX-License-Identifier: Apache-2.0
"""The declarations of the public headers, for the other tests in this folder."""
import pathlib
import re

import tree


def public_headers():
    return [name for name in tree.files(".h") if name.parts[0] == "include"]


def folder_of(header, page):
    """The folder of src/ to which a public header belongs, by docs/architecture.md: dtensor/op.h, or its path."""
    name = pathlib.PurePath(header).stem
    sentence = re.search(r"belongs to the folder whose name it has;(.*?)\. ", " ".join(page.split())).group(1)
    for clause in sentence.split(", "):
        if name in re.findall(r"`(\w+)\.h`", clause):
            return re.search(r"\bto `(\w+)`", clause).group(1)
    return name


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
