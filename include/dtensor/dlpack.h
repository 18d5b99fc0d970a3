/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors to and from other libraries, without copying, by the DLPack convention: a struct that says where the memory
 * is and how to read it, and a function that gives it back.
 *
 * The structs here are those of dlpack.h under names of our own, so that both headers can be included; a pointer to
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

/* DLDataType: what kind of number, bits of one, and how many make an element. */
typedef struct dt_dlpack_dtype {
    uint8_t code; /* 0 integer, 1 without sign, 2 float, 4 bfloat, 5 complex, 6 bool */
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
    int64_t *strides; /* in elements; NULL: dense, row by row */
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
    uint64_t flags;                                    /* 1: must not be written to; 2: is a copy */
    dt_dlpack_tensor tensor;
} dt_dlpack_versioned;

/* The memory of a plain tensor, or of this rank's part of a distributed one, lent to somebody who calls the deleter
 * when he is done: on the context's thread, and before the context is closed. Until then the memory lives, whatever
 * happens to tensors and scopes. NULL with the error recorded where there is no data. Local. */
DT_API dt_dlpack_managed *dt_to_dlpack(dt_tensor *tensor);
DT_API dt_dlpack_versioned *dt_to_dlpack_versioned(dt_tensor *tensor);

/* A plain tensor of somebody else's memory; the deleter is called when its last tensor has gone. Memory that must not
 * be written to is copied. Refused, and still the caller's: memory of other devices, elements of several numbers,
 * dtypes that we do not have, a major version other than 1. Local. */
DT_API dt_tensor *dt_from_dlpack(dt_ctx *ctx, dt_dlpack_managed *managed);
DT_API dt_tensor *dt_from_dlpack_versioned(dt_ctx *ctx, dt_dlpack_versioned *managed);

#ifdef __cplusplus
}
#endif

#endif
