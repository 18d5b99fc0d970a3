/* SPDX-License-Identifier: Apache-2.0
 *
 * dtensor: distributed tensors for C. This header brings in the whole library; this is how it is used.
 *
 * A program is written as if for one device. It runs as several *ranks*: the same program in several processes, which
 * share memory. Everything belongs to a context. dt_init joins the launch of dtrun; a program that is started by itself
 * is a world of one rank.
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
 * A tensor on a mesh has a *placement* for each mesh dim. S(0) shards tensor dim 0, R keeps a copy everywhere,
 * P(sum) leaves values that are still to be added up. Here dp shards the rows of x, and tp the columns of w; 5 rows do
 * not divide by 2, and need not. Each rank makes its own shard: random bits do not depend on the layout.
 *
 *         dt_tensor *x = dt_randn(ctx, DT_SHAPE(5, 4), .mesh = mesh, .place = "S(0),R");
 *         dt_tensor *w = dt_randn(ctx, DT_SHAPE(4, 6), .mesh = mesh, .place = "R,S(1)");
 *
 * Ops run on the local tensors, and the library derives the placements of the result. A product of rows and columns is
 * sharded both ways without a message; a sum over the sharded dim leaves a partial sum on each rank, still without one.
 *
 *         dt_tensor *y = dt_relu(dt_matmul(x, w));
 *         dt_tensor *s = dt_sum(y, .dim = DT_DIMS(-1), .keepdim = true);
 *
 * A required number is plain, an optional one is wrapped: dt_softmax(y, 1), but dt_argmax(y, .dim = DT_INT(1)). Lists
 * are DT_SHAPE, DT_DIMS, or DT_INTS for other integers.
 *
 * Placements change on request. Data moves directly to its destination; sums are added up on the way.
 *
 *         dt_tensor *whole = dt_redistribute(s, "R,R");
 *
 * A call that fails returns NULL, and the context keeps the first error with its text. NULL arguments yield NULL, so
 * everything above is checked at once. dt_close prints the error and returns the exit code.
 *
 *         if (dt_failed(ctx))
 *             return dt_close(ctx);
 *
 * What a rank holds can be read: shapes are those of the full tensor, data is the local tensor of this rank.
 *
 *         char text[100];
 *         dt_tensor_text(y, sizeof text, text);
 *         const int64_t *mine = dt_tensor_local_shape(y);
 *         printf("rank %d holds [%d,%d] of %s\n", (int)dt_rank(ctx), (int)mine[0], (int)mine[1], text);
 *         float *sums = dt_data(whole);
 *         if (dt_rank(ctx) == 0)
 *             printf("the rows sum to %.3f, %.3f, ... %.3f\n", sums[0], sums[1], sums[4]);
 *
 * Tensors are freed with the context, or with the scope (dt_scope_begin) in which they were made.
 *
 *         return dt_close(ctx);
 *     }
 *
 * Four ranks, on this machine:
 *
 *     $ cc tutorial.c $(pkg-config --cflags --libs dtensor) -o tutorial
 *     $ dtrun -n 4 ./tutorial
 *     rank 0 holds [3,3] of f32[5,6] S(0),S(1) on mesh(dp=2,tp=2)
 *     rank 1 holds [3,3] of f32[5,6] S(0),S(1) on mesh(dp=2,tp=2)
 *     rank 2 holds [2,3] of f32[5,6] S(0),S(1) on mesh(dp=2,tp=2)
 *     rank 3 holds [2,3] of f32[5,6] S(0),S(1) on mesh(dp=2,tp=2)
 *     the rows sum to 0.990, 4.500, ... 5.174
 *
 * Every wait has a deadline: if a peer dies or makes another call, the call fails on every rank, with a text that names
 * the rank and the cause. base.h has contexts and errors, comm.h groups and collectives for direct use, mesh.h meshes,
 * spec.h placements and show.h pictures of them, tensor.h tensors, redistribute.h how they move between placements,
 * ops.h the ops, indexing.h indices as in Python, op.h how to add an op and verify.h how to verify it, dispatch.h what
 * ops may communicate, debug.h why they do, autograd.h gradients, params.h parameters, train.h optimizers, pipeline.h
 * pipelines, checkpoint.h saving and resuming a run, batches.h batches of a file, progress.h progress lines and curves,
 * random.h random tensors, files.h files, dlpack.h how memory is shared with other libraries, binding.h what bindings
 * to other languages need, and layout.h the algebra of shapes and strides.
 */
#ifndef DTENSOR_DTENSOR_H
#define DTENSOR_DTENSOR_H

#include <dtensor/autograd.h>
#include <dtensor/base.h>
#include <dtensor/batches.h>
#include <dtensor/binding.h>
#include <dtensor/checkpoint.h>
#include <dtensor/comm.h>
#include <dtensor/debug.h>
#include <dtensor/dispatch.h>
#include <dtensor/dlpack.h>
#include <dtensor/files.h>
#include <dtensor/indexing.h>
#include <dtensor/layout.h>
#include <dtensor/mesh.h>
#include <dtensor/op.h>
#include <dtensor/ops.h>
#include <dtensor/params.h>
#include <dtensor/pipeline.h>
#include <dtensor/progress.h>
#include <dtensor/random.h>
#include <dtensor/redistribute.h>
#include <dtensor/show.h>
#include <dtensor/spec.h>
#include <dtensor/tensor.h>
#include <dtensor/train.h>
#include <dtensor/verify.h>

#endif
