# SPDX-License-Identifier: Apache-2.0
"""Placements as objects with the names of PyTorch. Each has the text form of the library, and every function that takes
placements takes a sequence of these, or one text for all mesh dims: "S(0),R"."""
from __future__ import annotations

import operator
import re
from collections.abc import Sequence


class Placement:
    """What one mesh dim does with a tensor."""

    __slots__ = ("_text",)
    _text: str

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "_text", text)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("placements do not change")

    def __str__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Placement) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[object, ...]:
        return placement, (self._text,)

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether it is a Shard, of this tensor dim if one is given."""
        return False

    def is_replicate(self) -> bool:
        return False

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether it is a Partial, with this reduction if one is given."""
        return False


class Shard(Placement):
    """One shard of a tensor dim per coordinate of the mesh dim; `extents` are their sizes, where they are not equal."""

    __slots__ = ()

    def __init__(self, dim: int, extents: Sequence[int] | None = None) -> None:
        number = operator.index(dim)
        super().__init__(f"S({number}:{','.join(str(size) for size in extents)})" if extents else f"S({number})")

    @property
    def dim(self) -> int:
        found = re.match(r"_?S\((-?\d+)", self._text)
        assert found
        return int(found[1])

    def is_shard(self, dim: int | None = None) -> bool:
        return dim is None or dim == self.dim

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})" if self._text == f"S({self.dim})" else f"placement({self._text!r})"


class _StridedShard(Shard):
    """The dim is split into chunks, and each chunk over the mesh dim."""

    __slots__ = ()

    def __init__(self, dim: int, *, split_factor: int) -> None:
        Placement.__init__(self, f"_S({dim},{split_factor})")

    def is_shard(self, dim: int | None = None) -> bool:
        return False


class Replicate(Placement):
    """A copy on every coordinate of the mesh dim."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("R")

    def is_replicate(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "Replicate()"


class Partial(Placement):
    """Values that have yet to be reduced: sum, avg, product, min or max."""

    __slots__ = ()

    def __init__(self, reduce_op: str = "sum") -> None:
        super().__init__(f"P({reduce_op})")

    @property
    def reduce_op(self) -> str:
        return self._text[2:-1]

    def is_partial(self, reduce_op: str | None = None) -> bool:
        return reduce_op is None or reduce_op == self.reduce_op

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op!r})"


_KINDS: dict[str, type[Placement]] = {"S": Shard, "_": _StridedShard, "R": Replicate, "P": Partial}


def placement(text: str) -> Placement:
    """The placement of a text, such as "S(0)"."""
    kind = _KINDS.get(text.strip()[:1])
    if kind is None:
        raise ValueError(f'placement: expected S(dim), R or P(reduction), got "{text}"')
    made = object.__new__(kind)
    Placement.__init__(made, text.strip())
    return made


def placements_of(text: str) -> tuple[Placement, ...]:
    """One placement per mesh dim, of the text for all of them."""
    pieces, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += char
    return tuple(placement(piece) for piece in pieces)


def text_of(placements: str | Sequence[Placement | str]) -> str:
    """The text for all mesh dims; called by the extension for anything that is not a text already."""
    if isinstance(placements, (str, Placement)):
        return str(placements)
    for one in placements:
        if not isinstance(one, (Placement, str)):
            raise TypeError(f"placements: expected Shard, Replicate, Partial or text, got {type(one).__name__}")
    return ",".join(str(one) for one in placements)
