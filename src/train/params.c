/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of named parameters: making them as the rules place them, names and prefixes, lists by pattern, copies.
 * Names, rules and lists are in an arena of the list; tensors are retained, so they outlive the scope that made them.
 */
#include "train/checkpoint_view.h"

#include "base/dtype.h"
#include "base/hash.h"
#include "base/near_miss.h"
#include "base/options.h"
#include "base/text.h"
#include "dtensor/random.h"
#include "mesh/mesh.h"

#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 512, MAX_PREFIXES = 32 };

typedef struct param {
    const char *name;
    dt_tensor *tensor; /* retained; that of another one where tied */
    const char *tied;
    const struct param *original; /* this one is a copy of it on another mesh; NULL: it is none */
    dt_opt_real std, value;       /* that it was made with, and the generator's state then, for copies */
    dt_generator_state drawn;
    double decay, lr;
    bool is_frozen;
    int position; /* in the list */
} param;

/* A list that was returned for a pattern. */
typedef struct pattern_list {
    const char *pattern; /* NULL: all */
    int n_params;        /* that the params had */
    dt_tensors tensors;
    struct pattern_list *next;
} pattern_list;

struct dt_params {
    dt__lifetime life;
    dt_ctx *ctx;
    dt__arena arena;
    dt_mesh *mesh; /* holds a reference; NULL: plain */
    dt_dtype dtype;
    dt__param_rules rules;
    param **params; /* in the order of making */
    int n, capacity;
    dt__map by_name;
    char prefix[MAX_NAME];
    size_t ends[MAX_PREFIXES]; /* of the prefixes around each open one */
    int n_prefixes;
    pattern_list *lists;
    dt__text text;
    dt_params *previous, *next; /* of the open ones */
};

static dt_ctx *ctx_of(const dt_params *self) { return self ? self->ctx : NULL; }

/* Making and freeing. */

static void link_open(dt_params *self) {
    dt__train_state *state = dt__train_state_of(self->ctx);
    self->next = state->open_params;
    if (self->next)
        self->next->previous = self;
    state->open_params = self;
}

static void unlink_open(dt_params *self) {
    dt__train_state *state = dt__train_state_of(self->ctx);
    if (self->next)
        self->next->previous = self->previous;
    if (self->previous)
        self->previous->next = self->next;
    else
        state->open_params = self->next;
}

static void free_memory(dt_params *self) {
    dt__map_free(&self->by_name);
    dt__text_free(&self->text);
    dt__arena_free(&self->arena);
}

void dt__params_abandon(dt_params *open) {
    for (; open; open = open->next)
        free_memory(open);
}

static dt_params *params_new(dt_ctx *ctx, dt_mesh *mesh, const char *rules, dt_dtype dtype) {
    dt_params *self = dt__train_state_of(ctx) ? dt__owned_new(ctx, sizeof *self, "a list of parameters") : NULL;
    if (!self)
        return NULL;
    self->ctx = ctx;
    self->arena = dt__arena_new(ctx);
    self->by_name = dt__map_new(ctx);
    self->text = dt__text_new(ctx);
    self->dtype = dtype ? dtype : DT_F32;
    if (dt__param_rules_parse(&self->arena, rules, &self->rules) != DT_OK ||
        dt__param_rules_check_mesh(&self->rules, mesh) != DT_OK) {
        free_memory(self);
        dt__owned_free(ctx, self);
        return NULL;
    }
    self->mesh = mesh ? dt_mesh_retain(mesh) : NULL;
    dt__life_begin(&self->life, ctx);
    link_open(self);
    return self;
}

dt_params *dt_params_new_sized(dt_ctx *ctx, const dt_params_new_options *options, size_t options_size) {
    dt_params_new_options full;
    DT__ENTER_OPTIONS(ctx, "params_new", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !ctx || !options)
        return NULL;
    if (options->mesh && (!DT__LIVE(DT__KIND_MESH, options->mesh) ||
                          !dt__check_context(ctx, "params_new", "mesh", dt_mesh_ctx(options->mesh))))
        return NULL;
    if (options->dtype && dt_dtype_size(options->dtype) == 0) {
        (void)dt__fail(ctx, DT_ERR_DTYPE, "dtype: expected a dt_dtype, got %d", (int)options->dtype);
        return NULL;
    }
    return params_new(ctx, options->mesh, options->rules, options->dtype);
}

void dt_params_free_site(dt_params *params, const dt_site *site) {
    DT__ENTER(ctx_of(params), "params_free", site);
    params = DT__LIVE(DT__KIND_PARAMS, params);
    if (!params)
        return;
    dt_ctx *ctx = params->ctx;
    dt__freed_queue *freed = &dt__train_state_of(ctx)->freed_params;
    for (int i = 0; i < params->n; i++)
        dt_tensor_release(params->params[i]->tensor);
    dt_mesh_release(params->mesh);
    unlink_open(params);
    free_memory(params);
    DT__LIFE_END(freed, params);
    dt__owned_free(ctx, dt__freed_pop(freed, ctx, sizeof *params));
}

/* Names. */

static bool is_named(const void *value, const void *probe) { return !strcmp(((const param *)value)->name, probe); }

static param *find(const dt_params *self, const char *name) {
    return dt__map_get(&self->by_name, dt__hash(name, strlen(name), 0), is_named, name);
}

static param *find_or_fail(const dt_params *self, const char *what, const char *name) {
    param *found = find(self, name);
    if (found)
        return found;
    dt__near_miss near = dt__near_miss_new(name);
    for (int i = 0; i < self->n; i++)
        dt__near_miss_add(&near, self->params[i]->name, strlen(self->params[i]->name));
    (void)dt__fail(self->ctx, DT_ERR_VALUE, "%sthere is no parameter '%.200s'%s", what, name,
                   dt__near_miss_hint(&near));
    return NULL;
}

dt_status dt_params_begin_site(dt_params *params, const dt_site *site, const char *format, ...) {
    DT__ENTER(ctx_of(params), "params_begin", site);
    params = DT__LIVE(DT__KIND_PARAMS, params);
    if (!params)
        return DT_ERR_STATE;
    const size_t used = strlen(params->prefix);
    va_list args;
    if (params->n_prefixes == MAX_PREFIXES)
        return dt__fail(params->ctx, DT_ERR_VALUE, "expected at most %d open prefixes", MAX_PREFIXES);
    va_start(args, format);
    int n = vsnprintf(params->prefix + used, MAX_NAME - used, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= MAX_NAME - used) {
        params->prefix[used] = 0;
        return dt__fail(params->ctx, DT_ERR_VALUE, "expected a prefix of fewer than %d characters", MAX_NAME);
    }
    params->ends[params->n_prefixes++] = used;
    return DT_OK;
}

dt_status dt_params_end_site(dt_params *params, const dt_site *site) {
    DT__ENTER(ctx_of(params), "params_end", site);
    params = DT__LIVE(DT__KIND_PARAMS, params);
    if (!params)
        return DT_ERR_STATE;
    if (!params->n_prefixes)
        return dt__fail(params->ctx, DT_ERR_STATE, "expected an open dt_params_begin, got none");
    params->prefix[params->ends[--params->n_prefixes]] = 0;
    return DT_OK;
}

/* The full name, in the arena; NULL after an error. */
static const char *full_name(dt_params *self, const char *name) {
    const size_t n = strlen(self->prefix) + (name ? strlen(name) : 0);
    if (!name || !*name || n >= MAX_NAME || name[strcspn(name, " \t\n,=*?[]#")]) {
        (void)dt__fail(
            self->ctx, DT_ERR_VALUE,
            "expected a name of 1 to %d characters without blanks, ',', '=', '#' and those of patterns, got "
            "'%.100s'",
            MAX_NAME - 1, name ? name : "");
        return NULL;
    }
    char *full = dt__arena_alloc(&self->arena, n + 1, 1);
    if (full)
        (void)snprintf(full, n + 1, "%s%s", self->prefix, name);
    if (full && find(self, full)) {
        (void)dt__fail(self->ctx, DT_ERR_VALUE, "there is a parameter '%s' already: expected another name", full);
        return NULL;
    }
    return full;
}

/* Adding. */

static dt_status reserve(dt_params *self) {
    if (self->n < self->capacity)
        return DT_OK;
    int capacity = 2 * self->capacity + 32;
    param **params = DT__NEW_ARRAY(&self->arena, param *, capacity);
    if (!params)
        return DT_ERR_MEMORY;
    if (self->n)
        memcpy(params, self->params, (size_t)self->n * sizeof(param *));
    self->params = params;
    self->capacity = capacity;
    return DT_OK;
}

/* Adds a parameter and a reference to its tensor. */
static dt_status add(dt_params *self, const param *from) {
    param *copy = dt__arena_copy(&self->arena, from, 1, sizeof *from);
    if (!copy)
        return DT_ERR_MEMORY;
    DT__TRY(reserve(self));
    copy->position = self->n;
    if (!dt__map_add(&self->by_name, dt__hash(copy->name, strlen(copy->name), 0), copy))
        return DT_ERR_MEMORY;
    self->params[self->n++] = copy;
    (void)dt_tensor_retain(copy->tensor);
    return DT_OK;
}

/* The text of placements in the arena of a call; NULL after an error. */
static char *placements_text(dt__arena *arena, int n, const dt_placement *placements) {
    char usual[256];
    const size_t length = dt_placements_text(n, placements, sizeof usual, usual);
    if (length < sizeof usual)
        return dt__arena_copy_text(arena, usual);
    char *text = DT__NEW_ARRAY(arena, char, length + 1);
    if (text)
        (void)dt_placements_text(n, placements, length + 1, text);
    return text;
}

static dt_status set_use(const dt__param_traits *traits, dt_tensor *tensor) {
    if (!traits->has_use)
        return DT_OK;
    const dt_spec *spec = tensor->spec;
    dt_spec *use =
        dt_spec_new(spec->mesh, &(dt_spec_desc){.dtype = traits->use_dtype ? traits->use_dtype : spec->dtype,
                                                .n_dims = spec->sharding.n_dims,
                                                .shape = spec->sharding.shape,
                                                .n_placements = traits->n_mesh_dims,
                                                .placements = traits->used,
                                                .stride_order = spec->stride_order});
    dt_status status = use ? dt__set_use_checked(tensor, use) : dt_error_status(tensor->ctx);
    dt_spec_release(use);
    return status;
}

/* What the rules have for a parameter besides its placements. */
typedef struct ruled {
    const param *of;
    const dt_spec *use; /* NULL: none */
} ruled;

static void describe_rules(const void *arg, dt__text *text) {
    const ruled *self = arg;
    char use[256] = "";
    if (self->use) {
        (void)dt_spec_text(self->use, sizeof use, use);
        dt__text_add(text, "; use %s", use);
    }
    if (self->of->decay != 1)
        dt__text_add(text, "; decay=%.17g", self->of->decay);
    if (self->of->lr != 1)
        dt__text_add(text, "; lr=%.17g", self->of->lr);
    if (self->of->is_frozen)
        dt__text_add(text, "; freeze");
}

/* Every rank lists the same parameters in the same order, with the same options. */
static dt_status note(const dt_tensor *tensor, const param *of, const dt_param_options *o) {
    const double numbers[] = {of->decay, of->lr, of->is_frozen, o->std.given, o->value.given};
    return dt__note_tensor(tensor, &(dt__call_details){.text = of->name,
                                                       .n_values = 2,
                                                       .values = {o->std.value, o->value.value},
                                                       .hash = dt__hash(numbers, sizeof numbers,
                                                                        tensor->use ? tensor->use->fingerprint : 0),
                                                       .describe = describe_rules,
                                                       .describe_arg = &(ruled){of, tensor->use}});
}

static dt_tensor *fill(dt_params *self, dt_shape shape, dt_dtype dtype, dt_mesh *mesh, const char *place,
                       const dt_param_options *o) {
    const double value = o->value.given ? o->value.value : 0;
    if (o->std.given)
        return dt_randn(self->ctx, shape, .mean = DT_REAL(value), .std = o->std, .dtype = dtype, .mesh = mesh,
                        .place = place);
    return dt_full(self->ctx, shape, DT_NUMBER(value), .dtype = dtype, .mesh = mesh, .place = place);
}

/* Makes the tensor that the rules place; *of has its traits. NULL after an error. */
static dt_tensor *make(dt_params *self, dt__arena *scratch, dt_shape shape, const dt_param_options *o, param *of) {
    dt_mesh *mesh = o->on ? o->on : self->mesh;
    dt_dtype dtype = o->dtype ? o->dtype : self->dtype;
    dt__param_traits traits;
    const dt__param_shape seen = {of->name, dtype, shape.n, shape.sizes};
    if (dt__param_rules_apply(&self->rules, scratch, &seen, mesh, &traits) != DT_OK)
        return NULL;
    of->decay = traits.decay;
    of->lr = traits.lr;
    of->is_frozen = traits.is_frozen || dt__is_integral(dtype);
    char *place = mesh ? placements_text(scratch, traits.n_mesh_dims, traits.placements) : NULL;
    if (mesh && !place)
        return NULL;
    of->std = o->std;
    of->value = o->value;
    of->drawn = dt_generator_save(dt_generator_default(self->ctx));
    dt_tensor *tensor = fill(self, shape, dtype, mesh, place, o);
    if (!tensor)
        return NULL;
    dt_status status = set_use(&traits, tensor);
    if (status == DT_OK)
        status = note(tensor, of, o);
    if (status == DT_OK && !of->is_frozen)
        status = dt_set_requires_grad(tensor, true);
    if (status == DT_OK)
        return tensor;
    dt_drop(tensor);
    return NULL;
}

static bool has_shape(const dt_tensor *tensor, dt_shape shape) {
    return tensor->n_dims == shape.n &&
           (shape.n == 0 || !memcmp(tensor->shape, shape.sizes, (size_t)shape.n * sizeof *shape.sizes));
}

/* A copy of a parameter on another mesh: the same numbers, drawn again, placed by the rules of the original. */
static dt_tensor *copy_to(dt_params *self, dt__arena *scratch, dt_shape shape, const param *other, dt_mesh *mesh,
                          param *of) {
    dt_generator *generator = dt_generator_default(self->ctx);
    const dt_generator_state now = dt_generator_save(generator);
    const char *name = of->name;
    of->name = other->name;
    if (dt_generator_restore(generator, other->drawn) != DT_OK)
        return NULL;
    dt_tensor *copy = make(
        self, scratch, shape,
        &(dt_param_options){.std = other->std, .value = other->value, .on = mesh, .dtype = other->tensor->dtype}, of);
    of->name = name;
    of->original = other->original ? other->original : other;
    if (copy)
        copy->storage->is_tied_copy = true;
    return dt_generator_restore(generator, now) == DT_OK ? copy : NULL;
}

/* The other parameter of a tied name; its rules are those of the tensor. */
static dt_tensor *tie(dt_params *self, dt__arena *scratch, dt_shape shape, const dt_param_options *o, param *of) {
    const param *other = find_or_fail(self, "tied: ", o->tied);
    char text[256];
    if (!other)
        return NULL;
    dt_tensor_text(other->tensor, sizeof text, text);
    if (o->std.given || o->value.given || (o->dtype && o->dtype != other->tensor->dtype)) {
        (void)dt__fail(self->ctx, DT_ERR_VALUE, "%s is tied to %s: expected no std, value or other dtype", of->name,
                       other->name);
        return NULL;
    }
    if (!has_shape(other->tensor, shape)) {
        (void)dt__fail(self->ctx, DT_ERR_SHAPE, "%s is tied to %s: expected the shape of %s", of->name, other->name,
                       text);
        return NULL;
    }
    if (o->on && !dt__mesh_same(o->on, other->tensor->spec->mesh))
        return copy_to(self, scratch, shape, other, o->on, of);
    const char *name = of->name;
    *of = *other;
    of->name = name;
    of->tied = other->tied ? other->tied : other->name;
    return other->tensor;
}

static dt_status check_param(const dt_params *self, dt_shape shape, const dt_param_options *o) {
    if (shape.n < 0 || (shape.n > 0 && !shape.sizes))
        return dt__fail(self->ctx, DT_ERR_VALUE, "shape: expected sizes, got NULL");
    if (shape.n > DT_SPEC_MAX_DIMS)
        return dt__fail(self->ctx, DT_ERR_SHAPE, "shape: expected at most %d dims, got %d", DT_SPEC_MAX_DIMS,
                        shape.n);
    if (o->dtype && dt_dtype_size(o->dtype) == 0)
        return dt__fail(self->ctx, DT_ERR_DTYPE, "dtype: expected a dt_dtype, got %d", (int)o->dtype);
    if (!o->on)
        return DT_OK;
    if (!DT__LIVE(DT__KIND_MESH, o->on) || !dt__check_context(self->ctx, "param", "mesh", dt_mesh_ctx(o->on)))
        return dt_error_status(self->ctx);
    return self->mesh
               ? DT_OK
               : dt__fail(self->ctx, DT_ERR_MESH, "on: expected params with a mesh that this one is a slice of");
}

static dt_tensor *param_of(dt_params *self, const char *name, dt_shape shape, const dt_param_options *o) {
    dt__arena_mark mark = dt__arena_begin(&self->arena);
    param new = {.name = full_name(self, name), .decay = 1, .lr = 1};
    if (!new.name || check_param(self, shape, o) != DT_OK) {
        dt__arena_rewind(&self->arena, mark);
        return NULL;
    }
    dt__arena scratch = dt__arena_new(self->ctx);
    new.tensor = o->tied ? tie(self, &scratch, shape, o, &new) : make(self, &scratch, shape, o, &new);
    dt__arena_free(&scratch);
    if (new.tensor && add(self, &new) == DT_OK)
        return new.tensor;
    if (new.tensor && !new.tied)
        dt_drop(new.tensor);
    return NULL;
}

dt_tensor *dt_param_sized(dt_params *params, const char *name, dt_shape shape, const dt_param_options *options,
                          size_t options_size) {
    dt_param_options full;
    DT__ENTER_OPTIONS(ctx_of(params), "param", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    params = DT__LIVE(DT__KIND_PARAMS, params);
    return params && options ? param_of(params, name, shape, options) : NULL;
}

/* Reading. */

int dt_params_n(const dt_params *params) {
    params = DT__LIVE(DT__KIND_PARAMS, params);
    return params ? params->n : 0;
}

static const param *at(const dt_params *params, int i) {
    return params && i >= 0 && i < params->n ? params->params[i] : NULL;
}

const char *dt_params_name(const dt_params *params, int i) {
    const param *found = at(DT__LIVE(DT__KIND_PARAMS, params), i);
    return found ? found->name : NULL;
}

dt_tensor *dt_params_tensor(const dt_params *params, int i) {
    const param *found = at(DT__LIVE(DT__KIND_PARAMS, params), i);
    return found ? found->tensor : NULL;
}

dt_tensor *dt_params_get_site(const dt_params *params, const char *name, const dt_site *site) {
    DT__ENTER(ctx_of(params), "params_get", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    params = DT__LIVE(DT__KIND_PARAMS, params);
    const param *found = params ? find_or_fail(params, "", name ? name : "") : NULL;
    return found ? found->tensor : NULL;
}

static pattern_list *cached_list(const dt_params *self, const char *pattern) {
    for (pattern_list *list = self->lists; list; list = list->next)
        if (list->n_params == self->n && !list->pattern == !pattern && (!pattern || !strcmp(list->pattern, pattern)))
            return list;
    return NULL;
}

static dt_tensors new_list(dt_params *self, const char *pattern) {
    const dt_tensors none = {0, NULL};
    pattern_list *list = DT__NEW(&self->arena, pattern_list);
    dt_tensor **tensors = DT__NEW_ARRAY(&self->arena, dt_tensor *, self->n);
    char *copy = pattern ? dt__arena_copy_text(&self->arena, pattern) : NULL;
    int n = 0;
    if (!list || !tensors || (pattern && !copy))
        return none;
    for (int i = 0; i < self->n; i++) {
        const param *from = self->params[i];
        bool matches = !from->tied && (!pattern || dt__pattern_matches(pattern, from->name));
        for (int t = 0; t < self->n && !matches && !from->tied; t++) /* by one of its other names */
            matches = self->params[t]->tensor == from->tensor && self->params[t]->tied &&
                      dt__pattern_matches(pattern, self->params[t]->name);
        if (matches)
            tensors[n++] = from->tensor;
    }
    if (n == 0 && pattern) {
        dt__pattern_miss near = dt__pattern_miss_new(pattern);
        for (int i = 0; i < self->n; i++)
            dt__pattern_miss_add(&near, self->params[i]->name);
        (void)dt__fail(self->ctx, DT_ERR_VALUE, "'%.200s' matches none of the %d parameters%s", pattern, self->n,
                       near.hint);
        return none;
    }
    *list = (pattern_list){.pattern = copy, .n_params = self->n, .tensors = {n, tensors}, .next = self->lists};
    self->lists = list;
    return list->tensors;
}

dt_tensors dt_params_list_site(dt_params *params, const char *pattern, const dt_site *site) {
    const dt_tensors none = {0, NULL};
    DT__ENTER(ctx_of(params), "params_list", site);
    if (DT__REFUSAL() != DT_OK)
        return none;
    params = DT__LIVE(DT__KIND_PARAMS, params);
    if (!params)
        return none;
    const pattern_list *cached = cached_list(params, pattern);
    if (cached)
        return cached->tensors;
    if (pattern && dt__pattern_problem(pattern)) {
        (void)dt__fail(params->ctx, DT_ERR_VALUE, "'%.200s': %s", pattern, dt__pattern_problem(pattern));
        return none;
    }
    return new_list(params, pattern);
}

dt_status dt__params_check(const dt_params *self) {
    dt__arena arena = dt__arena_new(self->ctx);
    const char **names = DT__NEW_ARRAY(&arena, const char *, self->n);
    dt_status status = names ? DT_OK : DT_ERR_MEMORY;
    for (int i = 0; i < self->n && names; i++)
        names[i] = self->params[i]->name;
    if (status == DT_OK)
        status = dt__param_rules_check(&self->rules, self->ctx, self->n, names);
    dt__arena_free(&arena);
    return status;
}

dt_status dt_params_check_site(dt_params *params, const dt_site *site) {
    DT__ENTER(ctx_of(params), "params_check", site);
    DT__TRY(DT__REFUSAL());
    params = DT__LIVE(DT__KIND_PARAMS, params);
    return params ? dt__params_check(params) : DT_ERR_STATE;
}

const char *dt_params_text_site(dt_params *params, const dt_site *site) {
    DT__ENTER(ctx_of(params), "params_text", site);
    params = DT__LIVE(DT__KIND_PARAMS, params);
    if (!params)
        return NULL;
    dt__arena arena = dt__arena_new(params->ctx);
    dt__param_row *rows = DT__NEW_ARRAY(&arena, dt__param_row, params->n);
    for (int i = 0; i < params->n && rows; i++) {
        const param *from = params->params[i];
        const dt_tensor *t = from->tensor;
        rows[i] = (dt__param_row){.of = {from->name, t->dtype, t->n_dims, t->shape},
                                  .spec = t->spec,
                                  .use = t->use,
                                  .decay = from->decay,
                                  .lr = from->lr,
                                  .is_frozen = from->is_frozen,
                                  .tied = from->tied};
    }
    dt__text_clear(&params->text);
    if (rows)
        dt__param_table(&arena, params->n, rows, &params->text);
    dt__arena_free(&arena);
    return rows && dt__text_status(&params->text) == DT_OK ? dt__text_chars(&params->text) : NULL;
}

/* Copies. */

static dt_status clone_one(dt_params *to, const dt_params *from, const param *of) {
    param copy = *of;
    copy.name = dt__arena_copy_text(&to->arena, of->name);
    copy.is_frozen = true;
    copy.original = NULL; /* copies of averages are not summed */
    if (!copy.name)
        return DT_ERR_MEMORY;
    if (of->tied) {
        const param *other = find(to, of->tied);
        copy.tied = other->name;
        copy.tensor = other->tensor;
        return add(to, &copy);
    }
    copy.tensor = dt__clone(of->tensor);
    if (!copy.tensor)
        return dt_error_status(from->ctx);
    dt__set_use_spec(copy.tensor, of->tensor->use);
    dt_status status = add(to, &copy);
    dt_drop(copy.tensor); /* which the list has retained */
    return status;
}

dt_params *dt_params_clone_site(const dt_params *params, const dt_site *site) {
    DT__ENTER(ctx_of(params), "params_clone", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    params = DT__LIVE(DT__KIND_PARAMS, params);
    dt_params *copy = params ? params_new(params->ctx, params->mesh, NULL, params->dtype) : NULL;
    for (int i = 0; copy && i < params->n; i++)
        if (dt__note_tensor(params->params[i]->tensor, &(dt__call_details){.text = params->params[i]->name}) !=
                DT_OK ||
            clone_one(copy, params, params->params[i]) != DT_OK) {
            dt_params_free(copy);
            copy = NULL;
        }
    return copy;
}

static dt_status check_same(const dt_params *self, const dt_params *to) {
    if (self->n != to->n)
        return dt__fail(self->ctx, DT_ERR_VALUE, "expected %d parameters, got %d", self->n, to->n);
    for (int i = 0; i < self->n; i++) {
        const param *a = self->params[i], *b = to->params[i];
        char text[256], expected[256];
        if (strcmp(a->name, b->name) != 0)
            return dt__fail(self->ctx, DT_ERR_VALUE, "parameter %d: expected '%s', got '%s'", i + 1, a->name,
                            b->name);
        dt_tensor_text(a->tensor, sizeof expected, expected);
        dt_tensor_text(b->tensor, sizeof text, text);
        if (a->tensor->spec != b->tensor->spec || a->tensor->dtype != b->tensor->dtype ||
            !has_shape(b->tensor, (dt_shape){a->tensor->n_dims, a->tensor->shape}))
            return dt__fail(self->ctx, DT_ERR_VALUE, "%s: expected %s, got %s", a->name, expected, text);
    }
    return DT_OK;
}

/* Numbers move toward those of the other list; integers and bool, which have no mean, become them. */
static bool lerp_one(dt_tensor *tensor, dt_tensor *to, double weight) {
    if (dt__is_integral(tensor->dtype))
        return dt_copy_(tensor, to) != NULL;
    if (dt__is_complex(tensor->dtype))
        return dt_add_(tensor, dt_mul_scalar(dt_sub(to, tensor), DT_NUMBER(weight))) != NULL;
    return dt_lerp_(tensor, to, weight) != NULL;
}

static dt_status lerp(dt_params *self, const dt_params *to, double weight) {
    dt__training_setting setting = dt__training_begin(self->ctx);
    dt_status status = DT_OK;
    for (int i = 0; i < self->n && status == DT_OK; i++) {
        if (self->params[i]->tied)
            continue;
        dt_scope scope = dt_scope_begin(self->ctx);
        if (!lerp_one(self->params[i]->tensor, to->params[i]->tensor, weight))
            status = dt_error_status(self->ctx);
        dt_scope_end(scope);
    }
    dt__training_end(&setting);
    return status;
}

dt_status dt_params_lerp_site(dt_params *params, const dt_params *to, double weight, const dt_site *site) {
    DT__ENTER(ctx_of(params), "params_lerp", site);
    DT__TRY(DT__REFUSAL());
    params = DT__LIVE(DT__KIND_PARAMS, params);
    to = DT__LIVE_ARGUMENT(DT__KIND_PARAMS, to, 2);
    if (!params || !to)
        return ctx_of(params) && !dt_failed(params->ctx)
                   ? dt__fail(params->ctx, DT_ERR_VALUE, "argument 2 is NULL: expected params")
                   : DT_ERR_STATE;
    if (!dt__check_context(params->ctx, "params_lerp", "params", to->ctx))
        return dt_error_status(params->ctx);
    DT__TRY(check_same(params, to));
    const dt_tensors list = dt_params_list(params, NULL);
    DT__TRY(dt__training_call_note(params->ctx, list, "weight", weight));
    return lerp(params, to, weight);
}

/* For checkpoints, optimizers and pipelines. */

dt_mesh *dt__params_mesh(const dt_params *self) { return self->mesh; }

dt_status dt__params_append(dt_params *self, const char *name, dt_tensor *tensor) {
    const char *copy = dt__arena_copy_text(&self->arena, name);
    return copy ? add(self, &(param){.name = copy, .tensor = tensor, .decay = 1, .lr = 1}) : DT_ERR_MEMORY;
}

bool dt__params_has(const dt_params *self, const char *name) { return find(self, name) != NULL; }

dt__param_entry dt__params_entry(const dt_params *self, int i) {
    const param *from = self->params[i];
    return (dt__param_entry){from->name, from->tensor, from->tied, from->is_frozen,
                             from->original ? from->original->name : NULL};
}

dt_ctx *dt__params_ctx(const dt_params *self) { return ctx_of(self); }

int dt__params_original(const dt_params *self, int i) {
    const param *of = self->params[i];
    return of->original && !of->tied ? of->original->position : -1;
}

dt_status dt__params_ready(dt_params *self, dt__param_group **out, int *n) {
    dt__param_group *groups = DT__NEW_ARRAY(&self->arena, dt__param_group, self->n);
    if (!groups)
        return DT_ERR_MEMORY;
    DT__TRY(dt__params_check(self));
    *n = 0;
    for (int i = 0; i < self->n; i++) {
        const param *from = self->params[i];
        if (!from->tied && !from->is_frozen)
            groups[(*n)++] = (dt__param_group){from->tensor, from->name, from->decay, from->lr};
    }
    *out = groups;
    return DT_OK;
}
