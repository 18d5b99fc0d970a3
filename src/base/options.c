/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of structs between the caller's version and this one. New fields are appended and zero is their default,
 * so a shorter struct can be padded with zeros, and a longer one whose extra fields are zero can be truncated.
 */
#include "base/options.h"

#include "base/ctx.h"

#include <string.h>

static bool is_zero(const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

const void *dt__struct_convert(dt_ctx *ctx, const char *name, const void *given, size_t size, void *full,
                               size_t full_size, const dt_site **site) {
    memset(full, 0, full_size);
    if (given)
        memcpy(full, given, size < full_size ? size : full_size);
    if (!given || size <= full_size || is_zero((const unsigned char *)given + full_size, size - full_size))
        return full;
    DT__ENTER(ctx, name, site ? *site : NULL);
    if (ctx)
        (void)dt__fail(ctx, DT_ERR_VALUE,
                       "options of a newer version of dtensor: expected %zu bytes, got %zu with a field set that "
                       "version %s does not have",
                       full_size, size, dt_version_text());
    return NULL;
}

void dt__fill_sized(const void *full, size_t full_size, void *out, size_t out_size) {
    size_t common = out_size < full_size ? out_size : full_size;
    memcpy(out, full, common);
    memset((unsigned char *)out + common, 0, out_size - common);
}
