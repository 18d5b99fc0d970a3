# SPDX-License-Identifier: Apache-2.0
"""The losses of examples/17_unet.c, computed by PyTorch: they must be those that examples/expected/17_unet.txt records."""
import math
import pathlib
import re
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("unet: skipped, python3 has no torch (python3 -m pip install torch)")
    sys.exit(0)

BATCH, SIZE, WIDTH, STEPS = 4, 16, 4, 8
SHAPES = [(WIDTH, 1, 3, 3), (WIDTH,), (2 * WIDTH, WIDTH, 3, 3), (2 * WIDTH,), (WIDTH, 3 * WIDTH, 3, 3), (WIDTH,), (1, WIDTH, 1, 1), (1,)]
RECORDED = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "expected" / "17_unet.txt"


def unet(p, x):
    fine = F.relu(F.conv2d(x, p[0], p[1], padding=1))
    coarse = F.relu(F.conv2d(F.max_pool2d(fine, 2), p[2], p[3], padding=1))
    coarse = F.interpolate(coarse, scale_factor=2, mode="bilinear")
    up = F.relu(F.conv2d(torch.cat([fine, coarse], 1), p[4], p[5], padding=1))
    return F.conv2d(up, p[6], p[7])


def draw():
    n, i, j = torch.meshgrid(torch.arange(BATCH), torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    target = ((j - 9 + n) ** 2 + (i - 5 - n) ** 2 < 16).double()
    return (target + 0.8 * torch.sin(12.9 * i.double() + 78.2 * j.double() + n))[:, None], target[:, None]


def main():
    torch.set_default_dtype(torch.float64)
    images, targets = draw()
    p = [(torch.sin(torch.arange(math.prod(s)) * 1.7 + i) * 0.3).reshape(s).requires_grad_() for i, s in enumerate(SHAPES)]
    recorded = [float(loss) for loss in re.findall(r"loss (\S+)", RECORDED.read_text(encoding="utf-8"))]
    wrong = len(recorded) != STEPS
    for step in range(STEPS):
        loss = F.binary_cross_entropy_with_logits(unet(p, images), targets)
        print(f"step {step}: loss {loss.item():.9f}")
        wrong |= step < len(recorded) and abs(recorded[step] - loss.item()) > 1e-9
        with torch.no_grad():
            for parameter, grad in zip(p, torch.autograd.grad(loss, p)):
                parameter -= 0.5 * grad
    print("differs from" if wrong else "as recorded in", RECORDED.name)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
