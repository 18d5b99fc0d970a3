# SPDX-License-Identifier: Apache-2.0
"""Pipelines: schedules as tables, and a step of training that runs one."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from . import _dtensor
from ._dtensor import DTensor, calls

if TYPE_CHECKING:
    from ._mesh import DeviceMesh
    from ._train import Params


class Schedule(_dtensor._Schedule):
    """Ranks, and the parts of stages that each runs, in order: gpipe, 1f1b, interleaved, zb-h1, zb-v, dualpipe-v, or the
    text of a table (docs/pipelines.md)."""

    __slots__ = ()

    def __new__(cls, text: str, *, ranks: int | None = None, stages: int | None = None, micro: int | None = None) -> Schedule:
        return calls.schedule_new(text, ranks=ranks, stages=stages, micro=micro)

    @property
    def n_ranks(self) -> int:
        return calls.schedule_n_ranks(self)

    @property
    def n_stages(self) -> int:
        return calls.schedule_n_stages(self)

    @property
    def n_micro(self) -> int:
        return calls.schedule_n_micro(self)

    def rank_of(self, stage: int) -> int:
        """The rank of the schedule that runs a stage."""
        return calls.schedule_rank_of(self, stage)

    def mesh(self, device_mesh: DeviceMesh, stage: int) -> DeviceMesh:
        """The mesh of a stage: the slice of a mesh with a dim "pp" at the coordinate of its rank."""
        return calls.pipeline_mesh(self, device_mesh, stage)

    def run(self, function: Callable[[int, int, DTensor | None], DTensor], device_mesh: DeviceMesh | None = None, *,
            hop: str | None = None, rows: Sequence[int] | None = None, weights: Sequence[float] | None = None,
            params: Params | None = None, hold: str | None = None) -> float:
        """Runs one step, and returns the mean loss. The function gets stage, micro-batch and what the stage before returned,
        and returns the tensor for the next stage, or the loss. `hop` is what crosses: "f32[4,64] dp=S(0)". Gradients are
        added to those that parameters have. Collective over the mesh."""
        return _dtensor._pipeline_run(self, device_mesh, function, hop, rows, weights, params, hold)

    def __str__(self) -> str:
        return calls.schedule_text(self)


_dtensor._register("SCHEDULE", Schedule)
