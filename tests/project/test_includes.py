# SPDX-License-Identifier: Apache-2.0
"""Includes, file names and type names follow the folders of src/.

- A folder of src/ includes itself and the folders above it in the list of docs/architecture.md. A public header belongs to
  the folder whose name it has, so that dtensor/mesh.h counts as mesh, unless src/README.md states otherwise.
- Of another folder x only x/x.h is included; other headers of x are for x, its tests and fuzz targets, those of kernels also for
  benchmarks. Each header of base is an interface.
- x/x.h includes no other header of x, directly or indirectly, except for those that src/README.md lists as parts of an
  interface.
- Examples are user programs: they include public headers and nothing else. The umbrella dtensor.h is for users only.
- A file name occurs in one folder of src/, and an internal type (dt__x) is defined once.
- A comment of an inner header that begins with the name of a source file (x.c: ...) names one that exists, and a declaration
  follows it.
"""
import collections
import pathlib
import re
import sys

import headers
import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
DEFINITION = re.compile(r"^\s*(?:typedef\s+)?(?:struct|union|enum)\s+(dt__\w+)\s*\{"  # struct dt__x {
                        r"|^\s*typedef\s[^;{}]*?\b(dt__\w+)\s*(?:\([^;{}]*\)|\[[^\]]*\])*\s*;"  # typedef int dt__x(int);
                        r"|^\}\s*(dt__\w+)\s*;", re.M)  # typedef struct { ... } dt__x;
FORWARD = re.compile(r"typedef\s+(?:struct|union|enum)\s+(\w+)\s+\1\s*;")


def folder_order(page):
    return re.findall(r"^    src/(\w+)/", page, re.M)


ARCHITECTURE = (tree.ROOT / "docs/architecture.md").read_text()
PAGE = (tree.ROOT / "src/README.md").read_text()


def folder_of(path):
    """The folder of src/ to which a source or an include belongs, or None for one that is in no such folder."""
    parts = pathlib.PurePath(path).parts
    if parts[:2] == ("include", "dtensor") or parts[0] == "dtensor":
        return headers.folder_of(path, PAGE)
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
    if own[0] == "bench" and parts[0] == "kernels":
        return None  # measures loops and the BLAS by themselves
    return ("/".join(own[:2]) if own[0] in ("src", "tests", "tools") else own[0], parts[0])


def interface_parts(page):
    """The headers x/y.h that x/x.h may include, as the page lists them."""
    return {f"{folder}/{name}" for folder, names in headers.table(page, "parts of its interface") for name in names}


def exported(folder, texts):
    """The other headers of a folder that its interface header includes, directly or through one another."""
    found, waiting = set(), [f"{folder}/{folder}.h"]
    while waiting:
        text = texts.get(f"src/{waiting.pop()}", "")
        more = {include for _, include in INCLUDE.findall(text) if include.startswith(f"{folder}/")} - found
        found |= more
        waiting += more
    return found


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


def comment_complaints(header, text, names):
    """What is wrong with comments of a header that name source files; `names` are those that exist."""
    wrong = []
    for match in re.finditer(r"^/\* (\w+\.c): (?:(?!\*/).)*\*/\n([^\n]*)", text, re.M | re.S):
        line = text.count("\n", 0, match.start()) + 1
        if match.group(1) not in {pathlib.PurePath(name).name for name in names}:
            wrong.append(f"{header}:{line}: there is no {match.group(1)}")
        if not match.group(2) or match.group(2).startswith("#endif"):
            wrong.append(f"{header}:{line}: no declaration follows the comment")
    return wrong


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
                            ("tools/x/main.c", "mesh/mesh.h"), ("fuzz/fuzz_a.c", "spec/b.h")):
        assert reach_of(source, include, True, order + ["comm"]) is None, (source, include)
    for source, include, reach in (("src/spec/a.c", "mesh/b.h", ("src/spec", "mesh")), ("bench/a.c", "mesh/b.h", ("bench", "mesh")),
                                   ("tests/spec/test_a.c", "mesh/b.h", ("tests/spec", "mesh")),
                                   ("tools/x/main.c", "mesh/b.h", ("tools/x", "mesh"))):
        assert reach_of(source, include, True, order) == reach, (source, include)
    page = "| folder | parts of its interface |\n|---|---|\n| `mesh` | `b.h`, `c.h` |\n| `spec` | `d.h` |\n\n| `a` | `e.h` |"
    assert interface_parts(page) == {"mesh/b.h", "mesh/c.h", "spec/d.h"}
    texts = {"src/mesh/mesh.h": '#include "base/a.h"\n#include "mesh/b.h"\n', "src/mesh/b.h": '#include "mesh/d.h"\n',
             "src/mesh/e.h": '#include "mesh/mesh.h"\n'}
    assert exported("mesh", texts) == {"mesh/b.h", "mesh/d.h"}
    assert repeated_names(["src/mesh/a.c", "src/mesh/a.h", "src/spec/b.c"]) == {}
    assert repeated_names(["src/mesh/a.c", "src/spec/a.h"]) == {"a": ["mesh", "spec"]}
    one = "typedef struct dt__a dt__a;\nstruct dt__a {\n    int x;\n};\ntypedef enum dt__b {\n    DT__B\n} dt__b;\n"
    assert repeated_types({"a.h": one, "b.h": "typedef struct dt__a dt__a;\nvoid f(dt__a *, dt__b);\n"}) == {}
    for again in ("struct dt__a {\n    int y;\n};\n", "typedef int dt__a;\n", "typedef void dt__a(int x);\n",
                  "typedef struct {\n    int x;\n} dt__a;\n", "typedef struct dt__a {\n    int x;\n} dt__a;\n"):
        assert repeated_types({"a.h": one, "b.h": again}) == {"dt__a": ["a.h", "b.h"]}, again
    assert comment_complaints("src/a/b.h", "/* c.c: x\n * y. */\nvoid f(void);\n", {"src/a/c.c"}) == []
    for text in ("/* d.c: x. */\nvoid f(void);\n", "/* c.c: x. */\n\nvoid f(void);\n", "/* c.c: x. */\n#endif\n"):
        assert comment_complaints("src/a/b.h", text, {"src/a/c.c"}), text


def main():
    test_the_checker()
    order, parts = folder_order(ARCHITECTURE), interface_parts(PAGE)
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
                if (tree.ROOT / "examples" / include).exists():
                    continue
                reason = "is in an example, which uses public headers only: write <dtensor/...>"
            if not (name.parts[0] == "tests" and (tree.ROOT / "tests" / include).exists()):
                reach = reach_of(str(name), include, quote == '"', order)
                if reach:
                    reason = f"reaches into {reach[1]}: include {reach[1]}/{reach[1]}.h"
            if reason:
                wrong.append(f'{name}: the include of "{include}" {reason}')
    handed_out = set().union(*(exported(folder, texts) for folder in order if folder != "base"))
    wrong += [f"{header} is handed to other folders by the interface of its own: declare what they use there, or list it in "
              "src/README.md" for header in sorted(handed_out - parts)]
    wrong += [f"src/README.md lists {part}, which is not part of an interface" for part in sorted(parts - handed_out)]
    for name in texts:
        if name.endswith(".h"):
            wrong += comment_complaints(name, texts[name], texts)
    names, types = repeated_names(texts), repeated_types(texts)
    wrong += [f"{stem} is a file of {' and '.join(names[stem])}: give it another name" for stem in names]
    wrong += [f"{one} is defined in {' and '.join(types[one])}: give it another name" for one in types]
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
