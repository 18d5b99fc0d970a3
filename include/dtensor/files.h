/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy files: .npy holds one tensor, .npz several by name. A file holds the full tensor; each rank reads and writes
 * its shard of it.
 *
 *     dt_save_npy(w, "weights.npy");
 *     dt_save_npz("model.npz", 2, (const char *[]){"w", "b"}, (dt_tensor *[]){w, b});
 *
 *     dt_tensor *rows = dt_load_npy(ctx, "weights.npy", .mesh = mesh, .place = "S(0),R");
 *     dt_tensor *bias = dt_load_npz(ctx, "model.npz", "b", .mesh = mesh);
 *
 * All dtypes are read and written. NumPy has no bf16: it is stored as two raw bytes, '<V2', as the ml_dtypes package
 * does. Big-endian numbers are byte-swapped on reading; a file in Fortran order becomes a tensor whose local tensors
 * are column-major. Entries of .npz files are written uncompressed; those that numpy.savez_compressed wrote are read,
 * too, but have no random access: each rank decompresses the entire entry, in bounded memory, and keeps its shard.
 *
 * A call on a mesh is compared like a collective: path, names, specs and options must be the same on all its ranks,
 * and the error of a mismatch shows both calls. The error of one rank (a full disk, a file that it cannot open) is the
 * error of all, with the same status and a text that names the rank and the reason; afterwards all may continue.
 *
 * A path that is saved to has the old file or the complete new one at any time. Until it is complete the new file has
 * no name, so that no file remains however the ranks end; on file systems that cannot do that it has a temporary
 * name in the same folder, ending in .part, which is removed by the other ranks or dtrun if its rank dies. Links are
 * followed; mode and owner of a replaced file are kept; what is neither a regular file nor a new name is refused, and
 * so are a file that may not be written and an owner that cannot be kept. Only regular files are loaded.
 */
#ifndef DTENSOR_FILES_H
#define DTENSOR_FILES_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_load_npy_options {
    dt_mesh *mesh;      /* as in dt_make_options */
    const char *place;  /* as in dt_make_options; in a partial placement coordinate 0 gets the value */
    bool requires_grad; /* as in dt_make_options */
    const char *use;    /* as in dt_make_options */
    bool check;         /* .npz: compare the checksum of the entire entry; always done for plain tensors and for
                         * compressed entries */
    const dt_site *site;
} dt_load_npy_options;

/* Loads a tensor from a file, or from the entry of this name, with or without ".npy"; the last one if there are
 * several. All ranks must read the same file: one that is replaced meanwhile is an error. Collective over the mesh;
 * Local for a plain tensor. */
DT_API dt_tensor *dt_load_npy_sized(dt_ctx *ctx, const char *path, DT_OPTIONS(dt_load_npy_options));
DT_API dt_tensor *dt_load_npz_sized(dt_ctx *ctx, const char *path, const char *name, DT_OPTIONS(dt_load_npy_options));

/* Saves a tensor. Partial values are reduced. When it returns, the file is complete, but not necessarily on the disk:
 * the system writes it back later. Collective over the mesh; Local for a plain tensor. */
DT_API dt_status dt_save_npy_site(dt_tensor *tensor, const char *path, DT_CALLER);
/* Saves tensors, each under its name; names are distinct and not empty. Either all are plain (Local), or all are on one
 * mesh (Collective over it). */
DT_API dt_status dt_save_npz_site(const char *path, int n, const char *const *names, dt_tensor *const *tensors,
                                  DT_CALLER);

#ifndef __cplusplus
#define dt_load_npy(...)             DT_LOAD_NPY_(__VA_ARGS__, .site = DT_SITE)
#define dt_load_npz(...)             DT_LOAD_NPZ_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOAD_NPY_(ctx, path, ...) dt_load_npy_sized(ctx, path, DT_NAMED(dt_load_npy_options, __VA_ARGS__))
#define DT_LOAD_NPZ_(ctx, path, name, ...)                                                                           \
    dt_load_npz_sized(ctx, path, name, DT_NAMED(dt_load_npy_options, __VA_ARGS__))
#endif

#ifndef __cplusplus
/* clang-format off */
#define dt_save_npy(...) dt_save_npy_site(__VA_ARGS__, DT_SITE)
#define dt_save_npz(...) dt_save_npz_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
