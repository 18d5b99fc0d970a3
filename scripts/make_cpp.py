#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes include/dtensor/calls.hpp, the functions of C++ that take options by name: those of the ops from their schema
lines (op_model.py), all others from the public headers.

    scripts/make_cpp.py           writes the file
    scripts/make_cpp.py --check   exits with 1 if it is out of date

Every function that is declared with DT_OPTIONS becomes a template of the plain name, and every field of its options
a name in the namespace dt. Every other function that takes its caller's site (DT_CALLER) becomes an inline function of
the plain name, whose last argument is the site by default.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import make_ops
import op_model

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = "include/dtensor/calls.hpp"

HEAD = """/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that take options or the site of their caller, for C++; dtensor.hpp includes this. Made by scripts/make_cpp.py from the public
 * headers, which have the contracts: change those. Collective or Local as in C.
 */
#ifndef DTENSOR_CALLS_HPP
#define DTENSOR_CALLS_HPP

#include <dtensor/dtensor.hpp>

namespace dt {

/* clang-format off */
#define DT_X_OPTION(name)                                                                                            \\
    struct name##_option : option_name<name##_option> {                                                              \\
        using option_name<name##_option>::operator=;                                                                 \\
        template <class Options> static auto &field(Options &options) { return options.name; }                       \\
    };                                                                                                               \\
    inline constexpr name##_option name{};
"""


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def read_ops(builds):
    """Fields by options struct, and (result, name, parameters, options) of each op's function."""
    structs, functions = {}, []
    for function in op_model.read_functions(builds):
        fields = [param.name for param in function.options()] + (["mesh", "place", "requires_grad"] if function.is_maker else [])
        if function.options_type() == function.base() + "_options":
            structs[function.options_type()] = fields
        taken = ", ".join(kind + name for kind, name in make_ops.arguments(function))
        functions.append((make_ops.result_type(function).strip(), function.base(), taken, function.options_type()))
    return structs, functions


def read_functions(builds):
    """Fields by options struct; (result, name, parameters, options) of each function that takes them; and (result,
    exported name, parameters) of each other one that takes a site."""
    structs, functions, sited = {}, [], []
    for header in sorted((ROOT / "include/dtensor").glob("*.h")):
        if header.name == "ops.h":
            more, of_ops = read_ops(builds)
            structs |= more
            functions += of_ops
            continue
        text = without_comments(header.read_text())
        for name, body in re.findall(r"typedef struct (dt_\w+_options) \{(.*?)\} \1;", text, re.S):
            fields = []
            body = re.sub(r"DT_OPTION\((.*?), (\w+)\)", r"\1 \2", body)
            for declaration in filter(None, (part.strip() for part in body.split(";"))):
                fields += [re.search(r"(\w+)$", part.strip())[1] for part in declaration.split(",")]
            structs[name] = [field for field in fields if field != "site"]
        found = re.findall(r"DT_API ([\w ]+?\*?)\s*(dt_\w+)_sized\(([^;]*?),\s*DT_OPTIONS\((\w+)\)\);", text)
        functions += [(result, name, " ".join(parameters.split()), options)
                      for result, name, parameters, options in found]
        found = re.findall(r"DT_API ([\w ]+?\*?)\s*(dt_\w+)\(([^;]*?),\s*DT_CALLER\);", text)
        sited += [(result, name, " ".join(parameters.split())) for result, name, parameters in found]
    return structs, functions, sited


def function(result, name, parameters, options):
    taken = [re.fullmatch(r"(.*?)(\w+)", parameter).groups() for parameter in parameters.split(", ")]
    (first_type, first), rest = taken[0], taken[1:]
    plain = name[:-len("_in_place")] + "_" if name.endswith("_in_place") else name
    types = {"dt_number ": "dt::number "}
    list_of = [f"dt::at<{first_type.strip()}> {first}"] + [f"{types.get(kind, kind)}{arg}" for kind, arg in rest]
    passed = ", ".join([first] + [arg for _, arg in rest])
    space = "" if result.endswith("*") else " "
    return (f"template <class... T> {result}{space}{plain}({', '.join(list_of)}, const T &...options) {{\n"
            f"    return {name}_sized({passed}, dt::named<{options}>({first}.site, options...).get(), "
            f"sizeof({options}));\n}}")


def sited_function(result, name, parameters):
    """The size of a struct, where the exported function takes it, is that of the parameter of this name."""
    taken = [re.fullmatch(r"(.*?)(\w+)", parameter).groups() for parameter in parameters.split(", ")]
    sizes = {arg: arg[:-len("_size")] for kind, arg in taken if kind == "size_t " and name.endswith("_sized")}
    passed = ", ".join(f"sizeof *{sizes[arg]}" if arg in sizes else arg for _, arg in taken)
    list_of = ", ".join(f"{kind}{arg}" for kind, arg in taken if arg not in sizes)
    space = "" if result.endswith("*") else " "
    return (f"inline {result}{space}{re.sub('_(site|sized)$', '', name)}({list_of}, dt_site site = dt::here()) {{\n"
            f"    return {name}({passed}, &site);\n}}")


def make(builds):
    structs, functions, sited = read_functions(builds)
    used = sorted({options for *_, options in functions})
    names = sorted({field for options in used for field in structs[options]})
    lines = [HEAD.rstrip("\n")]
    lines += [f"DT_X_OPTION({name})" for name in names]
    lines += ["#undef DT_X_OPTION", "/* clang-format on */", "", "/* Options in their order. */"]
    for options in used:
        members = ", ".join(f"&{options}::{field}" for field in structs[options])
        lines.append(f"template <> struct fields<{options}> {{ static constexpr auto list = std::make_tuple({members}); }};")
    lines += ["", "} // namespace dt", ""] + [function(*f) for f in functions]
    lines += [sited_function(*f) for f in sited] + ["", "#endif"]
    return "\n".join(lines) + "\n"


def formatted(text):
    tool = next((t for t in ("clang-format-14", "clang-format") if shutil.which(t)), None)
    if not tool:
        sys.exit("make_cpp.py: there is no clang-format-14")
    return subprocess.run([tool, f"--assume-filename={OUT}"], input=text, capture_output=True, text=True, cwd=ROOT,
                          check=True).stdout


def main():
    check = "--check" in sys.argv[1:]
    text, path = formatted(make(not check)), ROOT / OUT
    if not check:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        print(f"{OUT} is not what scripts/make_cpp.py makes: run it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
