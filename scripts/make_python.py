#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the generated part of the Python module: the C of all ops and functions, and their types (python_model.py).

    scripts/make_python.py SCHEMAS FOLDER    writes FOLDER/generated.c and FOLDER/_dtensor.pyi, unless they are the same
                                             already; SCHEMAS is the output of op_schemas. Every build does this.
"""
import pathlib
import sys

import python_model
import python_stubs

HEAD = '''/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the Python module. Made by scripts/make_python.py from the schema lines of the ops and the public
 * headers: change those.
 */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

'''


def quoted(text):
    return '"' + text.replace("\\", r"\\").replace('"', r'\"').replace("\n", r"\n") + '"'


def given(i):
    return f"call->given[{i}]"


# How a value of a kind is converted into a variable of C: its declaration, its conversion, and its end.
CONVERSIONS = {
    "INT": ("int64_t {v} = {d};", "dtp_to_int({g}, &{v})", None),
    "REAL": ("double {v} = {d};", "dtp_to_real({g}, &{v})", None),
    "BOOL": ("bool {v} = {d};", "dtp_to_bool({g}, &{v})", None),
    "NUMBER": ("dt_number {v} = {d};", "dtp_to_number({g}, &{v})", None),
    "DTYPE": ("dt_dtype {v} = {d};", "dtp_to_dtype({g}, &{v})", None),
    "TEXT": ("const char *{v} = {d};", "dtp_to_text({g}, &{v})", None),
    "PLACE": ("const char *{v} = NULL; PyObject *{v}_owner = NULL;", "dtp_to_place({g}, &{v}, &{v}_owner)", "Py_XDECREF({v}_owner);"),
    "INTS": ("dtp_ints {v}; {v}.list = {v}.inline_list; {v}.n = 0;", "dtp_to_ints({g}, &{v})", "dtp_ints_end(&{v});"),
    "REALS": ("dtp_reals {v}; {v}.list = {v}.inline_list; {v}.n = 0;", "dtp_to_reals({g}, &{v})", "dtp_reals_end(&{v});"),
    "TENSORS": ("dtp_tensors {v}; {v}.list = {v}.inline_list; {v}.n = 0;", "dtp_to_tensors({g}, false, &{v})", "dtp_tensors_end(&{v});"),
    "OPTIONAL_TENSORS": ("dtp_tensors {v}; {v}.list = {v}.inline_list; {v}.n = 0;", "dtp_to_tensors({g}, true, &{v})",
                         "dtp_tensors_end(&{v});"),
}
ZEROS = {"INT": "0", "REAL": "0", "BOOL": "false", "NUMBER": "", "DTYPE": "DT_NO_DTYPE", "TEXT": "NULL"}


def default_value(param):
    """What C gets for a parameter by position that was left out."""
    if param.default is None or param.default["type"] == "none":
        return ZEROS.get(param.kind, "0")
    text = param.default["text"]
    if param.kind == "DTYPE":
        return f"DT_{text.upper()}"
    if param.kind == "NUMBER":
        kind = param.default["type"]
        return f"dt_number_{'real' if kind == 'float' else kind}({text})"
    return text


def variable(param):
    return f"a_{param.name}"


def field_lines(param):
    """Sets the field of the options to the converted value."""
    field, v, kind = f"options.{param.field}", variable(param), param.c_type
    if kind.startswith("dt_opt_"):
        return [f"{field}.given = true;", f"{field}.value = {v};"]
    if kind in ("dt_ints", "dt_dims", "dt_reals"):
        return [f"{field}.n = (int){v}.n;", f"{field}.list = {v}.list;"]
    if kind == "dt_shape":
        return [f"{field} = (dt_shape){{(int){v}.n, {v}.list}};"]
    if kind == "dt_tensors":
        return [f"{field} = (dt_tensors){{(int){v}.n, {v}.list}};"]
    return [f"{field} = {'(dt_policy)' if kind == 'dt_policy' else ''}{v};"]


def converted(param, i):
    """(declarations, statements, ends) of a parameter."""
    v, g = variable(param), given(i)
    sets = field_lines(param) if param.field else []
    if param.kind == "TENSOR":
        return [f"dt_tensor *{v} = {g} ? dtp_handle_of({g}) : NULL;"], [f"options.{param.field} = {v};"] if param.field else [], []
    if param.kind == "HANDLE":
        kind = param.c_type.replace("const ", "").replace("struct ", "")
        get = f"if ({g} && !({v} = dtp_object_of({g}, DTP_{param.handle})))\n        goto end;"
        return [f"{kind}{v} = NULL;"], [get] + ([f"options.{param.field} = {v};"] if param.field else []), []
    declare, convert, end = CONVERSIONS[param.kind]
    fill = {"v": v, "g": g, "d": default_value(param)}
    if param.kind == "NUMBER" and not fill["d"]:
        declare = "dt_number {v};\n    memset(&{v}, 0, sizeof {v});"
    body = [f"if ({g} && !{convert.format(**fill)})\n        goto end;"]
    if sets:
        body.append(f"if ({g}) {{\n        " + "\n        ".join(sets) + "\n    }")
    return [declare.format(**fill)], body, [end.format(**fill)] if end else []


def argument(param):
    v = variable(param)
    if param.kind == "INTS":
        kind = {"dt_shape": "dt_shape", "dt_dims": "dt_dims", "dt_ints": "dt_ints"}.get(param.c_type)
        if kind == "dt_shape":
            return f"(dt_shape){{(int){v}.n, {v}.list}}"
        return f"({kind}){{.n = (int){v}.n, .list = {v}.list}}" if kind else f"{v}.list"
    if param.kind == "REALS":
        return f"(dt_reals){{.n = (int){v}.n, .list = {v}.list}}"
    if param.kind in ("TENSORS", "OPTIONAL_TENSORS"):
        return f"(dt_tensors){{(int){v}.n, {v}.list}}" if param.c_type == "dt_tensors" else f"{v}.list"
    return f"({param.c_type}){v}" if param.kind == "INT" and param.c_type != "int64_t" or param.c_type == "dt_policy" else v


def arguments(signature):
    texts = []
    for one in signature.arguments:
        if isinstance(one, python_model.Param):
            texts.append(argument(one))
        elif "COUNT:" in one:
            kind, name = one.split("COUNT:")
            texts.append(f"{kind}a_{name}.n")
        else:
            texts.append("&options, sizeof options" if one == "OPTIONS" else f"a_{one}" if one in ("n",) else one)
    return texts


RUNS = {"none": "{call};\n    result = dtp_status(DT_OK);",
        "bool": "result = PyBool_FromLong({call});", "int": "result = PyLong_FromLongLong((long long){call});",
        "real": "result = PyFloat_FromDouble({call});"}


def run_lines(signature):
    """Runs the call and makes its result."""
    texts, returns = arguments(signature), signature.returns
    if signature.options and "OPTIONS" not in signature.arguments:
        texts.append("&options, sizeof options")
    if returns == "list":
        texts[-1:-1] = ["made", "capacity"]
    call = f"{signature.c_name}({', '.join(texts)})"
    begin = f"PyThreadState *thread = dtp_begin_long({'DTP_LONG' if signature.is_long else 'dtp_work(call)'});"
    end = "dtp_end_long(thread);"
    if returns == "tensor":
        give = "dtp_give_borrowed(made)" if signature.kept else "dtp_give(made, call)"
        checks = "if (!made && dt_failed(dtp_ctx))\n        dtp_raise();\n    else\n        " if signature.kept else ""
        return [begin, f"dt_tensor *made = {call};", end, f"{checks}result = {give};"]
    if returns == "tuple":
        names = signature.result_names
        return [begin, f"{signature.result_type} made = {call};", end,
                f"dt_tensor *outputs[] = {{{', '.join('made.' + name for name in names)}}};",
                f"result = dtp_give_tuple({signature.result_type}_class, outputs, {len(names)}, call);"]
    if returns == "list":
        return ["int capacity = 0;", "dt_tensor **made = new_output_list(call, &capacity);", "if (!made)\n        goto end;",
                begin, f"int n_made = {call};", end, "result = dtp_give_list(made, n_made, call);", "PyMem_Free(made);"]
    if returns == "text":
        return [f"const char *text = {call};",
                "result = text ? PyUnicode_FromString(text) : dt_failed(dtp_ctx) ? dtp_raise() : Py_NewRef(Py_None);"]
    if returns == "freed_text":
        return [f"char *text = {call};", "result = text ? PyUnicode_FromString(text) : dtp_raise();", "free(text);"]
    if returns == "status":
        return [begin, f"dt_status status = {call};", end, "result = dtp_status(status);"]
    if returns in RUNS:
        after = ["if (result && dt_failed(dtp_ctx)) {\n        Py_CLEAR(result);\n        dtp_raise();\n    }"] \
            if returns in ("bool", "int", "real") and "NULL" in signature.arguments else []
        return [RUNS[returns].format(call=call)] + after
    handle = returns
    retain = {"MESH": "dt_mesh_retain", "GROUP": "dt_group_retain"}.get(handle)
    value = f"{retain}({call})" if signature.kept and retain else call
    if signature.is_long:
        return [begin, f"void *made = {value};", end, f"result = dtp_give_handle(made, DTP_{handle}, false);"]
    return [f"result = dtp_give_handle({value}, DTP_{handle}, {'true' if signature.kept and not retain else 'false'});"]


def run_function(name, signature):
    declarations, statements, ends = ["PyObject *result = NULL;"], [], []
    if any(one == "dtp_ctx" for one in signature.arguments):
        declarations.append("if (!dtp_context())\n        return NULL;")
    if signature.options:
        declarations.append(f"{signature.options} options;\n    memset(&options, 0, sizeof options);")
    for i, param in enumerate(signature.params):
        if not param.passed:
            continue
        more, body, end = converted(param, i)
        declarations, statements, ends = declarations + more, statements + body, ends + end
    if signature.infers:
        numbers = [variable(p) for p in signature.params if p.kind == "NUMBER"]
        statements.append(f"if (!options.dtype)\n        options.dtype = "
                          f"dtp_dtype_of_numbers({len(numbers)}, (dt_number[]){{{', '.join(numbers)}}});")
    lines = declarations + statements + run_lines(signature)
    if any("goto end" in line for line in lines):
        lines.append("end:")
    lines += ends + ["return result;"]
    if "call" not in " ".join(lines).replace("dtp_call", ""):
        lines.insert(0, "(void)call;")
    body = "\n".join(("" if line == "end:" else "    ") + line for line in lines)
    # C has no declaration directly after a label, nor a jump into the scope of one that matters: declarations come first
    return f"static PyObject *{name}(dtp_call *call) {{\n{body}\n}}\n"


def param_row(param):
    flags = [f"DTP_{flag}" for flag, is_set in (("OPTIONAL", param.optional), ("KEYWORD", param.keyword),
             ("SPREAD", param.spread)) if is_set]
    handle = f"DTP_{param.handle}" if param.handle else "0"
    return f'{{"{param.name}", DTP_{param.kind}, {" | ".join(flags) or "0"}, {handle}, NULL}}'


def definitions(functions, prefix):
    texts, rows = [], []
    for function in functions:
        signatures = []
        for i, signature in enumerate(function.signatures):
            name = f"{prefix}_{function.name}_{i}"
            texts.append(run_function(f"run_{name}", signature))
            rows_of = ", ".join(param_row(param) for param in signature.params) or '{"", 0, 0, 0, NULL}'
            texts.append(f"static dtp_param params_{name}[] = {{{rows_of}}};\n")
            signatures.append(f"{{run_{name}, params_{name}, {len(signature.params)}}}")
        texts.append(f"static const dtp_signature signatures_{prefix}_{function.name}[] = {{{', '.join(signatures)}}};\n")
        rows.append(f'    {{"{function.name}", signatures_{prefix}_{function.name}, {len(signatures)}}},\n')
    table = f"const dtp_function dtp_{prefix}s[] = {{\n{''.join(rows)}}};\nconst int dtp_n_{prefix}s = {len(rows)};\n"
    return "".join(texts) + table


def results(functions):
    """A named tuple for each struct of results."""
    texts, makes = [], []
    for function in functions:
        for signature in function.signatures:
            name = signature.result_type
            if not name:
                continue
            fields = ", ".join(f"{{{quoted(field)}, NULL}}" for field in signature.result_names)
            texts.append(f"static PyTypeObject *{name}_class;\n"
                         f"static PyStructSequence_Field {name}_fields[] = {{{fields}, {{NULL, NULL}}}};\n"
                         f'static PyStructSequence_Desc {name}_desc = {{"dtensor.return_types.{function.name}", NULL, '
                         f"{name}_fields, {len(signature.result_names)}}};\n")
            makes.append(f"({name}_class = PyStructSequence_NewType(&{name}_desc))")
    return "".join(texts), ("bool dtp_make_results(PyObject *module) {\n    (void)module;\n    return "
                            + " &&\n           ".join(makes or ["true"]) + ";\n}\n")


OUTPUT_LIST = '''/* Memory for the outputs of an op that returns a list: as many as a dim has indices, or as a list or a number of the
 * arguments states. */
static dt_tensor **new_output_list(const dtp_call *call, int *capacity) {
    int64_t n = 16;
    for (int i = 0; i < call->signature->n; i++) {
        PyObject *object = call->given[i];
        int64_t value = 0;
        if (object && dtp_is_tensor(object))
            for (int dim = 0; dim < dt_tensor_n_dims(dtp_handle_of(object)); dim++)
                n += dt_tensor_size(dtp_handle_of(object), dim);
        else if (object && PyLong_Check(object) && dtp_to_int(object, &value))
            n += value > 0 && value < 1 << 20 ? value : 0;
        else if (object && PySequence_Check(object))
            n += PySequence_Size(object);
        PyErr_Clear();
    }
    *capacity = n < 1 << 24 ? (int)n : 1 << 24;
    dt_tensor **list = PyMem_Calloc((size_t)*capacity, sizeof(dt_tensor *));
    return list ? list : ((void)PyErr_NoMemory(), NULL);
}

'''


def has_method(function):
    return function.is_method() and not function.is_property() and function.name not in python_model.OWN_METHODS


def entry(function, i, prefix):
    """The functions of CPython for a row of the table."""
    name, text = f"{prefix}_{function.name}", ""
    if function.is_function():
        text = (f"static PyObject *call_{name}(PyObject *module, PyObject *const *args, Py_ssize_t n, PyObject *names) {{\n"
                f"    (void)module;\n    return dtp_invoke(&dtp_{prefix}s[{i}], NULL, args, n, names);\n}}\n")
    if prefix == "op" and has_method(function):
        text += (f"static PyObject *method_{name}(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {{\n"
                 f"    return dtp_invoke(&dtp_ops[{i}], self, args, n, names);\n}}\n")
    if prefix == "op" and function.is_property():
        text += (f"static PyObject *get_{name}(PyObject *self, void *unused) {{\n"
                 f"    (void)unused;\n    return dtp_invoke(&dtp_ops[{i}], self, NULL, 0, NULL);\n}}\n")
    return text


def method_row(function, name, doc):
    return (f'    {{"{function.name}", (PyCFunction)(void (*)(void)){name}, METH_FASTCALL | METH_KEYWORDS,\n'
            f"     {quoted(doc)}}},\n")


END_ROW = "    {NULL, NULL, 0, NULL},\n"


def tables(ops, calls):
    docs = {f.name: python_stubs.docstring(f) for f in ops}
    functions = "".join(method_row(f, f"call_op_{f.name}", docs[f.name]) for f in ops if f.is_function())
    methods = "".join(method_row(f, f"method_op_{f.name}", docs[f.name]) for f in ops
                      if has_method(f))
    properties = "".join(f'    {{"{f.name}", get_op_{f.name}, NULL, {quoted(f.summary)}, NULL}},\n' for f in ops if f.is_property())
    plain = "".join(method_row(f, f"call_call_{f.name}", python_stubs.docstring(f)) for f in calls)
    return (f"PyMethodDef dtp_op_functions[] = {{\n{functions}{END_ROW}}};\nPyMethodDef dtp_op_methods[] = {{\n{methods}{END_ROW}}};\n"
            f"PyMethodDef dtp_call_functions[] = {{\n{plain}{END_ROW}}};\n"
            f"PyGetSetDef dtp_op_properties[] = {{\n{properties}    {{NULL, NULL, NULL, NULL, NULL}},\n}};\n")


def source(ops, calls):
    declared, made = results(ops)
    entries = "".join(entry(f, i, "op") for i, f in enumerate(ops) if f.is_function() or f.is_method() or f.is_property())
    entries += "".join(entry(f, i, "call") for i, f in enumerate(calls))
    return HEAD + OUTPUT_LIST + declared + definitions(ops, "op") + definitions(calls, "call") + made + entries + tables(ops, calls)


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    schemas, folder = pathlib.Path(sys.argv[1]).read_text().splitlines(), pathlib.Path(sys.argv[2])
    ops, calls = python_model.read_ops(schemas), python_model.read_calls()
    write(folder / "generated.c", source(ops, calls))
    write(folder / "_dtensor.pyi", python_stubs.stubs(ops, calls))
    return 0


if __name__ == "__main__":
    sys.exit(main())
