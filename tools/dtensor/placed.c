/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes and dtypes of the command line.
 */
#include "placed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool placed_number(const char **text, int64_t *out) {
    char *end;
    errno = 0;
    long long number = strtoll(*text, &end, 10);
    if (**text < '0' || **text > '9' || errno)
        return false;
    *out = number;
    *text = end;
    return true;
}

dt_status placed_shape(const session *self, const char *text, int64_t *shape, int *n) {
    const char *at = text, *close = *text == '[' ? "]" : "";
    at += *close != 0;
    for (*n = 0; *n < DT_SPEC_MAX_DIMS && placed_number(&at, &shape[*n]);) {
        ++*n;
        if (*at != ',')
            break;
        at++;
    }
    bool after_comma = *n > 0 && at[-1] == ',';
    if (after_comma || strcmp(at, close) != 0)
        return dt__fail(self->ctx, DT_ERR_SHAPE, "'%s' is not a shape; wanted up to %d sizes such as 1024,512", text,
                        (int)DT_SPEC_MAX_DIMS);
    return DT_OK;
}

dt_mesh *placed_mesh(const session *self, const char *option) {
    const char *given = args_value(self->given, option);
    char *text = dt__arena_copy_text(self->arena, given);
    bool sizes = text && !text[strspn(text, "0123456789,")];
    for (char *at = text; sizes && *at; at++)
        *at = *at == ',' ? 'x' : *at;
    return text ? dt_mesh_new(self->ctx, text) : NULL;
}

dt_status placed_dtype(const session *self, dt_dtype *out) {
    const char *word = args_value(self->given, "dtype");
    if (!dt_dtype_parse(word ? word : "f32", out))
        return dt__fail(self->ctx, DT_ERR_DTYPE, "there is no dtype '%s'", word);
    return DT_OK;
}
