/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor checkpoint`: what is in a checkpoint, or in any safetensors file, and copies of it in another dtype, other
 * files or as .npz.
 */
#include "arguments.h"
#include "base/quantity.h"
#include "json.h"
#include "table.h"
#include "train/train.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t bytes_of(const dt__stored_tensor *tensor) { return tensor->end - tensor->begin; }

/* The name of the file of an entry. */
static const char *file_of(const dt__stored_checkpoint *checkpoint, int set, int i) {
    const char *name = checkpoint->sets[set].entries[i].file->file.entry;
    name = name ? name : checkpoint->set_paths[set];
    return strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
}

static void count(const dt__stored_checkpoint *checkpoint, int *n, int64_t *bytes, int *n_files) {
    *n = *n_files = 0;
    *bytes = 0;
    for (int s = 0; s < checkpoint->n_sets; s++) {
        *n += checkpoint->sets[s].n;
        *n_files += checkpoint->sets[s].n_files;
        for (int i = 0; i < checkpoint->sets[s].n; i++)
            *bytes += bytes_of(checkpoint->sets[s].entries[i].tensor);
    }
}

static dt_status print_text(session *self, const dt__stored_checkpoint *checkpoint) {
    table rows = table_new(self->arena, 5);
    int n, n_files;
    int64_t bytes;
    DT__TRY(table_add(&rows, (const char *const[]){"name", "dtype", "shape", "bytes", "file"}));
    for (int s = 0; s < checkpoint->n_sets; s++)
        for (int i = 0; i < checkpoint->sets[s].n; i++) {
            const dt__stored_entry *entry = &checkpoint->sets[s].entries[i];
            const dt__stored_tensor *tensor = entry->tensor;
            DT__TRY(table_add(&rows, (const char *const[]){tensor->name, tensor->dtype->name,
                                                           label_shape(tensor->shape, tensor->n_dims, self->arena),
                                                           label_format(self->arena, "%" PRId64, bytes_of(tensor)),
                                                           file_of(checkpoint, s, i)}));
        }
    dt__text_add(self->out, "%s\n", checkpoint->path);
    table_print(&rows, self->out);
    const dt__safetensors *first = checkpoint->sets[0].n_files ? &checkpoint->sets[0].files[0].header : NULL;
    for (int i = 0; first && i < first->n_texts; i++)
        dt__text_add(self->out, "%s%s=%s", i ? " " : "metadata: ", first->texts[i].key, first->texts[i].value);
    count(checkpoint, &n, &bytes, &n_files);
    dt__text_add(self->out, "%s%d tensor%s, %s in %d file%s\n", first && first->n_texts ? "\n" : "", n,
                 n == 1 ? "" : "s", label_bytes(bytes, self->arena), n_files, n_files == 1 ? "" : "s");
    return DT_OK;
}

static json_t *tensor_json(const dt__stored_entry *entry, const char *file) {
    const dt__stored_tensor *tensor = entry->tensor;
    json_t *shape = json_array();
    for (int d = 0; d < tensor->n_dims; d++)
        json_append(&shape, json_integer(tensor->shape[d]));
    return json_pack("{s:o, s:s, s:o, s:I, s:o}", "name", string_json(tensor->name), "dtype", tensor->dtype->name,
                     "shape", shape, "bytes", (json_int_t)bytes_of(tensor), "file", string_json(file));
}

static dt_status print_json(session *self, const dt__stored_checkpoint *checkpoint) {
    json_t *tensors = json_array(), *metadata = json_object();
    int n, n_files;
    int64_t bytes;
    for (int s = 0; s < checkpoint->n_sets; s++)
        for (int i = 0; i < checkpoint->sets[s].n; i++)
            json_append(&tensors, tensor_json(&checkpoint->sets[s].entries[i], file_of(checkpoint, s, i)));
    const dt__safetensors *first = checkpoint->sets[0].n_files ? &checkpoint->sets[0].files[0].header : NULL;
    for (int i = 0; first && i < first->n_texts; i++)
        json_object_set_new(metadata, first->texts[i].key, string_json(first->texts[i].value));
    count(checkpoint, &n, &bytes, &n_files);
    json_t *answer = json_pack("{s:o, s:o, s:i, s:I, s:o?}", "path", string_json(checkpoint->path), "metadata",
                               metadata, "files", n_files, "bytes", (json_int_t)bytes, "tensors", tensors);
    return json_write_line(self->ctx, answer, self->out);
}

/* Reads the options of a copy; DT_IN_PROGRESS: there is none. */
static dt_status read_conversion(const arguments *args, dt__conversion *out) {
    const char *dtype = args_value(args, "dtype"), *bytes = args_value(args, "file-bytes");
    size_t size = 0;
    *out = (dt__conversion){.npz = args_has(args, "npz")};
    if (!args_has(args, "convert")) {
        if (!dtype && !bytes && !out->npz)
            return DT_IN_PROGRESS;
        (void)args_misused(args->command, "--dtype, --file-bytes and --npz: expected --convert PATH, too");
        return DT_ERR_VALUE;
    }
    if (dtype && (!dt_dtype_parse(dtype, &out->dtype) ||
                  (out->dtype != DT_F64 && out->dtype != DT_F32 && out->dtype != DT_F16 && out->dtype != DT_BF16))) {
        (void)args_misused(args->command, "--dtype: expected f64, f32, f16 or bf16, got '%s'", dtype);
        return DT_ERR_VALUE;
    }
    if (bytes && !dt__size_parse(bytes, &size)) {
        (void)args_misused(args->command, "--file-bytes: expected a size such as 512M or 5G, got '%s'", bytes);
        return DT_ERR_VALUE;
    }
    if (bytes && out->npz) {
        (void)args_misused(args->command, "--npz: expected no --file-bytes: a .npz file is one file");
        return DT_ERR_VALUE;
    }
    out->file_bytes = (int64_t)size;
    return DT_OK;
}

static dt_status run_session(session *self, const dt__conversion *conversion) {
    dt__stored_checkpoint checkpoint;
    dt_status status = dt__stored_checkpoint_open(&checkpoint, self->ctx, self->args->words[0], self->arena);
    if (status == DT_OK && conversion)
        status =
            dt__stored_checkpoint_convert(&checkpoint, self->arena, conversion, args_value(self->args, "convert"));
    else if (status == DT_OK)
        status = args_has(self->args, "json") ? print_json(self, &checkpoint) : print_text(self, &checkpoint);
    dt__stored_checkpoint_close(&checkpoint);
    return status;
}

/* In a context with data, which a copy passes through. */
static int run_checkpoint(const arguments *args) {
    dt__conversion conversion;
    const dt_status converts = read_conversion(args, &conversion);
    if (converts != DT_OK && converts != DT_IN_PROGRESS)
        return EXIT_USAGE;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    if (!ctx)
        return EXIT_FAILED;
    dt__arena arena = dt__arena_new(ctx);
    dt__text out = dt__text_new(ctx);
    session self = {.args = args, .ctx = ctx, .arena = &arena, .out = &out};
    dt_status status = run_session(&self, converts == DT_OK ? &conversion : NULL);
    if (status == DT_OK)
        status = dt__text_status(&out);
    const int code = status == DT_OK ? EXIT_OK : args_failed(args->command, ctx);
    if (status == DT_OK)
        fputs(dt__text_chars(&out), stdout);
    else
        (void)dt_error_clear(ctx);
    dt__text_free(&out);
    dt__arena_free(&arena);
    return dt_close(ctx) == 0 ? code : EXIT_FAILED;
}

const command checkpoint_command = {
    .name = "checkpoint",
    .summary = "show what is in a checkpoint, or convert it",
    .synopsis = "[OPTIONS] PATH",
    .about =
        "Prints names, dtypes, shapes, bytes and metadata of a checkpoint that dt_save wrote, of the newest one of\n"
        "a run, of a folder as Hugging Face has them, or of one safetensors file. Headers are checked, data is not\n"
        "read. With --convert writes a copy, which appears under its path when it is complete.",
    .options =
        (const command_option[]){
            {.name = "json", .help = "print a JSON object"},
            {.name = "convert", .value = "TO", .help = "write a copy to this path, which must not exist"},
            {.name = "dtype", .value = "DTYPE", .help = "floats of the model in the copy: f64, f32, f16 or bf16"},
            {.name = "file-bytes", .value = "SIZE", .help = "tensors in a file of the copy: 5G; default: one file"},
            {.name = "npz", .help = "write one .npz file, for NumPy"},
            {0},
        },
    .examples = "  dtensor checkpoint run\n"
                "  dtensor checkpoint run/step-000600 --convert small --dtype bf16 --file-bytes 2G\n"
                "  dtensor checkpoint run/step-000600 --convert weights.npz --npz",
    .min_words = 1,
    .max_words = 1,
    .operand = "a folder or file",
    .run = run_checkpoint,
};
