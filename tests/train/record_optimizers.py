#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes optimizer_steps.h: parameters after 20 steps of each optimizer, by the formulas of the methods in f64.

    tests/train/record_optimizers.py           writes the header
    tests/train/record_optimizers.py --check   exits with 1 if it is out of date
    tests/train/record_optimizers.py --torch   also compares with torch.optim (Lion is not in it), to 1e-12

The formulas are those of the pages of torch.optim and of the paper of Lion, one element at a time, in plain Python. The
gradient of element i in step t is gradient(i, t), whatever the parameter is.
"""
import math
import pathlib
import sys
import textwrap

N, STEPS = 6, 20
OUT = pathlib.Path(__file__).with_name("optimizer_steps.h")


def start(i):
    return 0.25 * i - 0.6


def gradient(i, t):
    return 0.0 if i == 5 and t % 3 == 0 else math.sin(0.7 * t + 1.3 * i) * 10.0 ** (i - 3)


# Each method: (method, name, options); the names of options are PyTorch's.
CONFIGS = [
    ("adam", {}), ("adam", {"weight_decay": 0.1, "amsgrad": True}), ("adamw", {"weight_decay": 0.1}),
    ("adamw", {"betas": (0.6, 0.66), "eps": 1e-6, "amsgrad": True, "maximize": True}),
    ("sgd", {"weight_decay": 0.1}), ("sgd", {"momentum": 0.9, "dampening": 0.1}),
    ("sgd", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1, "maximize": True}),
    ("adagrad", {}), ("adagrad", {"lr_decay": 0.1, "weight_decay": 0.05, "initial_accumulator_value": 0.03, "eps": 1e-6}),
    ("adagrad", {"lr_decay": 0.1, "maximize": True}),
    ("rmsprop", {}), ("rmsprop", {"alpha": 0.85, "weight_decay": 0.05, "momentum": 0.9}),
    ("rmsprop", {"alpha": 0.88, "eps": 1e-6, "centered": True}),
    ("rmsprop", {"alpha": 0.88, "eps": 1e-6, "centered": True, "momentum": 0.9, "weight_decay": 0.1, "maximize": True}),
    ("adamax", {}), ("adamax", {"betas": (0.6, 0.66), "eps": 1e-6, "weight_decay": 0.05, "maximize": True}),
    ("nadam", {}), ("nadam", {"betas": (0.6, 0.66), "eps": 1e-6, "weight_decay": 0.05, "momentum_decay": 0.006}),
    ("nadam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("radam", {}), ("radam", {"betas": (0.6, 0.66), "eps": 1e-6, "weight_decay": 0.05}),
    ("radam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("lion", {}), ("lion", {"betas": (0.95, 0.98), "weight_decay": 0.1, "maximize": True}),
]
LR = 0.1
DEFAULTS = {"adamw": {"weight_decay": 0.01}, "adagrad": {"eps": 1e-10}, "lion": {"betas": (0.9, 0.99)}}


def run(method, given):
    o = {"betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0, "momentum": 0.0, "dampening": 0.0, "lr_decay": 0.0,
         "initial_accumulator_value": 0.0, "alpha": 0.99, "momentum_decay": 0.004} | DEFAULTS.get(method, {}) | given
    return [element(method, o, i) for i in range(N)]


def element(method, o, i):
    b1, b2 = o["betas"]
    p, m, v, largest, product, lr, decay = start(i), 0.0, o["initial_accumulator_value"], 0.0, 1.0, LR, o["weight_decay"]
    decoupled = method in ("adamw", "lion") or o.get("decoupled_weight_decay", False)
    buffer = 0.0
    for t in range(1, STEPS + 1):
        g = gradient(i, t) * (-1 if o.get("maximize") else 1)
        if decoupled:
            p -= lr * decay * p
        else:
            g += decay * p
        if method in ("adam", "adamw"):
            m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
            largest = max(largest, v)
            root = math.sqrt((largest if o.get("amsgrad") else v) / (1 - b2 ** t)) + o["eps"]
            p -= lr * m / (1 - b1 ** t) / root
        elif method == "sgd":
            if o["momentum"]:
                buffer = g if t == 1 else o["momentum"] * buffer + (1 - o["dampening"]) * g
                g = g + o["momentum"] * buffer if o.get("nesterov") else buffer
            p -= lr * g
        elif method == "adagrad":
            v += g * g
            p -= lr / (1 + (t - 1) * o["lr_decay"]) * g / (math.sqrt(v) + o["eps"])
        elif method == "rmsprop":
            v = o["alpha"] * v + (1 - o["alpha"]) * g * g
            m = o["alpha"] * m + (1 - o["alpha"]) * g
            along = g / (math.sqrt(v - (m * m if o.get("centered") else 0.0)) + o["eps"])
            buffer = o["momentum"] * buffer + along
            p -= lr * (buffer if o["momentum"] else along)
        elif method == "adamax":
            m, v = b1 * m + (1 - b1) * g, max(b2 * v, abs(g) + o["eps"])
            p -= lr / (1 - b1 ** t) * m / v
        elif method == "nadam":
            mu = b1 * (1 - 0.5 * 0.96 ** (t * o["momentum_decay"]))
            following = b1 * (1 - 0.5 * 0.96 ** ((t + 1) * o["momentum_decay"]))
            product *= mu
            m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
            mean = following * m / (1 - product * following) + (1 - mu) * g / (1 - product)
            p -= lr * mean / (math.sqrt(v / (1 - b2 ** t)) + o["eps"])
        elif method == "radam":
            m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
            longest = 2 / (1 - b2) - 1
            length = longest - 2 * t * b2 ** t / (1 - b2 ** t)
            mean = m / (1 - b1 ** t)
            if length > 5:
                rectified = math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
                p -= lr * mean * rectified * math.sqrt(1 - b2 ** t) / (math.sqrt(v) + o["eps"])
            else:
                p -= lr * mean
        else:
            mixed = b1 * m + (1 - b1) * g
            p -= lr * ((mixed > 0) - (mixed < 0))
            m = b2 * m + (1 - b2) * g
    return p


def c_options(given):
    parts = []
    for name, value in given.items():
        if name == "betas":
            parts += [f".beta1 = DT_REAL({value[0]!r})", f".beta2 = DT_REAL({value[1]!r})"]
        else:
            parts.append(f".{name} = true" if value is True else f".{name} = DT_REAL({value!r})")
    return "".join(", " + part for part in parts)


def header():
    lines = ["/* SPDX-License-Identifier: Apache-2.0", " *",
             " * Parameters after 20 steps of each optimizer; made by record_optimizers.py, which has the formulas. */",
             "#ifndef DT_TESTS_OPTIMIZER_STEPS_H", "#define DT_TESTS_OPTIMIZER_STEPS_H", "", "/* clang-format off */",
             f"enum {{ N_ELEMENTS = {N}, N_STEPS = {STEPS} }};", "#define RECORDED_STEPS(X) \\"]
    for method, given in CONFIGS:
        text = f"X(dt_{method}_new(ctx, {LR}{c_options(given)}), {', '.join(repr(v) for v in run(method, given))})"
        lines += [f"    {line} \\" for line in textwrap.wrap(text, 110, break_long_words=False)]
    lines[-1] = lines[-1].removesuffix(" \\")
    return "\n".join(lines + ["/* clang-format on */", "", "#endif"]) + "\n"


def compare_with_torch():
    try:
        import torch
    except ImportError:
        print("optimizers: skipped, python3 has no torch (python3 -m pip install torch)")
        return 0
    torch.set_default_dtype(torch.float64)  # in which NAdam keeps its product of momentums
    makers = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD, "adagrad": torch.optim.Adagrad,
              "rmsprop": torch.optim.RMSprop, "adamax": torch.optim.Adamax, "nadam": torch.optim.NAdam,
              "radam": torch.optim.RAdam}
    wrong = 0
    for method, given in CONFIGS:
        if method not in makers:
            continue
        p = torch.tensor([start(i) for i in range(N)], dtype=torch.float64, requires_grad=True)
        optimizer = makers[method]([p], lr=LR, **given)
        for t in range(1, STEPS + 1):
            p.grad = torch.tensor([gradient(i, t) for i in range(N)], dtype=torch.float64)
            optimizer.step()
        for got, expected in zip(run(method, given), p.tolist()):
            if abs(got - expected) > 1e-12 * max(1, abs(expected)):
                print(f"{method} {given}: torch has {expected}, the formula {got}")
                wrong += 1
    n_compared = sum(method in makers for method, _ in CONFIGS)
    print(f"optimizers: {n_compared} configurations over {STEPS} steps: {wrong} numbers differ")
    return wrong


def main():
    if "--torch" in sys.argv[1:]:
        return compare_with_torch() > 0
    if "--check" in sys.argv[1:]:
        return OUT.read_text() != header()
    OUT.write_text(header())
    return 0


if __name__ == "__main__":
    sys.exit(main())
