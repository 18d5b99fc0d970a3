#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes include/dtensor/ops.h, man/dtensor_ops.3, tools/dtensor/c_calls.c and the functions themselves from the schema lines
of the ops, as the library parses them (op_model.py).

    scripts/make_ops.py           builds op_schemas, and writes the first three
    scripts/make_ops.py --check   fails where they differ from what it would write
    scripts/make_ops.py --functions SCHEMAS OUT
                                  writes the functions to OUT, if they differ from those there; SCHEMAS is the output of
                                  op_schemas. Every build does this.
"""
import pathlib
import shutil
import subprocess
import sys

import op_model

ROOT = pathlib.Path(__file__).resolve().parent.parent

HEAD = '''/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops on tensors, plain or distributed. Made by scripts/make_ops.py from the schema lines of the ops: change those.
 *
 *     dt_tensor *h = dt_gelu(dt_linear(x, w1, b1));
 *     dt_tensor *y = dt_softmax(dt_linear(h, w2, b2), -1);
 *     dt_tensor *s = dt_sum(y, .dim = DT_DIMS(-1), .keepdim = true);
 *
 * Required arguments come by position, numbers as they are. Optional ones are named, or follow in their order, and a
 * zeroed field means "not given". Optional numbers are wrapped, whatever their default: DT_INT(0), DT_REAL(0.5),
 * DT_NUMBER(2). Optional booleans are plain, except where true is the default: DT_FALSE. Lists, required or optional,
 * are named for what is in them: DT_SHAPE(8, 4) sizes of dims, DT_DIMS(0, -1) dims, DT_INTS(2, 1) other integers,
 * DT_REALS(1.5, 2) floating-point numbers. A plain number where a wrapped one is expected does not compile. In C, ops
 * are macros that add the source location of the call; the functions that they call, dt_sum_sized, take a pointer to
 * the options, NULL for none, and their size.
 *
 * An op that fails returns NULL and records an error in the context, which keeps the first one. An op whose argument is
 * NULL returns NULL, so that a chain of ops is checked once, at its end. An op without outputs returns a status.
 *
 * Every op is Collective over the mesh of its tensors where inputs must be redistributed, and otherwise Local. `dtensor
 * explain` shows what a call moves; dt_comm_policy can forbid it. The tensors of an op are on one mesh, or all plain;
 * only dt_copy_ copies between meshes, from a plain tensor that every rank has, and from a distributed tensor to a
 * plain one: it is then Collective over the ranks of both meshes, and a rank outside the source's mesh keeps its plain
 * tensor. An op over lists (dt_foreach_…) runs the op on the first members of all lists, then on the second ones, and
 * so on. These may be on other meshes, or plain; if one of the calls is refused, nothing is written.
 */
#ifndef DTENSOR_OPS_H
#define DTENSOR_OPS_H

#include <dtensor/op.h>
#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An integer, a floating-point number or a boolean; a zeroed one is none. */
typedef struct dt_number {
    DT_WRAPPED(write_DT_NUMBER, dt_arg_type type)
    int64_t i;
    double f;
} dt_number;

static inline dt_number dt_number_int(int64_t value) {
    dt_number number;
    number.type = DT_ARG_INT;
    number.i = value;
    number.f = 0;
    return number;
}
static inline dt_number dt_number_real(double value) {
    dt_number number;
    number.type = DT_ARG_FLOAT;
    number.i = 0;
    number.f = value;
    return number;
}
static inline dt_number dt_number_bool(bool value) {
    dt_number number;
    number.type = DT_ARG_BOOL;
    number.i = value;
    number.f = 0;
    return number;
}
static inline dt_number dt_number_same(dt_number number) { return number; }

#ifndef __cplusplus
#define DT_NUMBER(value)                                                                                             \\
    (_Generic((value), float: dt_number_real, double: dt_number_real, long double: dt_number_real,                   \\
              bool: dt_number_bool, dt_number: dt_number_same, default: dt_number_int)(value))
#endif
'''

GLUE_HEAD = '''/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of dtensor/ops.h. Made by scripts/make_ops.py from the schema lines of the ops: change those.
 */
#include "ops/op_functions.h"
'''


C_TYPES = {"Tensor": "dt_tensor *", "Tensor[]": "dt_tensors ", "int": "int64_t ", "float": "double ", "bool": "bool ",
           "Scalar": "dt_number ", "int[]": "dt_ints ", "size[]": "dt_shape ", "dim[]": "dt_dims ", "float[]": "dt_reals ",
           "ScalarType": "dt_dtype ",
           "str": "const char *", "Generator": "struct dt_generator *"}
MAKER_OPTIONS = (("dt_mesh *", "mesh", " /* as dt_make_options */"), ("const char *", "place", ""), ("bool ", "requires_grad", ""),
                 ("const char *", "use", ""))


def option_type(param):
    """Type of the field: numbers are wrapped, booleans where the default is true."""
    if param.type == "bool":
        return "bool " if param.default and param.default["text"] == "false" else "dt_opt_bool "
    return {"int": "dt_opt_int ", "float": "dt_opt_real "}.get(param.type) or C_TYPES[param.type]


def is_checked(function):
    """Whether some options have a type of their own, so that ends between options find plain numbers (DT_OPTION)."""
    return any(option_type(param).startswith(("dt_opt_", "dt_dims", "dt_ints", "dt_reals", "dt_shape", "dt_number", "dt_tensors")) for param in function.options())


def shown_default(param):
    default = param.default
    if not default or default["text"] in ("none", "[]") or option_type(param) == "bool ":
        return ""
    return default["text"].strip('"')


def result_type(function):
    return "dt_status " if not function.returns else "int " if function.returns_list() else f"{function.result_type()} " if function.returns_struct() else \
        "dt_tensor *"


def arguments(function):
    """Type and name of what is passed by position."""
    taken = [("dt_ctx *", "ctx")] if function.is_maker else []
    taken += [(C_TYPES[p.type], p.name) for p in function.positional()]
    return taken + ([("dt_tensor **", "out"), ("int ", "capacity")] if function.returns_list() else [])


def declaration(function):
    taken = ", ".join(kind + name for kind, name in arguments(function))
    return f"{result_type(function)}{function.base()}_sized({taken}, "


def header(functions):
    lines = [HEAD]
    for function in functions:
        lines.append(struct_text(function))
        outputs = "Writes up to capacity outputs and returns their number, or -1. " if function.returns_list() else ""
        collective = "Local; every rank of the mesh must make the same call." if function.is_maker else \
            "Collective where inputs move, else Local."
        lines.append(f"/* {function.summary}\n *     {comment(function)}\n * {outputs}{collective} */")
        lines.append(f"DT_API {declaration(function)}DT_OPTIONS({function.options_type()}));\n")
    lines.append("#ifndef __cplusplus\n/* clang-format off */")
    lines += [macro_text(function) for function in functions]
    lines.append("/* clang-format on */\n#endif\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif")
    return "\n".join(lines) + "\n"


def comment(function):
    """The signature, cut at blanks to fit."""
    words, lines = function.text.split(" "), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 104:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n *         ".join(lines)


def field_text(function, kind, name):
    return f"    DT_OPTION({kind.strip()}, {name});" if is_checked(function) else f"    {kind}{name};"


def struct_text(function):
    """The structs of options and of results, where the function has its own."""
    text, name = "", function.options_type()
    if name == function.base() + "_options":
        fields = []
        for param in function.options():
            default = shown_default(param)
            fields.append(field_text(function, option_type(param), param.name) + (f" /* default {default} */" if default else ""))
        if function.is_maker:
            fields += [field_text(function, kind, name) + remark for kind, name, remark in MAKER_OPTIONS]
        fields.append("    const dt_site *site;")
        text = f"typedef struct {name} {{\n" + "\n".join(fields) + f"\n}} {name};"
    if function.returns_struct():
        name, members = function.result_type(), ", ".join("*" + one for one in function.return_names())
        text += f"\n/* The outputs; all NULL after an error. */\n" \
            f"typedef struct {name} {{\n    dt_tensor {members};\n}} {name};"
    return text


def macro_text(function):
    numbers = {p.name for p in function.positional() if p.type == "Scalar"}
    names = [name for _, name in arguments(function)]
    passed = [f"DT_NUMBER({name})" if name in numbers else name for name in names]
    name = function.plain_name()
    inner = f"DT_{name.upper()}_" + ("" if name == name.lower() else "CAPITAL_")  # t and T
    head = f"#define {inner}({', '.join(names)}, ...)"
    call = f"{function.base()}_sized({', '.join(passed)},"
    options = f"{'DT_CHECKED' if is_checked(function) else 'DT_NAMED'}({function.options_type()}, __VA_ARGS__))"
    line = f"{head} {call} {options}"
    if len(line) > 117:
        end = " \\\n"
        line = f"{head}{end}    {call} {options}" if len(call + options) < 112 else \
            f"{head}{end}    {call}{end}        {options}"
    plain = f"#define dt_{function.plain_name()}(...)"
    call = f"{inner}(__VA_ARGS__, .site = DT_SITE)"
    return plain + (" " if len(plain) + len(call) < 118 else " \\\n    ") + call + "\n" + line


# What writes an argument of a type: its name, and how it takes the value.
WRITERS = {"Tensor": "tensor(&args[{0}], &call, {1})", "Tensor[]": "tensors(&args[{0}], &call, {1})",
           "int": "int(&args[{0}], {1})", "float": "real(&args[{0}], {1})", "bool": "bool(&args[{0}], {1})",
           "Scalar": "number(&args[{0}], {1})", "int[]": "ints(&args[{0}], {1})", "size[]": "sizes(&args[{0}], {1})", "dim[]": "dims(&args[{0}], {1})",
           "float[]": "reals(&args[{0}], {1})",
           "ScalarType": "dtype(&args[{0}], {1})", "str": "text(&args[{0}], {1})",
           "Generator": "generator(&args[{0}], {1})"}


def write(kind, i, value):
    return "dt__call_" + WRITERS[kind].format(i, value)


def write_default(param, i):
    """Writes the default of a parameter."""
    default = param.default
    if default is None or default["type"] == "none":
        return f"dt__call_none(&args[{i}])"
    kind, text = default["type"], default["text"]
    if param.type == "Scalar":
        return write("Scalar", i, f"dt_number_{'real' if kind == 'float' else kind}({text})")
    if kind == "int[]":
        values = text.strip("[]")
        some = f".n = {len(values.split(','))}, .list = (const int64_t[]){{{values}}}" if values else ".n = 0"
        return f"dt__call_ints(&args[{i}], (dt_ints){{{some}}})"
    if kind == "ScalarType":
        text = f"DT_{text.upper()}"
    return write(param.type, i, text)


def write_argument(function, param, i):
    if param.is_option and param.unused:
        return write_default(param, i)
    if not param.is_option:
        kind = "optional_tensors(&args[{0}], &call, {1})" if param.optional_members and param.type == "Tensor[]" else WRITERS[param.type]
        return "dt__call_" + kind.format(i, param.name)
    field, kind = f"options->{param.name}", option_type(param).strip()
    if kind == "bool":
        return write(param.type, i, field)
    if function.options_type() == "dt_make_options" and param.type == "ScalarType":
        return f"dt__call_dtype(&args[{i}], {field} ? {field} : DT_F32)"
    is_opt = kind.startswith("dt_opt_")
    test = f"{field}.given" if is_opt else f"{field}.type != DT_ARG_NONE" if kind == "dt_number" else \
        f"{field}.sizes" if kind == "dt_shape" else f"{field}.list" if param.is_list else field
    return f"{test} ? {write(param.type, i, field + '.value' if is_opt else field)} : {write_default(param, i)}"


def context(function):
    if function.is_maker:
        return []
    first = next(p for p in function.params if p.word == "Tensor")
    return [f"    dt_ctx *ctx = {'dt__ctx_of_list' if first.is_list else 'dt_tensor_ctx'}({first.name});"]


def run(function):
    """The lines that run the call and return its outputs."""
    call = f"&call, DT__OP_{function.op}, "
    if function.returns_list():
        return [f"    return dt__call_run_list({call}options->site, out, capacity);"]
    if not function.returns:
        return [f"    return dt__call_run_status({call}options->site);"]
    if function.is_maker:
        place = "{options->mesh, options->place, options->requires_grad, options->use}"
        return [f"    call.maker = &(dt__maker_place){place};",
                f"    return dt__call_run({call}options->site);"]
    if not function.returns_struct():
        return [f"    return dt__call_run({call}options->site);"]
    names = function.return_names()
    return [f"    dt_tensor *outputs[{len(names)}];",
            f"    dt__call_run_several({call}options->site, outputs, {len(names)});",
            f"    return ({function.result_type()}){{{', '.join(f'outputs[{i}]' for i in range(len(names)))}}};"]


def definition(function):
    options, name = function.options_type(), function.op
    failed = "DT_ERR_VALUE" if not function.returns else "-1" if function.returns_list() else f"({function.result_type()}){{0}}" if function.returns_struct() \
        else "NULL"
    lines = [f"{declaration(function)}const {options} *options, size_t options_size) {{",
             f"    {options} full;",
             "    dt__call call;",
             f"    dt_arg args[{len(function.params)}];",
             *context(function),
             f"    options = DT__OPTIONS(ctx, \"{name}\", options, options_size, &full);",
             f"    if (!options)\n        return {failed};",
             f"    dt__call_init(&call, ctx, {function.index}, args);"]
    lines += [f"    {write_argument(function, p, i)};" for i, p in enumerate(function.params)]
    return "\n".join(lines + run(function) + ["}"])


def definitions(functions):
    return GLUE_HEAD + "\n" + "\n\n".join(definition(function) for function in functions) + "\n"


MAN_HEAD = r'''.\" SPDX-License-Identifier: Apache-2.0
.\" Made by scripts/make_ops.py from the schema lines of the ops: change those.
.Dd November 15, 2026
.Dt DTENSOR_OPS 3
.Os
.Sh NAME
.Nm dtensor_ops
.Nd ops on tensors, plain or distributed
.Sh SYNOPSIS
.In dtensor/ops.h
.Sh DESCRIPTION
Every op is a function; in C, a macro of the same name adds named options and
the source location of the call.
Required arguments come by position.
Options follow by name, such as
.Li .keepdim = true ;
an option that is left out has the default of the signature.
The calls below have all of them; each compiles as it is.
.Pp
A required number is written as it is, an optional one as
.Li DT_INT(1) ,
.Li DT_REAL(0.5)
or
.Li DT_NUMBER(2) ,
whatever its default.
Lists are written
.Li DT_SHAPE(8, 4)
for sizes of dims,
.Li DT_DIMS(0, \-1)
for dims and
.Li DT_INTS(2, 1)
for other integers,
.Li DT_REALS(1.5, 2)
for floating-point numbers.
In C++ (dtensor/dtensor.hpp), what is
.Li .dim = DT_INT(1)
in C is
.Li dt::dim = 1 .
.Pp
An op returns
.Dv NULL
(one that returns a list: \-1) where it fails or where an argument is
.Dv NULL ,
and the context keeps the first error.
.Pp
An op is collective over the mesh of its tensors where inputs must be
redistributed, and otherwise local.
.Xr dtensor-explain 1
shows what a call moves,
.Xr dtensor-rules 1
which placements are correct.
.Bl -tag -width Ds
'''
MAN_TAIL = r'''.El
.Sh SEE ALSO
.Xr dtensor-explain 1 ,
.Xr dtensor-ops 1 ,
.Xr dtensor-rules 1 ,
.Xr dtensor 7
'''


# How the value of an option is written that has no default of its own to show; the others are variables of their types.
EXAMPLES = {"int": "0", "float": "0.5", "Scalar": "1", "int[]": "DT_INTS(1)", "size[]": "DT_SHAPE(1)", "dim[]": "DT_DIMS(0)",
            "float[]": "DT_REALS(0.5)", "ScalarType": "DT_F32"}
CAPACITY = 8  # of the outputs of an op that returns a list


def example_value(param):
    """An option's value in a call, or None if it is a variable."""
    default = param.default["text"] if param.default and param.default["type"] != "none" else None
    if param.type == "bool":
        return "true" if option_type(param) == "bool " else "DT_FALSE"
    if param.is_list or param.type == "ScalarType":
        return EXAMPLES.get(param.type)
    if param.type in ("int", "float", "Scalar"):
        wrapper = {"int": "DT_INT", "float": "DT_REAL", "Scalar": "DT_NUMBER"}[param.type]
        return f"{wrapper}({default or EXAMPLES[param.type]})"
    return default if param.type == "str" else None


def declared(kind, name):
    return f"dt_tensor *{name}[{CAPACITY}];" if name == "out" and kind == "dt_tensor **" else f"{kind}{name};"


def folded(pieces, width=78):
    """Pieces that are joined by commas, over as many lines as they need."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) + 2 > width:
            lines[-1] += ","
            lines.append("    " + piece)
        else:
            lines[-1] += ", " + piece
    return lines


def call_lines(function):
    """A call with all its options, as lines of C that compile: variables with their types, and the result with its own."""
    variables, passed = [], []
    for kind, name in arguments(function):
        kind = "double " if kind == "dt_number " else kind  # any number
        passed.append(str(CAPACITY) if name == "capacity" else name)
        variables += [declared(kind, name)] if name != "capacity" else []
    for param in function.options():
        value = example_value(param)
        passed.append(f".{param.name} = {value or param.name}")
        variables += [declared(option_type(param), param.name)] if value is None else []
    if function.is_maker:
        passed += [".mesh = mesh", '.place = "R"', ".requires_grad = true"]
        variables.append("dt_mesh *mesh;")
    kind = result_type(function)
    result = {"dt_status ": "status", "int ": "n"}.get(kind, "result")
    passed[0] = f"{kind}{result} = dt_{function.plain_name()}({passed[0]}"
    passed[-1] += ");"
    members = [f"/* {', '.join('result.' + name for name in function.return_names())} */"] if function.returns_struct() else []
    return folded_declarations(variables) + folded(passed) + members


def folded_declarations(variables, width=78):
    lines = [variables[0]]
    for variable in variables[1:]:
        if len(lines[-1]) + len(variable) + 1 > width:
            lines.append(variable)
        else:
            lines[-1] += " " + variable
    return lines


def man_entry(function):
    """What the op does, a call in C, and the signature."""
    text, summary = (part.replace("-", r"\-") for part in (function.text, function.summary))
    lines = "\n".join(line.replace("-", r"\-") for line in call_lines(function))
    return f".It Li dt_{function.plain_name()}\n{summary}\n.Bd -literal\n{lines}\n.Ed\n.Pp\n.Li {text}\n"


CALLS_HEAD = '''/* SPDX-License-Identifier: Apache-2.0
 *
 * A call in C of each function of dtensor/ops.h, as `dtensor ops` prints it. Made by scripts/make_ops.py from the
 * schema lines of the ops: change those.
 */
#include "c_calls.h"

const c_call c_calls[] = {
'''


def quoted(text):
    return '"' + text.replace("\\", r"\\").replace('"', r'\"') + '"'


def calls_table(functions):
    rows = []
    for function in functions:
        lines = " ".join(quoted(line + "\0").replace("\0", r"\n") for line in call_lines(function))
        rows.append(f"    {{{quoted(function.op)}, {lines}}},\n")
    return CALLS_HEAD + "".join(rows) + "    {0},\n};\n"


def manual(functions):
    return MAN_HEAD + "".join(man_entry(function) for function in functions) + MAN_TAIL


def formatted(text, path):
    if path.startswith("man/"):
        return text
    tool = next((t for t in ("clang-format-14", "clang-format") if shutil.which(t)), None)
    if not tool:
        sys.exit("make_ops.py: there is no clang-format-14")
    return subprocess.run([tool, f"--assume-filename={path}"], input=text, capture_output=True, text=True, cwd=ROOT,
                          check=True).stdout


def write_functions(schemas, out):
    text = definitions(op_model.functions_of(pathlib.Path(schemas).read_text().splitlines()))
    if not out.exists() or out.read_text() != text:
        out.write_text(text)


def main():
    if sys.argv[1:2] == ["--functions"]:
        write_functions(sys.argv[2], pathlib.Path(sys.argv[3]))
        return 0
    check = "--check" in sys.argv[1:]
    functions = op_model.read_functions(builds=not check)
    files = {"include/dtensor/ops.h": header(functions), "man/dtensor_ops.3": manual(functions),
             "tools/dtensor/c_calls.c": calls_table(functions)}
    stale = []
    for name, text in files.items():
        text = formatted(text, name)
        path = ROOT / name
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(f"{name} is not what scripts/make_ops.py makes of the schema lines: run it")
    print("\n".join(stale), end="\n" if stale else "")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
