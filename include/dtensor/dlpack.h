/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors shared with other libraries without copying, by DLPack: a struct that describes the memory, and a
 * function that releases it.
 *
 * The structs here are those of dlpack.h under other names, so that both headers can be included; a pointer to
 * DLManagedTensor or DLManagedTensorVersioned may be cast to ours and back.
 */
#ifndef DTENSOR_DLPACK_H
#define DTENSOR_DLPACK_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* DLDevice; host memory is type 1, number 0. */
typedef struct dt_dlpack_device {
    int32_t type, number;
} dt_dlpack_device;

/* DLDataType: kind of number, its bits, and numbers per element. */
typedef struct dt_dlpack_dtype {
    uint8_t code; /* 0 signed, 1 unsigned integer, 2 float, 4 bfloat, 5 complex, 6 bool */
    uint8_t bits;
    uint16_t lanes;
} dt_dlpack_dtype;

/* DLTensor */
typedef struct dt_dlpack_tensor {
    void *data;
    dt_dlpack_device device;
    int32_t n_dims;
    dt_dlpack_dtype dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: dense, row-major */
    uint64_t byte_offset;
} dt_dlpack_tensor;

/* DLManagedTensor */
typedef struct dt_dlpack_managed {
    dt_dlpack_tensor tensor;
    void *manager;
    void (*deleter)(struct dt_dlpack_managed *self); /* (optional) */
} dt_dlpack_managed;

/* DLManagedTensorVersioned */
typedef struct dt_dlpack_versioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct dt_dlpack_versioned *self); /* (optional) */
    uint64_t flags;                                    /* 1: read-only; 2: is a copy */
    dt_dlpack_tensor tensor;
} dt_dlpack_versioned;

/* Exports a plain tensor, or the local tensor of a distributed one. The consumer calls the deleter when it is done,
 * on the context's thread and before the context is closed; until then the memory is valid, whatever happens to tensors
 * and scopes. NULL after an error on the fake transport, which has no data. Local. */
DT_API dt_dlpack_managed *dt_to_dlpack_site(dt_tensor *tensor, DT_CALLER);
DT_API dt_dlpack_versioned *dt_to_dlpack_versioned_site(dt_tensor *tensor, DT_CALLER);

/* Imports memory as a plain tensor; the deleter is called when its storage is freed. Read-only memory is copied. After
 * an error the memory remains the caller's: other devices, several lanes, unsupported dtypes, a major version other
 * than 1. Local. */
DT_API dt_tensor *dt_from_dlpack_site(dt_ctx *ctx, dt_dlpack_managed *managed, DT_CALLER);
DT_API dt_tensor *dt_from_dlpack_versioned_site(dt_ctx *ctx, dt_dlpack_versioned *managed, DT_CALLER);

#ifndef __cplusplus
/* clang-format off */
#define dt_to_dlpack(...) dt_to_dlpack_site(__VA_ARGS__, DT_SITE)
#define dt_to_dlpack_versioned(...) dt_to_dlpack_versioned_site(__VA_ARGS__, DT_SITE)
#define dt_from_dlpack(...) dt_from_dlpack_site(__VA_ARGS__, DT_SITE)
#define dt_from_dlpack_versioned(...) dt_from_dlpack_versioned_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
