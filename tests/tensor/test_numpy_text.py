# SPDX-License-Identifier: Apache-2.0
"""dt_format against NumPy, text by text. Skipped if NumPy is not installed.

NumPy before 2.3 differs in two things. f16, f32 and c64 are written without exponents up to 1e8 (1e16 without dims), not up
to their precision, which is 1e3 and 1e6. And the smallest number is compared with 0.0001 in f64, in which the f32 next to it
is smaller. Only the tensors whose text depends on that are skipped there."""
import os
import subprocess
import sys
import unittest

from seed import test_seed

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

PROGRAM = os.path.join(os.environ["DTENSOR_BUILD"], "tests", "tensor.text")
IS_OLD = tuple(int(n) for n in np.__version__.split(".")[:2]) < (2, 3)
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32,
          "i64": np.int64, "u8": np.uint8, "bool": np.bool_, "c64": np.complex64, "c128": np.complex128}


def floats(random, dtype, n):
    """Random numbers of one magnitude, of many magnitudes, integers, short decimals, and special values."""
    kind = random.integers(9)
    with np.errstate(all="ignore"):
        x = [lambda: random.standard_normal(n),
             lambda: random.standard_normal(n) * 10.0 ** random.integers(-12, 12),
             lambda: np.round(random.standard_normal(n) * 100) / 10.0 ** random.integers(0, 4),
             lambda: random.integers(-1000, 1000, n).astype(np.float64),
             lambda: np.exp(random.standard_normal(n) * random.integers(1, 40)),
             lambda: 2.0 ** random.integers(-160, 160, n),
             lambda: np.frombuffer(random.bytes(n * 8), np.float64).copy(),
             lambda: random.choice([0.0, -0.0, 1.0, 0.5, np.nan, np.inf, -np.inf, 0.1], n),
             lambda: 10.0 ** random.integers(-6, 10, n)][kind]()
        if random.integers(5) == 0 and n:
            x[random.integers(n)] = random.choice([np.nan, np.inf, -np.inf])
        if kind == 6 and dtype != np.float64:
            return np.frombuffer(random.bytes(n * np.dtype(dtype).itemsize), dtype).copy()
        return x.astype(dtype)


def array_of(random, dtype_name):
    dtype = DTYPES[dtype_name]
    shape = tuple(int(s) for s in random.choice([0, 1, 2, 3, 5, 7, 8, 20], random.integers(0, 4), p=[.04] + [.137142857] * 7))
    if random.integers(8) == 0:
        shape = (int(random.integers(1000, 1300)),)
    if random.integers(12) == 0:
        shape = (40, 2, 30)
    n = int(np.prod(shape))
    if dtype_name[0] == "f":
        a = floats(random, dtype, n)
    elif dtype_name[0] == "c":
        part = np.float32 if dtype_name == "c64" else np.float64
        a = np.empty(n, dtype)
        a.real, a.imag = floats(random, part, n), floats(random, part, n)
    elif dtype_name == "bool":
        a = random.integers(0, 2, n).astype(dtype)
    else:
        info = np.iinfo(dtype)
        low, high = [(info.min, info.max), (0, min(9, info.max)), (max(info.min, -100), 100)][random.integers(3)]
        a = random.integers(low, high, n, dtype=dtype, endpoint=True)
    return a.reshape(shape)


def shown(a, threshold):
    """The elements that the text of an array shows."""
    for axis in range(a.ndim if a.size > threshold else 0):
        if a.shape[axis] > 6:
            a = np.take(a, [0, 1, 2, -3, -2, -1], axis)
    return a


def depends_on_version(a, threshold):
    """Whether an old NumPy and a new one differ in writing this array with exponents."""
    if not IS_OLD or a.dtype.type not in (np.float16, np.float32, np.complex64):
        return False
    a = shown(a, threshold)
    for part in (a.real, a.imag):
        sizes = np.abs(part[np.isfinite(part) & (part != 0)])
        if sizes.size == 0:
            continue
        smallest, largest = sizes.min(), sizes.max()
        with np.errstate(over="ignore"):
            is_wide = a.ndim > 0 and (smallest < sizes.dtype.type(0.0001) or largest / smallest > 1000)
        if not is_wide and 10.0 ** np.finfo(a.dtype).precision <= largest < (1e8 if a.ndim else 1e16):
            return True
        if not is_wide and a.ndim > 0 and smallest == sizes.dtype.type(0.0001) and float(smallest) < 0.0001:
            return True
    return False


class Text(unittest.TestCase):
    maxDiff = None

    def test_texts_are_those_of_numpy(self):
        random = np.random.default_rng(test_seed(7))
        request, expected = [], []
        for i in range(1500):
            dtype_name = list(DTYPES)[i % len(DTYPES)]
            a = array_of(random, dtype_name)
            threshold, width = int(random.choice([1000, 1000, 5])), int(random.choice([75, 75, 40]))
            precision = int(random.choice([8, 8, 3]))
            if depends_on_version(a, threshold):
                continue
            shape = " ".join(str(s) for s in a.shape)
            request.append(f"{dtype_name} {threshold} {width} {precision} {a.ndim} {shape}\n{a.tobytes().hex()}\n")
            with np.printoptions(threshold=threshold, linewidth=width, precision=precision), np.errstate(all="ignore"):
                expected.append(str(a))
        result = subprocess.run([PROGRAM], input="".join(request), capture_output=True, text=True, timeout=300)
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        got = result.stdout.split("\n--\n")
        self.assertEqual(len(expected) + 1, len(got))
        for number, (text, expected_text) in enumerate(zip(got, expected)):
            self.assertEqual(expected_text, text, f"tensor {number}: {request[number].splitlines()[0]}")


if __name__ == "__main__":
    unittest.main()
