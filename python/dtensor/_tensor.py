# SPDX-License-Identifier: Apache-2.0
"""Tensors: how they are made of other objects, distributed, and read; and the methods of DTensor that are not ops."""
from __future__ import annotations

import array
import html
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _dtensor
from ._dtensor import DTensor, calls, dtype
from ._errors import Error
from ._placements import Placement, placements_of

if TYPE_CHECKING:
    from ._mesh import DeviceMesh

Placements = str | Sequence[Placement]


# Objects of other libraries, and of Python.

def from_dlpack(source: Any) -> DTensor:
    """A plain tensor on the memory of an object with __dlpack__, such as a tensor of PyTorch. Nothing is copied."""
    try:
        capsule = source.__dlpack__(max_version=(1, 0))
    except TypeError:  # a library that has no versions
        capsule = source.__dlpack__()
    return _dtensor._from_capsule(capsule)


def from_numpy(source: Any) -> DTensor:
    """A plain tensor on the memory of an array, or of any other object with the buffer protocol. Nothing is copied, unless
    the memory is read-only."""
    return _dtensor._from_buffer(source)


def asarray(source: Any, dtype: Any = None) -> DTensor:
    """A plain tensor of an array, a tensor of another library, a number or nested lists. Shares memory where it can."""
    made = _shared(source)
    if made is None:
        made = _from_lists(source, dtype)
    return made if dtype is None else made.to(dtype)


def as_tensor(data: Any, dtype: Any = None) -> DTensor:
    """asarray() under its name in PyTorch."""
    return asarray(data, dtype)


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor."""
    return isinstance(value, DTensor)


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> DTensor:
    """A plain tensor with a copy of the data: numbers, nested lists, or an array."""
    made = asarray(data, dtype)
    made = made.clone() if _shared(data) is not None else made
    if requires_grad:
        made.requires_grad = True
    return made


def _shared(source: Any) -> DTensor | None:
    """A tensor on the memory of another object; None if it has none."""
    if isinstance(source, DTensor):
        return source
    if isinstance(source, (list, tuple, int, float, complex)):
        return None
    try:
        return _dtensor._from_buffer(source)
    except (TypeError, BufferError, ValueError):
        if hasattr(source, "__dlpack__"):
            return from_dlpack(source.detach() if hasattr(source, "detach") else source)
        if hasattr(source, "__array__"):
            return _dtensor._from_buffer(source.__array__())
        if hasattr(source, "item"):
            return None
        if not _has_buffer(source):
            raise TypeError(f"expected a tensor, an array, numbers or nested lists, got {type(source).__name__}") from None
        raise


def _has_buffer(source: Any) -> bool:
    try:
        memoryview(source).release()
    except TypeError:
        return False
    return True


def _flat_numbers(nested: Any, out: list[Any]) -> tuple[int, ...]:
    """Appends the numbers of nested lists; returns their shape."""
    if not isinstance(nested, (list, tuple)):
        out.append(nested.item() if hasattr(nested, "item") else nested)
        return ()
    shapes = [_flat_numbers(one, out) for one in nested]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("tensor: expected nested lists of equal lengths")
    return (len(shapes), *(shapes[0] if shapes else ()))


# By the type of Python that holds all numbers: the code of the array module, and the dtype.
_ARRAYS = {bool: ("b", "bool"), int: ("q", "i64"), float: ("d", "f32"), complex: ("d", "c64")}


def _from_lists(data: Any, wanted: Any) -> DTensor:
    numbers: list[Any] = []
    shape = _flat_numbers(data, numbers)
    kinds = {type(one) for one in numbers}
    kind = next((kind for kind in (complex, float, int, bool) if kind in kinds), float)
    code, word = _ARRAYS[kind]
    if kind is complex:
        numbers = [part for one in numbers for part in (complex(one).real, complex(one).imag)]
    made = _dtensor._from_buffer(array.array(code, numbers or [0]))
    if kind is complex:
        made = made.view(-1, 2).view_as_complex()
    made = made.to(word if wanted is None else wanted, copy=True)
    return made.view(shape) if numbers else _dtensor.zeros(shape, dtype=word if wanted is None else wanted)


def number_like(number: Any, like: DTensor, divides: bool = False) -> DTensor:
    """A tensor without dims for a number that an op does not take; called by operators. It has the dtype of the tensor, or,
    as in PyTorch, a wider one: of complex numbers, of fractions, and of any quotient."""
    kind = like.dtype
    if isinstance(number, complex):
        return tensor(number, dtype="c128" if kind.word in ("f64", "c128") else "c64")
    if kind.is_floating_point or kind.is_complex:
        return _dtensor.full((), number, dtype=kind)
    if divides or not hasattr(number, "__index__"):
        return _dtensor.full((), float(number), dtype="f32")
    return _dtensor.full((), number, dtype="i64" if kind.word == "bool" and not isinstance(number, bool) else kind)


def _replicated(made: DTensor, like: DTensor) -> DTensor:
    """A plain tensor that every rank has, on the mesh of another tensor."""
    mesh = like.device_mesh
    if mesh is None:
        return made
    return calls.distribute_tensor(made, mesh, ",".join("R" * mesh.ndim), everywhere=True)


def index_of(index: Any, like: DTensor) -> DTensor:
    """A list or an array in an index, as a tensor; called by x[…]."""
    if isinstance(index, str):
        raise IndexError(f"an index has integers, booleans, slices, None and ..., got {index!r}")
    made = asarray(index)
    if made.dtype.word not in ("bool", "i64"):
        if made.dtype.is_floating_point and made.numel():
            raise IndexError("an index has integers, booleans, slices, None and ...")
        made = made.to("i64")
    return _replicated(made, like)


def value_like(value: Any, like: DTensor) -> DTensor:
    """What is assigned to x[…], as a tensor."""
    return _replicated(asarray(value, like.dtype), like)


# Distributed tensors.

def distribute_tensor(tensor: Any, device_mesh: DeviceMesh | None = None, placements: Placements | None = None, *,
                      src_data_rank: int | None = 0, use: Placements | None = None) -> DTensor:
    """Distributes a tensor, an array or nested lists: every rank passes one of the same shape and dtype, and that of the
    source is read. With src_data_rank=None every rank holds the same value, and nothing is communicated. Collective over
    the mesh."""
    plain = asarray(tensor)
    place = _replicate(device_mesh) if placements is None else placements
    everywhere = src_data_rank is None
    source = None if everywhere or src_data_rank == 0 else src_data_rank
    return calls.distribute_tensor(plain, device_mesh, place, source=source, everywhere=everywhere, use=use)


def _replicate(mesh: DeviceMesh | None) -> str:
    found = calls.mesh_current() if mesh is None else mesh
    return ",".join("R" * (found.ndim if found is not None else 1))


def from_local(local_tensor: Any, device_mesh: DeviceMesh | None = None, placements: Placements | None = None, *,
               run_check: bool = False, shape: Sequence[int] | None = None, stride: Sequence[int] | None = None,
               grad_placements: Placements | None = None) -> DTensor:
    """A distributed tensor of local tensors, whose memory is shared. Local; with run_check Collective over the mesh."""
    return calls.from_local(asarray(local_tensor), device_mesh, placements, shape=shape, stride=stride, check=run_check,
                            grad_place=grad_placements)


def redistribute(self: DTensor, device_mesh: DeviceMesh | None = None, placements: Placements | None = None, *,
                 async_op: bool = False, dtype: Any = None, planner: str | None = None) -> DTensor:
    """The same value with other placements. Collective over the mesh where elements move."""
    if placements is None and isinstance(device_mesh, (str, list, tuple)):
        device_mesh, placements = None, device_mesh
    place = _replicate(device_mesh or self.device_mesh) if placements is None else placements
    return calls.redistribute(self, place, device_mesh=device_mesh, dtype=dtype, planner=planner)


def to_local(self: DTensor, *, grad_placements: Placements | None = None) -> DTensor:
    """The shard that this rank holds, as a plain tensor on the same memory. Local."""
    return calls.to_local(self, grad_place=grad_placements)


def full_tensor(self: DTensor, *, grad_placements: Placements | None = None) -> DTensor:
    """All of the tensor on every rank, as a plain tensor. Communicates: all ranks of the mesh call it."""
    return calls.full_tensor(self, grad_place=grad_placements)


def reduced(self: DTensor, placements: Placements | None = None) -> DTensor:
    """Partial values become complete: Replicate, or these placements. Collective over the mesh where elements move."""
    return calls.reduced(self, placements=placements)


def placements(self: DTensor) -> tuple[Placement, ...] | None:
    """One placement per mesh dim; None for a plain tensor."""
    text = self._place_text
    return None if text is None else placements_of(text)


def use(self: DTensor) -> str | None:
    """The placements in which ops see the tensor, as text; None: as it is stored. Assign to change it."""
    return self._use_text


def set_use(self: DTensor, value: Placements | None) -> None:
    calls.set_use(self, value)


# Gradients.

def backward(self: DTensor, gradient: DTensor | None = None, retain_graph: bool | None = None, create_graph: bool = False, *,
             hold: str | None = None) -> None:
    """Computes the gradients of the leaves that the tensor was made from, and adds each to `grad` of its leaf. With
    `hold`, gradients stay partial sums along these mesh dims. Collective over the meshes where gradients move."""
    _dtensor._backward(self, gradient, bool(create_graph if retain_graph is None else retain_graph), create_graph, hold)


def requires_grad_(self: DTensor, requires_grad: bool = True) -> DTensor:
    """Sets requires_grad; returns the tensor."""
    self.requires_grad = requires_grad
    return self


def detach(self: DTensor) -> DTensor:
    """The same elements, on the same memory, without gradients."""
    return calls.detach(self)


def retain_grad(self: DTensor) -> None:
    """Also keeps the gradient of this tensor, which is not a leaf."""
    calls.retain_grad(self)


class RemovableHandle:
    """A hook that can be removed."""

    def __init__(self, tensor: DTensor, number: int) -> None:
        self._tensor, self.id = tensor, number

    def remove(self) -> None:
        _dtensor._remove_hook(self._tensor, self.id)


def register_hook(self: DTensor, hook: Callable[[DTensor], DTensor | None]) -> RemovableHandle:
    """Calls a function with the gradient of this tensor when it is complete; what it returns, unless None, replaces it."""
    return RemovableHandle(self, _dtensor._add_hook(self, hook))


# Memory and texts.

def __dlpack__(self: DTensor, *, stream: Any = None, max_version: tuple[int, int] | None = None,
               dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise BufferError(f"__dlpack__: expected the device (1, 0), which is host memory, got {dl_device}")
    source = self.clone() if copy else self
    return _dtensor._to_dlpack(source.detach(), max_version is not None and max_version[0] >= 1)


def __dlpack_device__(self: DTensor) -> tuple[int, int]:
    return (1, 0)


def _memory(tensor: Any) -> memoryview:
    """Type checkers older than PEP 688 do not know that tensors have the buffer protocol."""
    return memoryview(tensor)


def __array__(self: DTensor, dtype: Any = None, copy: bool | None = None) -> Any:
    import numpy
    found = numpy.asarray(_memory(self))
    if copy or (dtype is not None and numpy.dtype(dtype) != found.dtype):
        return numpy.array(found, dtype=dtype)
    return found


def numpy(self: DTensor) -> Any:
    """The memory of a plain or replicated tensor as an array of NumPy; nothing is copied."""
    return __array__(self)


def tolist(self: DTensor) -> Any:
    """The values as nested lists. Communicates where the tensor is sharded: all ranks of the mesh call it."""
    full = full_tensor(self)
    if full.dtype.word in ("bf16", "f16"):
        full = full.float()
    if full.ndim == 0:
        return full.item()
    return _pairs(full.view_as_real().tolist(), full.ndim) if full.dtype.is_complex else _memory(full).tolist()


def _pairs(nested: Any, depth: int) -> Any:
    """Nested lists whose innermost pairs are complex numbers."""
    return complex(*nested) if depth == 0 else [_pairs(one, depth - 1) for one in nested]


def __format__(self: DTensor, spec: str) -> str:
    """A format is that of the value. Communicates, as item() does; without a format, as repr() it does not."""
    return format(self.item(), spec) if spec else str(self)


def __repr__(self: DTensor) -> str:
    """The spec, and the values of a plain tensor. Never communicates."""
    if self.is_distributed:
        return f"DTensor({self._text})"
    shown = calls.format(self, local=True)
    ends = ", requires_grad=True" if self.requires_grad and self.is_leaf else ""
    return f"tensor({shown}, dtype={self.dtype.word}{ends})".replace("\n", "\n       ")


def _repr_html_(self: DTensor) -> str:
    """What a notebook shows: which rank holds which elements, as `dtensor show` draws it. Never communicates."""
    try:
        picture = self._picture
    except Error:  # more dims or ranks than a picture has
        picture = None
    return picture or f"<pre>{html.escape(repr(self))}</pre>"


def __iter__(self: DTensor) -> Iterator[DTensor]:
    if self.ndim == 0:
        raise TypeError("iteration over a tensor without dims")
    return (self[i] for i in range(len(self)))


def __contains__(self: DTensor, value: Any) -> bool:
    return bool((self == value).any())


def __reduce_ex__(self: DTensor, protocol: Any) -> Any:
    raise TypeError("a tensor is not pickled, because it is on several ranks: save_npy() writes it to a file, and "
                    "full_tensor().numpy() is an array that can be")


def __deepcopy__(self: DTensor, memo: Any) -> DTensor:
    made = calls.detach(self).clone()
    if self.requires_grad:
        made.requires_grad = True
    return made


def size(self: DTensor, dim: int | None = None) -> Any:
    """The sizes of the full tensor, or of one dim."""
    return self.shape if dim is None else self.shape[dim]


def stride(self: DTensor, dim: int | None = None) -> Any:
    """The strides of the local tensor, in elements, or that of one dim."""
    return self.local_strides if dim is None else self.local_strides[dim]


def nelement(self: DTensor) -> int:
    """The number of elements of the full tensor."""
    return self.numel()


def is_floating_point(self: DTensor) -> bool:
    """Whether the elements are real floating-point numbers."""
    return self.dtype.is_floating_point


def is_complex(self: DTensor) -> bool:
    """Whether the elements are complex numbers."""
    return self.dtype.is_complex


def cpu(self: DTensor) -> DTensor:
    """The tensor, which is in host memory."""
    return self


def device(self: DTensor) -> str:
    """"cpu": where tensors are."""
    return "cpu"


def element_size(self: DTensor) -> int:
    """Bytes per element."""
    return self.dtype.itemsize


def new_empty(self: DTensor, *sizes: Any, dtype: Any = None) -> DTensor:
    """A plain tensor of these sizes and of this tensor's dtype."""
    return _dtensor.empty(*sizes, dtype=self.dtype if dtype is None else dtype)


def where(self: DTensor, condition: DTensor, other: Any) -> DTensor:
    """The elements of this tensor where the condition is true, otherwise those of the other."""
    return _dtensor.where(condition, self, other)


METHODS: tuple[Callable[..., Any], ...] = (
    redistribute, to_local, full_tensor, reduced, backward, requires_grad_, detach, retain_grad, register_hook, numpy, tolist,
    size, stride, nelement, is_floating_point, is_complex, cpu, new_empty, element_size, where, __dlpack__, __dlpack_device__, __array__, __repr__, _repr_html_, __format__, __iter__, __contains__, __reduce_ex__,
    __deepcopy__)
for method in METHODS:
    setattr(DTensor, method.__name__, method)
setattr(DTensor, "from_local", staticmethod(from_local))
setattr(DTensor, "placements", property(placements))
setattr(DTensor, "use", property(use, set_use))
setattr(DTensor, "dim", lambda self: self.ndim)
setattr(DTensor, "device", property(device))
setattr(DTensor, "data", property(detach))
setattr(DTensor, "__array_ufunc__", None)  # operators of arrays leave their operands to ours
