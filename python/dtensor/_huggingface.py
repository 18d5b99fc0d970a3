# SPDX-License-Identifier: Apache-2.0
"""Folders of Hugging Face, GPT-2 and Llama: the settings of config.json, and the parameters that belong to them."""
from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from . import _dtensor
from ._dtensor import DTensor
from ._errors import FieldError, UnsupportedError
from ._train import Params

if TYPE_CHECKING:
    from ._mesh import DeviceMesh

T = TypeVar("T")

# Settings of other models, which would change the result.
_REFUSED = (
    "quantization_config", "pruned_heads", "auto_map", "add_cross_attention", "is_encoder_decoder", "sliding_window",
    "logit_scale", "use_qk_norm", "alibi", "attn_logit_softcapping", "final_logit_softcapping", "query_pre_attn_scalar",
    "embedding_multiplier", "logits_scaling", "residual_multiplier", "attention_multiplier", "num_local_experts",
    "parallel_attn")


def _gelu_tanh(x: DTensor) -> DTensor:
    return _dtensor.gelu(x, approximate="tanh")


def _quick_gelu(x: DTensor) -> DTensor:
    return x * (1.702 * x).sigmoid()


_ACTIVATIONS: dict[str, Callable[[DTensor], DTensor]] = {
    "gelu": _dtensor.gelu, "gelu_python": _dtensor.gelu, "gelu_new": _gelu_tanh, "gelu_pytorch_tanh": _gelu_tanh,
    "gelu_fast": _gelu_tanh, "gelu_python_tanh": _gelu_tanh, "gelu_accurate": _gelu_tanh, "quick_gelu": _quick_gelu,
    "silu": _dtensor.silu, "swish": _dtensor.silu, "hardswish": _dtensor.hardswish, "relu": _dtensor.relu,
    "relu6": _dtensor.relu6, "leaky_relu": _dtensor.leaky_relu, "tanh": _dtensor.tanh, "sigmoid": _dtensor.sigmoid,
    "mish": _dtensor.mish}


class ModelConfig:
    """The settings of a folder, GPT-2 or Llama, by names that both have in common. What config.json lacks is what
    transformers takes then. A setting that would change the result in a way that is not described here raises
    UnsupportedError with its name. Local."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)
        path = os.path.join(self.folder, "config.json")
        with open(path, encoding="utf-8") as file:
            try:
                self.settings: dict[str, Any] = json.load(file)
            except ValueError as error:
                raise FieldError(f"{path}: {error}") from error
        if not isinstance(self.settings, dict):
            raise FieldError(f"{path}: expected an object")
        self.kind: str = self.settings.get("model_type") or ""
        if self.kind not in ("gpt2", "llama"):
            self._refuse("model_type")
        for key in _REFUSED:
            value = self.settings.get(key)
            if value is not None and value is not False and value not in ({}, []):
                self._refuse(key)
        if self._get("partial_rotary_factor", 1.0) != 1:
            self._refuse("partial_rotary_factor")

        is_llama, get = self.is_llama, self._get
        self.layers = get("num_hidden_layers", 32 if is_llama else get("n_layer", 12))
        self.width = get("hidden_size", 4096 if is_llama else get("n_embd", 768))
        self.heads = get("num_attention_heads", 32 if is_llama else get("n_head", 12))
        self.kv_heads = get("num_key_value_heads", self.heads) if is_llama else self.heads
        if min(self.layers, self.width, self.heads, self.kv_heads) < 1 or self.heads % self.kv_heads:
            self._refuse("the number of layers, heads or key-value heads", [self.layers, self.heads, self.kv_heads])
        self.head_dim = get("head_dim", self.width // self.heads) if is_llama else self.width // self.heads
        self.eps = get("rms_norm_eps", 1e-6) if is_llama else get("layer_norm_epsilon", 1e-5)
        self.is_tied = get("tie_word_embeddings", not is_llama)
        self.map: str = self.kind  # of names, for Params.open and save; open_params may change it
        has_padding = is_llama and self.settings.get("pad_token_id") is not None
        self.padding_idx = get("pad_token_id", 0) if has_padding else None  # the token whose embedding is not trained
        self.attention_bias = get("attention_bias", False) if is_llama else True
        self.mlp_bias = get("mlp_bias", False) if is_llama else True
        self._scales = is_llama or get("scale_attn_weights", True)
        self._scales_by_layer = not is_llama and get("scale_attn_by_inverse_layer_idx", False)
        self.dropout = 0.0 if is_llama else get("resid_pdrop", 0.1)
        self.embedding_dropout = 0.0 if is_llama else get("embd_pdrop", 0.1)
        self.attention_dropout = get("attention_dropout", 0.0) if is_llama else get("attn_pdrop", 0.1)
        key = "hidden_act" if is_llama else "activation_function"
        name = get(key, "silu" if is_llama else "gelu_new")
        if name not in _ACTIVATIONS:
            self._refuse(key)
        self.activation = _ACTIVATIONS[name]
        if is_llama:
            self._read_rotary()

    @property
    def is_llama(self) -> bool:
        return self.kind == "llama"

    def _refuse(self, key: str, *value: Any) -> NoReturn:
        text = json.dumps(value[0] if value else self.settings.get(key))
        raise UnsupportedError(f"config.json: {key} is not implemented: {text}")

    def _get(self, key: str, absent: T) -> T:
        value = self.settings.get(key)
        if value is None:
            return absent
        if type(value) is not type(absent) and (type(value), type(absent)) != (int, float):
            self._refuse(key)
        found: T = value
        return found

    def _read_rotary(self) -> None:
        """Settings are members of an object; its older spelling wins, as in transformers."""
        key = "rope_scaling" if self.settings.get("rope_scaling") else "rope_parameters"
        given = self.settings.get(key) or {}
        if not isinstance(given, dict):
            self._refuse(key)
        given = {name: value for name, value in given.items() if value is not None}
        numbers = {"rope_theta": self._get("rope_theta", 10000.0), "factor": 0.0, "low_freq_factor": 0.0,
                   "high_freq_factor": 0.0, "partial_rotary_factor": 1.0,
                   "original_max_position_embeddings": float(self._get("max_position_embeddings", 2048))}
        self._rotary = given.pop("rope_type", None) or given.pop("type", "default")
        given.pop("type", None)
        if not given.keys() <= numbers.keys() or any(type(value) not in (int, float) for value in given.values()):
            self._refuse(key)  # one that is unknown would change the result
        numbers.update((name, float(value)) for name, value in given.items())
        self._theta, self._factor, self._low, self._high, part, self._length = numbers.values()
        self._length = self._get("original_max_position_embeddings", self._length)  # outside of the object wins
        is_usable = {"default": True, "linear": self._factor > 0,
                     "llama3": self._factor > 0 and 0 < self._low < self._high}
        if part != 1 or not (isinstance(self._rotary, str) and is_usable.get(self._rotary)):
            self._refuse(key)
        if self.head_dim < 2 or self.head_dim % 2:
            self._refuse("head_dim")

    def scale(self, layer: int) -> float:
        """The factor of the scores of attention in a layer, counted from 0."""
        scale: float = self.head_dim ** -0.5 if self._scales else 1.0
        return scale / (layer + 1) if self._scales_by_layer else scale

    def frequencies(self, *, device_mesh: DeviceMesh | None = None) -> DTensor | None:
        """Angles per position for rotary_embedding, f32 [head_dim / 2], as transformers computes them; None for GPT-2,
        whose positions are embedded."""
        if not self.is_llama:
            return None
        index = _dtensor.arange(0, self.head_dim, 2, dtype="f32", device_mesh=device_mesh)
        f = 1 / self._theta ** (index / self.head_dim)
        if self._rotary == "default":
            return f
        if self._rotary == "linear":
            return f / self._factor
        smooth = (self._length / (2 * math.pi / f) - self._low) / (self._high - self._low)
        smooth = smooth.clamp(0, 1)  # long waves are stretched, short ones are not
        return (1 - smooth) * f / self._factor + smooth * f

    def open_params(self, *, device_mesh: DeviceMesh | None = None, rules: str | None = None,
                    dtype: Any = None) -> Params:
        """The parameters of the folder, as Params.open has them. Raises UnsupportedError if the settings describe other
        ones. Collective over the mesh."""
        def open_files(map: str) -> Params:
            self.map = map
            return Params.open(self.folder, device_mesh=device_mesh, rules=rules, map=map, dtype=dtype)

        params = open_files(self.kind)
        has_head = len(params.tensors()) == len(params)
        if self.is_tied and has_head and params["head.weight"].equal(params["tok.weight"]):  # one that differs is not tied
            params = open_files(f"ignore lm_head.weight\nuse {self.kind}")
        if self.is_llama:
            n = self.layers * (9 + 4 * self.attention_bias + 3 * self.mlp_bias) + 3
        else:
            n = self.layers * 16 + 5
        if len(params) != n:
            self._refuse("attention_bias, mlp_bias or the number of layers", "the files have other tensors")
        if not self.is_tied and len(params.tensors()) != n:
            self._refuse("tie_word_embeddings", "false, without lm_head.weight")
        return params

    def save(self, params: Params, folder: str | os.PathLike[str], *, dtype: Any = None) -> None:
        """Saves parameters as a folder of the same form: model.safetensors, and config.json with their dtype there.
        Collective over the mesh."""
        params.save(folder, map=self.map, dtype=dtype)
        first = params.tensors()[0]
        saved = first.dtype if dtype is None else _dtensor.zeros([0], dtype=dtype).dtype
        key = "torch_dtype" if "torch_dtype" in self.settings else "dtype"
        coordinate = [] if first.device_mesh is None else first.device_mesh.get_coordinate()
        if coordinate is not None and not any(coordinate):  # one rank writes
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                json.dump({**self.settings, key: saved.name}, file, indent=2)
