/* SPDX-License-Identifier: Apache-2.0
 *
 * 2: placements. A placement is what one mesh dim does with a tensor: Shard splits it, Replicate copies it, Partial
 * keeps values that still have to be reduced. A spec combines a mesh, one placement per mesh dim, a shape and a dtype.
 * It determines what every rank holds, without any data.
 *
 *     $ ./02_placements
 *     $ ./02_placements 9               # on 3 x 3 ranks instead of 2 x 3
 *     $ dtensor show 'f32[7,8] S(0),S(1) on mesh(dp=2,tp=3)'        # the same as a picture
 */
#include <dtensor/mesh.h>
#include <dtensor/spec.h>

#include <stdio.h>
#include <stdlib.h>

/* What a rank holds: rows and columns of the full matrix. */
static void print_rank(const dt_spec *spec, int64_t rank) {
    dt_local local;
    dt_spec_local_of(spec, rank, &local);
    printf("  rank %lld holds [%lld,%lld] from (%lld,%lld), %lld bytes%s\n", (long long)rank,
           (long long)local.shape[0], (long long)local.shape[1], (long long)local.offset[0],
           (long long)local.offset[1], (long long)local.bytes, local.elements ? "" : ": nothing");
}

static void print_spec(const dt_spec *spec) {
    char text[256];
    if (!spec) /* a call failed; dt_close prints why */
        return;
    dt_spec_text(spec, sizeof text, text);
    printf("%s: %lld shards%s\n", text, (long long)dt_spec_n_shards(spec),
           dt_spec_is_even(spec) ? ", all equal" : "");
    for (int64_t rank = 0; rank < dt_mesh_size(dt_spec_mesh(spec)); rank++)
        print_rank(spec, rank);
}

static dt_spec *matrix(dt_mesh *mesh, int64_t rows, int64_t columns, const char *placements) {
    const int64_t shape[] = {rows, columns};
    return dt_spec_new(mesh, &(dt_spec_desc){.dtype = DT_F32, .n_dims = 2, .shape = shape, .text = placements});
}

int main(int argc, char **argv) {
    int64_t world = argc > 1 ? atoll(argv[1]) : 6;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = world, .rank = world - 2});
    if (!ctx)
        return 1;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*,tp=3");

    /* Rows along dp, columns along tp. 7 rows become 4 and 3, or 3, 3 and 1 along a dp of 3; 8 columns 3, 3 and 2:
     * uneven shards are normal. */
    dt_spec *both = matrix(mesh, 7, 8, "S(0),S(1)");
    print_spec(both);

    /* Two rows for three ranks: the last one holds nothing, which is normal as well. Along dp all hold the same. */
    dt_spec *few = matrix(mesh, 2, 4, "R,S(0)");
    print_spec(few);

    /* Both mesh dims cut the rows. By default dp cuts first; brackets are positions in another order. */
    dt_spec *rows = matrix(mesh, 12, 2, "S(0),S(0)"), *other = matrix(mesh, 12, 2, "S(0)[1],S(0)[0]");
    print_spec(rows);
    print_spec(other);

    /* Explicit sizes. */
    print_spec(matrix(mesh, 10, 1, "R,S(0:1,7,2)"));

    /* Which rank holds element (5,6), and where? Along mesh dims that replicate, the coordinate is -1: all hold it. */
    int64_t owner[2], own[2], local[2];
    if (both && dt_spec_owners(both, (const int64_t[]){5, 6}, owner) && dt_mesh_coordinate(mesh, own))
        printf("element (5,6) is at dp=%lld, tp=%lld; this rank is at dp=%lld, tp=%lld\n", (long long)owner[0],
               (long long)owner[1], (long long)own[0], (long long)own[1]);
    if (both && dt_spec_to_local(both, owner, (const int64_t[]){5, 6}, local))
        printf("there it is element (%lld,%lld)\n", (long long)local[0], (long long)local[1]);

    /* Equal specs are one object, however they are written. */
    dt_spec *again = matrix(mesh, 7, 8, "S(-2),S(-1)");
    printf("written differently, %s\n", again == both ? "the same spec" : "another spec");

    /* An error in a text points at the character. */
    if (!matrix(mesh, 7, 8, "S(0),P(mean)"))
        printf("%s\n", dt_error_text(ctx));
    dt_error_clear(ctx);

    dt_mesh_release(mesh); /* specs hold a reference; closing the context frees the rest */
    return dt_close(ctx);
}
