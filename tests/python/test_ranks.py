# SPDX-License-Identifier: Apache-2.0
"""Distributed tensors in Python on several ranks: meshes, placements, redistribution, gradients, and errors that one rank
or all ranks have."""
import os
import signal
import subprocess
import sys
import threading
import time

import python_tests
import dtensor as dt
import pytest

FILE = __file__


def meshes():
    mesh = dt.init_device_mesh("cpu", (1, -1), mesh_dim_names=("dp", "tp"))
    n = dt.get_world_size()
    assert mesh.shape == (1, n) and mesh.mesh_dim_names == ("dp", "tp") and mesh.ndim == 2 and mesh.size() == n
    assert mesh.mesh == [list(range(n))] and mesh.get_coordinate() == [0, dt.get_rank()]
    assert mesh.get_local_rank("tp") == dt.get_rank() and mesh["tp"].get_local_rank() == dt.get_rank()
    assert mesh["tp"].get_group().size() == n and mesh.get_group("dp").ranks == [dt.get_rank()]
    assert mesh._flatten().shape == (n,) and mesh == dt.DeviceMesh("cpu", f"dp=1,tp={n}")
    assert dt.DeviceMesh("cpu", [list(range(n))]).shape == (1, n)
    assert dt.DeviceMesh.from_group(mesh.get_group("tp"), "cpu").shape == (n,)
    pairs = mesh._unflatten("tp", (n, 1), ("a", "b"))
    assert pairs.shape == (1, n, 1) and pairs.mesh_dim_names == ("dp", "a", "b") and pairs["a"].get_group().ranks == list(range(n))
    groups = [mesh.get_group("dp"), mesh.get_group("tp")]
    assert dt.DeviceMesh.from_group(groups, mesh=[list(range(n))], mesh_dim_names=("dp", "tp")) == mesh
    mesh["tp"].get_group().barrier()
    with mesh:
        assert dt.ones(4, placements=[dt.Replicate(), dt.Shard(0)]).device_mesh == mesh


def values():
    mesh = dt.init_device_mesh("cpu", (dt.get_world_size(),), mesh_dim_names=("tp",))
    whole = dt.arange(35).view(7, 5).float()
    x = dt.distribute_tensor(whole, mesh, [dt.Shard(0)])
    assert x.placements == (dt.Shard(0),) and x.shape == (7, 5) and x.placements[0].is_shard(0)
    assert x.local_shape[0] <= 7 and x.to_local().shape == x.local_shape
    assert (x.full_tensor() == whole).all()
    y = x.redistribute(placements=[dt.Shard(1)])
    assert y.placements == (dt.Shard(1),) and (y.full_tensor() == whole).all()
    total = x.sum()
    assert total.placements[0].is_partial("sum") or dt.get_world_size() == 1
    assert total.item() == 595 and float(total) == 595
    assert (x[1:-1, ::2].full_tensor() == whole[1:-1, ::2]).all()
    x[2] = 0
    x[[0, 6], 1] = -1
    whole[2] = 0
    whole[[0, 6], 1] = -1
    assert (x.full_tensor() == whole).all()
    assert (x[x > 20].full_tensor() == whole[whole > 20]).all()
    back = dt.DTensor.from_local(x.to_local(), mesh, [dt.Shard(0)], shape=(7, 5))
    assert back.data_ptr() == x.data_ptr() and (back.full_tensor() == whole).all()
    if dt.get_world_size() > 1:
        for read in (memoryview, lambda t: t.__dlpack__()):
            try:
                read(x)
                raise AssertionError("a shard is no whole tensor")
            except BufferError as error:
                assert "full_tensor()" in str(error) and "to_local()" in str(error)
    assert "S(0)" in repr(x)
    if dt.get_rank() == 0:
        with dt.apart():  # refuses what communicates
            assert "S(0)" in x._repr_html_() and x._repr_html_().startswith("<svg")
    w = dt.ones(5, 3, device_mesh=mesh, placements="S(1)", requires_grad=True)
    ((x @ w).relu() * 2).sum().backward()
    assert w.grad.placements == w.placements and w.grad.shape == (5, 3)
    with dt.no_grad():
        assert not (x @ w).requires_grad
    assert (w.grad.full_tensor()[:, :1] == w.grad.full_tensor()[:, 1:2]).all()


def agreed_errors():
    mesh = dt.init_device_mesh("cpu", (dt.get_world_size(),))
    x = dt.ones(8, 4, device_mesh=mesh, placements="S(0)")
    for _ in range(3):
        try:
            x @ x
            raise AssertionError("shapes do not fit")
        except dt.ShapeError as error:
            assert "test_ranks.py:" in str(error)
    assert x.sum().item() == 32


TUTORIAL = """
import os
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

mesh = init_device_mesh("cuda", (int(os.environ["WORLD_SIZE"]),))
rows = distribute_tensor(torch.randn(888, 12), device_mesh=mesh, placements=[Shard(dim=0)])
copies = distribute_tensor(torch.randn(888, 12), mesh, [Replicate()])
local = torch.randn((8, 8), requires_grad=True)
by_rows = DTensor.from_local(local, mesh, [Shard(0)])
by_columns = by_rows.redistribute(mesh, [Shard(1)])
whole = by_columns.redistribute(device_mesh=mesh, placements=[Replicate()])
whole.to_local().sum().backward()
assert local.grad is not None and whole.shape == (8 * mesh.size(), 8)
total = DTensor.from_local(torch.ones(2, 2), mesh, [Partial()]).full_tensor()
assert total.tolist() == [[mesh.size()] * 2] * 2
mesh_2d = init_device_mesh("cuda", (2, 2), mesh_dim_names=("replicate", "shard"))
assert mesh_2d.get_group(mesh_dim="replicate").size() == mesh_2d["shard"].get_group().size() == 2
both = distribute_tensor(torch.randn(8, 8), mesh_2d, [Replicate(), Shard(0)])
assert both.to_local().shape == (4, 8) and mesh_2d["replicate", "shard"].shape == (2, 2)
"""


def tutorial():
    """What the pages of PyTorch on DTensor and DeviceMesh do, in which only the imports change."""
    changed = TUTORIAL.replace("import torch\n", "import dtensor as torch\n")
    for module in ("torch.distributed.device_mesh", "torch.distributed.tensor"):
        changed = changed.replace(f"from {module} import", "from dtensor import")
    exec(changed, {})


def raises_at_first():
    mesh = dt.init_device_mesh("cpu", (dt.get_world_size(),))
    x = dt.ones(8, device_mesh=mesh, placements="S(0)")
    if os.environ["DTENSOR_RESTART"] == "0" and dt.get_rank() == 1:
        raise KeyError("first")
    print(f"restart {os.environ['DTENSOR_RESTART']}: {x.sum().item()}")


def other_threads_run():
    """A thread notes the time again and again. With this switch interval it can do so only while this one has released the
    interpreter by itself."""
    sys.setswitchinterval(1000)
    mesh = dt.init_device_mesh("cpu", (dt.get_world_size(),))
    noted = []

    def note():
        while True:
            time.sleep(0.001)
            noted.append(time.monotonic())

    def runs_during(call):
        before, begin = len(noted), time.monotonic()
        call()
        return any(begin < at < time.monotonic() for at in noted[before:])

    threading.Thread(target=note, daemon=True).start()
    x = dt.ones(8, device_mesh=mesh, placements="S(0)")
    x.sum().item()
    if dt.get_rank() == 1:
        time.sleep(0.5)
    found = runs_during(lambda: x.sum().item())
    assert found or dt.get_rank() == 1, "no other thread has run while this one waited"
    w = dt.ones(1000, 1000, requires_grad=True)
    plain = w.detach()
    loss = ((w @ w) @ w).sum()
    loss.backward(retain_graph=True)
    optimizer = dt.AdamW([w])
    calls = {"backward": lambda: loss.backward(retain_graph=True), "step": optimizer.step, "product": lambda: plain @ plain,
             "maker": lambda: dt.randn(2000, 1000), "assignment": lambda: plain.__setitem__([0, 1] * 500, plain)}
    for name, call in calls.items():  # a call may be over before the other thread has had a turn
        assert any(runs_during(call) for _ in range(100)), f"{name}: no other thread has run"


def one_rank_raises():
    mesh = dt.init_device_mesh("cpu", (dt.get_world_size(),))
    x = dt.ones(8, device_mesh=mesh, placements="S(0)")
    if dt.get_rank() == 1:
        raise KeyError("no such weight")
    x.sum().item()


def waits_for_ever():
    mesh = dt.init_device_mesh("cpu", (dt.get_world_size(),))
    x = dt.ones(8, device_mesh=mesh, placements="S(0)")
    print(f"waiting {os.getpid()}", flush=True)
    if dt.get_rank() == 1:
        time.sleep(50)
    x.sum().item()


@pytest.mark.parametrize("n", [1, 3])
def test_meshes(n):
    python_tests.run_ranks(n, FILE, "meshes")


@pytest.mark.parametrize("n", [1, 2, 5])
def test_values(n):
    python_tests.run_ranks(n, FILE, "values")


def test_only_imports_change():
    python_tests.run_ranks(4, FILE, "tutorial")


def test_agreed_errors_leave_the_program_usable():
    python_tests.run_ranks(3, FILE, "agreed_errors")


def started(n, function):
    command = [str(python_tests.BUILD / "bin" / "dtrun"), "-n", str(n), sys.executable, FILE, "--rank", function]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=python_tests.environment())


def test_an_exception_of_one_rank_ends_the_others():
    program = started(3, "one_rank_raises")
    out, error = program.communicate(timeout=50)
    assert program.returncode != 0
    assert "KeyError: 'no such weight'" in error and error.count("Traceback") >= 2, error
    assert "PeerError" in error and "rank 1" in error, error


def test_restart_after_an_exception():
    command = [str(python_tests.BUILD / "bin" / "dtrun"), "--restarts", "2", "-n", "2", sys.executable, FILE, "--rank", "raises_at_first"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=python_tests.environment())
    assert done.returncode == 0 and "KeyError: 'first'" in done.stderr, done.stderr
    assert done.stdout == "restart 1: 8.0\n" * 2, done.stdout


def test_other_threads_run_meanwhile():
    python_tests.run_ranks(2, FILE, "other_threads_run")


def test_interrupt_while_waiting():
    program = started(2, "waits_for_ever")
    lines = [program.stdout.readline() for _ in range(2)]
    assert all(line.startswith("waiting") for line in lines)
    time.sleep(0.3)
    program.send_signal(signal.SIGINT)
    out, error = program.communicate(timeout=50)
    assert program.returncode != 0 and "KeyboardInterrupt" in error, error


if __name__ == "__main__":
    python_tests.main(FILE)
