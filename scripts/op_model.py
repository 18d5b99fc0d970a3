# SPDX-License-Identifier: Apache-2.0
"""The functions of C that the ops have, from the schema lines as the library's own parser reads them.

The program op_schemas, which cmake builds, prints the ops as JSON. A signature becomes a function: required arguments
by position, the others in a struct of options, in their order. Of overloads that differ only in arguments that may be
left out, one is kept. The first is named like the op; another one by its overload where it has arguments of its own
(max_dim), and otherwise by the type of the argument in which it differs: add and add_scalar, clamp and clamp_tensor.
A signature that returns a number has none: such functions are written by hand (dt_item).
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


# What lists of integers have in them, by the name of the argument: sizes of dims, or dims. Any other list has other integers.
LISTS = {"size[]": ("size", "sizes", "shape", "input_sizes", "self_sizes", "normalized_shape"),
         "dim[]": ("dim", "dims", "source", "destination")}


def list_type(name):
    return next((kind for kind, names in LISTS.items() if name in names), "int[]")


class Param:
    def __init__(self, data, positional):
        self.name, self.word, self.is_list = data["name"], data["type"], data.get("list", False)
        self.type = self.word + ("[]" if self.is_list else "")
        if self.type == "int[]":
            self.type = list_type(self.name)
        self.optional_members = data.get("optional_members", False)
        self.default = data.get("default")
        self.unused = data.get("unused", False)
        self.keyword_only = data.get("keyword_only", False)
        may_be_left_out = self.default is not None or data.get("optional", False)
        self.is_option = may_be_left_out and not (positional and not data.get("keyword_only", False))
        self.may_be_left_out = may_be_left_out


class Function:
    """A signature and its function of C."""

    def __init__(self, op, index, data):
        self.op, self.index, self.name = op["name"], index, op["name"]
        self.summary, self.is_maker = op["summary"], op.get("maker", False)
        self.is_positional = op.get("positional", False)
        self.overload, self.text = data["overload"], data["text"]
        self.params = [Param(param, self.is_positional) for param in data["params"]]
        self.returns, self.return_form = data["returns"], data["return_form"]

    def returns_list(self):
        return self.return_form == "one" and self.returns[0].get("list", False)

    def returns_struct(self):
        return self.return_form == "several" and len(self.returns) > 1

    def return_names(self):
        return [one["name"] or f"output{i + 1}" for i, one in enumerate(self.returns)]

    def positional(self):
        return [p for p in self.params if not p.is_option]

    def options(self):
        return [p for p in self.params if p.is_option and not p.unused]

    def base(self):
        """The name without an underscore at its end, which would make two with what follows."""
        return f"dt_{self.plain_name().rstrip('_')}{'_in_place' if self.name.endswith('_') else ''}"

    def plain_name(self):
        """In C; names that begin with an underscore are the library's own."""
        return self.name.lstrip("_")

    def options_type(self):
        """Makers whose only option is the dtype share a struct."""
        return "dt_make_options" if self.is_maker and [p.name for p in self.options()] == ["dtype"] \
            else self.base() + "_options"

    def result_type(self):
        return self.base() + "_result"


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def covers(wide, narrow):
    """Whether the one signature can do all that the other does: the same results and arguments, and more that may be
    left out, or that are passed by position."""
    types = {p.name: p.type for p in wide.params}
    more = [p for p in wide.params if p.name not in {q.name for q in narrow.params}]
    return (all(types.get(p.name) == p.type for p in narrow.params) and bool(more)
            and wide.return_form == narrow.return_form
            and (wide.is_positional or all(p.may_be_left_out for p in more)))


def name_functions(functions):
    if not functions:
        return []
    kept = [f for f in functions if not any(covers(other, f) for other in functions if other is not f)]
    first, kinds = kept[0], {"Scalar": "scalar", "Tensor": "tensor", "dim[]": "dims"} | dict.fromkeys(("int[]", "size[]"), "sizes")
    types = {p.name: p.type for p in first.params}
    retyped = [f for f in kept[1:] if all(p.name in types for p in f.params)]
    for function in kept[1:]:
        changed = [p for p in function.params if types.get(p.name) != p.type]
        if function in retyped and changed and changed[0].type in kinds:
            kind = kinds[changed[0].type]
            ending = kind if len(retyped) == 1 else kind + "s" if len(changed) > 1 else f"{kind}_{changed[0].name}"
        else:
            ending = snake(function.overload)
        base = function.op
        function.name = base[:-1] + "_" + ending + "_" if base.endswith("_") else f"{base}_{ending}"
    return kept


def read_schemas(builds):
    """The lines of op_schemas; `builds` first, so that ops that were added since are in it."""
    build = pathlib.Path(os.environ.get("DTENSOR_BUILD", ROOT / "build"))
    if builds:
        command = ["cmake", "--build", str(build), "--target", "op_schemas"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    program = build / "bin" / "op_schemas"
    if not program.exists():
        sys.exit(f"there is no {program}: configure a build with cmake --preset release, or set DTENSOR_BUILD")
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()


def functions_of(schemas):
    """The functions that the lines of op_schemas describe, in the order of the table of ops."""
    functions = []
    for line in schemas:
        op = json.loads(line)
        all_of_op = [Function(op, i, data) for i, data in enumerate(op["signatures"])]
        functions += name_functions([f for f in all_of_op if not f.returns or f.returns[0]["type"] == "Tensor"])
    return functions


def read_functions(builds=True):
    return functions_of(read_schemas(builds))
