# SPDX-License-Identifier: Apache-2.0
"""Functions are defined in the folders of docs/architecture.md.

- Folders link in one direction: functions that a folder of src/ calls are defined in it or above it. test_includes.py checks
  includes; this test also finds calls through `extern` declarations.
- A public function is defined in the folder to which its header belongs, or where the table of src/README.md has it.
- A transport is reached through its table only: other folders call no function of its folder but those in REACHED.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

import headers
import tree

# The hooks that are linked: what makes the first tensor of a context require a gradient installs the recorder
# (src/base/recorder.h), and ops are known before one is registered or called by name (src/rules/rules.h). Everything else goes through
# pointers in the context.
HOOKS = {"dt__require_grad": "autograd", "dt__library_ops_open": "ops"}

# The tables of transports, the memory of a launch, and whether there is an MPI launch.
REACHED = {"shm": re.compile("dt__transport_(shm|estimate)|dt__segment_"), "cluster": re.compile("dt__transport_mpi|dt__mpi_is_launched")}

OBJECTS = pathlib.Path(os.environ["DTENSOR_BUILD"]) / "CMakeFiles/dtensor_objects.dir/src"
MADE = OBJECTS.parent.parent / "dtensor_made_objects.dir/src"  # the functions of ops


def read_symbols(text):
    """Defined and undefined names in the portable output of nm."""
    defined, undefined = set(), set()
    for name, kind in (line.split()[:2] for line in text.splitlines()):
        if name.startswith("dt_"):
            (undefined if kind in "Uwv" else defined).add(name)
    return defined, undefined


def complaints(order, symbols):
    """symbols: (folder, file) -> (defined, undefined)."""
    owner = collections.defaultdict(set)
    for (folder, _), (defined, _) in symbols.items():
        for name in defined:
            owner[name].add(folder)
    wrong = []
    for (folder, file), (_, undefined) in sorted(symbols.items()):
        for name in sorted(undefined):
            if owner[name] == {HOOKS.get(name)}:
                continue
            if not any(order.index(other) <= order.index(folder) for other in owner[name]):
                places = ", ".join(sorted(owner[name])) or "nowhere"
                wrong.append(f"src/{folder}/{file} needs {name}, which is defined in {places}")
            wrong += [f"src/{folder}/{file} needs {name} of {other}: use the transport's table" for other in owner[name]
                      if other != folder and other in REACHED and not REACHED[other].match(name)]
    return wrong


def listed_folders(page):
    """Public functions that the page has elsewhere than in the folder of their header: {name: folder}."""
    rows = re.findall(r"^\| (`dt_\w+`(?:, `dt_\w+`)*) \| `(\w+)` \|", page, re.M)
    return {name: folder for names, folder in rows for name in re.findall(r"`(\w+)`", names)}


def home_complaints(public, homes, listed):
    """public: function -> folder of its header; homes: function -> folder that defines it."""
    wrong, seen = [], set()
    for name, folder in sorted(public.items()):
        plain = re.sub(r"_(site|sized)$", "", name)
        expected = listed.get(plain, folder)
        seen |= {plain} if homes.get(name) != folder else set()
        if homes.get(name) != expected:
            wrong.append(f"{name} is defined in {homes.get(name, 'no folder')}, expected {expected}: move it, or say why "
                         "in the table of src/README.md")
    return wrong + [f"src/README.md lists {name}, which is in the folder of its header"
                    for name in sorted(set(listed) - seen)]


def test_the_checker():
    order = ["base", "mesh"]
    upper, lower = ("base", "a.c"), ("mesh", "b.c")
    assert not complaints(order, {upper: ({"dt__a"}, set()), lower: (set(), {"dt__a"})})
    assert complaints(order, {upper: (set(), {"dt__b"}), lower: ({"dt__b"}, set())})
    assert complaints(order, {upper: (set(), {"dt__c"})})
    shm = {("shm", "c.c"): ({"dt__shm_start", "dt__segment_new"}, set())}
    assert not complaints(["shm", "mesh"], {**shm, lower: (set(), {"dt__segment_new"})})
    assert complaints(["shm", "mesh"], {**shm, lower: (set(), {"dt__shm_start"})})
    hook, owner = next(iter(HOOKS.items()))
    assert not complaints(["base", owner], {upper: (set(), {hook}), (owner, "c.c"): ({hook}, set())})
    assert complaints(["base", "other"], {upper: (set(), {hook}), ("other", "c.c"): ({hook}, set())})
    page = ("| folder | its other public headers |\n|---|---|\n| `mesh` | `a.h` |\n| `base` | `b.h`, `c.h` |\n\n"
            "| `dt_x`, `dt_y` | `mesh` | why |\n")
    assert [headers.folder_of(f"include/dtensor/{name}.h", page) for name in "abcd"] == ["mesh", "base", "base", "d"]
    assert listed_folders(page) == {"dt_x": "mesh", "dt_y": "mesh"}
    defined = {"dt_a": "base", "dt_x_sized": "mesh"}
    assert not home_complaints({"dt_a": "base", "dt_x_sized": "base"}, defined, {"dt_x": "mesh"})
    for public, listed in (({"dt_a": "mesh"}, {}), ({"dt_x_sized": "base"}, {}), ({"dt_none": "base"}, {}), ({"dt_a": "base"}, {"dt_a": "base"})):
        assert home_complaints(public, defined, listed), (public, listed)
    assert read_symbols("dt__a T 0 4\nfree U\ndt__b U\n") == ({"dt__a"}, {"dt__b"})


def main():
    test_the_checker()
    page = (tree.ROOT / "src/README.md").read_text()
    order = re.findall(r"^    src/(\w+)/", (tree.ROOT / "docs/architecture.md").read_text(), re.M)
    symbols, homes = {}, {}
    objects = [path.relative_to(OBJECTS) for path in sorted(OBJECTS.glob("*/**/*.o"))]
    objects = [path for path in objects if (tree.ROOT / "src" / path.with_suffix("")).exists()]  # not of deleted sources
    made = [path.relative_to(MADE) for path in sorted(MADE.glob("*/**/*.o"))]
    for root, paths in ((OBJECTS, objects), (MADE, made)):
        output = subprocess.run(["nm", "-P", "-A", *paths], check=True, capture_output=True, text=True, cwd=root).stdout
        for name in map(str, paths):
            folder, file = name.removesuffix(".o").split("/", 1)
            symbols[folder, file] = read_symbols("".join(re.findall(rf"^{re.escape(name)}: (.*\n)", output, re.M)))
            homes.update(dict.fromkeys(symbols[folder, file][0], folder))
    missing = sorted({folder for folder, _ in symbols} - set(order))
    wrong = [f"src/{folder} is not in the list of docs/architecture.md" for folder in missing]
    wrong += [] if missing else complaints(order, symbols)
    public = {name: headers.folder_of(header, page) for header in headers.public_headers()
              for _, name, _ in headers.exported_functions((tree.ROOT / header).read_text())}
    listed = listed_folders(page)
    wrong += home_complaints(public, homes, listed)
    if len(symbols) < 50:
        wrong.append(f"only {len(symbols)} objects below {OBJECTS}: this test does not find what it checks")
    print("\n".join(wrong) or f"{len(symbols)} objects")
    return 1 if wrong else 0


sys.exit(main())
