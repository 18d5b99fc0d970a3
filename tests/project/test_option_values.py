# SPDX-License-Identifier: Apache-2.0
"""A plain number for an option with a type of its own, `.dim = 1`, does not compile.

In C the value is written DT_INT(1) or DT_DIMS(1); a plain number is an error in gcc and clang, with warnings and without any, also where the
headers are those of the system. In C++ a number is a value, and no list of dims. Correct calls compile without a message wherever C
allows an expression.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

INCLUDE = str(pathlib.Path(os.environ["DTENSOR_SOURCE"]) / "include")
HEAD = "#include <dtensor/dtensor.h>\n"
FLAGS = (["-w"], ["-Wno-missing-braces", "-O2"], ["-Wall"], ["-Wall", "-Wextra", "-pedantic", "-Wshadow"])

WRONG = """
dt_argmax(x, .dim = 0)
dt_argmax(x, .dim = 1)
dt_argmax(x, .dim = d)
dt_argmax(x, 1)
dt_sum(x, .dim = 0)
dt_sum(x, .dim = 1)
dt_sum(x, .keepdim = true, .dim = d)
dt_sum(x, .dim = 1, .keepdim = true)
dt_sum(x, .dim = 1, .dtype = DT_F64)
dt_linalg_vector_norm(x, .ord = 2, .dim = DT_DIMS(1))
dt_linalg_vector_norm(x, .dim = 1, .ord = DT_NUMBER(2))
dt_rms_norm(x, DT_SHAPE(3), .eps = 0.5)
dt_rms_norm(x, DT_SHAPE(3), .eps = 0)
dt_add(x, x, .alpha = 2)
dt_add(dt_sum(dt_argmax(x, .dim = 0)), x, .alpha = DT_NUMBER(2))
dt_topk(x, 3, .largest = false).values
dt_cat(DT_TENSORS(x, x), .dim = 1)
dt_tril(x, .diagonal = 1)
dt_roll(x, 1, .dims = DT_DIMS(0))
dt_roll(x, DT_SHAPE(1), .dims = DT_DIMS(0))
dt_permute(x, DT_SHAPE(1, 0))
dt_view(x, DT_DIMS(1, 0))
dt_from_local(ctx, x, NULL, "R", .shape = 3)
dt_format(x, .precision = 2)
dt_randn(ctx, DT_SHAPE(3), .std = 0.02)
dt_randn(ctx, DT_SHAPE(3), .mean = 0.5)
dt_randn(ctx, DT_SHAPE(3), .place = "R", .std = 0.02, .dtype = DT_F64)
dt_distribute_tensor(x, NULL, "R", .source = 0)
dt_adamw_new(ctx, 1e-3, .weight_decay = 0.1)
dt_clip_grad_norm(DT_TENSORS(x), 1.0, .norm_type = 3) ? x : NULL
"""
RIGHT = """
dt_tensor *f(dt_ctx *ctx, dt_tensor *x, int64_t d) {
    if (dt_sum(x, .dim = DT_DIMS(d)) && dt_argmax(x, .dim = DT_INT(d)))
        dt_sum(dt_add(x, dt_add(dt_argmax(x, DT_INT(0)), x, .alpha = DT_NUMBER(0.5))), DT_DIMS(0, 1), .keepdim = true);
    for (dt_tensor *a = dt_sum(x), *b = dt_sum(a, .dim = DT_DIMS()); dt_sum(b, .keepdim = true); b = dt_sum(b))
        dt_sum(b);
    dt_tensor *list[] = {dt_randn(ctx, DT_SHAPE(3), .mean = DT_REAL(1), .std = DT_REAL(0)), dt_sum(dt_sum(x, .dim = DT_DIMS(1)))};
    int64_t dims[] = {0, 1};
    dt_dims some = {.n = 2, .list = dims};
    dt_tensor *sums = dt_sum(x, .dim = some);
    sums = dt_sum(x, .dim = ((dt_dims){.n = 2, .list = dims}), .dtype = DT_F64);
    sums = dt_roll(dt_cat(DT_TENSORS(sums, x), .dim = DT_INT(1)), DT_INTS(1, -2), .dims = DT_DIMS(0, 1));
    int table[2][2] = {{1, 2}, {3, 4}};
    return table[0][0] ? dt_sum(list[0]) : (dt_sum(list[1]), dt_topk(sums, 1, .largest = DT_FALSE).values);
}
"""
CPP_CALLS = {
    "static_assert(dt_argmax_options{.dim = 1}.dim.given && dt_argmax_options{.dim = 1}.dim.value == 1, \"\");": None,
    "static_assert(dt_argmax_options{.dim = 0}.dim.given && !dt_argmax_options{}.dim.given, \"\");": None,
    "static_assert(dt_argmax_options{.dim = {true, 3}}.dim.value == 3, \"\");": None,
    "static_assert(dt_rms_norm_options{.eps = 0.5}.eps.value == 0.5, \"\");": None,
    "const int64_t first[] = {0};\nstatic_assert(dt_sum_options{.dim = {1, first}}.dim.n == 1, \"\");": None,
    "dt_sum_options o{.dim = 1};": "dt_dims",
    "dt_add_options o{.alpha = 2};": "dt_",
}


def compile_text(command, text, folder):
    file = pathlib.Path(folder) / "call"
    file.write_text(HEAD + text + "\n")
    return subprocess.run([*command, INCLUDE, "-fsyntax-only", str(file)], capture_output=True, text=True, check=False)


def lines_with_errors(output):
    """The lines of the program that an error or the notes that follow it name."""
    found = set()
    for message in re.split(r"(?m)^(?=\S+: (?:error|warning): )", output):
        if re.match(r"\S+: error: ", message):
            found |= {int(line) for line in re.findall(r"call:(\d+):\d+: ", message)}
    return found


def check_c(command, folder):
    wrong = []
    calls = WRONG.strip().splitlines()
    text = "".join(f"void *f{i}(dt_ctx *ctx, dt_tensor *x, int64_t d) {{ (void)ctx, (void)x, (void)d; return {call}; }}\n"
                   for i, call in enumerate(calls))
    done = compile_text(command, text, folder)
    errors = lines_with_errors(done.stderr)
    wrong += [f"{' '.join(command)}: expected an error: {call}" for i, call in enumerate(calls) if i + 2 not in errors]
    done = compile_text(command, RIGHT, folder)
    if done.returncode or done.stderr:
        wrong.append(f"{' '.join(command)}: expected no message:\n{done.stderr}")
    return wrong


def check_cpp(command, folder):
    wrong = []
    for text, named in CPP_CALLS.items():
        done = compile_text(command, text, folder)
        if bool(done.returncode) != bool(named) or (named or "") not in done.stderr:
            wrong.append(f"{' '.join(command)}: expected {'an error with ' + named if named else 'no message'}: {text}\n{done.stderr}")
    return wrong


def main():
    wrong, n = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for compiler in filter(shutil.which, ("gcc", "clang")):
            limit = ["-ferror-limit=0"] if compiler == "clang" else []
            for headers in ("-I", "-isystem"):
                for flags in FLAGS:
                    wrong += check_c([compiler, "-x", "c", "-std=c11", *limit, *flags, headers], folder)
                    n += 1
                wrong += check_cpp([compiler, "-x", "c++", "-std=c++20", headers], folder)
    assert n >= 8, f"only {n} programs were compiled"
    return wrong


if __name__ == "__main__":
    found = main()
    print("\n".join(found))
    sys.exit(bool(found))
