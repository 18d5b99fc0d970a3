/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of oneDNN, declared by hand because its headers need not be installed, and a convolution with the
 * reorders of its operands. All memory for temporary values is the caller's, so one convolution may run on several
 * threads at once. The library's reference code is refused, because our own is faster.
 */
#include "kernels/onednn.h"

#include "base/ctx.h"
#include "kernels/private_library.h"

#include <pthread.h>
#include <string.h>

/* From dnnl_types.h. Structs of the library are opaque here: it fills them, and only descriptors of memory are
 * copied. */
enum {
    CPU = 1,
    F32 = 3,
    ANY_FORMAT = 1,
    FORWARD = 64,
    DIRECT = 1,
    USER_SCRATCHPAD = 1,
    DEFAULT_STREAM = 1,
    QUERY_NAME = 8,
    QUERY_SCRATCHPAD = 136,
    SOURCE = 1,
    DESTINATION = 17,
    WEIGHTS = 33,
    BIAS = 41,
    SCRATCHPAD = 80,
    GRADIENT = 128, /* added to the numbers of source, weights and destination */
    QUERY_SOURCE = 129,
    QUERY_GRADIENT = 1, /* added likewise */
    QUERY_WEIGHTS = 131,
    QUERY_DESTINATION = 133,
    MEMORY_DESC_BYTES = 696,
    CONV_DESC_BYTES = 5976,
    MAX_DIMS = 12,
    OWN_DIMS = DT__ONEDNN_SPACE + 3, /* of a weight with groups */
};

typedef int64_t dims[MAX_DIMS];
typedef struct memory_desc {
    _Alignas(8) unsigned char bytes[MEMORY_DESC_BYTES];
} memory_desc;
typedef struct conv_desc {
    _Alignas(8) unsigned char bytes[CONV_DESC_BYTES];
} conv_desc;
typedef struct argument {
    int which;
    void *memory;
} argument;

static struct {
    int (*engine_create)(void **, int, size_t);
    int (*stream_create)(void **, void *, unsigned);
    int (*stream_wait)(void *);
    int (*stream_destroy)(void *);
    int (*attr_create)(void **);
    int (*attr_set_scratchpad_mode)(void *, int);
    int (*desc_by_strides)(memory_desc *, int, const int64_t *, int, const int64_t *);
    int (*desc_by_tag)(memory_desc *, int, const int64_t *, int, int);
    int (*desc_equal)(const memory_desc *, const memory_desc *);
    size_t (*desc_bytes)(const memory_desc *);
    int (*conv_forward)(conv_desc *, int, int, const memory_desc *, const memory_desc *, const memory_desc *,
                        const memory_desc *, const int64_t *, const int64_t *, const int64_t *, const int64_t *);
    int (*conv_backward_data)(conv_desc *, int, const memory_desc *, const memory_desc *, const memory_desc *,
                              const int64_t *, const int64_t *, const int64_t *, const int64_t *);
    int (*conv_backward_weights)(conv_desc *, int, const memory_desc *, const memory_desc *, const memory_desc *,
                                 const memory_desc *, const int64_t *, const int64_t *, const int64_t *,
                                 const int64_t *);
    int (*primitive_desc_create)(void **, const void *, const void *, void *, const void *);
    int (*primitive_desc_query)(const void *, int, int, void *);
    const memory_desc *(*primitive_desc_query_md)(const void *, int, int);
    int (*primitive_desc_destroy)(void *);
    int (*reorder_desc_create)(void **, const memory_desc *, void *, const memory_desc *, void *, const void *);
    int (*primitive_create)(void **, const void *);
    int (*primitive_execute)(const void *, void *, int, const argument *);
    int (*primitive_destroy)(void *);
    int (*memory_create)(void **, const memory_desc *, void *, void *);
    int (*memory_destroy)(void *);
} dnnl;

static void *engine, *attributes;
static bool is_loaded;

static void load(void) {
    static const char *const libraries[] = {"libdnnl.so.2", NULL};
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"dnnl_engine_create", &dnnl.engine_create},
        {"dnnl_stream_create", &dnnl.stream_create},
        {"dnnl_stream_wait", &dnnl.stream_wait},
        {"dnnl_stream_destroy", &dnnl.stream_destroy},
        {"dnnl_primitive_attr_create", &dnnl.attr_create},
        {"dnnl_primitive_attr_set_scratchpad_mode", &dnnl.attr_set_scratchpad_mode},
        {"dnnl_memory_desc_init_by_strides", &dnnl.desc_by_strides},
        {"dnnl_memory_desc_init_by_tag", &dnnl.desc_by_tag},
        {"dnnl_memory_desc_equal", &dnnl.desc_equal},
        {"dnnl_memory_desc_get_size", &dnnl.desc_bytes},
        {"dnnl_dilated_convolution_forward_desc_init", &dnnl.conv_forward},
        {"dnnl_dilated_convolution_backward_data_desc_init", &dnnl.conv_backward_data},
        {"dnnl_dilated_convolution_backward_weights_desc_init", &dnnl.conv_backward_weights},
        {"dnnl_primitive_desc_create", &dnnl.primitive_desc_create},
        {"dnnl_primitive_desc_query", &dnnl.primitive_desc_query},
        {"dnnl_primitive_desc_query_md", &dnnl.primitive_desc_query_md},
        {"dnnl_primitive_desc_destroy", &dnnl.primitive_desc_destroy},
        {"dnnl_reorder_primitive_desc_create", &dnnl.reorder_desc_create},
        {"dnnl_primitive_create", &dnnl.primitive_create},
        {"dnnl_primitive_execute", &dnnl.primitive_execute},
        {"dnnl_primitive_destroy", &dnnl.primitive_destroy},
        {"dnnl_memory_create", &dnnl.memory_create},
        {"dnnl_memory_destroy", &dnnl.memory_destroy},
    };
    void *library = dt__private_library(libraries);
    bool found = library != NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && found; i++)
        found = dt__private_function(library, functions[i].name, functions[i].function);
    is_loaded = found && dnnl.engine_create(&engine, CPU, 0) == 0 && dnnl.attr_create(&attributes) == 0 &&
                dnnl.attr_set_scratchpad_mode(attributes, USER_SCRATCHPAD) == 0;
}

bool dt__onednn_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, load) == 0 && is_loaded;
}

/* A primitive with its temporary memory. */
typedef struct step {
    void *primitive; /* NULL: there is nothing to do */
    memory_desc scratch;
    size_t scratch_bytes;
} step;

/* An operand as the caller has it and as the code expects it. */
typedef struct operand {
    memory_desc given, used;
    step reorder; /* of an output: from `used`; of an input: to it */
    size_t bytes; /* of the reordered one; 0: it is used where it is */
} operand;

struct dt__onednn_conv {
    bool has_bias;
    int out;
    operand operands[3]; /* by dt__convolution_part */
    memory_desc bias;
    step run;
    size_t bytes, scratch_bytes;
};

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Makes a primitive, and destroys its description. */
static bool finish_step(void *desc, step *out) {
    out->scratch = *dnnl.primitive_desc_query_md(desc, QUERY_SCRATCHPAD, 0);
    out->scratch_bytes = aligned(dnnl.desc_bytes(&out->scratch));
    const bool made = dnnl.primitive_create(&out->primitive, desc) == 0;
    dnnl.primitive_desc_destroy(desc);
    return made;
}

static bool prepare_reorder(operand *of, bool is_output) {
    void *desc;
    if (dnnl.desc_equal(&of->given, &of->used))
        return true;
    of->bytes = aligned(dnnl.desc_bytes(&of->used));
    return dnnl.reorder_desc_create(&desc, is_output ? &of->used : &of->given, engine,
                                    is_output ? &of->given : &of->used, engine, attributes) == 0 &&
           finish_step(desc, &of->reorder);
}

/* The descriptions of an operand: as given, and of any order in `used`. */
static bool describe(operand *of, int n, const int64_t *sizes, const int64_t *strides) {
    return dnnl.desc_by_strides(&of->given, n, sizes, F32, strides) == 0 &&
           dnnl.desc_by_tag(&of->used, n, sizes, F32, ANY_FORMAT) == 0;
}

static bool describe_operands(const dt__onednn_sizes *s, dt__onednn_conv *out) {
    const int n = (int)s->n_dims, first = s->groups > 1;
    dims image = {s->batch, s->channels}, map = {s->batch, s->filters};
    dims weight = {s->groups, s->filters / s->groups, s->channels / s->groups};
    dims weight_strides = {s->weight_strides[0] * (s->filters / s->groups), s->weight_strides[0],
                           s->weight_strides[1]};
    for (int d = 0; d < n; d++) {
        image[2 + d] = s->image[d];
        map[2 + d] = s->map[d];
        weight[3 + d] = s->taps[d];
        weight_strides[3 + d] = s->weight_strides[2 + d];
    }
    return describe(&out->operands[DT__CONV_IMAGE], n + 2, image, s->image_strides) &&
           describe(&out->operands[DT__CONV_MAP], n + 2, map, s->map_strides) &&
           describe(&out->operands[DT__CONV_WEIGHT], n + 2 + first, weight + !first, weight_strides + !first) &&
           (!s->has_bias || dnnl.desc_by_strides(&out->bias, 1, &s->filters, F32, (int64_t[]){1}) == 0);
}

/* The code for the convolution; a gradient is derived from the forward one. NULL if there is none. */
static void *new_desc(const dt__onednn_sizes *s, const dt__onednn_conv *conv) {
    const memory_desc *image = &conv->operands[DT__CONV_IMAGE].used, *map = &conv->operands[DT__CONV_MAP].used,
                      *weight = &conv->operands[DT__CONV_WEIGHT].used;
    int64_t dilation[DT__ONEDNN_SPACE]; /* 0: taps are neighbors */
    conv_desc of_forward, of_gradient;
    void *forward = NULL, *desc = NULL;
    for (int d = 0; d < DT__ONEDNN_SPACE; d++)
        dilation[d] = s->dilation[d] - 1;
    if (dnnl.conv_forward(&of_forward, FORWARD, DIRECT, image, weight, s->has_bias ? &conv->bias : NULL, map,
                          s->stride, dilation, s->before, s->after) != 0 ||
        dnnl.primitive_desc_create(&forward, &of_forward, attributes, engine, NULL) != 0)
        return NULL;
    if (s->out == DT__CONV_MAP)
        return forward;
    int status = s->out == DT__CONV_IMAGE ? dnnl.conv_backward_data(&of_gradient, DIRECT, image, weight, map,
                                                                    s->stride, dilation, s->before, s->after)
                                          : dnnl.conv_backward_weights(&of_gradient, DIRECT, image, weight, NULL, map,
                                                                       s->stride, dilation, s->before, s->after);
    if (status == 0)
        status = dnnl.primitive_desc_create(&desc, &of_gradient, attributes, engine, forward);
    dnnl.primitive_desc_destroy(forward);
    return status == 0 ? desc : NULL;
}

/* Generated code for convolutions, not a product of columns and not a plain loop. */
static bool is_fast(const void *desc) {
    const char *name = NULL;
    return dnnl.primitive_desc_query(desc, QUERY_NAME, 0, &name) == 0 && name &&
           (!strncmp(name, "jit", 3) || !strncmp(name, "brg", 3));
}

/* The number of an operand in queries and calls, where gradients have numbers of their own. */
static bool is_gradient(int out, int part) { return out != DT__CONV_MAP && (part == out || part == DT__CONV_MAP); }

static int query_of(int out, int part) {
    static const int of[] = {
        [DT__CONV_IMAGE] = QUERY_SOURCE, [DT__CONV_WEIGHT] = QUERY_WEIGHTS, [DT__CONV_MAP] = QUERY_DESTINATION};
    return of[part] + (is_gradient(out, part) ? QUERY_GRADIENT : 0);
}

static int argument_of(int out, int part) {
    static const int of[] = {[DT__CONV_IMAGE] = SOURCE, [DT__CONV_WEIGHT] = WEIGHTS, [DT__CONV_MAP] = DESTINATION};
    return of[part] + (is_gradient(out, part) ? GRADIENT : 0);
}

static bool prepare(const dt__onednn_sizes *sizes, dt__onednn_conv *out) {
    if (!describe_operands(sizes, out))
        return false;
    void *desc = new_desc(sizes, out);
    if (!desc)
        return false;
    if (!is_fast(desc)) {
        dnnl.primitive_desc_destroy(desc);
        return false;
    }
    for (int part = 0; part < 3; part++)
        out->operands[part].used = *dnnl.primitive_desc_query_md(desc, query_of(out->out, part), 0);
    if (!finish_step(desc, &out->run))
        return false;
    out->scratch_bytes = out->run.scratch_bytes;
    for (int part = 0; part < 3; part++) {
        operand *of = &out->operands[part];
        if (!prepare_reorder(of, part == out->out))
            return false;
        if (of->reorder.scratch_bytes > out->scratch_bytes)
            out->scratch_bytes = of->reorder.scratch_bytes;
        if (part != DT__CONV_WEIGHT || out->out == DT__CONV_WEIGHT)
            out->bytes += of->bytes;
    }
    out->bytes += out->scratch_bytes;
    return true;
}

dt__onednn_conv *dt__onednn_conv_new(dt_ctx *ctx, const dt__onednn_sizes *sizes) {
    dt__onednn_conv *made = dt__onednn_load() ? dt__alloc_zeroed(ctx, sizeof *made) : NULL;
    if (!made)
        return NULL;
    made->has_bias = sizes->has_bias;
    made->out = (int)sizes->out;
    if (prepare(sizes, made))
        return made;
    dt__onednn_conv_free(ctx, made);
    return NULL;
}

void dt__onednn_conv_free(dt_ctx *ctx, dt__onednn_conv *conv) {
    if (!conv)
        return;
    if (conv->run.primitive)
        dnnl.primitive_destroy(conv->run.primitive);
    for (int part = 0; part < 3; part++)
        if (conv->operands[part].reorder.primitive)
            dnnl.primitive_destroy(conv->operands[part].reorder.primitive);
    dt__free(ctx, conv, sizeof *conv);
}

size_t dt__onednn_conv_bytes(const dt__onednn_conv *conv) { return conv->bytes; }
size_t dt__onednn_weight_bytes(const dt__onednn_conv *conv) { return conv->operands[DT__CONV_WEIGHT].bytes; }

enum { MAX_ARGUMENTS = 5 };

/* An array of a step. */
typedef struct array {
    int which;
    const memory_desc *desc;
    const void *data;
} array;

static bool run_step(const step *of, int n, const array *arrays, char *scratch) {
    argument arguments[MAX_ARGUMENTS];
    void *stream = NULL;
    int made = 0;
    bool fine = dnnl.stream_create(&stream, engine, DEFAULT_STREAM) == 0;
    while (made <= n && fine) {
        const array *a = made < n ? &arrays[made] : &(array){SCRATCHPAD, &of->scratch, scratch};
        arguments[made].which = a->which;
        fine = dnnl.memory_create(&arguments[made].memory, a->desc, engine, (void *)(uintptr_t)a->data) == 0;
        made += fine;
    }
    fine =
        fine && dnnl.primitive_execute(of->primitive, stream, made, arguments) == 0 && dnnl.stream_wait(stream) == 0;
    while (made > 0)
        dnnl.memory_destroy(arguments[--made].memory);
    if (stream)
        dnnl.stream_destroy(stream);
    return fine;
}

static bool reorder(const operand *of, const memory_desc *from_desc, const void *from, const memory_desc *to_desc,
                    void *to, char *scratch) {
    const array arrays[] = {{SOURCE, from_desc, from}, {DESTINATION, to_desc, to}};
    return run_step(&of->reorder, 2, arrays, scratch);
}

bool dt__onednn_reorder_weight(const dt__onednn_conv *conv, const void *weight, void *to, char *memory) {
    const operand *of = &conv->operands[DT__CONV_WEIGHT];
    return reorder(of, &of->given, weight, &of->used, to, memory);
}

bool dt__onednn_conv_run(const dt__onednn_conv *conv, const dt__onednn_arrays *in) {
    void *const given[] = {[DT__CONV_MAP] = in->map, [DT__CONV_IMAGE] = in->image, [DT__CONV_WEIGHT] = in->weight};
    char *scratch = in->memory, *at = in->memory + conv->scratch_bytes;
    void *used[3];
    array arrays[MAX_ARGUMENTS - 1];
    int n = 0;
    for (int part = 0; part < 3; part++) {
        const operand *of = &conv->operands[part];
        const bool is_ready = of->bytes == 0 || (part == DT__CONV_WEIGHT && part != conv->out);
        used[part] = is_ready ? given[part] : at;
        at += is_ready ? 0 : of->bytes;
        if (!is_ready && part != conv->out && !reorder(of, &of->given, given[part], &of->used, used[part], scratch))
            return false;
        arrays[n++] = (array){argument_of(conv->out, part), &of->used, used[part]};
    }
    if (conv->has_bias)
        arrays[n++] = (array){BIAS, &conv->bias, in->bias};
    const operand *out = &conv->operands[conv->out];
    return run_step(&conv->run, n, arrays, scratch) &&
           (out->bytes == 0 || reorder(out, &out->used, used[conv->out], &out->given, given[conv->out], scratch));
}
