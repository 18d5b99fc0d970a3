/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of somebody else: compiled as C and as C++ against the installed tree, by the installed means.
 */
#include <dtensor/dtensor.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    dt_dtype dtype = DT_F32;
    if (dt_version() != DT_VERSION)
        return 1;
    if (!dt_dtype_parse("bf16", &dtype) || dtype != DT_BF16 || dt_dtype_size(dtype) != 2)
        return 2;
    if (strcmp(dt_status_word(DT_ERR_SHAPE), "shape") != 0)
        return 3;
    printf("dtensor %s\n", dt_version_text());
    return 0;
}
