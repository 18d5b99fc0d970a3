# SPDX-License-Identifier: Apache-2.0
"""Memory is exported to NumPy and imported from it by DLPack, through the shared library. Skipped without NumPy, and where
the library is built with a sanitizer, which must be loaded first."""
import ctypes
import glob
import os
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

PATH = sorted(glob.glob(os.path.join(os.environ["DTENSOR_BUILD"], "lib", "libdtensor.so*")))[0]
with open(PATH, "rb") as file:
    BYTES = file.read()
if b"__asan_init" in BYTES or b"__tsan_init" in BYTES:
    print("skipped: a library with a sanitizer must be loaded first")
    sys.exit(77)
LIBRARY = ctypes.CDLL(PATH)

PYTHON = ctypes.pythonapi
POINTER = ctypes.c_void_p
for name in ("dt_init_sized", "dt_from_memory_site", "dt_transpose_sized", "dt_to_dlpack_site", "dt_to_dlpack_versioned_site", "dt_from_dlpack_site",
             "dt_from_dlpack_versioned_site", "dt_data", "dt_tensor_shape", "dt_tensor_strides"):
    getattr(LIBRARY, name).restype = POINTER
LIBRARY.dt_error_text.restype = ctypes.c_char_p
PYTHON.PyCapsule_New.restype = ctypes.py_object
PYTHON.PyCapsule_New.argtypes = [POINTER, ctypes.c_char_p, POINTER]
PYTHON.PyCapsule_GetPointer.restype = POINTER
PYTHON.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
PYTHON.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

# Names must outlive the capsules.
NAMES = {"plain": (b"dltensor", b"used_dltensor"), "versioned": (b"dltensor_versioned", b"used_dltensor_versioned")}
DTYPES = {np.float32: 1, np.float64: 2, np.float16: 3, np.int8: 5, np.int16: 6, np.int32: 7, np.int64: 8, np.uint8: 9,
          np.bool_: 10, np.complex64: 11, np.complex128: 12}
if tuple(int(n) for n in np.__version__.split(".")[:2]) < (1, 25):
    del DTYPES[np.bool_]  # which older versions neither export nor import


class Shape(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int), ("sizes", ctypes.POINTER(ctypes.c_int64))]


class Exporter:
    """The methods that NumPy requires of an exporter."""
    def __init__(self, tensor, kind):
        self.tensor, self.kind = tensor, kind

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        export = LIBRARY.dt_to_dlpack_site if self.kind == "plain" else LIBRARY.dt_to_dlpack_versioned_site
        return PYTHON.PyCapsule_New(export(POINTER(self.tensor), None), NAMES[self.kind][0], None)


class Exchange(unittest.TestCase):
    def setUp(self):
        self.ctx = POINTER(LIBRARY.dt_init_sized(None, ctypes.c_size_t(0), None))

    def tearDown(self):
        self.assertEqual(0, LIBRARY.dt_close_site(self.ctx, None))

    def test_numpy_reads_exported_tensors(self):
        for dtype, number in DTYPES.items():
            a = (np.arange(12) % 5).astype(dtype).reshape(3, 4)
            shape = Shape(2, (ctypes.c_int64 * 2)(3, 4))
            tensor = LIBRARY.dt_from_memory_site(self.ctx, a.ctypes.data_as(POINTER), shape, number, None)
            tensor = LIBRARY.dt_transpose_sized(POINTER(tensor), ctypes.c_int64(0), ctypes.c_int64(1), None,
                                                ctypes.c_size_t(0))
            for kind in NAMES:
                if kind == "versioned" and int(np.__version__.split(".")[0]) < 2:
                    continue
                b = np.from_dlpack(Exporter(tensor, kind))
                self.assertEqual(a.T.dtype, b.dtype)
                np.testing.assert_array_equal(a.T, b)
                del b

    def test_arrays_of_numpy_are_imported(self):
        for dtype in DTYPES:
            a = (np.arange(24) % 7).astype(dtype).reshape(4, 6)[::-1, 1::2]
            for kind, options in (("plain", {}), ("versioned", {"max_version": (1, 0)})):
                try:
                    capsule = a.__dlpack__(**options)
                except TypeError:
                    continue  # an older NumPy has no versions
                pointer = PYTHON.PyCapsule_GetPointer(capsule, NAMES[kind][0])
                import_tensor = LIBRARY.dt_from_dlpack_site if kind == "plain" else LIBRARY.dt_from_dlpack_versioned_site
                tensor = POINTER(import_tensor(self.ctx, POINTER(pointer), None))
                self.assertTrue(tensor.value, LIBRARY.dt_error_text(self.ctx))
                PYTHON.PyCapsule_SetName(capsule, NAMES[kind][1])
                strides = ctypes.cast(LIBRARY.dt_tensor_strides(tensor), ctypes.POINTER(ctypes.c_int64))
                self.assertEqual([s // a.itemsize for s in a.strides], strides[:2])
                self.assertEqual(a.ctypes.data, LIBRARY.dt_data(tensor))
                LIBRARY.dt_drop_site(tensor, None)


if __name__ == "__main__":
    unittest.main()
