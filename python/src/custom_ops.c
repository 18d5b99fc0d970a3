/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that a program registers with a function of Python. The function gets the local tensors as plain ones, on the
 * memory of the call, and what it returns is copied to the outputs.
 */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

/* A registered op; it lives as long as the process, because contexts refer to it. */
typedef struct python_op {
    dt_op op;
    PyObject *function, *shape; /* shape: or NULL */
} python_op;

static const python_op *op_of(const dt_op_call *call) { return call->op->family; }

/* Refuses the call with the text of the exception, which stays. */
static dt_status refuse(const dt_op_call *call) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *chars = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyErr_Clear();
    dt_status status = dt_op_refuse(call, DT_ERR_VALUE, "the function raised an exception: %s", chars ? chars : "");
    Py_XDECREF(text);
    PyErr_Restore(type, value, trace);
    return status;
}

static dt_status infer_shape(dt_op_call *call) {
    const python_op *op = op_of(call);
    if (!op->shape)
        return dt_op_broadcast(call);
    dtp_python entered = dtp_enter_python();
    PyObject *shapes = PyTuple_New(call->n_inputs), *result = NULL;
    for (int i = 0; shapes && i < call->n_inputs; i++)
        PyTuple_SetItem(shapes, i, dtp_ints_tuple(call->inputs[i].shape, call->inputs[i].n_dims));
    result = shapes ? PyObject_Call(op->shape, shapes, NULL) : NULL;
    dtp_ints sizes;
    dt_status status = DT_ERR_VALUE;
    if (result && dtp_to_ints(result, &sizes)) {
        status = dt_op_add_output(call, call->inputs[0].dtype, (int)sizes.n, sizes.list);
        dtp_ints_end(&sizes);
    } else {
        status = refuse(call);
    }
    Py_XDECREF(result);
    Py_XDECREF(shapes);
    dtp_leave_python(entered);
    return status;
}

/* A plain tensor on the memory of a value of the call. */
static dt_tensor *tensor_of(dt_ctx *ctx, const dt_op_value *value) {
    static const struct code {
        char letter;
        uint8_t code;
    } codes[] = {{'f', 2}, {'i', 0}, {'u', 1}, {'c', 5}};
    const char *word = dt_dtype_name(value->dtype);
    uint8_t code = value->dtype == DT_BF16 ? 4 : 6; /* bool */
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].letter == word[0])
            code = codes[i].code;
    dt_dlpack_managed *managed = calloc(1, sizeof *managed);
    if (!managed)
        return NULL;
    *managed = (dt_dlpack_managed){.tensor = {.data = value->data,
                                              .device = {1, 0},
                                              .n_dims = value->n_dims,
                                              .dtype = {code, (uint8_t)(8 * dt_dtype_size(value->dtype)), 1},
                                              .shape = (int64_t *)(uintptr_t)value->shape,
                                              .strides = (int64_t *)(uintptr_t)value->strides}};
    dt_tensor *tensor = dt_from_dlpack_site(ctx, managed, NULL);
    free(managed); /* it has no deleter */
    return tensor;
}

static dt_status run_function(dt_op_call *call) {
    dt_ctx *ctx = call->ctx;
    PyObject *inputs = PyTuple_New(call->n_inputs), *result = NULL;
    for (int i = 0; inputs && i < call->n_inputs; i++) {
        PyObject *one = dtp_give_new(tensor_of(ctx, &call->inputs[i]));
        if (one)
            PyTuple_SetItem(inputs, i, one);
        else
            Py_CLEAR(inputs);
    }
    result = inputs ? PyObject_Call(op_of(call)->function, inputs, NULL) : NULL;
    Py_XDECREF(inputs);
    if (result && !dtp_is_tensor(result))
        PyErr_Format(PyExc_TypeError, "expected a tensor as the result, got %R", (PyObject *)Py_TYPE(result));
    if (!result || !dtp_is_tensor(result)) {
        Py_XDECREF(result);
        return refuse(call);
    }
    dt_tensor *to = tensor_of(ctx, &call->outputs[0]);
    dt_copy_in_place_sized(to, dtp_handle_of(result), NULL, 0);
    dt_drop_site(to, NULL);
    Py_DECREF(result);
    return dt_error_status(ctx);
}

static dt_status run_kernel(dt_op_call *call) {
    dtp_python entered = dtp_enter_python();
    dt_no_grad_begin(call->ctx);
    dt_status status = PyErr_Occurred() ? DT_ERR_STATE : run_function(call);
    dt_no_grad_end_site(call->ctx, NULL);
    dtp_leave_python(entered);
    return status;
}

/* (schema, function, rule, shape or None, gradient or None, summary) */
PyObject *dtp_register_op(PyObject *self, PyObject *args) {
    const char *schema, *rule, *gradient, *summary;
    PyObject *function, *shape;
    (void)self;
    if (!PyArg_ParseTuple(args, "sOsOzs", &schema, &function, &rule, &shape, &gradient, &summary) ||
        !dtp_is_own_thread() || !dtp_context())
        return NULL;
    python_op *op = calloc(1, sizeof *op);
    if (!op)
        return PyErr_NoMemory();
    op->op = (dt_op){.schema = strdup(schema),
                     .rule = strdup(rule),
                     .shape = infer_shape,
                     .kernel = run_kernel,
                     .gradient = gradient ? strdup(gradient) : NULL,
                     .summary = strdup(summary),
                     .flags = gradient ? 0 : DT_OP_NOT_DIFFERENTIABLE,
                     .family = op};
    op->function = Py_NewRef(function);
    op->shape = shape == Py_None ? NULL : Py_NewRef(shape);
    return dtp_status(dt_op_register_sized(dtp_ctx, &op->op, sizeof op->op, NULL));
}

/* (name, tensors) */
PyObject *dtp_run_op(PyObject *self, PyObject *args) {
    const char *name;
    PyObject *tensors;
    dtp_tensors list;
    (void)self;
    if (!PyArg_ParseTuple(args, "sO", &name, &tensors) || !dtp_is_own_thread() || !dtp_context() ||
        !dtp_to_tensors(tensors, false, &list))
        return NULL;
    dt_tensor *newest = dtp_newest();
    PyObject *result = dtp_give_new(dt_op_run_tensors(dtp_ctx, name, (int)list.n, list.list, NULL));
    dtp_drop_newer(newest);
    dtp_tensors_end(&list);
    return result;
}
