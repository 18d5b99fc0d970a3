/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors. A tensor is a handle on a storage: a shape, strides, a dtype and, if it is distributed, a spec that
 * describes which shard this rank holds. A tensor without a spec is *plain*: it belongs to this rank alone. Both are
 * one type.
 *
 *     dt_tensor *a = dt_zeros(ctx, DT_SHAPE(3, 4));                                 // plain, f32
 *     dt_tensor *b = dt_ones(ctx, DT_SHAPE(8, 4), .mesh = mesh, .place = "S(0),R"); // each rank makes its shard
 *     dt_tensor *c = dt_redistribute(b, "R,S(1)");                                  // communicates
 *     double total = dt_item(dt_sum(c));                                            // 32, on every rank
 *
 * Ownership. A tensor belongs to the scope that it was made in, and is freed when the scope ends; without a scope, with
 * the context. Storage is reference-counted: views share it, and it lives as long as any of them. Nothing has to be
 * freed by hand; a tensor that should live longer is moved to the outer scope (dt_keep) or retained (dt_tensor_retain),
 * one that should be freed sooner is dropped (dt_drop).
 *
 * A use of a freed tensor is an agreed error that names both lines: "add: tensor 2 made at a.c:12 was freed with its
 * scope at a.c:20". The storage returns at once; the last 4,096 handles that were freed are recognized, with
 * DTENSOR_KEEP_FREED=1 all. The same holds for meshes, specs, groups, generators, started operations and transfers.
 * Nothing is recognized after the context was closed, and a pointer that dt_data or dt_tensor_shape returned is valid
 * as long as the tensor: only the address sanitizer finds a later use.
 *
 * A maker or an op that gets NULL for a tensor returns NULL, so expressions nest and are checked once.
 *
 * In C, options are named: dt_zeros(ctx, shape, .dtype = DT_F64). A zeroed field means "not given". Numbers and lists
 * are written in the same way in all calls:
 *     1               a number that the call requires
 *     DT_INT(1)       an integer that may be left out, whatever its default; so DT_REAL(0.5)
 *     DT_SHAPE(8, 4)  sizes of dims, required or not
 *     DT_DIMS(0, -1)  dims
 *     DT_INTS(2, 1)   other integers: shifts, counts, strides
 *     DT_REALS(1.5)   floating-point numbers: factors
 * Required numbers of either type (Scalar in a signature) are plain, too; as an option, DT_NUMBER(2). The functions
 * that the macros call take a pointer to the same struct (NULL: the defaults) and its size, for other languages:
 * dt_zeros_sized(ctx, shape, &options, sizeof options). C++ has dtensor.hpp.
 */
#ifndef DTENSOR_TENSOR_H
#define DTENSOR_TENSOR_H

#include <dtensor/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How functions take options: a pointer, which may be NULL, and the size of the caller's struct. */
#define DT_OPTIONS(type) const type *options, size_t options_size

typedef struct dt_tensor dt_tensor;

/* A list of tensors, passed by value: DT_TENSORS(a, b). */
typedef struct dt_tensors {
    int n;
    dt_tensor *const *list;
} dt_tensors;

/* The shape of a tensor, or sizes of some of its dims: DT_SHAPE(8, 4). */
typedef struct dt_shape {
    int n;
    const int64_t *sizes;
} dt_shape;

/* Types that a plain number must not initialize. Without a guard, .std = 0.02 would set the first member of std, which
 * is true if it is given, and leave its value 0. In a call, that is an error in every compiler and with all flags,
 * because something that is not a number follows each option (DT_OPTION). In a variable of an options struct, the first
 * member guards: in C it shares its place with an empty struct that no number initializes and whose name is the macro
 * to write. gcc warns of excess elements near std.write_DT_REAL, clang refuses to initialize _Atomic(dt_write_DT_REAL).
 * C++ has constructors instead: a number is a value that is given, and a list of dims is not a number. */
#ifdef __cplusplus
#define DT_WRAPPED(name, first) first;
#define DT_FROM_VALUE(type, of)                                                                                      \
    type() = default;                                                                                                \
    constexpr type(of number) : given(true), value(number) {}                                                        \
    constexpr type(bool is_given, of number) : given(is_given), value(number) {}
#define DT_FROM_LIST(type, of)                                                                                       \
    type() = default;                                                                                                \
    constexpr type(int n_members, const of *members) : n(n_members), list(members) {}
#else
#define DT_FROM_VALUE(type, of)
#define DT_FROM_LIST(type, of)
#ifdef __clang__
#define DT_WRAPPED_AS(name) _Atomic(dt_##name) name
#else
#define DT_WRAPPED_AS(name) dt_##name name
#endif
#define DT_WRAPPED(name, first)                                                                                      \
    __extension__ union {                                                                                            \
        DT_WRAPPED_AS(name);                                                                                         \
        first;                                                                                                       \
    };
__extension__ typedef struct dt_write_DT_INT {
} dt_write_DT_INT;
__extension__ typedef struct dt_write_DT_REAL {
} dt_write_DT_REAL;
__extension__ typedef struct dt_write_DT_TRUE_or_DT_FALSE {
} dt_write_DT_TRUE_or_DT_FALSE;
__extension__ typedef struct dt_write_DT_DIMS {
} dt_write_DT_DIMS;
__extension__ typedef struct dt_write_DT_INTS {
} dt_write_DT_INTS;
__extension__ typedef struct dt_write_DT_REALS {
} dt_write_DT_REALS;
__extension__ typedef struct dt_write_DT_NUMBER {
} dt_write_DT_NUMBER;
#endif

/* Numbers that may be left out, DT_INT(0) and DT_REAL(0.5), and booleans whose default is true: DT_FALSE. */
typedef struct dt_opt_int {
    DT_WRAPPED(write_DT_INT, bool given)
    int64_t value;
    DT_FROM_VALUE(dt_opt_int, int64_t)
} dt_opt_int;
typedef struct dt_opt_real {
    DT_WRAPPED(write_DT_REAL, bool given)
    double value;
    DT_FROM_VALUE(dt_opt_real, double)
} dt_opt_real;
typedef struct dt_opt_bool {
    DT_WRAPPED(write_DT_TRUE_or_DT_FALSE, bool given)
    bool value;
    DT_FROM_VALUE(dt_opt_bool, bool)
} dt_opt_bool;

/* A list of dims: DT_DIMS(0, -1). */
typedef struct dt_dims {
    DT_WRAPPED(write_DT_DIMS, int n)
    const int64_t *list;
    DT_FROM_LIST(dt_dims, int64_t)
} dt_dims;

/* A list of integers that are neither sizes of dims nor dims, such as shifts, counts or strides: DT_INTS(2, 1). */
typedef struct dt_ints {
    DT_WRAPPED(write_DT_INTS, int n)
    const int64_t *list;
    DT_FROM_LIST(dt_ints, int64_t)
} dt_ints;

/* A list of floating-point numbers, such as factors: DT_REALS(1.5, 2). */
typedef struct dt_reals {
    DT_WRAPPED(write_DT_REALS, int n)
    const double *list;
    DT_FROM_LIST(dt_reals, double)
} dt_reals;

/* A field of an options struct in which some values have a type of their own. In C an end of no size follows it, and
 * DT_CHECKED writes an end after each option of a call. After .dim = 1, which initializes a part of dim only, that end
 * is a value for the next part of dim, and does not compile: "incompatible types when initializing type 'int64_t' using
 * type 'dt_end_of_option'". A comma outside parentheses separates options, as in all macros: a compound literal of
 * several values is written in parentheses. */
#ifdef __cplusplus
#define DT_OPTION(type, name) type name
#else
__extension__ typedef struct dt_end_of_option {
} dt_end_of_option;
static const dt_end_of_option dt_option_end __attribute__((unused));
#define DT_OPTION(type, name)                                                                                        \
    type name;                                                                                                       \
    dt_end_of_option name##_end
/* clang-format off */
#define DT_ENDED(...)                                                                                                \
    DT_ENDED_OF(__VA_ARGS__, DT_ENDED_16, DT_ENDED_15, DT_ENDED_14, DT_ENDED_13, DT_ENDED_12, DT_ENDED_11,           \
                DT_ENDED_10, DT_ENDED_9, DT_ENDED_8, DT_ENDED_7, DT_ENDED_6, DT_ENDED_5, DT_ENDED_4, DT_ENDED_3,     \
                DT_ENDED_2, DT_ENDED_1, )(__VA_ARGS__)
#define DT_ENDED_OF(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, macro, ...) macro
#define DT_ENDED_1(option) option
#define DT_ENDED_2(option, ...)  option, dt_option_end, DT_ENDED_1(__VA_ARGS__)
#define DT_ENDED_3(option, ...)  option, dt_option_end, DT_ENDED_2(__VA_ARGS__)
#define DT_ENDED_4(option, ...)  option, dt_option_end, DT_ENDED_3(__VA_ARGS__)
#define DT_ENDED_5(option, ...)  option, dt_option_end, DT_ENDED_4(__VA_ARGS__)
#define DT_ENDED_6(option, ...)  option, dt_option_end, DT_ENDED_5(__VA_ARGS__)
#define DT_ENDED_7(option, ...)  option, dt_option_end, DT_ENDED_6(__VA_ARGS__)
#define DT_ENDED_8(option, ...)  option, dt_option_end, DT_ENDED_7(__VA_ARGS__)
#define DT_ENDED_9(option, ...)  option, dt_option_end, DT_ENDED_8(__VA_ARGS__)
#define DT_ENDED_10(option, ...) option, dt_option_end, DT_ENDED_9(__VA_ARGS__)
#define DT_ENDED_11(option, ...) option, dt_option_end, DT_ENDED_10(__VA_ARGS__)
#define DT_ENDED_12(option, ...) option, dt_option_end, DT_ENDED_11(__VA_ARGS__)
#define DT_ENDED_13(option, ...) option, dt_option_end, DT_ENDED_12(__VA_ARGS__)
#define DT_ENDED_14(option, ...) option, dt_option_end, DT_ENDED_13(__VA_ARGS__)
#define DT_ENDED_15(option, ...) option, dt_option_end, DT_ENDED_14(__VA_ARGS__)
#define DT_ENDED_16(option, ...) option, dt_option_end, DT_ENDED_15(__VA_ARGS__)
/* clang-format on */
#endif

#ifndef __cplusplus
/* Options in braces, as the two arguments that DT_OPTIONS declares; DT_CHECKED is for structs made of DT_OPTION. */
#define DT_NAMED(type, ...)   &(const type){__VA_ARGS__}, sizeof(type)
#define DT_CHECKED(type, ...) &(const type){DT_ENDED(__VA_ARGS__)}, sizeof(type)
/* DT_SHAPE(8, 4); DT_SHAPE() has no dims. Lives until the end of the enclosing block. */
#define DT_SHAPE(...)                                                                                                \
    ((dt_shape){(int)(sizeof((const int64_t[]){0, __VA_ARGS__}) / sizeof(int64_t)) - 1,                              \
                (const int64_t[]){0, __VA_ARGS__} + 1})
#define DT_TENSORS(...)                                                                                              \
    ((dt_tensors){(int)(sizeof((dt_tensor *const[]){__VA_ARGS__}) / sizeof(dt_tensor *)),                            \
                  (dt_tensor *const[]){__VA_ARGS__}})
#define DT_INT(number)  ((dt_opt_int){.given = true, .value = number})
#define DT_REAL(number) ((dt_opt_real){.given = true, .value = number})
#define DT_TRUE         ((dt_opt_bool){.given = true, .value = true})
#define DT_FALSE        ((dt_opt_bool){.given = true, .value = false})
/* DT_DIMS(0, -1), DT_INTS(2, 1) and DT_REALS(1.5, 2), in the same way as DT_SHAPE. */
#define DT_DIMS(...)                                                                                                 \
    ((dt_dims){.n = (int)(sizeof((const int64_t[]){0, __VA_ARGS__}) / sizeof(int64_t)) - 1,                          \
               .list = (const int64_t[]){0, __VA_ARGS__} + 1})
#define DT_INTS(...)                                                                                                 \
    ((dt_ints){.n = (int)(sizeof((const int64_t[]){0, __VA_ARGS__}) / sizeof(int64_t)) - 1,                          \
               .list = (const int64_t[]){0, __VA_ARGS__} + 1})
#define DT_REALS(...)                                                                                                \
    ((dt_reals){.n = (int)(sizeof((const double[]){0, __VA_ARGS__}) / sizeof(double)) - 1,                           \
                .list = (const double[]){0, __VA_ARGS__} + 1})
#endif

/* Scopes. */

typedef struct dt_scope {
    dt_ctx *ctx;
    int64_t number;
} dt_scope;

/* Opens a scope: tensors made from now on belong to it. Local. */
DT_API dt_scope dt_scope_begin_site(dt_ctx *ctx, DT_CALLER);
/* Drops the tensors of the scope and of scopes inside it that are still open. Local. */
DT_API void dt_scope_end_site(dt_scope scope, DT_CALLER);
/* Moves the tensor to the scope outside its own; returns it. Local. */
DT_API dt_tensor *dt_keep(dt_tensor *tensor);
/* Drops the tensor from its scope now; accepts NULL. Views of it, and references, keep what they need. Local. */
DT_API void dt_drop_site(dt_tensor *tensor, DT_CALLER);
/* Adds a reference, which outlives scopes until it is released; returns its argument. Local. */
DT_API dt_tensor *dt_tensor_retain(dt_tensor *tensor);
DT_API void dt_tensor_release_site(dt_tensor *tensor, DT_CALLER);

/* Every rank of a mesh makes the same calls on the mesh's tensors in the same order; ranks that did not get an error in
 * the next transfer on the mesh, which names the first call that differs on each side; with DTENSOR_CHECK_CALLS=1, in
 * that call itself. Between begin and end, which nest, this rank's calls do not count, for logging on one rank; a
 * transfer is then an error. An end without a begin is an error. Local. */
DT_API void dt_apart_begin(dt_ctx *ctx);
DT_API dt_status dt_apart_end_site(dt_ctx *ctx, DT_CALLER);

/* Properties. */

/* All of these are Local and cheap; for a NULL tensor they return 0 or NULL. shape is the global shape; local_shape,
 * strides (in elements) and data are those of the local tensor, which this rank holds. On the fake transport there is
 * no data. */
DT_API dt_ctx *dt_tensor_ctx(const dt_tensor *tensor);
DT_API dt_dtype dt_tensor_dtype(const dt_tensor *tensor);
DT_API int dt_tensor_n_dims(const dt_tensor *tensor);
DT_API const int64_t *dt_tensor_shape(const dt_tensor *tensor);
/* Size of a dim, which may be negative; -1 for a dim out of range and for a NULL tensor. Local, as the next ones. */
DT_API int64_t dt_tensor_size(const dt_tensor *tensor, int dim);
DT_API int64_t dt_tensor_elements(const dt_tensor *tensor);
DT_API int dt_tensor_local_n_dims(const dt_tensor *tensor);
DT_API const int64_t *dt_tensor_local_shape(const dt_tensor *tensor);
DT_API int64_t dt_tensor_local_elements(const dt_tensor *tensor);
DT_API const int64_t *dt_tensor_strides(const dt_tensor *tensor);
/* NULL for a plain tensor. Local. */
DT_API dt_spec *dt_tensor_spec(const dt_tensor *tensor);
DT_API dt_mesh *dt_tensor_mesh(const dt_tensor *tensor);
/* Whether the local tensor is dense and row-major. Local. */
DT_API bool dt_tensor_is_contiguous(const dt_tensor *tensor);
/* Whether two tensors share their storage. Local. */
DT_API bool dt_tensor_shares(const dt_tensor *a, const dt_tensor *b);
/* The first element of the local tensor. Writing there changes the tensor and all its views. Local. */
DT_API void *dt_data(const dt_tensor *tensor);
/* "f32[1024,512] S(0),R on mesh(dp=2,tp=4)", "f32[8,6] S(0) use R on mesh(2)" with a use placement, "f32[8,6] S(0) use
 * bf16 R on mesh(2)" where that has another dtype, or "f32[3,4]" for a plain tensor; as dt_placements_text. Local. */
DT_API size_t dt_tensor_text(const dt_tensor *tensor, size_t capacity, char *out);

/* Use placements. A tensor may be stored in one placement and used in another, as fully sharded weights are:
 *
 *     dt_tensor *w = dt_randn(ctx, DT_SHAPE(1024, 4), .mesh = mesh, .place = "S(0),R", .use = "R,R");
 *     dt_tensor *h = dt_linear(b, w); // gathers w; the result has the placements of b
 *
 * Ops that only read the tensor see it in its use placement. Bringing it there is a transfer that was requested: every
 * communication policy allows it, and counts have it under the name "use". Ops of a scope (dt_scope_begin) share what
 * was moved; that is freed when the scope ends, when the tensor is written to, with the tensor, or by dt_use_release.
 * A change through dt_data is not noticed. Tensors that an op writes, and those that share their storage, are seen as
 * they are stored, and so are all tensors of ops with DT_OP_AS_STORED (clone, copy_, zeros_like, …), those of
 * redistribute, to_local, full_tensor, print and save, and of every op between dt_as_stored_begin and dt_as_stored_end,
 * as in an optimizer. Views, where they move nothing, and dt_detach inherit the use placement, as seen through the
 * view; other results do not. Records keep the tensor as it is stored, and its gradient arrives in that placement.
 *
 * A use placement may have a dtype, "bf16 R": ops see the tensor converted, which is done before it moves, and
 * gradients are converted back before they are summed and moved. So weights and their sums stay f32 where layers
 * compute in bf16. */

/* Sets the use placement of a tensor: one placement per mesh dim, after a dtype where that is another one; or a dtype
 * alone. NULL: none, as if it were that of the tensor. A partial one only where the tensor is the same partial, of its
 * dtype; dtypes are floating-point, both real or both complex. The handle has it, not its views so far. Agreed
 * errors. Local; every rank of the mesh makes the same call. */
DT_API dt_status dt_set_use_site(dt_tensor *tensor, const char *place, DT_CALLER);
/* The spec in which ops see the tensor; NULL: as it is stored. Local. */
DT_API dt_spec *dt_tensor_use(const dt_tensor *tensor);
/* Brings tensors to their use placements for the ops of the current scope, in one exchange for each mesh; without it,
 * each is brought there by the first op that reads it. Tensors without a use placement, and those that an open scope
 * has moved, stay as they are. So a block of layers begins with its weights:
 *
 *     dt_scope scope = dt_scope_begin(ctx);
 *     dt_use(DT_TENSORS(w1, w2));
 *     dt_tensor *y = dt_keep(dt_linear(dt_gelu(dt_linear(x, w1)), w2));
 *     dt_scope_end(scope);
 *
 * dt_backward needs no such call: it brings together everything that the gradients of a scope's calls read. Collective
 * over the meshes of the tensors where they move. */
DT_API dt_status dt_use_site(dt_tensors tensors, DT_CALLER);
/* Frees the copies that ops have moved of the tensor, before the scope ends. Local; every rank of the mesh makes the
 * same call. */
DT_API dt_status dt_use_release_site(dt_tensor *tensor, DT_CALLER);
/* Between begin and end, which nest, ops see all tensors as they are stored. An end without a begin is an error. Local.
 */
DT_API void dt_as_stored_begin(dt_ctx *ctx);
DT_API dt_status dt_as_stored_end_site(dt_ctx *ctx, DT_CALLER);

/* Making tensors. */

typedef struct dt_make_options {
    dt_dtype dtype;    /* default f32 */
    dt_mesh *mesh;     /* default: plain; with place only: the current mesh (dt_mesh_scope_begin) */
    const char *place; /* one placement per mesh dim; default: R for all */
    bool requires_grad;
    const char *use; /* as dt_set_use; default: as it is placed */
    const dt_site *site;
} dt_make_options;

/* Makers are ops (ops.h): dt_empty, dt_zeros, dt_ones, dt_full, dt_arange, dt_linspace, dt_eye; these two are not. The
 * values of a distributed tensor do not depend on its placements: in a partial one, coordinate 0 holds the value and
 * the others the identity of the reduction. For integer dtypes a value is truncated, and must fit.
 *
 * One element, no dims. Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_scalar_sized(dt_ctx *ctx, double value, DT_OPTIONS(dt_make_options));
/* [n_rows,n_columns] with ones on and below diagonal k. Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_tri_sized(dt_ctx *ctx, int64_t n_rows, int64_t n_columns, int64_t k,
                               DT_OPTIONS(dt_make_options));

#ifndef __cplusplus
#define dt_scalar(...) DT_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define dt_tri(...)    DT_TRI_(__VA_ARGS__, .site = DT_SITE)
/* clang-format off */
#define DT_SCALAR_(ctx, value, ...)         dt_scalar_sized(ctx, value, DT_NAMED(dt_make_options, __VA_ARGS__))
#define DT_TRI_(ctx, rows, columns, k, ...) dt_tri_sized(ctx, rows, columns, k, DT_NAMED(dt_make_options, __VA_ARGS__))
/* clang-format on */
#endif

/* Frees the memory of an adopted tensor, when its storage is freed. */
typedef void dt_free_fn(void *user, void *memory);

/* Plain tensors from dense, row-major memory: a copy; the memory itself, which remains the caller's and must outlive
 * the tensor; the memory itself, freed by the function, which is also called if this fails. Ranks cannot read memory of
 * their peers outside the heap: a redistribution passes it through a staging buffer of 1 MiB. Local. */
DT_API dt_tensor *dt_from_memory_site(dt_ctx *ctx, const void *memory, dt_shape shape, dt_dtype dtype, DT_CALLER);
DT_API dt_tensor *dt_borrow_site(dt_ctx *ctx, void *memory, dt_shape shape, dt_dtype dtype, DT_CALLER);
DT_API dt_tensor *dt_adopt_site(dt_ctx *ctx, void *memory, dt_shape shape, dt_dtype dtype, dt_free_fn *free_memory,
                                void *user, DT_CALLER);

/* Views are ops (ops.h), except this one of a plain tensor, which shares its storage: any shape and strides over the
 * storage, from its element `offset` on. NULL after an agreed error where they leave it. Local. */
DT_API dt_tensor *dt_as_strided_site(const dt_tensor *tensor, dt_shape shape, dt_ints strides, int64_t offset,
                                     DT_CALLER);

/* Formatting of values; each zeroed field means "the default". */
typedef struct dt_print_options {
    DT_OPTION(dt_opt_int, precision);  /* digits after the point, from 0 to 17; default 8 */
    DT_OPTION(dt_opt_int, threshold);  /* tensors of more elements show only their corners; default 1000 */
    DT_OPTION(dt_opt_int, edge_items); /* indices shown at each end of a dim in corners, at least 1; default 3 */
    DT_OPTION(dt_opt_int, width);      /* characters per line; default 75 */
    DT_OPTION(bool, local);            /* this rank's local tensor instead of the full tensor */
    const dt_site *site;
} dt_print_options;

/* Sets whether a leaf requires a gradient (autograd.h). Agreed errors: a dtype that is neither floating-point nor
 * complex; false for a tensor that is not a leaf. Local; every rank of the mesh makes the same call. */
DT_API dt_status dt_set_requires_grad_site(dt_tensor *tensor, bool requires_grad, DT_CALLER);
/* Local; false for a NULL tensor. */
DT_API bool dt_requires_grad(const dt_tensor *tensor);

#ifndef __cplusplus
/* clang-format off */
#define dt_scope_begin(...) dt_scope_begin_site(__VA_ARGS__, DT_SITE)
#define dt_scope_end(...) dt_scope_end_site(__VA_ARGS__, DT_SITE)
#define dt_apart_end(...) dt_apart_end_site(__VA_ARGS__, DT_SITE)
#define dt_drop(...) dt_drop_site(__VA_ARGS__, DT_SITE)
#define dt_tensor_release(...) dt_tensor_release_site(__VA_ARGS__, DT_SITE)
#define dt_from_memory(...) dt_from_memory_site(__VA_ARGS__, DT_SITE)
#define dt_borrow(...) dt_borrow_site(__VA_ARGS__, DT_SITE)
#define dt_adopt(...) dt_adopt_site(__VA_ARGS__, DT_SITE)
#define dt_as_strided(...) dt_as_strided_site(__VA_ARGS__, DT_SITE)
#define dt_set_requires_grad(...) dt_set_requires_grad_site(__VA_ARGS__, DT_SITE)
#define dt_set_use(...) dt_set_use_site(__VA_ARGS__, DT_SITE)
#define dt_use(...) dt_use_site(__VA_ARGS__, DT_SITE)
#define dt_use_release(...) dt_use_release_site(__VA_ARGS__, DT_SITE)
#define dt_as_stored_end(...) dt_as_stored_end_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
