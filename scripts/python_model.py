# SPDX-License-Identifier: Apache-2.0
"""The functions of the Python module: ops from their schema lines (op_model.py), and other functions of the public headers
as far as their arguments have a form in Python. make_python.py writes the C of them, python_stubs.py their types.

A function has signatures, each with parameters. A parameter has a kind (DTP_… in python/src/binding.h); `field` is the
field of the options struct that it sets, or None where C takes it by position.
"""
import pathlib
import re

import make_cpp
import make_ops
import op_model

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Parameters of makers, and of all functions that take them, by their names in C.
PYTHON_NAMES = {"mesh": "device_mesh", "place": "placements"}
PLACES = ("place", "use", "grad_place")
# Casts are methods alone: as names of the module they are dtypes, as in PyTorch.
CASTS = {"bfloat16", "bool", "byte", "cdouble", "cfloat", "char", "double", "float", "half", "int", "long", "short"}
# Without arguments besides the tensor, these are properties in PyTorch.
PROPERTIES = {"T", "mT", "H", "mH"}
# A method of the same name is written by hand.
OWN_METHODS = {"item", "where"}
# Lists that a call may also spell out: zeros(2, 3), and the tensors of these ops: einsum("ij,jk", x, y).
SPREAD = {"size", "sizes", "shape", "dims", "repeats"}
SPREAD_TENSORS = {"einsum"}
# Functions that C takes by position, and Python also with fewer arguments: what the others are then.
FILLED = {"arange": {"start": "dt_number_int(0)", "step": "dt_number_int(1)"}, "eye": {"m": "n"}}

# Makers whose dtype, if it is not given, is that of their numbers, as in PyTorch.
INFERRED = {"arange", "full"}

# Functions that compute or read much, whatever their arguments: other threads run meanwhile. So do those that get a path.
LONG = {"dt_batches_next_site", "dt_optimizer_step_sized"}

OP_KINDS = {"Tensor": "TENSOR", "Tensor[]": "TENSORS", "int": "INT", "float": "REAL", "bool": "BOOL", "Scalar": "NUMBER",
            "int[]": "INTS", "size[]": "INTS", "dim[]": "INTS", "float[]": "REALS", "ScalarType": "DTYPE", "str": "TEXT", "Generator": "HANDLE"}


class Param:
    def __init__(self, name, kind, c_type, field=None, optional=False, keyword=False, default=None, handle=None,
                 passed=True):
        self.name, self.kind, self.c_type, self.field = name, kind, c_type.strip(), field
        self.optional, self.keyword, self.default, self.handle = optional, keyword, default, handle
        self.passed = passed  # to C; otherwise it is accepted and has no effect
        self.spread = kind == "INTS" and name in SPREAD


class Signature:
    def __init__(self, c_name, params, options, returns, arguments, text=""):
        self.c_name, self.params, self.options, self.returns = c_name, params, options, returns
        self.arguments = arguments  # of C, in order: a parameter, or a text
        self.text = text
        self.result_names, self.result_type = [], None
        self.kept = False  # the result belongs to the library
        self.is_long = c_name in LONG or any(param.name in ("path", "folder") for param in params)
        self.infers = False  # the dtype from numbers


class Function:
    def __init__(self, name, signatures, summary):
        self.name, self.signatures, self.summary = name, signatures, summary

    def is_method(self):
        first = [s.params[0] for s in self.signatures if s.params]
        return not self.name.startswith("_") and any(p.kind == "TENSOR" for p in first)

    def is_property(self):
        return self.name in PROPERTIES

    def is_function(self):
        return self.name not in CASTS and not self.is_property()


def op_param(param, field):
    kind = "OPTIONAL_TENSORS" if param.optional_members and param.type == "Tensor[]" else OP_KINDS[param.type]
    c_type = make_ops.option_type(param) if field else make_ops.C_TYPES[param.type]
    return Param(param.name, kind, c_type, param.name if field else None, param.may_be_left_out,
                 param.keyword_only, param.default, "GENERATOR" if kind == "HANDLE" else None, not (param.unused and field))


def maker_params():
    return [Param("device_mesh", "HANDLE", "dt_mesh *", "mesh", True, True, handle="MESH"),
            Param("placements", "PLACE", "const char *", "place", True, True),
            Param("requires_grad", "BOOL", "bool", "requires_grad", True, True),
            Param("use", "PLACE", "const char *", "use", True, True)]


def op_signature(function, filled=None):
    """`filled`: what C takes in the place of parameters that this signature does not have."""
    params = [op_param(p, p.is_option) for p in function.params if p.name not in (filled or {})]
    by_name = {p.name: p for p in params}
    for param in params:
        param.spread = param.spread or (param.kind == "TENSORS" and function.op in SPREAD_TENSORS)
    arguments = (["dtp_ctx"] if function.is_maker else []) + [
        (filled or {}).get(p.name) or by_name[p.name] for p in function.positional()]
    if function.is_maker:
        params += maker_params()
    returns = "status" if not function.returns else "list" if function.returns_list() else \
        "tuple" if function.returns_struct() else "tensor"
    made = Signature(function.base() + "_sized", params, function.options_type(), returns, arguments, function.text)
    made.infers = function.op in INFERRED
    if returns == "tuple":
        made.result_names, made.result_type = function.return_names(), function.result_type()
    return made


def read_ops(schemas):
    """The functions of ops, by name, with all their signatures."""
    functions = {}
    for function in op_model.functions_of(schemas):
        signatures = functions.setdefault(function.op, Function(function.op, [], function.summary)).signatures
        if function.op in FILLED:
            signatures.append(op_signature(function, FILLED[function.op]))
        signatures.append(op_signature(function))
    return list(functions.values())


# Functions of the headers. Those whose arguments have no form here, or that end objects, are written by hand or not
# needed.
HEADERS = ("autograd.h", "base.h", "batches.h", "checkpoint.h", "comm.h", "debug.h", "dispatch.h", "files.h", "mesh.h", "params.h",
           "pipeline.h", "random.h", "redistribute.h", "tensor.h", "train.h")
LEFT_OUT = re.compile(r"dt_(init|close|.*_free|.*_release|.*_retain|ctx_.*|keep|drop|tensor_.*|backward|gradients|.*_ctx|"
                      r"error_set|report|version|work_.*|transfer_.*|redistribute_(start|list)|op_run.*|dtype_.*|status_.*|"
                      r"reduce_.*|.*_kind_name|collective_name|load|pipeline_(run|input|output)|grad|from_memory|borrow|print)(_site|_sized)?")
# Results that belong to the library, or to an argument.
BORROWED = {"dt_grad", "dt_params_tensor", "dt_params_get_site", "dt_param_sized", "dt_optimizer_state_site", "dt_mesh_current",
            "dt_generator_default_site", "dt_group_world_site", "dt_mesh_group_site"}
# Pointers that may be NULL, though they are no options.
MAY_BE_NONE = {("dt_distribute_tensor_sized", "mesh"), ("dt_from_local_sized", "mesh"), ("dt_from_local_sized", "local"),
               ("dt_mesh_flatten_site", "name")}
HANDLE_TYPES = {"dt_mesh": "MESH", "dt_group": "GROUP", "dt_generator": "GENERATOR", "dt_params": "PARAMS",
                "dt_optimizer": "OPTIMIZER", "dt_batches": "BATCHES",
                "dt_schedule": "SCHEDULE"}
PLAIN_KINDS = {"const char *": "TEXT", "int": "INT", "int64_t": "INT", "uint64_t": "INT", "size_t": "INT", "double": "REAL",
               "bool": "BOOL", "dt_dtype": "DTYPE", "dt_shape": "INTS", "dt_dims": "INTS", "dt_ints": "INTS", "dt_reals": "REALS",
               "dt_tensors": "TENSORS", "dt_opt_int": "INT", "dt_opt_real": "REAL", "dt_opt_bool": "BOOL", "dt_policy": "INT",
               "dt_tensor *": "TENSOR", "const dt_tensor *": "TENSOR"}
RESULTS = {"dt_status": "status", "void": "none", "bool": "bool", "int": "int", "int64_t": "int", "uint64_t": "int", "size_t": "int",
           "double": "real", "const char *": "text", "char *": "freed_text", "dt_tensor *": "tensor"}


def split_type(declaration):
    kind, name = re.fullmatch(r"(.*?)(\w+)", " ".join(declaration.split())).groups()
    return kind.strip(), name


def call_param(kind, name, field=None):
    """The parameter of Python for one of C; None: it has no form."""
    bare = kind.replace("const ", "").replace("*", "").strip()
    optional = field is not None
    if bare in HANDLE_TYPES and kind.count("*") == 1:
        return Param(PYTHON_NAMES.get(name, name) if optional else name, "HANDLE", kind, field, optional, optional,
                     handle=HANDLE_TYPES[bare])
    if kind not in PLAIN_KINDS:
        return None
    found = "PLACE" if kind == "const char *" and name in PLACES else PLAIN_KINDS[kind]
    may_be_none = optional or (kind == "const char *" and name in ("place", "file"))
    return Param(PYTHON_NAMES.get(name, name), found, kind, field, may_be_none, optional)


def struct_fields(text):
    structs = {}
    for struct, body in re.findall(r"typedef struct (dt_\w+_options) \{(.*?)\} \1;", text, re.S):
        fields = []
        for declaration in filter(None, (part.strip() for part in re.sub(r"DT_OPTION\((.*?), (\w+)\)", r"\1 \2", body).split(";"))):
            kind, name = split_type(declaration.split(",")[0])
            fields += [(kind, name)] + [(kind, more.strip()) for more in declaration.split(",")[1:]]
        structs[struct] = [(kind, name) for kind, name in fields if name != "site"]
    return structs


def call_arguments(parameters):
    """(parameters of Python, arguments of C, options struct); None: some have no form."""
    params, arguments, options = [], [], None
    pieces = [" ".join(p.split()) for p in parameters.split(",")]
    i = 0
    while i < len(pieces):
        piece = pieces[i]
        options_of = re.fullmatch(r"DT_OPTIONS\((\w+)\)", piece)
        sized = re.fullmatch(r"const (dt_\w+_options) \*options", piece)
        if piece == "void":
            pass
        elif options_of or sized:
            options = (options_of or sized)[1]
            arguments.append("OPTIONS")
            i += 1 if sized else 0
        elif piece in ("DT_CALLER", "const dt_site *site"):
            arguments.append("NULL")
        elif re.fullmatch(r"(const )?dt_ctx \*ctx", piece):
            arguments.append("dtp_ctx")
        elif re.fullmatch(r"const int64_t \*(ranks|shape|sizes)", piece) and i + 1 < len(pieces) and re.match(r"int(64_t)? n_", pieces[i + 1]):
            params.append(Param(piece.split("*")[1], "INTS", "int64_t *"))
            arguments += [params[-1], f"({pieces[i + 1].split()[0]})COUNT:{params[-1].name}"]
            i += 1
        elif re.fullmatch(r"int n(_tensors)?", piece) and pieces[i + 1] == "dt_tensor *const *tensors":
            params.append(Param("tensors", "TENSORS", "dt_tensor *const *"))
            arguments += ["(int)COUNT:tensors", params[-1]]
            i += 1
        else:
            kind, name = split_type(piece)
            param = call_param(kind, name)
            if not param:
                return None
            params.append(param)
            arguments.append(param)
        i += 1
    return params, arguments, options


def read_calls():
    """The functions of the headers that have a form in Python."""
    functions, structs = [], {}
    for header in HEADERS:
        text = make_cpp.without_comments((ROOT / "include/dtensor" / header).read_text())
        structs |= struct_fields(text)
    for header in HEADERS:
        text = (ROOT / "include/dtensor" / header).read_text()
        bare = make_cpp.without_comments(text)
        for result, c_name, parameters in re.findall(r"DT_API ([\w ]+?\*?)\s*(dt_\w+)\(([^;]*?)\);", bare):
            made = read_call(result.strip(), c_name, parameters, structs)
            if made:
                name = re.sub(r"_(site|sized)$", "", c_name)[3:]
                functions.append(Function(name, [made], f"dt_{name}"))
    return functions


def read_call(result, c_name, parameters, structs):
    handle = HANDLE_TYPES.get(result.replace("*", "").strip()) if result.endswith("*") else None
    if LEFT_OUT.fullmatch(c_name) or (result not in RESULTS and not handle):
        return None
    bound = call_arguments(parameters)
    if not bound:
        return None
    params, arguments, options = bound
    for kind, name in structs.get(options, []):
        param = call_param(kind, name, name)
        params += [param] if param and param.name not in {p.name for p in params} else []
    for param in params:
        param.optional = param.optional or (c_name, param.name) in MAY_BE_NONE
    made = Signature(c_name, params, options, handle or RESULTS[result], arguments)
    made.kept = c_name in BORROWED
    made.is_handle = bool(handle)
    return made
