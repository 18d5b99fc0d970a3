#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes include/dtensor/ops.h and src/ops/op_functions.c from the schema lines of the descriptors in src/ops.

    scripts/make_ops.py           writes them, and man/dtensor_ops.3
    scripts/make_ops.py --check   fails where they differ from what it would write

A signature becomes a function: required arguments by position, the others in a struct of options, in their order. Of
overloads that differ only in arguments that may be None, one is kept; the others are named by the type of the argument
in which they differ: add and add_scalar, clamp and clamp_tensor.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
POSITIONAL = {"slice", "diagonal"}  # all arguments by position: a slice needs them
HIDDEN = {("expand", "implicit"), ("copy_", "non_blocking"), ("gather", "sparse_grad"),
          ("embedding", "max_norm"), ("embedding", "norm_type"), ("embedding", "scale_grad_by_freq")}

HEAD = '''/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops on tensors, plain or distributed. Made by scripts/make_ops.py from the schema lines of the ops: change those.
 *
 *     dt_tensor *h = dt_gelu(dt_linear(x, w1, b1));
 *     dt_tensor *y = dt_softmax(dt_linear(h, w2, b2), -1);
 *     dt_tensor *s = dt_sum(y, .dim = DT_DIMS(-1), .keepdim = true);
 *
 * Required arguments come by position. Optional ones are named, or follow in their order. A zeroed field means "not
 * given"; where zero is a value, the field has a type of its own: DT_DIMS(0, 1), DT_INT(0), DT_REAL(0.5),
 * DT_NUMBER(2), DT_TRUE, DT_FALSE. A plain value in such a field does not compile without a diagnostic that names
 * the macro (write_DT_REAL). In C, ops are macros that add the source location of the call; the
 * functions behind them, dt_sum_sized, take a pointer to the options, NULL for none, and their size.
 *
 * An op that fails returns NULL and records an error in the context, which keeps the first one. An op whose argument is
 * NULL returns NULL, so that a chain of ops is checked once, at its end.
 *
 * Every op is Collective over the mesh of its tensors where inputs must be redistributed, and otherwise Local. `dtensor
 * explain` shows what a call moves; dt_comm_policy can forbid it. The tensors of an op are on one mesh, or all plain;
 * only dt_copy_ copies between meshes, from a plain tensor that every rank has, and from a distributed tensor to a
 * plain one: it is then Collective over the ranks of both meshes, and a rank outside the source's mesh keeps its plain
 * tensor.
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

/* A list of tensors, passed by value. */
typedef struct dt_tensors {
    int n;
    dt_tensor *const *list;
} dt_tensors;

#ifndef __cplusplus
#define DT_NUMBER(value)                                                                                             \\
    (_Generic((value), float: dt_number_real, double: dt_number_real, long double: dt_number_real,                   \\
              bool: dt_number_bool, dt_number: dt_number_same, default: dt_number_int)(value))
#define DT_TENSORS(...)                                                                                              \\
    ((dt_tensors){(int)(sizeof((dt_tensor *const[]){__VA_ARGS__}) / sizeof(dt_tensor *)),                            \\
                  (dt_tensor *const[]){__VA_ARGS__}})
#endif
'''

GLUE_HEAD = '''/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of dtensor/ops.h. Made by scripts/make_ops.py from the schema lines of the ops: change those.
 */
#include "ops/op_functions.h"
'''


class Param:
    def __init__(self, text, keyword):
        match = re.fullmatch(r"(\w+)(?:\([^)]*\))?(\?)?(\[\d*\])?(\?)?\s+(\w+)(?:=(.*))?", text)
        assert match, text
        base, optional, brackets, optional_list, self.name, self.default = match.groups()
        self.type = base + ("[]" if brackets else "")
        if self.type == "int[]" and self.name in ("dim", "dims"):
            self.type = "dim[]"
        self.optional = bool(optional or optional_list)
        self.keyword = keyword
        self.is_option = self.default is not None or (self.optional and base != "Tensor") or self.optional


class Signature:
    def __init__(self, text, summary):
        self.summary = summary
        match = re.fullmatch(r"(\w+)(?:\.(\w+))?\((.*)\) -> (.*)", text.strip())
        assert match, text
        self.text = text.strip()
        self.op, self.overload, params, self.returns = match.groups()
        self.params, keyword = [], False
        for part in split_params(params):
            if part == "*":
                keyword = True
            else:
                self.params.append(Param(part, keyword))
        self.index = 0
        self.name = self.op

    def is_list(self):
        return self.returns.endswith("[]")

    def positional(self):
        return [p for p in self.params if not p.is_option or self.op in POSITIONAL]

    def options(self):
        return [p for p in self.params if p not in self.positional() and (self.op, p.name) not in HIDDEN]


def split_params(text):
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def unquoted(literals):
    """The text of adjacent string literals of C."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def read_schemas():
    """Signatures by op, in the order of the table, each with the op's summary."""
    table = re.findall(r"X\((\w+)\)", (ROOT / "src/ops/ops.h").read_text().split("typedef enum")[0])
    schemas, summaries = {}, {}
    for source in sorted((ROOT / "src/ops").glob("*.c")):
        if "const dt_op dt__op_" not in source.read_text():
            continue
        text = subprocess.run(["cc", "-E", "-P", f"-I{ROOT}/include", f"-I{ROOT}/src", source], check=True,
                              capture_output=True, text=True).stdout
        for name, fields in re.findall(r"^const dt_op dt__op_(\w+) = \{(.*?)\};", text, re.S | re.M):
            literals = {field: re.search(rf"\.{field}\s*=\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)", fields)
                        for field in ("schema", "summary")}
            if not all(literals.values()):
                sys.exit(f"{source.name}: {name}: expected a descriptor with .schema and .summary")
            schemas[name], summaries[name] = (unquoted(literals[field][1]) for field in ("schema", "summary"))
    names = [name for name in table if name in schemas]
    assert len(names) == len(schemas), set(schemas) ^ set(names)
    return [(name, [Signature(text, summaries[name]) for text in schemas[name].split(" | ")]) for name in names]


def covers(wide, narrow):
    """Whether the one signature can do all that the other does: the same arguments, and more that may be left out."""
    types = {p.name: p.type for p in wide.params}
    more = {p.name for p in wide.params} - {p.name for p in narrow.params}
    return (all(types.get(p.name) == p.type for p in narrow.params) and bool(more)
            and all(p.is_option for p in wide.params if p.name in more))


def name_functions(signatures):
    for i, signature in enumerate(signatures):
        signature.index = i
    kept = [s for s in signatures if not any(covers(other, s) for other in signatures if other is not s)]
    first, kinds = kept[0], {"Scalar": "scalar", "Tensor": "tensor", "int[]": "sizes"}
    changed = {}
    for signature in kept[1:]:
        types = {p.name: p.type for p in first.params}
        changed[signature] = [p for p in signature.params if types.get(p.name) != p.type]
    for signature, params in changed.items():
        kind = kinds[params[0].type]
        alone = len(changed) == 1
        ending = kind if alone else kind + "s" if len(params) > 1 else f"{kind}_{params[0].name}"
        base = signature.op
        signature.name = base[:-1] + "_" + ending + "_" if base.endswith("_") else f"{base}_{ending}"
    return kept


C_TYPES = {"Tensor": "dt_tensor *", "Tensor[]": "dt_tensors ", "int": "int64_t ", "float": "double ", "bool": "bool ",
           "Scalar": "dt_number ", "int[]": "dt_shape ", "dim[]": "dt_dims ", "ScalarType": "dt_dtype ", "str": "const char *"}


def option_type(param):
    """Type of the field, and whether zero is its default."""
    if param.type == "int":
        return "int64_t " if param.default == "0" else "dt_opt_int "
    if param.type == "float":
        return "dt_opt_real "
    if param.type == "bool":
        return "bool " if param.default == "False" else "dt_opt_bool "
    if param.type in ("int[]", "dim[]"):
        return "dt_dims "
    return C_TYPES[param.type]


def shown_default(param):
    default = param.default
    if default in (None, "None", "[]"):
        return ""
    return "" if option_type(param) in ("int64_t ", "bool ") else default.strip("\"'").lower()


def long_name(signature):
    """The name without an underscore at its end, which would make two with what follows."""
    return f"dt_{signature.name.rstrip('_')}{'_in_place' if signature.name.endswith('_') else ''}"


def real_name(signature):
    return long_name(signature) + "_sized"


def options_name(signature):
    return long_name(signature) + "_options"


def declaration(signature):
    arguments = [C_TYPES[p.type] + p.name for p in signature.positional()]
    if signature.is_list():
        arguments += ["dt_tensor **out", "int capacity"]
    kind = "int " if signature.is_list() else "dt_tensor *"
    return f"{kind}{real_name(signature)}({', '.join(arguments)}, ", kind


def header(ops):
    lines = [HEAD]
    for _, signatures in ops:
        for signature in signatures:
            lines.append(struct_text(signature))
            outputs = "Writes up to capacity outputs and returns their number, or -1. " if signature.is_list() else ""
            lines.append(f"/* {signature.summary}\n *     {comment(signature)}\n"
                         f" * {outputs}Collective where inputs move, else Local. */")
            lines.append(f"DT_API {declaration(signature)[0]}DT_OPTIONS({options_name(signature)}));\n")
    lines.append("#ifndef __cplusplus\n/* clang-format off */")
    for _, signatures in ops:
        for signature in signatures:
            lines.append(macro_text(signature))
    lines.append("/* clang-format on */\n#endif\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif")
    return "\n".join(lines) + "\n"


def comment(signature):
    """The schema line, cut at blanks to fit."""
    words, lines = signature.text.split(" "), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 104:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n *         ".join(lines)


def struct_text(signature):
    fields = []
    for param in signature.options():
        default = shown_default(param)
        fields.append(f"    {option_type(param)}{param.name};" + (f" /* default {default} */" if default else ""))
    fields.append("    const dt_site *site;")
    name = options_name(signature)
    return f"typedef struct {name} {{\n" + "\n".join(fields) + f"\n}} {name};"


def macro_text(signature):
    names = [p.name for p in signature.positional()] + (["out", "capacity"] if signature.is_list() else [])
    passed = [f"DT_NUMBER({p.name})" if p.type == "Scalar" else p.name for p in signature.positional()]
    passed += ["out", "capacity"] if signature.is_list() else []
    inner = f"DT_{signature.name.upper()}_"
    head = f"#define {inner}({', '.join(names)}, ...)"
    call = f"{real_name(signature)}({', '.join(passed)},"
    options = f"DT_NAMED({options_name(signature)}, __VA_ARGS__))"
    line = f"{head} {call} {options}"
    if len(line) > 117:
        end = " \\\n"
        line = f"{head}{end}    {call} {options}" if len(call + options) < 112 else \
            f"{head}{end}    {call}{end}        {options}"
    return f"#define dt_{signature.name}(...) {inner}(__VA_ARGS__, .site = DT_SITE)\n{line}"


MAKERS = {"Tensor": "dt__call_tensor(&call, {0})", "Tensor[]": "dt__call_tensors(&call, {0})",
          "int": "dt__call_int({0})",
          "float": "dt__call_real({0})", "bool": "dt__call_bool({0})", "Scalar": "dt__call_number({0})",
          "int[]": "dt__call_sizes({0})",
          "dim[]": "dt__call_dims({0})", "ScalarType": "dt__call_dtype({0})", "str": "dt__call_text({0})"}


def given_default(param):
    """An expression for the default of a parameter."""
    default = param.default
    if default in (None, "None"):
        return "dt__call_none()"
    if param.type == "Scalar":
        return f"dt__call_number(dt_number_{'real' if '.' in default or 'e' in default else 'int'}({default}))"
    if param.type in ("int[]", "dim[]"):
        assert default == "[]", default
        return "dt__call_dims((dt_dims){.n = 0})"
    value = {"True": "true", "False": "false"}.get(default, default.replace("'", '"'))
    return MAKERS[param.type].format(value)


def given(param, signature):
    if (signature.op, param.name) in HIDDEN:
        return given_default(param)
    if param in signature.positional():
        return MAKERS[param.type].format(param.name)
    field, kind = f"options->{param.name}", option_type(param).strip()
    if kind in ("int64_t", "bool"):
        return MAKERS[param.type].format(field)
    if kind == "dt_dims":
        return f"{field}.list ? dt__call_dims({field}) : {given_default(param)}"
    is_opt = kind.startswith("dt_opt_")
    test = f"{field}.given" if is_opt else f"{field}.type != DT_ARG_NONE" if kind == "dt_number" else field
    value = f"{field}.value" if is_opt else field
    return f"{test} ? {MAKERS[param.type].format(value)} : {given_default(param)}"


def placed(expression, i):
    """The same, written to argument i: whole structs are not copied, which would wait for their parts to be stored."""
    return re.sub(r"(dt__call_\w+)\((\)?)", lambda m: f"{m[1]}(&args[{i}]{')' if m[2] else ', '}", expression)


def function(op, signature):
    head, _ = declaration(signature)
    failed = "-1" if signature.is_list() else "NULL"
    first = next(p for p in signature.params if p.type.startswith("Tensor"))
    ctx = f"dt_tensor_ctx({first.name})" if first.type == "Tensor" else f"dt__ctx_of_list({first.name})"
    lines = [f"{head}const {options_name(signature)} *options, size_t options_size) {{",
             f"    {options_name(signature)} full;",
             "    dt__call call;",
             f"    dt_arg args[{len(signature.params)}];",
             f"    dt_ctx *ctx = {ctx};",
             f"    options = DT__OPTIONS(ctx, \"{signature.op}\", options, options_size, &full);",
             f"    if (!options)\n        return {failed};",
             f"    dt__call_init(&call, ctx, {signature.index}, args);"]
    lines += [f"    {placed(given(p, signature), i)};" for i, p in enumerate(signature.params)]
    ending = f"dt__call_run_list(&call, DT__OP_{op}, options->site, out, capacity)" if signature.is_list() else \
        f"dt__call_run(&call, DT__OP_{op}, options->site)"
    lines += [f"    return {ending};", "}"]
    return "\n".join(lines)


def glue(ops):
    functions = [function(op, signature) for op, signatures in ops for signature in signatures]
    return GLUE_HEAD + "\n" + "\n\n".join(functions) + "\n"


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


def man_entry(signature):
    """The C form of a call with its options, and the signature behind it."""
    required = [p.name for p in signature.positional()] + (["out", "capacity"] if signature.is_list() else [])
    options = [f".{p.name}" for p in signature.options()]
    call = f"dt_{signature.name}({', '.join(required + options)})"
    text = signature.text.replace("-", r"\-")
    summary = signature.summary.replace("-", r"\-")
    return f".It Li {call}\n{summary}\n.Pp\n.Li {text}\n"


def manual(ops):
    return MAN_HEAD + "".join(man_entry(s) for _, signatures in ops for s in signatures) + MAN_TAIL


def formatted(text, path):
    if path.startswith("man/"):
        return text
    tool = next((t for t in ("clang-format-14", "clang-format") if shutil.which(t)), None)
    if not tool:
        sys.exit("make_ops.py: there is no clang-format-14")
    return subprocess.run([tool, f"--assume-filename={path}"], input=text, capture_output=True, text=True, cwd=ROOT,
                          check=True).stdout


def main():
    ops = [(name, name_functions(signatures)) for name, signatures in read_schemas()]
    files = {"include/dtensor/ops.h": header(ops), "src/ops/op_functions.c": glue(ops), "man/dtensor_ops.3": manual(ops)}
    stale = []
    for name, text in files.items():
        text = formatted(text, name)
        path = ROOT / name
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(f"{name} is not what scripts/make_ops.py makes of the schema lines: run it")
    print("\n".join(stale), end="\n" if stale else "")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
