# SPDX-License-Identifier: Apache-2.0
"""Every public function that returns a tensor and takes one, or changes one, has a case in tests/autograd/test_records.c, which
asserts what it records, or is listed here. The functions of ops.h are ops: dispatch records them, and a generic test covers the table."""
import re
import sys

import headers
import tree

CASES = "tests/autograd/test_records.c"

WITHOUT_CASE = {
    "op_run": "runs an op: the generic test of the table",
    "op_run_tensors": "runs an op: the generic test of the table",
    "at": "runs ops, which are recorded",
    "set_at": "runs ops, which are recorded",
    "tensor_retain": "returns its argument",
    "grad": "returns a tensor that exists",
    "optimizer_state": "returns a tensor that exists",
    "local_map": "has a test of its own",
}


def functions(text):
    """(name, result, parameters) of each exported function."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return [(name, result.strip(), parameters)
            for result, name, parameters in re.findall(r"DT_API\s+([^;(]*?)\b(dt_\w+)\(([^;]*)\)", text)]


def makes_tensor_from_tensor(name, result, parameters):
    inputs = re.search(r"dt_tensor \*|dt_transfer \*|dt_local_mapping", parameters)
    return inputs and ("_in_place_" in name or result == "dt_tensor *" or re.search(r"dt_tensor \*\*?outputs", parameters))


def main():
    assert makes_tensor_from_tensor("dt_f_site", "dt_tensor *", "const dt_tensor *tensor, DT_CALLER")
    assert makes_tensor_from_tensor("dt_f_site", "dt_status", "dt_ctx *ctx, const dt_local_mapping *mapping, dt_tensor **outputs")
    assert not makes_tensor_from_tensor("dt_f_site", "dt_tensor *", "dt_ctx *ctx, dt_shape shape, DT_OPTIONS(dt_make_options)")
    assert makes_tensor_from_tensor("dt_f_in_place_sized", "dt_status", "dt_tensor *tensor, DT_OPTIONS(dt_random_options)")
    assert not makes_tensor_from_tensor("dt_f_site", "dt_status", "dt_tensor *tensor, DT_CALLER")
    cases = set(re.findall(r"\bRECORDS(?:_CHANGE)?\((\w+),", (tree.ROOT / CASES).read_text())) - {"function"}
    found = set()
    for header in headers.public_headers():
        if header.name == "ops.h":
            continue
        for name, result, parameters in functions((tree.ROOT / header).read_text()):
            if makes_tensor_from_tensor(name, result, parameters):
                found.add(re.sub("^dt_|_(site|sized)$", "", name))
    wrong = [f"dt_{name} has no case in {CASES}" for name in sorted(found - cases - set(WITHOUT_CASE))]
    wrong += [f"{CASES} has a case for {name}, which makes no tensor from a tensor" for name in sorted(cases - found)]
    wrong += [f"dt_{name} is listed as without a case and has one" for name in sorted(cases & set(WITHOUT_CASE))]
    wrong += [f"{name} is listed and does not exist" for name in sorted(set(WITHOUT_CASE) - found)]
    print("\n".join(wrong) or f"{len(found)} functions")
    return 1 if wrong else 0


sys.exit(main())
