/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of operations on layouts, and the parser of expressions that name them.
 */
#include "layout_operations.h"

#include "base/near_miss.h"

#include <ctype.h>
#include <string.h>

static dt_status coalesce(dt__arena *arena, const dt__layout *layout, const layout_value *operand,
                          layout_value *out) {
    (void)operand;
    out->is_layout = true;
    return dt__layout_coalesce(arena, layout, &out->layout);
}

static dt_status flatten(dt__arena *arena, const dt__layout *layout, const layout_value *operand, layout_value *out) {
    (void)operand;
    out->is_layout = true;
    return dt__layout_flatten(arena, layout, &out->layout);
}

static dt_status complement(dt__arena *arena, const dt__layout *layout, const layout_value *operand,
                            layout_value *out) {
    out->is_layout = true;
    return dt__layout_complement(arena, layout, operand->tuple.value, &out->layout);
}

static dt_status composition(dt__arena *arena, const dt__layout *layout, const layout_value *operand,
                             layout_value *out) {
    out->is_layout = true;
    return dt__layout_composition(arena, layout, &operand->layout, &out->layout);
}

static dt_status right_inverse(dt__arena *arena, const dt__layout *layout, const layout_value *operand,
                               layout_value *out) {
    (void)operand;
    out->is_layout = true;
    return dt__layout_right_inverse(arena, layout, &out->layout);
}

static dt_status left_inverse(dt__arena *arena, const dt__layout *layout, const layout_value *operand,
                              layout_value *out) {
    (void)operand;
    out->is_layout = true;
    return dt__layout_left_inverse(arena, layout, &out->layout);
}

static dt_status size(dt__arena *arena, const dt__layout *layout, const layout_value *operand, layout_value *out) {
    (void)arena, (void)operand;
    out->tuple = dt_tuple_int(dt__layout_size(layout));
    return DT_OK;
}

static dt_status cosize(dt__arena *arena, const dt__layout *layout, const layout_value *operand, layout_value *out) {
    (void)arena, (void)operand;
    out->tuple = dt_tuple_int(dt__layout_cosize(layout));
    return DT_OK;
}

static dt_status crd2idx(dt__arena *arena, const dt__layout *layout, const layout_value *operand, layout_value *out) {
    out->tuple = dt_tuple_int(0);
    return dt__layout_crd2idx(arena, layout, &operand->tuple, &out->tuple.value);
}

static dt_status idx2crd(dt__arena *arena, const dt__layout *layout, const layout_value *operand, layout_value *out) {
    return dt__layout_idx2crd(arena, layout, operand->tuple.value, &out->tuple);
}

static const layout_operation operations[] = {
    {.name = "coalesce", .compute = coalesce},
    {.name = "flatten", .compute = flatten},
    {.name = "complement", .field = "size", .operand = OPERAND_NUMBER, .compute = complement},
    {.name = "composition", .field = "b", .operand = OPERAND_LAYOUT, .compute = composition},
    {.name = "right_inverse", .compute = right_inverse},
    {.name = "left_inverse", .compute = left_inverse},
    {.name = "size", .compute = size},
    {.name = "cosize", .compute = cosize},
    {.name = "crd2idx", .field = "coord", .operand = OPERAND_TUPLE, .compute = crd2idx},
    {.name = "idx2crd", .field = "index", .operand = OPERAND_NUMBER, .compute = idx2crd},
};

const layout_operation *layout_operation_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strlen(operations[i].name) == length && !strncmp(operations[i].name, name, length))
            return &operations[i];
    return NULL;
}

enum { MAX_DEPTH = 64 }; /* of nested operations */

typedef struct parser {
    dt__arena *arena;
    dt__cursor cursor;
    int depth;
} parser;

static dt_status parse_value(parser *self, layout_value *out);

/* A tuple, which may be the shape of a layout. */
static dt_status parse_literal(parser *self, layout_value *out) {
    dt_tuple shape, stride;
    DT__TRY(dt__tuple_parse(self->arena, &self->cursor, &shape));
    *out = (layout_value){.tuple = shape};
    if (!dt__cursor_skip(&self->cursor, ":"))
        return DT_OK;
    DT__TRY(dt__tuple_parse(self->arena, &self->cursor, &stride));
    out->is_layout = true;
    return dt__layout_new(self->arena, &shape, &stride, &out->layout);
}

/* A tuple is the shape of a row-major layout. */
static dt_status parse_layout(parser *self, dt__layout *out) {
    layout_value value;
    DT__TRY(parse_value(self, &value));
    if (!value.is_layout)
        DT__TRY(dt__layout_new(self->arena, &value.tuple, NULL, &value.layout));
    *out = value.layout;
    return DT_OK;
}

static dt_status parse_operand(parser *self, operand_kind kind, layout_value *out) {
    dt__cursor begin = self->cursor;
    if (kind == OPERAND_LAYOUT) {
        out->is_layout = true;
        return parse_layout(self, &out->layout);
    }
    DT__TRY(parse_value(self, out));
    (void)dt__cursor_peek(&begin);
    if (out->is_layout || (kind == OPERAND_NUMBER && !dt_tuple_is_int(&out->tuple)))
        return dt__cursor_fail(&begin, "expected %s", kind == OPERAND_NUMBER ? "a number" : "a number or a tuple");
    return DT_OK;
}

static dt_status unknown_operation(const dt__cursor *cursor, size_t length) {
    char name[64];
    size_t n = length < sizeof name ? length : sizeof name - 1;
    memcpy(name, cursor->at, n);
    name[n] = 0;
    dt__near_miss near = dt__near_miss_new(name);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        dt__near_miss_add(&near, operations[i].name, strlen(operations[i].name));
    return dt__cursor_fail(cursor, "unknown operation '%s'%s (see dtensor layout --help)", name,
                           dt__near_miss_hint(&near));
}

static size_t word_length(const char *text) {
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n;
}

static dt_status parse_operation(parser *self, layout_value *out) {
    size_t length = word_length(self->cursor.at);
    const layout_operation *operation = layout_operation_find(self->cursor.at, length);
    dt__layout layout;
    layout_value operand = {0}, result = {0};
    if (!operation)
        return unknown_operation(&self->cursor, length);
    if (self->depth == MAX_DEPTH)
        return dt__cursor_fail(&self->cursor, "operations nest too deep: expected at most %d levels", MAX_DEPTH);
    self->depth++;
    self->cursor.at += length;
    DT__TRY(dt__cursor_expect(&self->cursor, "(", "after the name of an operation"));
    DT__TRY(parse_layout(self, &layout));
    if (operation->operand != OPERAND_NONE) {
        DT__TRY(dt__cursor_expect(&self->cursor, ",", "before the second operand"));
        DT__TRY(parse_operand(self, operation->operand, &operand));
    }
    DT__TRY(dt__cursor_expect(&self->cursor, ")", "after the operands"));
    self->depth--;
    DT__TRY(operation->compute(self->arena, &layout, &operand, &result));
    *out = result;
    return DT_OK;
}

static dt_status parse_value(parser *self, layout_value *out) {
    char next = dt__cursor_peek(&self->cursor);
    return isalpha((unsigned char)next) ? parse_operation(self, out) : parse_literal(self, out);
}

dt_status layout_evaluate(dt__arena *arena, const char *expression, layout_value *out) {
    parser self = {arena, dt__cursor_new(arena->ctx, DT_ERR_VALUE, "layout", expression), 0};
    bool is_literal = !isalpha((unsigned char)dt__cursor_peek(&self.cursor));
    layout_value value;
    DT__TRY(parse_value(&self, &value));
    if (dt__cursor_peek(&self.cursor))
        return dt__cursor_fail(&self.cursor, "expected %s",
                               is_literal && !value.is_layout ? "':' or the end" : "the end");
    if (is_literal && !value.is_layout) {
        value.is_layout = true;
        DT__TRY(dt__layout_new(arena, &value.tuple, NULL, &value.layout));
    }
    *out = value;
    return DT_OK;
}
