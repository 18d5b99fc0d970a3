/* SPDX-License-Identifier: Apache-2.0
 *
 * The extension module dtensor._dtensor, in CPython's limited API. scripts/make_python.py generates a table of
 * functions from the schema lines of the ops and from the public headers (dtp_ops, dtp_calls); the files of this folder
 * bind the arguments of a call to a row of it, and convert them.
 *
 * The module has one context at a time, which belongs to the thread that made it. Every Python object owns one
 * reference to what it wraps, and remembers the number of its context: objects that outlive it release nothing.
 */
#ifndef DTP_BINDING_H
#define DTP_BINDING_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dtensor/dtensor.h>

/* What a parameter takes. */
typedef enum dtp_kind {
    DTP_TENSOR,
    DTP_TENSORS,
    DTP_OPTIONAL_TENSORS, /* members may be None */
    DTP_INT,
    DTP_REAL,
    DTP_BOOL,
    DTP_NUMBER,
    DTP_INTS,  /* one integer, or a sequence of them */
    DTP_REALS, /* one number, or a sequence of them */
    DTP_DTYPE,
    DTP_TEXT,
    DTP_PLACE,  /* text, or a sequence of placements */
    DTP_HANDLE, /* an object of the library other than a tensor: see dtp_param.handle */
    DTP_N_KINDS
} dtp_kind;

/* Objects of the library other than tensors: X(name, type of C, how a reference is released). */
#define DTP_HANDLES(X)                                                                                               \
    X(MESH, dt_mesh, dt_mesh_release_site(object, NULL))                                                             \
    X(GROUP, dt_group, dt_group_release_site(object, NULL))                                                          \
    X(GENERATOR, dt_generator, dt_generator_release_site(object, NULL))                                              \
    X(PARAMS, dt_params, dt_params_free_site(object, NULL))                                                          \
    X(OPTIMIZER, dt_optimizer, dt_optimizer_free_site(object, NULL))                                                 \
    X(BATCHES, dt_batches, dt_batches_free_site(object, NULL))                                                       \
    X(SCHEDULE, dt_schedule, dt_schedule_free_site(object, NULL))

typedef enum dtp_handle_kind {
#define DTP_HANDLE_ENUM(name, type, release) DTP_##name,
    DTP_HANDLES(DTP_HANDLE_ENUM)
#undef DTP_HANDLE_ENUM
        DTP_N_HANDLES
} dtp_handle_kind;

enum {
    DTP_OPTIONAL = 1, /* may be left out, or None */
    DTP_KEYWORD = 2,  /* by name only */
    DTP_SPREAD = 4,   /* integers may follow one by one: zeros(2, 3) */
    DTP_MAX_PARAMS = 24,
    DTP_INLINE = 32 /* members of a list that need no allocation */
};

typedef struct dtp_param {
    const char *name;
    unsigned char kind, flags, handle;
    PyObject *word; /* the name, interned when the module is made */
} dtp_param;

typedef struct dtp_call dtp_call;

typedef struct dtp_signature {
    PyObject *(*run)(dtp_call *call);
    dtp_param *params;
    int n;
} dtp_signature;

typedef struct dtp_function {
    const char *name;
    const dtp_signature *signatures;
    int n_signatures;
} dtp_function;

/* A call in progress: what was given for each parameter, NULL for what was left out. */
struct dtp_call {
    const dtp_function *function;
    const dtp_signature *signature;
    PyObject *given[DTP_MAX_PARAMS];
    PyObject *spread; /* a tuple of integers or tensors that were given one by one; or NULL */
    bool compares;    /* keywords by their letters, not only by identity */
};

/* Lists, which conversions fill and dtp_…_end frees. */
typedef struct dtp_ints {
    Py_ssize_t n;
    int64_t *list, inline_list[DTP_INLINE];
} dtp_ints;
typedef struct dtp_reals {
    Py_ssize_t n;
    double *list, inline_list[DTP_INLINE];
} dtp_reals;
typedef struct dtp_tensors {
    Py_ssize_t n;
    dt_tensor **list, *inline_list[DTP_INLINE];
} dtp_tensors;

typedef struct dtp_tensor {
    PyObject_HEAD dt_tensor *handle;
    uint64_t context;
    int64_t elements; /* of the local tensor */
    PyObject *weak_references;
} dtp_tensor;

typedef struct dtp_object {
    PyObject_HEAD void *handle;
    uint64_t context;
    dtp_handle_kind kind;
    bool is_borrowed; /* the library owns it */
} dtp_object;

/* module.c */
extern dt_ctx *dtp_ctx;
extern uint64_t dtp_ctx_number; /* 0: there is no context */
/* The context of this thread, made on first use; NULL with an exception. */
dt_ctx *dtp_context(void);
/* Raises the error of the context, and clears it if it is agreed; returns NULL. */
PyObject *dtp_raise(void);
/* None, or the exception. */
PyObject *dtp_status(dt_status status);
/* Whether the calling thread owns the context; otherwise an exception. */
bool dtp_is_own_thread(void);
/* Whether this is the thread of the context, without an exception. */
bool dtp_on_own_thread(void);
/* Frees what other threads have let go of. Called by the thread of the context. */
void dtp_drain(void);
/* Releases a tensor or an object later, on the thread of the context. Any thread, with or without the GIL. */
void dtp_defer(void *handle, int kind, uint64_t context);
enum { DTP_DEFERRED_TENSOR = -1, DTP_DEFERRED_PYTHON = -2 };
void dtp_release_handle(void *handle, int kind);
/* Around calls of the library: the intermediate results that one leaves in the current scope are dropped. */
static inline dt_tensor *dtp_newest(void) { return dtp_ctx ? dt_scope_newest(dtp_ctx) : NULL; }
static inline void dtp_drop_newer(dt_tensor *than) {
    if (dtp_ctx && dt_scope_newest(dtp_ctx) != than)
        dt_drop_newer_site(dtp_ctx, than, NULL);
}
/* Releases an object of Python that the library has let go of, during the next call: its end may call the library. */
void dtp_let_go(void *object);
/* Lets other Python threads run during a call on much data; NULL: it is short. */
enum { DTP_LONG = INT32_MAX }; /* elements: of a call that is long whatever its arguments */
PyThreadState *dtp_begin_long(int64_t elements);
void dtp_end_long(PyThreadState *thread);
/* Around functions of Python that the library calls, whether or not the GIL was released. */
typedef struct dtp_python {
    PyGILState_STATE state;
    bool was_released;
    PyThreadState *waiting;
} dtp_python;
dtp_python dtp_enter_python(void);
void dtp_leave_python(dtp_python entered);
/* The local elements of the tensors of a call, or of what it makes: an estimate of its duration. */
int64_t dtp_work(const dtp_call *call);
/* An attribute of a module of the package, by name; kept for later calls. */
PyObject *dtp_from_package(const char *module, const char *name);

/* arguments.c */
bool dtp_intern(const dtp_function *functions, int n);
PyObject *dtp_invoke(const dtp_function *function, PyObject *self, PyObject *const *args, Py_ssize_t n,
                     PyObject *names);
bool dtp_is_number(PyObject *object);
bool dtp_to_int(PyObject *object, int64_t *out);
bool dtp_to_real(PyObject *object, double *out);
bool dtp_to_bool(PyObject *object, bool *out);
bool dtp_to_number(PyObject *object, dt_number *out);
bool dtp_to_dtype(PyObject *object, dt_dtype *out);
bool dtp_to_text(PyObject *object, const char **out);
/* The text belongs to *owner, which the caller releases. */
bool dtp_to_place(PyObject *object, const char **out, PyObject **owner);
/* None among integers is DT_NONE. */
bool dtp_to_ints(PyObject *object, dtp_ints *out);
bool dtp_to_reals(PyObject *object, dtp_reals *out);
bool dtp_to_tensors(PyObject *object, bool allows_none, dtp_tensors *out);
void dtp_ints_end(dtp_ints *list);
void dtp_reals_end(dtp_reals *list);
void dtp_tensors_end(dtp_tensors *list);
/* That of PyTorch for numbers of Python: i64 of integers, bool of booleans, otherwise f32. */
dt_dtype dtp_dtype_of_numbers(int n, const dt_number *numbers);
dt_dtype dtp_dtype_of(PyObject *object);
PyObject *dtp_dtype_object(dt_dtype dtype);
bool dtp_make_dtypes(PyObject *module);

/* tensor.c */
extern PyTypeObject *dtp_tensor_type;
static inline bool dtp_is_tensor(PyObject *object) { return Py_TYPE(object) == dtp_tensor_type; }
static inline dt_tensor *dtp_handle_of(PyObject *object) { return ((dtp_tensor *)object)->handle; }
static inline int64_t dtp_elements_of(PyObject *object) { return ((dtp_tensor *)object)->elements; }
bool dtp_make_tensor_type(PyObject *module);
/* Wraps a result: one of the arguments is returned as it is, a new tensor leaves its scope; NULL raises. */
PyObject *dtp_give(dt_tensor *result, const dtp_call *call);
/* Wraps a tensor that the library owns, with one more reference; None for NULL. */
PyObject *dtp_give_borrowed(dt_tensor *tensor);
/* A new tensor of the program, whatever its arguments. */
PyObject *dtp_give_new(dt_tensor *result);
PyObject *dtp_give_list(dt_tensor **results, int n, const dtp_call *call);
PyObject *dtp_give_tuple(PyTypeObject *type, dt_tensor *const *results, int n, const dtp_call *call);
PyObject *dtp_ints_tuple(const int64_t *values, int n);

/* indexing.c */
PyObject *dtp_get_item(PyObject *self, PyObject *index);
int dtp_set_item(PyObject *self, PyObject *index, PyObject *value);

/* handles.c */
bool dtp_make_handle_types(PyObject *module);
void *dtp_object_of(PyObject *object, dtp_handle_kind kind);
bool dtp_is_handle(PyObject *object, int kind);
PyObject *dtp_give_handle(void *handle, dtp_handle_kind kind, bool is_borrowed);

/* memory.c: the buffer protocol and DLPack */
int dtp_get_buffer(PyObject *self, Py_buffer *view, int flags);
void dtp_release_buffer(PyObject *self, Py_buffer *view);
extern PyMethodDef dtp_memory_functions[];

/* callbacks.c: functions of Python that the library calls */
extern PyMethodDef dtp_callback_functions[];

/* custom_ops.c: ops of the program's own */
PyObject *dtp_register_op(PyObject *self, PyObject *args);
PyObject *dtp_run_op(PyObject *self, PyObject *args);

/* generated.c */
extern const dtp_function dtp_ops[];
extern const int dtp_n_ops;
extern PyMethodDef dtp_op_functions[], dtp_op_methods[], dtp_call_functions[];
extern const dtp_function dtp_calls[];
extern const int dtp_n_calls;
extern PyGetSetDef dtp_op_properties[];
bool dtp_make_results(PyObject *module);

#endif
