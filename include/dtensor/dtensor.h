/* SPDX-License-Identifier: Apache-2.0
 *
 * dtensor: distributed tensors for C. This header brings in the whole library; this is how it is used.
 *
 * A program runs as several *ranks*: the same program in several processes, which share memory. Everything hangs off
 * a context. dt_init joins the launch that dtrun made; a program that is started alone is a world of one rank.
 *
 *     #include <dtensor/dtensor.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *         dt_ctx *ctx = dt_init(NULL);
 *
 * A *mesh* arranges ranks in a grid whose dims have names. It is arithmetic: making or slicing one sends nothing.
 *
 *         dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");
 *
 * A *spec* says which part of a tensor each rank holds: a *placement* for each mesh dim. S(0) cuts tensor dim 0, R
 * keeps a copy everywhere, P(sum) leaves values that are still to be added up. Here dp cuts the rows and tp the
 * columns; 5 rows do not divide by 2, and need not.
 *
 *         int64_t shape[] = {5, 4};
 *         dt_spec *spec = dt_spec_new(mesh, &(dt_spec_desc){DT_F64, 2, shape, .text = "S(0),S(1)"});
 *         const dt_local *mine = dt_spec_local(spec);
 *
 * A call that cannot do its work returns NULL or a status, and the context keeps the first error with its text. NULL
 * in gives NULL out, so the calls above are checked together. dt_close prints the error and gives the exit code.
 *
 *         if (dt_failed(ctx))
 *             return dt_close(ctx);
 *
 * Ranks exchange data in *collectives*. Memory from dt_heap_alloc is read by the other ranks in place; any other
 * memory works too. A collective runs over a group, here over the ranks along tp, which together hold whole rows of
 * the tensor. All elements are 1; each rank adds up its columns, and the group adds up its ranks.
 *
 *         int64_t n_rows = mine->shape[0], n_columns = mine->shape[1];
 *         double *sums = dt_heap_alloc(ctx, 5 * sizeof *sums);
 *         for (int64_t i = 0; sums && i < n_rows; i++)
 *             sums[i] = 1.0 * (double)n_columns;
 *         dt_comm_all_reduce(dt_mesh_group(mesh, 1), sums, sums, n_rows, DT_F64, DT_SUM);
 *
 *         if (!dt_failed(ctx))
 *             printf("rank %d holds [%d,%d] from (%d,%d); its rows sum to %g\n", (int)dt_rank(ctx), (int)n_rows,
 *                    (int)n_columns, (int)mine->offset[0], (int)mine->offset[1], sums[0]);
 *
 * What was made is given back; what was forgotten goes with the context.
 *
 *         dt_heap_free(ctx, sums);
 *         dt_spec_free(spec);
 *         dt_mesh_free(mesh);
 *         return dt_close(ctx);
 *     }
 *
 * Four ranks, on this machine:
 *
 *     $ cc tutorial.c $(pkg-config --cflags --libs dtensor) -o tutorial
 *     $ dtrun -n 4 ./tutorial
 *     rank 0 holds [3,2] from (0,0); its rows sum to 4
 *     rank 1 holds [3,2] from (0,2); its rows sum to 4
 *     rank 2 holds [2,2] from (3,0); its rows sum to 4
 *     rank 3 holds [2,2] from (3,2); its rows sum to 4
 *
 * No wait is without end: a peer that dies or calls something else makes the call fail on every rank, with a text
 * that says who and what. base.h has contexts and errors, comm.h groups and collectives, mesh.h meshes, random.h
 * generators of random numbers, spec.h placements, tensor.h tensors, redistribute.h how they move between placements,
 * files.h their files and dlpack.h how memory is shared with other libraries.
 */
#ifndef DTENSOR_DTENSOR_H
#define DTENSOR_DTENSOR_H

#include <dtensor/base.h>
#include <dtensor/comm.h>
#include <dtensor/debug.h>
#include <dtensor/dispatch.h>
#include <dtensor/dlpack.h>
#include <dtensor/files.h>
#include <dtensor/mesh.h>
#include <dtensor/op.h>
#include <dtensor/ops.h>
#include <dtensor/random.h>
#include <dtensor/redistribute.h>
#include <dtensor/spec.h>
#include <dtensor/tensor.h>
#include <dtensor/verify.h>

#endif
