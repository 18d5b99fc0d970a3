#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares ops and their gradients with PyTorch: random calls (calls.py), on 1 to 5 ranks (ranks.py). `make compare` runs it.

Of each call are compared: dtypes and shapes of outputs, their values, what an op in place has written, gradients for random
gradients of the outputs, and second derivatives: the gradients of these gradients. Inputs have random placements, partial ones
among them, and are views in most calls: transposed, every second element, a part, or expanded.

What is equal. Integers, booleans, NaN and infinities must be the same. Other numbers may differ by rounding, which is estimated for
each element: with u, half the distance between 1 and the next number of a dtype, and D, by how much the exact result changes, per
relative change of the inputs, when these are changed at random, a number may differ from the exact one by

    STEPS u (|exact| + D + S)  +  the distance of two numbers of the dtype near it

STEPS u is what a chain of STEPS rounded operations may lose relative to its operands; D includes what cancels. What cancels whatever
the inputs are is in S: of gradients the largest given gradient of an output, because factors such as 1 - tanh(x)^2 are differences of
numbers near 1; 1 for logarithms of sums of exponentials. The exact result is that of PyTorch in f64.
In f32 a number may also be off by OWN_ERROR times as much as PyTorch's, and any number by the smallest one that is not subnormal. u is that of the arithmetic: f32 for outputs in f16 and bf16, which are rounded once; but that of the dtype
itself for partial sums, because each rank has rounded one, and for gradients, whose formulas are several ops, each with a result of
its dtype. A result that agrees with PyTorch's own
result in the dtype is right in any case; so is one that agrees with the exact one where PyTorch's own overflows on its way.

Deliberate differences are in DELIBERATE, with reasons; one that no call has met is reported, so that the list stays true.
"""
import argparse
import base64
import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
except ImportError:
    print("compare: skipped, python3 has no torch (python3 -m pip install torch)")
    sys.exit(0)
import calls
import image_calls  # these register families
import index_calls
import linalg_calls
import maker_calls
from calls import DTYPES, WORDS

STEPS = 16
DRAWS = 16  # random changes of the inputs
OWN_ERROR = 4
CHANGE = 2.0 ** -26  # their relative size, in f64
MESHES = [[1], [2], [3], [2, 2], [5], [1, 3], [4]]
WIDE = {torch.float32: torch.float64, torch.float16: torch.float64, torch.bfloat16: torch.float64,
        torch.complex64: torch.complex128}

def has_infinite(call):
    return any(bool(torch.isinf(x).any()) for x in call.tensors)


def has_zero_and_infinite(call):
    return has_infinite(call) and any(bool((x == 0).any()) for x in call.tensors)


# Ops, the difference, one of the dtypes (and one after each +), "" for any or a condition of the call, and the reason; the
# first two are regular expressions.
DELIBERATE = [
    (".*", "refused: .*expected (real|a floating-point|floating-point|integer).*got c", "c64 c128", "complex numbers have no such op"),
    (".*_", "refused: .*an in-place op cannot keep the placements", "", "an op in place does not move the tensor that it writes to"),
    ("floor_divide_?|fmod_?|remainder_?|div_?", "PyTorch refuses: ZeroDivisionError", "", "an integer divided by 0 is 0, as in NumPy"),
    ("pow_?", "PyTorch refuses: Integers to negative integer powers", "", "integers to negative powers are rounded toward 0"),
    ("[lg][te]_?|eq_?|ne_?|logical_.*|clamp.*|floor_divide_?|remainder_?|fmod_?|pow_?", "output: values", "u8",
     "numbers and tensors without dims are used before they wrap around"),
    ("eq_?|ne_?|[lg][te]_?", "output: values", "i8 i16 i32 i64 u8 + f16 bf16", "integers with half precision are used in f32"),
    ("copy_", "(output|base): values", "u8 + f32 f64 f16 bf16", "floating point out of range becomes the nearest integer"),
    ("view(_as)?", "refused: .*strides of the tensor allow no view", "", "a view of a local tensor needs its strides"),
    ("trace|logcumsumexp|logaddexp|div_?|pow_?|fmod_?|remainder_?|floor_divide_?", "PyTorch refuses: .*not implemented for",
     "i8 i16 i32 i64 u8 bool",
     "integers and booleans are accepted"),
    ("(log_)?softmax|softmin", "refused: .*expected a floating-point tensor or dtype, got", "",
     "softmax of integers needs a dtype, also where there are none"),
    ("logical_.*_", "gradient|second", "", "the gradient of what a logical op overwrites is 0; PyTorch's passes through"),
    ("softsign|mish|gelu|silu|logaddexp", "(gradient|second derivative): values: .*expected nan", "", "limits at infinity, where PyTorch has NaN"),
    ("(add|sub)_?|rsub", "(output|base): values: .*expected nan", "c64 c128", "a real infinity added to a complex number has no imaginary part"),
    ("addcmul_?", "(output|base): values: .*expected -?inf, got nan", "f32 f64 bf16", "products that overflow next to an infinity"),
    ("div_", "(gradient|second derivative): values: .*got -?(inf|nan)", "f64 + f32 f16 bf16",
     "the gradient by a divisor uses the result, which overflows in the narrower dtype"),
    ("softplus", "second derivative: values: .*expected -?0,", "f64", "the second derivative at the threshold itself"),
    ("prod|cumprod", "(gradient|second derivative): values: .*expected nan, got [^n]", "",
     "no division by a factor that is infinite or NaN"),
    ("prod|cumprod", "second derivative: values: .*expected (0|-?inf), got nan", has_zero_and_infinite,
     "0 times infinity among the other factors"),
    ("layer_norm", "gradient: values: .*expected nan, got -?inf", has_infinite, "infinite weights: PyTorch subtracts infinite sums from each other"),
    ("(layer|rms)_norm", "second derivative: values: .*expected -?inf, got nan", has_infinite, "infinite weights: infinite terms of both signs"),
    ("logcumsumexp", "second derivative: values: .*expected nan, got [^n]", "", "NaN only where a term is NaN"),
    ("atan2_?", "gradient|second", "i8 i16 i32 i64 u8", "PyTorch's squares of integers wrap around"),
    ("kl_div", "second derivative: values: .*expected nan, got 0", "", "a mean of nothing has gradients of 0"),
    ("(var|std)_mean", "output: values: .*expected nan, got -?inf", "", "the mean of infinities, as mean has it"),
    ("addmv", "output: shape", "", "PyTorch does not broadcast the addend to a result of an empty product"),
    ("(select|slice|diagonal)_scatter", "PyTorch refuses: .*does not support automatic differentiation", "c64 c128",
     "gradients of complex numbers"),
    ("interpolate", "(output|gradient|second derivative): values",
     lambda call: call.kwargs.get("antialias") and call.kwargs.get("align_corners") and call.run(*call.tensors).shape[-1] == 1,
     "PyTorch loses the rows of a result of one column"),
    ("linalg_lstsq", "output: values: .*expected 0,", lambda call: call.tensors[0].shape[-1] == 0,
     "without columns the residuals are those of 0"),
    ("linspace", "output: values", lambda call: call.kwargs.get("dtype", {}).get("dtype") in ("f16", "bf16"),
     "numbers are rounded to half precision once; PyTorch rounds the step"),
    ("clip_grad_norm", "PyTorch refuses: .*empty tensor", "", "the norm of nothing is 0"),
]


def is_inexact(x):
    return x.is_floating_point() or x.is_complex()


def unit(dtype):
    return torch.finfo(dtype).eps / 2


def to_bytes(tensor):
    dense = tensor.detach().clone(memory_format=torch.contiguous_format).reshape(-1)
    return base64.b64encode(bytes(dense.view(torch.uint8).tolist()) if dense.numel() else b"").decode()


def from_answer(value):
    raw = bytearray(base64.b64decode(value["data"]))
    dtype = DTYPES[value["dtype"]]
    flat = torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)
    return flat.reshape(value["shape"])


# Views: the base of a tensor, and the ops that make the tensor from it.

def make_view(draw, x):
    kind = draw.choice(["dense", "transposed", "stepped", "part", "expanded"])
    if x.dim() == 0 or kind == "dense":
        return x, []
    dim = draw.randrange(x.dim())
    if kind == "transposed":
        other = draw.randrange(x.dim())
        return x.transpose(dim, other).contiguous(), [["transpose", [dim, other]]]
    if kind == "expanded":
        if x.shape[dim] == 0 or not torch.equal(x, x.narrow(dim, 0, 1).expand_as(x)):
            return x, []
        return x.narrow(dim, 0, 1).contiguous(), [["expand", [list(x.shape)]]]
    sizes = list(x.shape)
    step = 2 if kind == "stepped" else 1
    sizes[dim] = step * sizes[dim] + 2
    base = torch.full(sizes, 77, dtype=x.dtype) if x.dtype != torch.bool else torch.ones(sizes, dtype=x.dtype)
    end = 1 + step * x.shape[dim]
    base[tuple(slice(1, end, step) if d == dim else slice(None) for d in range(x.dim()))] = x
    return base, [["slice", [dim, 1, end, step]]]


def apply_views(base, views):
    for op, args in views:
        if op == "slice":
            dim, start, end, step = args
            base = base[tuple(slice(start, end, step) if d == dim else slice(None) for d in range(base.dim()))]
        else:
            base = getattr(base, op)(*args)
    return base


def make_placements(draw, base, mesh, is_partial):
    choices = ["R"] + 2 * [f"S({dim})" for dim in range(base.dim())]
    placements = [draw.choice(choices) for _ in mesh]
    if is_partial:
        placements[draw.randrange(len(mesh))] = "P(sum)"
    return placements


def make_terms(draw, x, n):
    """Values that are multiples of 1/32, and n terms of them, with the same sign: exact sums, in any order, in any dtype."""
    signs = [draw.choice([-1, 1]) for _ in range(x.numel())]
    steps = [[sign * draw.randint(1, 32) for sign in signs] for _ in range(n)]
    terms = [torch.tensor([s / 32 for s in one], dtype=torch.float64).reshape(x.shape).to(x.dtype) for one in steps]
    return sum(term.double() for term in terms).to(x.dtype).reshape(x.shape), terms


class Case:
    """A call on a mesh, the request for it, and what PyTorch has for it."""

    def __init__(self, draw, number, call, has_grad):
        self.number, self.call = number, call
        self.mesh = draw.choice(MESHES)
        self.values, self.views, requests = [], [], []
        # Each term of a partial tensor is multiplied, so 0 times infinity makes NaN of a sum.
        is_plain = not call.whole and all(bool((torch.isfinite(x) & (x != 0)).all()) for x in call.tensors if x.is_floating_point()) and \
            call.op not in ("binary_cross_entropy", "byte", "to", "topk", "kthvalue")  # topk and kthvalue: sums might be equal
        for i, x in enumerate(call.tensors):
            base, views = make_view(draw, x)
            written = call.in_place and i in call.writes
            if written and (x.numel() == 0 or views and views[0][0] == "expand"):
                base, views = x, []
            partial = is_plain and x.is_floating_point() and x.numel() and not written and draw.random() < 0.1
            placements = make_placements(draw, base, self.mesh, partial)
            if written and (len(call.writes) > 1 or views and views[0][0] == "slice"):  # what is written to must not move
                placements = ["R"] * len(self.mesh)
            request = {"shape": list(base.shape), "dtype": WORDS[base.dtype], "placements": ",".join(placements), "view": views}
            if partial:
                base, terms = make_terms(draw, base, self.mesh[placements.index("P(sum)")])
                request["terms"] = [to_bytes(term) for term in terms]
            else:
                request["data"] = to_bytes(base)
            self.values.append(base)
            self.views.append(views)
            requests.append(request)
        self.request = {"op": call.op, "mesh": self.mesh, "tensors": requests, "args": call.args, "kwargs": call.kwargs}
        if call.then:
            self.request.update(then=call.then, compared=call.compared)
        self.leaves = [i for i, x in enumerate(call.tensors) if has_grad and i not in call.fixed and is_inexact(x)]
        self.weights, self.outer = [], []
        self.native = self.run(draw, torch.Tensor.clone, True)
        if call.in_place and not self.leaves:
            self.request["bases"] = True
        if self.weights:
            self.request["leaves"] = self.leaves
            self.request["grads"] = [[k, self.replicated(w)] for k, w in self.weights]
            if call.in_place:
                self.request["copied"] = list(call.writes)
            if self.outer:
                self.request["second"] = [[k, self.replicated(w)] for k, w in self.outer]

    def scale(self, part):
        """The magnitude of what may cancel whatever the inputs are."""
        largest = lambda weights: max((w.abs().max().item() for _, w in weights if w.numel()), default=0)
        own = {"grads": self.call.slope, "second": max(self.call.slope, self.call.curvature)}
        scale = max(self.call.scale, part != "outputs", own.get(part, 0))
        return scale * (1 if part in ("outputs", "bases") else largest(self.weights)) * (largest(self.outer) if part == "second" else 1)

    def replicated(self, x):
        return {"shape": list(x.shape), "dtype": WORDS[x.dtype], "placements": ",".join("R" for _ in self.mesh), "data": to_bytes(x)}

    def run(self, draw, convert, first=False):
        """What PyTorch computes from the converted values: outputs, bases, grads, second; or the text of its error."""
        bases = [convert(x) for x in self.values]
        tensors = [apply_views(base, views) for base, views in zip(bases, self.views)]
        for i in self.leaves:
            tensors[i] = tensors[i].detach().clone().requires_grad_()
        used = list(tensors)
        if self.call.in_place and self.leaves:
            used = [x.clone() if i in self.call.writes else x for i, x in enumerate(used)]
        try:
            found = self.call.run(*used)
        except Exception as error:
            return str(error).split("\n", 1)[0] or type(error).__name__
        outputs = [found] if isinstance(found, torch.Tensor) else list(found)
        result = {"outputs": [o.detach() for o in outputs], "bases": bases, "grads": [], "second": []}
        if first:
            self.weights = [(k, draw.tensor(o.shape, WORDS[o.dtype])) for k, o in enumerate(outputs)
                            if o.requires_grad and is_inexact(o)]
        if not self.weights:
            return result
        weights = [convert(w).requires_grad_() for _, w in self.weights]
        inputs = [tensors[i] for i in self.leaves]
        try:
            grads = torch.autograd.grad([outputs[k] for k, _ in self.weights], inputs, weights, create_graph=True, allow_unused=True)
        except Exception:
            if first:
                self.weights = []
            return result
        result["grads"] = [grad if grad is None else grad.detach() for grad in grads]
        real = [k for k, g in enumerate(grads) if g is not None and g.requires_grad and is_inexact(g)]
        if first:
            self.outer = [(k, draw.tensor(grads[k].shape, WORDS[grads[k].dtype])) for k in real]
        outer = [(k, w) for k, w in self.outer if k in real]
        try:
            second = outer and torch.autograd.grad([grads[k] for k, _ in outer], inputs + weights, [convert(w) for _, w in outer],
                                                   allow_unused=True)
            result["second"] = [grad if grad is None else grad.detach() for grad in second]
        except Exception:
            if first:
                self.outer = []
        return result

    def exact(self, draw):
        return self.run(draw, lambda x: x.to(WIDE.get(x.dtype, x.dtype), copy=True))

    def changed(self, draw):
        """The exact results for inputs that were changed; equal numbers are changed alike, so that ties remain ties."""
        salt = draw.randrange(1 << 20)

        def convert(x):
            if not (x.is_floating_point() or x.is_complex()):
                return x.clone()
            wide = x.to(WIDE.get(x.dtype, x.dtype), copy=True)
            parts = torch.view_as_real(wide) if wide.is_complex() else wide
            bits = parts.contiguous().view(torch.int64)
            bits = ((bits ^ bits >> 29) + salt) * 0x9E3779B97F4A7C1  # mixes them, so that bit 60 depends on all
            sign = (bits >> 60 & 1).to(parts.dtype) * 2 - 1
            if self.call.keeps_corners:
                sign = torch.where(parts * 2 == (parts * 2).round(), 0, sign)
            parts = parts * (1 + CHANGE * sign)
            return torch.view_as_complex(parts.contiguous()) if wide.is_complex() else parts
        return self.run(draw, convert)


def distance(x, dtype):
    """Between two numbers of the dtype near each element of x."""
    info = torch.finfo(dtype)
    _, exponent = torch.frexp(x.abs().double())
    return torch.ldexp(torch.full_like(x, info.eps / 2, dtype=torch.float64), exponent.clamp(min=math.frexp(info.tiny)[1]))


def as_reals(x):
    x = torch.view_as_real(x.resolve_conj()) if x.is_complex() else x
    return x.double() if x.is_floating_point() else x


def agrees(got, expected, bound):
    equal = (got == expected) | (torch.isnan(got) & torch.isnan(expected))
    return equal | ((got - expected).abs() <= bound)


class Comparison:
    """How an answer differs from PyTorch; None if it does not."""

    def __init__(self, case, draw):
        self.case, self.draw, self.others = case, draw, None

    def exact_and_changed(self):
        if self.others is None:
            exact = self.case.exact(self.draw)
            self.others = (exact, [self.case.changed(self.draw) for _ in range(DRAWS)])
        return self.others

    def bound(self, part, k, dtype, is_rounded):
        """The exact values and the bound of rounding, or None where PyTorch has none in f64."""
        exact, changed = self.exact_and_changed()
        if isinstance(exact, str) or k >= len(exact[part]) or exact[part][k] is None or exact[part][k].shape != self.shape(part, k):
            return None, None
        center = as_reals(exact[part][k])
        real = {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)
        arithmetic = self.coarsest(real) if is_rounded else torch.float64 if real == torch.float64 else torch.float32
        spread = torch.zeros_like(center)
        for other in changed:
            moved = (as_reals(other[part][k]) - center).abs()
            spread = torch.maximum(spread, torch.where(torch.isfinite(moved), moved, 0) / CHANGE)
        rounded = torch.where(torch.isfinite(center), center, 0)
        scale = self.case.scale(part)
        size = torch.linalg.vector_norm(rounded, dim=-1, keepdim=True) if dtype.is_complex else rounded.abs()
        if self.case.call.matrices and size.numel():
            size, spread = size.amax(), spread.amax()
        bound = STEPS * unit(arithmetic) * (size + spread + scale) + distance(rounded, real)
        if real == torch.float32:
            error = (as_reals(self.case.native[part][k]) - center).abs()
            bound += OWN_ERROR * torch.where(torch.isfinite(error), error, 0)
        tiny = torch.finfo(torch.float64 if real == torch.float64 else torch.float32).tiny
        return center.to(real).double(), bound + tiny

    def coarsest(self, dtype):
        """Gradients of a call with several dtypes pass through that of its outputs."""
        if self.case.call.arithmetic:
            return DTYPES[self.case.call.arithmetic]
        return max([dtype] + [o.dtype for o in self.case.native["outputs"] if o.is_floating_point()], key=lambda d: torch.finfo(d).eps)

    def shape(self, part, k):
        return self.case.native[part][k].shape

    def values(self, part, k, got, name, is_partial=False):
        expected = self.case.native[part][k]
        if got.shape != expected.shape:
            return f"{name}: shape: expected {list(expected.shape)}, got {list(got.shape)}"
        if got.dtype != expected.dtype:
            return f"{name}: dtype: expected {WORDS[expected.dtype]}, got {WORDS[got.dtype]}"
        if not (expected.is_floating_point() or expected.is_complex()):
            wrong = got != expected
            if not bool(wrong.any()):
                return None
            at = int(wrong.reshape(-1).nonzero()[0])
            return f"{name}: values: [{at}] expected {expected.reshape(-1)[at].item()}, got {got.reshape(-1)[at].item()}"
        mine, theirs = as_reals(got), as_reals(expected)
        right = agrees(mine, theirs, torch.zeros_like(theirs))
        if bool(right.all()):
            return None
        exact, bound = self.bound(part, k, expected.dtype, is_partial or part in ("grads", "second"))
        if exact is not None:
            right |= agrees(mine, theirs, bound) | agrees(mine, exact, bound)
        if bool(right.all()):
            return None
        at = int((~right).reshape(-1).nonzero()[0])
        pick = lambda x: x.reshape(-1)[at].item()
        return (f"{name}: values: [{at}] expected {pick(theirs):.9g}, got {pick(mine):.9g}" +
                ("" if exact is None else f" (exact {pick(exact):.9g}, bound {pick(bound):.2g})"))

    def gradient(self, part, k, got, name):
        """No gradient and a gradient of zeros are the same."""
        expected = self.case.native[part][k]
        if expected is None and got is None:
            return None
        if got is None:
            got = torch.zeros_like(expected)
        if expected is None:
            self.case.native[part][k] = torch.zeros_like(got)
            exact, changed = self.exact_and_changed()
            for other in [exact] + changed:
                other[part][k] = torch.zeros_like(got)
        return self.values(part, k, got, name)

    def message(self, answer):
        native = self.case.native
        if "error" in answer:
            return None if isinstance(native, str) else f"refused: {answer['error']}"
        if isinstance(native, str):
            return f"PyTorch refuses: {native}"
        if len(answer["outputs"]) != len(native["outputs"]):
            return f"outputs: expected {len(native['outputs'])}, got {len(answer['outputs'])}"
        for k, output in enumerate(answer["outputs"]):
            message = self.values("outputs", k, from_answer(output), "output", output["partial"])
            if message:
                return message
        for k, base in enumerate(answer.get("bases", [])):
            message = self.values("bases", k, from_answer(base), "base")
            if message:
                return message
        for part, name in ("grads", "gradient"), ("second", "second derivative"):
            if self.case.weights and part in self.case.request and len(answer.get(part, [])) != len(native[part]):
                return f"{name}: expected {len(native[part])}, got {len(answer.get(part, []))}"
            for k, grad in enumerate(answer.get(part, [])):
                message = self.gradient(part, k, grad and from_answer(grad), name)
                if message:
                    return message
        return None


def clip_case(draw, number):
    """clip_grad_norm of a few parameters."""
    tensors = [calls.without_extremes(draw.hard(draw.sizes(), "f64")) for _ in range(draw.randint(1, 3))]
    call = calls.Call("clip_grad_norm", tensors, [], {}, None)
    norm_type, max_norm = draw.choice([1.0, 2.0, 3.0, math.inf]), draw.choice([0.5, 100.0])

    def run(*tensors):
        parameters = [torch.nn.Parameter(x.detach().clone()) for x in tensors]
        for parameter in parameters:
            parameter.grad = parameter.detach() * 2
        norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type)
        return [norm] + [parameter.grad for parameter in parameters]

    call.run = run
    case = Case(draw, number, call, False)
    values = [apply_views(base, views) for base, views in zip(case.values, case.views)]
    tensors = [{**request, "view": [], "shape": list(x.shape), "data": to_bytes(x)} for request, x in
               zip(case.request["tensors"], values)]
    for request in tensors:
        request.pop("terms", None)
        request["placements"] = ",".join("R" if len(request["shape"]) == 0 else "S(0)" for _ in case.mesh)
    grads = [{**request, "data": to_bytes(x * 2)} for request, x in zip(tensors, values)]
    case.request.update(tensors=tensors, grads=grads, norm_type=norm_type, max_norm=max_norm)
    return case


def make_cases(options):
    names = [name for name in [*calls.FAMILIES, "clip_grad_norm"] if not options.ops or re.fullmatch(options.ops, name)]
    cases = []
    for number in range(options.number):
        draw = calls.Draw(f"{options.seed} {number}")
        name = names[number % len(names)]
        if name != "clip_grad_norm":
            function, dtypes = calls.FAMILIES[name]
            call = function(draw, name, draw.choice(dtypes))
        if options.case is not None and number != options.case:
            continue
        if name == "clip_grad_norm":
            cases.append(clip_case(draw, number))
        elif call:
            cases.append(Case(draw, number, call, draw.random() < 0.7))
    return cases


def ask_ranks(options, cases):
    """Answers by case number: one launch for each number of ranks."""
    groups = collections.defaultdict(list)
    for case in cases:
        groups[math.prod(case.mesh)].append(case)
    answers = {}
    for n, group in sorted(groups.items()):
        with tempfile.TemporaryDirectory() as folder:
            to, back = os.path.join(folder, "requests"), os.path.join(folder, "answers")
            with open(to, "w", encoding="utf-8") as file:
                json.dump([case.request for case in group], file)
            here = os.path.dirname(os.path.abspath(__file__))
            subprocess.run([os.path.join(options.build, "bin", "dtrun"), "-n", str(n), sys.executable, os.path.join(here, "ranks.py"),
                            os.path.join(options.build, "lib", "libdtensor.so"), to, back], check=True)
            with open(back, encoding="utf-8") as file:
                answers.update(zip((case.number for case in group), json.load(file)))
    return answers


def deliberate(case, message, used):
    dtypes = {WORDS[x.dtype] for x in case.call.tensors}
    for i, (ops, kind, of, reason) in enumerate(DELIBERATE):
        if not re.fullmatch(ops, case.call.op) or not re.match(kind, message):
            continue
        if of(case.call) if callable(of) else not of or all(dtypes & set(o.split()) for o in of.split("+")):
            used.add(i)
            return reason
    return None


def describe(case):
    tensors = " ".join(f"{t['dtype']}{t['shape']}{t['placements']}{''.join(op for op, _ in t['view'])}"
                       for t in case.request["tensors"]).replace(", ", ",")
    kwargs = {key: value for key, value in case.call.kwargs.items()}
    return f"{case.call.op} {tensors} on {case.mesh} args {case.call.args} {kwargs}"


def main():
    parser = argparse.ArgumentParser(description="Compares ops and gradients with PyTorch.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=20000, help="of calls")
    parser.add_argument("--ops", help="a regular expression of op names")
    parser.add_argument("--case", type=int, help="only this one of the calls")
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--shown", type=int, default=3, help="differences shown of each op and kind")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    cases = make_cases(options)
    answers = ask_ranks(options, cases)
    differences, reasons, used, refused = collections.Counter(), collections.Counter(), set(), 0
    for case in cases:
        answer = answers[case.number]
        message = Comparison(case, calls.Draw(case.number)).message(answer)
        refused += "error" in answer and not message
        if not message:
            continue
        reason = deliberate(case, message, used)
        if reason:
            reasons[reason] += 1
            continue
        kind = (case.call.op, re.split(r": \[|expected", message)[0][:60])
        differences[kind] += 1
        if differences[kind] <= options.shown:
            print(f"#{case.number} {describe(case)}\n    {message}")
    for reason, n in reasons.most_common():
        print(f"{n:6} calls differ on purpose: {reason}")
    if not options.ops and options.case is None:
        for i, entry in enumerate(DELIBERATE):
            if i not in used:
                print(f"no call has met this difference: {entry}")
    ops = {case.call.op for case in cases}
    with_grads = sum("grads" in case.request for case in cases)
    second = sum("second" in case.request for case in cases)
    print(f"{len(cases)} calls of {len(ops)} ops ({with_grads} with gradients, {second} with second derivatives; {refused} refused by "
          f"both), seed {options.seed}: {sum(differences.values())} differ, in {len(differences)} kinds")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
