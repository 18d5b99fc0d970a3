/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is shared with NumPy, PyTorch and others, without a copy: the buffer protocol and DLPack, both ways. What
 * is shared is the memory of this rank; a tensor that is not whole on this rank is refused, because its local tensor is
 * not what np.asarray would mean. Consumers may end on any thread: the release is deferred to that of the context.
 */
#include "binding.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int64_t n_shared; /* buffers and DLPack structs that consumers have */

/* What other libraries call a dtype: the format of the buffer protocol, and the code of DLPack. */
static const struct memory_type {
    dt_dtype dtype;
    const char *format; /* NULL: the buffer protocol has none */
    uint8_t code;
} types[] = {
    {DT_F32, "f", 2},  {DT_F64, "d", 2},   {DT_F16, "e", 2}, {DT_BF16, NULL, 4}, {DT_I8, "b", 0},
    {DT_I16, "h", 0},  {DT_I32, "i", 0},   {DT_I64, "q", 0}, {DT_U8, "B", 1},    {DT_BOOL, "?", 6},
    {DT_C64, "Zf", 5}, {DT_C128, "Zd", 5}, {DT_I64, "l", 0}, /* of a buffer that is imported */
};

static const struct memory_type *type_of(dt_dtype dtype) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype)
            return &types[i];
    return NULL;
}

/* Whether this rank holds all of the tensor as it is; otherwise an exception. */
static bool is_whole(PyObject *self) {
    const dt_tensor *tensor = dtp_handle_of(self);
    const dt_spec *spec = dt_tensor_spec(tensor);
    int n = spec ? dt_mesh_n_dims(dt_spec_mesh(spec)) : 0;
    bool whole = true;
    for (int i = 0; i < n && whole; i++)
        whole =
            dt_mesh_dim_size(dt_spec_mesh(spec), i) == 1 || dt_placement_is_replicate(dt_spec_placements(spec)[i]);
    if (whole)
        return true;
    char text[300];
    dt_tensor_text(tensor, sizeof text, text);
    PyErr_Format(
        PyExc_BufferError,
        "%s: this rank holds a part of the tensor: full_tensor() is all of it (and communicates), to_local() is "
        "what this rank holds",
        text);
    return false;
}

static bool has_data(PyObject *self) {
    if (((dtp_tensor *)self)->context != dtp_ctx_number || !dtp_ctx_number) {
        PyErr_SetString(PyExc_BufferError, "the context of this tensor was closed");
        return false;
    }
    if (!is_whole(self))
        return false;
    const dt_tensor *tensor = dtp_handle_of(self);
    if (dt_data(tensor) || dt_tensor_local_elements(tensor) == 0)
        return true;
    PyErr_SetString(PyExc_BufferError, "a tensor of the fake transport has no data");
    return false;
}

int dtp_get_buffer(PyObject *self, Py_buffer *view, int flags) {
    view->obj = NULL;
    if (!has_data(self))
        return -1;
    const dt_tensor *tensor = dtp_handle_of(self);
    const struct memory_type *type = type_of(dt_tensor_dtype(tensor));
    bool is_dense = dt_tensor_is_contiguous(tensor);
    int n = dt_tensor_n_dims(tensor);
    if (!type || !type->format) {
        PyErr_Format(PyExc_BufferError, "%s has no type in NumPy: use x.float(), or DLPack",
                     dt_dtype_name(dt_tensor_dtype(tensor)));
        return -1;
    }
    if (!is_dense && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
        PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
        return -1;
    }
    Py_ssize_t item = (Py_ssize_t)dt_dtype_size(dt_tensor_dtype(tensor));
    Py_ssize_t *sizes = PyMem_Malloc((size_t)(2 * n + 1) * sizeof *sizes);
    if (!sizes)
        return PyErr_NoMemory(), -1;
    for (int i = 0; i < n; i++) {
        sizes[i] = (Py_ssize_t)dt_tensor_local_shape(tensor)[i];
        sizes[n + i] = (Py_ssize_t)dt_tensor_strides(tensor)[i] * item;
    }
    static char nothing[16];
    *view = (Py_buffer){.buf = dt_data(tensor) ? dt_data(tensor) : nothing,
                        .obj = Py_NewRef(self),
                        .len = (Py_ssize_t)dt_tensor_local_elements(tensor) * item,
                        .itemsize = item,
                        .ndim = n,
                        .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)type->format : NULL,
                        .shape = flags & PyBUF_ND ? sizes : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? sizes + n : NULL,
                        .internal = sizes};
    atomic_fetch_add(&n_shared, 1);
    return 0;
}

void dtp_release_buffer(PyObject *self, Py_buffer *view) {
    (void)self;
    PyMem_Free(view->internal);
    atomic_fetch_sub(&n_shared, 1);
}

/* DLPack, out. */

/* Both forms of the struct, with what they need; the deleter gets one of them. */
typedef struct exported {
    dt_dlpack_managed managed;
    dt_dlpack_versioned versioned;
    dt_tensor *tensor;
    uint64_t context;
    int64_t sizes[];
} exported;

static void end_export(exported *one) {
    dtp_defer(one->tensor, DTP_DEFERRED_TENSOR, one->context);
    atomic_fetch_sub(&n_shared, 1);
    free(one);
}

static void delete_managed(dt_dlpack_managed *managed) { end_export(managed->manager); }
static void delete_versioned(dt_dlpack_versioned *versioned) { end_export(versioned->manager); }

static void delete_capsule(PyObject *capsule) {
    dt_dlpack_managed *managed =
        PyCapsule_IsValid(capsule, "dltensor") ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;
    dt_dlpack_versioned *versioned =
        PyCapsule_IsValid(capsule, "dltensor_versioned") ? PyCapsule_GetPointer(capsule, "dltensor_versioned") : NULL;
    if (managed)
        managed->deleter(managed);
    if (versioned)
        versioned->deleter(versioned);
}

static exported *new_export(PyObject *self) {
    dt_tensor *tensor = dtp_handle_of(self);
    dt_dtype dtype = dt_tensor_dtype(tensor);
    const struct memory_type *type = type_of(dtype);
    int n = dt_tensor_n_dims(tensor);
    exported *one = calloc(1, sizeof *one + (size_t)(2 * n) * sizeof *one->sizes);
    if (!one || !type)
        return PyErr_NoMemory(), free(one), NULL;
    one->tensor = dt_tensor_retain(tensor);
    one->context = dtp_ctx_number;
    for (int i = 0; i < n; i++) {
        one->sizes[i] = dt_tensor_local_shape(tensor)[i];
        one->sizes[n + i] = dt_tensor_strides(tensor)[i];
    }
    one->managed = (dt_dlpack_managed){
        .tensor = {.data = dt_data(tensor),
                   .device = {1, 0},
                   .n_dims = n,
                   .dtype = {type->code, (uint8_t)(8 * dt_dtype_size(dtype)), 1},
                   .shape = one->sizes,
                   .strides = one->sizes + n},
        .manager = one,
        .deleter = delete_managed,
    };
    one->versioned = (dt_dlpack_versioned){
        .major = 1, .minor = 0, .manager = one, .deleter = delete_versioned, .tensor = one->managed.tensor};
    atomic_fetch_add(&n_shared, 1);
    return one;
}

/* (tensor, whether the consumer reads the struct with a version) */
static PyObject *to_dlpack(PyObject *self, PyObject *args) {
    PyObject *tensor;
    int is_versioned;
    (void)self;
    if (!PyArg_ParseTuple(args, "Op", &tensor, &is_versioned) || !dtp_is_own_thread() || !has_data(tensor))
        return NULL;
    exported *one = new_export(tensor);
    if (!one)
        return NULL;
    PyObject *capsule = is_versioned ? PyCapsule_New(&one->versioned, "dltensor_versioned", delete_capsule)
                                     : PyCapsule_New(&one->managed, "dltensor", delete_capsule);
    if (!capsule)
        end_export(one);
    return capsule;
}

/* DLPack, in. */

static PyObject *from_capsule(PyObject *self, PyObject *capsule) {
    dt_tensor *tensor = NULL;
    (void)self;
    if (!dtp_is_own_thread() || !dtp_context())
        return NULL;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        tensor = dt_from_dlpack_versioned_site(dtp_ctx, PyCapsule_GetPointer(capsule, "dltensor_versioned"), NULL);
        if (tensor)
            PyCapsule_SetName(capsule, "used_dltensor_versioned");
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        tensor = dt_from_dlpack_site(dtp_ctx, PyCapsule_GetPointer(capsule, "dltensor"), NULL);
        if (tensor)
            PyCapsule_SetName(capsule, "used_dltensor");
    } else {
        PyErr_SetString(PyExc_BufferError, "expected a DLPack capsule that was not used yet");
        return NULL;
    }
    return dtp_give_new(tensor);
}

/* Buffers, in: as DLPack structs of our own. */

typedef struct imported {
    dt_dlpack_versioned versioned;
    Py_buffer view;
    int64_t sizes[];
} imported;

static void delete_imported(dt_dlpack_versioned *versioned) {
    imported *one = versioned->manager;
    if (!Py_IsInitialized())
        return;
    PyGILState_STATE state = PyGILState_Ensure();
    PyBuffer_Release(&one->view);
    PyGILState_Release(state);
    free(one);
}

static const struct memory_type *type_of_view(const Py_buffer *view) {
    const char *format = view->format ? view->format : "B";
    if (strchr("@=<|", format[0]) && format[0])
        format++;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].format && !strcmp(types[i].format, format) &&
            view->itemsize == (Py_ssize_t)dt_dtype_size(types[i].dtype))
            return &types[i];
    PyErr_Format(PyExc_TypeError, "no dtype has the elements of this buffer: format \"%s\"",
                 view->format ? view->format : "");
    return NULL;
}

static imported *new_import(PyObject *object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0)
        return NULL;
    const struct memory_type *type = type_of_view(&view);
    imported *one = type ? calloc(1, sizeof *one + (size_t)(2 * view.ndim) * sizeof *one->sizes) : NULL;
    if (!one) {
        PyBuffer_Release(&view);
        return PyErr_Occurred() ? NULL : (PyErr_NoMemory(), NULL);
    }
    one->view = view;
    bool fits = true;
    for (int i = 0; i < view.ndim; i++) {
        one->sizes[i] = view.shape[i];
        one->sizes[view.ndim + i] = view.strides[i] / view.itemsize;
        fits = fits && view.strides[i] % view.itemsize == 0;
    }
    one->versioned = (dt_dlpack_versioned){
        .major = 1,
        .minor = 0,
        .manager = one,
        .deleter = delete_imported,
        .flags = view.readonly ? 1 : 0,
        .tensor = {.data = view.buf,
                   .device = {1, 0},
                   .n_dims = view.ndim,
                   .dtype = {type->code, (uint8_t)(8 * view.itemsize), 1},
                   .shape = one->sizes,
                   .strides = one->sizes + view.ndim},
    };
    if (fits)
        return one;
    delete_imported(&one->versioned);
    PyErr_SetString(PyExc_BufferError, "strides of the buffer are not multiples of its elements: copy it first");
    return NULL;
}

static PyObject *from_buffer(PyObject *self, PyObject *object) {
    (void)self;
    if (!dtp_is_own_thread() || !dtp_context())
        return NULL;
    imported *one = new_import(object);
    if (!one)
        return NULL;
    dt_tensor *tensor = dt_from_dlpack_versioned_site(dtp_ctx, &one->versioned, NULL);
    if (!tensor)
        delete_imported(&one->versioned);
    return dtp_give_new(tensor);
}

static PyObject *count_shared(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    return PyLong_FromLongLong(atomic_load(&n_shared));
}

PyMethodDef dtp_memory_functions[] = {
    {"_to_dlpack", to_dlpack, METH_VARARGS, "A DLPack capsule of a tensor."},
    {"_from_capsule", from_capsule, METH_O, "A plain tensor on the memory of a DLPack capsule."},
    {"_from_buffer", from_buffer, METH_O, "A plain tensor on the memory of an object with the buffer protocol."},
    {"_n_shared", count_shared, METH_NOARGS, "The number of buffers and DLPack structs in use elsewhere."},
    {NULL, NULL, 0, NULL},
};
