/* SPDX-License-Identifier: Apache-2.0
 *
 * x[…] and x[…] = y: the index becomes the text of dt_at and dt_set_at, with a `?` for each tensor. Lists and arrays
 * become tensors first. A mask states how many of its elements are true, which is counted, and communicates.
 */
#include "binding.h"

#include <string.h>

enum { TEXT_BYTES = 1024, MAX_TENSORS = 32 };

typedef struct index_text {
    char text[TEXT_BYTES];
    size_t n;
    dt_tensor *tensors[MAX_TENSORS];
    PyObject *owners[MAX_TENSORS]; /* of tensors that were made of lists; or NULL */
    int n_tensors;
    bool counts_masks; /* the shape of the result depends on them */
} index_text;

static bool add_text(index_text *to, const char *text) {
    size_t n = strlen(text);
    if (to->n + n + 1 > TEXT_BYTES) {
        PyErr_SetString(PyExc_IndexError, "the index is too long");
        return false;
    }
    memcpy(to->text + to->n, text, n + 1);
    to->n += n;
    return true;
}

/* Digits are written by hand: this is the most frequent part of the most frequent index. */
static bool add_integer(index_text *to, int64_t value) {
    char digits[24], *at = digits + sizeof digits - 1;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    *at = 0;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--at = '-';
    return add_text(to, at);
}

static bool add_slice(index_text *to, PyObject *slice) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0)
        return false;
    bool has_start = step > 0 ? start != 0 : start != PY_SSIZE_T_MAX;
    bool has_stop = step > 0 ? stop != PY_SSIZE_T_MAX : stop != PY_SSIZE_T_MIN;
    return (!has_start || add_integer(to, start)) && add_text(to, ":") && (!has_stop || add_integer(to, stop)) &&
           (step == 1 || (add_text(to, ":") && add_integer(to, step)));
}

static bool count_true(dt_tensor *mask, int64_t *out) {
    dt_scope scope = dt_scope_begin_site(dtp_ctx, NULL);
    dt_no_grad_begin(dtp_ctx);
    *out = dt_item_i64_site(dt_count_nonzero_sized(mask, NULL, 0), NULL);
    dt_no_grad_end_site(dtp_ctx, NULL);
    dt_scope_end_site(scope, NULL);
    if (dt_failed(dtp_ctx))
        dtp_raise();
    return !PyErr_Occurred();
}

/* Takes the reference of owner, which may be NULL. */
static bool add_tensor(index_text *to, dt_tensor *tensor, PyObject *owner) {
    int64_t n = 0;
    if (to->n_tensors == MAX_TENSORS) {
        Py_XDECREF(owner);
        PyErr_Format(PyExc_IndexError, "an index has at most %d tensors", MAX_TENSORS);
        return false;
    }
    to->owners[to->n_tensors] = owner;
    to->tensors[to->n_tensors++] = tensor;
    if (!add_text(to, "?"))
        return false;
    if (dt_tensor_dtype(tensor) != DT_BOOL || !to->counts_masks)
        return true;
    return count_true(tensor, &n) && add_text(to, "(") && add_integer(to, n) && add_text(to, ")");
}

static bool add_item(index_text *to, PyObject *self, PyObject *item) {
    int64_t integer = 0;
    if (PySlice_Check(item))
        return add_slice(to, item);
    if (item == Py_None)
        return add_text(to, "None");
    if (item == Py_Ellipsis)
        return add_text(to, "...");
    if (dtp_is_tensor(item))
        return add_tensor(to, dtp_handle_of(item), NULL);
    if (!PyBool_Check(item) && (PyLong_Check(item) || (PyIndex_Check(item) && !PySequence_Check(item))))
        return dtp_to_int(item, &integer) && add_integer(to, integer);
    PyObject *function = dtp_from_package("dtensor._tensor", "index_of");
    PyObject *tensor = function ? PyObject_CallFunctionObjArgs(function, item, self, NULL) : NULL;
    return tensor && add_tensor(to, dtp_handle_of(tensor), tensor);
}

static bool add_index(index_text *to, PyObject *self, PyObject *index) {
    if (!PyTuple_Check(index))
        return add_item(to, self, index);
    Py_ssize_t n = PyTuple_Size(index);
    bool added = n > 0 || add_text(to, "...");
    for (Py_ssize_t i = 0; i < n && added; i++)
        added = (i == 0 || add_text(to, ",")) && add_item(to, self, PyTuple_GetItem(index, i));
    return added;
}

static void end_index(index_text *text) {
    for (int i = 0; i < text->n_tensors; i++)
        Py_XDECREF(text->owners[i]);
}

PyObject *dtp_get_item(PyObject *self, PyObject *index) {
    index_text text;
    text.n = 0;
    text.n_tensors = 0;
    text.counts_masks = true;
    if (!dtp_is_own_thread())
        return NULL;
    PyObject *result = NULL;
    dt_tensor *newest = dtp_newest();
    if (add_index(&text, self, index)) {
        PyThreadState *thread = dtp_begin_long(text.n_tensors ? dtp_elements_of(self) : 0);
        dt_tensor *selected = dt_at_site(dtp_handle_of(self), text.text, text.n_tensors, text.tensors, NULL);
        dtp_end_long(thread);
        result = selected == dtp_handle_of(self) ? Py_NewRef(self) : dtp_give_new(selected);
    }
    dtp_drop_newer(newest);
    end_index(&text);
    return result;
}

/* A value that is not a tensor, as one of the tensor's dtype; a new reference. */
static PyObject *value_of(PyObject *value, PyObject *self) {
    dt_tensor *to = dtp_handle_of(self);
    dt_make_options options = {.dtype = dt_tensor_dtype(to), .mesh = dt_tensor_mesh(to)};
    int64_t none = 0;
    dt_number number;
    if (dtp_is_number(value))
        return dtp_to_number(value, &number)
                   ? dtp_give_new(dt_full_sized(dtp_ctx, (dt_shape){0, &none}, number, &options, sizeof options))
                   : NULL;
    PyObject *function = dtp_from_package("dtensor._tensor", "value_like");
    return function ? PyObject_CallFunctionObjArgs(function, value, self, NULL) : NULL;
}

int dtp_set_item(PyObject *self, PyObject *index, PyObject *value) {
    index_text text;
    text.n = 0;
    text.n_tensors = 0;
    PyObject *converted = NULL;
    if (!dtp_is_own_thread())
        return -1;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "elements of a tensor cannot be deleted");
        return -1;
    }
    if (!dtp_is_tensor(value) && !(value = converted = value_of(value, self)))
        return -1;
    /* One value for all elements of one mask: nothing has to know how many these are. */
    text.counts_masks = PyTuple_Check(index) || dt_tensor_elements(dtp_handle_of(value)) != 1;
    dt_tensor *newest = dtp_newest();
    bool done = add_index(&text, self, index);
    if (done) {
        bool is_one = !strpbrk(text.text, ":?."); /* an element, or a row of a few */
        PyThreadState *thread = dtp_begin_long(is_one ? 0 : dtp_elements_of(self));
        done = dt_set_at_site(dtp_handle_of(self), dtp_handle_of(value), text.text, text.n_tensors, text.tensors,
                              NULL) != NULL;
        dtp_end_long(thread);
        if (!done)
            dtp_raise();
    }
    dtp_drop_newer(newest);
    end_index(&text);
    Py_XDECREF(converted);
    return done ? 0 : -1;
}
