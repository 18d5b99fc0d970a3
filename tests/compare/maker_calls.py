# SPDX-License-Identifier: Apache-2.0
"""Random calls of ops that make tensors from numbers, or like other tensors, and of a few that change nothing, for torch_ops.py."""
import torch

from calls import DTYPES, FLOATS, INTS, REALS, Call, family, t

MADE = FLOATS + INTS


def of_dtype(draw, dtype, least=0.5):
    """The option dtype in some of the calls: for the library, and for PyTorch."""
    if draw.random() > least:
        return {}, {}
    return {"dtype": {"dtype": dtype}}, {"dtype": DTYPES[dtype]}


@family("zeros ones", MADE + ["bool"])
def constants(draw, op, dtype):
    mine, theirs = of_dtype(draw, dtype)
    sizes = draw.sizes()
    return Call(op, [], [sizes], mine, lambda: getattr(torch, op)(sizes, **theirs))


@family("full", MADE)
def full(draw, op, dtype):
    mine, theirs = of_dtype(draw, dtype)
    sizes, number = draw.sizes(), draw.choice([3, 7] + ([] if dtype in INTS and mine else [2.5, -1.5]))
    return Call(op, [], [sizes, number], mine, lambda: torch.full(sizes, number, **theirs))


@family("new_zeros new_ones new_full", REALS)
def new(draw, op, dtype):
    mine, theirs = of_dtype(draw, draw.choice(MADE))
    sizes, numbers = draw.sizes(), [3] if op == "new_full" else []
    return Call(op, [draw.tensor(draw.sizes(), dtype)], [t(0), sizes] + numbers, mine,
                lambda x: getattr(x, op)(sizes, *numbers, **theirs))


@family("empty_like", REALS)
def empty_like(draw, op, dtype):
    """Without elements, which have no values."""
    mine, theirs = of_dtype(draw, draw.choice(MADE))
    sizes = draw.sizes()
    sizes.insert(draw.randint(0, len(sizes)), 0)
    return Call(op, [draw.tensor(sizes, dtype)], [t(0)], mine, lambda x: torch.empty_like(x, **theirs))


@family("eye", MADE + ["bool"])
def eye(draw, op, dtype):
    mine, theirs = of_dtype(draw, dtype)
    sizes = draw.sizes(draw.choice([1, 2]))
    return Call(op, [], sizes, mine, lambda: torch.eye(*sizes, **theirs))


@family("arange", MADE)
def arange(draw, op, dtype):
    mine, theirs = of_dtype(draw, dtype)
    start, n, step = draw.choice([0, -3, 2]), draw.randint(0, 9), draw.choice([1, 2, -1, -3])
    if dtype in FLOATS and mine:
        start, step = start + 0.5, step / 4
    if dtype == "u8" and mine:
        start, step = abs(start), abs(step)
    numbers = [start, start + n * step, step]
    numbers = draw.choice([numbers, numbers[:2] if step == 1 else numbers, [n]])
    return Call(op, [], numbers, mine, lambda: torch.arange(*numbers, **theirs))


@family("linspace", FLOATS)
def linspace(draw, op, dtype):
    mine, theirs = of_dtype(draw, dtype)
    ends, n = [draw.choice([0, -2.5, 1, 4]), draw.choice([1, 3.5, -7])], draw.randint(0, 9)
    return Call(op, [], ends + [n], mine, lambda: torch.linspace(*ends, n, **theirs), scale=8)


@family("tril_indices triu_indices", ["i64", "i32"])
def triangle(draw, op, dtype):
    mine, theirs = of_dtype(draw, dtype)
    numbers = draw.sizes(2) + [draw.randint(-4, 4)]
    return Call(op, [], numbers, mine, lambda: getattr(torch, op)(*numbers, **theirs))


@family("item", REALS)
def item(draw, op, dtype):
    x = draw.tensor([1] * draw.randint(0, 3), dtype)
    return Call(op, [x], [t(0)], {}, lambda x: x.detach().reshape(()))


@family("contiguous", REALS)
def contiguous(draw, op, dtype):
    return Call(op, [draw.tensor(draw.sizes(), dtype)], [t(0)], {}, torch.Tensor.contiguous)


@family("expand_as", REALS)
def expand_as(draw, op, dtype):
    sizes = draw.sizes()
    x, other = draw.tensor(draw.broadcast(sizes), dtype), draw.tensor(sizes, draw.choice(REALS))
    return Call(op, [x, other], [t(0), t(1)], {}, torch.Tensor.expand_as, fixed=(1,))


@family("reshape_as view_as", REALS)
def reshape_as(draw, op, dtype):
    sizes = draw.sizes(3)
    other = draw.choice([sizes[:1] + [sizes[1] * sizes[2]], [sizes[0] * sizes[1], sizes[2]], sizes[:2] + [1] + sizes[2:]])
    x, like = draw.tensor(sizes, dtype), draw.tensor(other, draw.choice(REALS))
    return Call(op, [x, like], [t(0), t(1)], {}, torch.Tensor.reshape_as, fixed=(1,))


@family("dropout", FLOATS)
def dropout(draw, op, dtype):
    """What does not depend on the draw."""
    p, training = draw.choice([(0.0, True), (1.0, True), (0.3, False)])
    return Call(op, [draw.tensor(draw.sizes(), dtype)], [t(0), p, training], {},
                lambda x: torch.nn.functional.dropout(x, p, training))


@family("native_dropout_backward", FLOATS)
def dropout_backward(draw, op, dtype):
    sizes, scale = draw.sizes(), draw.choice([1.0, 2.0, 0.0])
    tensors = [draw.tensor(sizes, dtype), draw.tensor(sizes, "bool")]
    return Call(op, tensors, [t(0), t(1), scale], {}, lambda g, m: torch.ops.aten.native_dropout_backward(g, m, scale))


@family("_softmax_backward_data", FLOATS)
def softmax_backward(draw, op, dtype):
    sizes = draw.sizes(draw.choice([1, 2, 3]))
    dim = draw.dim(len(sizes))
    tensors = [draw.tensor(sizes, dtype), draw.tensor(sizes, dtype).double().softmax(dim).to(DTYPES[dtype])]
    return Call(op, tensors, [t(0), t(1), dim, {"dtype": dtype}], {},
                lambda g, y: torch.ops.aten._softmax_backward_data(g, y, dim, g.dtype), slope=4, scale=4)
