/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors in NumPy's files: .npy holds one tensor, .npz several by name. A distributed tensor is one whole in the file;
 * each rank reads and writes only its part of it.
 *
 *     dt_tensor *w = dt_load_npy(ctx, "weights.npy", .mesh = mesh, .place = "S(0),R");
 *     dt_save_npy(w, "copy.npy");
 *     dt_save_npz("model.npz", 2, (const char *[]){"w", "b"}, (dt_tensor *[]){w, b});
 *     dt_tensor *b = dt_load_npz(ctx, "model.npz", "b", .mesh = mesh);
 *
 * All dtypes are read and written. NumPy has no bf16: it is kept as two raw bytes, '<V2', as the ml_dtypes package
 * does. Numbers in the other byte order are turned round; a file in Fortran order gives a tensor that lies in memory
 * column by column. Of .npz files, entries that are stored are read, not compressed ones.
 *
 * A file appears under its name when it is complete: it is written under another name in the same folder, and a
 * failure leaves nothing. Errors of files are local: a rank that cannot read or write tells its peers.
 */
#ifndef DTENSOR_FILES_H
#define DTENSOR_FILES_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_load_options {
    dt_mesh *mesh;      /* as in dt_make_options */
    const char *place;  /* as in dt_make_options: of a partial, the first coordinate gets the value */
    bool requires_grad; /* as in dt_make_options */
    bool check;         /* .npz: read the whole entry and compare its checksum; plain loads always do */
    const dt_site *site;
} dt_load_options;

/* A tensor from a file; from the entry of a file that has this name, with or without ".npy", of several the last one.
 * Local: every rank of the mesh calls it and sees the same file; nothing is communicated. */
DT_API dt_tensor *dt_load_npy_sized(dt_ctx *ctx, const char *path, DT_OPTIONS(dt_load_options));
DT_API dt_tensor *dt_load_npz_sized(dt_ctx *ctx, const char *path, const char *name, DT_OPTIONS(dt_load_options));

/* A tensor to a file. Partial values are reduced. When it returns, the file is there. Collective over the mesh; Local
 * for a plain tensor. */
DT_API dt_status dt_save_npy(dt_tensor *tensor, const char *path);
/* Tensors to a file, each under its name; names are distinct and not empty. Either all are plain (Local) or all are of
 * one mesh (Collective over it). */
DT_API dt_status dt_save_npz(const char *path, int n, const char *const *names, dt_tensor *const *tensors);

#ifndef __cplusplus
#define dt_load_npy(...)                   DT_LOAD_NPY_(__VA_ARGS__, .site = DT_SITE)
#define dt_load_npz(...)                   DT_LOAD_NPZ_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOAD_NPY_(ctx, path, ...)       dt_load_npy_sized(ctx, path, DT_NAMED(dt_load_options, __VA_ARGS__))
#define DT_LOAD_NPZ_(ctx, path, name, ...) dt_load_npz_sized(ctx, path, name, DT_NAMED(dt_load_options, __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#endif
