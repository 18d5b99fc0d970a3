# SPDX-License-Identifier: Apache-2.0
"""Every block of code and every command of the public headers, README, docs, man pages and heads of examples is run.

C and C++ compile without a warning under -Wall -Wextra -pedantic:

- A program (a block with main, or several that together have balanced braces) is saved under the name that the
  document compiles, "cc first.c …", which it must, and the document's commands run it.
- Any other C is a fragment. Definitions of a document are compiled at file level; its statements follow each other in
  one function, after PRELUDE, and are run on as many ranks as their largest mesh has: no call may fail. Only unused
  variables are allowed.
- A quotation ("c src/plan/plan.h" after the fence) has lines of that file, in their order; "…" stands for others.

Commands run in one shell per document, in a folder of its own, with the build's commands in PATH. Lines after "$ " are
followed by their output, standard error included; a line "..." stands for any number of lines; the ranks of dtrun
print in any order. A command must succeed, unless "$ echo $?" follows. NOT_RUN lists commands that are not run, with reasons.
JSON is a request to `dtensor query`, or the reply to the one before, with "..." for omissions. Blocks of text must not look
like any of these.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import documents
import tree

BUILD = pathlib.Path(os.environ["DTENSOR_BUILD"])
WARNINGS = "-Wall -Wextra -pedantic -Werror"

# Variables for fragments: a mesh of two dims, a product without communication, and the parameters of two layers.
PRELUDE = """
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(0),R");
    dt_tensor *w = dt_randn(ctx, DT_SHAPE(4, 6), .mesh = mesh, .place = "R,S(1)");
    dt_tensor *b = dt_zeros(ctx, DT_SHAPE(6), .mesh = mesh, .place = "R,S(0)");
    dt_tensor *w1 = dt_randn(ctx, DT_SHAPE(16, 4), .mesh = mesh, .place = "R,S(0)");
    dt_tensor *b1 = dt_zeros(ctx, DT_SHAPE(16), .mesh = mesh, .place = "R,S(0)");
    dt_tensor *w2 = dt_randn(ctx, DT_SHAPE(6, 16), .mesh = mesh, .place = "R,S(1)");
    dt_tensor *b2 = dt_zeros(ctx, DT_SHAPE(6), .mesh = mesh, .place = "R,R");
    (void)x, (void)w, (void)b, (void)w1, (void)b1, (void)w2, (void)b2;
"""

# Documents whose fragments use definitions of another one.
CONTINUES = {"include/dtensor/verify.h": "include/dtensor/op.h"}

# Documents whose blocks another test checks: each call of this page declares its own arguments (test_op_calls.py).
CHECKED_ELSEWHERE = {"man/dtensor_ops.3"}

# Programs that a document runs and does not show: their sources, or the document that shows them.
OTHER_PROGRAMS = {"man/dtrun.1": {"first": "README.md", "train": "tests/project/train.c"}}

# Commands that are not run, with the reason. Targets of make must exist; of ctest the tests are listed.
NOT_RUN = [
    (r"make\b", "builds, tests or installs the tree"),
    (r"ctest\b", "runs other tests"),
    (r"git\b", "needs a repository"),
    (r"pip\b", "builds and installs the tree"),
    (r"PYTHONPATH=build/python\b", "runs a program of the reader"),
    (r"kill\b", "signals a process of a launch that waits; tests/dtrun/test_activity.py does"),
    (r"gdb\b", "attaches to a process"),
    (r"(dtrun -n \d+ )?(\./\d\d_\w+|tour\b|\./gpt\b)", "a program of the course; tests/tools/test_examples.py runs it"),
    (r"python3 -c 'import numpy", "needs NumPy; tests/tools/test_examples.py compares with it"),
    (r"dtrun -n \d+ build/examples/16_huggingface\b", "needs a file that NumPy writes; tests/tools/test_huggingface.py runs the program"),
    (r"cmake --(preset|build)\b", "builds the tree"),
    (r"scripts/(make_|file_table|docs)", "writes into the tree"),
    (r"(DTENSOR_\w+=\S+ )*(dtrun -n \d+ |dtensor estimate .*-- )?\./gpt\b", "the model of the course; tests/tools/test_estimate.py estimates it"),
    (r"dtensor machine machine\.txt", "needs what dtensor calibrate wrote"),
    (r"dtensor (calibrate\b|.*--machine machine\.txt)", "measures, for long on a busy machine, or needs what it wrote"),
]

LEVEL = re.compile(r"(static|struct|typedef|const dt_op|#include|enum)\b")


def braces(text):
    text = re.sub(r'"(\\.|[^"\\])*"|//.*', "", text)
    return text.count("{") - text.count("}")


def paragraphs(block):
    """The block, divided at empty lines outside of braces."""
    text, first = "", block.line
    for number, line in enumerate(block.text.splitlines() + [""], block.line):
        if line or braces(text):
            text += line + "\n"
        elif text:
            yield block._replace(text=text, line=first)
            text = ""
        if not text:
            first = number + 1


class Document:
    def __init__(self, name, text):
        self.name = name
        self.wrong = []
        self.programs, self.level, self.statements, self.shell, self.json = [], [], [], [], []
        open_program = None
        for block in documents.blocks_of(name, text):
            if block.quotes:
                self.check_quotation(block)
            elif block.kind in ("c", "cpp") and (open_program or re.search(r"\bint main\(", block.text)):
                open_program = (open_program or "") + block.text + "\n"
                if braces(open_program) == 0:
                    self.programs.append(open_program)
                    open_program = None
            elif block.kind == "c":
                for part in paragraphs(block):
                    (self.level if LEVEL.match(part.text.lstrip()) else self.statements).append(part)
            elif block.kind == "python":
                continue  # tests/python/test_documents.py runs it
            elif block.kind in ("sh", "json"):
                getattr(self, {"sh": "shell", "json": "json"}[block.kind]).append(block)
            elif block.kind != "text" or re.search(r"^\s*\$ |\bdt_\w+\(", block.text, re.M):
                self.fail(block.line, f"a block of {block.kind} with code or commands that is not checked")
        if open_program:
            self.fail(0, "the braces of its program are not balanced")

    def fail(self, line, problem):
        self.wrong.append(f"{self.name}:{line}: {problem}")

    def check_quotation(self, block):
        source = tree.ROOT / block.quotes
        if not source.is_file():
            return self.fail(block.line, f"quotes {block.quotes}, which does not exist")
        lines = iter(" ".join(line.rstrip("\\").split()) for line in source.read_text().splitlines())
        for line in block.text.splitlines():
            text = " ".join(line.rstrip("\\").split())
            if text not in ("", "…") and text not in lines:
                return self.fail(block.line, f"{block.quotes} does not have, or not at this position: {line.strip()}")

    def commands(self):
        """(line, command, output or None) of the shell blocks."""
        for block in self.shell:
            lines, at = block.text.rstrip("\n").split("\n"), 0
            session = lines[0].startswith("$ ")
            while at < len(lines):
                start, command = at, lines[at]
                while command.endswith("\\"):
                    at += 1
                    command = command[:-1] + lines[at].lstrip()
                at += 1
                output = []
                while session and at < len(lines) and not lines[at].startswith("$ "):
                    output.append(lines[at])
                    at += 1
                if command.strip() and not command.startswith("#"):
                    yield block.line + start, command[2:] if session else command, output if session else None


def run_command(command, folder, **more):
    result = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, timeout=600, **more)
    return result.returncode, result.stdout


def prepare(folder):
    """A home with an installation that is the build, and compilers that warn. Returns the environment of commands."""
    compilers = folder / "bin"
    compilers.mkdir()
    for name, standard in (("cc", "c11"), ("c++", "c++17")):
        (compilers / name).write_text(f'#!/bin/sh\nexec /usr/bin/{name} -std={standard} {WARNINGS} "$@"\n')
        (compilers / name).chmod(0o755)
    packages = folder / ".local/lib/pkgconfig"
    packages.mkdir(parents=True)
    (packages / "dtensor.pc").write_text(
        f"Name: dtensor\nDescription: the build\nVersion: 0\nCflags: -I{tree.ROOT}/include\n"
        f"Libs: -L{BUILD}/lib -ldtensor -Wl,-rpath,{BUILD}/lib\n")
    (folder / "build").symlink_to(BUILD)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DTENSOR_")}
    environment.update(HOME=str(folder), PKG_CONFIG_PATH=str(packages), NO_COLOR="1", COLUMNS="80", LC_ALL="C",
                       PATH=f"{compilers}:{BUILD}/bin:{os.environ['PATH']}")
    return environment


def compile_program(name, folder, environment, more=""):
    return run_command(["sh", "-c", f"cc {more} {name}.c $(pkg-config --cflags --libs dtensor) -lm -o {name}"], folder,
               env=environment)


def run_fragments(document, all_documents, folder, environment):
    level = [(document.name, block) for block in document.level]
    if document.name in CONTINUES:
        other = all_documents[CONTINUES[document.name]]
        level = [(other.name, block) for block in other.level] + level
    located = lambda name, block: f'#line {block.line} "{name}"\n{block.text}'
    code = "#include <dtensor/dtensor.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    code += "".join(located(name, block) for name, block in level)
    code += f"static int run_rank(dt_ctx *ctx) {{\n{PRELUDE}    {{\n"
    code += "".join(located(document.name, block) for block in document.statements)
    code += '    }\n    dt_mesh_release(mesh);\n    return 0;\n}\n'
    code += "int main(void) {\n    dt_ctx *ctx = dt_init(NULL);\n    int code = run_rank(ctx);\n"
    code += "    return code | dt_close(ctx);\n}\n"
    (folder / "fragments.c").write_text(code)
    status, output = compile_program("fragments", folder, environment, "-Wno-unused")
    line = (document.level + document.statements)[0].line
    if status:
        return document.fail(line, f"its fragments do not compile:\n{output}")
    ranks = 4
    for text in re.findall(r'dt_mesh_new\(ctx, "(\w+=\d+(?:,\w+=\d+)*)"', code):
        sizes = [int(part.split("=")[1]) for part in text.split(",")]
        ranks = max(ranks, eval("*".join(map(str, sizes))))
    status, output = run_command(["dtrun", "-n", str(ranks), "./fragments"], folder, env=environment)
    if status:
        document.fail(line, f"its fragments fail on {ranks} ranks:\n{output}")


def save_programs(document, all_documents, folder, environment):
    names = []
    for _, command, _ in document.commands():
        names += [name for name in re.findall(r"\b(?:cc|c\+\+) (\w+\.c(?:pp)?)\b", command) if name not in names]
    if len(names) < len(document.programs):
        document.fail(0, f"it shows {len(document.programs)} programs and compiles {len(names)}")
    for name, program in zip(names, document.programs):
        (folder / name).write_text(program)
    for name, source in OTHER_PROGRAMS.get(document.name, {}).items():
        program = all_documents[source].programs[0] if source in all_documents else (tree.ROOT / source).read_text()
        (folder / f"{name}.c").write_text(program)
        (folder / "data").write_text("1 2 3\n")
        status, output = compile_program(name, folder, environment)
        if status:
            document.fail(0, f"{source} does not compile:\n{output}")


def log_sizes():
    """Of the logs of ctest, which may be running this test."""
    return {path: path.stat().st_size for path in BUILD.glob("Testing/Temporary/LastTest.log*")}


def check_not_run(document, line, command):
    """A list by ctest writes a log, like a run, in the folder whose tests it lists: that must not be the build folder."""
    targets = re.search(r"^\.PHONY: (.*)", (tree.ROOT / "Makefile").read_text(), re.M)[1].split()
    if found := re.match(r"make ((?:\w+=(?:'[^']*'|\S*) )*)([a-z-]+)?", command):
        if found[2] and found[2] not in targets and not found[2].startswith("check-"):
            document.fail(line, f"make has no target {found[2]}")
    if command.startswith("ctest "):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "CTestTestfile.cmake").write_text(f'subdirs("{BUILD}")\n')
            status, output = run_command(["sh", "-c", re.sub(r"--test-dir \w+", f"--test-dir {folder} -N", command)], tree.ROOT)
        if status or not re.search(r"Total Tests: [1-9]", output):
            document.fail(line, f"no test matches: {command}")


def matches(shown, printed, ranks):
    mask = lambda lines: [re.sub(r"for \d+\.\d s", "for T s", line.rstrip()) for line in lines]
    shown, printed = mask(shown), mask(printed)
    if ranks and "..." not in shown:
        return sorted(shown) == sorted(printed)
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def run_shell(document, folder, environment):
    commands, script = [], "rc=0\n"
    for line, command, output in document.commands():
        if any(re.match(pattern, command) for pattern, _ in NOT_RUN):
            check_not_run(document, line, command)
            continue
        script += f"(exit $rc)\n{command}\nrc=$?\nprintf '\\001%d\\n' $rc\n"
        commands.append((line, command, output))
    if not commands:
        return
    (folder / "session.sh").write_text(script)
    _, text = run_command(["bash", "session.sh"], folder, env=environment)
    results = re.findall(r"(.*?)\x01(\d+)\n", text, re.S)
    for i, (line, command, shown) in enumerate(commands):
        if i >= len(results):
            return document.fail(line, f"the shell ended before: {command}\n{text[-500:]}")
        printed, status = results[i][0], int(results[i][1])
        if status and (i + 1 == len(commands) or commands[i + 1][1] != "echo $?"):
            document.fail(line, f"{command} ended with {status}:\n{printed}")
        elif shown and not matches(shown, printed.splitlines(), command.startswith(("dtrun ", "mpirun "))):
            document.fail(line, f"{command} printed\n{printed}")


def run_json(document, folder, environment):
    """Blocks in order: a request, which may be followed by its reply."""
    exchange = []
    for block in document.json:
        text = " ".join(block.text.split("\n")).strip().replace('"} ,', '"},')
        if text.startswith('{"q"'):
            exchange.append([block.line, json.dumps(json.loads(text)), None])
        elif exchange:
            exchange[-1][2] = block
    requests = "".join(request + "\n" for _, request, _ in exchange)
    result = subprocess.run(["dtensor", "query"], cwd=folder, env=environment, input=requests, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=600)
    for (line, request, reply), printed in zip(exchange, result.stdout.splitlines()):
        shown = re.sub(r"\n", "", reply.text) if reply else None
        if shown is None and printed.startswith('{"error"'):
            document.fail(line, f"dtensor query replies {printed}")
        elif shown and not re.fullmatch(".*".join(map(re.escape, shown.split("..."))), printed):
            document.fail(reply.line, f"dtensor query replies {printed}")


def check_document(document, all_documents):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = prepare(folder)
        if document.level or document.statements:
            run_fragments(document, all_documents, folder, environment)
        save_programs(document, all_documents, folder, environment)
        run_shell(document, folder, environment)
        if document.json:
            run_json(document, folder, environment)
    return document.wrong


def check_links(name, text):
    """Files that a page refers to exist."""
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if not link.startswith("http") and not (tree.ROOT / name).parent.joinpath(link).exists():
            yield f"{name}: {link} does not exist"


def check_figures(readme, measurements):
    """Figures of README's tables are those of docs/performance.md."""
    rows = [line for line in readme.splitlines() if line.startswith("| ") and re.search(r" (ns|µs) \|", line)]
    figures = [figure for row in rows for figure in re.findall(r"([\d.]+) (?:ns|µs)", row)]
    missing = [figure for figure in figures if not re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.])", measurements)]
    return [f"README.md: {figure} is not in docs/performance.md" for figure in missing] or \
        ([] if figures else ["README.md: no figures are found in its tables"])


# Invalid documents, each with a part of the reason.
SESSION = "```c\n#include <stdio.h>\nint main(void) { puts(\"two\"); return 0; }\n```\n```sh\n$ cc a.c -o a\n$ ./a\n%s\n```\n"
REFUSED = {
    "output.md": (SESSION % "one", "printed"),
    "fails.md": ("```sh\n$ false\n```\n", "ended with 1"),
    "warns.md": ("```c\nint unused(void) { }\n```\n", "do not compile"),
    "wrapped.md": ("```c\ndt_uniform_(b, .low = 0.5);\n```\n", "do not compile"),
    "error.md": ("```c\ndt_item(x);\n```\n", "fragments fail"),
    "text.md": ("    dt_matmul(x, w)\n", "is not checked"),
    "fence.md": ("```\n$ dtensor ops\n```\n", "is not checked"),
    "target.md": ("```sh\nmake nothing-such\n```\n", "no target"),
    "ctest.md": ("```sh\nctest --test-dir build -R nothing_such\n```\n", "no test"),
    "quote.md": ("```c src/plan/plan.h\nint nothing_such;\n```\n", "does not have"),
    "main.md": ("```c\nint main(void) { return 0; }\n```\n", "shows 1 programs"),
    "json.1": ('.Bd -literal\n{"q":"nothing"}\n.Ed\n', "replies"),
}


def main():
    texts = {name: text for name, text in documents.documents(tree.ROOT).items() if name not in CHECKED_ELSEWHERE}
    pages = {name: Document(name, text) for name, text in texts.items()}
    refused = {name: Document(name, text) for name, (text, _) in REFUSED.items()}
    logs = log_sizes()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda page: check_document(page, pages), [*pages.values(), *refused.values()]))
    wrong = [problem for problems in found[:len(pages)] for problem in problems]
    for (name, (_, reason)), problems in zip(REFUSED.items(), found[len(pages):]):
        if not any(reason in problem for problem in problems):
            wrong.append(f"this test accepts {name}: expected \"{reason}\", got {problems}")
    wrong += [f"{path}: this test has overwritten the log" for path, size in log_sizes().items() if size < logs.get(path, 0)]
    wrong += check_figures(texts["README.md"], texts["docs/performance.md"])
    if not check_figures("| a | 12.5 ns | 3 µs |", "112.5 3"):
        wrong.append("this test accepts figures that were not measured")
    wrong += [problem for name, text in texts.items() if name.endswith(".md") for problem in check_links(name, text)]
    if not list(check_links("docs/x.md", "[a](nothing.md) [b](https://example.org)")):
        wrong.append("this test accepts a link to a file that does not exist")
    counts = [sum(len(getattr(page, kind)) for page in pages.values()) for kind in ("programs", "statements", "level", "shell")]
    if min(counts) == 0:
        wrong.append(f"programs, fragments, definitions, commands: {counts}: this test does not find what it checks")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
