/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of Python that the library calls: hooks of gradients, checkpointed functions, and functions on local
 * tensors. An exception in one of them ends the call of the library, which raises it. Tensors that a function returns
 * stay alive until the outermost call has ended.
 */
#include "binding.h"

#include <string.h>

static PyObject *kept; /* the results of callbacks; emptied by the outermost call */
static int depth;      /* of calls that may call back */

/* Returns the newest tensor of the scope, for end_callbacks. */
static dt_tensor *begin_callbacks(void) {
    depth++;
    return dtp_newest();
}

static void end_callbacks(dt_tensor *newest) {
    dtp_drop_newer(newest);
    if (--depth == 0 && kept)
        Py_CLEAR(kept);
    dtp_drain();
}

static bool keep(PyObject *object) {
    if (!kept && !(kept = PyList_New(0)))
        return false;
    return PyList_Append(kept, object) == 0;
}

/* Records that a function of Python has raised; the exception stays. */
static void record_exception(const char *what) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *chars = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyErr_Clear();
    dt_error_set_site(dtp_ctx, DT_ERR_STATE, NULL, "%s raised an exception: %s", what, chars ? chars : "");
    Py_XDECREF(text);
    PyErr_Restore(type, value, trace);
}

/* The handle of a tensor that a function has returned; NULL after an exception. Takes the reference. */
static dt_tensor *returned_tensor(PyObject *result, const char *what) {
    dt_tensor *tensor = NULL;
    if (result && !dtp_is_tensor(result))
        PyErr_Format(PyExc_TypeError, "%s: expected a tensor as the result, got %R", what,
                     (PyObject *)Py_TYPE(result));
    else if (result && keep(result))
        tensor = dtp_handle_of(result);
    if (!tensor)
        record_exception(what);
    Py_XDECREF(result);
    return tensor;
}

static PyObject *tuple_of(dt_tensor *const *tensors, int n) {
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *one = dtp_give_borrowed(tensors[i]);
        if (one)
            PyTuple_SetItem(tuple, i, one);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* Hooks. */

static dt_tensor *run_hook(dt_tensor *grad, void *user) {
    dtp_python entered = dtp_enter_python();
    PyObject *argument = PyErr_Occurred() ? NULL : dtp_give_borrowed(grad);
    PyObject *result = argument ? PyObject_CallFunctionObjArgs(user, argument, NULL) : NULL;
    dt_tensor *replacement = result && result != Py_None ? returned_tensor(result, "a hook") : NULL;
    if (!result && PyErr_Occurred())
        record_exception("a hook");
    if (result == Py_None)
        Py_DECREF(result);
    Py_XDECREF(argument);
    dtp_leave_python(entered);
    return replacement;
}

static PyObject *add_hook(PyObject *self, PyObject *args) {
    PyObject *tensor, *function;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &tensor, &function) || !dtp_is_own_thread())
        return NULL;
    int64_t id = dt_grad_hook_add_owner_site(dtp_handle_of(tensor), run_hook, Py_NewRef(function), dtp_let_go, NULL);
    dtp_drain();
    return id ? PyLong_FromLongLong(id) : dtp_raise();
}

static PyObject *remove_hook(PyObject *self, PyObject *args) {
    PyObject *tensor;
    long long id;
    (void)self;
    if (!PyArg_ParseTuple(args, "OL", &tensor, &id) || !dtp_is_own_thread())
        return NULL;
    dt_status status = dt_grad_hook_remove_site(dtp_handle_of(tensor), id, NULL);
    dtp_drain();
    return dtp_status(status);
}

/* Backward passes, which run hooks and checkpointed functions. */

static PyObject *backward(PyObject *self, PyObject *args) {
    PyObject *tensor, *grad;
    dt_backward_options options = {0};
    int retains, creates;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOppz", &tensor, &grad, &retains, &creates, &options.hold) || !dtp_is_own_thread())
        return NULL;
    options.grad = grad == Py_None ? NULL : dtp_handle_of(grad);
    options.retain_graph = retains;
    options.create_graph = creates;
    dt_tensor *newest = begin_callbacks();
    PyThreadState *thread = dtp_begin_long(DTP_LONG);
    dt_status status = dt_backward_sized(dtp_handle_of(tensor), &options, sizeof options);
    dtp_end_long(thread);
    end_callbacks(newest);
    return dtp_status(status);
}

/* (outputs, inputs, gradients of outputs or None, retain_graph, create_graph, allow_unused) */
static PyObject *gradients(PyObject *self, PyObject *args) {
    PyObject *outputs, *inputs, *grads, *result = NULL;
    dtp_tensors of = {0}, with = {0}, given = {0};
    dt_gradients_options options = {0};
    int retains, creates, allows;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOppp", &outputs, &inputs, &grads, &retains, &creates, &allows) ||
        !dtp_is_own_thread() || !dtp_to_tensors(outputs, false, &of))
        return NULL;
    if (!dtp_to_tensors(inputs, false, &with))
        goto end_outputs;
    if (grads != Py_None && !dtp_to_tensors(grads, true, &given))
        goto end_inputs;
    if (grads != Py_None && given.n != of.n) {
        PyErr_SetString(PyExc_ValueError, "grad: expected a gradient per output");
        goto end_grads;
    }
    dt_tensor **found = PyMem_Calloc((size_t)with.n + 1, sizeof *found);
    if (!found) {
        PyErr_NoMemory();
        goto end_grads;
    }
    options.output_grads = grads == Py_None ? NULL : given.list;
    options.retain_graph = retains;
    options.create_graph = creates;
    options.allow_unused = allows;
    dt_tensor *newest = begin_callbacks();
    PyThreadState *thread = dtp_begin_long(DTP_LONG);
    dt_status status = dt_gradients_sized((dt_tensors){(int)of.n, of.list}, (dt_tensors){(int)with.n, with.list},
                                          found, &options, sizeof options);
    dtp_end_long(thread);
    result = status == DT_OK && !PyErr_Occurred() ? PyTuple_New(with.n) : dtp_raise();
    for (Py_ssize_t i = 0; result && i < with.n; i++) {
        PyObject *one = found[i] ? dtp_give_new(found[i]) : Py_NewRef(Py_None);
        if (one)
            PyTuple_SetItem(result, i, one);
        else
            Py_CLEAR(result);
    }
    end_callbacks(newest);
    PyMem_Free(found);
end_grads:
    if (grads != Py_None)
        dtp_tensors_end(&given);
end_inputs:
    dtp_tensors_end(&with);
end_outputs:
    dtp_tensors_end(&of);
    return result;
}

/* Checkpoints. The library owns the function: it runs again for gradients. */

static dt_tensor *run_checkpoint(dt_tensor *const *inputs, void *user) {
    dtp_python entered = dtp_enter_python();
    PyObject *pair = user, *function = PyTuple_GetItem(pair, 0);
    int n = (int)PyLong_AsLong(PyTuple_GetItem(pair, 1));
    PyObject *arguments = PyErr_Occurred() ? NULL : tuple_of(inputs, n);
    PyObject *result = arguments ? PyObject_Call(function, arguments, NULL) : NULL;
    dt_tensor *tensor = returned_tensor(result, "a checkpointed function");
    Py_XDECREF(arguments);
    dtp_leave_python(entered);
    return tensor;
}

static PyObject *find_kept(const dt_tensor *tensor) {
    Py_ssize_t n = kept ? PyList_Size(kept) : 0;
    for (Py_ssize_t i = n; i-- > 0;)
        if (dtp_handle_of(PyList_GetItem(kept, i)) == tensor)
            return PyList_GetItem(kept, i);
    return NULL;
}

static PyObject *checkpoint(PyObject *self, PyObject *args) {
    PyObject *function, *inputs, *result = NULL;
    dtp_tensors list;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &function, &inputs) || !dtp_is_own_thread() ||
        !dtp_to_tensors(inputs, false, &list))
        return NULL;
    PyObject *pair = Py_BuildValue("(On)", function, list.n);
    if (pair) {
        dt_tensor *newest = begin_callbacks();
        dt_tensor *tensor =
            dt_checkpoint_owner_site(run_checkpoint, pair, dtp_let_go, (dt_tensors){(int)list.n, list.list}, NULL);
        PyObject *known = tensor ? find_kept(tensor) : NULL;
        result = known ? Py_NewRef(known) : dtp_give_new(tensor);
        end_callbacks(newest);
    }
    dtp_tensors_end(&list);
    return result;
}

/* Functions on local tensors. */

typedef struct local_call {
    PyObject *function;
    int n_inputs, n_outputs;
    bool fills; /* with halos: the function gets the outputs to fill */
} local_call;

static dt_status take_outputs(PyObject *result, const local_call *call, dt_tensor **outputs) {
    bool is_tuple = PyTuple_Check(result) || PyList_Check(result);
    if (result == Py_None && call->fills)
        return DT_OK;
    if (is_tuple ? PySequence_Size(result) != call->n_outputs : call->n_outputs != 1) {
        PyErr_Format(PyExc_ValueError, "local_map: expected %d outputs of the function", call->n_outputs);
        return record_exception("the function of local_map"), DT_ERR_STATE;
    }
    for (int i = 0; i < call->n_outputs; i++) {
        PyObject *one = is_tuple ? PySequence_GetItem(result, i) : Py_NewRef(result);
        outputs[i] = returned_tensor(one, "the function of local_map");
        if (!outputs[i])
            return DT_ERR_STATE;
    }
    return DT_OK;
}

static dt_status run_local(dt_ctx *ctx, dt_tensor *const *inputs, dt_tensor **outputs, void *user) {
    const local_call *call = user;
    (void)ctx;
    dtp_python entered = dtp_enter_python();
    PyObject *arguments = tuple_of(inputs, call->n_inputs), *filled = NULL, *all = NULL, *result = NULL;
    if (arguments && call->fills)
        filled = tuple_of(outputs, call->n_outputs);
    all = arguments && filled ? PySequence_Concat(arguments, filled) : Py_XNewRef(arguments);
    result = all && (!call->fills || filled) ? PyObject_Call(call->function, all, NULL) : NULL;
    dt_status status = DT_ERR_STATE;
    if (result)
        status = take_outputs(result, call, outputs);
    else
        record_exception("the function of local_map");
    Py_XDECREF(result);
    Py_XDECREF(all);
    Py_XDECREF(filled);
    Py_XDECREF(arguments);
    dtp_leave_python(entered);
    return status;
}

enum { MAX_LOCAL = 32 };

/* Texts of a sequence of str or None; false with an exception. */
static bool texts_of(PyObject *sequence, int n, const char **out) {
    for (int i = 0; i < n; i++) {
        PyObject *one = PySequence_GetItem(sequence, i);
        out[i] = NULL;
        if (!one || (one != Py_None && !dtp_to_text(one, &out[i])))
            return Py_XDECREF(one), false;
        Py_DECREF(one); /* the sequence keeps it */
    }
    return true;
}

static PyObject *run_local_map(local_call *call, dt_local_mapping *mapping) {
    dt_tensor *outputs[MAX_LOCAL] = {NULL};
    PyObject *result = NULL;
    dt_tensor *newest = begin_callbacks();
    dt_status status = dt_local_map_sized(dtp_ctx, mapping, outputs, sizeof *mapping, NULL);
    if (status != DT_OK || PyErr_Occurred())
        dtp_raise();
    else
        result = PyTuple_New(call->n_outputs);
    for (int i = 0; result && i < call->n_outputs; i++) {
        PyObject *known = find_kept(outputs[i]), *one = known ? Py_NewRef(known) : dtp_give_new(outputs[i]);
        if (one)
            PyTuple_SetItem(result, i, one);
        else
            Py_CLEAR(result);
    }
    end_callbacks(newest);
    return result;
}

/* (function, inputs, in or None, out, mesh or None, redistributes, checks, halos or None, border or None, shapes) */
static PyObject *local_map(PyObject *self, PyObject *args) {
    PyObject *function, *inputs, *in, *out, *mesh, *halo;
    int redistributes, checks;
    const char *border, *in_texts[MAX_LOCAL], *out_texts[MAX_LOCAL], *halo_texts[MAX_LOCAL];
    dtp_tensors list;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOOppOz", &function, &inputs, &in, &out, &mesh, &redistributes, &checks, &halo,
                          &border) ||
        !dtp_is_own_thread() || !dtp_context())
        return NULL;
    if (PySequence_Size(inputs) > MAX_LOCAL || PySequence_Size(out) > MAX_LOCAL) {
        PyErr_Format(PyExc_ValueError, "local_map: expected at most %d inputs and outputs", MAX_LOCAL);
        return NULL;
    }
    if (!dtp_to_tensors(inputs, false, &list))
        return NULL;
    PyObject *result = NULL;
    local_call call = {function, (int)list.n, (int)PySequence_Size(out), halo != Py_None};
    dt_local_mapping mapping = {.run = run_local,
                                .user = &call,
                                .n_inputs = call.n_inputs,
                                .inputs = list.list,
                                .in = in == Py_None ? NULL : in_texts,
                                .redistributes = redistributes,
                                .n_outputs = call.n_outputs,
                                .out = out_texts,
                                .mesh = mesh == Py_None ? NULL : dtp_object_of(mesh, DTP_MESH),
                                .checks = checks,
                                .halo = halo == Py_None ? NULL : halo_texts,
                                .border = border};
    if (!PyErr_Occurred() && texts_of(out, call.n_outputs, out_texts) &&
        (in == Py_None || texts_of(in, call.n_inputs, in_texts)) &&
        (halo == Py_None || texts_of(halo, call.n_inputs, halo_texts)))
        result = run_local_map(&call, &mapping);
    dtp_tensors_end(&list);
    return result;
}

/* (path, names, tensors) */
static PyObject *save_npz(PyObject *self, PyObject *args) {
    const char *path;
    PyObject *names, *tensors, *result = NULL;
    dtp_tensors list;
    (void)self;
    if (!PyArg_ParseTuple(args, "sOO", &path, &names, &tensors) || !dtp_is_own_thread() ||
        !dtp_to_tensors(tensors, false, &list))
        return NULL;
    const char **texts = PyMem_Calloc((size_t)list.n + 1, sizeof *texts);
    if (!texts)
        PyErr_NoMemory();
    else if (texts_of(names, (int)list.n, texts)) {
        PyThreadState *thread = dtp_begin_long(DTP_LONG);
        dt_status status = dt_save_npz_site(path, (int)list.n, texts, list.list, NULL);
        dtp_end_long(thread);
        result = dtp_status(status);
    }
    PyMem_Free(texts);
    dtp_tensors_end(&list);
    return result;
}

static PyObject *params_begin(PyObject *self, PyObject *args) {
    PyObject *params;
    const char *prefix;
    (void)self;
    if (!PyArg_ParseTuple(args, "Os", &params, &prefix) || !dtp_is_own_thread())
        return NULL;
    dt_params *list = dtp_object_of(params, DTP_PARAMS);
    return list ? dtp_status(dt_params_begin_site(list, NULL, "%s", prefix)) : NULL;
}

static PyObject *params_list(PyObject *self, PyObject *args) {
    PyObject *params;
    const char *pattern;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oz", &params, &pattern) || !dtp_is_own_thread())
        return NULL;
    dt_params *list = dtp_object_of(params, DTP_PARAMS);
    if (!list)
        return NULL;
    dt_tensors found = dt_params_list_site(list, pattern, NULL);
    return dt_failed(dtp_ctx) ? dtp_raise() : tuple_of(found.list, found.n);
}

/* (scale, growth, backoff, interval, n_finite, norm): (whether it is finite, scale, n_finite) */
static PyObject *scaler_update(PyObject *self, PyObject *args) {
    dt_scaler scaler;
    double norm;
    long long interval, n_finite;
    (void)self;
    if (!PyArg_ParseTuple(args, "dddLLd", &scaler.scale, &scaler.growth, &scaler.backoff, &interval, &n_finite,
                          &norm))
        return NULL;
    scaler.interval = interval;
    scaler.n_finite = n_finite;
    bool finite = dt_scaler_update(&scaler, norm);
    return Py_BuildValue("(NdL)", PyBool_FromLong(finite), scaler.scale, (long long)scaler.n_finite);
}

/* (collective, op, scope), each a text or None: (number, bytes, seconds) */
static PyObject *comm_stats(PyObject *self, PyObject *args) {
    dt_comm_filter filter = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "zzz", &filter.collective, &filter.op, &filter.scope) || !dtp_context())
        return NULL;
    dt_comm_statistics stats = dt_comm_stats(dtp_ctx, &filter);
    return Py_BuildValue("(LLd)", (long long)stats.n, (long long)stats.bytes, stats.seconds);
}

/* An object of a kind, or NULL for None; false with an exception. */
static bool optional_object(PyObject *object, dtp_handle_kind kind, void *out) {
    void *handle = object == Py_None ? NULL : dtp_object_of(object, kind);
    memcpy(out, &handle, sizeof handle);
    return object == Py_None || handle;
}

/* (params, folder, optimizer, generator, batches, optional): the step, or None without a checkpoint */
static PyObject *load(PyObject *self, PyObject *args) {
    PyObject *params, *optimizer, *generator, *batches;
    const char *folder;
    int optional;
    int64_t step = -1;
    (void)self;
    if (!PyArg_ParseTuple(args, "OsOOOp", &params, &folder, &optimizer, &generator, &batches, &optional) ||
        !dtp_is_own_thread())
        return NULL;
    dt_load_options options;
    memset(&options, 0, sizeof options);
    options.step = &step;
    options.optional = optional;
    dt_params *list = dtp_object_of(params, DTP_PARAMS);
    if (!list || !optional_object(optimizer, DTP_OPTIMIZER, &options.optimizer) ||
        !optional_object(generator, DTP_GENERATOR, &options.generator) ||
        !optional_object(batches, DTP_BATCHES, &options.batches))
        return NULL;
    dt_tensor *newest = dtp_newest();
    PyThreadState *thread = dtp_begin_long(DTP_LONG);
    dt_status status = dt_load_sized(list, folder, &options, sizeof options);
    dtp_end_long(thread);
    dtp_drop_newer(newest);
    if (status != DT_OK)
        return dtp_raise();
    return step < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(step);
}

/* Pipelines. */

static dt_tensor *run_stage(int64_t stage, int64_t micro, dt_tensor *x, void *user) {
    dtp_python entered = dtp_enter_python();
    PyObject *input = PyErr_Occurred() ? NULL : dtp_give_borrowed(x);
    PyObject *result = input ? PyObject_CallFunction(user, "LLO", (long long)stage, (long long)micro, input) : NULL;
    dt_tensor *tensor = returned_tensor(result, "a stage");
    Py_XDECREF(input);
    dtp_leave_python(entered);
    return tensor;
}

static double *reals_of(PyObject *sequence) {
    Py_ssize_t n = PySequence_Size(sequence);
    double *list = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *list);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *one = PySequence_GetItem(sequence, i);
        bool converted = one && dtp_to_real(one, &list[i]);
        Py_XDECREF(one);
        if (!converted) {
            PyMem_Free(list);
            return NULL;
        }
    }
    return list;
}

/* (schedule, mesh, function, hop, rows, weights, params, hold): the loss */
static PyObject *pipeline_run(PyObject *self, PyObject *args) {
    PyObject *schedule, *mesh, *function, *rows, *weights, *params, *result = NULL;
    const char *hop, *hold;
    double loss = 0, *weight_list = NULL;
    dt_pipeline_run_options options;
    dt_mesh *on = NULL;
    dtp_ints row_list = {.n = 0};
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOzOOOz", &schedule, &mesh, &function, &hop, &rows, &weights, &params, &hold) ||
        !dtp_is_own_thread())
        return NULL;
    memset(&options, 0, sizeof options);
    row_list.list = row_list.inline_list;
    options.hop = hop;
    options.hold = hold;
    options.loss = &loss;
    dt_schedule *of = dtp_object_of(schedule, DTP_SCHEDULE);
    if (!of || !optional_object(mesh, DTP_MESH, &on) || !optional_object(params, DTP_PARAMS, &options.params) ||
        (rows != Py_None && !dtp_to_ints(rows, &row_list)) ||
        (weights != Py_None && !(weight_list = reals_of(weights))))
        goto end;
    options.rows = rows == Py_None ? NULL : row_list.list;
    options.weights = weight_list;
    dt_tensor *newest = begin_callbacks();
    PyThreadState *thread = dtp_begin_long(DTP_LONG);
    dt_status status = dt_pipeline_run_sized(of, on, run_stage, function, &options, sizeof options);
    dtp_end_long(thread);
    end_callbacks(newest);
    result = status == DT_OK && !PyErr_Occurred() ? PyFloat_FromDouble(loss) : dtp_raise();
end:
    PyMem_Free(weight_list);
    dtp_ints_end(&row_list);
    return result;
}

/* Scopes, and numbers that have no function of one result in C. */

static PyObject *scope_begin(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    if (!dtp_is_own_thread() || !dtp_context())
        return NULL;
    dt_scope scope = dt_scope_begin_site(dtp_ctx, NULL);
    return scope.number ? PyLong_FromLongLong(scope.number) : dtp_raise();
}

static PyObject *scope_end(PyObject *self, PyObject *number) {
    int64_t value = 0;
    (void)self;
    if (!dtp_is_own_thread() || !dtp_to_int(number, &value))
        return NULL;
    if (dtp_ctx)
        dt_scope_end_site((dt_scope){dtp_ctx, value}, NULL);
    return Py_NewRef(Py_None);
}

static PyObject *mesh_ranks(PyObject *self, PyObject *object) {
    (void)self;
    dt_mesh *mesh = dtp_object_of(object, DTP_MESH);
    int64_t n = mesh ? dt_mesh_size(mesh) : 0;
    int64_t *ranks = mesh ? PyMem_Malloc((size_t)n * sizeof *ranks) : NULL;
    if (!ranks)
        return mesh ? PyErr_NoMemory() : NULL;
    dt_mesh_ranks(mesh, ranks);
    PyObject *result = dtp_ints_tuple(ranks, (int)n);
    PyMem_Free(ranks);
    return result;
}

static PyObject *mesh_coordinate(PyObject *self, PyObject *object) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    (void)self;
    dt_mesh *mesh = dtp_object_of(object, DTP_MESH);
    if (!mesh)
        return NULL;
    return dt_mesh_coordinate(mesh, coordinate) ? dtp_ints_tuple(coordinate, dt_mesh_n_dims(mesh))
                                                : Py_NewRef(Py_None);
}

/* (live bytes, peak bytes, {kind: (live, peak)}) */
static PyObject *heap_stats(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    if (!dtp_context())
        return NULL;
    dt_heap_statistics stats = dt_heap_stats(dtp_ctx);
    PyObject *kinds = PyDict_New();
    for (int i = 0; kinds && i < DT_N_MEMORY_KINDS; i++) {
        PyObject *pair =
            Py_BuildValue("(nn)", (Py_ssize_t)stats.by_kind[i].live_bytes, (Py_ssize_t)stats.by_kind[i].peak_bytes);
        if (!pair || PyDict_SetItemString(kinds, dt_memory_kind_name((dt_memory_kind)i), pair) < 0)
            Py_CLEAR(kinds);
        Py_XDECREF(pair);
    }
    return kinds ? Py_BuildValue("(nnN)", (Py_ssize_t)stats.live_bytes, (Py_ssize_t)stats.peak_bytes, kinds) : NULL;
}

PyMethodDef dtp_callback_functions[] = {
    {"_add_hook", add_hook, METH_VARARGS, NULL},
    {"_remove_hook", remove_hook, METH_VARARGS, NULL},
    {"_backward", backward, METH_VARARGS, NULL},
    {"_gradients", gradients, METH_VARARGS, NULL},
    {"_checkpoint", checkpoint, METH_VARARGS, NULL},
    {"_local_map", local_map, METH_VARARGS, NULL},
    {"_save_npz", save_npz, METH_VARARGS, NULL},
    {"_params_begin", params_begin, METH_VARARGS, NULL},
    {"_params_list", params_list, METH_VARARGS, NULL},
    {"_scaler_update", scaler_update, METH_VARARGS, NULL},
    {"_comm_stats", comm_stats, METH_VARARGS, NULL},
    {"_register_op", dtp_register_op, METH_VARARGS, NULL},
    {"_run_op", dtp_run_op, METH_VARARGS, NULL},
    {"_load", load, METH_VARARGS, NULL},
    {"_pipeline_run", pipeline_run, METH_VARARGS, NULL},
    {"_scope_begin", scope_begin, METH_NOARGS, NULL},
    {"_scope_end", scope_end, METH_O, NULL},
    {"_mesh_ranks", mesh_ranks, METH_O, NULL},
    {"_mesh_coordinate", mesh_coordinate, METH_O, NULL},
    {"_heap_stats", heap_stats, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
