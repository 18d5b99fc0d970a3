# SPDX-License-Identifier: Apache-2.0
"""Errors of the library as exceptions: one class for each status, which is also the builtin that Python programs expect.
The text is that of C, with the file and line of the Python program."""
from __future__ import annotations


class Error(Exception):
    """Any error of the library."""


class ArgumentError(Error, ValueError):
    """An argument has a value that is not allowed."""


class OutOfRangeError(ArgumentError, IndexError):
    """An index is out of range."""


class ShapeError(Error, ValueError):
    """Shapes or sizes do not fit together."""


class DtypeError(Error, TypeError):
    """The dtype is unknown or not supported by the call."""


class PlacementError(Error, ValueError):
    """A placement is malformed or does not fit the tensor or the mesh."""


class MeshError(Error, ValueError):
    """A mesh is malformed or does not fit the world or the call."""


class OpError(Error, LookupError):
    """There is no such op."""


class FieldError(Error, ValueError):
    """A request has a field that is unknown, missing or of the wrong type."""


class UnsupportedError(Error, NotImplementedError):
    """The call is valid but not supported."""


class StateError(Error, RuntimeError):
    """The object is not in a state that allows the call."""


class OutOfMemoryError(Error, MemoryError):
    """Out of memory."""


class SystemCallError(Error, OSError):
    """The operating system reported an error."""


class MismatchError(Error, RuntimeError):
    """Ranks made calls that do not match."""


class DeadlineError(Error, TimeoutError):
    """A peer did not arrive in time."""


class PeerError(Error, ConnectionError):
    """A peer has died, closed its context, or failed."""


class GroupError(Error, RuntimeError):
    """The group is unusable after an earlier failure."""


class InternalError(Error, RuntimeError):
    """A bug in the library."""


CLASSES: dict[str, type[Error]] = {
    "value": ArgumentError,
    "index": OutOfRangeError,
    "shape": ShapeError,
    "dtype": DtypeError,
    "placement": PlacementError,
    "mesh": MeshError,
    "op": OpError,
    "field": FieldError,
    "json": FieldError,
    "unsupported": UnsupportedError,
    "state": StateError,
    "memory": OutOfMemoryError,
    "system": SystemCallError,
    "mismatch": MismatchError,
    "timeout": DeadlineError,
    "peer": PeerError,
    "group": GroupError,
    "internal": InternalError,
}
for _class in (Error, *CLASSES.values()):
    _class.__module__ = "dtensor"  # the name that programs use, in tracebacks
