/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes as objects: dtensor.float32 and the others, one for each row of DT_DTYPE_LIST. A dtype may also be given by
 * its word ("f32"), by the name that NumPy and PyTorch have for it, by their objects, or by a type of Python.
 */
#include "binding.h"

#include <string.h>

typedef struct dtype_object {
    PyObject_HEAD dt_dtype dtype;
} dtype_object;

static PyTypeObject *dtype_type;
static PyObject *objects[DT_N_DTYPES];

/* The names of NumPy and PyTorch, by the words of this library. */
static const struct name {
    const char *word, *name;
} names[] = {
    {"f32", "float32"},     {"f64", "float64"}, {"f16", "float16"}, {"bf16", "bfloat16"}, {"i8", "int8"},
    {"i16", "int16"},       {"i32", "int32"},   {"i64", "int64"},   {"u8", "uint8"},      {"c64", "complex64"},
    {"c128", "complex128"}, {"f32", "float"},   {"f64", "double"},  {"f16", "half"},      {"i64", "long"},
    {"i32", "int"},         {"i16", "short"},   {"bool", "bool"},   {"bool", "bool_"},    {"c64", "cfloat"},
    {"c128", "cdouble"},
};

static const char *long_name(dt_dtype dtype) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].word, dt_dtype_name(dtype)))
            return names[i].name;
    return dt_dtype_name(dtype);
}

static PyObject *represent(PyObject *self) {
    return PyUnicode_FromFormat("dtensor.%s", long_name(((dtype_object *)self)->dtype));
}

static PyObject *get_name(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(long_name(((dtype_object *)self)->dtype));
}

static PyObject *get_word(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(dt_dtype_name(((dtype_object *)self)->dtype));
}

static PyObject *get_itemsize(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(dt_dtype_size(((dtype_object *)self)->dtype));
}

static bool is_one_of(PyObject *self, const char *letters) {
    return strchr(letters, dt_dtype_name(((dtype_object *)self)->dtype)[0]) &&
           ((dtype_object *)self)->dtype != DT_BOOL;
}

static PyObject *get_is_floating_point(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((dtype_object *)self)->dtype == DT_BF16 || is_one_of(self, "f"));
}

static PyObject *get_is_complex(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(is_one_of(self, "c"));
}

static PyObject *reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyUnicode_FromString(long_name(((dtype_object *)self)->dtype));
}

static PyGetSetDef properties[] = {
    {"name", get_name, NULL, "The name that NumPy and PyTorch have: 'float32'.", NULL},
    {"word", get_word, NULL, "The word of this library: 'f32'.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes per element.", NULL},
    {"is_floating_point", get_is_floating_point, NULL, "Whether it is a real floating-point type.", NULL},
    {"is_complex", get_is_complex, NULL, "Whether it is a complex type.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

dt_dtype dtp_dtype_of(PyObject *object) {
    return Py_TYPE(object) == dtype_type ? ((dtype_object *)object)->dtype : DT_NO_DTYPE;
}

dt_dtype dtp_dtype_of_numbers(int n, const dt_number *numbers) {
    bool are_integers = true, are_booleans = true;
    for (int i = 0; i < n; i++) {
        are_integers = are_integers && (numbers[i].type == DT_ARG_INT || numbers[i].type == DT_ARG_NONE);
        are_booleans = are_booleans && numbers[i].type == DT_ARG_BOOL;
    }
    return are_booleans ? DT_BOOL : are_integers ? DT_I64 : DT_F32;
}

PyObject *dtp_dtype_object(dt_dtype dtype) { return Py_NewRef(objects[dtype] ? objects[dtype] : Py_None); }

static bool parse(const char *text, dt_dtype *out) {
    const char *dot = strrchr(text, '.');
    text = dot ? dot + 1 : text;
    if (dt_dtype_parse(text, out))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, text))
            return dt_dtype_parse(names[i].word, out);
    return false;
}

/* Types of Python are those of PyTorch's defaults: float is f32, int is i64. */
static bool parse_type(PyObject *type, dt_dtype *out) {
    *out = type == (PyObject *)&PyBool_Type      ? DT_BOOL
           : type == (PyObject *)&PyLong_Type    ? DT_I64
           : type == (PyObject *)&PyFloat_Type   ? DT_F32
           : type == (PyObject *)&PyComplex_Type ? DT_C64
                                                 : DT_NO_DTYPE;
    return *out != DT_NO_DTYPE;
}

bool dtp_to_dtype(PyObject *object, dt_dtype *out) {
    *out = dtp_dtype_of(object);
    if (*out != DT_NO_DTYPE || parse_type(object, out))
        return true;
    PyObject *name = PyUnicode_Check(object) ? Py_NewRef(object) : PyObject_GetAttrString(object, "__name__");
    if (!name) {
        PyErr_Clear();
        name = PyObject_Str(object);
    }
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool parsed = text && parse(text, out);
    if (!parsed && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "expected a dtype such as dtensor.float32, got %R", object);
    Py_XDECREF(name);
    return parsed;
}

static PyType_Slot slots[] = {
    {Py_tp_repr, represent},
    {Py_tp_getset, properties},
    {Py_tp_methods, methods},
    {Py_tp_doc, "The type of the elements of a tensor."},
    {0, NULL},
};
static PyType_Spec spec = {"dtensor.dtype", sizeof(dtype_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};

/* Each dtype under its word and under its names. */
static bool add_names(PyObject *module, dt_dtype dtype) {
    const char *word = dt_dtype_name(dtype);
    bool added = PyModule_AddObjectRef(module, word, objects[dtype]) == 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && added; i++)
        if (!strcmp(names[i].word, word))
            added = PyModule_AddObjectRef(module, names[i].name, objects[dtype]) == 0;
    return added;
}

bool dtp_make_dtypes(PyObject *module) {
    dtype_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!dtype_type || PyModule_AddObjectRef(module, "dtype", (PyObject *)dtype_type) < 0)
        return false;
    for (dt_dtype dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++) {
        dtype_object *object = PyObject_New(dtype_object, dtype_type);
        if (!object)
            return false;
        object->dtype = dtype;
        objects[dtype] = (PyObject *)object;
        if (!add_names(module, dtype))
            return false;
    }
    return true;
}
