# SPDX-License-Identifier: Apache-2.0
"""What the generator makes of the op model: an op that is added to the schema lines appears as a function, a method, a type
and a docstring, without a line by hand. And a million calls leave no memory."""
import json
import os
import pathlib
import subprocess
import sys

import python_tests
import dtensor as dt

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILE = __file__

SYNTHETIC = {
    "name": "synthetic_blend", "schema": "synthetic_blend(Tensor self, Tensor other, float weight=0.5, *, int[1]? dim=None) -> Tensor",
    "summary": "A blend of two tensors that no library has.",
    "signatures": [{"overload": "", "text": "synthetic_blend(Tensor self, Tensor other, float weight=0.5, *, int[1]? dim=None) -> Tensor",
                    "params": [{"name": "self", "type": "Tensor"}, {"name": "other", "type": "Tensor"},
                               {"name": "weight", "type": "float", "default": {"type": "float", "text": "0.5"}},
                               {"name": "dim", "type": "int", "list": True, "optional": True, "keyword_only": True,
                                "default": {"type": "none", "text": "none"}}],
                    "return_form": "one", "returns": [{"name": "", "type": "Tensor"}]}]}


def test_a_new_op_appears(tmp_path):
    schemas = tmp_path / "schemas.jsonl"
    known = (python_tests.BUILD / "src" / "ops" / "schemas.jsonl").read_text()
    schemas.write_text(known + json.dumps(SYNTHETIC) + "\n")
    subprocess.run([sys.executable, "-B", str(SOURCE / "scripts" / "make_python.py"), str(schemas), str(tmp_path)], check=True)
    source, stubs = (tmp_path / "generated.c").read_text(), (tmp_path / "_dtensor.pyi").read_text()
    assert "dt_synthetic_blend_sized(a_self, a_other, &options, sizeof options)" in source
    assert "A blend of two tensors that no library has." in source
    assert source.count('{"synthetic_blend", (PyCFunction)') == 2  # the function and the method
    assert "def synthetic_blend(input: DTensor, other: DTensor, weight: builtins.float | None = ..., *, dim: _Ints | None = ...)" in stubs
    assert "    def synthetic_blend(self, other: DTensor" in stubs


def test_every_op_is_there():
    names = [json.loads(line)["name"] for line in (python_tests.BUILD / "src" / "ops" / "schemas.jsonl").read_text().splitlines()]
    missing = [name for name in names if not hasattr(dt, name) and not hasattr(dt._dtensor, name) and not hasattr(dt.DTensor, name)]
    assert not missing
    assert dt.relu.__doc__ and dt.DTensor.softmax.__doc__ and "keepdim" in dt.sum.__doc__


def resident_kib():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def calls(n):
    x, y = dt.ones(4, 4), dt.ones(4, 4)
    for _ in range(n):
        z = x + y
        z.relu()
        x[1]
        x.sum(dim=1, keepdim=True)
        x.max(dim=0)
        z.shape


def test_calls_leave_no_memory():
    calls(20000)
    live, kib = dt.memory_stats()["live"], resident_kib()
    calls(160000)  # about a million calls
    assert dt.memory_stats()["live"] == live
    assert resident_kib() - kib <= 64


def test_errors_leave_no_memory():
    def fail(n):
        x = dt.ones(2, 3)
        for _ in range(n):
            try:
                x @ x
            except dt.ShapeError:
                pass
    fail(5000)
    kib = resident_kib()
    fail(20000)
    assert resident_kib() - kib <= 64


if __name__ == "__main__":
    python_tests.main(FILE)
