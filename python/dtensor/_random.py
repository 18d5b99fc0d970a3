# SPDX-License-Identifier: Apache-2.0
"""Random tensors, whose numbers do not depend on mesh, placements or number of ranks."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _dtensor
from ._dtensor import DTensor, calls


class Generator(_dtensor._Generator):
    """A source of random numbers: a seed, and the number of draws so far."""

    __slots__ = ()

    def __new__(cls, seed: int = 0) -> Generator:
        return calls.generator_new(seed)

    def manual_seed(self, seed: int) -> Generator:
        calls.generator_seed(self, seed)
        return self

    def child(self, name: str) -> Generator:
        """Another generator, whose seed is derived from this one's and the name."""
        return calls.generator_child(self, name)


_dtensor._register("GENERATOR", Generator)


def manual_seed(seed: int) -> Generator:
    """Restarts the default generator with a seed."""
    return default_generator().manual_seed(seed)


def default_generator() -> Generator:
    """The generator of calls that name no other."""
    return calls.generator_default()


def _sizes(size: tuple[Any, ...]) -> Sequence[int]:
    sizes: Sequence[int] = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return sizes


def rand(*size: Any, **options: Any) -> DTensor:
    """Uniform numbers in [low, high), which are 0 and 1."""
    return calls.rand(_sizes(size), **options)


def randn(*size: Any, **options: Any) -> DTensor:
    """Normal numbers with mean 0 and std 1."""
    return calls.randn(_sizes(size), **options)


def truncated_normal(*size: Any, **options: Any) -> DTensor:
    """Normal numbers, none outside [low, high], which are -2 and 2."""
    return calls.truncated_normal(_sizes(size), **options)


def exponential(*size: Any, **options: Any) -> DTensor:
    """Exponential numbers with a rate."""
    return calls.exponential(_sizes(size), **options)


def randint(low: int, high: Any, size: Any = None, **options: Any) -> DTensor:
    """Integers from low to high - 1: randint(low, high, size), or randint(high, size)."""
    if size is None:
        low, high, size = 0, low, high
    return calls.randint(low, high, size, **options)


def bernoulli(p: float, size: Sequence[int], **options: Any) -> DTensor:
    """1 with probability p, otherwise 0."""
    return calls.bernoulli(p, size, **options)


def dropout_mask(p: float, size: Sequence[int], **options: Any) -> DTensor:
    """0 with probability p, otherwise 1 / (1 - p)."""
    return calls.dropout_mask(p, size, **options)


def randperm(n: int, **options: Any) -> DTensor:
    """0 to n - 1 in random order."""
    return calls.randperm(n, **options)


def rand_like(input: DTensor, **options: Any) -> DTensor:
    """Uniform numbers with the shape and placements of a tensor."""
    return calls.rand_like(input, **options)


def randn_like(input: DTensor, **options: Any) -> DTensor:
    """Normal numbers with the shape and placements of a tensor."""
    return calls.randn_like(input, **options)


def _in_place(name: str) -> Any:
    def fill(self: DTensor, *args: Any, **options: Any) -> DTensor:
        getattr(calls, name)(self, *args, **options)
        return self
    fill.__name__ = name.replace("_in_place", "_")
    fill.__doc__ = f"Fills the tensor with random numbers, and returns it: see {name.removesuffix('_in_place')}."
    return fill


for _name in ("uniform_in_place", "normal_in_place", "truncated_normal_in_place", "exponential_in_place", "randint_in_place",
              "bernoulli_in_place"):
    _made = _in_place(_name)
    setattr(DTensor, _made.__name__, _made)
