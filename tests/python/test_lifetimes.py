# SPDX-License-Identifier: Apache-2.0
"""What a program lets go of is freed: tensors inside calls, functions that hooks and checkpoints hold, and objects."""
import gc
import os
import pathlib

import python_tests
import dtensor as dt
import pytest

FILE = __file__
W = dt.tensor([[1.0, 2.0], [3.0, 4.0]])
X = dt.arange(24).view(4, 3, 2).float()
MASK = X > 7


def with_hook():
    w, large = dt.ones(2, requires_grad=True), dt.ones(100)
    y = w * 2
    y.register_hook(lambda grad: grad + large[0])
    w.register_hook(lambda grad: grad * large[1]).remove()
    y.sum().backward()


def with_checkpoint():
    w, large = dt.ones(2, requires_grad=True), dt.ones(100)
    dt.checkpoint(lambda x: x * w + large[0], w).sum().backward()
    dt.checkpoint(lambda x: x * large[0], w.detach())


def with_failing_hook():
    w = dt.ones(2, requires_grad=True)
    w.register_hook(lambda grad: 1 / 0)
    try:
        (w * 2).sum().backward()
    except ZeroDivisionError:
        dt.clear_error()


def assign():
    y = X.clone()
    y[0] = 3
    y[1:3, ::2] = X[:2, :2]
    y[[0, 2], 1] = 7
    y[MASK] = 0
    y[MASK] = X[MASK]


def train():
    mesh = dt.init_device_mesh("cpu", (1,), mesh_dim_names=("fsdp",))
    params = dt.Params(device_mesh=mesh, rules="* fsdp=free")
    with params.prefix("h."):
        params.param("w", (3, 3), std=1.0)
    optimizer = dt.AdamW(params)
    with dt.block():
        (params["h.w"] ** 2).sum().backward()
    dt.clip_grad_norm_(params.tensors(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    dict(params.items())
    params.clone()


def differentiate_twice():
    w = dt.ones(3, requires_grad=True)
    first, = dt.grad((w ** 3).sum(), w, create_graph=True)
    dt.grad(first.sum(), w)


CALLS = {
    "hook": with_hook, "checkpoint": with_checkpoint, "failing hook": with_failing_hook, "assignment": assign, "training": train,
    "second derivative": differentiate_twice, "mask": lambda: X[MASK], "index": lambda: X[[0, 2], 1:, None],
    "norm": lambda: (X.norm(dim=1), dt.linalg_norm(W)), "comparison": lambda: (dt.allclose(W, W), dt.equal(W, W), W.isclose(W)),
    "pooling": lambda: (dt.max_pool2d(X, 2), dt.adaptive_max_pool1d(X, 1)), "pieces": lambda: (dt.glu(W), X.diff(), dt.softmin(W, 1)),
    "number": lambda: (1 / W, 2 ** W, W * 1j, W.tolist()), "meshes": lambda: dt.init_device_mesh("cpu", (1,)).get_group(),
}


def resident_kib():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def repeat(call, n):
    for _ in range(n):
        call()
    dt.ones(1)  # ends functions that were let go of
    gc.collect()


@pytest.mark.parametrize("name", CALLS)
def test_nothing_stays(name):
    repeat(CALLS[name], 10)
    live = dt.memory_stats()["live"]
    repeat(CALLS[name], 20)
    assert dt.memory_stats()["live"] == live


def test_functions_are_freed():
    """Freed handles are kept for a while to name their use, so resident memory is level only after many calls."""
    def all_of_them():
        for name in ("hook", "checkpoint", "assignment"):
            CALLS[name]()
    repeat(all_of_them, 1500)
    kib = resident_kib()
    repeat(all_of_them, 1500)
    assert resident_kib() - kib <= 64


def test_used_copies_last_for_their_block():
    python_tests.run_ranks(3, FILE, "gather_once")


def gather_once():
    n = dt.get_world_size()
    mesh = dt.init_device_mesh("cpu", (n,), mesh_dim_names=("fsdp",))
    w = dt.ones(6, 6, device_mesh=mesh, placements="S(0)", use="R")
    x = dt.ones(6, 6, device_mesh=mesh, placements="S(0)")
    with dt.comm_stats() as stats, dt.block():
        for _ in range(3):
            x = dt.norm(x @ w, dim=1, keepdim=True) + x
    assert stats.count("all_gather") == 1, str(stats)
    with dt.comm_stats() as stats:
        w[0] = 2
        assert (w[0] == 2).all() and not (w[1] == 2).any()
    w.requires_grad = True
    seen = []
    with dt.block():
        y = x @ w
        y.register_hook(lambda grad: seen.append(((grad @ w).sum().item(), w[1:3].sum().item())))
        y.sum().backward()
    assert len(seen) == 1 and seen[0][1] == 12 and w.grad.placements == w.placements


if __name__ == "__main__":
    python_tests.main(FILE)
