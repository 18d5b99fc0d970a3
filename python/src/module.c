/* SPDX-License-Identifier: Apache-2.0
 *
 * The module, its context, and what the library requests of Python (dt_host): the line of the program, other threads
 * during long waits, and Ctrl-C. Errors of the library become exceptions here; an agreed one is cleared at once, so
 * that the program continues after `except`.
 */
#include "binding.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

dt_ctx *dtp_ctx;
uint64_t dtp_ctx_number;
static pthread_t owner;
static PyThreadState *waiting; /* of the thread of the context, during a long wait */
static bool is_released;       /* the thread of the context has released the GIL */
static PyObject *file_names;   /* the file names that sites refer to: they live as long as the process */
static PyObject *package_folder;

/* What other threads have let go of: a stack that the thread of the context empties. */
typedef struct deferred {
    struct deferred *next;
    void *handle;
    int kind;
    uint64_t context;
} deferred;
static _Atomic(deferred *) deferred_top;

void dtp_defer(void *handle, int kind, uint64_t context) {
    deferred *one = malloc(sizeof *one);
    if (!one)
        return; /* what it is about ends with the context */
    *one = (deferred){.handle = handle, .kind = kind, .context = context};
    one->next = atomic_load(&deferred_top);
    while (!atomic_compare_exchange_weak(&deferred_top, &one->next, one))
        ;
}

void dtp_drain(void) {
    if (!atomic_load_explicit(&deferred_top, memory_order_relaxed))
        return;
    deferred *one = atomic_exchange(&deferred_top, NULL);
    while (one) {
        deferred *next = one->next;
        if (one->kind == DTP_DEFERRED_PYTHON)
            Py_DECREF((PyObject *)one->handle);
        else if (one->context == dtp_ctx_number)
            dtp_release_handle(one->handle, one->kind);
        free(one);
        one = next;
    }
}

void dtp_let_go(void *object) { dtp_defer(object, DTP_DEFERRED_PYTHON, 0); }

bool dtp_on_own_thread(void) { return dtp_ctx_number && pthread_equal(pthread_self(), owner); }

PyObject *dtp_from_package(const char *module, const char *name) {
    static PyObject *kept;
    PyObject *key = PyUnicode_FromFormat("%s.%s", module, name), *found = NULL, *imported = NULL;
    if (!kept)
        kept = PyDict_New();
    if (key && kept && !(found = PyDict_GetItemWithError(kept, key)) && !PyErr_Occurred() &&
        (imported = PyImport_ImportModule(module)) && (found = PyObject_GetAttrString(imported, name))) {
        PyDict_SetItem(kept, key, found);
        Py_DECREF(found); /* the dict keeps it */
    }
    Py_XDECREF(imported);
    Py_XDECREF(key);
    return found;
}

static PyObject *exception_named(const char *word) {
    PyObject *classes = dtp_from_package("dtensor._errors", "CLASSES");
    PyObject *found = classes ? PyDict_GetItemString(classes, word) : NULL;
    return found ? found : PyExc_RuntimeError;
}

static PyObject *exception_of(dt_status status) { return exception_named(dt_status_name(status)); }

/* Loops over x[0], x[1], … end with an IndexError. */
static PyObject *exception_of_text(dt_status status, const char *text) {
    bool is_index = !strncmp(text, "at: ", 4) || !strncmp(text, "set_at: ", 8);
    return is_index && strstr(text, "is out of range") ? exception_named("index") : exception_of(status);
}

bool dtp_is_own_thread(void) {
    if (!dtp_ctx_number || pthread_equal(pthread_self(), owner))
        return true;
    PyErr_SetString(exception_of(DT_ERR_STATE),
                    "a context belongs to the thread that made it: call dtensor from that "
                    "thread, or close the context there first");
    return false;
}

/* The exception that a callback has raised comes before the error that it has caused. */
PyObject *dtp_raise(void) {
    if (!dtp_ctx && !PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "there is no context");
    if (!dtp_ctx)
        return NULL;
    if (!PyErr_Occurred()) {
        dt_status status = dt_error_status(dtp_ctx);
        const char *text =
            status == DT_OK ? "an argument is a tensor that an earlier error has left empty" : dt_error_text(dtp_ctx);
        PyErr_SetString(exception_of_text(status == DT_OK ? DT_ERR_STATE : status, text), text);
    }
    if (dt_error_is_agreed(dtp_ctx)) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        dt_error_clear_site(dtp_ctx, NULL);
        PyErr_Restore(type, value, trace);
    }
    return NULL;
}

PyObject *dtp_status(dt_status status) {
    if (status != DT_OK || PyErr_Occurred())
        return dtp_raise();
    return Py_NewRef(Py_None);
}

static int64_t elements_of_list(PyObject *object) {
    bool is_tuple = PyTuple_Check(object);
    Py_ssize_t n = is_tuple ? PyTuple_Size(object) : PyList_Size(object);
    int64_t elements = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = is_tuple ? PyTuple_GetItem(object, i) : PyList_GetItem(object, i);
        elements += dtp_is_tensor(one) ? dtp_elements_of(one) : 0;
    }
    return elements;
}

/* The elements of a tensor of these sizes, for a maker: at most, since a rank may hold a part. */
static int64_t elements_of_sizes(PyObject *object) {
    dtp_ints sizes;
    int64_t elements = 1;
    if (!dtp_to_ints(object, &sizes))
        return PyErr_Clear(), 0;
    for (Py_ssize_t i = 0; i < sizes.n && elements < INT32_MAX; i++)
        elements *= sizes.list[i] > 0 && sizes.list[i] < INT32_MAX ? sizes.list[i] : 1;
    dtp_ints_end(&sizes);
    return elements;
}

int64_t dtp_work(const dtp_call *call) {
    const dtp_signature *signature = call->signature;
    int64_t elements = 0;
    for (int i = 0; i < signature->n; i++) {
        PyObject *object = call->given[i];
        if (object && dtp_is_tensor(object))
            elements += dtp_elements_of(object);
        else if (object && (PyTuple_Check(object) || PyList_Check(object)))
            elements += elements_of_list(object);
    }
    bool makes = elements == 0 && signature->n && call->given[0] && signature->params[0].kind == DTP_INTS;
    return makes ? elements_of_sizes(call->given[0]) : elements;
}

/* Switching threads takes about as long as a kernel on a thousand elements. */
PyThreadState *dtp_begin_long(int64_t elements) {
    if (elements < 32768)
        return NULL;
    is_released = true;
    return PyEval_SaveThread();
}

void dtp_end_long(PyThreadState *thread) {
    if (!thread)
        return;
    PyEval_RestoreThread(thread);
    is_released = false;
}

dtp_python dtp_enter_python(void) {
    dtp_python entered = {PyGILState_Ensure(), is_released, waiting};
    is_released = false;
    waiting = NULL;
    return entered;
}

void dtp_leave_python(dtp_python entered) {
    is_released = entered.was_released;
    waiting = entered.waiting;
    PyGILState_Release(entered.state);
}

/* The host of the context. Its functions may be called while the GIL is released. */

static void wait_begin(void *user) {
    (void)user;
    if (is_released)
        return;
    is_released = true;
    waiting = PyEval_SaveThread();
}

static void wait_end(void *user) {
    (void)user;
    PyThreadState *thread = waiting;
    waiting = NULL;
    dtp_end_long(thread);
}

static bool is_interrupted(void *user) {
    (void)user;
    PyGILState_STATE state = PyGILState_Ensure();
    bool interrupted = PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return interrupted;
}

/* The file of a frame, if it is not one of this package. */
static PyObject *file_of(PyObject *frame) {
    PyObject *code = PyObject_GetAttrString(frame, "f_code");
    PyObject *file = code ? PyObject_GetAttrString(code, "co_filename") : NULL;
    Py_XDECREF(code);
    Py_ssize_t is_ours =
        file && package_folder ? PyUnicode_Tailmatch(file, package_folder, 0, PY_SSIZE_T_MAX, -1) : 0;
    if (is_ours)
        Py_CLEAR(file);
    return file;
}

static bool find_site(dt_site *out) {
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame()), *file = NULL;
    while (frame && frame != Py_None && !(file = file_of(frame))) {
        PyObject *outer = PyObject_GetAttrString(frame, "f_back");
        Py_DECREF(frame);
        frame = outer;
    }
    if (file && frame && PyDict_SetItem(file_names, file, file) == 0) {
        PyObject *kept = PyDict_GetItem(file_names, file);
        *out = (dt_site){kept ? PyUnicode_AsUTF8AndSize(kept, NULL) : NULL,
                         PyFrame_GetLineNumber((PyFrameObject *)frame)};
    }
    Py_XDECREF(file);
    Py_XDECREF(frame);
    return out->file != NULL;
}

static bool site(void *user, dt_site *out) {
    (void)user;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    *out = (dt_site){NULL, 0};
    bool found = find_site(out);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
    return found;
}

/* The context. */

static PyObject *open_context(dt_init_options *options) {
    char error[2048] = "";
    if (dtp_ctx) {
        PyErr_SetString(exception_of(DT_ERR_STATE), "init: there is a context already: call close() first");
        return NULL;
    }
    options->host = (dt_host){NULL, site, wait_begin, wait_end, is_interrupted};
    options->error = error;
    options->error_bytes = sizeof error;
    dt_ctx *ctx = dt_init_sized(options, sizeof *options, NULL);
    if (!ctx) {
        if (!PyErr_Occurred())
            PyErr_SetString(exception_of(DT_ERR_STATE), error);
        return NULL;
    }
    dtp_ctx = ctx;
    dtp_ctx_number = dt_ctx_number(ctx);
    owner = pthread_self();
    return Py_NewRef(Py_None);
}

dt_ctx *dtp_context(void) {
    if (dtp_ctx)
        return dtp_ctx;
    PyObject *done = open_context(&(dt_init_options){0});
    Py_XDECREF(done);
    return dtp_ctx;
}

/* Arguments by position: the package has the signature with names. */
static PyObject *init(PyObject *self, PyObject *args) {
    dt_init_options options = {0};
    const char *transport = NULL;
    long long world = 0, rank = 0;
    unsigned long long heap = 0, comm = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "zLLKdiKi", &transport, &world, &rank, &heap, &options.timeout_s, &options.threads,
                          &comm, &options.log_level))
        return NULL;
    options.transport = transport;
    options.world = world;
    options.rank = rank;
    options.heap_bytes = heap;
    options.mpi_comm = (const void *)(uintptr_t)comm;
    return open_context(&options);
}

static PyObject *is_open(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    return PyBool_FromLong(dtp_ctx != NULL);
}

static PyObject *close_context(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    if (!dtp_ctx)
        return PyLong_FromLong(0);
    if (!dtp_is_own_thread())
        return NULL;
    dt_ctx *ctx = dtp_ctx;
    dtp_drain();
    dtp_ctx = NULL;
    dtp_ctx_number = 0;
    int code = dt_close_site(ctx, NULL);
    dtp_drain();
    return PyLong_FromLong(code);
}

/* An exception that ends this rank, as the reason for peers that wait for it. */
static PyObject *fail(PyObject *self, PyObject *text) {
    const char *chars;
    (void)self;
    if (!dtp_to_text(text, &chars))
        return NULL;
    if (dtp_ctx && dtp_on_own_thread())
        dt_error_set_site(dtp_ctx, DT_ERR_STATE, NULL, "%s", chars);
    return Py_NewRef(Py_None);
}

static PyObject *raise_error(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    return dtp_ctx && dt_failed(dtp_ctx) ? dtp_raise() : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"_init", init, METH_VARARGS, "Makes the context."},
    {"_is_open", is_open, METH_NOARGS, "Whether there is a context."},
    {"_close", close_context, METH_NOARGS, "Closes the context; returns the exit code."},
    {"_fail", fail, METH_O, "Records an error of this rank, which peers that wait for it get."},
    {"_raise_error", raise_error, METH_NOARGS, "Raises the error that the context has, if any."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "dtensor._dtensor",
                                        "Distributed tensors: the part of the package that is written in C.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};
static struct PyModuleDef calls_definition = {PyModuleDef_HEAD_INIT,
                                              "dtensor._dtensor.calls",
                                              "The functions of C that are not ops, under their names.",
                                              -1,
                                              dtp_call_functions,
                                              NULL,
                                              NULL,
                                              NULL,
                                              NULL};

static bool fill(PyObject *module) {
    PyObject *calls = PyModule_Create(&calls_definition);
    bool filled = calls && PyModule_AddObjectRef(module, "calls", calls) == 0 && dtp_make_dtypes(module) &&
                  dtp_make_tensor_type(module) && dtp_make_handle_types(module) && dtp_make_results(module) &&
                  dtp_intern(dtp_ops, dtp_n_ops) && dtp_intern(dtp_calls, dtp_n_calls) &&
                  PyModule_AddFunctions(module, dtp_op_functions) == 0 &&
                  PyModule_AddFunctions(module, dtp_memory_functions) == 0 &&
                  PyModule_AddFunctions(module, dtp_callback_functions) == 0 &&
                  PyModule_AddStringConstant(module, "__version__", dt_version_text()) == 0;
    Py_XDECREF(calls);
    return filled;
}

/* The folder of the package, which frames of the program are not in. */
static PyObject *set_folder(PyObject *self, PyObject *folder) {
    (void)self;
    Py_XDECREF(package_folder);
    package_folder = Py_NewRef(folder);
    return Py_NewRef(Py_None);
}

static PyMethodDef folder_function[] = {{"_set_folder", set_folder, METH_O, NULL}, {NULL, NULL, 0, NULL}};

PyMODINIT_FUNC PyInit__dtensor(void);
PyMODINIT_FUNC PyInit__dtensor(void) {
    PyObject *module = PyModule_Create(&definition);
    file_names = PyDict_New();
    if (module && file_names && fill(module) && PyModule_AddFunctions(module, folder_function) == 0)
        return module;
    Py_XDECREF(module);
    return NULL;
}
