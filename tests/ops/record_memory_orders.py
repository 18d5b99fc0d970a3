#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the strides of PyTorch's results for tests/ops/test_memory_order.c.

    tests/ops/record_memory_orders.py            prints memory_orders.h
    tests/ops/record_memory_orders.py --torch    compares it with what is recorded
"""
import pathlib
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("memory orders: skipped, python3 has no torch")
    sys.exit(0)

RECORDED = pathlib.Path(__file__).with_name("memory_orders.h")
HEAD = """/* SPDX-License-Identifier: Apache-2.0
 *
 * Strides of PyTorch's results, by tests/ops/record_memory_orders.py. Tensors are letters: x is an image in
 * channels-last memory, v a volume; o has one channel; y is row-major, t transposed, e expanded; s is a slice of x, k
 * every second row.
 */
"""
volume = torch.randn(2, 4, 3, 5, 6)
TENSORS = {
    "x": torch.randn(2, 4, 5, 6).to(memory_format=torch.channels_last),
    "y": torch.randn(2, 4, 5, 6),
    "o": torch.randn(2, 1, 5, 6).to(memory_format=torch.channels_last),
    "v": volume.to(memory_format=torch.channels_last_3d),
    "w": torch.randn(8, 4, 3, 3),
    "l": torch.randn(8, 4, 3, 3).to(memory_format=torch.channels_last),
    "p": torch.randn(8, 4, 1, 1),
    "d": torch.randn(4, 1, 3, 3),
    "i": torch.randn(3, 1, 2, 2),
    "f": torch.randn(4, 3, 2, 2),
    "u": torch.randn(8, 4, 2, 2, 2),
    "c": torch.rand(1, 4, 1, 1),
    "n": torch.ones(4),
    "r": torch.randn(6),
    "t": torch.randn(3, 4, 5).transpose(0, 2),
    "e": torch.randn(3, 1, 4).permute(2, 1, 0).expand(4, 5, 3),
    "q": torch.randn(5, 4, 3),
}
TENSORS["s"] = TENSORS["x"][:, 1:3]
TENSORS["k"] = TENSORS["x"][:, :, ::2]

# The call of the library, its tensors, and PyTorch's.
CALLS = [
    ("exp($1)", "x", torch.exp),
    ("relu($1)", "x", F.relu),
    ("gelu($1)", "x", F.gelu),
    ("silu($1)", "x", F.silu),
    ("clamp($1; 0; 1)", "x", lambda x: x.clamp(0, 1)),
    ("to($1; f64)", "x", lambda x: x.double()),
    ("zeros_like($1)", "x", torch.zeros_like),
    ("dropout($1)", "x", F.dropout),
    ("exp($1)", "t", torch.exp),
    ("exp($1)", "e", torch.exp),
    ("exp($1)", "s", torch.exp),
    ("exp($1)", "k", torch.exp),
    ("exp($1)", "v", torch.exp),
    ("add($1; $2)", "xy", torch.add),
    ("add($1; $2)", "yx", torch.add),
    ("add($1; $2)", "tq", torch.add),
    ("add($1; $2)", "qt", torch.add),
    ("mul($1; 2.5)", "x", lambda x: x * 2.5),
    ("mul($1; $2)", "xc", torch.mul),
    ("mul($1; $2)", "cx", torch.mul),
    ("sub($1; $2)", "rx", torch.sub),
    ("gt($1; $2)", "xy", torch.gt),
    ("where($1; $2; $3)", "gxy", torch.where),
    ("addcmul($1; $2; $3)", "xyy", torch.addcmul),
    ("conv2d($1; $2)", "xw", F.conv2d),
    ("conv2d($1; $2)", "yl", F.conv2d),
    ("conv2d($1; $2)", "yw", F.conv2d),
    ("conv2d($1; $2)", "yp", F.conv2d),
    ("conv2d($1; $2)", "oi", F.conv2d),
    ("conv2d($1; $2; groups=4)", "xd", lambda x, d: F.conv2d(x, d, groups=4)),
    ("conv2d($1; $2; padding=2; dilation=2)", "xw", lambda x, w: F.conv2d(x, w, padding=2, dilation=2)),
    ("conv_transpose2d($1; $2; stride=2)", "xf", lambda x, f: F.conv_transpose2d(x, f, stride=2)),
    ("conv3d($1; $2)", "vu", F.conv3d),
    ("max_pool2d($1; 2)", "x", lambda x: F.max_pool2d(x, 2)),
    ("max_pool3d($1; 2)", "v", lambda v: F.max_pool3d(v, 2)),
    ("avg_pool2d($1; 3; 1; 1)", "x", lambda x: F.avg_pool2d(x, 3, 1, 1)),
    ("adaptive_avg_pool2d($1; 3)", "x", lambda x: F.adaptive_avg_pool2d(x, 3)),
    ("adaptive_max_pool2d($1; 3)", "x", lambda x: F.adaptive_max_pool2d(x, 3)),
    ("batch_norm($1; none; none; $2; $2; true)", "xn", lambda x, n: F.batch_norm(x, None, None, n, n, True)),
    ("batch_norm($1; $2; $2)", "xn", lambda x, n: F.batch_norm(x, n, n)),
    ("group_norm($1; 2; $2; $2)", "xn", lambda x, n: F.group_norm(x, 2, n, n)),
    ("local_response_norm($1; 2)", "x", lambda x: F.local_response_norm(x, 2)),
    ("interpolate($1; scale_factor=2)", "x", lambda x: F.interpolate(x, scale_factor=2)),
    ("interpolate($1; [7,9]; mode=bilinear)", "x", lambda x: F.interpolate(x, [7, 9], mode="bilinear")),
    ("interpolate($1; [7,9]; mode=bicubic)", "x", lambda x: F.interpolate(x, [7, 9], mode="bicubic")),
    ("interpolate($1; [3,3]; mode=bilinear; antialias=true)", "x",
     lambda x: F.interpolate(x, [3, 3], mode="bilinear", antialias=True)),
    ("interpolate($1; [2,3]; mode=area)", "x", lambda x: F.interpolate(x, [2, 3], mode="area")),
    ("interpolate($1; scale_factor=2)", "v", lambda v: F.interpolate(v, scale_factor=2)),
    ("cat({$1; $2}; 1)", "xx", lambda x, z: torch.cat([x, z], 1)),
    ("cat({$1; $2}; 1)", "xy", lambda x, y: torch.cat([x, y], 1)),
    ("constant_pad_nd($1; [1,1])", "x", lambda x: F.pad(x, [1, 1])),
    ("flip($1; [1])", "x", lambda x: x.flip(1)),
]
TENSORS["g"] = TENSORS["x"] > 0


def text(numbers):
    return ",".join(str(n) for n in numbers)


def main():
    lines = [HEAD, "static const recorded_tensor recorded_tensors[] = {"]
    lines += [f'    {{\'{name}\', "{text(x.shape)}", "{text(x.stride())}"}},' for name, x in sorted(TENSORS.items())]
    lines += ["};", "static const recorded_call recorded_calls[] = {"]
    for call, names, run in CALLS:
        found = run(*(TENSORS[name] for name in names))
        lines.append(f'    {{"{call}", "{names}", "{text(found.shape)}", "{text(found.stride())}"}},')
    made = "\n".join(lines + ["};", ""])
    if "--torch" not in sys.argv:
        print(made, end="")
    elif made != RECORDED.read_text(encoding="utf-8"):
        sys.exit("memory orders: PyTorch's strides differ from those in memory_orders.h")
    else:
        print(f"memory orders: {len(CALLS)} calls as recorded")


if __name__ == "__main__":
    main()
