# SPDX-License-Identifier: Apache-2.0
"""Every public function that takes a tensor, layout, mesh, spec, group, generator, operation, transfer, optimizer, list of parameters, schedule or reader of batches recognizes a freed one.

The functions are those of the headers, so that a new one is tested by being declared. For each parameter that can be an
object, alone, in a list or in options, a program calls the function with a freed one there and with live ones elsewhere.
The call must record DT_ERR_STATE with a text that names the call, the line that made the object and the line that freed
it. The program runs on 1 and on 3 ranks, twice, so that the second call finds the decision of the first in the cache.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import headers
import tree

BUILD = pathlib.Path(os.environ["DTENSOR_BUILD"])

# Return the context of a freed object, so that its error can be read.
EXEMPT = {"dt_tensor_ctx", "dt_mesh_ctx", "dt_layout_ctx", "dt_spec_ctx", "dt_group_ctx", "dt_generator_ctx"}

# How an object of each kind is made and freed, and the verb in the error.
KINDS = {
    "tensor": ("dt_randn(ctx, DT_SHAPE(3, 3), .mesh = mesh, .place = \"S(0)\")", "dt_drop(object)", "dropped"),
    "layout": ("dt_layout_parse(ctx, \"(2,3)\")", "dt_layout_release(object)", "released"),
    "mesh": ("dt_mesh_from_shape(ctx, &world, 1, &(dt_mesh_options){.names = \"x\"})", "dt_mesh_release(object)",
             "released"),
    "spec": ("dt_spec_new(mesh, &(dt_spec_desc){.n_dims = 1, .shape = (int64_t[]){7}, .text = \"S(0)\"})",
             "dt_spec_release(object)", "released"),
    "group": ("dt_group_new(ctx, (int64_t[]){dt_rank(ctx)}, 1)", "dt_group_release(object)", "released"),
    "generator": ("dt_generator_new(ctx, 7)", "dt_generator_release(object)", "released"),
    "work": ("dt_comm_start(group, &(dt_comm_call){.op = DT_BARRIER})", "(void)dt_work_wait(object)",
             "waited for"),
    "transfer": ("dt_redistribute_start(tensor, \"R\")", "dt_drop(dt_transfer_wait(object))", "waited for"),
    "optimizer": ("dt_sgd_new(ctx, 0.1)", "dt_optimizer_free(object)", "freed"),
    "params": ("dt_params_new(ctx)", "dt_params_free(object)", "freed"),
    "schedule": ("dt_schedule_new(ctx, \"0F0,0B0\")", "dt_schedule_free(object)", "freed"),
    "batches": ("new_batches(DT_SITE)", "dt_batches_free(object)", "freed"),
    "rest": ("new_rest(DT_SITE)", "(void)dt_backward_rest(object)", "freed by dt_backward_rest"),
}

# Live arguments by type; a type that is not here fails the test.
LIVE = {
    "dt_ctx *": "ctx", "dt_tensor *": "tensor", "dt_mesh *": "mesh", "dt_layout *": "layout", "dt_tuple *": "&(dt_tuple){0}", "bool *": "&yes",
    "dt_spec *": "spec", "dt_group *": "group",
    "dt_generator *": "generator", "dt_optimizer *": "dt_sgd_new(ctx, 0.1)", "dt_params *": "dt_params_new(ctx)", "int": "0", "int64_t": "1", "uint64_t": "1", "size_t": "sizeof text",
    "double": "0.5", "bool": "false", "dt_dtype": "DT_F32", "dt_reduce": "DT_SUM", "char *": "text",
    "int64_t *": "numbers", "int *": "dims", "void *": "numbers", "dt_shape": "DT_SHAPE(3)", "dt_dims": "DT_DIMS(0)",
    "dt_number": "dt_number_int(1)", "dt_ints": "((dt_ints){1, (int64_t[]){1}})", "dt_reals": "((dt_reals){1, (double[]){1}})", "dt_generator_state": "((dt_generator_state){0})", "dt_run *": "runs",
    "dt_tensors": "((dt_tensors){1, &tensor})", "dt_local *": "&local", "dt_op_argument *": "&(dt_op_argument){.tensor = tensor}",
    "dt_tensor * *": "&tensor", "dt_mesh * *": "&mesh", "char * *": "(const char *const[]){\"a\"}",
    "dt_comm_call *": "&(dt_comm_call){.op = DT_BARRIER}", "dt_spec_desc *": "&(dt_spec_desc){0}",
    "dt_schedule *": "dt_schedule_new(ctx, \"0F0,0B0\")", "dt_stage_times *": "NULL", "dt_action *": "&(dt_action){0}", "double *": "NULL",
    "dt_batches *": "new_batches(DT_SITE)", "dt_local_mapping *": "&mapping", "dt_opt_int": "((dt_opt_int){0})",
}
# Arguments of single parameters, if their type has several uses.
NAMED = {("dt_op_run", "name"): "\"relu\"", ("dt_op_run_tensors", "name"): "\"relu\"",
         ("dt_explain_tensors", "call"): "\"relu\"", ("dt_generator_child_site", "name"): "\"a\"",
         ("dt_save_npy_site", "path"): "\"/nonexistent/x.npy\"", ("dt_save_npz_site", "path"): "\"/nonexistent/x.npz\"",
         ("dt_redistribute_sized", "place"): "\"R\"", ("dt_redistribute_start_sized", "place"): "\"R\"",
         ("dt_distribute_tensor_sized", "place"): "\"R\"", ("dt_from_local_sized", "place"): "\"R\"",
         ("dt_op_run", "outputs"): "outputs", ("dt_local_map_sized", "outputs"): "outputs",
         ("dt_mesh_from_groups_sized", "groups"): "NULL", ("dt_load_npy_sized", "path"): "\"/nonexistent/x.npy\"",
         ("dt_load_npz_sized", "path"): "\"/nonexistent/x.npz\"", ("dt_gradients_sized", "grads"): "outputs",
         ("dt_redistribute_list_sized", "places"): "(const char *const[]){\"R\", \"R\"}",
         ("dt_redistribute_list_sized", "results"): "outputs",
         ("dt_checkpoint_site", "run"): "NULL", ("dt_checkpoint_owner_site", "run"): "NULL", ("dt_checkpoint_owner_site", "end"): "NULL",
         ("dt_grad_hook_add_owner_site", "hook"): "NULL", ("dt_grad_hook_add_owner_site", "end"): "NULL",
         ("dt_pipeline_run_sized", "run"): "run_stage", ("dt_pipeline_mesh_site", "stage"): "0", ("dt_gradients_sized", "outputs"): "((dt_tensors){1, &grown})",
         ("dt_at_site", "index"): "\"?\"", ("dt_set_at_site", "index"): "\"?\"", ("dt_grad_hook_add_site", "hook"): "NULL",
         ("dt_batches_open_sized", "path"): "\"/nonexistent/x.npy\"", ("dt_param_sized", "name"): "\"w\"",
         ("dt_curve_save_svg_sized", "path"): "\"/nonexistent/x.svg\""}
# Lists: the parameter, with a freed tensor or mesh in it.
LISTS = {"dt_tensors": ("tensor", "((dt_tensors){2, (dt_tensor *[]){tensor, freed}})", 2),
         "dt_tensor * *": ("tensor", "(dt_tensor *[]){freed}", 1),
         "dt_mesh * *": ("mesh", "(dt_mesh *[]){freed}", 1),
         "dt_op_argument *": ("tensor", "&(dt_op_argument){.tensor = freed}", 1)}
COUNTS = {"n", "n_tensors", "n_meshes", "n_arguments"}
# Members that the function does not use.
UNUSED = {("dt_%s_sized" % name, "mesh") for name in (
    "rand_like randn_like randint_like bernoulli_like dropout_mask_like uniform_in_place normal_in_place "
    "truncated_normal_in_place exponential_in_place randint_in_place bernoulli_in_place").split()}

BEGIN = """#include <dtensor/dtensor.h>
#include <stdio.h>
#include <string.h>
static int n_wrong;
static void check(dt_ctx *ctx, const char *call, int made, int freed, const char *verb) {
    char sites[200];
    snprintf(sites, sizeof sites, "made at %s:%d was %s at %s:%d", __FILE__, made, verb, __FILE__, freed);
    if (dt_error_status(ctx) != DT_ERR_STATE || !strstr(dt_error_text(ctx), sites)) {
        printf("%s: expected %s, got %s: %s\\n", call, sites, dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
        n_wrong++;
    } else if (strncmp(dt_error_text(ctx), call, strlen(call)) || dt_error_text(ctx)[strlen(call)] != ':') {
        printf("%s: the text does not begin with the call: %s\\n", call, dt_error_text(ctx));
        n_wrong++;
    }
    if (dt_failed(ctx))
        (void)dt_error_clear(ctx);
}
static dt_status copy_local(dt_ctx *ctx, dt_tensor *const *in, dt_tensor **out, void *user) {
    (void)ctx, (void)user;
    out[0] = in[0];
    return DT_OK;
}
static dt_ctx *ctx;
static int64_t world, numbers[64];
static int dims[64];
static char text[64] = "x";
static dt_run runs[4];
static dt_local local;
static bool yes;
static dt_layout *layout;
static dt_mesh *mesh;
static dt_tensor *tensor, *grown, *outputs[64]; /* grown requires a gradient */
static dt_spec *spec;
static dt_group *group;
static dt_generator *generator;
static dt_tensor *run_stage(int64_t stage, int64_t micro, dt_tensor *x, void *user) {
    (void)stage, (void)micro, (void)user;
    return x;
}
/* What is left of x * x after the gradient of neither. */
static dt_rest *new_rest(const dt_site *site) {
    dt_rest *rest = NULL;
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true), *grad;
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true), *y = dt_sum(dt_mul(x, w));
    const dt_gradients_options options = {.rest = &rest, .site = site};
    (void)dt_gradients_sized((dt_tensors){1, &y}, (dt_tensors){1, &x}, &grad, &options, sizeof options);
    return rest;
}
/* Of a file next to the source of this program. */
static dt_batches *new_batches(const dt_site *site) {
    const dt_batches_open_options options = {.site = site};
    (void)dt_save_npy(dt_ones(ctx, DT_SHAPE(3)), __FILE__ ".npy");
    return dt_batches_open_sized(ctx, __FILE__ ".npy", 2, &options, sizeof options);
}
static const dt_local_mapping mapping = {.run = copy_local, .n_inputs = 1, .inputs = &tensor, .n_outputs = 1};
"""
END = """int main(void) {
    ctx = dt_init(NULL);
    world = dt_world(ctx);
    layout = dt_layout_parse(ctx, "6");
    mesh = dt_mesh_from_shape(ctx, &world, 1, &(dt_mesh_options){.names = "x"});
    tensor = dt_ones(ctx, DT_SHAPE(3, 3), .mesh = mesh, .place = "S(0)");
    grown = dt_sum(dt_ones(ctx, DT_SHAPE(3), .requires_grad = true));
    spec = dt_tensor_spec(tensor);
    group = dt_group_world(ctx);
    generator = dt_generator_new(ctx, 3);
    if (dt_failed(ctx))
        return dt_report(ctx);
    for (int round = 0; round < 2; round++) {
%s    }
    return dt_close(ctx) | (n_wrong > 0);
}
"""


def declarations():
    """(name, parameters) of each public function; a parameter is (type without const, name)."""
    for header in headers.public_headers():
        text = re.sub(r"/\*.*?\*/", "", (tree.ROOT / header).read_text(), flags=re.S)
        for name, parameters in re.findall(r"^DT_API [^;(]*?\b(dt_\w+)\(([^;]*)\);", text, re.M):
            parameters = re.sub(r"DT_OPTIONS\((\w+)\)", r"const \1 *options, size_t options_size", parameters)
            parameters = parameters.replace("DT_CALLER", "const dt_site *site")
            found = []
            for parameter in re.split(r",(?![^(]*\))", " ".join(parameters.split())):
                kind, _, its_name = parameter.strip().rpartition(" ")
                stars = its_name.count("*") + its_name.count("[")
                kind = re.sub(r"\bconst\b", " ", kind)
                kind = " ".join(kind.replace("*", " * ").split() + ["*"] * stars)
                found.append((kind, re.sub(r"[*\[].*$", "", its_name.lstrip("*"))))
            yield name, found


def option_members():
    """The members of options that are objects or lists of tensors: {struct: {member: (kind, value with one that is freed)}}."""
    found = {}
    for header in headers.public_headers():
        text = re.sub(r"/\*.*?\*/", "", (tree.ROOT / header).read_text(), flags=re.S)
        for struct, body in re.findall(r"typedef struct (dt_\w+_options) \{(.*?)\n\} \1;", text, re.S):
            for kind, member in re.findall(r"^\s*(?:DT_OPTION\()?(?:const )?(dt_\w+(?: \*(?:\s*const \*)?)?),?\s*(\w+)\)?;", body, re.M):
                kind = kind.replace("const", "").replace(" ", "")
                if kind == "dt_tensors":
                    found.setdefault(struct, {})[member] = "tensor", "{1, (dt_tensor *[]){freed}}"
                elif kind == "dt_tensor**":
                    found.setdefault(struct, {})[member] = "tensor", "(dt_tensor *[]){freed}"
                elif kind.endswith("*") and kind[len("dt_"):-1] in KINDS:
                    found.setdefault(struct, {})[member] = kind[len("dt_"):-1], "freed"
    return found


MEMBERS = option_members()


def argument(function, kind, name):
    if (function, name) in NAMED:
        return NAMED[function, name]
    if kind == "dt_site *":
        return "&(dt_site){\"here.c\", 1}"
    if kind == "size_t" and name.endswith("_size"):
        return None
    if name == "options":
        return f"&({kind[:-2]}){{0}}"
    if name in COUNTS:
        return "1"
    return LIVE.get(kind)


def sizes(parameters, arguments):
    """Fills in the sizes of structs."""
    for i, (kind, name) in enumerate(parameters):
        if kind == "size_t" and name.endswith("_size"):
            struct = next(its_kind for its_kind, its_name in parameters if its_name == name[:-len("_size")])
            arguments[i] = f"sizeof({struct[:-2]})"
    return arguments


def uses(function, parameters):
    """(kind, arguments) of each way to pass a freed object."""
    live = sizes(parameters, [argument(function, kind, name) for kind, name in parameters])
    for i, (kind, name) in enumerate(parameters):
        def passing(value, index=i):
            return live[:index] + [value] + live[index + 1:]
        match = re.fullmatch(r"dt_(\w+) \*", kind)
        if match and match[1] in KINDS:
            yield match[1], passing("freed")
        if kind in LISTS and name not in ("out", "outputs", "grads", "results"):
            object_kind, value, count = LISTS[kind]
            yield object_kind, [str(count) if its_name in COUNTS else a for (_, its_name), a in zip(parameters, passing(value))]
        for member, (object_kind, value) in MEMBERS.get(kind[:-2], {}).items():
            if (function, member) not in UNUSED:
                yield object_kind, passing(f"&({kind[:-2]}){{.{member} = {value}}}")
        if kind == "dt_local_mapping *":
            begin = "&(dt_local_mapping){.run = copy_local, .n_inputs = 1, .n_outputs = 1, "
            yield "mesh", passing(begin + ".inputs = &tensor, .mesh = freed}")
            yield "tensor", passing(begin + ".inputs = &freed}")


def public_name(function, parameters):
    """The name of the call in errors: of an op, the name in its schema line."""
    source = (pathlib.Path(os.environ["DTENSOR_BUILD"]) / "src/ops/op_functions.c").read_text()
    found = re.search(rf"\b{function}\(.*?DT__OP_(\w+)", source, re.S)
    if found:
        return found[1]
    if function in ("dt_op_run", "dt_op_run_tensors"):
        return "relu"
    if function == "dt_explain_tensors":
        return "explain"
    return re.sub(r"_in_place$", "_", re.sub(r"_(site|sized)$", "", function)[len("dt_"):])


def program():
    functions, calls, unknown, n = [], "", [], 0
    for function, parameters in declarations():
        for kind, arguments in uses(function, parameters):
            if function in EXEMPT:
                continue
            missing = [name for (_, name), value in zip(parameters, arguments) if value is None]
            if missing:
                unknown.append(f"{function}: this test has no argument for {', '.join(missing)}")
                continue
            make, free, verb = KINDS[kind]
            functions.append(f"""static void use_{n}(void) {{
    int made = __LINE__; dt_{kind} *object = {make};
    int done = __LINE__; dt_{kind} *freed = object; {free};
    if (dt_failed(ctx)) return;
    (void){function}({', '.join(arguments)});
    check(ctx, "{public_name(function, parameters)}", made, done, "{verb}");
}}
""")
            calls += f"        use_{n}();\n"
            n += 1
    return BEGIN + "".join(functions) + END % calls, n, unknown


def complaints_of(text, launchers=((),)):
    """Compiles a program and runs it by each of these launchers; the lines that it prints, and of failures."""
    with tempfile.TemporaryDirectory() as folder:
        source, executable = f"{folder}/uses.c", f"{folder}/uses"
        pathlib.Path(source).write_text(text)
        built = subprocess.run(["cc", "-std=gnu11", "-w", f"-I{tree.ROOT}/include", source, "-o", executable,
                                f"-L{BUILD}/lib", "-ldtensor", f"-Wl,-rpath,{BUILD}/lib"], cwd=folder, capture_output=True, text=True)
        if built.returncode:
            return built.stderr.splitlines()[:20] or ["the program does not compile"]
        wrong = []
        for launcher in launchers:
            run = subprocess.run([*launcher, executable], capture_output=True, text=True, timeout=600)
            wrong += run.stdout.splitlines()
            if run.returncode:
                wrong.append(f"{' '.join([*launcher, 'uses'])}: exit {run.returncode}: {run.stderr}")
        return wrong


ALONE_AND_ON_RANKS = ((), (f"{BUILD}/bin/dtrun", "-n", "3"))


def main():
    text, n, wrong = program()
    for expected in ("dt_matmul_sized", "dt_mesh_slice_site", "dt_spec_text", "dt_comm_run_sized", "dt_generator_save",
                     "dt_work_wait_site", "dt_transfer_test_site", "dt_save_npz_site", "dt_local_map_sized"):
        if f"(void){expected}(" not in text:
            wrong.append(f"{expected} is missing: this test does not find what it checks")
    wrong += complaints_of(text, ALONE_AND_ON_RANKS)
    print("\n".join(wrong) or f"{n} uses of freed objects are recognized")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(program()[0])
        sys.exit(0)
    sys.exit(main())
