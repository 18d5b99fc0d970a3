/* SPDX-License-Identifier: Apache-2.0
 *
 * 1: meshes. A mesh arranges the ranks of a program in a grid whose dims have names, so that "the ranks that share a
 * copy of the model" or "the ranks that share a batch" have a name. Making and querying a mesh is arithmetic: no rank
 * waits for another, whatever the size.
 *
 *     $ ./01_mesh
 *     $ ./01_mesh 12                    # of 12 ranks instead of 8
 */
#include <dtensor/mesh.h>

#include <stdio.h>
#include <stdlib.h>

/* Ranks of this rank's group along a dim: those that differ from it in that coordinate only. */
static void print_group(const dt_mesh *mesh, int dim) {
    printf("  along %-8s", dt_mesh_dim_name(mesh, dim));
    for (int64_t i = 0; i < dt_mesh_dim_size(mesh, dim); i++)
        printf(" %lld", (long long)dt_mesh_group_rank(mesh, dim, i));
    printf("\n");
}

static void print_mesh(const char *title, dt_mesh *mesh) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    if (!mesh) /* a call failed; dt_close prints why */
        return;
    printf("%s: %s, %lld ranks, this one at (", title, dt_mesh_text(mesh), (long long)dt_mesh_size(mesh));
    dt_mesh_coordinate(mesh, coordinate); /* false for a rank outside the mesh */
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++)
        printf("%s%lld", dim ? "," : "", (long long)coordinate[dim]);
    printf(")\n");
    for (int dim = 0; dim < dt_mesh_n_dims(mesh); dim++)
        print_group(mesh, dim);
}

int main(int argc, char **argv) {
    /* A real program calls dt_init(NULL) and is started by dtrun. Here, this process claims to be rank 3 of a world
     * of 8, which shows the view of that rank without starting the others. */
    int64_t world = argc > 1 ? atoll(argv[1]) : 8;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = world, .rank = 3});
    if (!ctx)
        return 1;

    /* Two copies of a model (dp), each with its sequences split in two (cp) and its matrices split over the
     * ranks that are left (tp=*). The last dim varies fastest: ranks 0 and 1 are neighbors along tp. */
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,cp=2,tp=*");
    print_mesh("root", mesh);

    /* A slice is the sub-mesh that contains this rank and spans the named dims. */
    dt_mesh *tp = dt_mesh_slice(mesh, "tp");
    print_mesh("tp", tp);

    /* A slice of two dims around a third, flattened to one: the ranks that share this rank's slice of a sequence. */
    dt_mesh *around = dt_mesh_slice(mesh, "dp,tp");
    dt_mesh *flat = dt_mesh_flatten(around, "replicas");
    print_mesh("dp,tp", around);
    print_mesh("flat", flat);

    /* One dim, split into several. */
    dt_mesh *pairs =
        dt_mesh_unflatten(flat, 0, (const int64_t[]){2, world / 4}, 2, &(dt_mesh_options){.names = "node,core"});
    print_mesh("pairs", pairs);

    /* A call that fails returns NULL, the context keeps the first error with its text, and a program that can continue
     * clears it. */
    dt_mesh *wrong = dt_mesh_slice(mesh, "tp,dp");
    printf("wrong: %s: %s\n", wrong ? "no error" : dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
    dt_error_clear(ctx);

    /* Handles are reference-counted; a sub-mesh holds a reference to its root, so the order does not matter. */
    dt_mesh_release(mesh);
    dt_mesh_release(tp);
    dt_mesh_release(around);
    dt_mesh_release(flat);
    dt_mesh_release(pairs);
    return dt_close(ctx); /* 0, or 1 after printing an error */
}
