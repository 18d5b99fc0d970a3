# SPDX-License-Identifier: Apache-2.0
"""Test programs on ranks that mpirun starts, under Open MPI and MPICH.

Programs of the suite that need ranks fork them by themselves. Started by mpirun with DTENSOR_TEST_RANKS, they run the
same functions on the ranks that they are (tests/support/ranks.h). To MPI they are on one node;
DTENSOR_NODES makes the library see several.
"""
import multiprocessing.pool
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DTENSOR_BUILD", SOURCE / "build"))
MPIS = ("openmpi", "mpich")

# Open MPI refuses root, and more ranks than cores, without these options; with --oversubscribe its waits yield the core.
# MPICH refuses neither; its own waits spin, but only start and end have any.
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]
               + (["--allow-run-as-root"] if os.geteuid() == 0 else []),
    "mpich": ["mpirun.mpich"],
}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def installed():
    """The MPIs for which there is a launcher and a module; the test is skipped if there is none."""
    found = [mpi for mpi in MPIS if shutil.which(LAUNCHERS[mpi][0]) and list(BUILD.glob(f"**/*dtensor*{mpi}*.so"))]
    if not found:
        skip("neither Open MPI nor MPICH is installed")
    return found


SESSIONS = tempfile.TemporaryDirectory(prefix="mpi")


def environment(**variables):
    """The variables of the test, without what would describe another launch or change what ranks do. Open MPI's launchers
    make and remove a folder that they share, which may fail if two of them do: each launch gets its own."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("DTENSOR_", "OMPI_", "PMI")) and not name.endswith("_NUM_THREADS")
            or name.startswith(("DTENSOR_TEST_", "DTENSOR_BUILD", "DTENSOR_SOURCE"))}
    kept["ASAN_OPTIONS"] = "allocator_may_return_null=1:detect_leaks=0"  # MPI's own
    kept.update({"OPENBLAS_NUM_THREADS": "1", "UCX_WARN_UNUSED_ENV_VARS": "n"})
    kept["OMPI_MCA_orte_tmpdir_base"] = tempfile.mkdtemp(dir=SESSIONS.name)
    kept.update({name: str(value) for name, value in variables.items()})
    return kept


def run(mpi, n, command, seconds=120, launcher=None, **variables):
    """Runs a command on n ranks; returns exit code and everything that it printed. A launch that takes longer is ended
    and reported by the code None."""
    words = [*(launcher or LAUNCHERS[mpi]), "-n", str(n), *map(str, command)]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=environment(**variables), start_new_session=True)
    try:
        out, _ = process.communicate(timeout=seconds)
        return process.returncode, out.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)  # mpirun ends its ranks
        try:
            out, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
        return None, out.decode(errors="replace")


def compile_program(mpi, source, folder):
    """The program, built with the wrapper of an MPI against the library of the build."""
    program = os.path.join(folder, f"{source.stem}-{mpi}")
    sanitizer = ["-fsanitize=address,undefined"] if b"__asan_init" in (BUILD / "bin/dtrun").read_bytes() else []
    subprocess.run([f"mpicc.{mpi}", *sanitizer, "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", f"-I{SOURCE}/include", str(source), "-o",
                    program, f"-L{BUILD}/lib", "-ldtensor", f"-Wl,-rpath,{BUILD}/lib", "-lpthread", "-lm"], check=True)
    return program


def run_faults(kind, mpi, n, launcher=None, **variables):
    """Runs prog_faults.c: the exit code, or None; and what ranks have printed, one after the other, before what the launcher has."""
    with tempfile.TemporaryDirectory() as folder:
        code, out = run(mpi, n, [BUILD / "tests" / "mpi.faults", kind], 60, launcher, DTENSOR_TEST_FOLDER=folder, **variables)
        return code, "".join(path.read_text() for path in sorted(pathlib.Path(folder).glob("rank-*"))) + out


def two_hosts(mpi, rate):
    """A launcher for ranks on two hosts, joined by a link of that rate."""
    return [str(SOURCE / "scripts" / "netns.sh"), "--rate", rate, str(SOURCE / "scripts" / "netns_mpirun.sh"), mpi]


def run_tests(mpi, n, nodes, program, seconds=240, launcher=None, more=None):
    """Runs a test program, or "program/pattern of its tests", on n ranks of so many pretended nodes, with more variables; returns
    the text of its failure, or None."""
    program, _, pattern = program.partition("/")
    variables = {**({"DTENSOR_NODES": nodes} if nodes else {}), **(more or {})}
    if pattern:
        variables["DTENSOR_TEST_FILTER"] = pattern
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        code, out = run(mpi, n, [BUILD / "tests" / program], seconds, launcher, DTENSOR_TEST_RANKS=n,
                        DTENSOR_TEST_FOLDER=folder, DTENSOR_TIMEOUT=60, **variables)
    ended = "passed" if code == 0 else f"exit code {code}" if code is not None else f"ended after {seconds} s"
    name = " ".join([program, *(more or {}).values()])[:60]
    print(f"{mpi}, {n} ranks, {nodes} nodes: {name}: {ended} ({time.monotonic() - started:.1f} s)", flush=True)
    return None if code == 0 else f"{mpi}, {n} ranks on {nodes} nodes: {name}: {ended}\n{out}"


def rank_tests():
    """(program, test): the numbers of ranks that the test needs, of every test that runs ranks, in the order that the
    programs have them. Each program lists them itself, when no number is right."""
    def list_tests(program):
        with tempfile.TemporaryDirectory() as folder:
            out = subprocess.run([BUILD / "tests" / program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                 env=environment(DTENSOR_TEST_RANKS=1000, DTENSOR_TEST_LIST=1, DTENSOR_TEST_FOLDER=folder))
        tests, test = {}, None
        for line in out.stdout.splitlines():
            words = line.split()
            if line.startswith("[ RUN "):
                test = words[-1]
            elif line.startswith("needs ") and line.endswith(" ranks"):
                tests.setdefault((program, test), set()).add(int(words[1]))
        return tests

    programs = re.findall(r'"(.*?)"', (BUILD / "tests" / "programs" / "programs.inc").read_text())
    with multiprocessing.pool.ThreadPool(2) as pool:
        return {test: needed for tests in pool.map(list_tests, programs, 1) for test, needed in tests.items()}


def without_passed(out, passed):
    """What ranks printed, without the lines of tests that passed: a failure among thousands of lines stays visible."""
    noise = re.compile(r"\[==========\]|\[  PASSED  \]|\[ (?:RUN     |      OK) \] (\S+)$")

    def is_noise(line):
        found = noise.match(line)
        return found and (found.group(1) is None or found.group(1) in passed)

    return "\n".join(line for line in out.splitlines() if not is_noise(line))


def run_selected(mpi, n, nodes, tests, seconds=600):
    """Runs tests, of (program, name), in one launch on n ranks of so many pretended nodes; returns the text of their failure,
    or None."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "tests")
        path.write_text("".join(f"{program} {test}\n" for program, test in tests))
        code, out = run(mpi, n, [BUILD / "tests" / "mpi.programs", path], seconds, DTENSOR_TEST_RANKS=n,
                        DTENSOR_TEST_FOLDER=folder, DTENSOR_TIMEOUT=60, DTENSOR_NODES=nodes)
        reports = [report.read_text() for report in pathlib.Path(folder).glob("tests.*")]
    took = [dict(re.findall(r"^(\S+ \S+): took (\S+) s$", report, re.M)) for report in reports]
    passed = set.intersection(*map(set, took)) if len(took) == n else set()  # on every rank
    ended = "passed" if code == 0 else f"exit code {code}" if code is not None else f"ended after {seconds} s"
    ended = f"{mpi}, {n} ranks, {nodes} nodes: {ended}, {len(passed)} of {len(tests)} tests"
    print(f"{ended} ({time.monotonic() - started:.1f} s)", flush=True)
    for test in sorted(passed, key=lambda test: float(took[0][test]))[-5:]:
        print(f"    {took[0][test]} s: {test}")
    if code == 0 and len(passed) == len(tests):
        return None
    failed = [line for report in reports for line in report.splitlines() if ": failed after " in line]
    return "\n".join([ended, without_passed(out, {test.split()[1] for test in passed}), *failed])


def run_all(cells, function=run_tests):
    """Runs (mpi, n, nodes, program, …), two at a time because a start is mostly waiting; the exit code of a test."""
    with multiprocessing.pool.ThreadPool(2) as pool:
        failures = [failure for failure in pool.starmap(function, cells, 1) if failure]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0
