# SPDX-License-Identifier: Apache-2.0
"""When a measurement ends is one rule: bench/settle.c and bench/settle.py decide alike on the same times, and as documented."""
import ctypes
import importlib.util
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from seed import test_seed

BENCH = pathlib.Path(os.environ["DTENSOR_SOURCE"]) / "bench"


class State(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("best", "reference", "spent", "budget_s")] + \
               [(name, ctypes.c_int) for name in ("n", "n_quiet")]


def load_python():
    spec = importlib.util.spec_from_file_location("settle", BENCH / "settle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_c(folder):
    path = os.path.join(folder, "settle.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, BENCH / "settle.c"], check=True)
    library = ctypes.CDLL(path)
    library.bench_settle_new.restype = State
    library.bench_settle_new.argtypes = [ctypes.c_double]
    library.bench_settle_continues.restype = ctypes.c_bool
    return library


def run_both(library, settle, budget, times):
    """Feeds both with times; returns the seconds of all repeats and the best after both stopped together."""
    ours, theirs, used = library.bench_settle_new(budget), settle.Settle(budget), []
    while True:
        n = library.bench_settle_batch(ctypes.byref(ours))
        assert n == theirs.batch(), (n, theirs.batch())
        batch = [next(times) for _ in range(n)]
        used += batch
        more = library.bench_settle_continues(ctypes.byref(ours), (ctypes.c_double * n)(*batch), n)
        assert more == theirs.continues(batch) and ours.best == theirs.best == min(used)
        if not more:
            return used, ours.best


def constant(value):
    while True:
        yield value


def cold(slow, n, fast):
    for _ in range(n):
        yield slow
    yield from constant(fast)


def falling(value):
    while True:
        yield value
        value *= 0.99


def main():
    settle = load_python()
    draw = random.Random(test_seed(5))
    with tempfile.TemporaryDirectory() as folder:
        library = load_c(folder)
        used, _ = run_both(library, settle, 1, constant(1.0))
        assert len(used) == 15, "five batches of three"
        used, _ = run_both(library, settle, 0.1, constant(1e-6))
        assert len(used) == 3 + 4 * 2000, "a batch has at most 2000 repeats"
        assert run_both(library, settle, 0.1, cold(0.157, 4, 0.011))[1] == 0.011, "first calls that are cold do not count"
        used, best = run_both(library, settle, 0.01, falling(0.05))
        assert 0.5 <= sum(used) < 0.65 and best == min(used), "what improves for ever ends after fifty budgets"
        for _ in range(200):
            centre = 10 ** draw.uniform(-6, 0)
            run_both(library, settle, 10 ** draw.uniform(-3, 0), iter(lambda: centre * draw.uniform(1, 2), None))
        assert settle.fastest(iter(cold(0.1, 4, 0.01)).__next__, 0.1) == 0.01
    return 0


if __name__ == "__main__":
    sys.exit(main())
