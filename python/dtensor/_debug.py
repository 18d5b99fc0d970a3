# SPDX-License-Identifier: Apache-2.0
"""Observing a program: its communication, its memory, why ops select their placements; functions on local tensors, and ops
of the program's own."""
from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _dtensor
from ._context import block
from ._dtensor import DTensor, calls
from ._placements import Placement, text_of

if TYPE_CHECKING:
    from ._mesh import DeviceMesh

_POLICIES = ("allow", "warn", "error")


class CommStats:
    """Counts of collectives, by kind, by op and by named scope."""

    def count(self, collective: str | None = None, op: str | None = None, scope: str | None = None) -> int:
        """The number of collectives that match."""
        return int(_dtensor._comm_stats(collective, op, scope)[0])

    def bytes(self, collective: str | None = None, op: str | None = None, scope: str | None = None) -> int:
        """The bytes that this rank has received in them."""
        return int(_dtensor._comm_stats(collective, op, scope)[1])

    def seconds(self, collective: str | None = None, op: str | None = None, scope: str | None = None) -> float:
        """Their duration, with the wait for other ranks."""
        return float(_dtensor._comm_stats(collective, op, scope)[2])

    def json(self) -> Any:
        """All counts, as dicts."""
        return json.loads(calls.comm_stats_json())

    def __str__(self) -> str:
        return calls.comm_stats_text()


@contextmanager
def comm_stats() -> Iterator[CommStats]:
    """Counts the communication of a block, from zero; the counts can still be read after it."""
    calls.comm_stats_begin()
    try:
        yield CommStats()
    finally:
        calls.comm_stats_end()


@contextmanager
def comm_scope(name: str) -> Iterator[None]:
    """A named scope of counts and traces, such as "layer1"."""
    calls.comm_scope_begin(name)
    try:
        yield
    finally:
        calls.comm_scope_end()


@contextmanager
def comm_policy(policy: str) -> Iterator[None]:
    """What happens in a block where an op must communicate without a request: "allow", "warn" or "error"."""
    if policy not in _POLICIES:
        raise ValueError(f"comm_policy: expected allow, warn or error, got {policy!r}")
    with block():
        calls.comm_policy(_POLICIES.index(policy))
        yield


def explain(call: str, *tensors: DTensor) -> str:
    """Which placements an op would select, and why: explain("matmul", x, w), or explain("sum($1; dim=[1])", x)."""
    return calls.explain_tensors(call, tensors)


def memory() -> str:
    """The memory of this rank by kind, as a table."""
    return calls.memory_text()


def memory_stats() -> dict[str, Any]:
    """Bytes that are allocated now and the maximum so far, in all and by kind."""
    live, peak, kinds = _dtensor._heap_stats()
    return {"live": live, "peak": peak, "by_kind": {kind: {"live": now, "peak": most} for kind, (now, most) in kinds.items()}}


@contextmanager
def tracing(file: str | None = None) -> Iterator[Callable[[], str]]:
    """Traces the ops and transfers of a block: to a file, in the format of Chrome's trace viewer if its name ends in .json, or
    in memory: `with tracing() as text: …`, then text()."""
    calls.trace_begin(file)
    try:
        yield calls.trace_text
    finally:
        calls.trace_end()


def _is_one(placements: Any) -> bool:
    """Whether placements are those of one tensor."""
    return placements is None or isinstance(placements, str) or all(isinstance(one, Placement) for one in placements)


def _texts(placements: Any, n: int | None = None) -> list[str | None]:
    several = [placements] * (n or 1) if _is_one(placements) else list(placements)
    return [None if one is None else text_of(one) for one in several]


def local_map(func: Callable[..., Any], out_placements: Any, in_placements: Any = None, *, device_mesh: DeviceMesh | None = None,
              redistribute_inputs: bool = False, check: bool = False, halo: Any = None,
              border: str | None = None) -> Callable[..., Any]:
    """A function on distributed tensors, of one on the local tensors of each rank. Placements are those of one output, or a
    tuple of those of each. With `halo`, a text such as "1,1" for each input, the function is a stencil: it gets what each
    part of the outputs reads, and the outputs to fill."""
    outputs = _texts(out_placements)

    @functools.wraps(func)
    def run(*args: Any) -> Any:
        inputs = [one for one in args if isinstance(one, DTensor)]
        others = [one for one in args if not isinstance(one, DTensor)]

        def call(*local: DTensor) -> Any:
            if halo is not None and not others:
                return func(*local)
            given = iter(local)
            return func(*(next(given) if isinstance(one, DTensor) else one for one in args), *given)

        read = None if in_placements is None else _texts(in_placements, len(inputs))
        halos = None if halo is None else [halo] * len(inputs) if isinstance(halo, str) else list(halo)
        results = _dtensor._local_map(call, inputs, read, outputs, device_mesh, redistribute_inputs, check, halos, border)
        return results[0] if _is_one(out_placements) else results

    return run


def register_op(schema: str, function: Callable[..., Any], *, rule: str, shape: Callable[..., Any] | None = None,
                gradient: str | None = None, summary: str = "") -> Callable[..., DTensor]:
    """An op of the program's own: a function on local tensors, with a rule that states how it may be sharded and formulas of
    its gradients (op.h has both). The schema line is its signature: "swiglu(Tensor gate, Tensor up) -> Tensor". The shape
    function gets the shapes of the tensors and returns that of the result; without one they broadcast. Returns the op as a
    function. Every rank registers the same ops."""
    _dtensor._register_op(schema, function, rule, shape, gradient, summary)
    name = schema.split("(")[0].strip()

    def run(*tensors: DTensor) -> DTensor:
        return _dtensor._run_op(name, tensors)

    run.__name__ = name
    run.__doc__ = summary or schema
    return run


def call_op(name: str, *tensors: DTensor) -> DTensor:
    """Runs a registered op by name."""
    return _dtensor._run_op(name, tensors)
