# SPDX-License-Identifier: Apache-2.0
"""Folders link in one direction: functions that a folder of src/ calls are defined in it or above it in docs/architecture.md.

test_includes.py checks includes; this test also finds calls through `extern` declarations.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

import tree

# The hooks that are linked: what makes the first tensor of a context require a gradient installs the recorder
# (src/base/recorder.h), and gradients are computed with ops (src/dispatch/dispatch.h). Everything else goes through
# pointers in the context.
HOOKS = {"dt__require_grad": "autograd", "dt__library_ops_open": "ops"}

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
    return wrong


def test_the_checker():
    order = ["base", "mesh"]
    upper, lower = ("base", "a.c"), ("mesh", "b.c")
    assert not complaints(order, {upper: ({"dt__a"}, set()), lower: (set(), {"dt__a"})})
    assert complaints(order, {upper: (set(), {"dt__b"}), lower: ({"dt__b"}, set())})
    assert complaints(order, {upper: (set(), {"dt__c"})})
    hook, owner = next(iter(HOOKS.items()))
    assert not complaints(["base", owner], {upper: (set(), {hook}), (owner, "c.c"): ({hook}, set())})
    assert complaints(["base", "other"], {upper: (set(), {hook}), ("other", "c.c"): ({hook}, set())})
    assert read_symbols("dt__a T 0 4\nfree U\ndt__b U\n") == ({"dt__a"}, {"dt__b"})


def main():
    test_the_checker()
    order = re.findall(r"^    src/(\w+)/", (tree.ROOT / "docs/architecture.md").read_text(), re.M)
    symbols = {}
    objects = [path.relative_to(OBJECTS) for path in sorted(OBJECTS.glob("*/**/*.o"))]
    objects = [path for path in objects if (tree.ROOT / "src" / path.with_suffix("")).exists()]  # not of deleted sources
    made = [path.relative_to(MADE) for path in sorted(MADE.glob("*/**/*.o"))]
    for root, paths in ((OBJECTS, objects), (MADE, made)):
        output = subprocess.run(["nm", "-P", "-A", *paths], check=True, capture_output=True, text=True, cwd=root).stdout
        for name in map(str, paths):
            folder, file = name.removesuffix(".o").split("/", 1)
            symbols[folder, file] = read_symbols("".join(re.findall(rf"^{re.escape(name)}: (.*\n)", output, re.M)))
    missing = sorted({folder for folder, _ in symbols} - set(order))
    wrong = [f"src/{folder} is not in the list of docs/architecture.md" for folder in missing]
    wrong += [] if missing else complaints(order, symbols)
    if len(symbols) < 50:
        wrong.append(f"only {len(symbols)} objects below {OBJECTS}: this test does not find what it checks")
    print("\n".join(wrong) or f"{len(symbols)} objects")
    return 1 if wrong else 0


sys.exit(main())
