# SPDX-License-Identifier: Apache-2.0
"""Every public function that takes the site of its caller has a case in tests/dispatch/test_error_sites.c, which makes it fail and
checks that its error has the call and the line; and every function of the public headers that can fail takes a site. A
C++ program, compiled by each installed compiler, gets the lines of its own calls."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import headers
import tree

BUILD = pathlib.Path(os.environ["DTENSOR_BUILD"])
CASES = "tests/dispatch/test_error_sites.c"

WITHOUT_CASE = {
    "close": "its errors are printed, not stored",
    "error_clear": "fails only if a peer has died: tests/comm/test_faults.c",
}

# Functions that return a status and take no site.
RECORDS_NOTHING = {
    "dt_op_add_output": "is called by a shape function",
    "dt_op_broadcast": "is called by a shape function",
    "dt_op_elementwise": "is called by a kernel",
    "dt_op_refuse": "is called by a shape function or a kernel",
    "dt_op_verdict": "is called by a kernel",
    "dt_op_draw": "is called by a kernel",
    "dt_op_elementwise": "is called by a kernel",
    "dt_generator_seed": "takes any seed",
}

CPP = r"""
#include <dtensor/dtensor.hpp>
#include <cstdio>
#include <cstring>
static int wrong;
static void expect(dt_ctx *ctx, const char *call, int line) {
    char where[64];
    std::snprintf(where, sizeof where, "program.cpp:%d)", line);
    const char *text = dt_error_text(ctx);
    if (std::strncmp(text, call, std::strlen(call)) || !std::strstr(text, where))
        wrong++, std::printf("expected '%s ... %s', got '%s'\n", call, where, text);
    dt_error_clear(ctx);
}
int main() {
    dt::context ctx;
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2, 3));
    dt_mesh_new(ctx, "dp="), expect(ctx, "mesh_new: ", __LINE__);
    dt_mesh_from_shape(ctx, nullptr, 0, nullptr), expect(ctx, "mesh_from_shape: ", __LINE__);
    dt_zeros(ctx, DT_SHAPE(2, 3), dt::place = "S(0)"), expect(ctx, "zeros: ", __LINE__);
    dt_matmul(x, x), expect(ctx, "matmul: ", __LINE__);
    dt_item(x), expect(ctx, "item: ", __LINE__);
    dt_call(ctx, "nothing", x), expect(ctx, "nothing: ", __LINE__);
    dt_explain(ctx, "nothing", x), expect(ctx, "explain: ", __LINE__);
    dt_error_set(ctx, DT_ERR_VALUE, "loss is %d", 3), expect(ctx, "loss is 3 ", __LINE__);
    dt_site site{"program.cpp", 7};
    dt_item(x, site), expect(ctx, "item: ", 7);
    return ctx.close() || wrong;
}
"""


# Functions of ops, called without memory.
OPS = r"""
#include <dtensor/dtensor.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int wrong;
static bool without_memory;
static void *resize(void *user, void *old, size_t old_size, size_t new_size) {
    (void)user;
    if (new_size == 0)
        return free(old), NULL;
    return without_memory && new_size > old_size ? NULL : realloc(old, new_size);
}
static bool permit(void *user, size_t bytes) { return (void)user, !without_memory || bytes == 0; }
static void expect(dt_ctx *ctx, const char *call, int line) { /* the error has the op's name, with which the function's begins */
    char where[64];
    snprintf(where, sizeof where, "ops.c:%%d)", line);
    const char *text = dt_error_text(ctx) + (dt_error_text(ctx)[0] == '_'); /* which functions' names leave out */
    size_t n = strcspn(text, ": ,");
    without_memory = false;
    if (!dt_failed(ctx) || n == 0 || strncmp(text, call, n) || !strstr(text, where))
        wrong++, printf("expected '%%s: ... %%s', got '%%s'\n", call, where, text);
    dt_error_clear(ctx);
    without_memory = true;
}
int main(void) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .allocator = {resize, NULL, permit}});
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 6));
    without_memory = true;
%s    without_memory = false;
    return dt_close(ctx) || wrong;
}
"""
ARGUMENTS = {"dt_tensor *": "x", "dt_tensors ": "DT_TENSORS(x)", "int64_t ": "0", "double ": "0", "bool ": "false", "dt_dtype ": "DT_F32", "const char *": '""'}


def functions(text):
    """(name, parameters) of each exported function."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.findall(r"DT_API[^;(]*?\b(dt_\w+)\(([^;]*)\)", text)


def short(name):
    return re.sub("_(site|sized)$", "", name)[len("dt_"):]


def check_cases(wrong):
    cases = set(re.findall(r"(?:FAILS|FAILS_WITHOUT_MEMORY|MISMATCH)(?:_AS|_ONCE)?\((\w+),", (tree.ROOT / CASES).read_text()))
    sited = set()
    for header in headers.public_headers():
        for name, parameters in functions((tree.ROOT / header).read_text()):
            if re.search(r"DT_CALLER|DT_OPTIONS|dt_site \*site", parameters):
                sited.add(short(name))
    if "explain_tensors" in sited:  # which the macro dt_explain calls
        sited = sited - {"explain_tensors"} | {"explain"}
    called = {name for name, _ in op_calls()}
    wrong += [f"dt_{name} has no case in {CASES}" for name in sorted(sited - cases - called - set(WITHOUT_CASE))]
    wrong += [f"{CASES} has a case for {name}, which takes no site" for name in sorted(cases - sited - {"function"})]
    wrong += [f"dt_{name} is listed as without a case and has one" for name in sorted(cases & set(WITHOUT_CASE))]
    if len(sited) < 150:
        wrong.append(f"only {len(sited)} functions with a site were found")


def op_calls():
    """(name, call) of each function of an op that takes a tensor, or a list of them, first."""
    for name, parameters in functions((tree.ROOT / "include/dtensor/ops.h").read_text()):
        types = [re.sub(r"\w+$", "", " ".join(text.split())) for text in parameters.split(",")]
        types = [text for text in types[:-1] if not text.strip().startswith("DT_")]
        if name.endswith("_sized") and {"dt_tensor *", "dt_tensors "} & set(types):
            call = short(name)
            macro = "dt_" + re.sub("_in_place$", "_", call)
            yield call, f"{macro}({', '.join(ARGUMENTS.get(text, f'({text.strip()}){{0}}') for text in types)})"


def check_ops(wrong):
    lines = "".join(f'    {call}, expect(ctx, "{re.sub("_in_place$", "_", name)}", __LINE__);\n' for name, call in op_calls())
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "ops.c", pathlib.Path(folder) / "ops"
        source.write_text(OPS % lines)
        command = [os.environ.get("CC", "cc"), "-std=c11", "-O0", f"-I{tree.ROOT}/include", source, "-o", program, f"-L{BUILD}/lib", "-ldtensor",
                   f"-Wl,-rpath,{BUILD}/lib"]
        for step in (command, [program]):
            result = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
            if result.returncode:
                wrong.append(result.stdout)
                break


def check_signatures(wrong):
    """A function that returns a status can fail."""
    for header in headers.public_headers():
        text = re.sub(r"/\*.*?\*/", "", (tree.ROOT / header).read_text(), flags=re.S)
        for name, parameters in re.findall(r"DT_API dt_status (dt_\w+)\(([^;]*)\)", text):
            if "dt_error_status" != name and not re.search(r"DT_CALLER|DT_OPTIONS|dt_site", parameters) and name not in RECORDS_NOTHING:
                wrong.append(f"{header}: {name} returns a status and takes no site")


def check_cpp(wrong):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "program.cpp"
        source.write_text(CPP)
        for compiler in filter(shutil.which, ("g++", "clang++", "clang++-14")):
            program = pathlib.Path(folder) / "program"
            command = [compiler, "-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{tree.ROOT}/include", source, "-o",
                       program, f"-L{BUILD}/lib", "-ldtensor", f"-Wl,-rpath,{BUILD}/lib"]
            for step in (command, [program]):
                result = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
                if result.returncode:
                    wrong.append(f"{compiler}: {result.stdout}")
                    break


def main():
    wrong = []
    check_cases(wrong)
    check_signatures(wrong)
    library = next(iter(sorted((BUILD / "lib").glob("libdtensor.so*"))), None)
    if library and b"__asan_init" not in library.read_bytes() and b"__tsan_init" not in library.read_bytes():
        check_cpp(wrong)
        check_ops(wrong)
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
