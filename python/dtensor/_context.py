# SPDX-License-Identifier: Apache-2.0
"""The context: how a program joins a launch, how it ends, and scopes. An exception that ends this rank is the reason
that its peers get, so that none of them waits for it."""
from __future__ import annotations

import atexit
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import _dtensor
from ._dtensor import calls
from ._errors import StateError

_LEVELS = ("", "error", "warn", "info", "debug")


def init(*, transport: str | None = None, comm: Any = None, world: int = 0, rank: int = 0, heap_bytes: int = 0,
         timeout_s: float = 0, threads: int = 0, log: str = "") -> None:
    """Joins the launch of dtrun, mpirun or srun; without one, a world of one rank. The first call that needs a context
    does the same with the defaults. `comm` is a communicator of mpi4py, whose ranks become the world. Local the first
    time; after close(), Collective over the launch."""
    if log not in _LEVELS:
        raise ValueError(f"init: log: expected one of {', '.join(_LEVELS[1:])}, got {log!r}")
    address = 0
    if comm is not None:
        from mpi4py import MPI  # type: ignore[import-not-found, import, unused-ignore]
        address = MPI._addressof(comm)
    _dtensor._init(transport, world, rank, heap_bytes, timeout_s, threads, address, _LEVELS.index(log))


def close() -> None:
    """Ends the context with everything that belongs to it. Memory that arrays still share is refused. Local."""
    if _dtensor._n_shared():
        raise StateError(f"close: {_dtensor._n_shared()} arrays or tensors of other libraries still share memory; delete them")
    _dtensor._close()


def is_initialized() -> bool:
    """Whether there is a context."""
    return _dtensor._is_open()


def get_rank() -> int:
    """The rank of this process."""
    return calls.rank()


def get_world_size() -> int:
    """The number of ranks."""
    return calls.world()


def clear_error() -> None:
    """Clears an error that is this rank's own, such as a lack of memory or a lost peer, so that the program can continue.
    Errors that all ranks have alike need no such call. Collective over the world."""
    calls.error_clear()


@contextmanager
def block() -> Iterator[None]:
    """A scope: what ops have brought to its use placement is shared by the ops of the block, and freed at its end."""
    number = _dtensor._scope_begin()
    try:
        yield
    finally:
        _dtensor._scope_end(number)


@contextmanager
def apart() -> Iterator[None]:
    """Calls that only this rank makes, for logging; nothing may communicate."""
    calls.apart_begin()
    try:
        yield
    finally:
        calls.apart_end()


@contextmanager
def implicit_replication() -> Iterator[None]:
    """A plain tensor among distributed ones counts as replicated."""
    calls.implicit_replication_begin()
    try:
        yield
    finally:
        calls.implicit_replication_end()


def _end_with(kind: Any, value: Any, trace: Any) -> None:
    """Prints the traceback, and passes the reason to ranks that wait for this one."""
    _previous_hook(kind, value, trace)
    sys.stderr.flush()
    if _dtensor._is_open() and calls.world() > 1 and not issubclass(kind, KeyboardInterrupt):
        _dtensor._fail(f"the program ended with {kind.__name__}: {value}"[:1000])


def _at_exit() -> None:
    if _dtensor._is_open():
        _dtensor._close()


_previous_hook = sys.excepthook
sys.excepthook = _end_with
atexit.register(_at_exit)
