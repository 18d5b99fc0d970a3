# SPDX-License-Identifier: Apache-2.0
"""Files of NumPy are read, and NumPy reads the files of this library: plain tensors and on ranks. Skipped without NumPy."""
import io
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings
import zipfile

from seed import test_seed

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

PROGRAM = os.path.join(os.environ["DTENSOR_BUILD"], "tests", "move.copy")
DTYPES = ["<f4", "<f8", "<f2", "|i1", "<i2", "<i4", "<i8", "|u1", "|b1", "<c8", "<c16", ">f4", ">i8", ">c16", ">f2"]


def copy(ranks, place, source, target, *names):
    result = subprocess.run([PROGRAM, str(ranks), place, source, target, *names], capture_output=True, text=True,
                          timeout=100)
    return result.returncode, result.stderr


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def arrays(self):
        random = np.random.default_rng(test_seed(3))
        for i, dtype in enumerate(DTYPES):
            shape = [(7, 5), (3, 4, 5), (11,), (), (0, 3)][i % 5]
            a = (random.standard_normal(shape) * 50)
            a = a.astype(np.dtype(dtype)) if dtype[1] != "b" else a > 0
            yield np.asfortranarray(a) if i % 2 else np.ascontiguousarray(a).reshape(shape)

    def test_npy_round_trip(self):
        for number, a in enumerate(self.arrays()):
            for ranks, place in ((0, "R"), (3, "S(0)"), (2, "S(-1)"), (4, "_S(0,2)"), (2, "P(sum)")):
                if a.ndim == 0 and "S" in place:
                    continue
                if a.dtype == np.bool_ and place == "P(sum)":
                    continue
                with self.subTest(dtype=a.dtype.str, shape=a.shape, ranks=ranks, place=place):
                    np.save(self.path("a.npy"), a)
                    self.assertEqual((0, ""), copy(ranks, place, self.path("a.npy"), self.path("b.npy")))
                    b = np.load(self.path("b.npy"))
                    self.assertEqual((a.shape, a.dtype.newbyteorder("=")), (b.shape, b.dtype))
                    np.testing.assert_array_equal(a, b)
        self.assertEqual(["a.npy", "b.npy"], sorted(os.listdir(self.folder.name)))

    def test_the_files_are_the_same_bytes(self):
        a = np.arange(12, dtype=np.float32).reshape(3, 4)
        np.save(self.path("a.npy"), a)
        self.assertEqual((0, ""), copy(2, "S(1)", self.path("a.npy"), self.path("b.npy")))
        with open(self.path("a.npy"), "rb") as first, open(self.path("b.npy"), "rb") as second:
            self.assertEqual(first.read(), second.read())

    def test_npz_round_trip(self):
        arrays = {f"layer.{i}/w": a for i, a in enumerate(self.arrays()) if a.ndim}
        np.savez(self.path("a.npz"), **arrays)
        for ranks, place in ((0, "R"), (3, "S(0)")):
            self.assertEqual((0, ""), copy(ranks, place, self.path("a.npz"), self.path("b.npz"), *arrays))
            with zipfile.ZipFile(self.path("b.npz")) as zipped:
                self.assertIsNone(zipped.testzip())
            with np.load(self.path("b.npz")) as loaded:
                self.assertEqual(sorted(arrays), sorted(loaded.files))
                for name, a in arrays.items():
                    np.testing.assert_array_equal(a, loaded[name])

    def test_entries_of_one_name(self):
        """The last one is loaded, and the exact name before one without its suffix, as by numpy.load."""
        def bytes_of(array):
            file = io.BytesIO()
            np.save(file, array)
            return file.getvalue()
        for number, names in enumerate((("x.npy", "x.npy"), ("x.npy", "x"), ("x", "x.npy"), ("y", "x.npy", "y.npy"))):
            with warnings.catch_warnings(), zipfile.ZipFile(self.path(f"{number}.npz"), "w") as zipped:
                warnings.simplefilter("ignore")
                for i, name in enumerate(names):
                    zipped.writestr(name, bytes_of(np.full(3, i)))
            self.assertEqual((0, ""), copy(0, "R", self.path(f"{number}.npz"), self.path("b.npz"), "x"))
            with np.load(self.path(f"{number}.npz")) as expected, np.load(self.path("b.npz")) as got:
                np.testing.assert_array_equal(expected["x"], got["x"], str(names))

    def test_compressed_npz(self):
        arrays = {f"layer.{i}/w": a for i, a in enumerate(self.arrays()) if a.ndim}
        arrays["large"] = np.random.default_rng(test_seed(4)).standard_normal((7, 50000)).astype(np.float32).round(1)
        np.savez_compressed(self.path("a.npz"), **arrays)
        for ranks, place in ((0, "R"), (1, "S(0)"), (3, "S(0)"), (4, "S(-1)"), (2, "R"), (3, "_S(0,2)")):
            with self.subTest(ranks=ranks, place=place):
                self.assertEqual((0, ""), copy(ranks, place, self.path("a.npz"), self.path("b.npz"), *arrays))
                with np.load(self.path("b.npz")) as loaded:
                    self.assertEqual(sorted(arrays), sorted(loaded.files))
                    for name, a in arrays.items():
                        np.testing.assert_array_equal(a, loaded[name])

    def test_compressed_npz_with_64_bit_fields(self):
        a = np.arange(1000.0)
        with unittest.mock.patch.multiple(zipfile, ZIP64_LIMIT=10, ZIP_FILECOUNT_LIMIT=0):
            np.savez_compressed(self.path("a.npz"), first=a + 1, x=a)
        with open(self.path("a.npz"), "rb") as file:
            self.assertIn(b"PK\x06\x06", file.read(), "no 64-bit end record")
        self.assertEqual((0, ""), copy(2, "S(0)", self.path("a.npz"), self.path("b.npz"), "x"))
        with np.load(self.path("b.npz")) as loaded:
            np.testing.assert_array_equal(a, loaded["x"])

    def test_other_compression_methods_are_refused(self):
        with zipfile.ZipFile(self.path("a.npz"), "w", zipfile.ZIP_LZMA) as zipped:
            zipped.writestr("x.npy", b"x" * 1000)
        code, error = copy(0, "R", self.path("a.npz"), self.path("b.npz"), "x")
        self.assertEqual(1, code)
        self.assertIn("entry x: its compression method is neither 0 (stored) nor 8 (deflated)", error)
        self.assertFalse(os.path.exists(self.path("b.npz")))

    def test_a_version_2_file(self):
        a = np.arange(5.0)
        with open(self.path("a.npy"), "wb") as file:
            np.lib.format.write_array(file, a, version=(2, 0))
        self.assertEqual((0, ""), copy(0, "R", self.path("a.npy"), self.path("b.npy")))
        np.testing.assert_array_equal(a, np.load(self.path("b.npy")))


if __name__ == "__main__":
    unittest.main()
