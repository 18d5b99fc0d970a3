# SPDX-License-Identifier: Apache-2.0
"""bench/settle.c and bench/settle.py end a measurement after the same times, as documented."""
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
    """Passes the same times to both; returns the times of all repeats and the best one."""
    in_c, in_python, used = library.bench_settle_new(budget), settle.Settle(budget), []
    while True:
        n = library.bench_settle_batch(ctypes.byref(in_c))
        assert n == in_python.batch(), (n, in_python.batch())
        batch = [next(times) for _ in range(n)]
        used += batch
        more = library.bench_settle_continues(ctypes.byref(in_c), (ctypes.c_double * n)(*batch), n)
        assert more == in_python.continues(batch) and in_c.best == in_python.best == min(used)
        if not more:
            return used, in_c.best


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
    rng = random.Random(test_seed(5))
    with tempfile.TemporaryDirectory() as folder:
        library = load_c(folder)
        used, _ = run_both(library, settle, 1, constant(1.0))
        assert len(used) == 15, "five batches of three"
        used, _ = run_both(library, settle, 0.1, constant(1e-6))
        assert len(used) == 3 + 4 * 2000, "a batch has at most 2000 repeats"
        assert run_both(library, settle, 0.1, cold(0.157, 4, 0.011))[1] == 0.011, "slow first calls are ignored"
        used, best = run_both(library, settle, 0.01, falling(0.05))
        assert 0.5 <= sum(used) < 0.65 and best == min(used), "a measurement that keeps improving ends after fifty budgets"
        for _ in range(200):
            center = 10 ** rng.uniform(-6, 0)
            run_both(library, settle, 10 ** rng.uniform(-3, 0), iter(lambda: center * rng.uniform(1, 2), None))
        assert settle.fastest(iter(cold(0.1, 4, 0.01)).__next__, 0.1) == 0.01
    return 0


if __name__ == "__main__":
    sys.exit(main())
