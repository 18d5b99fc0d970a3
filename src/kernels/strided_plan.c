/* SPDX-License-Identifier: Apache-2.0
 *
 * Simplifies a strided copy: drops dims of size 1, reverses dims so that strides of dst are not negative, sorts dims by
 * the stride of dst, and joins neighbors that form one longer dim on both sides. The bytes of an element are the first
 * dim, so that the innermost contiguous runs result from the same joining.
 */
#include "kernels/strided_plan.h"

static dt__strided_dim forward(dt__strided_plan *plan, dt__strided_dim dim) {
    if (dim.dst >= 0)
        return dim;
    plan->dst += (dim.size - 1) * dim.dst;
    plan->src += (dim.size - 1) * dim.src;
    return (dt__strided_dim){dim.size, -dim.dst, -dim.src};
}

static void insert_by_dst(dt__strided_plan *plan, dt__strided_dim dim) {
    int at = plan->n_dims++;
    for (; at > 1 && plan->dims[at - 1].dst > dim.dst; at--)
        plan->dims[at] = plan->dims[at - 1];
    plan->dims[at] = dim;
}

static void join_neighbors(dt__strided_plan *plan) {
    int last = 0;
    for (int d = 1; d < plan->n_dims; d++) {
        dt__strided_dim *inner = &plan->dims[last], outer = plan->dims[d];
        if (outer.dst == inner->dst * inner->size && outer.src == inner->src * inner->size)
            inner->size *= outer.size;
        else
            plan->dims[++last] = outer;
    }
    plan->n_dims = last + 1;
}

static void extract_runs(dt__strided_plan *plan) {
    plan->run_bytes = (size_t)plan->dims[0].size;
    plan->n_dims--;
    for (int d = 0; d < plan->n_dims; d++)
        plan->dims[d] = plan->dims[d + 1];
}

bool dt__strided_plan_make(const dt__strided *args, dt__strided_plan *out) {
    for (int d = 0; d < args->n_dims; d++)
        if (args->sizes[d] == 0)
            return false;
    const int64_t bytes = (int64_t)args->element_bytes;
    out->dst = args->dst;
    out->src = args->src;
    out->n_dims = 1;
    out->dims[0] = (dt__strided_dim){bytes, 1, 1};
    for (int d = args->n_dims - 1; d >= 0; d--) {
        dt__strided_dim dim = {args->sizes[d], args->dst_strides[d] * bytes, args->src_strides[d] * bytes};
        if (dim.size > 1)
            insert_by_dst(out, forward(out, dim));
    }
    join_neighbors(out);
    extract_runs(out);
    return true;
}
