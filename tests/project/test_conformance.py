# SPDX-License-Identifier: Apache-2.0
"""Every numbered behavior of tests/conformance is in a test or listed with a reason, and every id in a test is defined.

Reasons are in tests/conformance_deviations.md (does not apply, partial, different on purpose) and tests/conformance_pending.md
(needs a part that does not exist yet). `test_conformance.py --count` prints the states by prefix.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
LISTS = (TESTS / "conformance_deviations.md", TESTS / "conformance_pending.md")
COPIES = (TESTS / "golden", TESTS / "conformance")
SOURCES = (".c", ".h", ".cpp", ".py", ".sh")
# Numbers in other forms: those of files, standards and licenses have other prefixes.
ID = re.compile(r"\b([A-Z][A-Z0-9]*)-(\d{3})(?: to \1-(\d{3}))?\b|\b([A-Z][A-Z0-9]*)-\*")


def defined_ids(texts):
    ids = [found for text in texts for found in re.findall(r"^\s*- \[([A-Z][A-Z0-9]*-\d{3})\]", text, re.M)]
    repeated = [name for name, n in collections.Counter(ids).items() if n > 1]
    assert not repeated, f"defined twice: {repeated}"
    return set(ids)


def named_ids(text, defined):
    """The ids in a text: PRE-001, PRE-001 to PRE-004, PRE-* for all; only with prefixes of defined ids."""
    prefixes = {name.rsplit("-", 1)[0] for name in defined}
    ids = set()
    for prefix, first, last, star in ID.findall(text):
        if star in prefixes:
            ids |= {name for name in defined if name.startswith(star + "-")}
        elif prefix in prefixes:
            ids |= {f"{prefix}-{n:03}" for n in range(int(first), int(last or first) + 1)}
    return ids


def pending_rows(text):
    """Pairs of ids and the reason why they are pending."""
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if len(row) == 2 and row[0].strip("- ") and row[0].strip() != "ids"]


def pending_ids(text, defined):
    return set().union(*(named_ids(ids, defined) for ids, _ in pending_rows(text)))


def complaints(defined, tested, deviations, pending, ops):
    """tested: ids by file; deviations and pending: texts of the lists; ops: names in the table."""
    used = set().union(*tested.values()) if tested else set()
    deviating, pending_set = named_ids(deviations, defined), pending_ids(pending, defined)
    for name, ids in sorted({**tested, "conformance_deviations.md": deviating, "conformance_pending.md": pending_set}.items()):
        for wrong in sorted(ids - defined):
            yield f"{name}: {wrong} is not defined in tests/conformance"
    for name in sorted(defined - used - deviating - pending_set):
        yield f"{name} is neither in a test nor listed with a reason"
    for name in sorted(pending_set & used):
        yield f"conformance_pending.md: {name} is in a test; remove it from the list"
    for ids, reason in pending_rows(pending):
        if not reason.strip():
            yield f"conformance_pending.md: {ids.strip()} has no reason"
        named = re.findall(r"`(\w+)`", reason)
        if named and all(op in ops for op in named):
            yield f"conformance_pending.md: {ids.strip()} waits for ops that are in the table: {' '.join(named)}"


def test_the_checker():
    defined = defined_ids(["- [AB-001] x\n- [AB-002] y, as [AB-009]\n  - [C1-001] z\n", "- [AB-003] a\n"])
    assert defined == {"AB-001", "AB-002", "AB-003", "C1-001"}
    assert named_ids("AB-001 to AB-003, C1-001, UTF-008, SHA-256", defined) == defined
    assert named_ids("C1-*", defined) == {"C1-001"}
    table = "| ids | waits for |\n|---|---|\n| AB-002 | `exp` |\n"
    tested = {"a.c": {"AB-001"}}
    assert not list(complaints(defined, tested, "AB-003 C1-001", table, set()))
    assert len(list(complaints(defined, tested, "AB-003 C1-001", table, {"exp"}))) == 1, "the op exists"
    assert len(list(complaints(defined, tested, "AB-003", table, set()))) == 1, "an id is nowhere"
    assert len(list(complaints(defined, {"a.c": {"AB-001", "AB-004"}}, "AB-003 C1-001", table, set()))) == 1, "not defined"
    assert len(list(complaints(defined, {"a.c": {"AB-001", "AB-002"}}, "AB-003 C1-001", table, set()))) == 1, "tested"
    assert len(list(complaints(defined, tested, "AB-003 C1-001 C1-002", table, set()))) == 1, "not defined in a list"
    assert len(list(complaints(defined, tested, "AB-003 C1-001", "| AB-002 | |\n", set()))) == 1, "no reason"


def known_ops():
    tool = os.path.join(os.environ.get("DTENSOR_BUILD", TESTS.parent / "build"), "bin", "dtensor")
    table = subprocess.run([tool, "ops", "--json"], check=True, capture_output=True, text=True).stdout
    return {op["name"].split(".")[0] for op in json.loads(table)}


def main():
    test_the_checker()
    defined = defined_ids(path.read_text() for path in sorted(COPIES[1].rglob("*.md")))
    assert defined, "tests/conformance defines no ids"
    tested = {}
    for path in sorted(TESTS.rglob("*")):
        if path.suffix in SOURCES and path != pathlib.Path(__file__).resolve() and not set(path.parents) & set(COPIES):
            tested[str(path.relative_to(TESTS))] = named_ids(path.read_text(), defined)
    deviations, pending = (path.read_text() for path in LISTS)
    if sys.argv[1:] == ["--count"]:
        used, deviating, pending_set = set().union(*tested.values()), named_ids(deviations, defined), pending_ids(pending, defined)
        for prefix in sorted({name.rsplit("-", 1)[0] for name in defined}) + [""]:
            ids = {name for name in defined if name.startswith(prefix + "-" if prefix else "")}
            print(f"{prefix or 'all':5} {len(ids):4} defined, {len(ids & used):4} tested, {len(ids & deviating - used):4} listed as deviations, "
                  f"{len(ids & pending_set):4} pending")
        return 0
    wrong = list(complaints(defined, tested, deviations, pending, known_ops()))
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
