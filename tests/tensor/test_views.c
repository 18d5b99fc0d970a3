/* SPDX-License-Identifier: Apache-2.0
 *
 * Views against index arithmetic. The model of a view is its shape and the list of its elements in row-major order;
 * the view of a model maps each index, without strides. Each element of a storage is its own offset, so that reading a
 * tensor index by index yields the list of the model.
 */
#include "tensor/tensors.h"

#include <stdlib.h>

enum { MAX_DIMS = 6, MAX_ELEMENTS = 4000, N_CHAINS = 4000, N_STEPS = 7 };

typedef struct model {
    int n_dims;
    int64_t shape[MAX_DIMS + 2];
    int64_t n;
    int32_t *numbers;
} model;

static int64_t count(int n_dims, const int64_t *shape) {
    int64_t n = 1;
    for (int d = 0; d < n_dims; d++)
        n *= shape[d];
    return n;
}

static int32_t element_of(const model *m, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < m->n_dims; d++) {
        assert_in_range((uintmax_t)index[d], 0, (uintmax_t)m->shape[d] - 1);
        at = at * m->shape[d] + index[d];
    }
    return m->numbers[at];
}

/* One view: maps an index of the result to an index of the source. */
typedef struct step {
    enum {
        SLICE,
        SELECT,
        NARROW,
        TRANSPOSE,
        PERMUTE,
        EXPAND,
        DIAGONAL,
        UNFOLD,
        N_MAPPED,
        RESHAPE = N_MAPPED,
        N_OPS
    } op;
    int a, b;                      /* dims, from 0 */
    int64_t start, length, stride; /* of the selected indices */
    int64_t list[MAX_DIMS + 2];
    int n_list;
    int added;
} step;

static void to_source(const step *s, int n_dims, const int64_t *index, int64_t *out) {
    int n = 0;
    switch (s->op) {
    case SLICE:
    case NARROW:
        memcpy(out, index, (size_t)n_dims * sizeof *index);
        out[s->a] = s->start + index[s->a] * s->stride;
        break;
    case SELECT:
        for (int d = 0; d <= n_dims; d++)
            out[d] = d == s->a ? s->start : index[n++];
        break;
    case TRANSPOSE:
        memcpy(out, index, (size_t)n_dims * sizeof *index);
        out[s->a] = index[s->b];
        out[s->b] = index[s->a];
        break;
    case PERMUTE:
        for (int d = 0; d < n_dims; d++)
            out[s->list[d]] = index[d];
        break;
    case EXPAND:
        for (int d = s->added; d < n_dims; d++)
            out[d - s->added] = s->list[d] == 1 ? 0 : index[d]; /* list: sizes before */
        break;
    case DIAGONAL:
        for (int d = 0; d < n_dims + 1; d++)
            if (d != s->a && d != s->b)
                out[d] = index[n++];
        out[s->a] = index[n] + (s->start < 0 ? -s->start : 0);
        out[s->b] = index[n] + (s->start > 0 ? s->start : 0);
        break;
    case UNFOLD:
        memcpy(out, index, (size_t)(n_dims - 1) * sizeof *index);
        if (n_dims > 1)
            out[s->a] = index[s->a] * s->stride + index[n_dims - 1];
        break;
    default:
        break;
    }
}

/* The model of a view of this shape. */
static model mapped(const model *from, const step *s, int n_dims, const int64_t *shape) {
    model to = {.n_dims = n_dims, .n = count(n_dims, shape)};
    int64_t index[MAX_DIMS + 2] = {0}, source[MAX_DIMS + 2] = {0};
    memcpy(to.shape, shape, (size_t)n_dims * sizeof *shape);
    to.numbers = malloc((size_t)to.n * sizeof *to.numbers + 1);
    for (int64_t i = 0; i < to.n; i++, tensors_next(n_dims, shape, index)) {
        to_source(s, n_dims, index, source);
        to.numbers[i] = element_of(from, source);
    }
    return to;
}

static void compare_with_model(const model *m, const dt_tensor *tensor, const char *label) {
    int64_t index[MAX_DIMS + 2] = {0};
    if (!tensor)
        fail_msg("%s: expected a tensor, got NULL", label);
    if (dt_tensor_n_dims(tensor) != m->n_dims ||
        memcmp(dt_tensor_shape(tensor), m->shape, (size_t)m->n_dims * sizeof *m->shape) != 0) {
        char text[256];
        dt_tensor_text(tensor, sizeof text, text);
        fail_msg("%s: expected %d dims and %lld elements, got %s", label, m->n_dims, (long long)m->n, text);
    }
    assert_int_equal(dt_tensor_elements(tensor), m->n);
    for (int64_t i = 0; i < m->n; i++, tensors_next(m->n_dims, m->shape, index)) {
        int32_t got;
        memcpy(&got, tensors_at(tensor, index), sizeof got);
        if (got != m->numbers[i])
            fail_msg("%s: element %lld: expected %d, got %d", label, (long long)i, m->numbers[i], got);
    }
}

/* A dim, counted from the front or from the back. */
static int either_sign(uint64_t *random, int dim, int n_dims) { return test_below(random, 2) ? dim : dim - n_dims; }

static void shuffle(uint64_t *random, int n, int64_t *list) {
    for (int i = 0; i < n; i++) {
        int64_t at = test_below(random, i + 1);
        list[i] = list[at];
        list[at] = i;
    }
}

/* Sizes whose product is n, some of them 1. */
static int draw_factors(uint64_t *random, int64_t n, int64_t *shape) {
    int n_dims = 0;
    while (n_dims < MAX_DIMS - 1 && (n != 1 || test_below(random, 3) == 0)) {
        int64_t size = n;
        if (n > 1 && n_dims < MAX_DIMS - 2)
            for (int tries = 0; tries < 3; tries++) {
                int64_t d = test_below(random, n) + 1;
                if (n % d == 0)
                    size = d;
            }
        shape[n_dims++] = size;
        if (n == 0)
            break;
        n /= size;
    }
    if (n > 1)
        shape[n_dims++] = n;
    return n_dims;
}

static dt_tensor *slice(uint64_t *random, const model *m, dt_tensor *t, model *out) {
    step s = {.op = SLICE, .a = (int)test_below(random, m->n_dims), .stride = test_below(random, 4) + 1};
    int64_t size = m->shape[s.a], shape[MAX_DIMS + 2], n = 0;
    int64_t start = test_below(random, 2 * size + 5) - size - 2, end = test_below(random, 2 * size + 5) - size - 2;
    memcpy(shape, m->shape, sizeof shape);
    /* By the definition: the indices of the dim, one by one. */
    int64_t first = start < 0 ? start + size : start, last = end < 0 ? end + size : end;
    first = first < 0 ? 0 : first;
    s.start = first;
    for (int64_t i = first; i < last && i < size; i += s.stride)
        n++;
    shape[s.a] = n;
    *out = mapped(m, &s, m->n_dims, shape);
    return dt_slice(t, either_sign(random, s.a, m->n_dims), start, end, s.stride);
}

static dt_tensor *select_index(uint64_t *random, const model *m, dt_tensor *t, model *out) {
    step s = {.op = SELECT, .a = (int)test_below(random, m->n_dims)};
    int64_t shape[MAX_DIMS + 2];
    int n = 0;
    if (m->shape[s.a] == 0)
        return NULL;
    s.start = test_below(random, m->shape[s.a]);
    for (int d = 0; d < m->n_dims; d++)
        if (d != s.a)
            shape[n++] = m->shape[d];
    *out = mapped(m, &s, n, shape);
    return dt_select(t, either_sign(random, s.a, m->n_dims),
                     test_below(random, 2) ? s.start : s.start - m->shape[s.a]);
}

static dt_tensor *narrow(uint64_t *random, const model *m, dt_tensor *t, model *out) {
    step s = {.op = NARROW, .a = (int)test_below(random, m->n_dims), .stride = 1};
    int64_t size = m->shape[s.a], shape[MAX_DIMS + 2];
    s.start = test_below(random, size + 1);
    memcpy(shape, m->shape, sizeof shape);
    shape[s.a] = test_below(random, size - s.start + 1);
    *out = mapped(m, &s, m->n_dims, shape);
    return dt_narrow(t, either_sign(random, s.a, m->n_dims),
                     s.start < size && test_below(random, 2) ? s.start - size : s.start, shape[s.a]);
}

static dt_tensor *transpose(uint64_t *random, const model *m, dt_tensor *t, model *out) {
    step s = {.op = TRANSPOSE, .a = (int)test_below(random, m->n_dims), .b = (int)test_below(random, m->n_dims)};
    int64_t shape[MAX_DIMS + 2];
    memcpy(shape, m->shape, sizeof shape);
    shape[s.a] = m->shape[s.b];
    shape[s.b] = m->shape[s.a];
    *out = mapped(m, &s, m->n_dims, shape);
    return dt_transpose(t, either_sign(random, s.a, m->n_dims), either_sign(random, s.b, m->n_dims));
}

static dt_tensor *permute(uint64_t *random, const model *m, dt_tensor *t, model *out) {
    step s = {.op = PERMUTE};
    int64_t shape[MAX_DIMS + 2], dims[MAX_DIMS + 2];
    shuffle(random, m->n_dims, s.list);
    for (int d = 0; d < m->n_dims; d++) {
        shape[d] = m->shape[s.list[d]];
        dims[d] = either_sign(random, (int)s.list[d], m->n_dims);
    }
    *out = mapped(m, &s, m->n_dims, shape);
    return dt_permute(t, ((dt_dims){.n = m->n_dims, .list = dims}));
}

static dt_tensor *expand(uint64_t *random, const model *m, dt_tensor *t, model *out) {
    step s = {.op = EXPAND, .added = (int)test_below(random, 2)};
    int64_t shape[MAX_DIMS + 2], requested[MAX_DIMS + 2];
    int n = m->n_dims + s.added;
    if (n > MAX_DIMS)
        return NULL;
    for (int d = 0; d < n; d++) {
        int64_t before = d < s.added ? 1 : m->shape[d - s.added];
        s.list[d] = before;
        shape[d] = requested[d] = before == 1 ? test_below(random, 4) : before;
        if (d >= s.added && shape[d] == before && test_below(random, 2))
            requested[d] = -1;
    }
    if (count(n, shape) > MAX_ELEMENTS)
        return NULL;
    *out = mapped(m, &s, n, shape);
    return dt_expand(t, TENSORS_SHAPE(n, requested));
}

static dt_tensor *diagonal(uint64_t *random, const model *m, dt_tensor *t, model *out) {
    step s = {.op = DIAGONAL, .a = (int)test_below(random, m->n_dims), .b = (int)test_below(random, m->n_dims)};
    int64_t shape[MAX_DIMS + 2];
    int n = 0;
    if (s.a == s.b)
        return NULL;
    s.start = test_below(random, 9) - 4;
    for (int d = 0; d < m->n_dims; d++)
        if (d != s.a && d != s.b)
            shape[n++] = m->shape[d];
    shape[n] = 0;
    for (int64_t i = 0; i < m->shape[s.a]; i++)
        shape[n] += i + s.start >= 0 && i + s.start < m->shape[s.b];
    *out = mapped(m, &s, n + 1, shape);
    return dt_diagonal(t, s.start, either_sign(random, s.a, m->n_dims), either_sign(random, s.b, m->n_dims));
}

static dt_tensor *unfold(uint64_t *random, const model *m, dt_tensor *t, model *out) {
    step s = {.op = UNFOLD, .a = (int)test_below(random, m->n_dims), .stride = test_below(random, 3) + 1};
    int64_t shape[MAX_DIMS + 2], size = m->shape[s.a], window = test_below(random, size + 1);
    if (m->n_dims == MAX_DIMS)
        return NULL;
    memcpy(shape, m->shape, sizeof m->shape);
    shape[s.a] = 0;
    for (int64_t first = 0; first + window <= size; first += s.stride)
        shape[s.a]++;
    shape[m->n_dims] = window;
    if (count(m->n_dims + 1, shape) > MAX_ELEMENTS)
        return NULL;
    *out = mapped(m, &s, m->n_dims + 1, shape);
    return dt_unfold(t, either_sign(random, s.a, m->n_dims), window, s.stride);
}

/* A reshape has the same list. dt_view returns it without a copy exactly if strides exist for it: the elements of the
 * model, which are offsets, are evenly spaced along each dim. */
static bool has_strides(const model *m) {
    int64_t steps[MAX_DIMS + 2] = {0}, index[MAX_DIMS + 2] = {0};
    if (m->n == 0)
        return true;
    for (int d = 0; d < m->n_dims; d++)
        if (m->shape[d] > 1) {
            int64_t next = count(m->n_dims - d - 1, m->shape + d + 1);
            steps[d] = m->numbers[next] - m->numbers[0];
        }
    for (int64_t i = 0; i < m->n; i++, tensors_next(m->n_dims, m->shape, index)) {
        int64_t at = m->numbers[0];
        for (int d = 0; d < m->n_dims; d++)
            at += index[d] * steps[d];
        if (at != m->numbers[i])
            return false;
    }
    return true;
}

static dt_tensor *reshape(dt_ctx *ctx, uint64_t *random, const model *m, dt_tensor *t, model *out) {
    int64_t shape[MAX_DIMS + 2], requested[MAX_DIMS + 2];
    int n = draw_factors(random, m->n, shape), inferred = n ? (int)test_below(random, n) : -1;
    *out = (model){.n_dims = n, .n = m->n, .numbers = malloc((size_t)m->n * sizeof *m->numbers + 1)};
    memcpy(out->shape, shape, sizeof out->shape);
    memcpy(out->numbers, m->numbers, (size_t)m->n * sizeof *m->numbers);
    memcpy(requested, shape, sizeof requested);
    if (inferred >= 0 && m->n > 0 && test_below(random, 2))
        requested[inferred] = -1;
    dt_tensor *view = dt_view(t, TENSORS_SHAPE(n, requested));
    if (!!view != has_strides(out))
        fail_msg("view of %lld elements as %d dims: %s", (long long)m->n, n,
                 view ? "expected an error" : dt_error_text(ctx));
    if (view) {
        assert_true(dt_tensor_shares(view, t));
        compare_with_model(out, view, "view");
    } else {
        assert_error_contains(ctx, DT_ERR_SHAPE, "allow no view of this shape; use dt_reshape");
        assert_int_equal(dt_error_clear(ctx), DT_OK);
    }
    dt_tensor *result = dt_reshape(t, TENSORS_SHAPE(n, requested));
    assert_int_equal(dt_tensor_shares(result, t), view != NULL);
    return result;
}

static dt_tensor *random_view(dt_ctx *ctx, uint64_t *random, const model *m, dt_tensor *t, model *out) {
    static dt_tensor *(*const makers[])(uint64_t *, const model *, dt_tensor *, model *) = {
        slice, select_index, narrow, transpose, permute, expand, diagonal, unfold};
    enum { N_MAKERS = sizeof makers / sizeof *makers };
    int64_t which = test_below(random, N_MAKERS + 2);
    if (which >= N_MAKERS)
        return reshape(ctx, random, m, t, out);
    if (m->n_dims == 0 && makers[which] != expand)
        return NULL;
    return makers[which](random, m, t, out);
}

/* Each element of the storage is its own offset. */
static dt_tensor *make_base(dt_ctx *ctx, uint64_t *random, model *m) {
    *m = (model){.n_dims = (int)test_below(random, 5)};
    for (int d = 0; d < m->n_dims; d++)
        m->shape[d] = test_below(random, 20) ? test_below(random, 6) + 1 : 0;
    m->n = count(m->n_dims, m->shape);
    m->numbers = malloc((size_t)m->n * sizeof *m->numbers + 1);
    for (int64_t i = 0; i < m->n; i++)
        m->numbers[i] = (int32_t)i;
    return dt_from_memory(ctx, m->numbers, TENSORS_SHAPE(m->n_dims, m->shape), DT_I32);
}

static void views__of_views_are_index_arithmetic(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    int64_t n_made = 0;
    for (uint64_t chain = 0; chain < N_CHAINS; chain++) {
        uint64_t random = test_seed(chain);
        dt_scope scope = dt_scope_begin(ctx);
        model m;
        dt_tensor *t = make_base(ctx, &random, &m);
        compare_with_model(&m, t, "from_memory");
        for (int i = 0; i < N_STEPS; i++) {
            char label[64];
            model next = {0};
            dt_tensor *view = random_view(ctx, &random, &m, t, &next);
            (void)snprintf(label, sizeof label, "chain %llu, step %d", (unsigned long long)chain, i);
            if (!view && !next.numbers)
                continue; /* the model has no such view */
            if (!view)
                fail_msg("%s: %s", label, dt_error_text(ctx));
            compare_with_model(&next, view, label);
            dt_tensor *copy = dt_clone(view);
            compare_with_model(&next, copy, label);
            assert_true(dt_tensor_is_contiguous(copy) && !dt_tensor_shares(copy, view));
            dt_tensor *dense = dt_contiguous(view);
            compare_with_model(&next, dense, label);
            assert_true(dt_tensor_is_contiguous(dense));
            assert_int_equal(dt_tensor_shares(dense, view), dt_tensor_is_contiguous(view));
            if (dt_tensor_is_contiguous(view))
                for (int64_t e = 0; e < next.n; e++)
                    assert_int_equal(((const int32_t *)dt_data(view))[e], next.numbers[e]);
            if (!dt_tensor_shares(view, t)) /* a copy: its elements become their own offsets */
                for (int64_t e = 0; e < next.n; e++)
                    ((int32_t *)dt_data(view))[e] = next.numbers[e] = (int32_t)e;
            free(m.numbers);
            m = next;
            t = view;
            n_made++;
        }
        free(m.numbers);
        dt_scope_end(scope);
    }
    assert_true(n_made > N_CHAINS * 4);
    assert_int_equal(dt_heap_stats(ctx).n_live, 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* Any strides within the storage, also negative and overlapping. */
static void as_strided__reads_by_its_strides(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    uint64_t random = test_seed(5);
    int64_t n_refused = 0;
    dt_tensor *t = dt_arange(ctx, 0, 60, 1, .dtype = DT_I32);
    for (int i = 0; i < 3000; i++) {
        int64_t shape[3], strides[3], offset = test_below(&random, 64) - 1, low = offset, high = offset;
        int n = (int)test_below(&random, 4);
        for (int d = 0; d < n; d++) {
            shape[d] = test_below(&random, 5);
            strides[d] = test_below(&random, 12) - 4;
            *(strides[d] < 0 ? &low : &high) += (shape[d] - 1) * strides[d];
        }
        bool empty = count(n, shape) == 0, fits = offset >= 0 && offset <= 60 && (empty || (low >= 0 && high < 60));
        dt_tensor *view = dt_as_strided(t, TENSORS_SHAPE(n, shape), (dt_ints){.n = n, .list = strides}, offset);
        if (!!view != fits)
            fail_msg("case %d: %s", i, view ? "expected an error" : dt_error_text(ctx));
        int64_t index[3] = {0};
        for (int64_t e = 0; view && e < count(n, shape); e++, tensors_next(n, shape, index)) {
            int64_t at = offset;
            for (int d = 0; d < n; d++)
                at += index[d] * strides[d];
            assert_int_equal(*(const int32_t *)(const void *)tensors_at(view, index), at);
        }
        if (!view) {
            n_refused++;
            assert_error_contains(ctx, DT_ERR_SHAPE, "as_strided: i32[60]: [");
            dt_error_clear(ctx);
        }
        dt_drop(view);
    }
    assert_true(n_refused > 100 && n_refused < 2900);
    /* DT-052: the tensor's own size, strides and offset. */
    dt_tensor *same = dt_as_strided(t, DT_SHAPE(60), DT_INTS(1), 0);
    assert_true(tensors_equal(same, t) && dt_tensor_shares(same, t));
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    assert_null(
        dt_as_strided(dt_ones(ctx, DT_SHAPE(60), .mesh = mesh, .place = "S(0)"), DT_SHAPE(60), DT_INTS(1), 0));
    assert_error_contains(ctx, DT_ERR_UNSUPPORTED, "as_strided: expected a plain tensor, got f32[60] S(0)");
    dt_error_clear(ctx);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static void assert_refused(dt_ctx *ctx, const dt_tensor *result, dt_status status, const char *part) {
    assert_null(result);
    assert_error_contains(ctx, status, part);
    dt_error_clear(ctx);
}

static void views__invalid_arguments_are_refused(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *t = dt_zeros(ctx, DT_SHAPE(3, 4)), *scalar = dt_scalar(ctx, 1);
    assert_refused(ctx, dt_slice(t, 2, 0, 1, 1), DT_ERR_VALUE, "slice: f32[3,4]: dim: expected -2 to 1, got 2");
    assert_refused(ctx, dt_slice(t, 0, 0, 1, 0), DT_ERR_VALUE, "slice: f32[3,4]: step: expected at least 1, got 0");
    assert_refused(ctx, dt_slice(t, 0, 0, 1, -1), DT_ERR_VALUE, "slice: f32[3,4]: step: expected at least 1, got -1");
    assert_refused(ctx, dt_slice(scalar, 0, 0, 1, 1), DT_ERR_SHAPE,
                   "slice: f32[]: cannot slice a tensor without dims");
    assert_refused(ctx, dt_select(t, 0, 3), DT_ERR_VALUE,
                   "select: f32[3,4]: index 3 is out of range for dim 0 of size 3");
    assert_refused(ctx, dt_select(t, -1, -5), DT_ERR_VALUE,
                   "select: f32[3,4]: index -5 is out of range for dim 1 of size 4");
    assert_refused(ctx, dt_narrow(t, 1, 2, 3), DT_ERR_VALUE,
                   "indices out of range: dim 1 has size 4, got 3 from 2 on");
    assert_refused(ctx, dt_narrow(t, 1, -5, 1), DT_ERR_VALUE, "narrow");
    assert_refused(ctx, dt_narrow(t, 1, 0, -1), DT_ERR_VALUE, "narrow");
    assert_refused(ctx, dt_narrow(t, 1, 1, INT64_MAX), DT_ERR_VALUE, "narrow");
    assert_refused(ctx, dt_transpose(t, 0, -3), DT_ERR_VALUE, "transpose: f32[3,4]: dim");
    assert_refused(ctx, dt_permute(t, DT_DIMS(0, 0)), DT_ERR_SHAPE, "got (0,0)");
    assert_refused(ctx, dt_permute(t, DT_DIMS(0)), DT_ERR_SHAPE, "got (0)");
    assert_refused(ctx, dt_permute(t, DT_DIMS(0, 2)), DT_ERR_SHAPE, "got (0,2)");
    assert_refused(ctx, dt_expand(t, DT_SHAPE(4, 4)), DT_ERR_SHAPE,
                   "expand: f32[3,4]: cannot expand dim 0 to size 4");
    assert_refused(ctx, dt_expand(t, DT_SHAPE(4)), DT_ERR_SHAPE, "expand");
    assert_refused(ctx, dt_expand(t, DT_SHAPE(-1, 3, 4)), DT_ERR_SHAPE, "expand");
    assert_refused(ctx, dt_expand(scalar, DT_SHAPE(INT64_MAX, 4)), DT_ERR_SHAPE, "more than 2^63 - 1 bytes");
    assert_refused(ctx, dt_view(t, DT_SHAPE(5, -1)), DT_ERR_SHAPE,
                   "view: f32[3,4]: the number of elements differs: the tensor has 12");
    assert_refused(ctx, dt_view(t, DT_SHAPE(-1, -1)), DT_ERR_VALUE, "view");
    assert_refused(ctx, dt_view(t, DT_SHAPE(-2, 6)), DT_ERR_VALUE, "view");
    assert_refused(ctx, dt_view(t, DT_SHAPE(INT64_MAX, INT64_MAX)), DT_ERR_SHAPE, "view");
    assert_refused(ctx, dt_reshape(t, DT_SHAPE(11)), DT_ERR_SHAPE,
                   "reshape: f32[3,4]: the number of elements differs: the tensor has 12");
    assert_refused(ctx, dt_reshape(dt_zeros(ctx, DT_SHAPE(0)), DT_SHAPE(0, -1)), DT_ERR_SHAPE, "reshape");
    assert_refused(ctx, dt_diagonal(t, 0, 1, -1), DT_ERR_SHAPE, "the dims are equal: 1");
    assert_refused(ctx, dt_unfold(t, 0, 4, 1), DT_ERR_VALUE, "expected a size of at most 3");
    assert_refused(ctx, dt_unfold(t, 0, 2, 0), DT_ERR_VALUE, "unfold");
    assert_refused(ctx, dt_unfold(dt_expand(scalar, DT_SHAPE(INT64_C(1) << 40)), 0, INT64_C(1) << 39, 1),
                   DT_ERR_SHAPE, "more than 2^63 - 1 bytes");
    int64_t ones[DT_SPEC_MAX_DIMS + 1];
    for (int d = 0; d <= DT_SPEC_MAX_DIMS; d++)
        ones[d] = 1;
    assert_refused(ctx, dt_view(scalar, TENSORS_SHAPE(DT_SPEC_MAX_DIMS + 1, ones)), DT_ERR_SHAPE, "view");
    assert_refused(ctx, dt_expand(scalar, TENSORS_SHAPE(DT_SPEC_MAX_DIMS + 1, ones)), DT_ERR_SHAPE, "expand");
    dt_tensor *max = dt_view(scalar, TENSORS_SHAPE(DT_SPEC_MAX_DIMS, ones));
    assert_int_equal(dt_tensor_n_dims(max), DT_SPEC_MAX_DIMS);
    assert_refused(ctx, dt_unfold(max, 0, 1, 1), DT_ERR_SHAPE, "unfold");
    dt_tensor *placed = dt_zeros(ctx, DT_SHAPE(4), .mesh = dt_mesh_new(ctx, "1"), .place = "S(0)");
    assert_refused(ctx, dt_as_strided(placed, DT_SHAPE(1), DT_INTS(1), 0), DT_ERR_UNSUPPORTED,
                   "expected a plain tensor, got f32[4] S(0) on mesh(1)");
    assert_int_equal(dt_close(ctx), 0);
}

/* Ranges far out of bounds are empty, and nothing overflows. */
static void ranges__out_of_bounds_are_empty(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *t = dt_zeros(ctx, DT_SHAPE(3, 4));
    assert_int_equal(dt_tensor_size(dt_slice(t, 1, INT64_MIN, INT64_MAX, INT64_MAX), 1), 1);
    assert_int_equal(dt_tensor_size(dt_slice(t, 1, INT64_MAX, INT64_MIN, 1), 1), 0);
    assert_int_equal(dt_tensor_size(dt_diagonal(t, INT64_MIN, 0, 1), 0), 0);
    assert_int_equal(dt_tensor_size(dt_diagonal(t, INT64_MAX, 0, 1), 0), 0);
    assert_int_equal(dt_tensor_size(dt_unfold(t, 0, 3, INT64_MAX), 0), 1);
    dt_tensor *none = dt_slice(dt_slice(t, 0, 3, 3, 1), 1, 4, 4, 1);
    assert_true(dt_data(none) == dt_data(t)); /* an empty view does not leave the storage */
    assert_int_equal(dt_close(ctx), 0);
}

static void null__returns_null(void **state) {
    (void)state;
    assert_null(dt_slice(NULL, 0, 0, 1, 1));
    assert_null(dt_select(NULL, 0, 0));
    assert_null(dt_narrow(NULL, 0, 0, 0));
    assert_null(dt_transpose(NULL, 0, 1));
    assert_null(dt_permute(NULL, DT_DIMS(0)));
    assert_null(dt_expand(NULL, DT_SHAPE(1)));
    assert_null(dt_view(NULL, DT_SHAPE(1)));
    assert_null(dt_reshape(NULL, DT_SHAPE(1)));
    assert_null(dt_diagonal(NULL, 0, 0, 1));
    assert_null(dt_unfold(NULL, 0, 1, 1));
    assert_null(dt_as_strided(NULL, DT_SHAPE(1), DT_INTS(1), 0));
    assert_null(dt_clone(NULL));
    assert_null(dt_contiguous(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views__of_views_are_index_arithmetic),
        cmocka_unit_test(as_strided__reads_by_its_strides),
        cmocka_unit_test(views__invalid_arguments_are_refused),
        cmocka_unit_test(ranges__out_of_bounds_are_empty),
        cmocka_unit_test(null__returns_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
