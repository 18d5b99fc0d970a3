/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads tensors from standard input and prints each as text, for the test that compares with NumPy. A tensor is a
 * line "DTYPE THRESHOLD WIDTH PRECISION N_DIMS SIZES…" and its bytes in hexadecimal on the next. Texts end with a
 * line "--".
 */
#include "dtensor/dtensor.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    char dtype_name[16];
    int width, precision, n_dims;
    long long threshold;
    while (scanf("%15s %lld %d %d %d", dtype_name, &threshold, &width, &precision, &n_dims) == 5) {
        int64_t shape[DT_SPEC_MAX_DIMS], n = 1;
        dt_dtype dtype;
        if (!dt_dtype_parse(dtype_name, &dtype) || n_dims > DT_SPEC_MAX_DIMS)
            return 1;
        for (int d = 0; d < n_dims; d++) {
            long long size;
            if (scanf("%lld", &size) != 1)
                return 1;
            shape[d] = size;
            n *= size;
        }
        size_t bytes = (size_t)n * dt_dtype_size(dtype);
        unsigned char *memory = malloc(bytes + 1);
        for (size_t i = 0; i < bytes; i++) {
            unsigned byte;
            if (scanf("%2x", &byte) != 1)
                return 1;
            memory[i] = (unsigned char)byte;
        }
        dt_tensor *t = dt_from_memory(ctx, memory, (dt_shape){n_dims, shape}, dtype);
        char *text =
            dt_format(t, .threshold = DT_INT(threshold), .width = DT_INT(width), .precision = DT_INT(precision));
        if (!text)
            return dt_close(ctx);
        printf("%s\n--\n", text);
        free(text);
        free(memory);
        dt_drop(t);
    }
    return dt_close(ctx);
}
