/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of mesh dims. A name has none of the characters that the text form of a mesh uses, and does not start with a
 * digit or a sign, so that it cannot be mistaken for a size.
 */
#include "mesh/mesh_internal.h"

#include <ctype.h>
#include <string.h>

dt_status dt__names_split(dt__arena *arena, const char *text, dt__names *out) {
    int n = 1;
    for (const char *at = text; *at; at++)
        n += *at == ',';
    const char **items = DT__NEW_ARRAY(arena, const char *, n);
    char *copy = items ? dt__arena_copy_text(arena, text) : NULL;
    if (!copy)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        items[i] = copy;
        copy += strcspn(copy, ",");
        *copy++ = 0;
    }
    *out = (dt__names){items, n};
    return DT_OK;
}

static bool is_name(const char *word) {
    if (!*word || isdigit((unsigned char)*word) || *word == '-' || *word == '+')
        return false;
    for (; *word; word++)
        if (isspace((unsigned char)*word) || iscntrl((unsigned char)*word) || strchr(",=:()[]", *word))
            return false;
    return true;
}

int dt__names_find(dt__names names, const char *name) {
    for (int i = 0; i < names.n; i++)
        if (!strcmp(names.items[i], name))
            return i;
    return -1;
}

dt_status dt__names_check(dt_ctx *ctx, const char *op, dt__names names) {
    for (int i = 0; i < names.n; i++) {
        if (!names.items[i] || !is_name(names.items[i]))
            return dt__fail(
                ctx, DT_ERR_MESH,
                "%s: '%s' is not a name for a mesh dim: expected no spaces, none of , = : ( ) [ ], and no "
                "digit or sign at the start",
                op, names.items[i] ? names.items[i] : "NULL");
        if (dt__names_find(names, names.items[i]) < i)
            return dt__fail(ctx, DT_ERR_MESH, "%s: the name '%s' appears twice", op, names.items[i]);
    }
    return DT_OK;
}

void dt__names_print(dt__text *text, dt__names names) {
    for (int i = 0; i < names.n; i++)
        dt__text_add(text, "%s%s", i ? "," : "", names.items[i]);
}
