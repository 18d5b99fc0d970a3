# SPDX-License-Identifier: Apache-2.0
"""While a context holds an error, every public function that makes or changes something does nothing.

The functions are those of the headers, so that a new one is tested by being declared: it makes or changes something if it
returns a status, an object or several of them, unless it is listed below. A program calls each in a context that holds
an error. The result must be NULL (or -1 for a number of tensors, or the status of the error), the log must have the line of
a refused call, whatever else may be wrong with the arguments, and nothing may have changed: neither values, gradients,
generators and optimizers, nor the first error, nor the memory in use.
"""
import re
import sys

import test_freed_objects as calls
import tree

# Return what exists already.
QUERIES = """dt_layout_retain dt_mesh_retain dt_spec_retain dt_tensor_retain dt_generator_retain dt_keep dt_mesh_root
dt_mesh_current dt_spec_mesh dt_tensor_spec dt_tensor_mesh dt_tensor_use dt_data dt_tensor_ctx dt_mesh_ctx dt_layout_ctx dt_spec_ctx dt_generator_ctx dt_grad
dt_optimizer_state_site dt_error_status dt_close_site dt_report dt_threads dt_tensor_n_dims dt_tensor_local_n_dims
dt_mesh_n_dims dt_mesh_dim dt_mesh_root_dim dt_spec_n_dims dt_spec_cut_order dt_print_sized dt_format_sized dt_layout_is_injective_site dt_schedule_timeline_site dt_schedule_simulate_site dt_schedule_simulate_stages_site
 dt_params_n dt_params_tensor dt_scope_newest""".split()
# Free something, finish what was started before, or belong to the error itself.
ENDS = """dt_error_clear_site dt_error_set_site dt_transfer_test_site
dt_use_release_site dt_grad_hook_remove_site dt_trace_end_site""".split()
# Begin or end a scope, or set what holds until its end; refusing one of a pair would unbalance them.
SCOPES = """dt_mesh_scope_begin_site dt_mesh_scope_end_site dt_apart_end_site dt_as_stored_end_site dt_no_grad_end_site
dt_comm_scope_begin_site dt_comm_stats_begin_site dt_comm_policy_site dt_params_begin_site dt_params_end_site""".split()
WORK = set(QUERIES + ENDS + SCOPES)
# The layer below tensors: survivors of a failure continue in other groups, also where no rank can clear the error.
BELOW = "include/dtensor/comm.h"
# Return a number and change something all the same.
ACTS = {"dt_grad_hook_add_site", "dt_grad_hook_add_owner_site"}

OBJECTS = re.compile(r"dt_(ctx|tensor|mesh|layout|spec|group|generator|work|transfer|optimizer|params|rest|schedule|batches|tensors|op_argument)\b")
ARGUMENTS = {"dt_transfer *": "transfer", "dt_rest *": "rest", "dt_optimizer *": "optimizer", "dt_params *": "params", "dt_batches *": "batches", "dt_schedule *": "schedule",
             "dt_dlpack_managed *": "NULL",
             "dt_dlpack_versioned *": "NULL", "dt_mesh_grid *": "NULL", "dt_op *": "&(dt_op){0}", "dt_placement *": "NULL",
             "dt_free_fn *": "NULL"}
ERROR = "DT_ERR_MESH"

BEGIN = calls.BEGIN[:calls.BEGIN.index("static int n_wrong;")] + """#include <stdlib.h>
#include <unistd.h>
static int n_wrong, n_refused;
static void log_line(void *user, dt_log_level level, const char *line) {
    (void)user, (void)level;
    n_refused += strstr(line, "refused: the context has an error (mesh)") != NULL;
}
static dt_status copy_local(dt_ctx *ctx, dt_tensor *const *in, dt_tensor **out, void *user) {
    (void)ctx, (void)user;
    out[0] = in[0];
    return DT_OK;
}
""" + calls.BEGIN[calls.BEGIN.index("static dt_ctx *ctx;"):] + """static dt_tensor *leaf;
static dt_optimizer *optimizer;
static dt_params *params;
static dt_batches *batches;
static dt_schedule *schedule;
/* What must not change, as a hash. */
static uint64_t add(uint64_t hash, const void *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}
static uint64_t snapshot(void) {
    uint64_t hash = 1;
    const dt_tensor *all[] = {tensor, leaf, dt_grad(leaf)};
    for (int i = 0; i < 3; i++) {
        size_t n = (size_t)dt_tensor_local_elements(all[i]) * dt_dtype_size(dt_tensor_dtype(all[i]));
        bool grad = dt_requires_grad(all[i]);
        const dt_spec *use = dt_tensor_use(all[i]);
        hash = add(add(add(hash, dt_data(all[i]), n), &grad, sizeof grad), &use, sizeof use);
    }
    const dt_generator_state drawn = dt_generator_save(generator);
    const dt_heap_statistics heap = dt_heap_stats(ctx);
    const double lr = dt_optimizer_lr(optimizer);
    const int64_t n_steps = dt_optimizer_n_steps(optimizer, leaf), position = dt_batches_position(batches);
    hash = add(add(hash, &drawn.seed, sizeof drawn.seed), &heap.live_bytes, sizeof heap.live_bytes);
    hash = add(add(add(hash, &lr, sizeof lr), &n_steps, sizeof n_steps), &position, sizeof position);
    hash = add(hash, numbers, sizeof numbers);
    return add(hash, dt_error_text(ctx), strlen(dt_error_text(ctx)));
}
static void check(const char *call, bool failed, uint64_t before) {
    if (!failed || n_refused != 1 || snapshot() != before) {
        printf("%s: %s, %d refusals logged, %s\\n", call, failed ? "failed" : "did not fail", n_refused,
               snapshot() == before ? "nothing changed" : "something changed");
        n_wrong++;
    }
    if (dt_error_status(ctx) != %s) {
        printf("%s: the first error was replaced: %s\\n", call, dt_error_text(ctx));
        n_wrong++;
    }
}
""".replace("%s)", ERROR + ")", 1)
END = """int main(void) {
    ctx = dt_init(&(dt_init_options){.log = log_line, .log_level = DT_LOG_INFO});
    world = dt_world(ctx);
    mesh = dt_mesh_from_shape(ctx, &world, 1, &(dt_mesh_options){.names = "x"});
    tensor = dt_ones(ctx, DT_SHAPE(3, 3), .mesh = mesh, .place = "S(0)");
    leaf = dt_ones(ctx, DT_SHAPE(3, 3), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    grown = dt_sum(leaf);
    spec = dt_tensor_spec(tensor);
    layout = dt_layout_parse(ctx, "6");
    group = dt_group_world(ctx);
    generator = dt_generator_new(ctx, 3);
    optimizer = dt_sgd_new(ctx, 0.1);
    params = dt_params_new(ctx, .mesh = mesh);
    batches = new_batches(DT_SITE);
    schedule = dt_schedule_new(ctx, "0F0,0B0");
    dt_backward(dt_sum(leaf));
    if (dt_failed(ctx))
        return dt_report(ctx);
%s    return dt_close(ctx) | (n_wrong > 0);
}
"""


def results():
    """The type that each public function returns, but for those of the layer below tensors."""
    found = {}
    for header in calls.headers.public_headers():
        if str(header) == BELOW:
            continue
        text = re.sub(r"/\*.*?\*/", "", (tree.ROOT / header).read_text(), flags=re.S)
        for kind, name in re.findall(r"^DT_API ([^;(]*?)\b(dt_\w+)\(", text, re.M):
            found[name] = " ".join(kind.replace("*", " * ").split())
    return found


def acts(function, kind):
    """Whether a function that returns this makes or changes something."""
    if function in WORK:
        return False
    made = kind.endswith("_result") or kind.endswith("*") and not kind.startswith("const ")
    return function in ACTS or made or kind in ("dt_status", "int")


def argument(function, kind, name):
    if kind in ARGUMENTS:
        return ARGUMENTS[kind]
    if name in ("out", "outputs", "grads", "results") and kind == "dt_tensor * *":
        return "outputs"
    return calls.argument(function, kind, name)


def expectation(kind):
    """That the result means failure."""
    if kind == "dt_status":
        return f"result == {ERROR}"
    if kind == "int":
        return "result == -1"
    return "!memcmp(&result, &none, sizeof result)"


def program():
    functions, called, unknown, kinds = [], "", [], results()
    for function, parameters in calls.declarations():
        if function not in kinds or not acts(function, kinds[function]) or not any(OBJECTS.match(kind) for kind, _ in parameters):
            continue
        arguments = calls.sizes(parameters, [argument(function, kind, name) for kind, name in parameters])
        missing = [name for (_, name), value in zip(parameters, arguments) if value is None]
        if missing:
            unknown.append(f"{function}: this test has no argument for {', '.join(missing)}")
            continue
        call = f"{function}({', '.join(arguments)})"
        before = ""
        if "transfer" in arguments:
            before = "    dt_transfer *transfer = dt_redistribute_start(tensor, \"R\");\n"
        if "rest" in arguments:
            before = """    dt_rest *rest = NULL;
    dt_tensor *weight = dt_ones(ctx, DT_SHAPE(3, 3), .mesh = mesh, .requires_grad = true), *grad;
    (void)dt_gradients(((dt_tensors){1, (dt_tensor *[]){dt_sum(dt_mul(leaf, weight))}}),
                       ((dt_tensors){1, &leaf}), &grad, .rest = &rest);
"""
        before_call = "snapshot()" if "transfer" in arguments else "hash"  # the transfer is freed
        end = "    dt_rest_free(rest);\n" if "rest" in arguments else ""
        functions.append(f"""static void call_{function}(void) {{
    dt_scope scope = dt_scope_begin(ctx);
{before}    (void)dt_mesh_new(ctx, "this is no mesh");
    const uint64_t hash = snapshot();
    n_refused = 0;
    __typeof__({call}) result, none;
    memset(&none, 0, sizeof none);
    result = {call};
    check("{function}", {expectation(kinds[function])}, {before_call});
    (void)dt_error_clear(ctx);
{end}    dt_scope_end(scope);
}}
""")
        called += f"    call_{function}();\n"
    return BEGIN + "".join(functions) + END % called, len(functions), unknown


def main():
    text, n, wrong = program()
    for expected in ("dt_matmul_sized", "dt_add_in_place_sized", "dt_mesh_slice_site", "dt_save_npz_site",
                     "dt_transfer_wait_site", "dt_backward_rest_site", "dt_optimizer_step_sized",
                     "dt_max_dim_sized", "dt_split_sized", "dt_grad_hook_add_site"):
        if f"void call_{expected}(" not in text:
            wrong.append(f"{expected} is missing: this test does not find what it checks")
    wrong += [f"{name} is listed as working, but is not declared" for name in sorted(WORK - set(results()))]
    wrong += calls.complaints_of(text, calls.ALONE_AND_ON_RANKS)
    print("\n".join(wrong) or f"{n} functions refuse in a context that holds an error")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(program()[0])
        sys.exit(0)
    sys.exit(main())
