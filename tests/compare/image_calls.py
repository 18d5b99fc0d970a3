# SPDX-License-Identifier: Apache-2.0
"""Random calls of convolutions, pooling, interpolation and norms of images, for torch_ops.py."""
import torch
import torch.nn.functional as F

from calls import FLOATS, Call, family, t


def image(draw, n, dtype, channels, least=1):
    """A tensor with channels and n dims of space, mostly with a batch."""
    batch = draw.choice([[], [1], [2], [3]])
    return draw.tensor(batch + [channels] + [draw.randint(least, least + 5) for _ in range(n)], dtype)


def numbers(draw, n, low, high):
    return [draw.randint(low, high) for _ in range(n)]


@family("conv1d conv2d conv3d", FLOATS)
def convolution(draw, op, dtype):
    n, groups = int(op[4]), draw.choice([1, 1, 2, 3])
    taps, dilation = numbers(draw, n, 1, 3), numbers(draw, n, 1, 2)
    x = image(draw, n, dtype, groups * draw.randint(1, 2), 5)
    weight = draw.tensor([groups * draw.randint(1, 2), x.shape[-n - 1] // groups] + taps, dtype)
    bias = [draw.tensor([weight.shape[0]], dtype)] if draw.random() < 0.5 else []
    options = {"stride": numbers(draw, n, 1, 3), "padding": numbers(draw, n, 0, 2), "dilation": dilation, "groups": groups}
    if draw.random() < 0.2:
        options.update(stride=[1] * n, padding=draw.choice(["same", "valid"]))
    run = getattr(F, op)
    return Call(op, [x, weight] + bias, [t(i) for i in range(2 + len(bias))], options, lambda *all: run(*all, **options))


@family("conv_transpose1d conv_transpose2d conv_transpose3d", FLOATS)
def transposed(draw, op, dtype):
    n, groups = int(op[-2]), draw.choice([1, 1, 2])
    x = image(draw, n, dtype, groups * draw.randint(1, 2), 2)
    weight = draw.tensor([x.shape[-n - 1], draw.randint(1, 2)] + numbers(draw, n, 2, 3), dtype)
    bias = [draw.tensor([weight.shape[1] * groups], dtype)] if draw.random() < 0.5 else []
    stride = numbers(draw, n, 1, 3)
    options = {"stride": stride, "padding": numbers(draw, n, 0, 1), "output_padding": [draw.randint(0, s - 1) for s in stride],
               "groups": groups}
    run = getattr(F, op)
    return Call(op, [x, weight] + bias, [t(i) for i in range(2 + len(bias))], options, lambda *all: run(*all, **options))


@family("avg_pool1d avg_pool2d avg_pool3d", FLOATS)
def averages(draw, op, dtype):
    n = int(op[-2])
    kernel = numbers(draw, n, 1, 3)
    options = {"stride": numbers(draw, n, 1, 3), "padding": [draw.randint(0, k // 2) for k in kernel],
               "ceil_mode": draw.random() < 0.5, "count_include_pad": draw.random() < 0.5}
    if n == 3 and dtype in ("f16", "bf16"):  # PyTorch has none
        dtype = "f32"
    x, run = image(draw, n, dtype, draw.randint(1, 3), 4), getattr(F, op)
    return Call(op, [x], [t(0), kernel], options, lambda x: run(x, kernel, **options))


@family("max_pool1d max_pool2d max_pool3d", FLOATS)
def largest(draw, op, dtype):
    n = int(op[-2])
    kernel = numbers(draw, n, 1, 3)
    options = {"stride": numbers(draw, n, 1, 3), "padding": [draw.randint(0, k // 2) for k in kernel],
               "dilation": numbers(draw, n, 1, 2), "ceil_mode": draw.random() < 0.5}
    x, run = image(draw, n, dtype, draw.randint(1, 3), 6), getattr(F, op)
    return Call(op, [x], [t(0), kernel], options, lambda x: run(x, kernel, **options))


@family("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", FLOATS)
def adaptive(draw, op, dtype):
    n = int(op[-2])
    x, sizes, run = image(draw, n, dtype, draw.randint(1, 3)), numbers(draw, n, 1, 7), getattr(F, op)
    return Call(op, [x], [t(0), sizes], {}, lambda x: run(x, sizes))


@family("interpolate", FLOATS)
def interpolation(draw, op, dtype):
    n = draw.randint(1, 3)
    mode = draw.choice(["nearest", "nearest-exact", "area"] + {1: ["linear"], 2: ["bilinear", "bicubic"], 3: ["trilinear"]}[n])
    x = draw.tensor([draw.randint(1, 2), draw.randint(1, 2)] + numbers(draw, n, 2, 7), dtype)
    options = {"mode": mode, "size": numbers(draw, n, 1, 9)}
    if draw.random() < 0.4:
        options = {"mode": mode, "scale_factor": [draw.choice([0.6, 1.0, 1.3, 1.5, 2.0, 2.3, 3.1]) for _ in range(n)]}
    if "linear" in mode or "cubic" in mode:
        options["align_corners"] = draw.random() < 0.5
        options["antialias"] = n == 2 and dtype in ("f32", "f64") and draw.random() < 0.3
    return Call(op, [x], [t(0)], options, lambda x: F.interpolate(x, **options))


@family("max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices", FLOATS)
def largest_and_where(draw, op, dtype):
    """Distinct numbers: PyTorch leaves open which of equal ones it takes."""
    n = int(op[8])
    kernel = numbers(draw, n, 1, 3)
    options = {"stride": numbers(draw, n, 1, 3), "padding": [draw.randint(0, k // 2) for k in kernel],
               "dilation": numbers(draw, n, 1, 2), "ceil_mode": draw.random() < 0.5}
    x, run = image(draw, n, dtype, draw.randint(1, 3), 6), getattr(F, op)
    return Call(op, [distinct(draw, x)], [t(0), kernel], options, lambda x: run(x, kernel, **options), whole=True)


def distinct(draw, x):
    """As many different numbers as bf16 has; of larger tensors those of f32."""
    if x.numel() > 200:
        x = x.float()
    values = torch.tensor(draw.sample(range(-100, 101) if x.numel() <= 200 else range(-x.numel(), x.numel()), x.numel()))
    return values.to(x.dtype).reshape(x.shape)


@family("adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices", FLOATS)
def adaptive_and_where(draw, op, dtype):
    n = int(op[17])
    x, sizes = image(draw, n, dtype, draw.randint(1, 3)), numbers(draw, n, 1, 7)
    run = getattr(F, f"adaptive_max_pool{n}d")
    return Call(op, [distinct(draw, x)], [t(0), sizes], {}, lambda x: run(x, sizes, True), whole=True)


def steepness(x, dims, eps):
    """1 / deviation, by which gradients of a norm are multiplied, where the terms nearly cancel."""
    squares = torch.var(x.double(), dims, correction=0).reshape(-1).tolist() if x.numel() else []
    return max([1.0] + [(s + eps) ** -0.5 for s in squares])


def norm_tensors(draw, x, channels, dtype, share=0.6):
    """Weight and bias, or neither, and their places after x."""
    if draw.random() > share:
        return [x], {}
    return [x, draw.tensor([channels], dtype), draw.tensor([channels], dtype)], {"weight": t(1), "bias": t(2)}


@family("batch_norm instance_norm", ["f32", "f64"])
def norm_by_channels(draw, op, dtype):
    channels = draw.randint(1, 4)
    space = numbers(draw, draw.choice([1, 2, 3] if op == "instance_norm" else [0, 1, 2, 3]), 2, 4)
    x = draw.tensor([draw.choice([2, 3, 5])] + [channels] + space, dtype)
    tensors, places = norm_tensors(draw, x, channels, dtype)
    trains, n = draw.random() < 0.6, len(tensors)
    own = "training" if op == "batch_norm" else "use_input_stats"
    has_running = not trains or draw.random() < 0.5
    if has_running:
        tensors += [draw.tensor([channels], dtype), draw.tensor([channels], dtype).abs() + 0.5]
        places.update(running_mean=t(n), running_var=t(n + 1))
    elif op == "batch_norm":
        places.update(running_mean=None, running_var=None)
    options = {own: trains, "momentum": draw.choice([0.1, 0.4]), "eps": draw.choice([1e-5, 1e-2])}
    dims = [0] + list(range(2, x.dim())) if op == "batch_norm" else list(range(2, x.dim()))
    steep = steepness(x, dims, options["eps"]) if trains else 2
    run = getattr(F, op)

    def call(*all):
        given = {name: all[place["t"]] for name, place in places.items() if place}
        mean, var = given.pop("running_mean", None), given.pop("running_var", None)
        if not trains:  # PyTorch's gradients read views of them wrongly
            mean, var = mean.contiguous(), var.contiguous()
        return run(all[0], mean, var, **given, **options)
    return Call(op, tensors, [t(0)], {**places, **options}, call, in_place=has_running and trains, writes=(n, n + 1),
                fixed=(n, n + 1) if has_running else (), whole=True, scale=2, slope=3 * steep, curvature=9 * steep ** 2)


@family("group_norm", ["f32", "f64", "bf16"])
def group_norm(draw, op, dtype):
    groups = draw.randint(1, 3)
    channels = groups * draw.randint(1, 3)
    x = draw.tensor([draw.randint(1, 3), channels] + numbers(draw, draw.choice([1, 2]), 2, 4), dtype)
    tensors, places = norm_tensors(draw, x, channels, dtype)
    eps = draw.choice([1e-5, 1e-2])
    steep = steepness(x.reshape(x.shape[0], groups, -1), [2], eps)
    return Call(op, tensors, [t(0), groups], {**places, "eps": eps}, lambda x, *rest: F.group_norm(x, groups, *rest, eps=eps),
                scale=2, slope=3 * steep, curvature=9 * steep ** 2)


@family("native_group_norm native_layer_norm native_batch_norm", ["f32", "f64"])
def native_norm(draw, op, dtype):
    """PyTorch's read no views."""
    dense = lambda *all: [x.contiguous() for x in all]
    n, channels, rest = draw.randint(1, 3), 2 * draw.randint(1, 2), draw.randint(2, 4)
    x, eps = draw.tensor([n, channels, rest], dtype), 1e-3
    if op == "native_layer_norm":
        tensors, steep = [x, draw.tensor([rest], dtype), draw.tensor([rest], dtype)], steepness(x, [2], eps)
        return Call(op, tensors, [t(0), [rest], t(1), t(2), eps], {}, lambda x, w, b: torch.native_layer_norm(x, [rest], w, b, eps),
                    slope=3 * steep ** 2, curvature=9 * steep ** 3)
    tensors = [x, draw.tensor([channels], dtype), draw.tensor([channels], dtype)]
    if op == "native_group_norm":
        sizes, steep = [n, channels, rest, 2], steepness(x.reshape(n, 2, -1), [2], eps)
        return Call(op, tensors, [t(0), t(1), t(2)] + sizes + [eps], {}, lambda x, w, b: torch.native_group_norm(*dense(x, w, b), *sizes, eps),
                    slope=3 * steep ** 2, curvature=9 * steep ** 3)
    steep = steepness(x, [0, 2], eps)
    return Call(op, tensors, [t(0), t(1), t(2), None, None, True, 0.1, eps], {},
                lambda x, w, b: torch.native_batch_norm(*dense(x, w, b), None, None, True, 0.1, eps), slope=3 * steep ** 2, curvature=9 * steep ** 3)


@family("local_response_norm", ["f32", "f64"])
def local_response_norm(draw, op, dtype):
    x = draw.tensor([draw.randint(1, 3), draw.randint(1, 5)] + numbers(draw, draw.choice([1, 2]), 1, 4), dtype)
    args = [draw.randint(1, 4), draw.choice([1e-2, 0.5]), draw.choice([0.75, 0.5]), 1.0]
    return Call(op, [x], [t(0)] + args, {}, lambda x: F.local_response_norm(x, *args))


@family("pixel_shuffle pixel_unshuffle", FLOATS + ["i64"])
def pixels(draw, op, dtype):
    factor = draw.randint(1, 3)
    square = factor * factor if op == "pixel_shuffle" else 1
    side = 1 if op == "pixel_shuffle" else factor
    x = draw.tensor(draw.choice([[], [2], [1, 3]]) + [draw.randint(1, 2) * square] + [side * s for s in numbers(draw, 2, 1, 3)], dtype)
    return Call(op, [x], [t(0), factor], {}, lambda x: getattr(F, op)(x, factor))


@family("prelu", FLOATS)
def prelu(draw, op, dtype):
    sizes = draw.sizes()
    weight = draw.tensor([sizes[1] if len(sizes) > 1 and draw.random() < 0.6 else 1], dtype)
    return Call(op, [draw.tensor(sizes, dtype), weight], [t(0), t(1)], {}, F.prelu)
