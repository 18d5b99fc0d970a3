#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs calls of ops on the ranks of a launch, through the C library: dtrun -n N ranks.py LIBRARY REQUESTS ANSWERS

REQUESTS and ANSWERS are JSON lists. A request has a mesh (sizes), tensors, and a call: an op with arguments, or a function of
train.h. A tensor has the value of its base, with placements, or the terms of a partial one, one for each coordinate along that
mesh dim; and a list of view ops, which make the tensor of the call, not contiguous in most cases, from the base. Rank 0 answers
with the full values of the outputs, of the bases that the op wrote to, of the gradients for the given gradients of outputs, and of
the gradients of these gradients, each as dtype, shape and base64 of its bytes; or with the error of the library.
"""
import base64
import ctypes
import json
import math
import sys
from ctypes import POINTER, Structure, Union, byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p

DTYPES = {word: number + 1 for number, word in enumerate("f32 f64 f16 bf16 i8 i16 i32 i64 u8 bool c64 c128".split())}
WORDS = {number: word for word, number in DTYPES.items()}
SIZES = dict(f32=4, f64=8, f16=2, bf16=2, i8=1, i16=2, i32=4, i64=8, u8=1, bool=1, c64=8, c128=16)
NONE, TENSOR, TENSORS, INT, FLOAT, BOOL, COMPLEX, INTS, FLOATS, DTYPE, TEXT = range(11)
MAX_OUTPUTS = 64


class Shape(Structure):
    _fields_ = [("n", c_int), ("sizes", POINTER(c_int64))]


class Tensors(Structure):
    _fields_ = [("n", c_int), ("list", POINTER(c_void_p))]


class Scope(Structure):
    _fields_ = [("ctx", c_void_p), ("number", c_int64)]


class Value(Union):
    _fields_ = [("i", c_int64), ("f", c_double), ("b", c_bool), ("c", c_double * 2), ("ints", POINTER(c_int64)),
                ("floats", POINTER(c_double)), ("dtype", c_int), ("text", c_char_p)]


class Arg(Structure):
    _fields_ = [("type", c_int), ("n", c_int), ("value", Value)]


class Argument(Structure):
    _fields_ = [("name", c_char_p), ("tensor", c_void_p), ("n_tensors", c_int), ("tensors", POINTER(c_void_p)), ("value", Arg)]


class Optional(Structure):
    _fields_ = [("given", c_bool), ("value", c_double)]


class OptionalInt(Structure):
    _fields_ = [("given", c_bool), ("value", c_int64)]


class DistributeOptions(Structure):
    _fields_ = [("source", OptionalInt), ("everywhere", c_bool), ("use", c_char_p), ("site", c_void_p)]


class FromLocalOptions(Structure):
    _fields_ = [("shape", Shape), ("stride", Shape), ("extents", POINTER(c_int64)), ("check", c_bool), ("use", c_char_p),
                ("grad_place", c_char_p), ("site", c_void_p)]


class GradientsOptions(Structure):
    _fields_ = [("output_grads", POINTER(c_void_p)), ("retain_graph", c_bool), ("create_graph", c_bool), ("rest", c_void_p),
                ("allow_unused", c_bool), ("site", c_void_p)]


class GradNormOptions(Structure):
    _fields_ = [("norm_type", Optional), ("error_if_nonfinite", c_bool), ("site", c_void_p)]


class BackwardOptions(Structure):
    _fields_ = [("grad", c_void_p), ("retain_graph", c_bool), ("create_graph", c_bool), ("site", c_void_p)]


class Failed(Exception):
    """An error of the library."""


def pointers(values):
    return (c_void_p * max(len(values), 1))(*values)


class Ranks:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        for name in ("dt_init_sized dt_mesh_from_shape_sized dt_from_memory_site dt_distribute_tensor_sized dt_to_local_sized "
                     "dt_from_local_sized dt_full_tensor_sized dt_data dt_tensor_shape dt_clip_grad_norm_sized dt_grad").split():
            getattr(self.lib, name).restype = c_void_p
        self.lib.dt_error_text.restype = c_char_p
        self.lib.dt_tensor_elements.restype = c_int64
        self.lib.dt_scope_begin_site.restype = Scope
        self.ctx = c_void_p(self.lib.dt_init_sized(None, c_size_t(0), None))
        self.rank = self.lib.dt_rank(self.ctx)

    def made(self, tensor):
        if not tensor:
            raise Failed(self.lib.dt_error_text(self.ctx).decode(errors="replace"))
        return c_void_p(tensor)

    def done(self, status):
        if status != 0:
            raise Failed(self.lib.dt_error_text(self.ctx).decode(errors="replace"))

    def plain(self, value, data):
        sizes = (c_int64 * max(len(value["shape"]), 1))(*value["shape"])
        bytes_of = base64.b64decode(data)
        return self.made(self.lib.dt_from_memory_site(self.ctx, bytes_of, Shape(len(value["shape"]), sizes), DTYPES[value["dtype"]],
                                                      None))

    def distribute(self, tensor, mesh, placements):
        options = DistributeOptions(everywhere=True)
        return self.made(self.lib.dt_distribute_tensor_sized(tensor, mesh, placements.encode(), byref(options),
                                                             c_size_t(ctypes.sizeof(options))))

    def base(self, value, mesh):
        """The tensor with its placements; of a partial one, this rank takes the term of its coordinate."""
        if mesh is None:
            return self.plain(value, value["data"])
        if "terms" not in value:
            return self.distribute(self.plain(value, value["data"]), mesh, value["placements"])
        placements = value["placements"].split(",")
        coordinate = (c_int64 * len(placements))()
        self.lib.dt_mesh_coordinate(mesh, coordinate)
        at = placements.index("P(sum)")
        term = self.plain(value, value["terms"][coordinate[at]])
        shards = self.distribute(term, mesh, ",".join("R" if p == "P(sum)" else p for p in placements))
        local = self.made(self.lib.dt_to_local_sized(shards, None, c_size_t(0)))
        sizes = (c_int64 * max(len(value["shape"]), 1))(*value["shape"])
        options = FromLocalOptions(shape=Shape(len(value["shape"]), sizes))
        return self.made(self.lib.dt_from_local_sized(self.ctx, local, mesh, value["placements"].encode(), byref(options),
                                                      c_size_t(ctypes.sizeof(options))))

    def argument(self, value, tensors, name=None):
        out = Argument(name=name and name.encode())
        keep = None
        if isinstance(value, dict) and "t" in value:
            out.tensor = tensors[value["t"]].value
        elif isinstance(value, list) and any(isinstance(v, dict) for v in value):
            keep = pointers([None if v is None else tensors[v["t"]].value for v in value])
            out.n_tensors, out.tensors = len(value), keep
        elif isinstance(value, dict) and "dtype" in value:
            out.value.type, out.value.value.dtype = DTYPE, DTYPES[value["dtype"]]
        elif isinstance(value, dict):
            out.value.type, out.value.value.c = COMPLEX, (c_double * 2)(*value["complex"])
        elif isinstance(value, bool):
            out.value.type, out.value.value.b = BOOL, value
        elif isinstance(value, int):
            out.value.type, out.value.value.i = INT, value
        elif isinstance(value, float):
            out.value.type, out.value.value.f = FLOAT, value
        elif isinstance(value, str):
            keep = value.encode()
            out.value.type, out.value.value.text = TEXT, keep
        elif isinstance(value, list) and any(isinstance(v, float) for v in value):
            keep = (c_double * len(value))(*value)
            out.value.type, out.value.n, out.value.value.floats = FLOATS, len(value), keep
        elif isinstance(value, list):
            keep = (c_int64 * max(len(value), 1))(*value)
            out.value.type, out.value.n, out.value.value.ints = INTS, len(value), keep
        else:
            out.value.type = NONE
        return out, keep

    def call(self, op, args, kwargs, tensors):
        made = [self.argument(value, tensors) for value in args]
        made += [self.argument(value, tensors, name) for name, value in kwargs.items()]
        list_of = (Argument * max(len(made), 1))(*[argument for argument, _ in made])
        outputs, n = (c_void_p * MAX_OUTPUTS)(), c_int(0)
        self.done(self.lib.dt_op_run(self.ctx, op.encode(), len(made), list_of, None, outputs, MAX_OUTPUTS, byref(n)))
        return [c_void_p(outputs[i]) for i in range(n.value)]

    def view(self, tensor, views):
        for op, args in views:
            tensor = self.call(op, [{"t": 0}] + args, {}, [tensor])[0]
        return tensor

    def value_of(self, tensor):
        """dtype, shape and bytes of the full tensor; on every rank."""
        text = ctypes.create_string_buffer(512)
        self.lib.dt_tensor_text(tensor, c_size_t(len(text)), text)
        full = self.made(self.lib.dt_full_tensor_sized(tensor, None, c_size_t(0)))
        full = self.call("contiguous", [{"t": 0}], {}, [full])[0]
        n_dims, word = self.lib.dt_tensor_n_dims(full), WORDS[self.lib.dt_tensor_dtype(full)]
        shape = ctypes.cast(self.lib.dt_tensor_shape(full), POINTER(c_int64))[:n_dims] if n_dims else []
        data = ctypes.string_at(self.lib.dt_data(full), math.prod(shape) * SIZES[word]) if math.prod(shape) else b""
        return {"dtype": word, "shape": shape, "data": base64.b64encode(data).decode(), "partial": b"P(sum)" in text.value}

    def gradients(self, outputs, grads, inputs, create):
        """A gradient per input, or None where the outputs do not depend on it."""
        found = pointers([None] * len(inputs))
        options = GradientsOptions(output_grads=pointers([g.value for g in grads]), create_graph=create, allow_unused=True)
        self.done(self.lib.dt_gradients_sized(Tensors(len(outputs), pointers([o.value for o in outputs])),
                                              Tensors(len(inputs), pointers([i.value for i in inputs])), found, byref(options),
                                              c_size_t(ctypes.sizeof(options))))
        return [c_void_p(found[i]) if found[i] else None for i in range(len(inputs))]

    def placed(self, value, mesh):
        return self.base(value, mesh)

    def run_op(self, request, mesh):
        bases = [self.base(value, mesh) for value in request["tensors"]]
        tensors = [self.view(base, value.get("view", [])) for base, value in zip(bases, request["tensors"])]
        inputs = [tensors[i] for i in request.get("leaves", [])]
        for leaf in inputs:
            self.done(self.lib.dt_set_requires_grad_site(leaf, True, None))
        used = list(tensors)
        for i in request.get("copied", []):  # what an op in place writes to where gradients are recorded
            used[i] = self.call("clone", [{"t": 0}], {}, [tensors[i]])[0]
        outputs = self.call(request["op"], request["args"], request["kwargs"], used)
        for op, args in request.get("then", []):
            outputs += self.call(op, args, {}, outputs)
        outputs = [outputs[i] for i in request.get("compared", range(len(outputs)))]
        written = bases if request.get("bases") else []
        answer = {"outputs": [self.value_of(output) for output in outputs], "bases": [self.value_of(base) for base in written]}
        if "grads" not in request:
            return answer
        targets = [(outputs[k], self.placed(grad, mesh)) for k, grad in request["grads"]]
        second = "second" in request
        if second:
            for _, grad in targets:
                self.done(self.lib.dt_set_requires_grad_site(grad, True, None))
        grads = self.gradients([o for o, _ in targets], [g for _, g in targets], inputs, second)
        answer["grads"] = [grad and self.value_of(grad) for grad in grads]
        if second:
            outer = [(grads[k], self.placed(value, mesh)) for k, value in request["second"] if grads[k]]
            outer = [(grad, value) for grad, value in outer if self.lib.dt_requires_grad(grad)]
            inputs += [grad for _, grad in targets]
            found = self.gradients([g for g, _ in outer], [v for _, v in outer], inputs, False) if outer else [None] * len(inputs)
            answer["second"] = [grad and self.value_of(grad) for grad in found]
        return answer

    def run_clip(self, request, mesh):
        """clip_grad_norm of parameters that get their gradients from a product with them."""
        parameters = [self.base(value, mesh) for value in request["tensors"]]
        for parameter, grad in zip(parameters, request["grads"]):
            self.done(self.lib.dt_set_requires_grad_site(parameter, True, None))
            given = BackwardOptions(grad=self.base(grad, mesh).value)
            copy = self.call("clone", [{"t": 0}], {}, [parameter])[0]
            self.done(self.lib.dt_backward_sized(copy, byref(given), c_size_t(ctypes.sizeof(given))))
        options = GradNormOptions(norm_type=Optional(True, request["norm_type"]))
        norm = self.made(self.lib.dt_clip_grad_norm_sized(Tensors(len(parameters), pointers([p.value for p in parameters])),
                                                          c_double(request["max_norm"]), byref(options),
                                                          c_size_t(ctypes.sizeof(options))))
        return {"outputs": [self.value_of(norm)] + [self.value_of(c_void_p(self.lib.dt_grad(p))) for p in parameters]}

    def answer(self, request):
        scope = self.lib.dt_scope_begin_site(self.ctx, None)
        mesh = None
        try:
            if request["mesh"]:
                sizes = (c_int64 * len(request["mesh"]))(*request["mesh"])
                mesh = self.made(self.lib.dt_mesh_from_shape_sized(self.ctx, sizes, len(request["mesh"]), None, c_size_t(0), None))
            return self.run_clip(request, mesh) if request["op"] == "clip_grad_norm" else self.run_op(request, mesh)
        except Failed as error:
            self.lib.dt_error_clear_site(self.ctx, None)
            return {"error": str(error)}
        finally:
            self.lib.dt_scope_end_site(scope, None)
            if mesh:
                self.lib.dt_mesh_release_site(mesh, None)


def main():
    library, requests, answers = sys.argv[1:]
    ranks = Ranks(library)
    with open(requests, encoding="utf-8") as source:
        found = [ranks.answer(request) for request in json.load(source)]
    if ranks.rank == 0:
        with open(answers, "w", encoding="utf-8") as to:
            json.dump(found, to)
    sys.exit(ranks.lib.dt_close_site(ranks.ctx, None))


main()
