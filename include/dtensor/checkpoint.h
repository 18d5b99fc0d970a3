/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints: the parameters of a run, the state of their optimizer and the position of the run, in folders of
 * safetensors files that any mesh loads, and that other tools read as they are.
 *
 *     dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "* dp=free");
 *     dt_tensor *weight = dt_param(p, "weight", DT_SHAPE(96, 64), .std = DT_REAL(0.02));
 *     dt_optimizer *opt = dt_adamw_new(ctx, 3e-4, .params = p);
 *     dt_saving *saving = NULL;
 *     int64_t step = 0;
 *     dt_load(p, "run", .optimizer = opt, .step = &step, .optional = true); // the newest run/step-000600, or nothing
 *     for (; step < 600; step++) {
 *         dt_backward(dt_mean(dt_square(weight))); // a loss
 *         dt_optimizer_step(opt);
 *         dt_zero_grad(dt_params_list(p, NULL));
 *         if (step % 100 == 99)
 *             dt_save(p, "run", step + 1, .optimizer = opt, .keep = DT_INT(3), .later = &saving);
 *     }
 *     dt_saving_wait(saving);
 *
 * A run is a folder, and each checkpoint a folder in it, named after its step: run/step-000600. It contains
 * model.safetensors, the parameters by name; and optimizer.safetensors, the state of those that are not frozen:
 * exp_avg.NAME and so on, as dt_optimizer_state names them, and step.NAME, the number of steps, of dtype i64. A tied
 * parameter is saved once, under its first name. With .file_bytes there may be several files of a kind,
 * model-00001-of-00003.safetensors, and model.safetensors.index.json, which lists what is where. The metadata of each
 * file has "format": "pt", the step, the seed and the draws of the generator, the position of the batches, the numbers
 * of the scaler, and the name and the numbers of the optimizer (docs/checkpoints.md).
 *
 * A folder gets its name when all its files are complete and on the disk; until then its name begins with a dot and
 * ends in .part. So a save that fails or is interrupted leaves the checkpoints before it as they were. What it leaves
 * of its own is removed by the next save to the same run.
 *
 * Each rank writes the bytes of its shards, and ranks with equal shards share them. The calls are compared like
 * collectives: ranks that pass different arguments get an error that shows both. The error of one rank (a full disk, a
 * file that it cannot open) is the error of all; afterwards all may continue.
 */
#ifndef DTENSOR_CHECKPOINT_H
#define DTENSOR_CHECKPOINT_H

#include <dtensor/batches.h>
#include <dtensor/random.h>
#include <dtensor/train.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A save that may still be running. It belongs to the context and keeps its memory for the next one. */
typedef struct dt_saving dt_saving;

typedef struct dt_save_options {
    DT_OPTION(dt_optimizer *, optimizer); /* its state, too */
    DT_OPTION(dt_generator *, generator); /* its seed and draws; default: the context's */
    DT_OPTION(dt_batches *, batches);     /* its position */
    DT_OPTION(const dt_scaler *, scaler); /* its numbers */
    DT_OPTION(dt_opt_int, keep);          /* checkpoints of the run that stay, the new one included; default: all */
    DT_OPTION(dt_opt_int, file_bytes);    /* a file has at most as many bytes of tensors, or one tensor; default: one
                                             file */
    DT_OPTION(bool, unsynced);            /* do not wait for the disk: faster, but a crash of the system may leave a
                                             checkpoint with its name and without its bytes */
    DT_OPTION(dt_saving **, later);       /* return after copying this rank's bytes; see dt_saving_wait */
    const dt_site *site;
} dt_save_options;

/* Saves the parameters as folder/step-NNNNNN, and creates the folder where it does not exist. A checkpoint of the same
 * step is replaced. On the fake transport nothing is written. Collective over the mesh of the list; Local if its
 * parameters are plain. */
DT_API dt_status dt_save_sized(dt_params *params, const char *folder, int64_t step, DT_OPTIONS(dt_save_options));

/* Waits for a save with .later, and names its folder: before, there is no checkpoint. The next dt_save to the same run,
 * or with the same dt_saving, also waits. The bytes were copied when dt_save returned, and a thread writes them; its
 * errors are returned here, the same on all ranks. DT_OK for NULL and if there is nothing to wait for. A dt_close with
 * a save that was not waited for is an error. Collective over the mesh of the list; Local if its parameters are
 * plain. */
DT_API dt_status dt_saving_wait_site(dt_saving *saving, DT_CALLER);

typedef struct dt_load_options {
    DT_OPTION(dt_optimizer *, optimizer); /* its state and its numbers of steps; not its learning rate */
    DT_OPTION(dt_generator *, generator); /* its seed and draws */
    DT_OPTION(dt_batches *, batches);     /* its position */
    DT_OPTION(dt_scaler *, scaler);       /* becomes the one that was saved */
    DT_OPTION(int64_t *, step);           /* becomes the step of the checkpoint */
    DT_OPTION(bool, optional);            /* without a checkpoint, leave everything as it is and return DT_OK */
    const dt_site *site;
} dt_load_options;

/* Loads the newest checkpoint of a run, or the checkpoint that the folder itself is. Mesh, placements, number of ranks
 * and dtypes may differ from those that saved it: each rank reads the bytes of its shards, and values are converted as
 * by dt_to. The names of the checkpoint are those of the list; a tied parameter needs one of its names. Agreed errors,
 * which change nothing: no checkpoint, files that are malformed or incomplete, names that are missing or unknown, other
 * shapes, no state of the optimizer. After an error of the disk, values are unspecified. Collective over the mesh of
 * the list; Local if its parameters are plain. */
DT_API dt_status dt_load_sized(dt_params *params, const char *folder, DT_OPTIONS(dt_load_options));

typedef struct dt_params_npz_options {
    DT_OPTION(dt_optimizer *, optimizer); /* its state and its numbers of steps, too */
    DT_OPTION(dt_ints, config);           /* numbers of the model that its shapes do not show, such as heads: an entry
                                             "config", and loading with other ones is an error */
    const dt_site *site;
} dt_params_npz_options;

/* One .npz file, which NumPy reads and writes: the parameters by name, and with .optimizer exp_avg.NAME and so on, and
 * step.NAME. Mesh, placements and dtypes may be others than those that saved it; each rank reads its shards. Other
 * entries of the file are ignored; a tied parameter has the entry of its first name. Agreed errors, which change
 * nothing: no file, entries that are missing, other shapes, another config. Collective over the mesh of the list; Local
 * if its parameters are plain. */
DT_API dt_status dt_params_save_npz_sized(dt_params *params, const char *path, DT_OPTIONS(dt_params_npz_options));
DT_API dt_status dt_params_load_npz_sized(dt_params *params, const char *path, DT_OPTIONS(dt_params_npz_options));

#ifndef __cplusplus
/* clang-format off */
#define dt_save(...) DT_SAVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_SAVE_(params, folder, step, ...) \
    dt_save_sized(params, folder, step, DT_CHECKED(dt_save_options, __VA_ARGS__))
#define dt_saving_wait(...) dt_saving_wait_site(__VA_ARGS__, DT_SITE)
#define dt_load(...) DT_LOAD_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOAD_(params, folder, ...) dt_load_sized(params, folder, DT_CHECKED(dt_load_options, __VA_ARGS__))
#define dt_params_save_npz(...) DT_PARAMS_SAVE_NPZ_(__VA_ARGS__, .site = DT_SITE)
#define DT_PARAMS_SAVE_NPZ_(params, path, ...) \
    dt_params_save_npz_sized(params, path, DT_CHECKED(dt_params_npz_options, __VA_ARGS__))
#define dt_params_load_npz(...) DT_PARAMS_LOAD_NPZ_(__VA_ARGS__, .site = DT_SITE)
#define DT_PARAMS_LOAD_NPZ_(params, path, ...) \
    dt_params_load_npz_sized(params, path, DT_CHECKED(dt_params_npz_options, __VA_ARGS__))
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
