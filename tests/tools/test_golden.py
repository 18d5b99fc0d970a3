# SPDX-License-Identifier: Apache-2.0
"""The published cases in tests/golden: `dtensor query` answers all of them as check.py expects.

A case is pending if its op is not in the table of ops, and gradients are pending until the library has them; a case
whose op is in the table must pass. Cases in tests/golden_skips.txt are skipped for the reasons there. Usage: test_golden.py [REGEX]
runs only cases whose id matches; DTENSOR_BUILD names the build folder.
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


def answer(request):
    """The answer of a new process."""
    output = subprocess.run([DTENSOR, "query"], check=True, capture_output=True, text=True, input=json.dumps(request) + "\n")
    return json.loads(output.stdout)


def has_gradients():
    request = {"q": "run", "op": "neg", "mesh": [2], "tensors": [{"shape": [2], "placements": "S(0)", "data": [1, 2]}],
               "args": [{"t": 0}], "kwargs": {}, "grad": True}
    reply = answer(request)
    return reply.get("error", {}).get("code") != "unsupported"


def verdict(case, line, failure, ops):
    """One of STATES, and the differences."""
    wrong = [failure] if line is None else check.differences(case, line)
    if not wrong:
        return "passed", []
    op = case.get("req", {}).get("op")
    if line and check.unknown_op(line) and op not in ops:
        return "pending", []
    return "failed", wrong


def check_the_verdicts():
    case = {"id": "x", "req": {"q": "run", "op": "frobnicate"}, "want": {"value": 1}}
    refused = '{"error":{"code":"op","message":"no such op"}}'
    assert verdict(case, '{"value":1}', None, set())[0] == "passed"
    assert verdict(case, '{"value":2}', None, set())[0] == "failed"
    assert verdict(case, refused, None, set())[0] == "pending"
    assert verdict(case, refused, None, {"frobnicate"})[0] == "failed", "an op of the table must not be refused"
    assert verdict(case, '{"error":{"code":"shape","message":""}}', None, set())[0] == "failed"
    assert verdict(case, None, "no answer", set())[0] == "failed"
    assert read_skips("# text\n# golden.a.1: because\n# of this.\ngolden.a.1\n") == {"golden.a.1": "because of this."}


def run_file(path, regex, ops, skips, gradients, pending):
    """Counts by state. Adds ops that the table does not have to pending."""
    cases = [case for case in read_cases(path) if re.search(regex, case["id"])]
    count = collections.Counter(skipped=sum(case["id"] in skips for case in cases))
    cases = [case for case in cases if case["id"] not in skips]
    differentiated = set()
    for case in [] if gradients else cases:
        if case.get("req", {}).pop("grad", None):
            case["want"].pop("grads", None)
            differentiated.add(case["id"])
    lines = [case["raw"] if "raw" in case else json.dumps(case["req"], separators=(",", ":")) for case in cases]
    for (line, failure), case in zip(check.answers(DTENSOR, lines, TIMEOUT), cases):
        state, wrong = verdict(case, line, failure, ops)
        count[state] += 1
        count["gradients"] += state == "passed" and case["id"] in differentiated
        if wrong and count["failed"] <= check.SHOWN:
            print(f"FAIL {case['id']}: " + "; ".join(wrong[:3]))
        if state == "pending":
            pending.add(case["req"]["op"])
    return count


def run_recorded_training(regex):
    """The recorded runs of small GPTs, by the example that trains one; pending while there is none."""
    program = os.path.join(os.path.dirname(DTENSOR), "..", "examples", "gpt")
    folders = [path.parent for path in sorted((TESTS / "golden" / "gpt").glob("*/config.json"))
               if re.search(regex, f"gpt.{path.parent.name}")]
    if not os.path.exists(program):
        return collections.Counter(pending=len(folders))
    checker = TESTS / "golden" / "gpt" / "check_gpt.py"
    count = collections.Counter()
    for folder in folders:
        count["failed" if subprocess.run([sys.executable, checker, program, folder]).returncode else "passed"] += 1
    return count


def summary(count):
    gradients = f" ({count['gradients']} without their gradients, which are pending)" if count["gradients"] else ""
    return ", ".join(f"{count[state]} {state}{gradients if state == 'passed' else ''}" for state in STATES)


def main():
    check_the_verdicts()
    regex = sys.argv[1] if len(sys.argv) > 1 else ""
    ops, gradients = known_ops(), has_gradients()
    skips = read_skips((TESTS / "golden_skips.txt").read_text())
    paths = sorted((TESTS / "golden").glob("*.jsonl.gz"))
    assert paths, "tests/golden has no cases"
    pending = set()
    counts = {path.name.split(".")[0]: run_file(path, regex, ops, skips, gradients, pending) for path in paths}
    counts["gpt"] = run_recorded_training(regex)
    for name, count in counts.items():
        print(f"{name}: {summary(count)}")
    overall = sum(counts.values(), collections.Counter())
    for name, reason in skips.items():
        print(f"skipped {name}: {reason}")
    if pending:
        print(f"pending, {len(pending)} ops that are not in the table: {' '.join(sorted(pending))}")
    if counts["gpt"]["pending"]:
        print("pending, recorded training runs: there is no example that trains a GPT")
    print(f"all: {summary(overall)}")
    skips_exist = overall["skipped"] == len(skips) or regex
    if not skips_exist:
        print("tests/golden_skips.txt names a case that does not exist", file=sys.stderr)
    return 1 if overall["failed"] or not skips_exist or not overall["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
