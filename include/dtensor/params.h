/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters: an ordered list of named tensors, and rules that place them. A model is a C struct with functions; there
 * are no module classes. Each parameter is made directly in its placement, so no rank ever holds all of it unless the
 * rules replicate it, and its numbers do not depend on the placement.
 *
 *     const char *rules =
 *         "*.attn.w[qkv].*  tp=S(0)*64\n"               // shards of whole heads, 64 wide
 *         "*.attn.wo.weight tp=row\n"
 *         "*.bias           decay=0\n"
 *         "*                fsdp=free use=bf16\n";
 *     dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = rules);
 *     dt_params_begin(p, "h.%d.", 0);
 *     dt_tensor *wq = dt_param(p, "attn.wq.weight", DT_SHAPE(768, 768), .std = DT_REAL(0.02));
 *     dt_tensor *wo = dt_param(p, "attn.wo.weight", DT_SHAPE(768, 768), .std = DT_REAL(0.02));
 *     dt_tensor *bias = dt_param(p, "attn.wo.bias", DT_SHAPE(768));
 *     dt_params_end(p);
 *     dt_params_check(p);                               // a rule without effect is an error
 *     dt_optimizer *opt = dt_adamw_new(ctx, 3e-4, .params = p);
 *
 * A rule is a line: a pattern of names, then attributes, separated by blanks or commas; "#" begins a comment. In
 * patterns * is any characters, ? is one, [abc] and [0-9] one of these. For each attribute the first line that matches
 * a name wins. A pattern that matches no parameter, or one whose attributes are all decided by earlier lines, is an
 * error (dt_params_check); a pattern that ends in "?" may match nothing; the "?" is not part of it.
 *
 *     tp=S(0)       the placement along mesh dim tp, as in spec.h; R is the default
 *     tp=S(0)*64    shards of whole multiples of 64, such as heads; keys by heads and queries by groups of heads
 *     tp=col        S(0): rows of a weight [out,in], and of its bias
 *     tp=row        S(1) for two dims or more, R for vectors
 *     tp=vocab      S(0) of an embedding
 *     fsdp=free     shards the first tensor dim that nothing else shards, and is used as R (tensor.h, use placements);
 *                   free(1) states the tensor dim. R where no dim is left
 *     use=bf16      the dtype in which ops see the parameter; integers and bool keep theirs
 *     grad=f32      the dtype of gradients; must be that of the parameter, if it has gradients
 *     decay=0       factor of the optimizer's weight decay
 *     lr=0.5        factor of the optimizer's learning rate
 *     freeze        no gradient, no steps; freeze=0: not frozen
 *
 * Attributes for mesh dims that the mesh does not have are ignored, so that one text serves all meshes, unless the name
 * is nearly that of a mesh dim (tpp for tp), which is an error.
 */
#ifndef DTENSOR_PARAMS_H
#define DTENSOR_PARAMS_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_params dt_params;

typedef struct dt_params_new_options {
    DT_OPTION(dt_mesh *, mesh);     /* of all parameters, or the parent of the meshes that they are on; NULL: plain
                                        tensors */
    DT_OPTION(const char *, rules); /* copied; NULL: all parameters are replicated */
    DT_OPTION(dt_dtype, dtype);     /* default f32 */
    const dt_site *site;
} dt_params_new_options;

/* An empty list. It belongs to the context, and may be freed before. Agreed errors: malformed rules, and names that are
 * nearly those of mesh dims. Local; every rank of the mesh makes the same call. */
DT_API dt_params *dt_params_new_sized(dt_ctx *ctx, DT_OPTIONS(dt_params_new_options));
/* Frees the list with its references to the parameters; accepts NULL. Lists that dt_params_list returned end with it.
 * Local. */
DT_API void dt_params_free_site(dt_params *params, DT_CALLER);

typedef struct dt_params_open_options {
    DT_OPTION(dt_mesh *, mesh);     /* as in dt_params_new_options */
    DT_OPTION(const char *, rules); /* as in dt_params_new_options */
    DT_OPTION(const char *, map);   /* "gpt2", "llama", or the text of a map; NULL: names are those of the file */
    DT_OPTION(dt_dtype, dtype);     /* of floating-point numbers, which are converted; default: as they are stored */
    const dt_site *site;
} dt_params_open_options;

/* A list with a parameter per tensor of a safetensors file, or of a folder that has model.safetensors or, for several
 * files, model.safetensors.index.json. Each rank reads the bytes of its shards. Integers and bool are frozen; 8-bit
 * floats are read as bf16. Agreed errors: a file that is malformed, cut off or missing, and tensors that the map does
 * not name or does not find, with both lists. Collective over the mesh; Local without one.
 *
 * A map has a line per parameter, from the name in the file to that in the list:
 *
 *     transformer.wte.weight                      -> tok.weight
 *     transformer.h.*.attn.c_attn.weight[:,0:E] T -> h.*.attn.wq.weight   # * is the number of a layer
 *     model.layers.*.self_attn.q_proj.bias?       -> h.*.attn.wq.bias     # may be absent
 *     lm_head.weight                              -> head.weight = tok.weight   # absent: tied to tok.weight
 *     E = transformer.wte.weight[1]                                       # a size, for lines after it
 *     prefix transformer.                                                 # names of files may lack it
 *     ignore *.attn.masked_bias                                           # not read
 *     use gpt2                                                            # the lines of a built-in map
 *
 * Ranges are those of the tensor in the file; T transposes its last two dims after that. The parts of a tensor are
 * all of it. A line that ignores a name wins over lines after it. */
DT_API dt_params *dt_params_open_sized(dt_ctx *ctx, const char *path, DT_OPTIONS(dt_params_open_options));

typedef struct dt_params_save_options {
    DT_OPTION(const char *, map);      /* as in dt_params_open_options: names in the file are those before "->" */
    DT_OPTION(dt_dtype, dtype);        /* of floating-point numbers, which are converted; default: theirs */
    DT_OPTION(dt_opt_int, file_bytes); /* of tensors in a file, if it has more than one; default: one file */
    DT_OPTION(bool, unsynced);         /* do not wait for the disk */
    const dt_site *site;
} dt_params_save_options;

/* Saves the parameters to model.safetensors in a folder, or to several files and model.safetensors.index.json, so that
 * dt_params_open with the same map reads them. Tied names are saved once. Creates the folder where it does not exist;
 * files with these names are replaced when all are complete. Parts that a map cuts from a tensor are joined, which
 * takes memory for them. Agreed errors: parameters that the map does not name, and those that it needs and that are
 * missing. Collective over the mesh of the list; Local if its parameters are plain. */
DT_API dt_status dt_params_save_sized(dt_params *params, const char *folder, DT_OPTIONS(dt_params_save_options));

typedef struct dt_param_options {
    DT_OPTION(dt_opt_real, std);   /* normal numbers with this standard deviation */
    DT_OPTION(dt_opt_real, value); /* one number; with std, their mean. Neither: zeros */
    DT_OPTION(const char *, tied); /* the name of another parameter: this name stands for its tensor; with .on another
                                      mesh, for an equal copy there */
    DT_OPTION(dt_mesh *, on);      /* a slice of the mesh of the list, for a pipeline stage; default: that mesh */
    DT_OPTION(dt_dtype, dtype);    /* default: that of the list */
    const dt_site *site;
} dt_param_options;

/* Makes a parameter that the rules place, and adds it to the list, which keeps a reference. It requires a gradient
 * unless a rule freezes it or its numbers are integers. Its name follows the open prefixes. Every rank lists all
 * parameters: on a rank outside its mesh its shard is empty. NULL after an agreed error, with the list as it was: a
 * name that exists, or a placement that does not fit. Numbers are drawn from the context's generator, in the order of
 * making. Local; every rank of the mesh makes the same call.
 *
 * A tied parameter on the mesh of another pipeline stage is a copy with the same numbers: dt_pipeline_run adds the
 * gradients of all copies up on each of them, norms count one, and optimizers step each alike, so that they stay
 * equal. */
DT_API dt_tensor *dt_param_sized(dt_params *params, const char *name, dt_shape shape, DT_OPTIONS(dt_param_options));

/* Begins a prefix of the names of parameters: dt_params_begin(p, "h.%d.", i). Prefixes nest: the second is added to the
 * first. Local. */
DT_API dt_status dt_params_begin_site(dt_params *params, DT_CALLER, const char *format, ...) DT_PRINTF(3);
#define dt_params_begin(params, ...) dt_params_begin_site(params, DT_SITE, __VA_ARGS__)
/* Ends the last prefix. Local. */
DT_API dt_status dt_params_end_site(dt_params *params, DT_CALLER);

/* The number of names, and name and tensor of each in the order of making; a tied name has the tensor of the other one.
 * 0 or NULL for an index out of range. Local. */
DT_API int dt_params_n(const dt_params *params);
DT_API const char *dt_params_name(const dt_params *params, int i);
DT_API dt_tensor *dt_params_tensor(const dt_params *params, int i);
/* The parameter of a full name; NULL after an agreed error that has the nearest name. Local. */
DT_API dt_tensor *dt_params_get_site(const dt_params *params, const char *name, DT_CALLER);
/* The parameters whose names match a pattern, each tensor once, in the order of making; NULL: all. The list lives as
 * long as the params; with further parameters a later call returns another one. An agreed error, and an empty list,
 * if nothing matches a pattern. Local. */
DT_API dt_tensors dt_params_list_site(dt_params *params, const char *pattern, DT_CALLER);

/* Copies of all parameters as they are stored, under the same names, which require no gradient: for averages. Local;
 * every rank of the mesh makes the same call. */
DT_API dt_params *dt_params_clone_site(const dt_params *params, DT_CALLER);
/* params += weight * (to - params), each by name: dt_params_lerp(average, p, 1 - 0.999). Integers and bool become those
 * of `to`. Both have the same names and specs; otherwise an agreed error. Nothing moves, and nothing is recorded for
 * gradients. Collective over the meshes of the parameters. */
DT_API dt_status dt_params_lerp_site(dt_params *params, const dt_params *to, double weight, DT_CALLER);

/* An agreed error where a rule has no effect on the parameters so far, with the line and the nearest name. Making an
 * optimizer of a list that has parameters calls it, and so do its first step, dt_save, dt_load and dt_params_save.
 * Local. */
DT_API dt_status dt_params_check_site(dt_params *params, DT_CALLER);

/* A table: name, with the layers of a loop on one line (h.*.attn.wq.weight x12), shape, dtype, placements, use
 * placement, MiB per rank, factors of decay and learning rate; and totals. Valid until the next call on the same list.
 * NULL after an error. Local. */
DT_API const char *dt_params_text_site(dt_params *params, DT_CALLER);

/* The settings of a model, as config.json has them: a JSON object, whose members have paths such as
 * "rope_parameters.rope_theta". It ends with the context. NULL after an error: a file that cannot be read, is
 * malformed, or has a key twice. Local. */
typedef struct dt_config dt_config;
DT_API dt_config *dt_config_open_site(dt_ctx *ctx, const char *path, DT_CALLER);
/* The number of settings, and the path of each, sorted; NULL for an index out of range. Local. */
DT_API int dt_config_n(const dt_config *config);
DT_API const char *dt_config_key(const dt_config *config, int i);
/* A string, or the JSON of a number, a bool or a list; NULL where it is absent or null. Local. */
DT_API const char *dt_config_text(const dt_config *config, const char *key);
/* A number or a bool; `absent` where it is absent or null, and after an error if it is of another kind. Local. */
DT_API double dt_config_real_site(const dt_config *config, const char *key, double absent, DT_CALLER);
DT_API int64_t dt_config_int_site(const dt_config *config, const char *key, int64_t absent, DT_CALLER);
DT_API bool dt_config_bool_site(const dt_config *config, const char *key, bool absent, DT_CALLER);

#ifndef __cplusplus
/* clang-format off */
#define dt_config_open(...) dt_config_open_site(__VA_ARGS__, DT_SITE)
#define dt_config_real(...) dt_config_real_site(__VA_ARGS__, DT_SITE)
#define dt_config_int(...) dt_config_int_site(__VA_ARGS__, DT_SITE)
#define dt_config_bool(...) dt_config_bool_site(__VA_ARGS__, DT_SITE)
#define dt_params_new(...) DT_PARAMS_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_PARAMS_NEW_(ctx, ...) dt_params_new_sized(ctx, DT_CHECKED(dt_params_new_options, __VA_ARGS__))
#define dt_params_open(...) DT_PARAMS_OPEN_(__VA_ARGS__, .site = DT_SITE)
#define DT_PARAMS_OPEN_(ctx, path, ...) \
    dt_params_open_sized(ctx, path, DT_CHECKED(dt_params_open_options, __VA_ARGS__))
#define dt_params_save(...) DT_PARAMS_SAVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_PARAMS_SAVE_(params, folder, ...) \
    dt_params_save_sized(params, folder, DT_CHECKED(dt_params_save_options, __VA_ARGS__))
#define dt_params_free(...) dt_params_free_site(__VA_ARGS__, DT_SITE)
#define dt_param(...) DT_PARAM_(__VA_ARGS__, .site = DT_SITE)
#define DT_PARAM_(params, name, shape, ...) \
    dt_param_sized(params, name, shape, DT_CHECKED(dt_param_options, __VA_ARGS__))
#define dt_params_end(...) dt_params_end_site(__VA_ARGS__, DT_SITE)
#define dt_params_get(...) dt_params_get_site(__VA_ARGS__, DT_SITE)
#define dt_params_list(...) dt_params_list_site(__VA_ARGS__, DT_SITE)
#define dt_params_clone(...) dt_params_clone_site(__VA_ARGS__, DT_SITE)
#define dt_params_lerp(...) dt_params_lerp_site(__VA_ARGS__, DT_SITE)
#define dt_params_check(...) dt_params_check_site(__VA_ARGS__, DT_SITE)
#define dt_params_text(...) dt_params_text_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
