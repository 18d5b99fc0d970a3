# SPDX-License-Identifier: Apache-2.0
"""Training: named parameters that rules place, optimizers, schedules of the learning rate, loss scaling and batches."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _dtensor
from ._dtensor import DTensor, calls

if TYPE_CHECKING:
    from ._mesh import DeviceMesh


class Params(_dtensor._Params):
    """An ordered list of named parameters, which a text of rules places on a mesh (docs/parameters.md)."""

    __slots__ = ()

    def __new__(cls, *, device_mesh: DeviceMesh | None = None, rules: str | None = None, dtype: Any = None) -> Params:
        return calls.params_new(device_mesh=device_mesh, rules=rules, dtype=dtype)

    def param(self, name: str, shape: Sequence[int], *, std: float | None = None, value: float | None = None,
              tied: str | None = None, on: DeviceMesh | None = None, dtype: Any = None) -> DTensor:
        """Makes a parameter: normal numbers with a standard deviation, one number, or zeros. Its name follows the open
        prefixes; `tied` names another parameter, whose tensor this name stands for."""
        return calls.param(self, name, shape, std=std, value=value, tied=tied, on=on, dtype=dtype)

    @contextmanager
    def prefix(self, text: str) -> Iterator[None]:
        """The names of parameters that are made inside begin with this text, after those of outer prefixes."""
        _dtensor._params_begin(self, text)
        try:
            yield
        finally:
            calls.params_end(self)

    def __len__(self) -> int:
        return calls.params_n(self)

    def __iter__(self) -> Iterator[str]:
        return (calls.params_name(self, i) for i in range(len(self)))

    def __getitem__(self, name: str) -> DTensor:
        return calls.params_get(self, name)

    def items(self) -> Iterator[tuple[str, DTensor]]:
        """Names and tensors, in the order of making; a tied name has the tensor of the other one."""
        return ((calls.params_name(self, i), calls.params_tensor(self, i)) for i in range(len(self)))

    def tensors(self, pattern: str | None = None) -> list[DTensor]:
        """The parameters whose names match a pattern, each tensor once."""
        return list(_dtensor._params_list(self, pattern))

    def zero_grad(self) -> None:
        """Drops the gradients of all parameters."""
        calls.zero_grad(self.tensors())

    def check(self) -> None:
        """Raises an error where a rule has no effect. The first step of an optimizer calls it."""
        calls.params_check(self)

    def clone(self) -> Params:
        """Copies of all parameters, under the same names and without gradients."""
        return calls.params_clone(self)

    def lerp_(self, to: Params, weight: float) -> None:
        """Moves each parameter toward that of another list: self += weight * (to - self)."""
        calls.params_lerp(self, to, weight)

    @staticmethod
    def open(path: str | os.PathLike[str], *, device_mesh: DeviceMesh | None = None, rules: str | None = None,
             map: str | None = None, dtype: Any = None) -> Params:
        """The parameters of a model in safetensors files, such as one of Hugging Face: each rank reads its shards. `map` is
        "gpt2", "llama" or the text of a map of names. Collective over the mesh."""
        return calls.params_open(os.fspath(path), device_mesh=device_mesh, rules=rules, map=map, dtype=dtype)

    def save(self, folder: str | os.PathLike[str], **options: Any) -> None:
        """Saves the parameters to model.safetensors in a folder, for open() and other tools. Collective over the mesh."""
        calls.params_save(self, os.fspath(folder), **options)

    def __str__(self) -> str:
        return calls.params_text(self)


class OptimizerHandle(_dtensor._Optimizer):
    __slots__ = ()


class BatchesHandle(_dtensor._Batches):
    __slots__ = ()


_dtensor._register("PARAMS", Params)
_dtensor._register("OPTIMIZER", OptimizerHandle)
_dtensor._register("BATCHES", BatchesHandle)


class Optimizer:
    """The base of optimizers. Parameters are a Params, whose rules have factors of the learning rate and the decay, or
    tensors."""

    def __init__(self, make: Any, parameters: Params | Sequence[DTensor], lr: float, options: dict[str, Any]) -> None:
        self._named = parameters if isinstance(parameters, Params) else None
        self._tensors = None if isinstance(parameters, Params) else list(parameters)
        self._handle = make(lr, params=self._named, **options)

    @property
    def parameters(self) -> list[DTensor]:
        if self._tensors is not None:
            return self._tensors
        assert self._named is not None
        return self._named.tensors()

    def step(self, *, grad_scale: float | None = None) -> None:
        """One step of each parameter that has a gradient. Collective over the meshes of the parameters."""
        calls.optimizer_step(self._handle, parameters=self._tensors, grad_scale=grad_scale)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters."""
        calls.zero_grad(self.parameters)

    @property
    def lr(self) -> float:
        """The learning rate of the next steps."""
        return calls.optimizer_lr(self._handle)

    @lr.setter
    def lr(self, value: float) -> None:
        calls.optimizer_set_lr(self._handle, value)

    def state(self, parameter: DTensor, name: str) -> DTensor | None:
        """The state of a parameter, by PyTorch's name: "exp_avg", "momentum_buffer", …"""
        return calls.optimizer_state(self._handle, parameter, name)

    def n_steps(self, parameter: DTensor) -> int:
        """How often a parameter was stepped."""
        return calls.optimizer_n_steps(self._handle, parameter)

    def set_n_steps(self, parameter: DTensor, n: int) -> None:
        """Sets it, and makes the state of a parameter that was not stepped yet, to continue from a file."""
        calls.optimizer_set_n_steps(self._handle, parameter, n)


def _betas(betas: tuple[float, float], options: dict[str, Any]) -> dict[str, Any]:
    return {"beta1": betas[0], "beta2": betas[1], **options}


class Adam(Optimizer):
    """Adam; weight decay is added to gradients."""

    def __init__(self, params: Params | Sequence[DTensor], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 **options: Any) -> None:
        super().__init__(calls.adam_new, params, lr, _betas(betas, options))


class AdamW(Optimizer):
    """Adam with decoupled weight decay."""

    def __init__(self, params: Params | Sequence[DTensor], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 **options: Any) -> None:
        super().__init__(calls.adamw_new, params, lr, _betas(betas, options))


class Adamax(Optimizer):
    """Adam with the largest magnitude in place of the average of squares."""

    def __init__(self, params: Params | Sequence[DTensor], lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
                 **options: Any) -> None:
        super().__init__(calls.adamax_new, params, lr, _betas(betas, options))


class NAdam(Optimizer):
    """Adam with Nesterov momentum."""

    def __init__(self, params: Params | Sequence[DTensor], lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
                 **options: Any) -> None:
        super().__init__(calls.nadam_new, params, lr, _betas(betas, options))


class RAdam(Optimizer):
    """Rectified Adam."""

    def __init__(self, params: Params | Sequence[DTensor], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 **options: Any) -> None:
        super().__init__(calls.radam_new, params, lr, _betas(betas, options))


class Lion(Optimizer):
    """Steps of the sign of an average of gradients."""

    def __init__(self, params: Params | Sequence[DTensor], lr: float = 1e-4, betas: tuple[float, float] = (0.9, 0.99),
                 **options: Any) -> None:
        super().__init__(calls.lion_new, params, lr, _betas(betas, options))


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum."""

    def __init__(self, params: Params | Sequence[DTensor], lr: float = 1e-3, **options: Any) -> None:
        super().__init__(calls.sgd_new, params, lr, options)


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of squared gradients."""

    def __init__(self, params: Params | Sequence[DTensor], lr: float = 1e-2, **options: Any) -> None:
        super().__init__(calls.adagrad_new, params, lr, options)


class RMSprop(Optimizer):
    """Steps divided by the root of the average of squared gradients."""

    def __init__(self, params: Params | Sequence[DTensor], lr: float = 1e-2, **options: Any) -> None:
        super().__init__(calls.rmsprop_new, params, lr, options)


# Learning rates of a step, counted from 0.

def lr_constant(step: int, lr: float, warmup: int = 0) -> float:
    """The learning rate, after a rise over the first steps."""
    return calls.lr_constant(step, lr, warmup)


def lr_linear(step: int, lr: float, min_lr: float, warmup: int, steps: int) -> float:
    """A rise, then a line down to min_lr at `steps`."""
    return calls.lr_linear(step, lr, min_lr, warmup, steps)


def lr_cosine(step: int, lr: float, min_lr: float, warmup: int, steps: int) -> float:
    """A rise, then half a cosine down to min_lr at `steps`."""
    return calls.lr_cosine(step, lr, min_lr, warmup, steps)


def lr_wsd(step: int, lr: float, min_lr: float, warmup: int, decay: int, steps: int) -> float:
    """A rise, then constant, and in the last `decay` steps a line down to min_lr."""
    return calls.lr_wsd(step, lr, min_lr, warmup, decay, steps)


def lr_step(step: int, lr: float, factor: float, every: int) -> float:
    """Multiplied by a factor after each `every` steps."""
    return calls.lr_step(step, lr, factor, every)


class GradScaler:
    """The scale of a loss whose gradients are f16: `scaler.update(norm)` states whether the optimizer may step."""

    def __init__(self, scale: float = 65536.0, growth: float = 2.0, backoff: float = 0.5, interval: int = 2000) -> None:
        self.scale, self.growth, self.backoff, self.interval = scale, growth, backoff, interval
        self.n_finite = 0

    def update(self, norm: float) -> bool:
        """Whether gradients with this norm are finite; changes the scale for the next step."""
        finite, self.scale, self.n_finite = _dtensor._scaler_update(
            self.scale, self.growth, self.backoff, self.interval, self.n_finite, float(norm))
        return finite


class Batches:
    """Batches of a file: rows in a random order, placed on a mesh. Each rank reads the rows of its shard."""

    def __init__(self, path: str | os.PathLike[str], batch: int, **options: Any) -> None:
        self._handle = calls.batches_open(os.fspath(path), batch, **options)

    def next(self) -> DTensor:
        """The batch at the position, which becomes the next one. Collective over the mesh."""
        return calls.batches_next(self._handle)

    def __iter__(self) -> Iterator[DTensor]:
        """The batches of the rest of this epoch."""
        for _ in range(self.per_epoch - self.position % self.per_epoch):
            yield self.next()

    def __len__(self) -> int:
        return self.per_epoch

    @property
    def per_epoch(self) -> int:
        return calls.batches_per_epoch(self._handle)

    @property
    def n_rows(self) -> int:
        return calls.batches_n_rows(self._handle)

    @property
    def position(self) -> int:
        """The number of batches before the next one, over all epochs; assign to go to another."""
        return calls.batches_position(self._handle)

    @position.setter
    def position(self, value: int) -> None:
        calls.batches_seek(self._handle, value)


# Checkpoints, which any mesh loads.

def save(params: Params, folder: str | os.PathLike[str], step: int, *, optimizer: Optimizer | None = None,
         batches: Batches | None = None, generator: Any = None, keep: int | None = None, file_bytes: int | None = None,
         unsynced: bool = False) -> None:
    """Saves the parameters, the state of the optimizer and the position of the run as folder/step-NNNNNN; `keep` is how many
    checkpoints of the run stay. Collective over the mesh."""
    calls.save(params, os.fspath(folder), step, optimizer=None if optimizer is None else optimizer._handle,
               batches=None if batches is None else batches._handle, generator=generator, keep=keep, file_bytes=file_bytes, unsynced=unsynced)


def load(params: Params, folder: str | os.PathLike[str], *, optimizer: Optimizer | None = None, batches: Batches | None = None,
         generator: Any = None, optional: bool = False) -> int | None:
    """Loads the newest checkpoint of a run, or the one that the folder is; returns its step. Mesh and placements may be others
    than those that saved it. With `optional`, None where there is no checkpoint. Collective over the mesh."""
    return _dtensor._load(params, os.fspath(folder), None if optimizer is None else optimizer._handle, generator,
                          None if batches is None else batches._handle, optional)
