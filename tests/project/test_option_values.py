# SPDX-License-Identifier: Apache-2.0
"""A plain number for an optional argument, `.dim = 1`, is never ignored in silence.

In C the value is written DT_INT(1) or DT_DIMS(1): a plain number is refused by clang, and gcc, which has no error for it, warns without
any option, also where the headers are those of the system. In C++ a number is a value, and no list of dims.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

INCLUDE = str(pathlib.Path(os.environ["DTENSOR_SOURCE"]) / "include")
HEAD = "#include <dtensor/dtensor.h>\n"

C_CALLS = {
    "dt_tensor *f(dt_tensor *x) { return dt_argmax(x, .dim = DT_INT(1)); }": None,
    "dt_tensor *f(dt_tensor *x) { return dt_sum(x, .dim = DT_DIMS(1)); }": None,
    "dt_tensor *f(dt_tensor *x) { return dt_argmax(x, .dim = 1); }": "write_DT_INT",
    "dt_tensor *f(dt_tensor *x) { return dt_argmax(x, .dim = 0); }": "write_DT_INT",
    "dt_tensor *f(dt_tensor *x, int64_t d) { return dt_argmax(x, .dim = d); }": "write_DT_INT",
    "dt_tensor *f(dt_tensor *x) { return dt_sum(x, .dim = 1); }": "write_DT_DIMS",
    "dt_tensor *f(dt_tensor *x) { return dt_rms_norm(x, DT_SHAPE(3), .eps = 0.5); }": "write_DT_REAL",
    "dt_tensor *f(dt_tensor *x) { return dt_add(x, x, .alpha = 2); }": "write_DT_NUMBER",
}
CPP_CALLS = {
    "static_assert(dt_argmax_options{.dim = 1}.dim.given && dt_argmax_options{.dim = 1}.dim.value == 1, \"\");": None,
    "static_assert(dt_argmax_options{.dim = 0}.dim.given && !dt_argmax_options{}.dim.given, \"\");": None,
    "static_assert(dt_argmax_options{.dim = {true, 3}}.dim.value == 3, \"\");": None,
    "static_assert(dt_rms_norm_options{.eps = 0.5}.eps.value == 0.5, \"\");": None,
    "const int64_t first[] = {0};\nstatic_assert(dt_sum_options{.dim = {1, first}}.dim.n == 1, \"\");": None,
    "dt_sum_options o{.dim = 1};": "dt_dims",
    "dt_add_options o{.alpha = 2};": "dt_",
}


def compile_text(compiler, language, headers, text, folder):
    file = pathlib.Path(folder) / "call"
    file.write_text(HEAD + text + "\n")
    return subprocess.run([compiler, "-x", *language, "-fsyntax-only", headers, INCLUDE, str(file)],
                          capture_output=True, text=True, check=False)


def complaint(compiler, language, headers, text, named, folder):
    """Why the compiler's answer is not the expected one; "" if it is."""
    done = compile_text(compiler, language, headers, text, folder)
    where = f"{compiler} {headers} {language}: {text}\n{done.stderr}"
    if not named:
        return "" if done.returncode == 0 and not done.stderr else f"expected no message: {where}"
    if named not in done.stderr:
        return f"expected a message with {named}: {where}"
    must_refuse = compiler == "clang" or language[0] == "c++"
    return f"expected an error: {where}" if must_refuse and done.returncode == 0 else ""


def main():
    wrong, n = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for compiler in filter(shutil.which, ("gcc", "clang")):
            for headers in ("-I", "-isystem"):
                for language, calls in ((["c", "-std=c11"], C_CALLS), (["c++", "-std=c++20"], CPP_CALLS)):
                    for text, named in calls.items():
                        n += 1
                        wrong.append(complaint(compiler, language, headers, text, named, folder))
    assert n >= 30, f"only {n} calls were compiled"
    return list(filter(None, wrong))


if __name__ == "__main__":
    found = main()
    print("\n".join(found))
    sys.exit(bool(found))
