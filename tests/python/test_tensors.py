# SPDX-License-Identifier: Apache-2.0
"""Tensors in Python: makers, operators, indexing, memory that is shared with NumPy and PyTorch, texts and errors."""
import copy
import gc
import pickle
import threading

import python_tests
import dtensor as dt
import numpy as np
import pytest

FILE = __file__


def same(tensor, expected):
    np.testing.assert_array_equal(np.asarray(tensor.full_tensor()), expected)


def test_makers():
    same(dt.zeros(2, 3), np.zeros((2, 3), "f4"))
    same(dt.zeros((2, 3), dtype=dt.int64), np.zeros((2, 3), "i8"))
    same(dt.arange(5), np.arange(5))
    same(dt.arange(2, 8, 3), np.arange(2, 8, 3))
    same(dt.full((2,), 7), np.full(2, 7))
    same(dt.eye(2, 3), np.eye(2, 3, dtype="f4"))
    same(dt.tensor([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
    assert dt.arange(3).dtype is dt.int64 and dt.full((1,), 0.5).dtype is dt.float32
    assert dt.full((1,), True).dtype is dt.bool and dt.tensor([1.0]).dtype is dt.float32
    assert dt.tensor([]).shape == (0,) and dt.tensor(3).shape == () and dt.tensor([1 + 2j]).dtype is dt.complex64
    assert [dt.tensor([1], dtype=word).dtype.word for word in ("f16", "bfloat16", float, np.int8, np.dtype("u1"))] == \
        ["f16", "bf16", "f32", "i8", "u8"]


def test_operators_follow_numpy():
    a, b = np.array([[1.5, -2.0], [3.0, 4.0]]), np.array([[2.0, 5.0], [-1.0, 0.5]])
    x, y = dt.tensor(a), dt.tensor(b)
    for text in ("p + q", "p - q", "p * q", "p / q", "p @ q", "p ** 2", "2 ** p", "-p", "abs(p)", "p % 3", "p // q", "2 - p",
                 "1 / q", "3 * p + 1", "p < q", "p >= 1.5", "p == q", "p != 3"):
        np.testing.assert_allclose(eval(text, {"p": x, "q": y}).numpy(), eval(text, {"p": a, "q": b}), err_msg=text)
    i = dt.tensor([1, 6, 3])
    same(i & 3, [1, 2, 3])
    same(i | 8, [9, 14, 11])
    same(~i, [-2, -7, -4])
    same(np.float32(2) * x, 2 * a)
    x += 1
    x *= 2
    same(x, (a + 1) * 2)
    same(dt.tensor([1.0, 2.0]) * 1j, np.array([1j, 2j]))


def test_numbers_on_the_left_widen_as_in_pytorch():
    flags, small, wide, half = dt.tensor([True, False]), dt.tensor([3, 7], dtype="i8"), dt.tensor([2, 4]), dt.ones(2, dtype="f16")
    for result, dtype, values in ((7 / dt.tensor([True]), "f32", [7]), (300 / small, "f32", [100, 300 / 7]), (10 // small, "i8", [3, 1]),
                                  (np.int64(10) // small, "i8", [3, 1]), (np.float32(7) % wide, "f32", [1, 3]), (7 % flags[:1], "i64", [0]),
                                  (3 / half, "f16", [3, 3]), (wide * 1j, "c64", [2j, 4j]), (wide.double() * 1j, "c128", [2j, 4j])):
        assert result.dtype.word == dtype
        np.testing.assert_allclose(result.full_tensor().numpy(), values, rtol=1e-6)


def test_indexing_follows_numpy():
    a = np.arange(24.0).reshape(4, 3, 2)
    x = dt.tensor(a)
    rows = [2, 0, 2]
    for text in ("p[0]", "p[-1, 1]", "p[1:3]", "p[::2, :, 0]", "p[::-1]", "p[..., 1]", "p[None, 1]", "p[:, None, 1:]", "p[rows]",
                 "p[rows, 1]", "p[:, [0, 1], [1, 0]]", "p[p > 7]", "p[3:1]", "p[()]", "p[np.array([1, 2])]", "p[5:]"):
        same(eval(text, {"p": x, "rows": rows, "np": np}), eval(text, {"p": a, "rows": rows, "np": np}))
    for text in ("p[0] = 5", "p[1, 2, 1] = -1", "p[1:3, ::2] = 9", "p[rows] = 0.5", "p[p > 8] = 2", "p[:, 1] = [7, 8]",
                 "p[..., 0] = np.zeros((4, 3))", "p[::-1] = p[0]", "p[[True, False, True, True], [0, 1, 2]] = 4", "p[np.arange(4) > 2, 1] = 6"):
        exec(text, {"p": x, "rows": rows, "np": np})
        exec(text, {"p": a, "rows": rows, "np": np})
        same(x, a)
    with pytest.raises(IndexError, match="out of range"):
        x[4]
    with pytest.raises(IndexError):
        x[0.5]
    assert [row.shape for row in x] == [(3, 2)] * 4 and 8.0 in x and -100 not in x


def test_results_have_names():
    found = dt.tensor([[1.0, 3.0], [4.0, 2.0]]).max(dim=1)
    same(found.values, [3, 4])
    same(found.indices, [1, 0])
    values, indices = found
    parts = dt.arange(7).split(3)
    assert [part.shape for part in parts] == [(3,), (3,), (1,)]
    assert len(dt.arange(100).unbind()) == 100


def numpy_exchanges(kind):
    """NumPy 1.24 has no DLPack of booleans, not even with itself."""
    try:
        return np.from_dlpack(np.ones(1, kind)).dtype == kind
    except (RuntimeError, TypeError, BufferError):
        return False


@pytest.mark.parametrize("kind", ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "?", "c8", "c16"])
def test_memory_is_shared_with_numpy(kind):
    a = np.ones((3, 4), kind)
    for part in (a, a.T, a[1:, ::2], a[:0], np.ones((), kind)):
        tensor = dt.from_numpy(part)
        back = np.asarray(tensor)
        assert tensor.data_ptr() == part.ctypes.data or part.size == 0
        assert back.dtype == part.dtype and back.shape == part.shape
        assert back.ctypes.data == part.ctypes.data and (back.strides == part.strides or part.size == 0) or part.size == 0
        if numpy_exchanges(kind):
            np.testing.assert_array_equal(np.from_dlpack(tensor), part)
    tensor = dt.from_dlpack(a) if numpy_exchanges(kind) else dt.from_numpy(a)
    tensor[0] = 0
    assert a[0, 0] == 0 and a[1, 0] == 1


def test_read_only_memory_is_copied():
    a = np.arange(3.0)
    a.flags.writeable = False
    tensor = dt.from_numpy(a)
    tensor[0] = 9
    assert a[0] == 0


def test_memory_outlives_tensors():
    view = np.asarray(dt.arange(5) * 2)
    gc.collect()
    np.testing.assert_array_equal(view, [0, 2, 4, 6, 8])
    a = np.arange(4.0)
    tensor = dt.from_numpy(a)
    del a
    gc.collect()
    same(tensor, [0, 1, 2, 3])
    with pytest.raises(dt.StateError, match="still share"):
        dt.close()


def test_memory_is_shared_with_torch():
    torch = pytest.importorskip("torch")
    for kind in (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64):
        source = torch.ones(2, 3, dtype=kind)
        tensor = dt.from_dlpack(source)
        assert tensor.data_ptr() == source.data_ptr()
        back = torch.from_dlpack(tensor)
        assert back.data_ptr() == source.data_ptr() and back.dtype == kind
    same(dt.asarray(torch.arange(3)), [0, 1, 2])
    assert dt.distribute_tensor(torch.ones(2), dt.init_device_mesh("cpu", (1,)), "R").dtype is dt.float32


def test_bf16_has_no_array_but_floats_do():
    x = dt.tensor([1.0, 2.5], dtype="bf16")
    with pytest.raises(BufferError, match="bf16"):
        memoryview(x)
    same(x.float(), [1, 2.5])
    assert x.tolist() == [1.0, 2.5]


def test_errors_are_exceptions_with_the_line():
    x = dt.zeros(2, 3)
    with pytest.raises(dt.ShapeError) as raised:
        x @ x
    assert isinstance(raised.value, ValueError) and isinstance(raised.value, dt.Error)
    assert "test_tensors.py:" in str(raised.value) and str(raised.value).startswith("matmul: ")
    with pytest.raises(dt.DtypeError):
        dt.linalg_inv(dt.ones(2, 2, dtype="i64"))
    for call in (lambda: dt.add(x), lambda: dt.relu(x, foo=1), lambda: x + "a", lambda: dt.relu(3), lambda: x.sum(dim="a"),
                 lambda: dt.zeros(2, dtype="f7"), lambda: x.add(x, other=x)):
        with pytest.raises(TypeError):
            call()
    same(x + 1, np.ones((2, 3)))


def test_what_is_no_tensor_is_named():
    x = dt.zeros(2, 3)
    for call, error, text in ((lambda: dt.tensor("a"), TypeError, "nested lists, got str"), (lambda: dt.asarray(object()), TypeError, "got object"),
                              (lambda: x["a"], IndexError, "got 'a'"), (lambda: dt.Shard("a"), TypeError, "integer"),
                              (lambda: dt.einsum("ij,jk", x, 3), TypeError, "einsum")):
        with pytest.raises(error, match=text):
            call()


def test_arrays_are_no_operands():
    x, a = dt.ones(3), np.ones(3, "f4")
    for call in (lambda: x + a, lambda: a + x, lambda: x == a, lambda: a != x, lambda: x @ a, lambda: a ** x):
        with pytest.raises(TypeError, match="asarray"):
            call()
    same(x + dt.asarray(a), 2 * a)
    assert (x == None) is False and (x == "a") is False and (x != ()) is True  # noqa: E711


def test_tensors_one_by_one():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for operands in ((dt.tensor(a), dt.tensor(b)), ([dt.tensor(a), dt.tensor(b)],)):
        np.testing.assert_allclose(dt.einsum("ij,jk->ik", *operands).numpy(), a @ b)
    assert dt.einsum("ii", dt.ones(3, 3)).item() == 3


def test_keywords_that_a_program_has_made():
    x = dt.tensor([[1.0, 2.0], [5.0, 3.0]])
    same(x.sum(**{"".join(("d", "im")): 0}), [6, 5])
    same(x.max(**{"".join(("d", "im")): 1, "keep" + "dim".lower(): True}).values, [[2], [5]])  # the second of two signatures
    same(dt.max(**{"".join(("in", "put")): x, "dim": 0}).indices, [1, 1])


def test_values():
    assert dt.tensor(2.5).item() == 2.5 and dt.tensor(2**62 + 1).item() == 2**62 + 1 and dt.tensor(True).item() is True
    assert dt.tensor(1 + 2j).item() == 1 + 2j and float(dt.tensor([3])) == 3.0 and int(dt.tensor(3.7)) == 3
    assert range(5)[dt.tensor(2)] == 2 and bool(dt.tensor(0)) is False
    with pytest.raises(ValueError, match="ambiguous"):
        bool(dt.zeros(2))
    with pytest.raises(ValueError):
        dt.zeros(2).item()
    assert len({dt.zeros(1), dt.zeros(1)}) == 2


def test_pictures():
    mesh = dt.init_device_mesh("cpu", (1,), mesh_dim_names=("tp",))
    shown = dt.ones(4, 6, device_mesh=mesh, placements="S(0)")._repr_html_()
    assert shown.startswith("<svg") and "f32[4,6] S(0)" in shown and "rank" in shown
    assert dt.ones(2)._repr_html_() == "<pre>tensor([1. 1.], dtype=f32)</pre>"
    many_dims = dt.ones(2, 2, 2, 2, device_mesh=mesh, placements="R")
    assert many_dims._repr_html_().startswith("<pre>DTensor(f32[2,2,2,2] R") and (many_dims + 1).sum().item() == 32


def test_small_names_of_pytorch():
    x = dt.ones(2, 3, dtype="f64", requires_grad=True)
    assert x.stride() == (3, 1) and x.stride(0) == 3 and x.nelement() == 6 and x.is_floating_point() and not x.is_complex()
    assert x.device == "cpu" and x.cpu() is x and not x.data.requires_grad and x.data.data_ptr() == x.data_ptr()
    assert dt.is_tensor(x) and not dt.is_tensor([1]) and dt.as_tensor([1, 2]).tolist() == [1, 2]
    (x * 2).sum().backward()
    assert dt.clip_grad_norm_(x, 1.0).item() > 1 and dt.clip_grad_norm_((one for one in [x]), 1.0).item() == pytest.approx(1, rel=1e-4)
    dt.SGD([x]).zero_grad(set_to_none=True)
    assert x.grad is None and dt.ShapeError.__module__ == "dtensor"


def test_texts_and_copies():
    assert repr(dt.tensor([1.0, 2.0])) == "tensor([1. 2.], dtype=f32)"
    assert repr(dt.bool) == "dtensor.bool" and f"{dt.tensor([2.5]):.2f}" == "2.50" and f"{dt.tensor(3):03d}" == "003"
    assert f"{dt.tensor([1, 2])}" == repr(dt.tensor([1, 2])) and dt.tensor([[1 + 2j], [3]]).tolist() == [[1 + 2j], [3 + 0j]]
    assert repr(dt.float32) == "dtensor.float32" and pickle.loads(pickle.dumps(dt.Shard(1))) == dt.Shard(1)
    x = dt.tensor([1.0], requires_grad=True)
    twin = copy.deepcopy(x)
    assert twin.requires_grad and twin.data_ptr() != x.data_ptr()
    with pytest.raises(TypeError, match="save_npy"):
        pickle.dumps(x)


def test_other_threads_are_refused_and_may_end_tensors():
    found, x = [], dt.zeros(3)

    def use():
        try:
            x + 1
        except dt.StateError as error:
            found.append(str(error))

    def drop(tensors):
        tensors.clear()

    tensors = [dt.zeros(3) for _ in range(10)]
    views = [np.asarray(dt.zeros(3)) for _ in range(10)]
    for target, args in ((use, ()), (drop, (tensors,)), (drop, (views,))):
        thread = threading.Thread(target=target, args=args)
        thread.start()
        thread.join()
    assert "thread" in found[0]
    same(x + 1, np.ones(3))


if __name__ == "__main__":
    python_tests.main(FILE)
