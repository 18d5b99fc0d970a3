# SPDX-License-Identifier: Apache-2.0
"""A scope that `with` opens, or that a function runs in."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Scoped:
    """The base of scopes: subclasses have __enter__ and __exit__."""

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError

    def __call__(self, function: Function) -> Function:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with type(self)():
                return function(*args, **kwargs)
        return run  # type: ignore[return-value]
