# SPDX-License-Identifier: Apache-2.0
"""Meshes with the names of PyTorch."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _dtensor
from ._dtensor import calls


class ProcessGroup(_dtensor._Group):
    """Ranks that communicate: of a mesh dim, or of all ranks."""

    __slots__ = ()

    def size(self) -> int:
        return calls.group_size(self)

    def rank(self) -> int:
        """This rank's index among the members; -1 if it is none of them."""
        return calls.group_rank(self)

    @property
    def ranks(self) -> list[int]:
        return [calls.group_world_rank(self, i) for i in range(self.size())]

    def barrier(self) -> None:
        """Waits until all members have called it. Collective over the group."""
        calls.comm_barrier(self)


class DeviceMesh(_dtensor._Mesh):
    """Ranks in an n-dimensional grid whose dims may have names. A mesh is arithmetic: making one sends nothing."""

    __slots__ = ()

    def __new__(cls, device_type: str = "cpu", mesh: Any = None, *,
                mesh_dim_names: Sequence[str] | None = None) -> DeviceMesh:
        if mesh is None:
            raise TypeError("DeviceMesh(): missing argument 'mesh': nested lists of ranks, or a text such as \"dp=2,tp=4\"")
        if isinstance(mesh, str):
            return calls.mesh_new(mesh)
        shape, ranks = _flat(mesh.tolist() if hasattr(mesh, "tolist") else mesh)
        return _from_ranks(ranks, shape, device_type, mesh_dim_names)

    @property
    def ndim(self) -> int:
        return calls.mesh_n_dims(self)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(calls.mesh_dim_size(self, i) for i in range(self.ndim))

    @property
    def mesh_dim_names(self) -> tuple[str, ...] | None:
        names = tuple(calls.mesh_dim_name(self, i) for i in range(self.ndim))
        return names if all(names) else None

    @property
    def device_type(self) -> str:
        return calls.mesh_device(self)

    @property
    def mesh(self) -> Any:
        """The ranks, as nested lists."""
        return _nested(list(_dtensor._mesh_ranks(self)), self.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        return calls.mesh_size(self) if mesh_dim is None else calls.mesh_dim_size(self, mesh_dim)

    def __getitem__(self, names: str | tuple[str, ...]) -> DeviceMesh:
        """The sub-mesh of these dims that contains this rank."""
        return calls.mesh_slice(self, names if isinstance(names, str) else ",".join(names))

    def _dim(self, dim: int | str | None) -> int:
        if dim is None:
            return -1
        found = dim if isinstance(dim, int) else calls.mesh_dim(self, dim)
        if found < 0 and not isinstance(dim, int):
            raise KeyError(f"the mesh has no dim {dim!r}: {self}")
        return found

    def get_rank(self) -> int:
        """The world rank of this process."""
        return calls.rank()

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """This rank's coordinate along a dim; -1 outside the mesh."""
        return calls.mesh_local_rank(self, self._dim(mesh_dim))

    def get_coordinate(self) -> list[int] | None:
        """This rank's coordinate; None outside the mesh."""
        coordinate = _dtensor._mesh_coordinate(self)
        return None if coordinate is None else list(coordinate)

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """This rank's group along a dim."""
        return calls.mesh_group(self, self._dim(mesh_dim))

    def get_all_groups(self) -> list[ProcessGroup]:
        return [self.get_group(i) for i in range(self.ndim)]

    def _flatten(self, mesh_dim_name: str | None = None) -> DeviceMesh:
        """All dims as one."""
        return calls.mesh_flatten(self, mesh_dim_name)

    def _unflatten(self, dim: int | str, mesh_sizes: Sequence[int], mesh_dim_names: Sequence[str] | None = None) -> DeviceMesh:
        """One dim as several."""
        return calls.mesh_unflatten(self, self._dim(dim), mesh_sizes, names=_names(mesh_dim_names))

    @staticmethod
    def from_group(group: ProcessGroup | Sequence[ProcessGroup], device_type: str = "cpu", mesh: Any = None, *,
                   mesh_dim_names: Sequence[str] | None = None) -> DeviceMesh:
        """The mesh of a group, or the mesh of ranks that several groups belong to."""
        if isinstance(group, ProcessGroup):
            return _from_ranks(group.ranks, (group.size(),), device_type, mesh_dim_names)
        if mesh is None:
            raise ValueError("from_group: several groups need the mesh of their ranks")
        return DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names)

    def __enter__(self) -> DeviceMesh:
        """The current mesh: makers with placements use it."""
        calls.mesh_scope_begin(self)
        return self

    def __exit__(self, *exception: object) -> None:
        calls.mesh_scope_end()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and calls.mesh_equal(self, other)

    def __hash__(self) -> int:
        return calls.mesh_fingerprint(self)

    def __str__(self) -> str:
        return calls.mesh_text(self)

    def __repr__(self) -> str:
        return f"DeviceMesh({str(self)!r})"


_dtensor._register("MESH", DeviceMesh)
_dtensor._register("GROUP", ProcessGroup)


def _names(names: Sequence[str] | None) -> str | None:
    return ",".join(names) if names else None


def _flat(nested: Any) -> tuple[tuple[int, ...], list[int]]:
    """The shape of nested lists, and their members in order."""
    if isinstance(nested, int):
        return (), [nested]
    parts = [_flat(one) for one in nested]
    if any(shape != parts[0][0] for shape, _ in parts):
        raise ValueError("mesh: expected nested lists of equal lengths")
    return (len(parts), *(parts[0][0] if parts else ())), [rank for _, ranks in parts for rank in ranks]


def _nested(flat: list[int], shape: tuple[int, ...]) -> Any:
    if len(shape) <= 1:
        return flat
    step = len(flat) // shape[0]
    return [_nested(flat[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def _from_ranks(ranks: Sequence[int], shape: Sequence[int], device: str, names: Sequence[str] | None) -> DeviceMesh:
    grid = str(_nested(list(ranks), tuple(shape))).replace(" ", "")
    return calls.mesh_new((f"{_names(names)}=" if names else "") + grid + ("" if device == "cpu" else f" on {device}"))


def init_device_mesh(device_type: str, mesh_shape: Sequence[int], *,
                     mesh_dim_names: Sequence[str] | None = None) -> DeviceMesh:
    """Ranks 0, 1, … in a grid of this shape; one size may be -1, which is what is left of the world. Initializes the
    library if that was not done. Local."""
    sizes = ["*" if size == -1 else str(size) for size in mesh_shape]
    if mesh_dim_names is not None and len(mesh_dim_names) != len(sizes):
        raise ValueError(f"init_device_mesh: expected a name per dim: {len(sizes)}, got {len(mesh_dim_names)}")
    text = ",".join(f"{name}={size}" for name, size in zip(mesh_dim_names, sizes)) if mesh_dim_names else "x".join(sizes)
    return calls.mesh_new(text + ("" if device_type == "cpu" else f" on {device_type}"))


def current_mesh() -> DeviceMesh | None:
    """The mesh of the innermost `with mesh:`."""
    return calls.mesh_current()
