# SPDX-License-Identifier: Apache-2.0
"""Random calls of ops: for each op the tensors and arguments of a call, and the same call in PyTorch.

A family is a function that draws a call of one of its ops, in a dtype: shapes with sizes 0 and 1 among them, negative dims,
broadcasting, mixed dtypes, and special values (NaN, infinities, zeros of both signs, limits and corners of functions).
"""
import math
import random

import torch
import torch.nn.functional as F

DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
          "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool,
          "c64": torch.complex64, "c128": torch.complex128}
WORDS = {dtype: word for word, dtype in DTYPES.items()}
FLOATS, INTS, COMPLEX = ["f32", "f64", "f16", "bf16"], ["i8", "i16", "i32", "i64", "u8"], ["c64", "c128"]
REALS = FLOATS + INTS + ["bool"]
NAN, INF = float("nan"), float("inf")
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1e30, -1e30, 1e-40, 100.0, -100.0, 1000.0, -1000.0]
CORNERS = [0.0, 0.5, -0.5, 1.0, -1.0, 2.0, 3.0, -3.0, 6.0, 20.0]


class Call:
    """`run` takes the tensors. Rounding is estimated with changes of all inputs, except those at corners where `keeps_corners`.
    An `in_place` op writes to its first tensor, or those of `writes`. PyTorch has no gradients of the `fixed` tensors.
    `scale` is the magnitude of numbers that cancel inside, `slope` and `curvature` of those that do in derivatives. PyTorch's
    gradients have the precision of the dtype `arithmetic`. Tensors of a `whole` call are no partial sums, whose values would be
    others. Errors of `matrices` are relative to the largest number of a result, as LAPACK bounds them. What is compared may be
    made of the outputs by more ops: `then` is a list of them, each with its arguments, which count the outputs and then the
    results, and `compared` are the tensors among these."""

    def __init__(self, op, tensors, args, kwargs, run, keeps_corners=False, in_place=False, writes=(0,), fixed=(), scale=0,
                 slope=0, curvature=0, arithmetic=None, whole=False, matrices=False, then=(), compared=None):
        self.op, self.tensors, self.args, self.kwargs, self.run = op, tensors, args, kwargs, run
        self.keeps_corners, self.in_place, self.writes, self.fixed, self.scale = keeps_corners, in_place, writes, fixed, scale
        self.slope, self.curvature, self.arithmetic, self.whole = slope, curvature, arithmetic, whole
        self.matrices, self.then, self.compared = matrices, then, compared


FAMILIES = {}  # op: (function, dtypes)


def family(names, dtypes):
    def register(function):
        for name in names.split() if isinstance(names, str) else names:
            FAMILIES[name] = (function, dtypes)
        return function
    return register


def t(i):
    return {"t": i}


def function_of(op):
    """The op of this name in PyTorch."""
    for place in torch, F, torch.Tensor:
        if hasattr(place, op):
            return getattr(place, op)
    return getattr(torch.linalg, op.removeprefix("linalg_"))


class Draw(random.Random):
    def sizes(self, n=None, least=0):
        n = self.choice([0, 1, 1, 2, 2, 3]) if n is None else n
        return [self.choice([size for size in (0, 1, 2, 3, 4, 5, 7) if size >= least]) for _ in range(n)]

    def number(self, dtype, special, corners):
        if dtype == "bool":
            return self.random() < 0.5
        if dtype in INTS:
            if special and self.random() < 0.1:
                return self.choice([torch.iinfo(DTYPES[dtype]).min, torch.iinfo(DTYPES[dtype]).max])
            return self.randint(0, 9) if dtype == "u8" else self.randint(-9, 9)
        if dtype in COMPLEX:
            return complex(self.uniform(-2, 2), self.uniform(-2, 2))
        if special and self.random() < 0.2:
            return self.choice(SPECIAL)
        if corners and self.random() < 0.2:
            return self.choice(CORNERS)
        return self.uniform(-3, 3)

    def tensor(self, sizes, dtype, special=False, corners=False):
        values = [self.number(dtype, special, corners) for _ in range(math.prod(sizes))]
        return torch.tensor(values, dtype=DTYPES[dtype]).reshape(sizes)

    def pairs(self, dtype):
        """Two lists with all pairs of special values, corners and an ordinary number."""
        values = SPECIAL + CORNERS + [self.uniform(-3, 3)]
        x, y = zip(*[(a, b) for a in values for b in values])
        return torch.tensor(x, dtype=DTYPES[dtype]), torch.tensor(y, dtype=DTYPES[dtype])

    def maybe(self, sizes, dtype):
        """Special values in some of the calls only, so that ordinary ones are compared, too."""
        return self.tensor(sizes, dtype, special=self.random() < 0.4, corners=self.random() < 0.4)

    def probabilities(self, sizes, dtype):
        """0 and 1 among them, in some of the calls."""
        ends, n = self.random() < 0.4, math.prod(sizes)
        values = [self.choice([0.0, 1.0]) if ends and self.random() < 0.2 else self.uniform(0.01, 0.99) for _ in range(n)]
        return torch.tensor(values, dtype=DTYPES[dtype]).reshape(sizes)

    def hard(self, sizes, dtype):
        """Special values, ties or zeros, each kind in calls of its own, so that a single one is met as often as many."""
        rare = self.choice([[], [], SPECIAL, [0.0, -0.0], [NAN], [INF, -INF], [0.0, INF], [1.0, -1.0], [NAN, INF, 0.0, 1.0]])
        share = self.choice([0.1, 0.3, 0.8]) if rare and dtype in FLOATS else 0
        values = [self.choice(rare) if self.random() < share else self.number(dtype, bool(rare), False) for _ in range(math.prod(sizes))]
        return torch.tensor(values, dtype=DTYPES[dtype]).reshape(sizes)

    def dim(self, n):
        return self.randint(-n, n - 1) if n else self.choice([0, -1])

    def dims(self, n):
        chosen = self.sample(range(n), self.randint(1, n)) if n else []
        return [dim if self.random() < 0.5 else dim - n for dim in chosen]

    def broadcast(self, sizes):
        out = [1 if self.random() < 0.25 else size for size in sizes]
        return out[self.randint(0, len(out)):] if self.random() < 0.3 else out

    def other(self, dtype):
        return dtype if self.random() < 0.6 else self.choice(REALS)

    def scalar(self, dtype):
        if dtype in INTS + ["bool"]:
            return self.choice([2, 3, -2, True, 1.5])
        return self.choice([2, -1, 0.75, True, 3.0])


UNARY = """abs exp log sqrt rsqrt sin cos tan tanh sigmoid erf erfc expm1 log1p log2 log10 exp2 sinh cosh asin acos atan floor ceil
    round trunc frac sign sgn reciprocal square neg positive logical_not bitwise_not isnan isinf isfinite relu nan_to_num"""
UNARY_IN_PLACE = """abs_ exp_ log_ sqrt_ rsqrt_ sin_ cos_ tan_ tanh_ sigmoid_ erf_ erfc_ expm1_ log1p_ log2_ log10_ exp2_ sinh_ cosh_
    asin_ acos_ atan_ floor_ ceil_ round_ trunc_ frac_ sign_ sgn_ reciprocal_ square_ neg_ logical_not_ bitwise_not_ relu_
    nan_to_num_ zero_"""


@family(UNARY.split() + UNARY_IN_PLACE.split(), REALS + COMPLEX)
def unary(draw, op, dtype):
    run = function_of(op)
    x = draw.tensor(draw.sizes(), dtype, special=True, corners=True)
    return Call(op, [x], [t(0)], {}, run, keeps_corners=True, in_place=op.endswith("_"))


ACTIVATIONS = {
    "gelu": lambda draw: {"approximate": draw.choice(["none", "tanh"])}, "silu": None, "mish": None, "selu": None,
    "softsign": None, "hardswish": None, "hardsigmoid": None, "relu6": None, "tanhshrink": None,
    "softplus": lambda draw: {"beta": draw.choice([1.0, 0.5, 2.0]), "threshold": draw.choice([20.0, 1.2])},
    "elu": lambda draw: {"alpha": draw.choice([1.0, 0.5])}, "celu": lambda draw: {"alpha": draw.choice([1.0, 0.5])},
    "leaky_relu": lambda draw: {"negative_slope": draw.choice([0.01, 0.5])},
    "hardtanh": lambda draw: {"min_val": -1.0, "max_val": draw.choice([1.0, 2.0])},
    "softshrink": lambda draw: {"lambd": draw.choice([0.5, 1.0])}, "hardshrink": lambda draw: {"lambd": draw.choice([0.5, 1.0])},
    "threshold": lambda draw: {"threshold": 0.5, "value": -1.0},
}
# The gradient at NaN is one number in PyTorch's vector loops and another in what they leave over.
OF_TWO_MINDS = "elu celu selu hardtanh relu6 softshrink hardshrink hardswish".split()
ACTIVATIONS_IN_PLACE = "silu_ mish_ selu_ hardswish_ hardsigmoid_ relu6_ elu_ celu_ leaky_relu_ hardtanh_ threshold_"


@family(list(ACTIVATIONS) + ACTIVATIONS_IN_PLACE.split(), FLOATS)
def activation(draw, op, dtype):
    name = op.removesuffix("_")
    options = ACTIVATIONS[name](draw) if ACTIVATIONS[name] else {}
    x = draw.tensor(draw.sizes(), dtype, special=draw.random() < 0.7, corners=True)
    if name in OF_TWO_MINDS:
        x = torch.nan_to_num(x, nan=0.25)
    run = getattr(F, name)
    if op != name:
        return Call(op, [x], [t(0)], options, lambda x: x.copy_(run(x, **options)), keeps_corners=True, in_place=True,
                    arithmetic="f32" if name == "hardsigmoid" and dtype == "f64" else None)
    return Call(op, [x], [t(0)], options, lambda x: run(x, **options), keeps_corners=True, scale={"tanhshrink": 1, "gelu": 3}.get(name, 0),
                arithmetic="f32" if name == "hardsigmoid" and dtype == "f64" else None)  # PyTorch's 1/6 is in f32


@family("glu", FLOATS)
def glu(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]))
    dim = draw.dim(len(sizes))
    sizes[dim] *= 2
    return Call(op, [draw.maybe(sizes, dtype)], [t(0), dim], {}, lambda x: F.glu(x, dim))


BINARY = """add sub mul div maximum minimum pow remainder fmod floor_divide atan2 eq ne lt le gt ge logical_and logical_or logical_xor
    bitwise_and bitwise_or bitwise_xor fmax fmin xlogy logaddexp rsub max min"""
BINARY_IN_PLACE = """add_ sub_ mul_ div_ pow_ remainder_ fmod_ floor_divide_ atan2_ eq_ ne_ lt_ le_ gt_ ge_ logical_and_ logical_or_
    logical_xor_ bitwise_and_ bitwise_or_ bitwise_xor_ xlogy_ copy_"""
WITH_NUMBERS = "add sub mul div pow remainder fmod floor_divide eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor xlogy rsub".split()


BY_VALUE = "pow remainder fmod floor_divide div eq ne lt le gt ge".split()


def held_by(number, tensor):
    """An integer without dims, limited to those of a tensor's dtype: PyTorch wraps others around before it uses them."""
    if number.dim() or not tensor.dim() or {WORDS[number.dtype], WORDS[tensor.dtype]} - set(INTS):
        return number
    info = torch.iinfo(tensor.dtype)
    return number.to(torch.int64).clamp(info.min, info.max).to(number.dtype)


@family(BINARY.split() + BINARY_IN_PLACE.split(), REALS + COMPLEX)
def binary(draw, op, dtype):
    run = function_of(op)
    sizes, special = draw.sizes(), draw.random() < 0.6 and op != "copy_"
    x = draw.tensor(sizes, dtype, special, True)
    in_place = op.endswith("_")
    if op.removesuffix("_") in WITH_NUMBERS and draw.random() < 0.25:
        number = draw.scalar(dtype)
        if op.removesuffix("_") in ("sub", "rsub") and number is True:
            number = 2  # PyTorch refuses to subtract a bool
        if op.startswith("bitwise"):
            number = draw.choice([3, True])
        return Call(op, [x], [t(0), number], {}, lambda x: run(x, number), keeps_corners=True, in_place=in_place)
    y = draw.tensor(draw.broadcast(sizes), draw.other(dtype), special and not (op == "pow" and dtype in COMPLEX), True)
    if dtype in FLOATS and draw.random() < 0.1:
        x, y = draw.pairs(dtype)
    if op.removesuffix("_") in ("div", "floor_divide", "remainder", "fmod") and dtype in INTS:
        x = x.clamp(min=torch.iinfo(x.dtype).min + 1)  # the least integer divided by -1 ends PyTorch
    if not in_place and draw.random() < 0.3:
        x, y = y, x
    if op.removesuffix("_") in BY_VALUE:
        x, y = held_by(x, y), held_by(y, x)
    options = {}
    if op.removesuffix("_") in ("add", "sub", "rsub") and draw.random() < 0.3:
        options["alpha"] = draw.choice([2, 3])
    if op.removesuffix("_") == "div" and draw.random() < 0.3:
        options["rounding_mode"] = draw.choice(["floor", "trunc"])
    return Call(op, [x, y], [t(0), t(1)], options, lambda x, y: run(x, y, **options), keeps_corners=True, in_place=in_place)


@family("lerp addcmul addcdiv lerp_ addcmul_ addcdiv_", FLOATS)
def ternary(draw, op, dtype):
    run, sizes, special = function_of(op), draw.sizes(), draw.random() < 0.5
    x = draw.tensor(sizes, dtype, special)
    y = draw.tensor(sizes if op.startswith("lerp") else draw.broadcast(sizes), dtype, special)
    if op.startswith("lerp") and draw.random() < 0.5:
        weight = draw.choice([0.25, 0.75])
        return Call(op, [x, y], [t(0), t(1), weight], {}, lambda x, y: run(x, y, weight), in_place=op.endswith("_"))
    z = draw.tensor(draw.broadcast(sizes), dtype, special)
    if draw.random() < 0.1:
        y, z = draw.pairs(dtype)
        x = draw.tensor(list(y.shape), dtype, special)
    options = {} if op.startswith("lerp") else {"value": draw.choice([1, 0.5, -2])}
    return Call(op, [x, y, z], [t(0), t(1), t(2)], options, lambda x, y, z: run(x, y, z, **options), in_place=op.endswith("_"))


@family("clamp clamp_ clamp_min clamp_max clamp_min_ clamp_max_", FLOATS + INTS)
def clamp(draw, op, dtype):
    run, sizes = function_of(op), draw.sizes()
    x = draw.tensor(sizes, dtype, True, True)
    name = op.removesuffix("_")
    limits = {"clamp": ["min", "max"], "clamp_min": ["min"], "clamp_max": ["max"]}[name]
    if name == "clamp":
        limits = draw.choice([["min"], ["max"], ["min", "max"]])
    unsigned = dtype == "u8"
    if draw.random() < 0.4:
        values = {"min": 1 if unsigned else draw.choice([-1, 2]), "max": 1}
        if dtype in FLOATS and draw.random() < 0.5:
            values = {"min": -0.5, "max": 1.5}
        options = {key: values[key] for key in limits}
        return Call(op, [x], [t(0)], options, lambda x: run(x, **options), keeps_corners=True, in_place=op.endswith("_"))
    tensors = [draw.tensor(draw.broadcast(sizes), dtype, draw.random() < 0.3, True) for _ in limits]
    if dtype in FLOATS and draw.random() < 0.2:
        x, tensors[0] = draw.pairs(dtype)
        tensors[1:] = [draw.tensor([], dtype, True, True) for _ in tensors[1:]]
    options = {key: t(i + 1) for i, key in enumerate(limits)}
    return Call(op, [x] + tensors, [t(0)], options, lambda x, *y: run(x, **dict(zip(limits, y))), keeps_corners=True,
                in_place=op.endswith("_"))


@family("where masked_fill masked_fill_", REALS + COMPLEX)
def select_by_mask(draw, op, dtype):
    sizes = draw.sizes()
    mask = draw.tensor(draw.broadcast(sizes), "bool")
    if op == "where":
        x, y = draw.tensor(sizes, dtype, True), draw.tensor(draw.broadcast(sizes), draw.other(dtype), True)
        if draw.random() < 0.3:
            number = draw.scalar(dtype)
            return Call(op, [mask, x], [t(0), t(1), number], {}, lambda m, x: torch.where(m, x, number))
        return Call(op, [mask, x, y], [t(0), t(1), t(2)], {}, torch.where)
    x, run = draw.tensor(sizes, dtype, True), function_of(op)
    if draw.random() < 0.3:
        return Call(op, [x, mask, draw.tensor([], dtype)], [t(0), t(1), t(2)], {}, run, in_place=op.endswith("_"))
    number = draw.choice([0, 1, -INF if dtype in FLOATS else 1])
    return Call(op, [x, mask], [t(0), t(1), number], {}, lambda x, m: run(x, m, number), in_place=op.endswith("_"))


@family("isclose allclose equal", REALS)
def closeness(draw, op, dtype):
    sizes, run = draw.sizes(), function_of(op)
    x = draw.tensor(sizes, dtype, True)
    y = x.clone() if draw.random() < 0.5 else draw.tensor(sizes, dtype, True)
    options = {} if op == "equal" else {"rtol": draw.choice([1e-5, 0.5]), "equal_nan": draw.random() < 0.5}
    return Call(op, [x, y], [t(0), t(1)], options, lambda x, y: torch.tensor(run(x, y, **options)) if op != "isclose" else
                run(x, y, **options))


@family("sum mean nansum amax amin any all var std var_mean std_mean logsumexp count_nonzero", REALS + COMPLEX)
def reduction(draw, op, dtype):
    sizes, run = draw.sizes(), function_of(op)
    x, keepdim, dims = draw.hard(sizes, dtype), draw.random() < 0.5, draw.dims(len(sizes))
    if op in ("sum", "mean", "any", "all", "var", "std", "nansum", "count_nonzero") and draw.random() < 0.3:
        return Call(op, [x], [t(0)], {}, run)
    if op == "count_nonzero":
        return Call(op, [x], [t(0), dims], {}, lambda x: run(x, dims))
    options = {"keepdim": keepdim}
    if op.startswith(("var", "std")):
        options["correction"] = draw.choice([0, 1, 2])
    if op in ("sum", "mean") and draw.random() < 0.3:
        wide = draw.choice(["f32", "f64"])
        terms = 0 if x.is_floating_point() else largest_of(x)  # which changes of inputs do not show
        return Call(op, [x], [t(0), dims], {**options, "dtype": {"dtype": wide}},
                    lambda x: run(x, dims, **options, dtype=DTYPES[wide]), scale=terms)
    curvature = 0
    if op.startswith("std") and x.is_floating_point():  # of two elements it is linear: terms of 1 / std cancel
        deviations = torch.std(x.double(), dims, correction=0)
        curvature = max([0.0] + [1 / s for s in deviations.reshape(-1).tolist() if s > 0])
    return Call(op, [x], [t(0), dims], options, lambda x: run(x, dims, **options), scale=1 if op == "logsumexp" else 0,
                curvature=curvature)


def without_extremes(x):
    """Without 1e30 and 1e-40: next to them PyTorch's gradients lose all digits."""
    if not x.is_floating_point():
        return x
    x = torch.where(torch.isfinite(x) & (x.abs() > 1e4), 100, x)
    return torch.where(x.abs() < 1e-4, x.sign(), x).where(x != 0, x)


def quotients(x):
    """Of products in f64, whose second derivatives PyTorch subtracts from each other: a product divided by two of its factors."""
    sizes = x[torch.isfinite(x) & (x != 0)].abs() if x.dtype == torch.float64 else x.new_empty(0)
    return (sizes.clamp(min=1).prod() / sizes.min() ** 2).item() if sizes.numel() else 0


def largest_of(x):
    """The largest number, at least 1: of sums, and of logarithms of sums of exponentials, to which it is added and subtracted again."""
    return max([1.0] + (x.abs() if x.is_complex() else x.double())[torch.isfinite(x)].abs().tolist())


@family("prod cumsum cumprod softmax log_softmax softmin max min argmax argmin cummax cummin logcumsumexp cumsum_", FLOATS + INTS)
def along_dim(draw, op, dtype):
    sizes, run = draw.sizes(), function_of(op)
    x, dim = draw.hard(sizes, dtype), draw.dim(len(sizes))
    if op in ("logcumsumexp", "cumprod", "prod"):
        x = without_extremes(x)
    if op in ("prod", "argmax", "argmin", "max", "min"):
        curvature = quotients(x) if op == "prod" else 0
        if draw.random() < 0.3:
            return Call(op, [x], [t(0)], {}, run, curvature=curvature)
        keepdim = draw.random() < 0.5
        return Call(op, [x], [t(0), dim], {"keepdim": keepdim}, lambda x: run(x, dim, keepdim=keepdim), curvature=curvature)
    if op in ("softmax", "log_softmax") and draw.random() < 0.3:
        return Call(op, [x], [t(0), dim], {"dtype": {"dtype": "f64"}}, lambda x: run(x, dim, dtype=torch.float64), scale=1)
    if op == "cumprod":
        return Call(op, [x], [t(0), dim], {}, lambda x: run(x, dim), curvature=quotients(x))
    return Call(op, [x], [t(0), dim], {}, lambda x: run(x, dim), in_place=op.endswith("_"),
                scale=largest_of(x) if op == "logcumsumexp" else "log" in op)


@family("diff", FLOATS + INTS)
def diff(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]), 1)
    dim, n = draw.dim(len(sizes)), draw.choice([1, 2])
    return Call(op, [draw.maybe(sizes, dtype)], [t(0), n, dim], {}, lambda x: torch.diff(x, n, dim))


@family("sort argsort topk kthvalue", FLOATS + INTS)
def order(draw, op, dtype):
    """sort is compared in its stable form. topk and kthvalue of distinct numbers: PyTorch leaves open which of equal ones they take."""
    sizes = draw.sizes(draw.choice([1, 2, 3]), 1 if op == "kthvalue" else 0)
    dim, size = draw.dim(len(sizes)), math.prod(sizes)
    if op in ("sort", "argsort"):
        x = draw.tensor(sizes, dtype, draw.random() < 0.4, True)
        options = {"stable": True, "dim": dim, "descending": draw.random() < 0.5}
        run = function_of(op)
        return Call(op, [x], [t(0)], options, lambda x: run(x, **options))
    if size > 120:
        return None
    x = torch.tensor(draw.sample(range(120), size), dtype=DTYPES[dtype]).reshape(sizes)
    if op == "kthvalue":
        k, keepdim = draw.randint(1, sizes[dim]), draw.random() < 0.5
        return Call(op, [x], [t(0), k, dim, keepdim], {}, lambda x: torch.kthvalue(x, k, dim, keepdim))
    k, largest = draw.randint(0, sizes[dim]), draw.random() < 0.5
    return Call(op, [x], [t(0), k, dim, largest], {}, lambda x: torch.topk(x, k, dim, largest))


@family("linalg_vector_norm norm linalg_norm", FLOATS + COMPLEX)
def norm(draw, op, dtype):
    sizes = draw.sizes()
    x, keepdim = without_extremes(draw.hard(sizes, dtype)), draw.random() < 0.5
    ord_ = draw.choice([0, 1, 2, 3, 1.5, 0.5, -1, INF, -INF])
    if op == "linalg_norm" and len(sizes) > 1 and draw.random() < 0.4:
        pair, of_matrix = draw.sample(range(len(sizes)), 2), draw.choice([1, -1, INF, -INF, "fro"])
        return Call(op, [x], [t(0), of_matrix], {"dim": pair, "keepdim": keepdim},
                    lambda x: torch.linalg.norm(x, of_matrix, pair, keepdim))
    dims = [draw.dim(len(sizes))] if op == "linalg_norm" else draw.dims(len(sizes))
    curvature = 0
    if dtype in FLOATS and ord_ not in (0, 1, INF, -INF) and x.numel():  # of one element, terms of 1 / |x| cancel
        wide = x.double().abs()
        terms = wide ** (ord_ - 2) * torch.linalg.vector_norm(wide, ord_, dims, True) ** (1 - ord_)
        curvature = max([0.0] + terms[torch.isfinite(terms)].tolist())
    if op == "norm":
        return Call(op, [x], [t(0), float(ord_), dims, keepdim], {}, lambda x: torch.norm(x, ord_, dims, keepdim),
                    curvature=curvature)
    if op == "linalg_norm":
        return Call(op, [x], [t(0), ord_], {"dim": dims, "keepdim": keepdim},
                    lambda x: torch.linalg.norm(x, ord_, dims[0], keepdim), curvature=curvature)
    return Call(op, [x], [t(0), ord_], {"dim": dims, "keepdim": keepdim},
                lambda x: torch.linalg.vector_norm(x, ord_, dims, keepdim), curvature=curvature)


@family("mm bmm mv dot vdot outer matmul linear", FLOATS + INTS + COMPLEX)
def product(draw, op, dtype):
    m, k, n, b = draw.choice([0, 1, 3, 5]), draw.choice([0, 1, 4, 7]), draw.choice([1, 2, 6]), draw.choice([1, 2, 3])
    run = function_of(op)
    if op == "matmul":
        batch = draw.sizes(draw.choice([0, 1, 2]), 1)
        x = draw.choice([[k], batch + [m, k]])
        y = draw.choice([[k], draw.broadcast(batch) + [k, n]])
    elif op == "linear":
        x, y = draw.sizes(draw.choice([0, 1, 2])) + [k], [n, k]
        if draw.random() < 0.5:
            return Call(op, [draw.tensor(s, dtype) for s in (x, y, [n])], [t(0), t(1), t(2)], {}, run)
    else:
        x, y = {"mm": ([m, k], [k, n]), "bmm": ([b, m, k], [b, k, n]), "mv": ([m, k], [k]), "dot": ([k], [k]), "vdot": ([k], [k]),
                "outer": ([m], [k])}[op]
    return Call(op, [draw.tensor(x, dtype), draw.tensor(y, dtype)], [t(0), t(1)], {}, run)


@family("addmm addmv addr baddbmm addbmm addmm_ addmv_ addr_ baddbmm_ addbmm_", FLOATS + INTS + COMPLEX)
def added_product(draw, op, dtype):
    m, k, n, b = draw.choice([0, 1, 3, 5]), draw.choice([0, 1, 4, 7]), draw.choice([1, 2, 6]), draw.choice([1, 2, 3])
    run, in_place = function_of(op), op.endswith("_")
    out, x, y = {"addmm": ([m, n], [m, k], [k, n]), "addmv": ([m], [m, k], [k]), "addr": ([m, n], [m], [n]),
                 "baddbmm": ([b, m, n], [b, m, k], [b, k, n]), "addbmm": ([m, n], [b, m, k], [b, k, n])}[op.removesuffix("_")]
    options = {"beta": draw.choice([1, 0, 3]), "alpha": draw.choice([1, 2, 0])}
    if dtype in FLOATS and draw.random() < 0.5:
        options["alpha"] = 0.5
    added = draw.tensor(out if in_place else draw.broadcast(out), dtype, draw.random() < 0.3)
    return Call(op, [added, draw.tensor(x, dtype), draw.tensor(y, dtype)], [t(0), t(1), t(2)], options,
                lambda a, x, y: run(a, x, y, **options), in_place=in_place)


@family("""transpose swapaxes movedim flatten unflatten ravel squeeze unsqueeze permute select narrow slice expand broadcast_to reshape
    view tril triu tril_ triu_ flip roll diagonal diag diag_embed trace repeat tile t T mT unfold unbind clone""", REALS + COMPLEX)
def views(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]))
    n, x = len(sizes), draw.tensor(sizes, dtype)
    dim = draw.dim(n)
    size = sizes[dim]

    def call(args, run, sizes=None, in_place=False):
        return Call(op, [x if sizes is None else draw.tensor(sizes, dtype)], [t(0)] + args, {}, run, in_place=in_place)

    if op in ("transpose", "swapaxes", "movedim"):
        other = draw.dim(n)
        return call([dim, other], lambda x: getattr(x, op)(dim, other))
    if op == "flatten":
        first = draw.randint(0, n - 1)
        last = draw.randint(first, n - 1)
        return call([first, last], lambda x: x.flatten(first, last))
    if op == "unflatten":
        parts = draw.choice([[1, size], [size, 1], [size // 2, 2] if size % 2 == 0 else [size]])
        return call([dim, parts], lambda x: x.unflatten(dim, parts))
    if op == "squeeze":
        return call([], torch.squeeze) if draw.random() < 0.3 else call([dim], lambda x: x.squeeze(dim))
    if op == "unsqueeze":
        dim = draw.randint(-n - 1, n)
        return call([dim], lambda x: x.unsqueeze(dim))
    if op == "permute":
        dims = draw.sample(range(n), n)
        return call([dims], lambda x: x.permute(dims))
    if op == "select":
        index = draw.randint(-size, size - 1) if size else None
        return size and call([dim, index], lambda x: x.select(dim, index))
    if op == "narrow":
        start = draw.randint(0, size)
        length = draw.randint(0, size - start)
        return call([dim, start, length], lambda x: x.narrow(dim, start, length))
    if op == "slice":
        start, end, step = draw.choice([None, 0, 1, -2, 9]), draw.choice([None, 1, 4, -1, 9]), draw.choice([1, 2, 3])
        index = tuple(slice(start, end, step) if d == dim % n else slice(None) for d in range(n))
        return call([dim, start, end, step], lambda x: x[index])
    if op in ("expand", "broadcast_to"):
        base = [1 if draw.random() < 0.4 else s for s in sizes]
        to = draw.sizes(draw.choice([0, 1]), 1) + sizes
        return call([to], lambda x: x.broadcast_to(to), base)
    if op in ("reshape", "view"):
        total = math.prod(sizes)
        to = [draw.choice([d for d in range(1, total + 1) if total % d == 0]), -1] if total else [0, 3]
        return call([to], lambda x: x.reshape(to))
    if op in ("tril", "triu", "tril_", "triu_"):
        k = draw.randint(-3, 3)
        return n >= 2 and call([k], lambda x: getattr(x, op)(k), in_place=op.endswith("_"))
    if op == "flip":
        dims = draw.dims(n)
        return call([dims], lambda x: x.flip(dims))
    if op == "roll":
        shift = draw.randint(-9, 9)
        return call([[shift], [dim]], lambda x: x.roll([shift], [dim]))
    if op == "diagonal":
        k = draw.randint(-2, 2)
        return n >= 2 and call([k], lambda x: x.diagonal(k))
    if op in ("diag", "diag_embed"):
        k = draw.randint(-2, 2)
        return n <= 2 and call([k], lambda x: getattr(torch, op)(x, k))
    if op == "trace":
        return n == 2 and call([], torch.trace)
    if op in ("repeat", "tile"):
        times = [draw.randint(0, 3) for _ in range(n + draw.choice([0, 1]))]
        return call([times], lambda x: getattr(x, op)(times))
    if op == "unfold":
        window, step = draw.randint(0, size), draw.randint(1, 3)
        return call([dim, window, step], lambda x: x.unfold(dim, window, step))
    if op == "unbind":
        return call([dim], lambda x: x.unbind(dim))
    if op in ("t", "T") and n > 2 or op == "mT" and n < 2:
        return None
    run = {"T": lambda x: x.T, "mT": lambda x: x.mT}.get(op) or getattr(torch, op)
    return call([], run)


@family("split chunk tensor_split split_with_sizes", REALS)
def splits(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]))
    x, dim, run = draw.tensor(sizes, dtype), draw.dim(len(sizes)), function_of(op)
    first = draw.randint(0, sizes[dim])
    if op == "split_with_sizes" or op == "split" and draw.random() < 0.5:
        how = [first, sizes[dim] - first]
    elif op == "tensor_split" and draw.random() < 0.5:
        how = [first, 4]
    else:
        how = draw.randint(1, 5)
    return Call(op, [x], [t(0), how, dim], {}, lambda x: run(x, how, dim=dim))


@family("cat stack hstack vstack", REALS + COMPLEX)
def joins(draw, op, dtype):
    sizes, count = draw.sizes(draw.choice([1, 2, 3])), draw.randint(1, 4)
    dim = draw.randint(-len(sizes) - 1, len(sizes)) if op == "stack" else draw.dim(len(sizes))
    tensors = []
    for _ in range(count):
        own = list(sizes)
        if op == "cat":
            own[dim] = draw.choice([0, 1, 2, 3])
        if op == "cat" and tensors and draw.random() < 0.1:
            own = [0]
        tensors.append(draw.tensor(own, draw.other(dtype)))
    args = [[t(i) for i in range(count)]]
    if op in ("hstack", "vstack"):
        return Call(op, tensors, args, {}, lambda *x: getattr(torch, op)(x))
    return Call(op, tensors, args + [dim], {}, lambda *x: getattr(torch, op)(x, dim))


@family("pad constant_pad_nd", REALS)
def pad(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]), 1)
    mode = draw.choice(["constant", "constant", "reflect", "replicate", "circular"]) if op == "pad" else "constant"
    x = draw.tensor(sizes, dtype)
    if mode == "constant":
        amounts = [draw.randint(-1, 3) for _ in range(2 * draw.randint(1, len(sizes)))]
        value = draw.choice([0, 2])
        if op == "pad":
            return Call(op, [x], [t(0), amounts], {"value": float(value)}, lambda x: F.pad(x, amounts, value=value))
        return Call(op, [x], [t(0), amounts, value], {}, lambda x: torch.constant_pad_nd(x, amounts, value))
    if dtype not in FLOATS or len(sizes) < 2:
        return None
    n_dims = draw.randint(1, len(sizes) - 1)
    amounts = [draw.randint(0, sizes[-1 - i // 2] - 1) for i in range(2 * n_dims)]
    return Call(op, [x], [t(0), amounts, mode], {}, lambda x: F.pad(x, amounts, mode))


@family("gather scatter scatter_add scatter_ scatter_add_ take_along_dim", REALS + COMPLEX)
def scatters(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]), 1)
    dim, run = draw.dim(len(sizes)), function_of(op)
    x, in_place = draw.tensor(sizes, dtype, draw.random() < 0.3), op.endswith("_")
    shape = [draw.randint(1, size) for size in sizes]
    if op == "take_along_dim":
        shape = list(sizes)
    shape[dim] = draw.choice([0, 1, 2, 5]) if op not in ("scatter", "scatter_") else draw.choice([0, 1])
    index = torch.tensor([draw.randrange(sizes[dim]) for _ in range(math.prod(shape))], dtype=torch.int64).reshape(shape)
    if op == "take_along_dim":
        return Call(op, [x, index], [t(0), t(1), dim], {}, lambda x, i: run(x, i, dim))
    if op == "gather":
        return Call(op, [x, index], [t(0), dim, t(1)], {}, lambda x, i: run(x, dim, i))
    if op.startswith("scatter") and "add" not in op and draw.random() < 0.3:
        return Call(op, [x, index], [t(0), dim, t(1), 2], {}, lambda x, i: run(x, dim, i, 2), in_place=in_place)
    return Call(op, [x, index, draw.tensor(shape, dtype)], [t(0), dim, t(1), t(2)], {}, lambda x, i, y: run(x, dim, i, y),
                in_place=in_place)


@family("index_select index_add index_copy index_fill index_add_ index_copy_ index_fill_", REALS + COMPLEX)
def indices(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]), 1)
    dim, run = draw.dim(len(sizes)), function_of(op)
    x, in_place, size = draw.tensor(sizes, dtype, draw.random() < 0.3), op.endswith("_"), sizes[dim]
    count = draw.choice([0, 1, 3, 6])
    chosen = [draw.randrange(size) for _ in range(count)]
    if op.startswith("index_copy"):
        chosen = draw.sample(range(size), min(count, size))  # each once: PyTorch leaves open which of two sources wins
    index = torch.tensor(chosen, dtype=torch.int64)
    if op == "index_select":
        return Call(op, [x, index], [t(0), dim, t(1)], {}, lambda x, i: run(x, dim, i))
    if op.startswith("index_fill"):
        return Call(op, [x, index], [t(0), dim, t(1), 2], {}, lambda x, i: run(x, dim, i, 2), in_place=in_place)
    shape = list(sizes)
    shape[dim] = len(chosen)
    options = {"alpha": 2} if op.startswith("index_add") and dtype != "bool" and draw.random() < 0.5 else {}
    return Call(op, [x, index, draw.tensor(shape, dtype)], [t(0), dim, t(1), t(2)], options,
                lambda x, i, y: run(x, dim, i, y, **options), in_place=in_place)


@family("index", REALS + COMPLEX)
def index(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]), 1)
    n_indices, shape = draw.randint(1, len(sizes)), draw.choice([[], [2], [3, 2], [0]])
    tensors, args, places = [draw.maybe(sizes, dtype)], [], []
    for d in range(n_indices):
        if draw.random() < 0.3 and n_indices > 1:
            args.append(None)
            places.append(None)
            continue
        own = draw.broadcast(shape)
        values = [draw.randrange(-sizes[d], sizes[d]) for _ in range(math.prod(own))]
        tensors.append(torch.tensor(values, dtype=torch.int64).reshape(own))
        args.append(t(len(tensors) - 1))
        places.append(len(tensors) - 2)
    if len(tensors) == 1:
        return None
    # Not x[...], which selects with an index without dims before the others are used.
    return Call(op, tensors, [t(0), args], {}, lambda x, *i: torch.ops.aten.index.Tensor(x, [None if p is None else i[p] for p in places]))


@family("one_hot", ["i64"])
def one_hot(draw, op, dtype):
    n = draw.randint(1, 6)
    sizes = draw.sizes()
    x = torch.tensor([draw.randrange(n) for _ in range(math.prod(sizes))], dtype=torch.int64).reshape(sizes)
    return Call(op, [x], [t(0), n], {}, lambda x: F.one_hot(x, n))


@family("embedding", FLOATS)
def embedding(draw, op, dtype):
    n, width, sizes = draw.randint(1, 7), draw.choice([0, 1, 3]), draw.sizes()
    index = torch.tensor([draw.randrange(n) for _ in range(math.prod(sizes))], dtype=torch.int64).reshape(sizes)
    options = draw.choice([{}, {"padding_idx": 0}, {"padding_idx": -1}])
    return Call(op, [index, draw.maybe([n, width], dtype)], [t(0), t(1)], options, lambda i, x: F.embedding(i, x, **options))


@family("layer_norm rms_norm", FLOATS)
def norms(draw, op, dtype):
    shape = draw.sizes(draw.choice([1, 2]), 1)
    tensors, names = [without_extremes(draw.hard(draw.sizes(draw.choice([0, 1, 2])) + shape, dtype))], []
    for name in ("weight", "bias") if op == "layer_norm" else ("weight",):
        if draw.random() < 0.6:
            names.append(name)
            hard = draw.random() < 0.4
            tensors.append(without_extremes(draw.hard(shape, dtype)) if hard else draw.tensor(shape, dtype, corners=draw.random() < 0.4))
    eps = draw.choice([1e-5, 1e-3])
    run = getattr(F, op)
    # Of one element or equal ones, terms of 1 / deviation cancel, and PyTorch subtracts mean / deviation.
    x, dims = tensors[0].double(), tuple(range(-len(shape), 0))
    squares = torch.var(x, dims, correction=0) if op == "layer_norm" else x.square().mean(dims)
    steepest = max([1.0] + [(s + eps) ** -0.5 for s in squares.reshape(-1).tolist() if math.isfinite(s)])
    largest = max([1.0] + [number for w in tensors[1:] for number in w.abs().reshape(-1).tolist() if math.isfinite(number)])
    shift = (x.mean(dims).abs() * (squares + eps) ** -0.5).reshape(-1).tolist() if op == "layer_norm" else []
    return Call(op, tensors, [t(0), shape], {**{name: t(i + 1) for i, name in enumerate(names)}, "eps": eps},
                lambda x, *rest: run(x, shape, **dict(zip(names, rest)), eps=eps),
                slope=max([steepest * largest] + [s for s in shift if math.isfinite(s)]),
                curvature=steepest ** 2 * largest)


@family("cross_entropy nll_loss", FLOATS)
def classes(draw, op, dtype):
    n = draw.randint(1, 6)
    rest = draw.choice([[], [draw.choice([0, 1, 4])], [draw.choice([0, 1, 4]), 3]])
    sizes = rest[:1] + [n] + rest[1:]
    x, tensors = draw.maybe(sizes, dtype), []
    options = {"reduction": draw.choice(["mean", "sum", "none"])}
    if op == "cross_entropy" and draw.random() < 0.3:
        target = draw.tensor(sizes, dtype).abs()
    else:
        options["ignore_index"] = draw.choice([-100, 1])
        target = torch.tensor([draw.randrange(n) for _ in range(math.prod(rest))], dtype=torch.int64).reshape(rest)
        if target.numel() and draw.random() < 0.3:
            target.view(-1)[draw.randrange(target.numel())] = options["ignore_index"]
    if op == "cross_entropy" and draw.random() < 0.4:
        options["label_smoothing"] = 0.25
    tensors = [x, target]
    references = {}
    if draw.random() < 0.4:
        tensors.append(draw.tensor([n], dtype).abs())
        references["weight"] = t(2)
    run = getattr(F, op)
    return Call(op, tensors, [t(0), t(1)], {**options, **references},
                lambda x, y, w=None: run(x, y, weight=w, **options), fixed=(2,))


@family("mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits", FLOATS)
def losses(draw, op, dtype):
    sizes, options = draw.sizes(), {"reduction": draw.choice(["mean", "sum", "none"])}
    x, y, references = draw.maybe(sizes, dtype), draw.tensor(sizes, dtype), {}
    tensors = [x, y]
    if op.startswith("binary"):
        tensors = [x if op.endswith("logits") else draw.probabilities(sizes, dtype), draw.probabilities(sizes, dtype)]
        if draw.random() < 0.4:
            references["weight"] = t(2)
            tensors.append(draw.tensor(sizes, dtype))
        if op.endswith("logits") and draw.random() < 0.4 and sizes:
            references["pos_weight"] = t(len(tensors))
            tensors.append(draw.tensor(sizes[-1:], dtype).abs())
    if op == "kl_div":
        options["log_target"] = draw.random() < 0.5
        options["reduction"] = draw.choice(["mean", "sum", "none", "batchmean"])
        tensors[1] = y if options["log_target"] else y.abs()
    if op == "huber_loss":
        options["delta"] = draw.choice([1.0, 0.5])
    if op == "smooth_l1_loss":
        options["beta"] = draw.choice([1.0, 0.5, 0.0])
    run, names = getattr(F, op), list(references)
    return Call(op, tensors, [t(0), t(1)], {**options, **references},
                lambda x, y, *w: run(x, y, **options, **dict(zip(names, w))), fixed=(2, 3), keeps_corners=op == "binary_cross_entropy",
                arithmetic="f32" if op == "binary_cross_entropy" and dtype == "f64" else None)  # PyTorch adds 1e-12


@family("scaled_dot_product_attention", FLOATS)
def attention(draw, op, dtype):
    lead = draw.choice([[2], [2, 3], [1, 4], []])
    length, source, width, depth = draw.choice([1, 2, 5]), draw.choice([1, 3, 4]), draw.choice([1, 2, 4]), draw.choice([1, 3])
    heads, options = list(lead), {}
    if len(lead) == 2 and draw.random() < 0.4:
        options["enable_gqa"] = True
        heads = [lead[0], draw.choice([d for d in range(1, lead[1] + 1) if lead[1] % d == 0])]
    tensors = [draw.tensor(lead + [length, width], dtype), draw.tensor(heads + [source, width], dtype),
               draw.tensor(heads + [source, depth], dtype)]
    kind, masked = draw.choice(["none", "causal", "bool", "float", "infinite"]), {}
    if kind == "causal":
        options["is_causal"] = True
    elif kind != "none":
        mask = draw.tensor(draw.choice([[length, source], lead + [length, source], [1, source]]), "bool" if kind == "bool" else dtype)
        if kind == "infinite":
            mask = torch.where(mask > 0, -INF, mask)
        tensors.append(mask)
        masked = {"attn_mask": t(3)}
    if draw.random() < 0.3:
        options["scale"] = 0.3
    return Call(op, tensors, [t(0), t(1), t(2)], {**options, **masked},
                lambda q, k, v, m=None: F.scaled_dot_product_attention(q, k, v, attn_mask=m, **options), scale=9 * depth)


@family("to bfloat16 half float double int long short char byte bool", REALS)
def casts(draw, op, dtype):
    x = draw.tensor(draw.sizes(), dtype)
    if op == "to":
        to = draw.choice(REALS)
        x = x.abs() if to == "u8" and dtype not in ("bool", "u8") else x
        return Call(op, [x], [t(0), {"dtype": to}], {}, lambda x: x.to(DTYPES[to]))
    return Call(op, [x.abs() if op == "byte" and dtype in FLOATS else x], [t(0)], {}, lambda x: getattr(x, op)())


@family("zeros_like ones_like full_like fill fill_", REALS)
def constants(draw, op, dtype):
    x = draw.tensor(draw.sizes(), dtype)
    if op in ("zeros_like", "ones_like"):
        return Call(op, [x], [t(0)], {}, getattr(torch, op))
    number = draw.choice([0, 1, 3])
    return Call(op, [x], [t(0), number], {}, lambda x: function_of(op)(x, number), in_place=op == "fill_")


OPTIMIZERS = {"sgd_": torch.optim.SGD, "adam_": torch.optim.Adam, "adamw_": torch.optim.AdamW}


@family(list(OPTIMIZERS), ["f32", "f64"])
def optimizers(draw, op, dtype):
    """The last of a few steps of torch.optim; the state before it is that of PyTorch."""
    sizes, steps, maximize = draw.sizes(), draw.randint(1, 3), draw.random() < 0.3
    grads = [draw.tensor(sizes, dtype) for _ in range(steps)]
    lr, decay = draw.choice([0.1, 0.003]), draw.choice([0.0, 0.1])
    options = {"lr": lr, "weight_decay": decay, "maximize": maximize}
    ours = dict(options)
    if op == "sgd_":
        momentum = draw.choice([0.0, 0.9])
        options["momentum"] = momentum
        if momentum and draw.random() < 0.5:
            options["nesterov"] = True
        elif momentum:
            options["dampening"] = draw.choice([0.0, 0.5])
        ours = {**options, "is_first": steps == 1}
        states = ["momentum_buffer"] if momentum else []
    else:
        amsgrad = draw.random() < 0.4
        options.update(betas=(0.8, 0.95), eps=1e-6, amsgrad=amsgrad)
        ours.update(beta1=0.8, beta2=0.95, eps=1e-6, step=steps)
        states = ["exp_avg", "exp_avg_sq"] + (["max_exp_avg_sq"] if amsgrad else [])
    x = draw.tensor(sizes, dtype)

    def state_before():
        parameter = torch.nn.Parameter(x.clone())
        optimizer = OPTIMIZERS[op]([parameter], **options, foreach=False)
        for grad in grads[:-1]:
            parameter.grad = grad.clone()
            optimizer.step()
        return parameter, optimizer

    def run(parameter, grad, *before):
        _, optimizer = state_before()
        state = optimizer.state_dict()
        own = torch.nn.Parameter(parameter.detach().clone())
        other = OPTIMIZERS[op]([own], **options, foreach=False)
        if before and steps > 1:
            values = {name: value.detach().clone() for name, value in zip(states, before)}
            state["state"][0].update(values)
            other.load_state_dict(state)
        own.grad = grad.detach().clone()
        other.step()
        after = [other.state[own][name] for name in states]
        for written, value in zip((parameter,) + before, [own.detach()] + after):
            written.copy_(value)
        return tuple((parameter,) + before) if before else parameter

    parameter, optimizer = state_before()
    held = [optimizer.state[parameter][name].clone() if steps > 1 else torch.zeros_like(x) for name in states]
    tensors = [parameter.detach(), grads[-1]] + held
    return Call(op, tensors, [t(i) for i in range(len(tensors))], ours, run, in_place=True,
                writes=(0,) + tuple(range(2, len(tensors))), fixed=range(len(tensors)), scale=3)  # of gradients in sums that cancel
