# SPDX-License-Identifier: Apache-2.0
"""Every function of ops.h has a call in dtensor_ops(3) and in the answer of `dtensor ops NAME`, with all its options and the types of
arguments and results, and all of these calls compile."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

TOOL = pathlib.Path(os.environ["DTENSOR_BUILD"]) / "bin" / "dtensor"
HEAD = "#include <dtensor/dtensor.h>\n"


def functions():
    """The names of the macros of ops.h."""
    return set(re.findall(r"^#define (dt_\w+)\(\.\.\.\)", (tree.ROOT / "include/dtensor/ops.h").read_text(), re.M))


def fields():
    """The options of each function, by the struct that its macro names."""
    text = (tree.ROOT / "include/dtensor/ops.h").read_text() + (tree.ROOT / "include/dtensor/tensor.h").read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S).replace("\\\n", " ")
    structs = {name: {re.search(r"(\w+)\)?$", part.strip())[1] for part in body.split(";") if part.strip()} - {"site", "use"}
               for name, body in re.findall(r"typedef struct (dt_\w+_options) \{(.*?)\} \1;", text, re.S)}
    macros = re.findall(r"^#define (dt_\w+)\(\.\.\.\)\s+(\w+)\(", text, re.M)
    options = dict(re.findall(r"^#define (\w+_)\(.*?(?:DT_NAMED|DT_CHECKED)\((dt_\w+_options)", text, re.M))
    own = functions()
    return {name: structs[options[inner]] for name, inner in macros if name in own}


def page_calls():
    text = (tree.ROOT / "man/dtensor_ops.3").read_text()
    calls = re.findall(r"^\.It Li (dt_\w+)\n.*?^\.Bd -literal\n(.*?)^\.Ed$", text, re.M | re.S)
    return {name: lines.replace(r"\-", "-") for name, lines in calls}


def tool_calls():
    names = [op["name"] for op in json.loads(subprocess.run([TOOL, "ops", "--json"], check=True, capture_output=True, text=True).stdout)]

    def answer(name):
        return subprocess.run([TOOL, "ops", name], check=True, capture_output=True, text=True).stdout
    found = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for text in pool.map(answer, names):
            for block in text.split("\n\n"):
                call = re.search(r" \*?\w+ = (dt_\w+)\(", block) or re.search(r"\*result = (dt_\w+)\(", block)
                if call:
                    found[call[1]] = block.rstrip("\n") + "\n"
    return found


def compile_calls(compiler, calls, folder):
    file = pathlib.Path(folder) / "calls.c"
    file.write_text(HEAD + "".join(f"void f{i}(void);\nvoid f{i}(void) {{\n{text}}}\n" for i, text in enumerate(calls.values())))
    command = [compiler, "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Wno-unused-variable", "-Wno-uninitialized", "-Werror",
               f"-I{tree.ROOT}/include", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [f"{compiler}: {done.stderr[:4000]}"] if done.returncode or done.stderr else []


def main():
    page, tool, expected = page_calls(), tool_calls(), functions()
    wrong = [f"dtensor_ops(3) has no call of {name}" for name in sorted(expected - set(page))]
    wrong += [f"dtensor ops shows no call of {name}" for name in sorted(expected - set(tool))]
    wrong += [f"dtensor ops and dtensor_ops(3) show other calls of {name}:\n{page[name]}{tool[name]}"
              for name in sorted(set(page) & set(tool)) if page[name] != tool[name]]
    for name, options in fields().items():
        missing = [option for option in sorted(options) if not re.search(rf"\.{option} = ", page.get(name, ""))]
        wrong += [f"dtensor_ops(3): the call of {name} has no option {option}" for option in missing]
    with tempfile.TemporaryDirectory() as folder:
        for compiler in filter(shutil.which, ("gcc", "clang")):
            wrong += compile_calls(compiler, page, folder)
    if len(expected) < 400:
        wrong.append(f"only {len(expected)} functions: this test does not find what it checks")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
