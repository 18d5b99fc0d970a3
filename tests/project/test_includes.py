# SPDX-License-Identifier: Apache-2.0
"""Includes point one way: a folder of src/ uses itself and the folders above it in the list of docs/architecture.md.

A public header belongs to the folder whose name it has, so that dtensor/mesh.h counts as mesh, unless it is listed here.
The umbrella dtensor.h is for users only. Examples are users: they see public headers and nothing else.
"""
import pathlib
import re
import sys

import tree

PUBLIC = {"redistribute": "move", "debug": "dispatch", "files": "tensor", "dlpack": "tensor", "op": "rules", "ops": "ops"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def folder_order(page):
    return re.findall(r"^    src/(\w+)/", page, re.M)


def folder_of(path):
    """The folder of src/ to which a source or an include belongs, or None for one that is in no such folder."""
    parts = pathlib.PurePath(path).parts
    if parts[:2] == ("include", "dtensor") or parts[0] == "dtensor":
        name = pathlib.PurePath(path).stem
        return PUBLIC.get(name, name)
    return parts[1] if parts[0] == "src" else parts[0] if len(parts) > 1 else None


def complaint(source, include, quoted, order):
    """Why a file of the library may not have this include, or None."""
    if not quoted and not include.startswith("dtensor/"):
        return None  # the system's
    if source.startswith("include/") and not include.startswith("dtensor/"):
        return "would not be found once installed: write <dtensor/...>"
    mine, other = folder_of(source), folder_of(include)
    if source == "include/dtensor/dtensor.h":
        return None
    if mine not in order:
        return f"stands in {mine}, which is not in the list of docs/architecture.md"
    if other not in order:
        return "is in no folder of the list"
    if order.index(other) > order.index(mine):
        return f"points from {mine} down to {other}"
    return None


def check_the_checker():
    order = ["base", "mesh", "spec"]
    allowed = [("src/mesh/a.c", "mesh/b.h", True), ("src/mesh/a.c", "dtensor/base.h", True),
               ("src/mesh/a.c", "stdio.h", False), ("include/dtensor/spec.h", "dtensor/mesh.h", False),
               ("include/dtensor/dtensor.h", "dtensor/spec.h", False)]
    refused = [("src/mesh/a.c", "spec/b.h", True), ("src/base/a.c", "dtensor/mesh.h", True),
               ("src/mesh/a.c", "dtensor/dtensor.h", True), ("src/mesh/a.c", "b.h", True),
               ("src/new/a.c", "base/b.h", True), ("include/dtensor/mesh.h", "dtensor/spec.h", False),
               ("include/dtensor/mesh.h", "mesh/inside.h", True), ("src/mesh/a.c", "support/check.h", True)]
    for case in allowed:
        assert complaint(*case, order) is None, (case, complaint(*case, order))
    for case in refused:
        assert complaint(*case, order) is not None, case


def main():
    check_the_checker()
    order = folder_order((tree.ROOT / "docs/architecture.md").read_text())
    assert order[0] == "base" and "comm" in order, f"docs/architecture.md lists {order}"
    wrong = []
    for name in tree.files(*tree.CODE):
        for quote, include in INCLUDE.findall((tree.ROOT / name).read_text()):
            reason = None
            if name.parts[0] in ("src", "include"):
                reason = complaint(str(name), include, quote == '"', order)
            elif name.parts[0] == "examples" and quote == '"':
                reason = "is an example's, which sees only what a user sees: write <dtensor/...>"
            if reason:
                wrong.append(f'{name}: the include of "{include}" {reason}')
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
