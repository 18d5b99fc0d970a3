/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader of batches: which rows of the file a position has, and the parts of them that are in this rank's shard. A
 * batch is read as the segments of a tensor in a file whose rows are in other places. Rows are read rather than mapped,
 * so that a file that became shorter is an error, not a signal. Opening and reading are file calls: the ranks compare
 * theirs and share their errors.
 */
#include "dtensor/batches.h"

#include "base/dtype.h"
#include "base/options.h"
#include "base/size.h"
#include "random/random.h"
#include "tensor/tensor.h"
#include "train/checkpoint_view.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NO_EPOCH = -1, CHUNK_BYTES = 4096 };
#define EPOCH_LIMIT (INT64_C(1) << 48) /* that of the draws of a generator */

static const dt__exchange_call open_call = {.name = "batches_open", .has_text = true};
static const dt__exchange_call next_call = {.name = "batches_next", .has_text = true};

struct dt_batches {
    dt__lifetime life;
    dt_ctx *ctx;
    dt__arena arena;
    const char *path, *place;
    dt_mesh *mesh; /* holds a reference; NULL: plain */
    int fd;
    dt__npy npy;      /* of a raw file, what a header would say */
    bool is_widened;  /* numbers of the file become i64 */
    int64_t row_step; /* elements from a row to the next in the file */
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS]; /* of a full batch */
    dt_dtype dtype;
    int64_t row_bytes; /* in a tensor */
    int64_t n_rows, per_epoch, position;
    dt_opt_int seed;
    int64_t epoch; /* of the order */
    dt__order order;
    dt_batches *next; /* of the open ones */
};

static dt_ctx *ctx_of(const dt_batches *self) { return self ? self->ctx : NULL; }

dt_ctx *dt__batches_ctx(const dt_batches *self) { return ctx_of(self); }

/* Making and freeing. */

static void link_open(dt_batches *self) {
    dt__train_state *state = dt__train_state_of(self->ctx);
    self->next = state->open_batches;
    state->open_batches = self;
}

/* A program has few readers at a time. */
static void unlink_open(dt_batches *self) {
    dt_batches **at = &dt__train_state_of(self->ctx)->open_batches;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
}

static void free_parts(dt_batches *self) {
    if (self->fd >= 0)
        (void)close(self->fd);
    dt__arena_free(&self->arena);
}

void dt__batches_abandon(dt_batches *open) {
    for (; open; open = open->next)
        free_parts(open);
}

void dt_batches_free_site(dt_batches *batches, const dt_site *site) {
    DT__ENTER(ctx_of(batches), "batches_free", site);
    batches = DT__LIVE(DT__KIND_BATCHES, batches);
    if (!batches)
        return;
    dt_ctx *ctx = batches->ctx;
    dt__freed_queue *freed = &dt__train_state_of(ctx)->freed_batches;
    dt_mesh_release(batches->mesh);
    unlink_open(batches);
    free_parts(batches);
    DT__LIFE_END(freed, batches);
    dt__owned_free(ctx, dt__freed_pop(freed, ctx, sizeof *batches));
}

/* The file. */

typedef struct opening {
    dt_batches *self;
    int64_t batch;
    const dt_batches_open_options *options;
    dt__file_call call;
    dt__file file;
} opening;

static dt_status read_header(opening *o, int64_t bytes) {
    unsigned char header[DT__NPY_MAX_BYTES];
    const size_t n = (size_t)dt__min_i64(bytes, sizeof header);
    DT__TRY(dt__file_read(&o->file, 0, header, n));
    const char *error = dt__npy_read_unsigned(header, n, &o->self->npy);
    if (!error)
        error = dt__npy_check_bytes(&o->self->npy, bytes);
    return error ? dt__file_fail(&o->file, DT_ERR_VALUE, "%s", error) : DT_OK;
}

/* The raw formats, by the bytes of a token. */
static int token_bytes(const char *format) {
    return !format ? 0 : strcmp(format, "u16") == 0 ? 2 : strcmp(format, "u32") == 0 ? 4 : 0;
}

static dt_status read_format(opening *o, int64_t bytes) {
    const int size = token_bytes(o->options->format);
    if (!size)
        return read_header(o, bytes);
    if (bytes % size != 0)
        return dt__file_fail(&o->file, DT_ERR_VALUE,
                             "the last token is cut off: expected a multiple of %d bytes, got %lld", size,
                             (long long)bytes);
    o->self->npy = (dt__npy){.dtype = DT_I64,
                             .element_bytes = size,
                             .is_wider = true,
                             .n_dims = 1,
                             .shape = {bytes / size},
                             .elements = bytes / size,
                             .bytes = bytes};
    return DT_OK;
}

/* What the file has, for errors. */
static const char *content_text(const dt__npy *npy, size_t capacity, char *out) {
    char shape[128];
    (void)snprintf(out, capacity, "%s[%s]", dt_dtype_name(npy->dtype),
                   dt__shape_text(npy->n_dims, npy->shape, sizeof shape, shape));
    return out;
}

static dt_status set_tokens(opening *o, int64_t length) {
    dt_batches *self = o->self;
    const dt__npy *npy = &self->npy;
    char text[160];
    if (npy->n_dims != 1 || !dt__is_integer(npy->dtype))
        return dt__file_fail(&o->file, DT_ERR_VALUE, "not a sequence of tokens: expected integers in one dim, got %s",
                             content_text(npy, sizeof text, text));
    if (npy->elements <= length)
        return dt__file_fail(&o->file, DT_ERR_VALUE,
                             "too short for a row: expected at least %lld tokens and a target, got %lld",
                             (long long)length, (long long)npy->elements);
    self->n_rows = (npy->elements - 1) / length;
    self->row_step = length;
    self->is_widened = npy->is_wider || npy->dtype != DT_I64;
    self->n_dims = 2;
    self->shape[1] = length + 1;
    return DT_OK;
}

static dt_status set_array(opening *o) {
    dt_batches *self = o->self;
    const dt__npy *npy = &self->npy;
    if (npy->n_dims == 0 || npy->shape[0] == 0)
        return dt__file_fail(&o->file, DT_ERR_VALUE, "it has no rows: expected at least 1%s",
                             npy->n_dims ? ", got 0" : ", got a scalar");
    if (npy->fortran && npy->n_dims > 1)
        return dt__file_fail(&o->file, DT_ERR_VALUE,
                             "its rows are scattered: expected row-major order, got column-major; "
                             "numpy.ascontiguousarray changes it");
    self->n_rows = npy->shape[0];
    self->row_step = npy->elements / self->n_rows;
    self->is_widened = npy->is_wider;
    self->n_dims = npy->n_dims;
    memcpy(self->shape, npy->shape, sizeof self->shape);
    return DT_OK;
}

static dt_status set_rows(opening *o) {
    dt_batches *self = o->self;
    DT__TRY(o->options->length.given ? set_tokens(o, o->options->length.value) : set_array(o));
    self->dtype = self->is_widened ? DT_I64 : self->npy.dtype;
    self->row_bytes = (int64_t)dt_dtype_size(self->dtype);
    for (int d = 1; d < self->n_dims; d++)
        self->row_bytes *= self->shape[d];
    self->shape[0] = dt__min_i64(o->batch, self->n_rows);
    self->per_epoch = self->n_rows / o->batch + (!o->options->drop_last && self->n_rows % o->batch != 0);
    return self->per_epoch ? DT_OK
                           : dt__file_fail(&o->file, DT_ERR_VALUE,
                                           "too short for a batch: expected at least %lld rows, got %lld; without "
                                           ".drop_last the rows are a smaller batch",
                                           (long long)o->batch, (long long)self->n_rows);
}

static dt_status check_options(opening *o) {
    const dt_batches_open_options *options = o->options;
    const char *format = options->format;
    if (o->batch < 1)
        return dt__file_call_refuse(&o->call, DT_ERR_VALUE, "batch: expected at least 1 row, got %lld",
                                    (long long)o->batch);
    if (format && strcmp(format, "npy") != 0 && !token_bytes(format))
        return dt__file_call_refuse(&o->call, DT_ERR_VALUE, "format: expected npy, u16 or u32, got '%.40s'", format);
    if (options->length.given && options->length.value < 1)
        return dt__file_call_refuse(&o->call, DT_ERR_VALUE, "length: expected at least 1 token, got %lld",
                                    (long long)options->length.value);
    if (token_bytes(format) && !options->length.given)
        return dt__file_call_refuse(&o->call, DT_ERR_VALUE,
                                    "length: expected the tokens of a row, which a raw file does not have, got none");
    return DT_OK;
}

static dt_status open_file(opening *o) {
    struct stat info;
    char text[160], rows[192];
    DT__TRY(check_options(o));
    dt_status status = dt__file_open(&o->file, &info);
    o->self->fd = o->file.fd;
    DT__TRY(status);
    DT__TRY(read_format(o, (int64_t)info.st_size));
    DT__TRY(set_rows(o));
    (void)snprintf(rows, sizeof rows, "%lld rows of %s", (long long)o->self->n_rows,
                   content_text(&o->self->npy, sizeof text, text));
    dt__file_call_opened(&o->call, &info, rows);
    return DT_OK;
}

/* batches_open("text.bin", 32, mesh=mesh(dp=3), place=dp=S(0), format=u16, length=1024, seed=7) */
static dt_status describe_open(opening *o) {
    const dt_batches_open_options *options = o->options;
    dt_mesh *mesh = o->self->mesh;
    if (!o->call.group)
        return DT_OK;
    dt__text text = dt__text_new(o->self->ctx);
    dt__text_add(&text, "batches_open(\"%s\", %lld, mesh=mesh(%s)", o->self->path, (long long)o->batch,
                 dt_mesh_text(mesh));
    if (options->place)
        dt__text_add(&text, ", place=%s", options->place);
    if (options->format)
        dt__text_add(&text, ", format=%s", options->format);
    if (options->length.given)
        dt__text_add(&text, ", length=%lld", (long long)options->length.value);
    if (options->seed.given)
        dt__text_add(&text, ", seed=%lld", (long long)options->seed.value);
    if (options->drop_last)
        dt__text_add(&text, ", drop_last=true");
    dt__text_add(&text, ")");
    dt_status status = dt__file_call_describe(&o->call, &text, dt_mesh_fingerprint(mesh));
    dt__text_free(&text);
    return status;
}

/* A batch of these rows, without values. */
static dt_tensor *make_batch(const dt_batches *self, int64_t n) {
    int64_t shape[DT_SPEC_MAX_DIMS];
    memcpy(shape, self->shape, sizeof shape);
    shape[0] = n;
    return dt__tensor_make(self->ctx, self->ctx->call.name, (dt_shape){self->n_dims, shape},
                           &(dt_make_options){.dtype = self->dtype, .mesh = self->mesh, .place = self->place}, NULL);
}

/* The first batch is made once to see that the placements fit. */
static dt_status meet_and_check(opening *o) {
    DT__TRY(describe_open(o));
    DT__TRY(dt__file_call_meet(&o->call, open_file(o)));
    dt_tensor *first = make_batch(o->self, o->self->shape[0]);
    if (!first)
        return dt_error_status(o->self->ctx);
    dt_status status = dt__note_tensor(first, &(dt__call_details){.text = o->self->path});
    dt_drop(first);
    return status;
}

static dt_batches *open_batches(dt_ctx *ctx, const char *path, int64_t batch, dt_mesh *mesh,
                                const dt_batches_open_options *options) {
    dt_batches *self = dt__train_state_of(ctx) ? dt__owned_new(ctx, sizeof *self, "a reader of batches") : NULL;
    if (!self)
        return NULL;
    self->ctx = ctx;
    self->fd = -1;
    self->arena = dt__arena_new(ctx);
    self->path = dt__arena_copy_text(&self->arena, path);
    self->place = options->place ? dt__arena_copy_text(&self->arena, options->place) : NULL;
    self->mesh = mesh;
    self->seed = options->seed;
    self->epoch = NO_EPOCH;
    opening o = {.self = self, .batch = batch, .options = options};
    o.file = (dt__file){.ctx = ctx, .call = &o.call, .fd = -1};
    dt_status status = self->path && (self->place || !options->place) ? DT_OK : DT_ERR_MEMORY;
    if (status == DT_OK) {
        status = dt__file_call_begin(&o.call, ctx, &open_call, self->path, mesh);
        status = status == DT_OK ? meet_and_check(&o) : status;
        dt__file_call_end(&o.call);
    }
    if (status != DT_OK) {
        free_parts(self);
        dt__owned_free(ctx, self);
        return NULL;
    }
    self->mesh = mesh ? dt_mesh_retain(mesh) : NULL;
    dt__life_begin(&self->life, ctx);
    link_open(self);
    return self;
}

dt_batches *dt_batches_open_sized(dt_ctx *ctx, const char *path, int64_t batch,
                                  const dt_batches_open_options *options, size_t options_size) {
    dt_batches_open_options full;
    DT__ENTER_OPTIONS(ctx, "batches_open", options, options_size, &full);
    if (DT__REFUSAL() != DT_OK || !ctx || !options)
        return NULL;
    if (!path) {
        (void)dt__null_argument(ctx, "batches_open", 2);
        return NULL;
    }
    dt_mesh *mesh = options->mesh ? options->mesh : options->place ? dt_mesh_current(ctx) : NULL;
    if (mesh &&
        (!DT__LIVE(DT__KIND_MESH, mesh) || !dt__check_context(ctx, "batches_open", "mesh", dt_mesh_ctx(mesh))))
        return NULL;
    return open_batches(ctx, path, batch, mesh, options);
}

/* Reading. */

typedef struct reading {
    dt_batches *self;
    dt__file file;
    int64_t first; /* row of the batch, in the order of the epoch */
    unsigned char *out;
} reading;

static int64_t row_in_file(const dt_batches *self, int64_t i) {
    if (self->seed.given)
        dt__order_range(&self->order, i, 1, &i);
    return i;
}

/* n numbers of the file, from this one on. */
static dt_status read_wider(const reading *r, int64_t at, int64_t n, int64_t *out) {
    const dt__npy *npy = &r->self->npy;
    unsigned char chunk[CHUNK_BYTES];
    const int64_t size = npy->element_bytes, most = CHUNK_BYTES / size;
    for (int64_t done = 0; done < n; done += most) {
        const int64_t some = dt__min_i64(most, n - done);
        DT__TRY(
            dt__file_read(&r->file, (int64_t)npy->header_bytes + (at + done) * size, chunk, (size_t)(some * size)));
        dt__npy_widen(npy, chunk, some, out + done);
    }
    return DT_OK;
}

/* Bytes of a batch that are within one row. */
static dt_status read_part(const reading *r, int64_t row, int64_t begin, int64_t bytes, unsigned char *out) {
    const dt__npy *npy = &r->self->npy;
    const int64_t size = (int64_t)dt_dtype_size(r->self->dtype);
    const int64_t at = row_in_file(r->self, r->first + row) * r->self->row_step + begin / size;
    if (r->self->is_widened)
        return read_wider(r, at, bytes / size, (int64_t *)(void *)out);
    DT__TRY(dt__file_read(&r->file, (int64_t)npy->header_bytes + at * size, out, (size_t)bytes));
    dt__npy_decode(npy, out, (size_t)bytes);
    return DT_OK;
}

static dt_status read_segment(void *user, int64_t at, size_t memory_at, size_t bytes) {
    const reading *r = user;
    const int64_t row_bytes = r->self->row_bytes;
    for (int64_t done = 0; done < (int64_t)bytes;) {
        const int64_t row = (at + done) / row_bytes, begin = (at + done) % row_bytes;
        const int64_t n = dt__min_i64(row_bytes - begin, (int64_t)bytes - done);
        DT__TRY(read_part(r, row, begin, n, r->out + memory_at + done));
        done += n;
    }
    return DT_OK;
}

static void set_epoch(dt_batches *self, int64_t epoch) {
    if (!self->seed.given || self->epoch == epoch)
        return;
    const dt__philox_key key = {.seed = (uint64_t)self->seed.value, .draw = (uint64_t)epoch};
    dt__order_of(key, dt__kernels_best(), self->n_rows, &self->order);
    self->epoch = epoch;
}

/* batches_next("text.bin", position=3, seed=7) */
static dt_status describe_next(const dt_batches *self, dt__file_call *call) {
    if (!call->group)
        return DT_OK;
    dt__text text = dt__text_new(self->ctx);
    dt__text_add(&text, "batches_next(\"%s\", position=%lld", self->path, (long long)self->position);
    if (self->seed.given)
        dt__text_add(&text, ", seed=%lld", (long long)self->seed.value);
    dt__text_add(&text, ", %lld rows)", (long long)self->shape[0]);
    dt_status status = dt__file_call_describe(call, &text, dt_mesh_fingerprint(self->mesh));
    dt__text_free(&text);
    return status;
}

static dt_tensor *read_batch(dt_batches *self, dt__file_call *call) {
    reading r = {.self = self, .file = {.ctx = self->ctx, .call = call, .fd = self->fd}};
    r.first = self->position % self->per_epoch * self->shape[0];
    dt_tensor *tensor = NULL;
    if (describe_next(self, call) == DT_OK)
        tensor = make_batch(self, dt__min_i64(self->shape[0], self->n_rows - r.first));
    if (!tensor)
        return NULL;
    set_epoch(self, self->position / self->per_epoch);
    r.out = tensor->data;
    dt_status status = dt__needs_values(tensor) ? dt__file_segments(tensor, false, read_segment, &r) : DT_OK;
    status = dt__file_call_meet(call, status);
    if (status == DT_OK)
        status = dt__note_tensor(tensor, &(dt__call_details){.text = self->path});
    if (status != DT_OK) {
        dt_drop(tensor);
        return NULL;
    }
    self->position++;
    return tensor;
}

static dt_status check_position(const dt_batches *self, int64_t position) {
    return position >= 0 && position / self->per_epoch < EPOCH_LIMIT
               ? DT_OK
               : dt__fail(self->ctx, DT_ERR_VALUE, "position: expected at least 0 and an epoch below 2^48, got %lld",
                          (long long)position);
}

dt_tensor *dt_batches_next_site(dt_batches *batches, const dt_site *site) {
    DT__ENTER(ctx_of(batches), "batches_next", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    batches = DT__LIVE(DT__KIND_BATCHES, batches);
    if (!batches || check_position(batches, batches->position) != DT_OK)
        return NULL;
    dt__file_call call;
    dt_status status = dt__file_call_begin(&call, batches->ctx, &next_call, batches->path, batches->mesh);
    dt_tensor *tensor = status == DT_OK ? read_batch(batches, &call) : NULL;
    dt__file_call_end(&call);
    return tensor;
}

int64_t dt_batches_position(const dt_batches *batches) {
    batches = DT__LIVE(DT__KIND_BATCHES, batches);
    return batches ? batches->position : 0;
}

dt_status dt_batches_seek_site(dt_batches *batches, int64_t position, const dt_site *site) {
    DT__ENTER(ctx_of(batches), "batches_seek", site);
    DT__TRY(DT__REFUSAL());
    batches = DT__LIVE(DT__KIND_BATCHES, batches);
    if (!batches)
        return DT_ERR_STATE;
    DT__TRY(check_position(batches, position));
    batches->position = position;
    return DT_OK;
}

int64_t dt_batches_n_rows(const dt_batches *batches) {
    batches = DT__LIVE(DT__KIND_BATCHES, batches);
    return batches ? batches->n_rows : 0;
}

int64_t dt_batches_per_epoch(const dt_batches *batches) {
    batches = DT__LIVE(DT__KIND_BATCHES, batches);
    return batches ? batches->per_epoch : 0;
}
