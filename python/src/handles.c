/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects of the library other than tensors, such as meshes and optimizers. Each kind has a base type here, which the
 * package derives its class from; functions that return such an object make one of the derived class.
 */
#include "binding.h"

#include <ctype.h>
#include <string.h>

static PyTypeObject *bases[DTP_N_HANDLES];
static PyObject *classes[DTP_N_HANDLES]; /* those of the package, once they are registered */

static const char *const words[DTP_N_HANDLES] = {
#define WORD(name, type, release) #name,
    DTP_HANDLES(WORD)
#undef WORD
};

void dtp_release_handle(void *handle, int kind) {
    switch (kind) {
    case DTP_DEFERRED_TENSOR:
        dt_tensor_release_site(handle, NULL);
        break;
#define RELEASE(name, type, release)                                                                                 \
    case DTP_##name: {                                                                                               \
        type *object = handle;                                                                                       \
        release;                                                                                                     \
        break;                                                                                                       \
    }
        DTP_HANDLES(RELEASE)
#undef RELEASE
    default:
        break;
    }
}

static void deallocate(PyObject *self) {
    dtp_object *object = (dtp_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (object->handle && !object->is_borrowed && object->context == dtp_ctx_number) {
        if (dtp_on_own_thread())
            dtp_release_handle(object->handle, (int)object->kind);
        else
            dtp_defer(object->handle, (int)object->kind, object->context);
    }
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

bool dtp_is_handle(PyObject *object, int kind) { return PyObject_TypeCheck(object, bases[kind]); }

void *dtp_object_of(PyObject *self, dtp_handle_kind kind) {
    dtp_object *object = (dtp_object *)self;
    if (object->context == dtp_ctx_number && object->kind == kind && object->handle)
        return object->handle;
    PyErr_SetString(PyExc_RuntimeError,
                    object->handle ? "the context of this object was closed" : "this object is empty");
    return NULL;
}

PyObject *dtp_give_handle(void *handle, dtp_handle_kind kind, bool is_borrowed) {
    PyTypeObject *type = classes[kind] ? (PyTypeObject *)classes[kind] : bases[kind];
    if (!handle && (dt_failed(dtp_ctx) || PyErr_Occurred()))
        return dtp_raise();
    if (!handle)
        return Py_NewRef(Py_None);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    dtp_object *object = (dtp_object *)allocate(type, 0);
    if (!object)
        return NULL;
    object->handle = handle;
    object->context = dtp_ctx_number;
    object->kind = kind;
    object->is_borrowed = is_borrowed;
    return (PyObject *)object;
}

/* The identity of what an object wraps. */
static PyObject *get_address(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(((dtp_object *)self)->handle);
}

static PyGetSetDef properties[] = {
    {"_address", get_address, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, deallocate},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyObject *register_class(PyObject *self, PyObject *args) {
    const char *word;
    PyObject *class;
    (void)self;
    if (!PyArg_ParseTuple(args, "sO", &word, &class))
        return NULL;
    for (int i = 0; i < DTP_N_HANDLES; i++)
        if (!strcmp(words[i], word)) {
            Py_XDECREF(classes[i]);
            classes[i] = Py_NewRef(class);
        }
    return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"_register", register_class, METH_VARARGS, "The class of the objects of a kind."},
    {NULL, NULL, 0, NULL},
};

bool dtp_make_handle_types(PyObject *module) {
    for (int i = 0; i < DTP_N_HANDLES; i++) {
        char name[64];
        PyOS_snprintf(name, sizeof name, "dtensor._dtensor._%s", words[i]);
        for (char *at = strrchr(name, '_') + 2; *at; at++)
            *at = (char)tolower(*at);
        PyType_Spec spec = {name, sizeof(dtp_object), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
        bases[i] = (PyTypeObject *)PyType_FromSpec(&spec);
        if (!bases[i] || PyModule_AddObjectRef(module, strrchr(name, '.') + 1, (PyObject *)bases[i]) < 0)
            return false;
    }
    return PyModule_AddFunctions(module, functions) == 0;
}
