# SPDX-License-Identifier: Apache-2.0
"""Files of NumPy: each rank reads and writes its shard."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _dtensor
from ._dtensor import DTensor, calls


def save_npy(tensor: DTensor, path: str | os.PathLike[str]) -> None:
    """Writes the full tensor to a .npy file. Collective over the mesh; Local for a plain tensor."""
    calls.save_npy(tensor, os.fspath(path))


def load_npy(path: str | os.PathLike[str], **options: Any) -> DTensor:
    """Reads a .npy file: device_mesh, placements, use and requires_grad as in makers. Collective over the mesh."""
    return calls.load_npy(os.fspath(path), **options)


def save_npz(path: str | os.PathLike[str], tensors: Mapping[str, DTensor]) -> None:
    """Writes tensors, each under its name, to a .npz file. Collective over their mesh."""
    _dtensor._save_npz(os.fspath(path), list(tensors), list(tensors.values()))


def load_npz(path: str | os.PathLike[str], name: str, **options: Any) -> DTensor:
    """Reads one tensor of a .npz file. Collective over the mesh."""
    return calls.load_npz(os.fspath(path), name, **options)
