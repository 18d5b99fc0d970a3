# SPDX-License-Identifier: Apache-2.0
"""Programs that were compiled with an older or a newer version of the headers run with this library.

Both versions are derived from the current headers: in the older one extensible structs do not have their last field, in the newer one
they have one more. A field that this library does not have is an error only if the program sets it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

BUILD = pathlib.Path(os.environ["DTENSOR_BUILD"])
GROWS = r"dt_\w+_options|dt_\w+_statistics|dt_spec_desc|dt_comm_call|dt_comm_filter|dt_local_mapping|dt_local|dt_op"
STRUCT = re.compile(r"((?:typedef )?struct (" + GROWS + r") \{\n)(.*?)(\n\}(?: \2)?;)", re.S)


def shorten(match):
    body = re.sub(r"/\*.*?\*/", "", match[3], flags=re.S)
    fields = [field for field in body.split(";") if field.strip()]
    return match[1] + "".join(field + ";" for field in fields[:-1]) + match[4]


def lengthen(match):
    field = "DT_OPTION(int64_t, appended)" if "DT_OPTION(" in match[3] else "int64_t appended"
    return f"{match[1]}{match[3]}\n    {field};{match[4]}"


def headers(folder, change):
    """A copy of the public headers; the number of structs that were changed."""
    shutil.copytree(tree.ROOT / "include", folder)
    n = 0
    for path in folder.glob("dtensor/*.h"):
        text, changed = STRUCT.subn(change, path.read_text())
        if change is shorten:  # the last field of many is the site of the call, which their macros set
            text = text.replace("(__VA_ARGS__, .site = DT_SITE)", "(__VA_ARGS__)")
        path.write_text(text)
        n += changed
    return n


def compile_and_run(include, *flags):
    program = include.parent / "program"
    source = tree.ROOT / "tests/project/compatibility/program.c"
    command = ["cc", "-std=gnu11", "-Wall", "-Werror", *flags, f"-I{include}", source, "-o", program, f"-L{BUILD}/lib",
               "-ldtensor", f"-Wl,-rpath,{BUILD}/lib"]
    for step in (command, [program]):
        result = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        if result.returncode:
            return result.stdout or f"exit code {result.returncode}"
    return ""


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for name, change, flags in (("current", lambda match: match[0], []), ("older", shorten, []),
                                    ("newer", lengthen, []), ("newer, set", lengthen, ["-DSET_APPENDED"])):
            include = pathlib.Path(folder) / name.replace(", ", "_").replace("'", "") / "include"
            n = headers(include, change)
            if n < 70:
                wrong.append(f"{name}: only {n} structs were found")
            if output := compile_and_run(include, *flags):
                wrong.append(f"a program compiled with {name} headers fails:\n{output}")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
