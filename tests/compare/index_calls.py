# SPDX-License-Identifier: Apache-2.0
"""Random calls of ops that read or write at indices, that search and count, and of contractions, for torch_ops.py."""
import math

import torch
import torch.nn.functional as F

from calls import COMPLEX, DTYPES, FLOATS, INTS, NAN, REALS, Call, family, function_of, t


def indices_below(draw, size, shape, signed=False):
    values = [draw.randrange(-size if signed else 0, size) for _ in range(math.prod(shape))]
    return torch.tensor(values, dtype=torch.int64).reshape(shape)


@family("index_put index_put_", REALS + COMPLEX)
def index_put(draw, op, dtype):
    """Without accumulation each place once: PyTorch leaves open which of two values wins."""
    sizes = draw.sizes(draw.choice([1, 2, 3]), 1)
    accumulate, x = draw.random() < 0.6 and dtype != "bool", draw.tensor(sizes, dtype)
    n_indices = draw.randint(1, len(sizes))
    shape = draw.choice([[2], [3, 2], [0], []]) if accumulate else [min(sizes[:n_indices])]
    indices = [indices_below(draw, size, shape, True) if accumulate else torch.tensor(draw.sample(range(size), shape[0]), dtype=torch.int64)
               for size in sizes[:n_indices]]
    if not accumulate and draw.random() < 0.2:
        mask = draw.tensor(sizes, "bool")
        return Call(op, [x, mask, draw.tensor([], dtype)], [t(0), [t(1)], t(2)], {},
                    lambda x, m, v: function_of(op)(x, [m], v), in_place=op.endswith("_"))
    values = draw.tensor(draw.broadcast(shape + sizes[n_indices:]), dtype)
    tensors = [x] + indices + [values]
    args = [t(i + 1) for i in range(n_indices)]
    return Call(op, tensors, [t(0), args, t(n_indices + 1), accumulate], {},
                lambda x, *rest: function_of(op)(x, list(rest[:-1]), rest[-1], accumulate), in_place=op.endswith("_"))


@family("index_reduce index_reduce_ scatter_reduce scatter_reduce_", FLOATS + INTS)
def reduce_at_indices(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]), 1)
    dim, is_scatter = draw.dim(len(sizes)), op.startswith("scatter")
    x, run, shape = draw.tensor(sizes, dtype), function_of(op), list(sizes)
    shape[dim] = draw.choice([0, 1, 2, 5])
    index = indices_below(draw, sizes[dim], shape if is_scatter else shape[dim:][:1])
    how = draw.choice(["sum", "prod", "mean", "amax", "amin"] if is_scatter else ["prod", "mean", "amax", "amin"])
    options = {"include_self": draw.random() < 0.6}
    # Where a product meets a zero PyTorch's second derivatives are refused.
    return Call(op, [x, index, draw.tensor(shape, dtype)], [t(0), dim, t(1), t(2), how], options,
                lambda x, i, y: run(x, dim, i, y, how, **options), in_place=op.endswith("_"), slope=9 if how == "mean" else 0)


@family("select_scatter slice_scatter diagonal_scatter", REALS + COMPLEX)
def view_scatters(draw, op, dtype):
    sizes = draw.sizes(draw.choice([2, 3]), 1)
    dim, x = draw.dim(len(sizes)), draw.tensor(sizes, dtype)
    if op == "select_scatter":
        at = draw.randrange(-sizes[dim], sizes[dim])
        view = lambda x: x.select(dim, at)
        args = [dim, at]
    elif op == "slice_scatter":
        start, step = draw.randint(-2, 2), draw.randint(1, 3)
        end = draw.choice([None, -1, 2, 100])
        view = lambda x: torch.ops.aten.slice.Tensor(x, dim, start, end, step)
        args = [dim, start, end, step]
    else:
        offset, (one, two) = draw.randint(-2, 2), draw.sample(range(len(sizes)), 2)
        view = lambda x: x.diagonal(offset, one, two)
        args = [offset, one, two]
    y = draw.tensor(list(view(x).shape), dtype)
    return Call(op, [x, y], [t(0), t(1)] + args, {}, lambda x, y: getattr(torch, op)(x, y, *args))


@family("searchsorted bucketize", ["f32", "f64", "bf16", "i32", "i64"])
def searches(draw, op, dtype):
    options = {"right": draw.random() < 0.5, "out_int32": draw.random() < 0.5}
    lead = draw.sizes(draw.choice([0, 1, 2])) if op == "searchsorted" else []
    edges = draw.tensor(lead + [draw.choice([0, 1, 3, 6])], dtype, special=False, corners=True).sort(-1)[0]
    x = draw.tensor((lead + [draw.choice([0, 1, 4])]) if lead else draw.sizes(), dtype, special=draw.random() < 0.5, corners=True)
    if op == "bucketize":
        return Call(op, [x, edges], [t(0), t(1)], options, lambda x, e: torch.bucketize(x, e, **options), whole=True)
    if draw.random() < 0.3:
        order = torch.stack([torch.randperm(edges.shape[-1]) for _ in range(math.prod(lead))] or [torch.empty(0, dtype=torch.int64)]).reshape(edges.shape)
        shuffled = torch.empty_like(edges).scatter_(-1, order, edges)
        return Call(op, [shuffled, x, order], [t(0), t(1)], {**options, "sorter": t(2)},
                    lambda e, x, s: torch.searchsorted(e, x, sorter=s, **options), whole=True)
    return Call(op, [edges, x], [t(0), t(1)], options, lambda e, x: torch.searchsorted(e, x, **options), whole=True)


@family("histc", ["f32", "f64"])
def histc(draw, op, dtype):
    x, bins = draw.tensor(draw.sizes(least=1), dtype, corners=True), draw.randint(1, 7)
    low, high = draw.choice([(0, 0), (-1, 1), (-2.5, 2.5), (1, 1)])
    return Call(op, [x], [t(0), bins, low, high], {}, lambda x: torch.histc(x, bins, low, high), fixed=(0,), whole=True)


@family("aminmax", FLOATS + INTS)
def aminmax(draw, op, dtype):
    sizes = draw.sizes(least=1)
    options = {"keepdim": draw.random() < 0.5}
    if draw.random() < 0.6:
        options["dim"] = draw.dim(len(sizes))
    x = draw.tensor(sizes, dtype)
    return Call(op, [x], [t(0)], options, lambda x: torch.aminmax(x, **options))


@family("median nanmedian mode", FLOATS + INTS)
def middles(draw, op, dtype):
    """Of equal numbers PyTorch leaves open which index it returns, so numbers differ; mode returns values with ties of indices."""
    sizes = draw.sizes(least=1)
    count = math.prod(sizes)
    if count > 120:
        return None
    x = torch.tensor(draw.sample(range(120), count), dtype=DTYPES[dtype]).reshape(sizes)
    if dtype in FLOATS and op != "mode" and draw.random() < 0.4 and count:
        x.view(-1)[draw.randrange(count)] = NAN
    if op != "mode" and draw.random() < 0.4:
        return Call(op, [x], [t(0)], {}, getattr(torch, op), whole=True)
    dim, keepdim = draw.dim(len(sizes)), draw.random() < 0.5
    return Call(op, [x], [t(0), dim, keepdim], {}, lambda x: getattr(torch, op)(x, dim, keepdim), whole=True)


@family("repeat_interleave", REALS + COMPLEX)
def repeat_interleave(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]))
    x, dim = draw.tensor(sizes, dtype), draw.choice([None, draw.dim(len(sizes))])
    if draw.random() < 0.5:
        n = draw.randint(0, 3)
        return Call(op, [x], [t(0), n], {"dim": dim}, lambda x: torch.repeat_interleave(x, n, dim))
    length = x.numel() if dim is None else sizes[dim]
    repeats = torch.tensor([draw.randint(0, 3) for _ in range(length)], dtype=torch.int64)
    total = int(repeats.sum())
    return Call(op, [x, repeats], [t(0), t(1)], {"dim": dim, "output_size": total},
                lambda x, r: torch.repeat_interleave(x, r, dim, output_size=total))


@family("view_as_real", COMPLEX)
def view_as_real(draw, op, dtype):
    return Call(op, [draw.tensor(draw.sizes(), dtype)], [t(0)], {}, torch.view_as_real)


@family("view_as_complex", ["f32", "f64"])
def view_as_complex(draw, op, dtype):
    x = draw.tensor(draw.sizes() + [2], dtype)
    return Call(op, [x], [t(0)], {}, lambda x: torch.view_as_complex(x.clone(memory_format=torch.contiguous_format)))


@family("cosine_similarity", ["f32", "f64"])
def cosine_similarity(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]))
    dim, eps = draw.dim(len(sizes)), draw.choice([1e-8, 0.5])
    return Call(op, [draw.tensor(sizes, dtype), draw.tensor(draw.broadcast(sizes) if draw.random() < 0.3 else sizes, dtype)],
                [t(0), t(1), dim - len(sizes) if dim >= 0 else dim, eps], {},
                lambda x, y: F.cosine_similarity(x, y, dim - len(sizes) if dim >= 0 else dim, eps), slope=4, curvature=16)


@family("normalize", FLOATS)
def normalize(draw, op, dtype):
    sizes, p = draw.sizes(draw.choice([1, 2, 3])), draw.choice([1.0, 2.0, 3.0])
    dim, eps = draw.dim(len(sizes)), draw.choice([1e-12, 0.5])
    return Call(op, [draw.tensor(sizes, dtype)], [t(0), p, dim, eps], {}, lambda x: F.normalize(x, p, dim, eps))


@family("inner", FLOATS + COMPLEX + ["i64"])
def inner(draw, op, dtype):
    k = draw.choice([0, 1, 4, 7])
    x, y = (draw.choice([[], draw.sizes(draw.choice([0, 1, 2])) + [k]]) for _ in range(2))
    return Call(op, [draw.tensor(x, dtype), draw.tensor(y, dtype)], [t(0), t(1)], {}, torch.inner)


@family("tensordot", FLOATS + COMPLEX + ["i64"])
def tensordot(draw, op, dtype):
    sizes = [draw.choice([0, 1, 2, 3, 5]) for _ in range(5)]
    n = draw.randint(0, 2)
    x, y = sizes[:n] + sizes[2:3 + draw.randint(0, 1)], sizes[:n] + sizes[3:4 + draw.randint(0, 1)]
    of_x, of_y = draw.sample(range(len(x)), len(x)), draw.sample(range(len(y)), len(y))
    dims_x, dims_y = [of_x.index(i) for i in range(n)], [of_y.index(i) - len(y) for i in range(n)]
    return Call(op, [draw.tensor([x[i] for i in of_x], dtype), draw.tensor([y[i] for i in of_y], dtype)], [t(0), t(1), dims_x, dims_y], {},
                lambda x, y: torch.tensordot(x, y, dims=(dims_x, dims_y)))


@family("einsum", FLOATS + COMPLEX + ["i64"])
def einsum(draw, op, dtype):
    sizes = {letter: draw.choice([1, 2, 3, 5]) for letter in "abcdXY"}
    n = draw.randint(1, 4 if dtype not in ("f16", "bf16") else 2)  # of more, results between them are rounded to the dtype
    terms = ["".join(draw.choice("abcd") for _ in range(draw.randint(0, 3))) for _ in range(n)]
    letters = sorted(set("".join(terms)))
    result = "".join(draw.sample(letters, draw.randint(0, len(letters))))
    ellipses = [draw.random() < 0.3 for _ in terms] if draw.random() < 0.4 else [False] * n
    tensors = []
    for term, has in zip(terms, ellipses):
        lead = draw.choice([[], [sizes["X"]], [sizes["Y"], sizes["X"]], [1, sizes["X"]]]) if has else []
        tensors.append(draw.tensor(lead + [sizes[letter] for letter in term], dtype))
    left = ",".join(("..." if has else "") + term for term, has in zip(terms, ellipses))
    text = left + draw.choice(["", "->" + ("..." if any(ellipses) else "") + result])
    text = text.replace(",", draw.choice([",", ", "]))
    return Call(op, tensors, [text, [t(i) for i in range(n)]], {}, lambda *all: torch.einsum(text, *all))
