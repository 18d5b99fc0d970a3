# SPDX-License-Identifier: Apache-2.0
"""The published cases in tests/golden: `dtensor query` answers all of them as check.py expects.

A case is pending if its op is not in the table of ops; everything else must pass. Cases in tests/golden_skips.txt are skipped for the
reasons there, and must fail: one that passes needs no reason. Usage: test_golden.py [REGEX] runs only cases whose id matches;
DTENSOR_BUILD names the build folder. With a sanitizer every fourth case is run.
"""
import collections
import gzip
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
DTENSOR = os.path.join(os.environ.get("DTENSOR_BUILD", TESTS.parent / "build"), "bin", "dtensor")
TIMEOUT = 60  # seconds per answer
STRIDE = 4 if b"__asan_init" in pathlib.Path(DTENSOR).read_bytes() else 1
STATES = ("passed", "failed", "pending", "skipped")


def load_checker():
    spec = importlib.util.spec_from_file_location("check", TESTS / "golden" / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = load_checker()


def read_cases(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def read_skips(text):
    """Reason by id: an id is on a line of its own, below the comment that starts with the id and a colon."""
    reasons = dict(re.findall(r"^# (golden\.[\w.]+): (.*(?:\n# .*)*)", text, re.M))
    ids = re.findall(r"^golden\.\S+$", text, re.M)
    for name in ids:
        assert name in reasons, f"tests/golden_skips.txt: {name} has no reason"
    return {name: " ".join(reasons[name].replace("\n#", "").split()) for name in ids}


def known_ops():
    table = subprocess.run([DTENSOR, "ops", "--json"], check=True, capture_output=True, text=True).stdout
    return {op["name"].split(".")[0] for op in json.loads(table)}


def verdict(case, line, failure, ops, skips):
    """One of STATES, and the differences."""
    wrong = [failure] if line is None else check.differences(case, line)
    if case["id"] in skips:
        return ("skipped", []) if wrong else ("failed", ["passes, but is in tests/golden_skips.txt"])
    if not wrong:
        return "passed", []
    op = case.get("req", {}).get("op")
    if line and check.unknown_op(line) and op not in ops:
        return "pending", []
    return "failed", wrong


def check_the_verdicts():
    case = {"id": "x", "req": {"q": "run", "op": "frobnicate"}, "want": {"value": 1}}
    refused = '{"error":{"code":"op","message":"no such op"}}'
    for line, failure, ops, skips, expected in (
            ('{"value":1}', None, (), (), "passed"), ('{"value":2}', None, (), (), "failed"),
            (refused, None, (), (), "pending"), (refused, None, ("frobnicate",), (), "failed"),
            ('{"error":{"code":"shape","message":""}}', None, (), (), "failed"), (None, "no answer", (), (), "failed"),
            ('{"value":2}', None, (), ("x",), "skipped"), ('{"value":1}', None, (), ("x",), "failed")):
        assert verdict(case, line, failure, ops, skips)[0] == expected, (line, ops, skips)
    assert read_skips("# text\n# golden.a.1: because\n# of this.\ngolden.a.1\n") == {"golden.a.1": "because of this."}


def request_line(case):
    return case["raw"] if "raw" in case else json.dumps(case["req"], separators=(",", ":"))


def run_file(path, regex, ops, skips, pending):
    """Counts by state. Adds ops that the table does not have to pending."""
    cases = [case for case in read_cases(path) if re.search(regex, case["id"])][::STRIDE]
    count = collections.Counter()
    for (line, failure), case in zip(check.answers(DTENSOR, [request_line(case) for case in cases], TIMEOUT), cases):
        state, wrong = verdict(case, line, failure, ops, skips)
        count[state] += 1
        if wrong and count["failed"] <= check.SHOWN:
            print(f"FAIL {case['id']}: " + "; ".join(wrong[:3]))
        if state == "pending":
            pending.add(case["req"]["op"])
    return count


def run_recorded_training(regex):
    """The recorded runs of small GPTs, by the example that trains one."""
    program = os.path.join(os.path.dirname(DTENSOR), "..", "examples", "gpt")
    folders = [path.parent for path in sorted((TESTS / "golden" / "gpt").glob("*/config.json"))
               if re.search(regex, f"gpt.{path.parent.name}")]
    checker = TESTS / "golden" / "gpt" / "check_gpt.py"
    count = collections.Counter()
    for folder in folders:
        count["failed" if subprocess.run([sys.executable, checker, program, folder]).returncode else "passed"] += 1
    return count


def summary(count):
    return ", ".join(f"{count[state]} {state}" for state in STATES)


def main():
    check_the_verdicts()
    regex = sys.argv[1] if len(sys.argv) > 1 else ""
    ops = known_ops()
    skips = read_skips((TESTS / "golden_skips.txt").read_text())
    paths = sorted((TESTS / "golden").glob("*.jsonl.gz"))
    assert paths, "tests/golden has no cases"
    pending = set()
    counts = {path.name.split(".")[0]: run_file(path, regex, ops, skips, pending) for path in paths}
    counts["gpt"] = run_recorded_training(regex)
    for name, count in counts.items():
        print(f"{name}: {summary(count)}")
    overall = sum(counts.values(), collections.Counter())
    for name, reason in skips.items():
        print(f"skipped {name}: {reason}")
    if pending:
        print(f"pending, {len(pending)} ops that are not in the table: {' '.join(sorted(pending))}")
    print(f"all: {summary(overall)}")
    skips_exist = overall["skipped"] == len(skips) or regex or STRIDE > 1
    if not skips_exist:
        print("tests/golden_skips.txt names a case that does not exist", file=sys.stderr)
    return 1 if overall["failed"] or not skips_exist or not overall["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
