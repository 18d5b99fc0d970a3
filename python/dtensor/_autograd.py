# SPDX-License-Identifier: Apache-2.0
"""Gradients, beyond the methods of tensors."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import _dtensor
from ._dtensor import DTensor, calls
from ._scoped import Scoped


class no_grad(Scoped):
    """Nothing is recorded, and results require no gradient: `with no_grad():`, or above a function."""

    def __enter__(self) -> None:
        calls.no_grad_begin()

    def __exit__(self, *exception: object) -> None:
        calls.no_grad_end()


class as_stored(Scoped):
    """Ops see all tensors as they are stored, whatever their use placements are."""

    def __enter__(self) -> None:
        calls.as_stored_begin()

    def __exit__(self, *exception: object) -> None:
        calls.as_stored_end()


def grad(outputs: DTensor | Sequence[DTensor], inputs: DTensor | Sequence[DTensor],
         grad_outputs: DTensor | Sequence[DTensor | None] | None = None, retain_graph: bool | None = None,
         create_graph: bool = False, allow_unused: bool = False) -> tuple[DTensor | None, ...]:
    """The gradients of the sum of the outputs with respect to the inputs. Collective over the meshes where gradients move."""
    of = [outputs] if isinstance(outputs, DTensor) else list(outputs)
    to = [inputs] if isinstance(inputs, DTensor) else list(inputs)
    given = [grad_outputs] if isinstance(grad_outputs, DTensor) else grad_outputs
    return _dtensor._gradients(of, to, given, bool(create_graph if retain_graph is None else retain_graph), create_graph,
                               allow_unused)


def checkpoint(function: Callable[..., DTensor], *args: Any, use_reentrant: bool | None = None, **kwargs: Any) -> DTensor:
    """The result of the function, without keeping the values inside it: they are computed again for gradients. It does the
    same both times. One of the arguments is a tensor. `use_reentrant` is PyTorch's, and has no effect."""
    inputs = [one for one in args if isinstance(one, DTensor)]
    if not inputs:
        raise TypeError("checkpoint: expected a tensor among the arguments of the function")
    if len(inputs) == len(args) and not kwargs:
        return _dtensor._checkpoint(function, inputs)

    def run(*tensors: DTensor) -> DTensor:
        given = iter(tensors)
        return function(*(next(given) if isinstance(one, DTensor) else one for one in args), **kwargs)

    return _dtensor._checkpoint(run, inputs)


def zero_grad(tensors: Sequence[DTensor]) -> None:
    """Drops the gradients of tensors."""
    calls.zero_grad(tensors)


def use(*tensors: DTensor) -> None:
    """Brings tensors to their use placements together, for the ops of the current block. Collective where they move."""
    calls.use(tensors)


def grad_norm(parameters: Sequence[DTensor], norm_type: float = 2.0, *, error_if_nonfinite: bool = False,
              device_mesh: Any = None) -> DTensor:
    """The norm of the gradients of all parameters. Collective over their meshes."""
    return calls.grad_norm(parameters, norm_type=norm_type, error_if_nonfinite=error_if_nonfinite, device_mesh=device_mesh)


def clip_grad_norm_(parameters: DTensor | Iterable[DTensor], max_norm: float, norm_type: float = 2.0, *,
                    error_if_nonfinite: bool = False, device_mesh: Any = None) -> DTensor:
    """Scales the gradients so that their norm is at most max_norm; returns the norm that they had."""
    several = [parameters] if isinstance(parameters, DTensor) else list(parameters)
    return calls.clip_grad_norm(several, max_norm, norm_type=norm_type, error_if_nonfinite=error_if_nonfinite,
                                device_mesh=device_mesh)
