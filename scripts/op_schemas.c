/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the library's ops as JSON, a line per op, for scripts/make_ops.py. It is linked without the functions that are
 * made from its output, so that it can be built before they are.
 */
#include "ops/ops.h"

#include <stdio.h>

int main(void) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    int status = ctx && dt__ops_open(ctx) == DT_OK ? 0 : 1;
    for (int i = 0; status == 0 && i < dt__op_count(ctx); i++) {
        const dt__op_info *info = dt__op_at(ctx, i);
        dt__text text = dt__text_new(ctx);
        dt__json_writer json = dt__json_writer_new(&text);
        if (info)
            dt__op_info_json(ctx, info, &json);
        if (!info || dt__text_status(&text) != DT_OK) {
            fprintf(stderr, "%s\n", dt_error_text(ctx));
            status = 1;
        } else
            printf("%s\n", dt__text_chars(&text));
        dt__text_free(&text);
    }
    dt__ctx_free(ctx);
    return status;
}
