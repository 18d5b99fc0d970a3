# SPDX-License-Identifier: Apache-2.0
"""Distributed tensors: meshes, placements, redistribution, ops and gradients, over shared memory and MPI.

    import dtensor as dt
    mesh = dt.init_device_mesh("cpu", (2, -1), mesh_dim_names=("dp", "tp"))
    x = dt.randn(8, 4, device_mesh=mesh, placements=[dt.Shard(0), dt.Replicate()])
    w = dt.randn(4, 6, device_mesh=mesh, placements="R,S(1)", requires_grad=True)
    (x @ w).relu().sum().backward()

Started as it is, a program is a world of one rank; `dtrun -n 4 python3 program.py` starts four. Names are those of
PyTorch where it has them. There is no nn.Module: a model is functions and tensors.
"""
import os as _os
import sys as _sys

if "t" in _sys.abiflags:
    raise ImportError("dtensor does not support free-threaded Python: use a build of Python with the GIL")

from . import _dtensor

_dtensor._set_folder(_os.path.dirname(_os.path.abspath(__file__)))

from ._autograd import (
    as_stored as as_stored, checkpoint as checkpoint, clip_grad_norm_ as clip_grad_norm_, grad as grad, grad_norm
    as grad_norm, no_grad as no_grad, use as use, zero_grad as zero_grad)
from ._context import (
    apart as apart, block as block, clear_error as clear_error, close as close, get_rank as get_rank,
    get_world_size as get_world_size, implicit_replication as implicit_replication, init as init, is_initialized
    as is_initialized)
from ._debug import (
    CommStats as CommStats, call_op as call_op, comm_policy as comm_policy, comm_scope as comm_scope, comm_stats
    as comm_stats, explain as explain, local_map as local_map, memory as memory, memory_stats as memory_stats,
    register_op as register_op, tracing as tracing)
from ._dtensor import *  # noqa: F403  the ops and the dtypes
from ._dtensor import DTensor as DTensor, __version__ as __version__, dtype as dtype
from ._errors import (
    ArgumentError as ArgumentError, DeadlineError as DeadlineError, DtypeError as DtypeError, Error as Error,
    FieldError as FieldError, GroupError as GroupError, InternalError as InternalError, MeshError as MeshError,
    MismatchError as MismatchError, OpError as OpError, OutOfMemoryError as OutOfMemoryError, OutOfRangeError as
    OutOfRangeError, PeerError as PeerError, PlacementError as PlacementError, ShapeError as ShapeError,
    StateError as StateError, SystemCallError as SystemCallError, UnsupportedError as UnsupportedError)
from ._files import load_npy as load_npy, load_npz as load_npz, save_npy as save_npy, save_npz as save_npz
from ._huggingface import ModelConfig as ModelConfig
from ._mesh import (
    DeviceMesh as DeviceMesh, ProcessGroup as ProcessGroup, current_mesh as current_mesh, init_device_mesh as
    init_device_mesh)
from ._pipeline import Schedule as Schedule
from ._placements import (
    Partial as Partial, Placement as Placement, Replicate as Replicate, Shard as Shard, placement as placement)
from ._random import (
    Generator as Generator, bernoulli as bernoulli, dropout_mask as dropout_mask, exponential as exponential,
    manual_seed as manual_seed, rand as rand, rand_like as rand_like, randint as randint, randn as randn,
    randn_like as randn_like, randperm as randperm, truncated_normal as truncated_normal)
from ._train import (
    SGD as SGD, Adagrad as Adagrad, Adam as Adam, Adamax as Adamax, AdamW as AdamW, Batches as Batches, GradScaler
    as GradScaler, Lion as Lion, NAdam as NAdam, Optimizer as Optimizer, Params as Params, RAdam as RAdam, RMSprop
    as RMSprop, load as load, save as save,
    lr_constant as lr_constant, lr_cosine as lr_cosine, lr_linear as lr_linear, lr_step as lr_step,
    lr_wsd as lr_wsd)
from ._tensor import (
    as_tensor as as_tensor, asarray as asarray, distribute_tensor as distribute_tensor, from_dlpack as from_dlpack, from_local as
    from_local, from_numpy as from_numpy, is_tensor as is_tensor, tensor as tensor)

Tensor = DTensor
