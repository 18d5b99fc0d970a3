/* SPDX-License-Identifier: Apache-2.0
 *
 * The type DTensor: what its instances own, operators, and properties. Ops are methods by generated tables; methods
 * that need not be fast are functions of the package (_tensor.py), which adds them to the type.
 */
#include "binding.h"

#include <stdlib.h>
#include <string.h>
#include <structmember.h>

PyTypeObject *dtp_tensor_type;

/* A result leaves its scope, and the object owns the reference. */
static PyObject *wrap(dt_tensor *tensor) {
    dtp_tensor *object = PyObject_New(dtp_tensor, dtp_tensor_type);
    if (!object) {
        dt_tensor_release_site(tensor, NULL);
        return NULL;
    }
    object->handle = tensor;
    object->context = dtp_ctx_number;
    object->elements = dt_tensor_local_elements(tensor);
    object->weak_references = NULL;
    return (PyObject *)object;
}

PyObject *dtp_give_new(dt_tensor *result) {
    if (!result)
        return dtp_raise();
    dtp_drain();
    dt_tensor_retain(result);
    dt_drop_site(result, NULL);
    return wrap(result);
}

PyObject *dtp_give_borrowed(dt_tensor *tensor) {
    return tensor ? wrap(dt_tensor_retain(tensor)) : Py_NewRef(Py_None);
}

/* The argument that a result is, where the library returns one as it is. */
static PyObject *argument_of(const dt_tensor *result, const dtp_call *call) {
    for (int i = 0; i < call->signature->n; i++)
        if (call->given[i] && dtp_is_tensor(call->given[i]) && dtp_handle_of(call->given[i]) == result)
            return call->given[i];
    return NULL;
}

PyObject *dtp_give(dt_tensor *result, const dtp_call *call) {
    PyObject *argument = result ? argument_of(result, call) : NULL;
    return argument ? Py_NewRef(argument) : dtp_give_new(result);
}

PyObject *dtp_give_list(dt_tensor **results, int n, const dtp_call *call) {
    PyObject *tuple = n < 0 ? dtp_raise() : PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *one = dtp_give(results[i], call);
        if (one)
            PyTuple_SetItem(tuple, i, one);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

PyObject *dtp_give_tuple(PyTypeObject *type, dt_tensor *const *results, int n, const dtp_call *call) {
    if (!results[0])
        return dtp_raise();
    PyObject *tuple = PyStructSequence_New(type);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *one = results[i] ? dtp_give(results[i], call) : Py_NewRef(Py_None);
        if (one)
            PyStructSequence_SetItem(tuple, i, one);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static void deallocate(PyObject *self) {
    dtp_tensor *tensor = (dtp_tensor *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (tensor->weak_references)
        PyObject_ClearWeakRefs(self);
    if (tensor->context == dtp_ctx_number && dtp_on_own_thread())
        dt_tensor_release_site(tensor->handle, NULL);
    else if (tensor->context == dtp_ctx_number)
        dtp_defer(tensor->handle, DTP_DEFERRED_TENSOR, tensor->context);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Whether the context of a tensor is open; otherwise an exception. */
static dt_tensor *live(PyObject *self) {
    if (((dtp_tensor *)self)->context == dtp_ctx_number && dtp_ctx_number)
        return dtp_handle_of(self);
    PyErr_SetString(PyExc_RuntimeError, "the context of this tensor was closed");
    return NULL;
}

PyObject *dtp_ints_tuple(const int64_t *values, int n) {
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *one = PyLong_FromLongLong(values[i]);
        if (one)
            PyTuple_SetItem(tuple, i, one);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* Properties. */

static PyObject *get_shape(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? dtp_ints_tuple(dt_tensor_shape(tensor), dt_tensor_n_dims(tensor)) : NULL;
}

static PyObject *get_local_shape(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? dtp_ints_tuple(dt_tensor_local_shape(tensor), dt_tensor_local_n_dims(tensor)) : NULL;
}

static PyObject *get_local_strides(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? dtp_ints_tuple(dt_tensor_strides(tensor), dt_tensor_local_n_dims(tensor)) : NULL;
}

static PyObject *get_dtype(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? dtp_dtype_object(dt_tensor_dtype(tensor)) : NULL;
}

static PyObject *get_n_dims(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? PyLong_FromLong(dt_tensor_n_dims(tensor)) : NULL;
}

static PyObject *get_requires_grad(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? PyBool_FromLong(dt_requires_grad(tensor)) : NULL;
}

static int set_requires_grad(PyObject *self, PyObject *value, void *unused) {
    bool is_set = false;
    (void)unused;
    dt_tensor *tensor = live(self);
    if (!tensor || !value || !dtp_is_own_thread() || !dtp_to_bool(value, &is_set))
        return -1;
    if (dt_set_requires_grad_site(tensor, is_set, NULL) == DT_OK)
        return 0;
    dtp_raise();
    return -1;
}

static PyObject *get_grad(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? dtp_give_borrowed(dt_grad(tensor)) : NULL;
}

static int set_grad(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    if (!tensor)
        return -1;
    if (value && value != Py_None) {
        PyErr_SetString(PyExc_TypeError, "grad: expected None, which drops the gradient; x.grad.copy_(y) changes it");
        return -1;
    }
    if (dt_zero_grad_site((dt_tensors){1, &tensor}, NULL) == DT_OK)
        return 0;
    dtp_raise();
    return -1;
}

static PyObject *get_is_leaf(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? PyBool_FromLong(dt_is_leaf(tensor)) : NULL;
}

static PyObject *get_is_distributed(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? PyBool_FromLong(dt_tensor_spec(tensor) != NULL) : NULL;
}

static PyObject *get_mesh(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    dt_mesh *mesh = tensor ? dt_tensor_mesh(tensor) : NULL;
    return !tensor ? NULL : !mesh ? Py_NewRef(Py_None) : dtp_give_handle(dt_mesh_retain(mesh), DTP_MESH, false);
}

/* The placements of a spec as text; NULL: a plain tensor, or an exception. */
static PyObject *place_text(const dt_spec *spec) {
    int n = dt_mesh_n_dims(dt_spec_mesh(spec));
    size_t size = dt_placements_text(n, dt_spec_placements(spec), 0, NULL);
    char *text = PyMem_Malloc(size + 1);
    if (!text)
        return PyErr_NoMemory();
    dt_placements_text(n, dt_spec_placements(spec), size + 1, text);
    PyObject *result = PyUnicode_FromStringAndSize(text, (Py_ssize_t)size);
    PyMem_Free(text);
    return result;
}

static PyObject *get_place_text(PyObject *self, void *use) {
    dt_tensor *tensor = live(self);
    const dt_spec *spec = !tensor ? NULL : use ? dt_tensor_use(tensor) : dt_tensor_spec(tensor);
    return !tensor ? NULL : !spec ? Py_NewRef(Py_None) : place_text(spec);
}

/* "f32[1024,512] S(0),R on mesh(dp=2,tp=4)" */
static PyObject *get_text(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    if (!tensor)
        return NULL;
    char text[512];
    size_t size = dt_tensor_text(tensor, sizeof text, text);
    return PyUnicode_FromStringAndSize(text, (Py_ssize_t)(size < sizeof text ? size : sizeof text - 1));
}

/* The picture of the shards; None for a plain tensor. Raises where there are too many to be drawn. */
static PyObject *get_picture(PyObject *self, void *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    if (!tensor || !dtp_is_own_thread())
        return NULL;
    const dt_spec *spec = dt_tensor_spec(tensor);
    char *text = spec ? dt_spec_svg_site(spec, NULL) : NULL;
    PyObject *result = text ? PyUnicode_FromString(text) : spec ? dtp_raise() : Py_NewRef(Py_None);
    free(text);
    return result;
}

static PyGetSetDef properties[] = {
    {"shape", get_shape, NULL, "The sizes of the full tensor.", NULL},
    {"local_shape", get_local_shape, NULL, "The sizes of the shard that this rank holds.", NULL},
    {"local_strides", get_local_strides, NULL, "The strides of the local tensor, in elements.", NULL},
    {"dtype", get_dtype, NULL, "The type of the elements.", NULL},
    {"ndim", get_n_dims, NULL, "The number of dims.", NULL},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether calls on the tensor are recorded for gradients.",
     NULL},
    {"grad", get_grad, set_grad, "The gradient that backward() has computed, or None; assign None to drop it.", NULL},
    {"is_leaf", get_is_leaf, NULL, "Whether no recorded call made the tensor.", NULL},
    {"is_distributed", get_is_distributed, NULL, "Whether the tensor is on a mesh; otherwise it is plain.", NULL},
    {"device_mesh", get_mesh, NULL, "The mesh, or None for a plain tensor.", NULL},
    {"_place_text", get_place_text, NULL, NULL, NULL},
    {"_use_text", get_place_text, NULL, NULL, (void *)1},
    {"_picture", get_picture, NULL, NULL, NULL},
    {"_text", get_text, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(dtp_tensor, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

/* Operators. Those of a number and a tensor call the op that takes them in this order. */

typedef struct operator_ops {
    const char *name, *reversed; /* ops; reversed takes the tensor first */
    const dtp_function *op, *reversed_op;
} operator_ops;

enum { ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, REMAINDER, POWER, MATMUL, AND, OR, XOR, N_BINARY };
static operator_ops binary[N_BINARY] = {
    [ADD] = {.name = "add", .reversed = "add"},
    [SUBTRACT] = {.name = "sub", .reversed = "rsub"},
    [MULTIPLY] = {.name = "mul", .reversed = "mul"},
    [DIVIDE] = {.name = "div"},
    [FLOOR_DIVIDE] = {.name = "floor_divide"},
    [REMAINDER] = {.name = "remainder"},
    [POWER] = {.name = "pow"},
    [MATMUL] = {.name = "matmul"},
    [AND] = {.name = "bitwise_and", .reversed = "bitwise_and"},
    [OR] = {.name = "bitwise_or", .reversed = "bitwise_or"},
    [XOR] = {.name = "bitwise_xor", .reversed = "bitwise_xor"},
};
static operator_ops in_place[N_BINARY] = {
    [ADD] = {.name = "add_"},
    [SUBTRACT] = {.name = "sub_"},
    [MULTIPLY] = {.name = "mul_"},
    [DIVIDE] = {.name = "div_"},
    [FLOOR_DIVIDE] = {.name = "floor_divide_"},
    [REMAINDER] = {.name = "remainder_"},
    [POWER] = {.name = "pow_"},
    [AND] = {.name = "bitwise_and_"},
    [OR] = {.name = "bitwise_or_"},
    [XOR] = {.name = "bitwise_xor_"},
};
enum { NEGATE, ABSOLUTE, INVERT, N_UNARY };
static operator_ops unary[N_UNARY] = {
    [NEGATE] = {.name = "neg"}, [ABSOLUTE] = {.name = "abs"}, [INVERT] = {.name = "bitwise_not"}};
static operator_ops compare[] = {
    [Py_LT] = {.name = "lt"}, [Py_LE] = {.name = "le"}, [Py_EQ] = {.name = "eq"},
    [Py_NE] = {.name = "ne"}, [Py_GT] = {.name = "gt"}, [Py_GE] = {.name = "ge"},
};

static const dtp_function *op_named(const char *name) {
    for (int i = 0; name && i < dtp_n_ops; i++)
        if (!strcmp(dtp_ops[i].name, name))
            return &dtp_ops[i];
    return NULL;
}

static void find_ops(operator_ops *table, size_t n) {
    for (size_t i = 0; i < n; i++) {
        table[i].op = op_named(table[i].name);
        table[i].reversed_op = op_named(table[i].reversed);
    }
}

/* A tensor without dims in place of a number that an op does not take: a quotient of a number, a complex one. It
 * has the dtype of the tensor, or a wider one if the number or the quotient needs it. */
static PyObject *tensor_of_number(PyObject *number, PyObject *like, bool divides) {
    PyObject *function = dtp_from_package("dtensor._tensor", "number_like");
    return function ? PyObject_CallFunctionObjArgs(function, number, like, divides ? Py_True : Py_False, NULL) : NULL;
}

static bool is_operand(PyObject *object) {
    return dtp_is_tensor(object) || dtp_is_number(object) || PyComplex_Check(object);
}

static PyObject *apply_converted(const dtp_function *op, PyObject *left, PyObject *right) {
    PyObject *number = dtp_is_tensor(left) ? right : left, *other = number == left ? right : left;
    PyObject *tensor = tensor_of_number(number, other, op == binary[DIVIDE].op);
    if (!tensor)
        return NULL;
    PyObject *args[] = {number == left ? tensor : left, number == left ? right : tensor};
    PyObject *result = dtp_invoke(op, NULL, args, 2, NULL);
    Py_DECREF(tensor);
    return result;
}

/* Other types may implement the operator. An array would not: without an error, == would be False. */
static PyObject *leave_to_other(const operator_ops *ops, PyObject *left, PyObject *right) {
    PyObject *other = dtp_is_tensor(left) ? right : left;
    if (!PyObject_HasAttrString(other, "__array_interface__"))
        return Py_NewRef(Py_NotImplemented);
    PyErr_Format(PyExc_TypeError,
                 "%s: expected a tensor or a number, got an array; dtensor.asarray() shares its memory",
                 ops->name ? ops->name : "operator");
    return NULL;
}

static PyObject *apply(const operator_ops *ops, PyObject *left, PyObject *right) {
    PyObject *args[] = {left, right}, *swapped[] = {right, left};
    if (!ops->op || !is_operand(left) || !is_operand(right))
        return leave_to_other(ops, left, right);
    if (PyComplex_Check(left) || PyComplex_Check(right))
        return apply_converted(ops->op, left, right);
    if (dtp_is_tensor(left) || ops == &binary[POWER])
        return dtp_invoke(ops->op, NULL, args, 2, NULL);
    return ops->reversed_op ? dtp_invoke(ops->reversed_op, NULL, swapped, 2, NULL)
                            : apply_converted(ops->op, left, right);
}

#define BINARY(function, which)                                                                                      \
    static PyObject *function(PyObject *left, PyObject *right) { return apply(&binary[which], left, right); }        \
    static PyObject *function##_in_place(PyObject *left, PyObject *right) {                                          \
        return apply(&in_place[which], left, right);                                                                 \
    }
BINARY(add, ADD)
BINARY(subtract, SUBTRACT)
BINARY(multiply, MULTIPLY)
BINARY(divide, DIVIDE)
BINARY(floor_divide, FLOOR_DIVIDE)
BINARY(take_remainder, REMAINDER)
BINARY(bit_and, AND)
BINARY(bit_or, OR)
BINARY(bit_xor, XOR)

static PyObject *multiply_matrices(PyObject *left, PyObject *right) { return apply(&binary[MATMUL], left, right); }
static PyObject *power(PyObject *left, PyObject *right, PyObject *modulus) {
    return modulus == Py_None ? apply(&binary[POWER], left, right) : Py_NewRef(Py_NotImplemented);
}
static PyObject *power_in_place(PyObject *left, PyObject *right, PyObject *modulus) {
    return modulus == Py_None ? apply(&in_place[POWER], left, right) : Py_NewRef(Py_NotImplemented);
}
static PyObject *apply_unary(int which, PyObject *self) { return dtp_invoke(unary[which].op, NULL, &self, 1, NULL); }
static PyObject *negate(PyObject *self) { return apply_unary(NEGATE, self); }
static PyObject *absolute(PyObject *self) { return apply_unary(ABSOLUTE, self); }
static PyObject *invert(PyObject *self) { return apply_unary(INVERT, self); }
static PyObject *positive(PyObject *self) { return Py_NewRef(self); }

static PyObject *compare_with(PyObject *self, PyObject *other, int which) {
    return apply(&compare[which], self, other);
}
static Py_hash_t hash(PyObject *self) { return (Py_hash_t)((uintptr_t)self >> 4); }

/* Values: Collective over the mesh. */

static PyObject *complex_item(dt_tensor *tensor) {
    dt_tensor *full = dt_full_tensor_sized(tensor, NULL, 0);
    if (!full)
        return dtp_raise();
    const double *wide = dt_data(full);
    const float *narrow = dt_data(full);
    bool is_wide = dt_tensor_dtype(full) == DT_C128;
    PyObject *result = !dt_data(full) || dt_tensor_elements(full) != 1
                           ? NULL
                           : PyComplex_FromDoubles(is_wide ? wide[0] : narrow[0], is_wide ? wide[1] : narrow[1]);
    if (!result)
        PyErr_SetString(PyExc_ValueError, "item: expected a tensor of 1 element");
    if (full != tensor)
        dt_drop_site(full, NULL);
    return result;
}

static PyObject *item(PyObject *self, PyObject *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    if (!tensor || !dtp_is_own_thread())
        return NULL;
    dt_dtype dtype = dt_tensor_dtype(tensor);
    const char *word = dt_dtype_name(dtype);
    if (word[0] == 'c')
        return complex_item(tensor);
    bool is_integer = word[0] == 'i' || word[0] == 'u';
    int64_t integer = is_integer ? dt_item_i64_site(tensor, NULL) : 0;
    double real = is_integer ? 0 : dt_item_site(tensor, NULL);
    if (dt_failed(dtp_ctx) || PyErr_Occurred())
        return dtp_raise();
    return is_integer         ? PyLong_FromLongLong(integer)
           : dtype == DT_BOOL ? PyBool_FromLong(real != 0)
                              : PyFloat_FromDouble(real);
}

static PyObject *item_as(PyObject *self, PyObject *(*convert)(PyObject *)) {
    PyObject *value = item(self, NULL), *result = value ? convert(value) : NULL;
    Py_XDECREF(value);
    return result;
}
static PyObject *to_float(PyObject *self) { return item_as(self, PyNumber_Float); }
static PyObject *to_int(PyObject *self) { return item_as(self, PyNumber_Long); }
static PyObject *to_index(PyObject *self) { return item_as(self, PyNumber_Index); }
static int is_true(PyObject *self) {
    dt_tensor *tensor = live(self);
    if (tensor && dt_tensor_elements(tensor) != 1) {
        PyErr_SetString(
            PyExc_ValueError,
            "the truth value of a tensor of more or fewer than 1 element is ambiguous; use any() or all()");
        return -1;
    }
    PyObject *value = tensor ? item(self, NULL) : NULL;
    int result = value ? PyObject_IsTrue(value) : -1;
    Py_XDECREF(value);
    return result;
}

static Py_ssize_t length(PyObject *self) {
    dt_tensor *tensor = live(self);
    if (tensor && dt_tensor_n_dims(tensor) == 0)
        PyErr_SetString(PyExc_TypeError, "len() of a tensor without dims");
    return !tensor || dt_tensor_n_dims(tensor) == 0 ? -1 : (Py_ssize_t)dt_tensor_size(tensor, 0);
}

static PyObject *data_ptr(PyObject *self, PyObject *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? PyLong_FromVoidPtr(dt_data(tensor)) : NULL;
}

static PyObject *is_contiguous(PyObject *self, PyObject *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? PyBool_FromLong(dt_tensor_is_contiguous(tensor)) : NULL;
}

static PyObject *element_count(PyObject *self, PyObject *unused) {
    (void)unused;
    dt_tensor *tensor = live(self);
    return tensor ? PyLong_FromLongLong(dt_tensor_elements(tensor)) : NULL;
}

static PyMethodDef methods[] = {
    {"item", item, METH_NOARGS, "The value of a tensor of one element. Communicates: all ranks of the mesh call it."},
    {"data_ptr", data_ptr, METH_NOARGS, "The address of the first element that this rank holds."},
    {"is_contiguous", is_contiguous, METH_NOARGS, "Whether the local tensor is dense and row-major."},
    {"numel", element_count, METH_NOARGS, "The number of elements of the full tensor."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, deallocate},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_tp_methods, methods},
    {Py_tp_hash, hash},
    {Py_tp_richcompare, compare_with},
    {Py_tp_doc, "A tensor, plain or distributed over a mesh. Every op is a method and a function of the module."},
    {Py_nb_add, add},
    {Py_nb_inplace_add, add_in_place},
    {Py_nb_subtract, subtract},
    {Py_nb_inplace_subtract, subtract_in_place},
    {Py_nb_multiply, multiply},
    {Py_nb_inplace_multiply, multiply_in_place},
    {Py_nb_true_divide, divide},
    {Py_nb_inplace_true_divide, divide_in_place},
    {Py_nb_floor_divide, floor_divide},
    {Py_nb_inplace_floor_divide, floor_divide_in_place},
    {Py_nb_remainder, take_remainder},
    {Py_nb_inplace_remainder, take_remainder_in_place},
    {Py_nb_power, power},
    {Py_nb_inplace_power, power_in_place},
    {Py_nb_and, bit_and},
    {Py_nb_inplace_and, bit_and_in_place},
    {Py_nb_or, bit_or},
    {Py_nb_inplace_or, bit_or_in_place},
    {Py_nb_xor, bit_xor},
    {Py_nb_inplace_xor, bit_xor_in_place},
    {Py_nb_matrix_multiply, multiply_matrices},
    {Py_nb_negative, negate},
    {Py_nb_positive, positive},
    {Py_nb_absolute, absolute},
    {Py_nb_invert, invert},
    {Py_nb_bool, is_true},
    {Py_nb_float, to_float},
    {Py_nb_int, to_int},
    {Py_nb_index, to_index},
    {Py_mp_length, length},
    {Py_mp_subscript, dtp_get_item},
    {Py_mp_ass_subscript, dtp_set_item},
    {Py_bf_getbuffer, dtp_get_buffer},
    {Py_bf_releasebuffer, dtp_release_buffer},
    {0, NULL},
};
static PyType_Spec spec = {"dtensor.DTensor", sizeof(dtp_tensor), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

/* The generated methods, but for those that are written here. */
static bool add_methods(void) {
    for (PyMethodDef *method = dtp_op_methods; method->ml_name; method++) {
        PyObject *function = PyDescr_NewMethod(dtp_tensor_type, method);
        int status = function ? PyObject_SetAttrString((PyObject *)dtp_tensor_type, method->ml_name, function) : -1;
        Py_XDECREF(function);
        if (status < 0)
            return false;
    }
    for (PyGetSetDef *property = dtp_op_properties; property->name; property++) {
        PyObject *descriptor = PyDescr_NewGetSet(dtp_tensor_type, property);
        int status =
            descriptor ? PyObject_SetAttrString((PyObject *)dtp_tensor_type, property->name, descriptor) : -1;
        Py_XDECREF(descriptor);
        if (status < 0)
            return false;
    }
    return true;
}

bool dtp_make_tensor_type(PyObject *module) {
    find_ops(binary, N_BINARY);
    find_ops(in_place, N_BINARY);
    find_ops(unary, N_UNARY);
    find_ops(compare, sizeof compare / sizeof *compare);
    dtp_tensor_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return dtp_tensor_type && add_methods() &&
           PyModule_AddObjectRef(module, "DTensor", (PyObject *)dtp_tensor_type) == 0;
}
