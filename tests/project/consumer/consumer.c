/* SPDX-License-Identifier: Apache-2.0
 *
 * A user's program in C11, compiled against the installed library.
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
    if (strcmp(dt_status_name(DT_ERR_SHAPE), "shape") != 0)
        return 3;
    dt_ctx *ctx = dt_init(NULL);
    double value = 2.5, sum = 0;
    if (dt_comm_all_reduce(dt_group_world(ctx), &value, &sum, 1, DT_F64, DT_SUM) != DT_OK || sum != value)
        return 4;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=1");
    if (dt_mesh_size(mesh) != 1)
        return 5;
    const int64_t sizes[] = {2, 3};
    dt_shape shape = {2, sizes};
    dt_make_options make;
    memset(&make, 0, sizeof make);
    make.mesh = mesh;
    make.place = "S(0)";
    dt_tensor *ones = dt_ones(ctx, shape),
              *placed = dt_full_sized(ctx, shape, dt_number_real(2.0), &make, sizeof make);
    dt_tensor *full = dt_full_tensor(placed);
    if (!dt_copy_(ones, placed) || dt_item(dt_select(dt_select(ones, 0, 1), 0, 2)) != 2)
        return 6;
    if (dt_tensor_elements(full) != 6 || !dt_redistribute(placed, "R"))
        return 7;
    if (dt_item(dt_scalar(ctx, 3, .dtype = DT_I32)) != 3 || dt_tensor_n_dims(dt_zeros(ctx, DT_SHAPE(4, 5))) != 2)
        return 8;
    dt_mesh_release(mesh);
    printf("dtensor %s\n", dt_version_text());
    return dt_close(ctx);
}
