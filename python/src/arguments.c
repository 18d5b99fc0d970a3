/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds the arguments of a call to the first signature that takes them, and converts them. A signature takes an
 * argument by its type alone, as in PyTorch; values are checked by the library.
 */
#include "binding.h"

#include <string.h>

static const char *const kind_words[DTP_N_KINDS] = {
    [DTP_TENSOR] = "a tensor",
    [DTP_TENSORS] = "a sequence of tensors",
    [DTP_OPTIONAL_TENSORS] = "a sequence of tensors or None",
    [DTP_INT] = "an integer",
    [DTP_REAL] = "a number",
    [DTP_BOOL] = "a bool",
    [DTP_NUMBER] = "a number",
    [DTP_INTS] = "integers",
    [DTP_REALS] = "numbers",
    [DTP_DTYPE] = "a dtype",
    [DTP_TEXT] = "a str",
    [DTP_PLACE] = "placements",
    [DTP_HANDLE] = "an object",
};

bool dtp_intern(const dtp_function *functions, int n) {
    for (int f = 0; f < n; f++)
        for (int s = 0; s < functions[f].n_signatures; s++)
            for (int i = 0; i < functions[f].signatures[s].n; i++) {
                dtp_param *param = &functions[f].signatures[s].params[i];
                if (!param->word && !(param->word = PyUnicode_InternFromString(param->name)))
                    return false;
            }
    return true;
}

static bool is_sequence(PyObject *object) {
    return PyTuple_Check(object) || PyList_Check(object) ||
           (PySequence_Check(object) && !PyUnicode_Check(object) && !dtp_is_tensor(object));
}

static bool is_integer(PyObject *object) {
    return PyLong_Check(object) || (PyIndex_Check(object) && !dtp_is_tensor(object) && !PySequence_Check(object));
}

/* Numbers of NumPy have no length, its arrays do. */
static bool has_float(PyObject *object) {
    return !dtp_is_tensor(object) && !PyUnicode_Check(object) && !PyTuple_Check(object) && !PyList_Check(object) &&
           !PyType_Check(object) && PyObject_HasAttrString(object, "__float__") &&
           !PyObject_HasAttrString(object, "__len__");
}

static bool is_real(PyObject *object) { return PyFloat_Check(object) || is_integer(object) || has_float(object); }

bool dtp_is_number(PyObject *object) { return is_real(object); }

static bool is_dtype(PyObject *object) {
    return dtp_dtype_of(object) != DT_NO_DTYPE || PyUnicode_Check(object) || PyType_Check(object) ||
           (!dtp_is_tensor(object) && !is_sequence(object) && !dtp_is_number(object) && object != Py_None &&
            PyObject_HasAttrString(object, "itemsize"));
}

/* Whether a parameter takes an object, by its type. */
static bool takes(const dtp_param *param, PyObject *object) {
    switch ((dtp_kind)param->kind) {
    case DTP_TENSOR:
        return dtp_is_tensor(object);
    case DTP_TENSORS:
    case DTP_OPTIONAL_TENSORS:
        return is_sequence(object);
    case DTP_REALS:
        return is_real(object) || is_sequence(object);
    case DTP_INT:
        return is_integer(object);
    case DTP_REAL:
    case DTP_NUMBER:
        return is_real(object);
    case DTP_BOOL:
        return PyBool_Check(object) || (has_float(object) && !PyFloat_Check(object));
    case DTP_INTS:
        return is_integer(object) || is_sequence(object);
    case DTP_DTYPE:
        return is_dtype(object);
    case DTP_TEXT:
        return PyUnicode_Check(object) || PyObject_HasAttrString(object, "__fspath__");
    case DTP_PLACE:
        return PyUnicode_Check(object) || is_sequence(object);
    case DTP_HANDLE:
        return dtp_is_handle(object, param->handle);
    case DTP_N_KINDS:
        break;
    }
    return false;
}

static int refuse(const dtp_call *call, const char *format, const dtp_param *param, PyObject *object) {
    PyObject *type = object ? PyType_GetName(Py_TYPE(object)) : NULL;
    if (object && type)
        PyErr_Format(PyExc_TypeError, format, call->function->name, param->name, kind_words[param->kind], type);
    else if (!object)
        PyErr_Format(PyExc_TypeError, format, call->function->name, param->name);
    Py_XDECREF(type);
    return -1;
}

/* The parameter of a keyword; -1: none. Functions of PyTorch name their first tensor `input`. Names in a program's
 * source are interned, as ours are; only names that it builds at run time need to be compared. */
static int param_of(const dtp_call *call, PyObject *word) {
    const dtp_signature *signature = call->signature;
    for (int i = 0; i < signature->n; i++)
        if (signature->params[i].word == word)
            return i;
    for (int i = 0; i < signature->n && call->compares; i++)
        if (PyUnicode_Compare(signature->params[i].word, word) == 0)
            return i;
    return signature->n && !strcmp(signature->params[0].name, "self") &&
                   PyUnicode_CompareWithASCIIString(word, "input") == 0
               ? 0
               : -1;
}

/* Integers or tensors that were given one by one, from position `at` on, where the signature allows it. One integer is
 * a list of one as it is. */
static bool spreads(const dtp_signature *signature, int at, PyObject *const *args, Py_ssize_t n) {
    if (at >= signature->n || !(signature->params[at].flags & DTP_SPREAD))
        return false;
    bool is_tensors = signature->params[at].kind == DTP_TENSORS;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(is_tensors ? dtp_is_tensor(args[i]) : is_integer(args[i])))
            return false;
    return n > (is_tensors ? 0 : 1);
}

static PyObject *tuple_of(PyObject *const *args, Py_ssize_t n) {
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t i = 0; tuple && i < n; i++)
        PyTuple_SetItem(tuple, i, Py_NewRef(args[i]));
    return tuple;
}

/* 1: bound; 0: this signature does not take these arguments; -1: an exception. With `raises`, -1 in place of 0. */
static int bind_position(dtp_call *call, int at, PyObject *object, bool raises) {
    const dtp_signature *signature = call->signature;
    if (at >= signature->n || (signature->params[at].flags & DTP_KEYWORD)) {
        if (raises)
            PyErr_Format(PyExc_TypeError, "%s(): expected at most %d arguments by position, got more",
                         call->function->name, at);
        return raises ? -1 : 0;
    }
    call->given[at] = object;
    return 1;
}

static int bind_names(dtp_call *call, PyObject *const *values, PyObject *names, bool raises) {
    Py_ssize_t n = PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *word = PyTuple_GetItem(names, i);
        int at = param_of(call, word);
        if (at < 0 || call->given[at]) {
            if (raises)
                PyErr_Format(PyExc_TypeError,
                             at < 0 ? "%s(): unexpected argument %R" : "%s(): argument %R was given twice",
                             call->function->name, word);
            return raises ? -1 : 0;
        }
        call->given[at] = values[i];
    }
    return 1;
}

static int check_given(dtp_call *call, bool raises) {
    for (int i = 0; i < call->signature->n; i++) {
        const dtp_param *param = &call->signature->params[i];
        PyObject *object = call->given[i];
        if (object == Py_None && (param->flags & DTP_OPTIONAL) && param->kind != DTP_OPTIONAL_TENSORS)
            object = call->given[i] = NULL;
        if (!object && !(param->flags & DTP_OPTIONAL))
            return raises ? refuse(call, "%s(): missing argument '%s'", param, NULL) : 0;
        if (object && !takes(param, object))
            return raises ? refuse(call, "%s(): argument '%s': expected %s, got %U", param, object) : 0;
    }
    return 1;
}

static int bind(dtp_call *call, PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names, bool raises) {
    int at = 0, bound = 1;
    Py_ssize_t i = 0;
    memset(call->given, 0, (size_t)call->signature->n * sizeof *call->given);
    if (self)
        call->given[at++] = self;
    for (; i < n && bound == 1; i++, at++) {
        if (spreads(call->signature, at, args + i, n - i)) {
            Py_XDECREF(call->spread);
            if (!(call->spread = tuple_of(args + i, n - i)))
                return -1;
            call->given[at] = call->spread;
            break;
        }
        bound = bind_position(call, at, args[i], raises);
    }
    if (bound == 1 && names)
        bound = bind_names(call, args + n, names, raises);
    return bound == 1 ? check_given(call, raises) : bound;
}

static bool raise_for_overloads(dtp_call *call, PyObject *self, PyObject *const *args, Py_ssize_t n,
                                PyObject *names) {
    PyObject *types = PyList_New(0), *joined = NULL, *comma = PyUnicode_FromString(", ");
    Py_ssize_t n_names = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = -(self != NULL); types && i < n + n_names; i++) {
        PyObject *type = PyType_GetName(Py_TYPE(i < 0 ? self : args[i]));
        PyObject *text =
            type && i >= n ? PyUnicode_FromFormat("%U=%U", PyTuple_GetItem(names, i - n), type) : Py_XNewRef(type);
        if (text)
            PyList_Append(types, text);
        Py_XDECREF(text);
        Py_XDECREF(type);
    }
    if (types && comma && (joined = PyUnicode_Join(comma, types)))
        PyErr_Format(PyExc_TypeError, "%s(): no signature takes (%U); see help(dtensor.%s)", call->function->name,
                     joined, call->function->name);
    Py_XDECREF(types);
    Py_XDECREF(joined);
    Py_XDECREF(comma);
    return false;
}

static bool select_signature(dtp_call *call, PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    const dtp_function *function = call->function;
    bool is_only = function->n_signatures == 1;
    for (int compares = is_only; compares <= (names != NULL || is_only); compares++)
        for (int i = 0; i < function->n_signatures; i++) {
            call->compares = compares;
            call->signature = &function->signatures[i];
            int bound = bind(call, self, args, n, names, is_only);
            if (bound)
                return bound == 1;
        }
    return raise_for_overloads(call, self, args, n, names);
}

PyObject *dtp_invoke(const dtp_function *function, PyObject *self, PyObject *const *args, Py_ssize_t n,
                     PyObject *names) {
    dtp_call call;
    call.function = function;
    call.spread = NULL;
    if (!dtp_is_own_thread())
        return NULL;
    dt_tensor *newest = dtp_newest();
    PyObject *result = select_signature(&call, self, args, n, names) ? call.signature->run(&call) : NULL;
    dtp_drop_newer(newest);
    Py_XDECREF(call.spread);
    return result;
}

bool dtp_to_int(PyObject *object, int64_t *out) {
    int overflow = 0;
    PyObject *index = PyLong_Check(object) ? Py_NewRef(object) : PyNumber_Index(object);
    if (!index)
        return false;
    *out = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow)
        PyErr_SetString(PyExc_OverflowError, "expected an integer of 64 bits, got a larger one");
    return !overflow && !PyErr_Occurred();
}

bool dtp_to_real(PyObject *object, double *out) {
    *out = PyFloat_AsDouble(object);
    return *out != -1.0 || !PyErr_Occurred();
}

bool dtp_to_bool(PyObject *object, bool *out) {
    int is_true = PyObject_IsTrue(object);
    *out = is_true == 1;
    return is_true >= 0;
}

bool dtp_to_number(PyObject *object, dt_number *out) {
    int64_t integer = 0;
    double real = 0;
    if (PyBool_Check(object)) {
        *out = dt_number_bool(object == Py_True);
        return true;
    }
    if (is_integer(object) && dtp_to_int(object, &integer)) {
        *out = dt_number_int(integer);
        return true;
    }
    if (PyErr_Occurred() || !dtp_to_real(object, &real))
        return false;
    *out = dt_number_real(real);
    return true;
}

bool dtp_to_text(PyObject *object, const char **out) {
    *out = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (!*out && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "expected a str; os.fspath() makes one of a path");
    return *out != NULL;
}

bool dtp_to_place(PyObject *object, const char **out, PyObject **owner) {
    *owner = NULL;
    if (PyUnicode_Check(object))
        return dtp_to_text(object, out);
    PyObject *function = dtp_from_package("dtensor._placements", "text_of");
    *owner = function ? PyObject_CallFunctionObjArgs(function, object, NULL) : NULL;
    return *owner && dtp_to_text(*owner, out);
}

bool dtp_to_ints(PyObject *object, dtp_ints *out) {
    out->n = 1;
    out->list = out->inline_list;
    if (is_integer(object))
        return dtp_to_int(object, out->list);
    out->n = PySequence_Size(object);
    if (out->n < 0)
        return false;
    if (out->n > DTP_INLINE && !(out->list = PyMem_Malloc((size_t)out->n * sizeof *out->list)))
        return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < out->n; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        bool is_none = item == Py_None;
        bool converted = item && (is_none || dtp_to_int(item, &out->list[i]));
        out->list[i] = is_none ? DT_NONE : out->list[i];
        Py_XDECREF(item);
        if (!converted)
            return dtp_ints_end(out), false;
    }
    return true;
}

bool dtp_to_reals(PyObject *object, dtp_reals *out) {
    out->n = 1;
    out->list = out->inline_list;
    if (is_real(object))
        return dtp_to_real(object, out->list);
    out->n = PySequence_Size(object);
    if (out->n < 0)
        return false;
    if (out->n > DTP_INLINE && !(out->list = PyMem_Malloc((size_t)out->n * sizeof *out->list)))
        return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < out->n; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        bool converted = item && dtp_to_real(item, &out->list[i]);
        Py_XDECREF(item);
        if (!converted)
            return dtp_reals_end(out), false;
    }
    return true;
}

bool dtp_to_tensors(PyObject *object, bool allows_none, dtp_tensors *out) {
    out->list = out->inline_list;
    out->n = PySequence_Size(object);
    if (out->n < 0)
        return false;
    if (out->n > DTP_INLINE && !(out->list = PyMem_Malloc((size_t)out->n * sizeof *out->list)))
        return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < out->n; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        bool is_none = item == Py_None && allows_none;
        bool fits = item && (is_none || dtp_is_tensor(item));
        out->list[i] = fits && !is_none ? dtp_handle_of(item) : NULL;
        if (item && !fits)
            PyErr_Format(PyExc_TypeError, "expected tensors, got %R at index %zd", (PyObject *)Py_TYPE(item), i);
        Py_XDECREF(item);
        if (!fits)
            return dtp_tensors_end(out), false;
    }
    return true;
}

void dtp_ints_end(dtp_ints *list) {
    if (list->list != list->inline_list)
        PyMem_Free(list->list);
    list->list = list->inline_list;
}

void dtp_reals_end(dtp_reals *list) {
    if (list->list != list->inline_list)
        PyMem_Free(list->list);
    list->list = list->inline_list;
}

void dtp_tensors_end(dtp_tensors *list) {
    if (list->list != list->inline_list)
        PyMem_Free(list->list);
    list->list = list->inline_list;
}
