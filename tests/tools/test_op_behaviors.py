# SPDX-License-Identifier: Apache-2.0
"""Published behaviors of ops: values against NumPy, placements of outputs, and how many collectives a call takes.

Each row names the behavior that it checks; `dtensor query` runs it on the ranks of its mesh. Partial inputs are split into
random contributions. If this library deviates on purpose, the row has its behavior, and conformance_deviations.md the reason.
"""
import itertools
import json
import math
import os
import re
import subprocess
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

DTENSOR = os.path.join(os.environ["DTENSOR_BUILD"], "bin", "dtensor")
MOVES = "moves"  # as a number of collectives: at least one
DTYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "bool": np.bool_}


class T:
    """An input: shape, placements and values, by default ascending integers."""

    def __init__(self, shape, placements, data=None, dtype="f32"):
        self.shape, self.placements, self.dtype = list(shape), placements, dtype
        n = math.prod(shape)
        self.value = np.array(np.arange(n) % 13 - 4 if data is None else data, DTYPES[dtype]).reshape(shape)

    def request(self):
        return {"shape": self.shape, "placements": self.placements, "dtype": self.dtype, "data": ["nan" if x != x else x for x in self.value.ravel().tolist()]}


class Case:
    """A call and its expected answer: values of its outputs; placements of all of them, or a list with those of each (None: any), or
    others with the same shards; and the number of collectives (None: any), or how many there are of each kind. `args` has a T per
    tensor, lists of them, and plain values."""

    def __init__(self, name, op, mesh, args, values, placements=None, n=None, **kwargs):
        self.name, self.op, self.mesh, self.placements, self.n = name, op, list(mesh), placements, n
        self.values = [np.asarray(v) for v in (values if isinstance(values, (list, tuple)) else [values])]
        self.tensors, self.kwargs = [], {}
        self.args = [self.reference(arg) for arg in args]
        self.kwargs = {key: self.reference(value) for key, value in kwargs.items()}

    def reference(self, value):
        if isinstance(value, T):
            self.tensors.append(value.request())
            return {"t": len(self.tensors) - 1}
        if isinstance(value, list):
            return [self.reference(item) for item in value]
        return value

    def request(self):
        return {"q": "run", "op": self.op, "mesh": self.mesh, "tensors": self.tensors, "args": self.args, "kwargs": self.kwargs}

    def difference(self, answer):
        if "error" in answer:
            return answer["error"]["message"]
        outputs = answer["outputs"]
        if len(outputs) != len(self.values):
            return f"expected {len(self.values)} outputs, got {len(outputs)}"
        for output, value in zip(outputs, self.values):
            if output["shape"] != list(value.shape):
                return f"expected the shape {list(value.shape)}, got {output['shape']}"
            got = np.array([float(x) for x in output["data"]])
            if not np.allclose(got, value.ravel().astype(float), rtol=1e-5, atol=1e-5):
                return f"expected the values {value.ravel()[:8]}, got {got[:8]}"
        places = self.placements if isinstance(self.placements, list) else [self.placements] * len(outputs)
        for output, place in zip(outputs, places):
            if place is not None and not has_same_shards(self.mesh, output["shape"], output["placements"], place):
                return f"expected the placements {self.placements}, got {[output['placements'] for output in outputs]}"
        counts = {kind: n for kind, n in answer["collectives"]["forward"].items() if n}
        n = counts if isinstance(self.n, dict) else sum(counts.values())
        if self.n is not None and (n == 0 if self.n == MOVES else n != self.n):
            return f"expected {self.n} collectives, got {counts}"
        return None

    def __str__(self):
        shapes = "; ".join(f"{t['shape']} {t['placements']}" for t in self.tensors)
        return f"{self.name}: {self.op}({shapes}) {self.args} {self.kwargs} on {self.mesh}"


def query(requests):
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    result = subprocess.run([DTENSOR, "query"], input=lines, text=True, capture_output=True, timeout=110)
    return [json.loads(line) for line in result.stdout.splitlines()]


def has_same_shards(mesh, shape, placements, expected):
    """Whether every rank holds the same elements: there may be several notations."""
    if placements == expected:
        return True
    if "P" in placements + expected:
        return False
    order = "[" in placements
    if order:
        words = [re.fullmatch(r"(_?S\((\d+)[^[]*\)|R)(?:\[(\d+)\])?", word) for word in re.split(r",(?![^(]*\))", placements)]
        dims = {}
        for mesh_dim, word in enumerate(words):
            if word[2]:
                dims.setdefault(word[2], []).append((int(word[3] or 0), mesh_dim))
        order = {dim: [mesh_dim for _, mesh_dim in sorted(positions)] for dim, positions in dims.items()}
        placements = ",".join(word[1] for word in words)
    request = {"q": "shard", "mesh": mesh, "shape": shape, "placements": placements}
    got, expected_shards = query([{**request, "order": order} if order else request, {**request, "placements": expected}])
    return "local" in got and got == expected_shards


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def layer_norm(x, n_dims, weight, bias):
    dims = tuple(range(x.ndim - n_dims, x.ndim))
    centered = x - x.mean(dims, keepdims=True)
    return centered / np.sqrt((centered ** 2).mean(dims, keepdims=True) + 1e-5) * weight + bias


def places(*words):
    return itertools.product(words, repeat=2)


# Elementwise ops and partial values

def elementwise():
    square, column = [3, 5, 2, 4], [1, 2]
    x = np.array(square, float).reshape(2, 2)
    y = np.array(column, float).reshape(2, 1)
    for kind in ("P(sum)", "P(avg)"):
        yield Case("PW-001", "add", [4], [T((2, 2), kind, square), T((2, 1), "R", column)], x + y, kind, 0)
    yield Case("PW-006", "mul", [4], [T((2, 2), "P(sum)", square), T((2, 2), "P(sum)", square)], x * x, "P(sum)", 1)
    for kind in ("P(sum)", "P(avg)"):
        for other in (2, T((), "R", [2]), T((2, 2), "R", [2] * 4)):
            yield Case("PW-007, PW-011", "mul", [4], [T((2, 2), kind, square), other], x * 2, kind, 0)
            yield Case("PW-008, PW-011", "div", [4], [T((2, 2), kind, square), other], x / 2, kind, 0)
    for op, value in (("mul", x * 2), ("div", x / 2)):
        name = "PW-007" if op == "mul" else "PW-008"
        yield Case(name, op, [4], [T((2, 2), "P(max)", square), T((2, 2), "R", [2] * 4)], value, "S(0)", 1)
    yield Case("PW-013", "add", [4], [T((2, 2), "P(sum)", square), 1], x + 1, "S(0)", 1)
    yield Case("PW-013", "sub", [4], [T((2, 2), "P(sum)", square), 1], x - 1, "S(0)", 1)
    yield Case("PW-013", "add", [4], [T((2, 2), "P(sum)", square), T((2, 2), "P(sum)", square)], 2 * x, "P(sum)", 0)
    yield Case("PW-013", "sub", [4], [T((2, 2), "P(sum)", square), T((2, 2), "P(sum)", square)], 0 * x, "P(sum)", 0)
    yield Case("PW-013", "rsub", [4], [T((2, 2), "P(sum)", square), 7], 7 - x, "S(0)", 1)
    for kind, result in (("P(sum)", "P(sum)"), ("P(avg)", "P(avg)"), ("P(max)", "P(min)"), ("P(min)", "P(max)")):
        yield Case("PW-016", "neg", [4], [T((2, 2), kind, square)], -x, result, 0)
    yield Case("PW-017", "maximum", [4], [T((2, 2), "P(max)", square), T((2, 2), "P(sum)", [4] * 4)], np.maximum(x, 4), "P(max)", MOVES)
    for kind in ("P(avg)", "P(max)", "P(min)"):
        yield Case("PW-018", "add", [4], [T((2, 2), kind, square), T((2, 2), "R", [3] * 4)], x + 3, kind, 0)
    yield Case("PW-019", "add", [4], [T((2, 2), "R", [3] * 4), T((2, 2), "P(avg)", square)], x + 3, "P(avg)", 0)
    yield Case("PW-020", "mul", [4], [T((2, 2), "R", [3] * 4), T((2, 2), "P(sum)", square)], 3 * x, "P(sum)", 0)
    yield Case("PW-020", "div", [4], [T((2, 2), "R", [3] * 4), T((2, 2), "P(sum)", square)], 3 / x, None, MOVES)
    yield Case("PW-021", "add_", [4], [T((2, 2), "P(avg)", square), T((2, 2), "R", [3] * 4)], x + 3, "P(avg)", 0)
    yield Case("PW-021", "add_", [4], [T((2, 2), "R", [3] * 4), T((2, 2), "P(avg)", square)], x + 3, "R", MOVES)
    for op, place, shape, value in (("gelu", "S(0)", (8, 5), lambda v: v * (1 + np.vectorize(math.erf)(v / 2 ** 0.5)) / 2),
                                    ("relu", "S(1)", (3, 12), lambda v: np.maximum(v, 0)), ("sigmoid", "S(0)", (8, 5), lambda v: 1 / (1 + np.exp(-v)))):
        for where in (place, "R"):
            yield Case("PW-002", op, [4], [T(shape, where)], value(T(shape, "R").value), where, 0)
    for kind, op, value in (("P(max)", "maximum", np.maximum(x, 4)), ("P(min)", "minimum", np.minimum(x, 4))):
        yield Case("PW-015", op, [4], [T((2, 2), kind, square), T((2, 2), kind, [4] * 4)], value, kind, 0)
    for shape, place in (((8, 5), "S(0)"), ((8, 5), "R"), ((4, 12), "S(1)")):
        data = np.arange(math.prod(shape)).reshape(shape)
        yield Case("PW-009", "masked_fill_", [4], [T(shape, place, data), T(shape, place, data > 20, "bool"), -999],
                   np.where(data > 20, -999, data), place, 0)
    yield Case("exp", "exp", [4], [T((2, 2), "P(sum)", [0] * 4)], np.ones((2, 2)), "S(0)", 1)  # the parts may be anything
    ones = np.ones((4, 4))
    for place in ("S(0),S(0)", "S(0),S(1)"):
        for op, value in (("add", ones + 2), ("sub", ones - 2), ("mul", ones * 2), ("div", ones / 2)):
            yield Case("MATH-034", op, [2, 2], [T((4, 4), place, [1] * 16), 2], value, place, 0)
    mask = T((4, 4), "S(0)")
    for place in ("S(0)", "R"):
        yield Case("TOP-017", "where", [4], [T((4, 4), place, mask.value > 0, "bool"), 1, 0], mask.value > 0, place, 0)


# Products

def products():
    a, b = T((12, 8), "R").value, T((8, 4), "R").value
    row, full = T((4,), "R").value, T((12, 4), "R").value
    for name, pa, pb, out, p_row, p_full in (("MAT-001", "S(0)", "R", "S(0)", "R", "S(0)"), ("MAT-002", "R", "S(1)", "S(1)", "S(0)", "S(1)"),
                                             ("MAT-003", "S(1)", "S(0)", "P(sum)", "P(sum)", "P(sum)"), ("MAT-004", "R", "R", "R", "R", "R")):
        yield Case(name, "addmm", [4], [T((4,), p_row), T((12, 8), pa), T((8, 4), pb)], row + a @ b, out, 0)
        yield Case(name, "addmm", [4], [T((12, 4), p_full), T((12, 8), pa), T((8, 4), pb)], full + a @ b, out, 0)
    for pa, pb, out in (("S(0)", "R", "S(0)"), ("R", "S(1)", "S(1)")):
        yield Case("MAT-005", "addmm", [4], [T((), "R", [3]), T((12, 8), pa), T((8, 4), pb)], 3 + a @ b, out, 0)
    for shape, place, pa, pb, out in (((1, 4), "R", "S(0)", "R", "S(0)"), ((1, 4), "S(1)", "R", "S(1)", "S(1)"),
                                      ((12, 1), "S(0)", "S(0)", "R", "S(0)"), ((12, 1), "R", "R", "S(1)", "S(1)")):
        bias = T(shape, place)
        yield Case("MAT-006" if shape[0] == 1 else "MAT-007", "addmm", [4], [bias, T((12, 8), pa), T((8, 4), pb)], bias.value + a @ b, out, 0)
    yield Case("MAT-008", "addmm", [4], [T((4,), "R"), T((12, 0), "S(0)"), T((0, 4), "R")], np.broadcast_to(row, (12, 4)), "S(0)", 0)
    for bias in (T((4,), "R"), T((12, 4), "R")):
        yield Case("MAT-009", "addmm", [4], [bias, T((12, 8), "S(1)"), T((8, 4), "S(0)")], bias.value + a @ b, "P(sum)", 0)
    wide = T((8, 16), "R").value
    for pa, pb in places("S(0)", "S(1)", "R"):
        yield Case("MAT-013", "mm", [4], [T((12, 8), pa), T((8, 16), pb)], a @ wide)
    yield Case("MAT-014", "mm", [4], [T((8, 3), "_S(0,2)"), T((3, 5), "R")], T((8, 3), "R").value @ T((3, 5), "R").value, "_S(0,2)", 0)
    yield Case("MAT-014", "mm", [2, 2], [T((96, 8), "_S(0,4),_S(0,8)"), T((8, 3), "R,R")], T((96, 8), "R").value @ T((8, 3), "R").value,
               "_S(0,4),_S(0,8)", 0)
    x, w = T((1, 7, 16), "R"), T((16, 16), "S(0)")
    yield Case("MAT-015", "linear", [4], [x, w], x.value @ w.value.T, "S(2)", 0)
    yield Case("MAT-016", "mm", [4], [T((3, 4), "S(0)"), T((4, 4), "R")], T((3, 4), "R").value @ T((4, 4), "R").value, "S(0)", 0)
    p, q = T((16, 12), "R").value, T((12, 20), "R").value
    for kind in ("P(sum)", "P(avg)"):
        for mesh in ((4,), (2, 2), (2, 2, 1), (1, 2, 2, 1), (1, 1, 2, 2, 1)):
            every = ",".join([kind] * len(mesh))
            yield Case("MAT-017", "mm", mesh, [T((16, 12), every), T((12, 20), every)], p @ q, every, {"all_reduce": 1})
        yield Case("MAT-018", "mm", [2, 2], [T((16, 12), f"{kind},R"), T((12, 20), f"R,{kind}")], p @ q, f"{kind},{kind}", 0)
    for mesh in ((2, 2), (4, 1), (1, 4)):
        yield Case("MAT-019", "mm", mesh, [T((32, 16), "S(0),R"), T((16, 32), "R,S(1)")], T((32, 16), "R").value @ T((16, 32), "R").value,
                   "S(0),S(1)", 0)
    yield Case("MAT-020", "matmul", [4], [T((8, 16), "R"), T((16, 16), "S(0)")], T((8, 16), "R").value @ T((16, 16), "R").value, "P(sum)", 0)
    for op, more in (("transpose", [0, 1]), ("t", [])):
        yield Case("MAT-024", op, [4], [T((12, 8), "S(0)"), *more], a.T, "S(1)", 0)
        yield Case("MAT-024", op, [4], [T((8, 12), "S(1)"), *more], T((8, 12), "R").value.T, "S(0)", 0)
    yield Case("MAT-024", "transpose", [4], [T((12, 8), "S(0)"), 0, 1], a.T, "S(1)", 0)
    yield Case("MAT-024", "transpose", [4], [T((8, 12), "S(1)"), 0, 1], T((8, 12), "R").value.T, "S(0)", 0)
    yield Case("MAT-025", "mm", [4], [T((12, 8), "S(1)"), T((8, 4), "S(0)")], a @ b, "P(sum)", 0)
    yield Case("MAT-025", "transpose", [4], [T((12, 4), "P(sum)"), 0, 1], full.T, "P(sum)", 0)
    for pa, pb in places("S(0)", "S(1)", "S(2)", "R"):
        yield Case("MAT-027", "bmm", [4], [T((4, 8, 4), pa), T((4, 4, 8), pb)], T((4, 8, 4), "R").value @ T((4, 4, 8), "R").value)
    big, other = T((64, 64), "R").value, T((64, 64), "R").value
    for pa, pb, out in (("R,R", "R,R", "R,R"), ("R,S(1)", "R,S(0)", "R,P(sum)"), ("R,S(0)", "R,R", "R,S(0)")):
        yield Case("DTC-006", "mm", [2, 2], [T((64, 64), pa), T((64, 64), pb)], big @ other, out, 0)
    for pa, pb in (("P(sum),P(sum)", "P(sum),P(sum)"), ("P(sum),P(sum)", "S(0),R"), ("R,S(0)", "R,S(0)"), ("S(0),S(1)", "S(1),S(0)"),
                   ("P(sum),R", "S(0),S(0)")):
        yield Case("DTC-006", "mm", [2, 2], [T((64, 64), pa), T((64, 64), pb)], big @ other)
    yield Case("DTC-006", "mm", [2, 2], [T((20, 17), "S(0),S(1)"), T((17, 5), "R,S(0)")], T((20, 17), "R").value @ T((17, 5), "R").value)
    for n, small in ((512, 4), (4, 512)):  # the smaller matrix is gathered
        x, y = T((n, 16), "S(0)"), T((16, small), "S(1)")
        yield Case("DTC-008", "mm", [4], [x, y], x.value @ y.value, "S(0)" if n > small else "S(1)", 1)
    x, y = T((3, 3), "S(1)"), T((3, 3), "S(0)")
    yield Case("DTC-007", "mm", [4], [x, y], x.value @ y.value, "P(sum)", 0)
    x, y = T((2, 3, 3), "S(2)"), T((2, 3, 3), "S(1)")
    yield Case("DTC-007", "bmm", [4], [x, y], x.value @ y.value, "P(sum)", 0)
    x, y = T((12, 8), "S(0)"), T((8, 4), "R")
    yield Case("LTM-012", "addmm", [8], [T((4,), "R"), x, y], row + x.value @ y.value, "S(0)", 0)


# Reductions, scans, normalization

def reductions():
    x = T((8, 12, 16), "R").value
    for dim, shard in itertools.product((-1, 0, 1, 2), repeat=2):
        same = dim % 3 == shard % 3
        yield Case("MATH-022", "softmax", [4], [T((8, 12, 16), f"S({shard % 3})"), dim], softmax(x, dim), None if same else f"S({shard % 3})",
                   MOVES if same else 0)
    small = T((3, 5), "R").value
    yield Case("MATH-009", "cumsum", [4], [T((3, 5), "S(0)"), 1], small.cumsum(1), "S(0)", 0)
    yield Case("MATH-009", "cumsum", [4], [T((3, 5), "S(0)"), 0], small.cumsum(0), None, {"all_to_all": 1})
    x = T((12, 8), "R").value
    for dim, place in ((1, "S(0)"), (0, "S(1)"), (0, "S(0)")):
        kept = (place, 0) if place != f"S({dim})" else (None, None)
        yield Case("MATH-010", "cumprod", [4], [T((12, 8), place, x % 3 - 1), dim], (x % 3 - 1).cumprod(dim), *kept)
        yield Case("MATH-010", "logcumsumexp", [4], [T((12, 8), place), dim], np.log(np.exp(x.astype(np.float64)).cumsum(dim)), *kept)
        for op, function in (("cummax", np.maximum), ("cummin", np.minimum)):
            values = function.accumulate(x, dim)
            at = np.arange(x.shape[dim]).reshape((-1, 1) if dim == 0 else (1, -1)) * np.ones_like(x)
            last = np.maximum.accumulate(np.where(x == values, at, -1), dim)
            yield Case("MATH-010", op, [4], [T((12, 8), place), dim], [values, last], *kept)
    x = T((20, 5, 10), "R").value
    for first, shard, affine in itertools.product((0, 1, 2), (0, 1, 2), (False, True)):
        shape = (20, 5, 10)[first:]
        weight, bias = T(shape, "R"), T(shape, "R")
        affine_inputs = {"weight": weight, "bias": bias} if affine else {}
        value = layer_norm(x, 3 - first, weight.value if affine else 1, bias.value if affine else 0)
        yield Case("MATH-026", "layer_norm", [4], [T((20, 5, 10), f"S({shard})"), list(shape)], value, f"S({shard})" if shard < first else None,
                   1 if shard >= first else 0, **affine_inputs)
    x = T((9, 8), "R").value
    yield Case("OPDB-006", "mean", [4], [T((9, 8), "S(1)"), [1]], x.mean(1), "P(sum)", 0)
    yield Case("OPDB-006", "mean", [4], [T((9, 8), "S(0)"), [0]], x.mean(0), "P(sum)", 0)
    yield Case("LTM-010", "mean", [2], [T((3, 4), "S(0)")], T((3, 4), "R").value.mean(), "P(sum)", 0)
    yield Case("LTM-010", "mean", [2], [T((4, 4), "S(0)")], T((4, 4), "R").value.mean(), "P(sum)", 0)
    yield Case("LTM-010", "sum", [2], [T((4, 4), "S(0)")], T((4, 4), "R").value.sum(), "P(sum)", 0)
    odd = 1 + np.arange(12) % 3
    yield Case("LTM-010", "prod", [2], [T((3, 4), "S(0)", odd)], odd.prod(), "P(product)", 0)
    x = T((8, 8), "R", np.sin(np.arange(64))).value
    for place in ("P(sum),S(1)", "P(sum),S(0)", "S(0),S(1)", "R,S(0)", "R,S(1)"):
        yield Case("TOP-048", "argmax", [2, 2], [T((8, 8), place, x), 1], x.argmax(1))
        yield Case("TOP-048", "argmin", [2, 2], [T((8, 8), place, x), 1], x.argmin(1))
    for op, function in (("argmax", np.argmax), ("argmin", np.argmin)):  # the ranks meet: the positions are no partials
        yield Case("TOP-048", op, [4], [T((8, 8), "S(0)", x), 0], function(x, 0))
        yield Case("TOP-048", op, [4], [T((8, 8), "S(0)", x)], function(x), "R")
    yield Case("MATH-005", "max", [4], [T((8, 8), "P(max)", x)], x.max(), "P(max)", 0)
    x = np.sin(np.arange(128 * 64)).reshape(128, 64)
    for op, values, indices in (("max", x.max(1), x.argmax(1)), ("min", x.min(1), x.argmin(1))):
        yield Case("MATH-003", op, [4], [T((128, 64), "S(0)", x), 1], [values, indices], "S(0)", 0)
        yield Case("MATH-003", op, [4], [T((128, 64), "S(1)", x), 1], [values, indices], None, MOVES)
        yield Case("MATH-003", op, [4], [T((128, 64), "P(sum)", np.round(x * 64)), 1],
                   [np.round(x * 64).max(1), np.round(x * 64).argmax(1)] if op == "max" else
                   [np.round(x * 64).min(1), np.round(x * 64).argmin(1)], None, MOVES)
    x = np.sin(np.arange(8 * 4 * 6)).reshape(8, 4, 6)
    order = np.argsort(-x, 0)[:3]
    for place, n in (("S(0)", 1), ("S(1)", 0), ("S(2)", 0), ("R", 0)):
        yield Case("MATH-013", "topk", [4], [T((8, 4, 6), place, x), 3, 0], [np.take_along_axis(x, order, 0), order], place if n == 0 else None, n)
    x = np.sin(np.arange(12 * 8 * 8)).reshape(12, 8, 8)
    plain = {"all": np.all, "any": np.any, "sum": np.sum, "prod": np.prod, "amax": np.max, "amin": np.min, "nansum": np.nansum, "mean": np.mean,
             "var": lambda v, dim=None, **k: np.var(v, dim, ddof=1, **k), "std": lambda v, dim=None, **k: np.std(v, dim, ddof=1, **k)}
    for op, value in plain.items():
        is_logic = op in ("all", "any")
        data = x > -0.99 if op == "all" else x > 0.99 if op == "any" else 1 + x / 8
        t = T((12, 8, 8), "S(0)", data, "bool" if is_logic else "f32")
        yield Case("MATH-001", op, [4], [t], value(data))
        for dim, keep in itertools.product((0, 1, 2), (False, True)):
            yield Case("MATH-001", op, [4], [t], value(data, dim, keepdims=keep), None, None, dim=dim, keepdim=keep)
    for op, value, index in (("max", np.max, np.argmax), ("min", np.min, np.argmin)):
        yield Case("MATH-001", op, [4], [T((12, 8, 8), "S(0)", x)], value(x))
        for dim, keep in itertools.product((0, 1, 2), (False, True)):
            yield Case("MATH-001", op, [4], [T((12, 8, 8), "S(0)", x), dim, keep], [value(x, dim, keepdims=keep), index(x, dim, keepdims=keep)])
    holes = np.array([[1, np.nan, 3], [np.nan, 5, 6]])
    t = T((2, 3), "S(0)", holes)
    t.value = holes.astype(object)
    t.value[np.isnan(holes)] = "nan"
    yield Case("MATH-002", "nansum", [4], [t], np.nansum(holes), "P(sum)", 0)
    yield Case("MATH-002", "nansum", [4], [t, 0], np.nansum(holes, 0), "P(sum)", 0)
    yield Case("MATH-002", "nansum", [4], [t, 1], np.nansum(holes, 1), "S(0)", 0)
    t = T((2, 4), "S(0),S(1)", [-20, -18, -12, 0, -20, -18, -8, 4])
    yield Case("MATH-006", "std", [2, 2], [t], t.value.std(1, ddof=1), "S(0),R", {"all_gather": 1}, dim=1)
    log_sum = np.log(np.exp(small).sum(1)), np.log(np.exp(small).sum(0))
    yield Case("MATH-011", "logsumexp", [4], [T((3, 5), "S(0)"), 1], log_sum[0], "S(0)", 0)
    yield Case("MATH-011", "logsumexp", [4], [T((3, 5), "S(0)"), 0], log_sum[1], "S(0)", {"all_to_all": 1})
    x = T((8, 6), "R").value
    for place, out, n in (("S(0)", "S(0)", 0), ("S(1)", None, MOVES), ("P(sum)", "P(sum)", 0)):
        yield Case("MAT-032", "constant_pad_nd", [4], [T((8, 6), place), [1, 1], 0], np.pad(x, ((0, 0), (1, 1))), out, n)
    yield Case("MAT-032", "constant_pad_nd", [4], [T((8, 6), "P(sum)"), [1, 1], 1], np.pad(x, ((0, 0), (1, 1)), constant_values=1), "S(0)", 1)


# Copies, concatenation and slices, indexing, conversion

def copies():
    big = T((12, 12), "R").value
    for place in ("R", "S(0)"):
        yield Case("TOP-004", "copy_", [4], [T((12, 12), place, [0] * 144), T((12, 12), place)], big, place, 0)
    yield Case("TOP-004", "copy_", [4], [T((16, 16), "R", [0] * 256), T((16,), "R")], np.broadcast_to(T((16,), "R").value, (16, 16)), "R", 0)
    yield Case("TOP-004", "copy_", [4], [T((16, 16), "S(1)", [0] * 256), T((16,), "S(0)")], np.broadcast_to(T((16,), "R").value, (16, 16)),
               "S(1)", 0)
    source = T((8, 1), "R").value
    for place in ("R", "S(0)", "S(1)", "S(2)"):
        yield Case("TOP-004", "copy_", [4], [T((4, 4, 8, 4), place, [0] * 512), T((8, 1), "S(1)")], np.broadcast_to(source, (4, 4, 8, 4)), place)
    for kind in ("P(sum)", "P(max)", "P(min)"):
        yield Case("TOP-005", "copy_", [4], [T((4, 4), kind, [0] * 16), T((4, 4), kind)], T((4, 4), "R").value, kind, 0)
    x = T((4, 4), "R").value
    yield Case("TOP-007", "add_", [4], [T((4, 4), "S(0)"), 2], x + 2, "S(0)", 0)
    yield Case("TOP-007", "mul_", [4], [T((4, 4), "S(0)"), 2], x * 2, "S(0)", 0)
    yield Case("TOP-007", "add_", [4], [T((4, 4), "S(0)"), T((4, 4), "P(sum)")], 2 * x, "S(0)", MOVES)
    eight = T((8, 8), "R").value
    yield Case("TOP-020", "cat", [4], [[T((8, 8), "S(1)"), T((8, 8), "S(1)")], 0], np.concatenate([eight, eight]), "S(1)", 0)
    a, b = T((4, 8), "R"), T((6, 8), "R")
    yield Case("TOP-020", "cat", [4], [[a, b], 0], np.concatenate([a.value, b.value]), "R", 0)
    yield Case("TOP-020", "cat", [4], [[T((8, 8), "S(0)"), T((8, 8), "S(0)")], 0], np.concatenate([eight, eight]), None, None)
    yield Case("LTM-011", "cat", [4], [[T((8, 4), "R"), T((8, 8), "S(0)")], -1], np.concatenate([T((8, 4), "R").value, eight], 1), None, None)
    for kind, size, dim in itertools.product(("P(sum)", "P(avg)", "P(product)", "P(min)", "P(max)"), (2, 3, 4), (0, 1)):
        data = np.where(np.arange(64) % 3 == 0, 2.0, 1.0)
        yield Case("TOP-021", "split", [4], [T((8, 8), kind, data), size, dim],
                   np.split(data.reshape(8, 8), range(size, 8, size), dim), kind, 0)
    for size in (2, 3, 4):
        yield Case("DTC-018", "split", [2], [T((8, 8), "R"), size, 0], np.split(eight, range(size, 8, size)), "R", 0)
    wide = T((8, 16), "R").value
    yield Case("TOP-042", "slice", [4], [T((8, 16), "S(1)"), 1, 8, None], wide[:, 8:], None, None)
    flat = T((2, 4), "R").value
    for args, value in (((1, 0, 2), flat[:, :2]), ((1, 2, None), flat[:, 2:]), ((1, 0, 4), flat), ((1, 0, 8), flat), ((0, 0, 2), flat)):
        yield Case("TOP-043", "slice", [4], [T((2, 4), "S(1)"), *args], value, None, None)
    long = T((32, 10), "R").value
    yield Case("EXO-001", "slice", [2], [T((32, 10), "R"), 1, 0, 5], long[:, :5], "R", 0)
    for kind, dtype, out, n in (("P(sum)", "i32", "S(0)", 1), ("P(sum)", "bool", "S(0)", 1), ("P(sum)", "f64", "P(sum)", 0), ("P(max)", "i32", "P(max)", 0)):
        yield Case("TOP-047", "to", [4], [T((4, 4), kind), dtype], x.astype(DTYPES[dtype]), out, n)


def indexing():
    x = T((4, 6, 8), "R").value
    for dim in (0, 1, 2):
        index = T((2, 3, 4), "R", np.arange(24) % 4, "i64")
        value = np.take_along_axis(x[tuple(slice(None) if d == dim else slice(0, n) for d, n in enumerate((2, 3, 4)))], index.value, dim)
        yield Case("TOP-028", "gather", [4], [T((4, 6, 8), "R"), dim, index], value, "R", 0)
    column = T((8, 1), "R", np.arange(8) % 4, "i64")
    wide = T((8, 8), "R").value
    yield Case("TOP-029", "gather", [4], [T((8, 8), "S(1)"), 1, column], np.take_along_axis(wide, column.value, 1), "P(sum)", 0)
    for dim in (0, 1):
        index = T((8, 8), f"S({dim})", np.arange(64) % 8, "i64")
        yield Case("TOP-030", "gather", [4], [T((8, 8), "R"), dim, index], np.take_along_axis(wide, index.value, dim), f"S({dim})", 0)
    for shape, rows, width in (((5, 4), 17, 12), ((6, 7, 6), 21, 11), ((4, 3, 2, 4), 23, 13), ((2, 3, 2, 2, 3), 23, 16), ((4,), 15, 14),
                               ((34,), 15, 14)):
        index = T(shape, "R", np.arange(math.prod(shape)) * 7 % rows, "i64")
        weight = T((rows, width), "S(1)")
        yield Case("EMB-001", "embedding", [4], [index, weight], weight.value[index.value], f"S({len(shape)})", 0)
        yield Case("EMB-001", "embedding", [4], [index, weight], weight.value[index.value], f"S({len(shape)})", 0, padding_idx=10)
    for shape, rows, width in (((5, 12), 16, 22), ((6, 7, 6), 13, 22), ((34,), 15, 14)):
        index = T(shape, "R", np.arange(math.prod(shape)) * 7 % rows, "i64")
        weight = T((rows, width), "S(0)")
        yield Case("EMB-003, EMB-004", "embedding", [4], [index, weight], weight.value[index.value], "P(sum)", 0)


# Views, and strided shards through ops

def views():
    x = T((6, 12, 4), "R").value
    for one, two in places("R", "S(0)", "S(2)"):
        yield Case("VIEW-021", "view", [3, 2], [T((6, 12, 4), f"{one},{two}"), [72, 4]], x.reshape(72, 4), None, 0 if "S(2)" not in (one, two) else None)
        yield Case("VIEW-021", "reshape", [3, 2], [T((6, 12, 4), f"{one},{two}"), [72, 4]], x.reshape(72, 4), None, None)
    y = T((6, 12, 6, 12), "R").value
    for dims in ((2, 0), (-1, 0)):
        for one, two in places("R", "S(0)", "S(1)", "S(2)", "S(3)"):
            yield Case("VIEW-022", "transpose", [3, 2], [T((6, 12, 6, 12), f"{one},{two}"), *dims], y.swapaxes(*dims), None, 0)
    for shape in ((1, 1, 12), (1, 1, 6, 4), (1, 1, 6, 1, 4, 1)):
        for one, two in places("R", "S(2)"):
            tensor = T(shape, f"{one},{two}")
            yield Case("VIEW-024", "view", [3, 2], [tensor, [-1]], tensor.value.ravel(), f"{one},{two}".replace("2", "0"), 0)
    z = T((24, 1, 36, 1), "R").value
    for one, two in places("R", "S(0)", "S(2)"):
        place = f"{one},{two}"
        out = place.replace("2", "3").replace("0", "1")
        yield Case("VIEW-016", "expand", [3, 2], [T((24, 1, 36, 1), place), [2, 24, 3, -1, 2]], np.broadcast_to(z, (2, 24, 3, 36, 2)), out, 0)
    for name, shape, size in (("VIEW-001", (2, 3), [3, 2]), ("VIEW-002", (3, 4, 5), [12, 5]), ("VIEW-003", (2, 3, 4, 5, 7), [12, 70]),
                              ("VIEW-004", (2, 3, 4, 5, 7), [3, 8, 7, 5]), ("VIEW-005", (3, 4, 8, 3), [12, 4, 2, 3]),
                              ("VIEW-006", (3, 24), [1, 3, 2, 4, 1, 3, 1]), ("VIEW-007", (1, 1, 3, 2, 1, 1), [6, 1, 1, 1]),
                              ("VIEW-008", (1, 1, 12, 1, 1, 1, 2, 5, 1), [3, 4, 1, 10]), ("VIEW-009", (2, 3, 4), [2, -1, 4])):
        for dim in range(len(shape)):
            tensor = T(shape, f"S({dim})")
            kept = (f"S({dim})", 0) if name == "VIEW-009" else (None, None)
            yield Case(name, "view", [6], [tensor, size], tensor.value.reshape(size), *kept)
    for dim in range(3):
        tensor = T((48, 35, 26), f"S({dim})")
        yield Case("VIEW-010", "view", [3, 2], [T((48, 35, 26), f"S({dim}),R"), [24, 4, 35, 13]], tensor.value.reshape(24, 4, 35, 13))
    flat = T((6, 256), "R").value
    yield Case("VIEW-027", "view", [6], [T((6, 256), "S(0)"), [-1]], flat.ravel(), "S(0)", 0)
    yield Case("VIEW-027", "view", [6], [T((6, 256), "S(1)"), [-1]], flat.ravel(), "_S(0,6)", 0)
    yield Case("VIEW-027", "view", [6], [T((6, 24), "S(1)"), [-1]], T((6, 24), "R").value.ravel(), "_S(0,6)", 0)
    yield Case("VIEW-030", "view", [2, 3], [T((24,), "S(0),S(0)"), [6, 4]], T((24,), "R").value.reshape(6, 4), "S(0),S(0)", 0)
    for size in (1, 7):
        t = T((size, 2, 2, 2), "S(0)")
        for shape in ((size, 2, 4), (size, 4, 2), (size, 8), (size, 2, 2, 2)):
            yield Case("VIEW-032", "view", [6], [t, list(shape)], t.value.reshape(shape), "S(0)", 0)
    for shape in ((12, 12), (12, 12, 12)):
        t = T(shape, "R")
        yield Case("VIEW-036", "view", [6], [t, [144, *shape[2:]]], t.value.reshape(144, *shape[2:]), "R", 0)
    for shape, sizes, before, after in (((2, 3, 4), (2, 12), "S(0)", "S(0)"), ((2, 3, 4, 2), (2, 12, 2), "S(0)", "S(0)"), ((2, 3, 4, 2), (2, 12, 2), "S(3)", "S(2)"),
                                        ((2, 3, 4, 2), (6, 4, 2), "S(2)", "S(1)"), ((2, 3, 4, 2), (6, 4, 2), "S(3)", "S(2)"), ((2, 3, 4, 2), (24, 2), "S(3)", "S(1)")):
        t = T(shape, before)
        yield Case("VIEW-038", "view", [2], [t, list(sizes)], t.value.reshape(sizes), after, 0)
    t = T((12, 5), "R")
    yield Case("VIEW-042", "view", [6], [t, [3, 4, 5]], t.value.reshape(3, 4, 5), "R", 0)
    t = T((4, 6, 3), "S(1),S(0)")
    yield Case("VIEW-045", "view", [3, 2], [t, [24, 3]], t.value.reshape(24, 3), "_S(0,4),S(0)", 0)
    t = T((24, 3), "_S(0,4),S(0)")
    yield Case("VIEW-045", "view", [3, 2], [t, [12, 2, 3]], t.value.reshape(12, 2, 3), "_S(0,4),S(0)", 0)


def rearranged():
    """Dims in another order, several as one, and repeated ones."""
    for place in ("S(0)", "R", "P(sum)"):
        vector = T((8,), place)
        yield Case("MAT-026", "t", [4], [vector], vector.value, place, 0)
    for shape, size, places_of in (((24, 36), (1, 24, 36), ("S(1)", "S(2)")), ((24, 36), (42, 24, 36), ("S(1)", "S(2)")),
                                   ((24, 1, 36), (12, 24, 24, 36), ("S(1)", None, "S(3)")), ((24, 36), (-1, 36), ("S(0)", "S(1)")),
                                   ((24, 1, 36), (-1, 1, 36), ("S(0)", None, "S(2)")), ((36, 1, 24), (12, 36, 42, 24), ("S(1)", None, "S(3)"))):
        for dim, after in enumerate(places_of):
            if after:
                t = T(shape, f"S({dim})")
                to = [n if n >= 0 else shape[d - (len(size) - len(shape))] for d, n in enumerate(size)]
                yield Case("VIEW-014, VIEW-015", "broadcast_to", [6], [t, list(size)], np.broadcast_to(t.value, to), after, 0)
    for op in ("flatten", "ravel"):
        for dim, after in ((0, "S(0)"), (1, "_S(0,24)")):
            t = T((24, 36), f"S({dim})")
            yield Case("VIEW-017", op, [6], [t], t.value.ravel(), after, 0)
        yield Case("VIEW-017", op, [6], [T((42,), "S(0)")], T((42,), "R").value, "S(0)", 0)
        yield Case("VIEW-017", op, [6], [T((), "R")], T((1,), "R").value, "R", 0)
    for shape, source, destination in (((12, 24, 48, 6), 1, 2), ((6, 12, 24), 1, 0), ((24, 12, 6), [1, 2], [0, 1]), ((24, 6, 12), [0, 2, 1], [2, 1, 0]),
                                       ((24, 12), [1, 0], [0, 1]), ((36, 24, 12), [1, 2], [0, 1]), ((36, 24, 12), [1, 2], [-3, -2])):
        for dim in range(len(shape)):
            t = T(shape, f"S({dim})")
            moved = np.moveaxis(t.value, source, destination)
            at = [d for d in range(len(shape)) if np.moveaxis(np.empty([1 + (e == dim) for e in range(len(shape))]), source, destination).shape[d] == 2][0]
            yield Case("VIEW-018", "movedim", [6], [t, source, destination], moved, f"S({at})", 0)
    for dims in ([2, 0, 1], [-1, -3, -2]):
        for dim, after in enumerate(("S(1)", "S(2)", "S(0)")):
            t = T((24, 36, 42), f"S({dim})")
            yield Case("VIEW-019", "permute", [6], [t, dims], t.value.transpose(dims), after, 0)
    for shape, first, last in (((12, 5), 0, 1), ((5, 12, 3), 1, 2), ((2, 12, 3, 5), 1, 2)):
        for dim in range(len(shape)):
            t = T(shape, f"S({dim})")
            flat = (*shape[:first], shape[first] * shape[last], *shape[last + 1:])
            after = f"S({dim})" if dim <= first else shard(first, shape[first]) if dim == last else f"S({dim - 1})"
            if shape[dim] % 6:
                continue
            yield Case("VIEW-039", "flatten", [6], [t, first, last], t.value.reshape(flat), after, 0)
            back = T(flat, after)
            yield Case("VIEW-039", "unflatten", [6], [back, first, [shape[first], shape[last]]], back.value.reshape(shape), f"S({dim})", 0)
    t = T((8, 4), "S(0)")
    yield Case("MATH-037", "view_as", [4], [t, T((8, 2, 2), "R")], t.value.reshape(8, 2, 2), "S(0)", 0)


def joined():
    """stack and unbind; where the dim of unbind is sharded, it moves."""
    for one, two, out in (("P(sum),R", "P(sum),P(sum)", None), ("S(1)", "S(1)", None)):
        mesh = [2, 2] if "," in one else [4]
        a, b = T((4, 8), one), T((4, 8), two, np.arange(32))
        for dim in (0, 1, -1):
            after = out if len(mesh) == 2 else {0: "S(2)", 1: "S(2)", -1: "S(1)"}[dim]
            yield Case("TOP-018", "stack", mesh, [[a, b], dim], np.stack([a.value, b.value], dim), after, 0 if len(mesh) == 1 else None)
    for place, dim, after in (("S(0)", 1, "S(0)"), ("S(1)", 0, "S(0)"), ("S(0)", 0, None)):
        t = T((4, 8), place)
        yield Case("TOP-022", "unbind", [4], [t, dim], list(np.moveaxis(t.value, dim, 0)), after, 0 if after else None)
    strided_shard = T((3, 48, 5), "_S(1,2),S(1)")
    for dim, after in ((0, "_S(0,2),S(0)"), (2, "_S(1,2),S(1)"), (1, None)):
        yield Case("VIEW-052", "unbind", [2, 3], [strided_shard, dim], list(np.moveaxis(strided_shard.value, dim, 0)), after, 0 if after else None)
    a = T((48, 5), "_S(0,2),S(0)")
    for dim, after in ((0, "_S(1,2),S(1)"), (2, "_S(0,2),S(0)")):
        yield Case("VIEW-053", "stack", [2, 3], [[a, a], dim], np.stack([a.value, a.value], dim), after, 0)
    x, y = T((4, 3, 4), "R"), T((4, 4, 5), "R")
    add = np.arange(60, dtype=np.float32).reshape(4, 3, 5)
    for beta in (0, 0.8):
        data = np.full_like(add, np.nan) if beta == 0 else add
        expected = 0.5 * (x.value @ y.value) + (beta * add if beta else 0)
        for i, (a, b, c) in enumerate(itertools.product(("R", "S(0)", "S(1)", "S(2)"), repeat=3)):
            tensors = [T((4, 3, 5), a, data), T((4, 3, 4), b), T((4, 4, 5), c)]
            yield Case("MAT-028", "baddbmm", [4], tensors, expected, None, None, beta=beta, alpha=0.5)
    for a, b, c, after in (("S(0)", "S(0)", "S(0)", "S(0)"), ("R", "R", "R", "R")):
        tensors = [T((8, 4), a), T((8, 4), b), T((8, 4), c)]
        expected = tensors[0].value + tensors[1].value * tensors[2].value
        yield Case("MATH-036", "addcmul", [4], tensors, expected, after, 0)
        number = T((), "R", 3)
        yield Case("MATH-036", "addcmul", [4], [tensors[0], tensors[1], number], tensors[0].value + 3 * tensors[1].value, after, 0)


def written():
    """scatter, repeat, and whole tensors that are compared."""
    for other, same in (("S(0)", True), ("R", True), ("S(0)", False)):
        a, b = T((8, 4), "S(0)"), T((8, 4), other)
        b.value[7, 3] += not same
        yield Case("TOP-023", "equal", [4], [a, b], np.array(same))
    yield Case("TOP-023", "equal", [4], [T((8, 4), "S(0)"), T((8, 3), "R")], np.array(False))
    for dim in (0, 1):
        x, index, src = T((8, 8), "R"), T((1, 8) if dim == 0 else (8, 1), "R", np.arange(8) % 8, "i64"), T((8, 8), "R", np.arange(64))
        expected = x.value.copy()
        np.put_along_axis(expected, index.value, src.value[:1] if dim == 0 else src.value[:, :1], dim)
        yield Case("TOP-025", "scatter", [4], [x, dim, index, src], expected.copy(), "R", 0)
        np.put_along_axis(expected, index.value, 7, dim)
        yield Case("TOP-025", "scatter", [4], [x, dim, index, 7], expected, "R", 0)
    x, index, src = T((8, 4), "S(0)"), T((8, 2), "S(0)", [0, 2] * 8, "i64"), T((8, 2), "S(0)", np.arange(16))
    expected = x.value.copy()
    np.put_along_axis(expected, index.value, src.value, 1)
    yield Case("TOP-026", "scatter", [4], [x, 1, index, src], expected, "S(0)", 0)
    src, index = T((8, 2), "S(0)", np.arange(16)), T((6, 2), "S(0)", [0, 2] * 6, "i64")
    expected = x.value.copy()
    np.put_along_axis(expected[:6], index.value, src.value[:6], 1)
    yield Case("TOP-027", "scatter", [4], [x, 1, index, src], expected)
    for op in ("repeat", "tile"):
        t = T((24, 36), "S(0)")
        yield Case("VIEW-020", op, [6], [t, [1, 2, 1, 1, 2]], np.tile(t.value, (1, 2, 1, 1, 2)), "S(3)", 0)
    for dim in (0, 1):
        t = T((12, 24, 6), f"S({dim})")
        yield Case("VIEW-020", "tile", [6], [t, [1, 3]], np.tile(t.value, (1, 3)), f"S({dim})", 0)


def shard(dim, factor):
    return f"S({dim})" if factor == 1 else f"_S({dim},{factor})"


def factorizations(n):
    """Ordered lists of two or more factors above 1."""
    for first in range(2, n):
        if n % first == 0:
            yield (first, n // first)
            yield from ((first, *rest) for rest in factorizations(n // first))


def flattening():
    """If the sharded sizes divide, nothing moves and the shards stay; otherwise only the values are compared."""
    for n_dims in (2, 3):
        for sizes in itertools.product((11, 12, 13), repeat=n_dims):
            for s, e in itertools.combinations(range(n_dims + 1), 2):
                for dim in range(s, e) if e - s > 1 else ():
                    if n_dims == 3 and sizes.count(12) < 2:
                        continue
                    t, even = T(sizes, f"S({dim})"), sizes[dim] % 6 == 0
                    to = (*sizes[:s], math.prod(sizes[s:e]), *sizes[e:])
                    place = shard(s, math.prod(sizes[s:dim]))
                    yield Case("VIEW-034", "view", [6], [t, list(to)], t.value.reshape(to), place if even else None, 0 if even else None)
                    if even:
                        back = T(to, place)
                        yield Case("VIEW-040", "view", [6], [back, list(sizes)], back.value.reshape(sizes), f"S({dim})", 0)
    for mesh in ((3, 2), (2, 3)):
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            t = T((12, 12, 12), f"S({i}),S({j})")
            local = [12, 12, 12]
            first = shard(0, math.prod(local[:i]))
            local[i] //= mesh[0]
            second = shard(0, math.prod(local[:j]))
            yield Case("VIEW-035" if mesh == (3, 2) else "VIEW-037", "view", mesh, [t, [1728]], t.value.ravel(), f"{first},{second}", 0)
    for a, b in itertools.product((11, 12, 13), repeat=2):
        for to in factorizations(a * b):
            if list(to) == sorted(to) and len(to) <= 3 and to != (a, b):
                for dim, size in enumerate((a, b)):
                    if size % 6 == 0:
                        t = T((a, b), f"S({dim})")
                        yield Case("VIEW-033", "view", [6], [t, list(to)], t.value.reshape(to))
    for size, to in ((n, to) for n in (35, 36) for to in factorizations(n)):
        even = size % 6 == 0 and to[0] % 6 == 0
        t = T((size,), "S(0)")
        yield Case("VIEW-041", "view", [6], [t, list(to)], t.value.reshape(to), "S(0)" if even else None, 0 if even else None)
        t = T((6, size, 6), "S(2)")
        yield Case("VIEW-041", "view", [6], [t, [6, *to, 6]], t.value.reshape(6, *to, 6), f"S({1 + len(to)})", 0)
    for mesh, lists in (((3, 2), ((6, 4, 3), (3, 4, 6), (3, 2, 12))), ((2, 3), ((6, 4, 3), (4, 6, 2), (3, 2, 6), (2, 6, 4)))):
        for to, (i, j) in itertools.product(lists, itertools.combinations(range(3), 2)):
            if to[i] % mesh[0] == 0 and to[j] % mesh[1] == 0:
                t = T((math.prod(to),), f"{shard(0, math.prod(to[:i]))},{shard(0, math.prod(to[:j]) // mesh[0])}")
                yield Case("VIEW-043" if mesh == (3, 2) else "VIEW-044", "view", mesh, [t, list(to)], t.value.reshape(to), f"S({i}),S({j})", 0)
    t = T((32, 4), "S(1)")
    yield Case("VIEW-029", "view", [4], [t, [4, 32]], t.value.reshape(4, 32))
    t = T((16, 4, 4), "_S(0,8)")
    yield Case("DTC-002", "view", [2], [t, [-1, 4]], t.value.reshape(64, 4), "_S(0,8)", 0)
    t = T((8, 256), "S(0)")
    yield Case("VIEW-028", "view", [6], [t, [-1]], t.value.ravel(), "S(0:512,512,512,512,0,0)", 0)
    t = T((8, 256), "S(1)")
    yield Case("VIEW-028", "view", [6], [t, [8, 2, -1]], t.value.reshape(8, 2, 128), None, MOVES)
    t = T((4, 4), "S(0)")
    yield Case("VIEW-031", "view", [6], [t, [-1, 8]], t.value.reshape(2, 8), None, MOVES)


def strided():
    rows = T((48, 6), "_S(0,4)")
    x = rows.value
    yield Case("VIEW-046", "sum", [6], [rows, [1]], x.sum(1), "_S(0,4)", 0)
    yield Case("VIEW-046", "sum", [6], [rows, [0]], x.sum(0), "P(sum)", 0)
    t = T((3, 60), "_S(1,5)")
    yield Case("VIEW-046", "sum", [6], [t, [0]], t.value.sum(0), "_S(0,5)", 0)
    for dim in (0, 1):
        yield Case("VIEW-047", "softmax", [6], [rows, dim], softmax(x, dim), None, 0 if dim else MOVES)
    yield Case("VIEW-048", "layer_norm", [6], [rows, [6]], layer_norm(x, 1, 1, 0), "_S(0,4)", 0)
    yield Case("VIEW-048", "layer_norm", [6], [rows, [48, 6]], layer_norm(x, 2, 1, 0), None, MOVES)
    for shape, factor in (((48, 6), 4), ((36, 5), 3), ((60, 3), 5)):
        t = T(shape, f"_S(0,{factor})")
        yield Case("VIEW-049", "transpose", [6], [t, 0, 1], t.value.T, f"_S(1,{factor})", 0)
        t = T(shape[::-1], f"_S(1,{factor})")
        yield Case("VIEW-049", "transpose", [6], [t, 0, 1], t.value.T, f"_S(0,{factor})", 0)
    t = T((2, 3, 48), "_S(2,4)")
    for dim in (0, 1):
        yield Case("VIEW-051", "select", [6], [t, dim, 0], t.value.take(0, dim), "_S(1,4)", 0)
    yield Case("VIEW-051", "select", [6], [t, 2, 0], t.value[..., 0], None, None)
    yield Case("VIEW-054", "slice", [6], [rows, 0, 0, 24], x[:24], None, None)
    yield Case("VIEW-054", "slice", [6], [rows, 1, 0, 3], x[:, :3], "_S(0,4)", 0)
    columns = T((3, 60), "_S(1,5)")
    for t in (rows, columns):
        for dim in (0, 1):
            kept = (t.placements, 0) if f"_S({dim}" not in t.placements else (None, None)
            yield Case("VIEW-057", "cat", [6], [[t, t], dim], np.concatenate([t.value, t.value], dim), *kept)
    yield Case("VIEW-058", "split", [6], [columns, 30, 1], [columns.value[:, :30], columns.value[:, 30:]], None, None)
    yield Case("VIEW-058", "split", [6], [rows, 24, 0], [x[:24], x[24:]], None, None)
    yield Case("VIEW-058", "split", [6], [rows, 3, 1], [x[:, :3], x[:, 3:]], "_S(0,4)", 0)
    yield Case("VIEW-059", "add", [6], [rows, rows], 2 * x, "_S(0,4)", 0)
    yield Case("VIEW-062", "relu", [6], [rows], np.maximum(x, 0), "_S(0,4)", 0)
    yield Case("VIEW-062", "abs", [6], [rows], abs(x), "_S(0,4)", 0)
    yield Case("VIEW-062", "add", [6], [rows, 1], x + 1, "_S(0,4)", 0)
    grid = T((48, 6), "_S(0,4),R")
    for op, more, value in (("relu", [], np.maximum(x, 0)), ("sum", [[1]], x.sum(1)), ("matmul", [T((6, 16), "R,R")], x @ T((6, 16), "R").value)):
        yield Case("VIEW-062", op, [3, 2], [grid, *more], value, "_S(0,4),R", 0)
    yield Case("VIEW-062", "mul", [6], [rows, 0.5], x * 0.5, "_S(0,4)", 0)
    w = T((6, 16), "R")
    yield Case("VIEW-062", "matmul", [6], [rows, w], x @ w.value, "_S(0,4)", 0)


def squeezes():
    big = T((42, 24, 36), "R").value
    for dim, out in ((0, "S(0)"), (1, "S(2)"), (2, "S(3)")):
        yield Case("VIEW-023", "unsqueeze", [6], [T((42, 24, 36), f"S({dim})"), 1], big[:, None], out, 0)
    for shape, place, dims, out in (((6, 1, 1, 8), "S(0)", [1, 2], "S(0)"), ((6, 1, 8), "S(0)", 1, "S(0)"), ((4, 1, 1, 8), "R", None, "R"),
                                    ((2, 1, 3, 1), "R", [1, 3], "R")):
        value = T(shape, "R").value
        yield Case("VIEW-064", "squeeze", [6], [T(shape, place)] + ([] if dims is None else [dims]),
                   value.squeeze(tuple(dims) if isinstance(dims, list) else dims), out, 0)
    rows = T((6, 8), "S(0)")
    yield Case("VIEW-065", "squeeze", [6], [rows, 1], rows.value, "S(0)", 0)
    yield Case("VIEW-066", "squeeze", [6], [T((1, 4), "P(max)"), 0], T((4,), "R").value, "P(max)", 0)
    yield Case("VIEW-066", "squeeze", [6], [T((1,), "P(sum)")], T((1,), "R").value[0], "P(sum)", 0)
    for dims in ([], [0]):
        yield Case("VIEW-067", "squeeze", [6], [rows] + dims, rows.value, "S(0)", 0)
    yield Case("VIEW-068", "squeeze", [6], [T((1, 4, 1), "R"), [0, 1, 2]], T((4,), "R").value, "R", 0)
    yield Case("VIEW-068", "squeeze", [6], [T((1, 6, 1), "S(1)"), [0, 1, 2]], T((6,), "R").value, "S(0)", 0)
    yield Case("VIEW-070", "squeeze", [6], [T((1, 6), "S(1)"), 0], T((6,), "R").value, "S(0)", 0)
    yield Case("VIEW-070", "squeeze", [2, 3], [T((1, 2, 3), "S(1),S(2)"), 0], T((2, 3), "R").value, "S(0),S(1)", 0)


def norms():
    x = np.sin(np.arange(96)).reshape(12, 8).astype(np.float32)
    for op, value in (("norm", np.linalg.norm), ("max", np.max), ("min", np.min)):
        yield Case("MATH-004", op, [4], [T((12, 8), "P(sum)", np.round(x * 8))], value(np.round(x * 8)), None, MOVES)
    yield Case("MATH-014", "linalg_vector_norm", [4], [T((12, 8), "S(0)", x), 2], np.linalg.norm(x), "R", 1)
    yield Case("MATH-014", "linalg_vector_norm", [4], [T((2,), "P(sum)", [6, 4])], np.sqrt(52), None, MOVES)
    zeros = x * (x > 0)
    for order, value, place in (("inf", abs(x).max(), "P(max)"), ("-inf", abs(x).min(), "P(min)"), (1, abs(x).sum(), "P(sum)")):
        yield Case("MATH-015", "linalg_vector_norm", [4], [T((12, 8), "S(0)", x), order], value, place, 0)
    yield Case("MATH-015", "linalg_vector_norm", [4], [T((12, 8), "S(0)", zeros), 0], (zeros != 0).sum(), "P(sum)", 0)
    yield Case("MATH-016", "linalg_vector_norm", [4], [T((6,), "P(sum)", [0, 1, 0, 3, 0, 5]), 0], 3.0, None, MOVES)
    y = np.cos(np.arange(64)).reshape(8, 8).astype(np.float32)
    both = [T((12, 8), "S(0)", x), T((8, 8), "S(0)", y)]
    yield Case("MATH-017", "_foreach_norm", [4], [both, 2], [np.linalg.norm(x), np.linalg.norm(y)], "R", 2)
    partials = [T((2,), "P(sum)", [6, 4]), T((2,), "P(sum)", [10, 8])]
    yield Case("MATH-017", "_foreach_norm", [4], [partials, 2], [np.sqrt(52), np.sqrt(164)], None, MOVES)
    for order in (1, 2, 3):
        powers = [(abs(v.astype(np.float64)) ** order).sum() for v in (x, y)]
        yield Case("MATH-018", "power_sum", [4], [both[0], order], powers[0], "P(sum)", 0)
        yield Case("MATH-018", "_foreach_power_sum", [4], [both, order], powers, "P(sum)", 0)
    yield Case("MATH-029", "linalg_svdvals", [4], [T((8, 8), "S(0)", y)], np.linalg.svd(y, compute_uv=False), "R", 1)


def lists():
    shapes = ((8, 8), (4, 4), (2, 6))
    values = [T(shape, "R").value for shape in shapes]
    for place in ("P(sum)", "S(0)"):
        tensors = [T(shape, place) for shape in shapes]
        yield Case("PW-022", "_foreach_add", [4], [tensors, tensors], [2 * v for v in values], place, 0)
        yield Case("PW-022", "_foreach_neg", [4], [tensors], [-v for v in values], place, 0)
        yield Case("PW-022", "_foreach_mul", [4], [tensors, 2.0], [2 * v for v in values], place, 0)
    mixed = [T((8, 8), "P(sum)"), T((4, 4), "S(0)")]
    yield Case("PW-023", "_foreach_add", [4], [mixed, mixed], [2 * v for v in values[:2]], ["P(sum)", "S(0)"], 0)
    small = [np.round(np.cos(v), 3) for v in values]
    yield Case("PW-024", "_foreach_acos", [4], [[T(v.shape, "S(0)", v) for v in small]], [np.arccos(v) for v in small], "S(0)", 0)
    rows = [T((4, 8), "S(0)", np.arange(32) * k - 40) for k in (1, 2, 3)]
    yield Case("MATH-021", "_foreach_abs", [4], [rows], [abs(t.value) for t in rows], "S(0)", 0)
    yield Case("MATH-021", "_foreach_max", [4], [rows], [t.value.max() for t in rows], "P(max)", 0)
    grad = T((8, 5), "S(0)")
    mask = T((8, 5), "S(0)", np.arange(40) % 3 > 0, "bool")
    for p in (0.0, 1.0):
        yield Case("PW-004", "dropout", [4], [T((8, 5), "P(sum)"), p, True], grad.value * (1 - p), "P(sum)", 0)
    yield Case("PW-003", "native_dropout_backward", [4], [grad, mask, 0.3], grad.value * mask.value * 0.3, "S(0)", 0)


def array_of(output):
    """The data of an output; complex elements are pairs."""
    data = np.array(output["data"])
    if output["dtype"].startswith("c"):
        data = data.reshape(-1, 2) @ [1, 1j]
    return data.reshape(output["shape"])


class Behaviors(unittest.TestCase):
    def check(self, cases):
        cases = sorted(cases, key=lambda case: math.prod(case.mesh))  # the ranks of a world are reused by the next request of that size
        replies = query([case.request() for case in cases])
        self.assertEqual(len(replies), len(cases))
        wrong = [f"{case}: {case.difference(reply)}" for case, reply in zip(cases, replies) if case.difference(reply)]
        if wrong:
            self.fail("\n" + "\n".join(wrong))

    def test_singular_vectors(self):
        """MATH-029: gathered once; the same on every rank, and those of one rank."""
        y = np.cos(np.arange(64)).reshape(8, 8).astype(np.float32)
        requests = [Case("MATH-029", "linalg_svd", mesh, [T((8, 8), place, y)], [y]).request() for mesh, place in (([1], "R"), ([4], "S(0)"))]
        alone, sharded = query(requests)
        self.assertEqual({kind: n for kind, n in sharded["collectives"]["forward"].items() if n}, {"all_gather": 1})
        for one, four in zip(alone["outputs"], sharded["outputs"]):
            self.assertEqual(four["placements"], "R")
            self.assertEqual(one["data"], four["data"])
        u, s, vh = (np.array(output["data"]).reshape(output["shape"]) for output in sharded["outputs"])
        self.assertTrue(np.allclose(u * s @ vh, y, atol=1e-5))
        self.assertTrue(np.allclose(u.T @ u, np.eye(8), atol=1e-5))

    def test_batches_of_matrices(self):
        """MATH-031: sharded batches send nothing, and their results are sharded."""
        a = (np.sin(np.arange(128)).reshape(8, 4, 4) + 4 * np.eye(4)).astype(np.float32)
        a += a.transpose(0, 2, 1)
        b = np.cos(np.arange(64)).reshape(8, 4, 2).astype(np.float32)
        tensors = {"linalg_solve": [a, b]}
        names = ["linalg_cholesky", "linalg_inv", "linalg_lu_factor", "linalg_eig", "linalg_solve"]
        requests = [Case("MATH-031", name, [4], [T(x.shape, "S(0)", x) for x in tensors.get(name, [a])], []).request() for name in names]
        results = {}
        for name, reply in zip(names, query(requests)):
            self.assertFalse(any(reply["collectives"]["forward"].values()), name)
            self.assertEqual({output["placements"] for output in reply["outputs"]}, {"S(0)"}, name)
            results[name] = [array_of(output) for output in reply["outputs"]]
        factor, (inverse,), (solution,) = results["linalg_cholesky"][0], results["linalg_inv"], results["linalg_solve"]
        self.assertTrue(np.allclose(factor @ factor.transpose(0, 2, 1), a, atol=1e-4))
        self.assertTrue(np.allclose(inverse @ a, np.eye(4), atol=1e-4))
        self.assertTrue(np.allclose(a @ solution, b, atol=1e-4))
        self.assertTrue(np.allclose(np.abs(np.prod(np.diagonal(results["linalg_lu_factor"][0], 0, 1, 2), -1)), np.abs(np.linalg.det(a)), rtol=1e-4))
        values, vectors = results["linalg_eig"]
        self.assertTrue(np.allclose(a @ vectors, vectors * values[:, None, :], atol=1e-3))

    def test_the_checker(self):
        square, x = [3, 5, 2, 4], np.array([[3, 5], [2, 4]])
        valid = dict(name="x", op="neg", mesh=[2], args=[T((2, 2), "S(0)", square)], values=-x, placements="S(0)", n=0)
        wrong = [dict(values=x), dict(values=[-x, -x]), dict(values=-x.ravel()), dict(placements="S(1)"), dict(placements="P(sum)"), dict(n=1),
                 dict(n=MOVES), dict(op="no_such_op")]
        cases = [Case(**valid)] + [Case(**{**valid, **change}) for change in wrong]
        differences = [case.difference(reply) for case, reply in zip(cases, query([case.request() for case in cases]))]
        self.assertIsNone(differences[0])
        self.assertTrue(all(differences[1:]), differences)
        self.assertTrue(has_same_shards([3, 2], [24, 3], "_S(0,2)[1],S(0)[0]", "_S(0,4),S(0)"))
        for other in ("S(0),_S(0,4)", "_S(0,2),S(0)", "S(0),S(0)", "R,R"):
            self.assertFalse(has_same_shards([3, 2], [24, 3], "_S(0,2)[1],S(0)[0]", other), other)

    def test_elementwise(self):
        self.check(elementwise())

    def test_products(self):
        self.check(products())

    def test_reductions(self):
        self.check(reductions())

    def test_norms(self):
        self.check(norms())

    def test_lists(self):
        self.check(lists())

    def test_copies(self):
        self.check(copies())

    def test_indexing(self):
        self.check(indexing())

    def test_views(self):
        self.check(views())

    def test_rearranged(self):
        self.check(rearranged())

    def test_joined(self):
        self.check(joined())

    def test_written(self):
        self.check(written())

    def test_squeezes(self):
        self.check(squeezes())

    def test_flattening(self):
        self.check(flattening())

    def test_strided_shards(self):
        self.check(strided())


if __name__ == "__main__":
    unittest.main()
