# SPDX-License-Identifier: Apache-2.0
"""Every public function that takes several objects recognizes one of another context.

The functions are those of the headers, so that a new one is tested by being declared. For each parameter that can be an
object, alone, in a list or in options, a program with two contexts calls the function with an object of the second one
there and with those of the first one elsewhere. The call must record DT_ERR_STATE with a text that begins with its name,
in one of the two contexts, and must leave the other one without an error. Functions with one object only have nothing to
compare it with.
"""
import re
import sys

import test_freed_objects as calls

# Compare objects or write about them, or state another reason for which they do not have this one.
EXEMPT = {"dt_mesh_equal", "dt_spec_equal", "dt_layout_equal", "dt_tensor_shares", "dt_explain_tensors", "dt_optimizer_state_site",
          "dt_optimizer_n_steps", "dt_drop_newer_site", "dt_pipeline_output_site", "dt_pipeline_metric_site"}
calls.NAMED.update({("dt_load_npy_sized", "path"): "__FILE__ \".npy\"", ("dt_load_npz_sized", "path"): "__FILE__ \".npz\"",
                    ("dt_load_npz_sized", "name"): "\"a\""})

BEGIN = calls.BEGIN[:calls.BEGIN.index("static void check(")] + calls.BEGIN[calls.BEGIN.index("static dt_status copy_local"):] + """
/* The objects of the other context. */
static struct {
    dt_ctx *ctx;
    dt_layout *layout;
    dt_mesh *mesh;
    dt_tensor *tensor;
    dt_spec *spec;
    dt_group *group;
    dt_generator *generator;
    dt_tensor *grown;
} other;
#define SWAP(member)                      \\
    do {                                  \\
        void *own = member;               \\
        member = other.member;            \\
        other.member = own;               \\
    } while (0)
static void change_context(void) {
    SWAP(ctx);
    SWAP(layout);
    SWAP(mesh);
    SWAP(tensor);
    SWAP(spec);
    SWAP(group);
    SWAP(generator);
    SWAP(grown);
}
static void open_context(void) {
    ctx = dt_init(NULL);
    world = dt_world(ctx);
    layout = dt_layout_parse(ctx, "6");
    mesh = dt_mesh_from_shape(ctx, &world, 1, &(dt_mesh_options){.names = "x"});
    tensor = dt_ones(ctx, DT_SHAPE(3, 3), .mesh = mesh, .place = "S(0)");
    spec = dt_tensor_spec(tensor);
    group = dt_group_world(ctx);
    generator = dt_generator_new(ctx, 3);
    grown = dt_sum(dt_ones(ctx, DT_SHAPE(3), .requires_grad = true));
    dt_batches_free(new_batches(DT_SITE));
    (void)dt_save_npz(__FILE__ ".npz", 1, (const char *[]){"a"}, &tensor);
}
static void check(const char *call) {
    const dt_ctx *of = dt_failed(ctx) ? ctx : other.ctx;
    const char *error = dt_error_text(of);
    if (dt_error_status(of) != DT_ERR_STATE || !strstr(error, "belongs to another context") ||
        strncmp(error, call, strlen(call)) || error[strlen(call)] != ':' || (dt_failed(ctx) && dt_failed(other.ctx))) {
        printf("%s: expected an object of another context to be refused, got %s: %s\\n", call,
               dt_status_name(dt_error_status(of)), error);
        n_wrong++;
    }
    (void)dt_error_clear(ctx);
    (void)dt_error_clear(other.ctx);
}
"""
END = """int main(void) {
    open_context();
    change_context();
    open_context();
    if (dt_failed(ctx) || dt_failed(other.ctx))
        return dt_report(ctx) | dt_report(other.ctx);
%s    return dt_close(ctx) | dt_close(other.ctx) | (n_wrong > 0);
}
"""


def n_objects(parameters, arguments):
    """How many arguments of a call are objects or contexts, or contain some; lists that it fills do not count."""
    found = [value for (_, name), value in zip(parameters, arguments) if name not in ("out", "outputs", "grads", "results")]
    return sum(len(re.findall(r"\b(?:ctx|tensor|layout|mesh|spec|group|generator|grown|freed|new_batches|mapping)\b", value.replace("dt_tensor", "")))
               for value in found)


def program():
    functions, called, n = [], "", 0
    for function, parameters in calls.declarations():
        for kind, arguments in calls.uses(function, parameters):
            if function in EXEMPT or None in arguments or n_objects(parameters, arguments) < 2:
                continue
            functions.append(f"""static void use_{n}(void) {{
    change_context();
    dt_{kind} *object = {calls.KINDS[kind][0]}, *freed = object;
    change_context();
    (void){function}({', '.join(arguments)});
    check("{calls.public_name(function, parameters)}");
    {calls.KINDS[kind][1]};
}}
""")
            called += f"    use_{n}();\n"
            n += 1
    return BEGIN + "".join(functions) + END % called, n


def main():
    text, n = program()
    wrong = [f"{expected} is missing: this test does not find what it checks"
             for expected in ("dt_matmul_sized", "dt_cat_sized", "dt_local_map_sized", "dt_optimizer_step_sized")
             if f"(void){expected}(" not in text]
    wrong += calls.complaints_of(text)
    print("\n".join(wrong) or f"{n} uses of objects of another context are refused")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(program()[0])
        sys.exit(0)
    sys.exit(main())
