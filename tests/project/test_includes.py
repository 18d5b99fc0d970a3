# SPDX-License-Identifier: Apache-2.0
"""Includes, file names and type names follow the folders of src/.

- A folder of src/ includes itself and the folders above it in the list of docs/architecture.md. A public header belongs to
  the folder whose name it has, so that dtensor/mesh.h counts as mesh, unless it is listed in PUBLIC.
- Of another folder x only x/x.h is included; other headers of x are for x, its tests and fuzz targets. Each header of base is
  an interface.
- Examples are user programs: they include public headers and nothing else. The umbrella dtensor.h is for users only.
- A file name occurs in one folder of src/, and an internal type (dt__x) is defined once.
"""
import collections
import pathlib
import re
import sys

import tree

PUBLIC = {"redistribute": "move", "debug": "dispatch", "files": "tensor", "dlpack": "tensor", "op": "rules", "ops": "ops"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
DEFINITION = re.compile(r"^\s*(?:typedef\s+)?(?:struct|union|enum)\s+(dt__\w+)\s*\{"  # struct dt__x {
                        r"|^\s*typedef\s[^;{}]*?\b(dt__\w+)\s*(?:\([^;{}]*\)|\[[^\]]*\])*\s*;"  # typedef int dt__x(int);
                        r"|^\}\s*(dt__\w+)\s*;", re.M)  # typedef struct { ... } dt__x;
FORWARD = re.compile(r"typedef\s+(?:struct|union|enum)\s+(\w+)\s+\1\s*;")


def folder_order(page):
    return re.findall(r"^    src/(\w+)/", page, re.M)


def folder_of(path):
    """The folder of src/ to which a source or an include belongs, or None for one that is in no such folder."""
    parts = pathlib.PurePath(path).parts
    if parts[:2] == ("include", "dtensor") or parts[0] == "dtensor":
        name = pathlib.PurePath(path).stem
        return PUBLIC.get(name, name)
    return parts[1] if parts[0] == "src" else parts[0] if len(parts) > 1 else None


def order_complaint(source, include, quoted, order):
    """The reason why a file of the library may not have this include, or None."""
    if not quoted and not include.startswith("dtensor/"):
        return None  # a system header
    if source.startswith("include/") and not include.startswith("dtensor/"):
        return "would not be found once installed: write <dtensor/...>"
    folder, other = folder_of(source), folder_of(include)
    if source == "include/dtensor/dtensor.h":
        return None
    if folder not in order:
        return f"is in {folder}, which is not in the list of docs/architecture.md"
    if other not in order:
        return "is in no folder of the list"
    if order.index(other) > order.index(folder):
        return f"points from {folder} down to {other}"
    return None


def reach_of(source, include, quoted, order):
    """(folder, other) if a file includes an inner header of another folder, else None."""
    parts = pathlib.PurePath(include).parts
    if not quoted or len(parts) < 2 or parts[0] not in order or parts[0] == "base":
        return None
    if parts[1:] == (f"{parts[0]}.h",):
        return None
    own = pathlib.PurePath(source).parts
    if own[0] == "fuzz" or (own[0] in ("src", "tests") and own[1] == parts[0]):
        return None
    if own[:2] == ("tests", "support") and parts[0] == "comm":
        return None  # starts ranks for all tests
    return ("/".join(own[:2]) if own[0] in ("src", "tests", "tools") else own[0], parts[0])


def repeated_names(sources):
    """File names, without ending, that occur in more than one folder of src/."""
    folders = collections.defaultdict(set)
    for name in sources:
        folders[pathlib.PurePath(name).stem].add(pathlib.PurePath(name).parts[1])
    return {stem: sorted(where) for stem, where in folders.items() if len(where) > 1}


def repeated_types(texts):
    """Internal types that are defined more than once in {file: text}: {type: files}."""
    found = collections.defaultdict(list)
    for name, text in texts.items():
        in_file = set()
        for match in DEFINITION.finditer(FORWARD.sub("", text)):
            defined = next(group for group in match.groups() if group)
            line = text.count("\n", 0, match.start())
            in_file.add((defined, "" if match.group(3) or match.group(1) else str(line)))
        for defined, _ in in_file:
            found[defined].append(name)
    return {defined: sorted(names) for defined, names in found.items() if len(set(names)) > 1}


def test_the_checker():
    order = ["base", "mesh", "spec"]
    allowed = [("src/mesh/a.c", "mesh/b.h", True), ("src/mesh/a.c", "dtensor/base.h", True),
               ("src/mesh/a.c", "stdio.h", False), ("include/dtensor/spec.h", "dtensor/mesh.h", False),
               ("include/dtensor/dtensor.h", "dtensor/spec.h", False)]
    refused = [("src/mesh/a.c", "spec/b.h", True), ("src/base/a.c", "dtensor/mesh.h", True),
               ("src/mesh/a.c", "dtensor/dtensor.h", True), ("src/mesh/a.c", "b.h", True),
               ("src/new/a.c", "base/b.h", True), ("include/dtensor/mesh.h", "dtensor/spec.h", False),
               ("include/dtensor/mesh.h", "mesh/inside.h", True), ("src/mesh/a.c", "support/check.h", True)]
    for case in allowed:
        assert order_complaint(*case, order) is None, (case, order_complaint(*case, order))
    for case in refused:
        assert order_complaint(*case, order) is not None, case
    for source, include in (("src/spec/a.c", "mesh/mesh.h"), ("src/spec/a.c", "base/arena.h"), ("src/spec/a.c", "spec/b.h"),
                            ("tests/mesh/test_a.c", "mesh/b.h"), ("tools/x/main.c", "x/y.h"), ("bench/a.c", "dtensor/mesh.h"),
                            ("tools/x/main.c", "mesh/mesh.h"), ("tests/support/a.c", "comm/b.h"), ("fuzz/fuzz_a.c", "spec/b.h")):
        assert reach_of(source, include, True, order + ["comm"]) is None, (source, include)
    for source, include, reach in (("src/spec/a.c", "mesh/b.h", ("src/spec", "mesh")), ("bench/a.c", "mesh/b.h", ("bench", "mesh")),
                                   ("tests/spec/test_a.c", "mesh/b.h", ("tests/spec", "mesh")),
                                   ("tools/x/main.c", "mesh/b.h", ("tools/x", "mesh"))):
        assert reach_of(source, include, True, order) == reach, (source, include)
    assert repeated_names(["src/mesh/a.c", "src/mesh/a.h", "src/spec/b.c"]) == {}
    assert repeated_names(["src/mesh/a.c", "src/spec/a.h"]) == {"a": ["mesh", "spec"]}
    one = "typedef struct dt__a dt__a;\nstruct dt__a {\n    int x;\n};\ntypedef enum dt__b {\n    DT__B\n} dt__b;\n"
    assert repeated_types({"a.h": one, "b.h": "typedef struct dt__a dt__a;\nvoid f(dt__a *, dt__b);\n"}) == {}
    for again in ("struct dt__a {\n    int y;\n};\n", "typedef int dt__a;\n", "typedef void dt__a(int x);\n",
                  "typedef struct {\n    int x;\n} dt__a;\n", "typedef struct dt__a {\n    int x;\n} dt__a;\n"):
        assert repeated_types({"a.h": one, "b.h": again}) == {"dt__a": ["a.h", "b.h"]}, again


def main():
    test_the_checker()
    order = folder_order((tree.ROOT / "docs/architecture.md").read_text())
    assert order[0] == "base" and "comm" in order, f"docs/architecture.md lists {order}"
    wrong, texts = [], {}
    for name in tree.files(".c", ".h", ".cpp"):
        text = (tree.ROOT / name).read_text()
        if name.parts[0] == "src":
            texts[str(name)] = text
        for quote, include in INCLUDE.findall(text):
            reason = None
            if name.parts[0] in ("src", "include"):
                reason = order_complaint(str(name), include, quote == '"', order)
            elif name.parts[0] == "examples" and quote == '"':
                reason = "is in an example, which uses public headers only: write <dtensor/...>"
            if not (name.parts[0] == "tests" and (tree.ROOT / "tests" / include).exists()):
                reach = reach_of(str(name), include, quote == '"', order)
                if reach:
                    reason = f"reaches into {reach[1]}: include {reach[1]}/{reach[1]}.h"
            if reason:
                wrong.append(f'{name}: the include of "{include}" {reason}')
    names, types = repeated_names(texts), repeated_types(texts)
    wrong += [f"{stem} is a file of {' and '.join(names[stem])}: give it another name" for stem in names]
    wrong += [f"{one} is defined in {' and '.join(types[one])}: give it another name" for one in types]
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
