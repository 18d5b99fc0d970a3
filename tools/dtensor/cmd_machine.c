/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor machine`: checks a machine model, measured or written by hand, and prints it in words.
 */
#include "arguments.h"
#include "json.h"
#include "table.h"

#include "base/machine.h"

#include <inttypes.h>

static dt_status print_links(session *self, const dt__machine *machine) {
    table rows = table_new(self->arena, 4);
    const struct {
        const char *name;
        const dt__link *link;
    } links[] = {{"within a host", &machine->within}, {"between hosts", &machine->between}};
    for (int i = 0; i < 2; i++) {
        const dt__link *link = links[i].link;
        const char *cells[] = {links[i].name, label_format(self->arena, "%g us to start", link->start_us),
                               label_format(self->arena, "%g us per peer", link->peer_us),
                               label_format(self->arena, "%.3g GB/s", link->bytes_per_us * 1e-3)};
        DT__TRY(table_add(&rows, cells));
    }
    dt__text_add(self->out, "links\n");
    table_print(&rows, self->out);
    return DT_OK;
}

/* What single ops do per microsecond, as the file counts it: flops or bytes. */
static dt_status print_op_rates(session *self, const dt__machine *machine) {
    table rows = table_new(self->arena, 4);
    for (int i = 0; i < machine->n_op_rates; i++) {
        const dt__op_rate *rate = &machine->op_rates[i];
        const char *cells[] = {rate->name, dt_dtype_name(rate->dtype),
                               label_format(self->arena, "size %.3g", rate->size),
                               label_format(self->arena, "%.3g per us", rate->per_us)};
        if (rate->kind == DT__RATE_OP)
            DT__TRY(table_add(&rows, cells));
    }
    if (rows.n_rows)
        dt__text_add(self->out, "\nops with rates of their own, in flops or bytes\n");
    table_print(&rows, self->out);
    return DT_OK;
}

static dt_status print_rates(session *self, const dt__machine *machine) {
    table rows = table_new(self->arena, 3);
    for (int i = 0; i < machine->n_op_rates; i++) {
        const dt__op_rate *rate = &machine->op_rates[i];
        bool multiplies = rate->kind == DT__RATE_MULTIPLY;
        const char *dtype = dt_dtype_name(rate->dtype);
        if (rate->kind == DT__RATE_OP)
            continue;
        const char *cells[] = {multiplies ? label_format(self->arena, "products of %s", dtype) : "elementwise",
                               multiplies ? label_format(self->arena, "%.3g flops", rate->size)
                                          : label_bytes((int64_t)rate->size, self->arena),
                               multiplies ? label_format(self->arena, "%.3g Gflop/s", rate->per_us * 1e-3)
                                          : label_format(self->arena, "%.3g GB/s", rate->per_us * 1e-3)};
        DT__TRY(table_add(&rows, cells));
    }
    if (!machine->n_op_rates) {
        dt__text_add(self->out,
                     "\nno rates of ops: estimates have no times; dtensor calibrate --ops measures them\n");
        return DT_OK;
    }
    dt__text_add(self->out, "\na rank computes (a call takes %g us to start)\n", machine->op_start_us);
    table_print(&rows, self->out);
    return print_op_rates(self, machine);
}

static dt_status print_text(session *self, const dt__machine *machine) {
    if (machine->node_cores)
        dt__text_add(self->out, "%" PRId64 " cores per node\n", machine->node_cores);
    if (machine->node_memory) {
        const char *memory = label_bytes(machine->node_memory, self->arena);
        dt__text_add(self->out, "%s of memory per node\n", memory ? memory : "");
    }
    if (machine->ranks_per_host)
        dt__text_add(self->out, "%" PRId64 " ranks per host\n", machine->ranks_per_host);
    else
        dt__text_add(self->out, "all ranks on one host\n");
    DT__TRY(print_links(self, machine));
    dt__text_add(self->out, "copies: %.3g GB/s; %d measured steps\n", machine->copy_bytes_per_us * 1e-3,
                 machine->n_measured);
    return print_rates(self, machine);
}

static json_t *link_json(const dt__link *link) {
    return json_pack("{s:f, s:f, s:f}", "start_us", link->start_us, "peer_us", link->peer_us, "bytes_per_us",
                     link->bytes_per_us);
}

static dt_status print_json(session *self, const dt__machine *machine) {
    json_t *rates = json_array();
    for (int i = 0; i < machine->n_op_rates; i++) {
        const dt__op_rate *rate = &machine->op_rates[i];
        json_append(&rates, json_pack("{s:s, s:s, s:f, s:f}", "kind", dt__rate_text(rate), "dtype",
                                      dt_dtype_name(rate->dtype), "size", rate->size, "per_us", rate->per_us));
    }
    json_t *answer =
        json_pack("{s:I, s:I, s:I, s:o, s:o, s:f, s:i, s:f, s:o?}", "ranks_per_host",
                  (json_int_t)machine->ranks_per_host, "cores", (json_int_t)machine->node_cores, "memory_bytes",
                  (json_int_t)machine->node_memory, "within", link_json(&machine->within), "between",
                  link_json(&machine->between), "copy_bytes_per_us", machine->copy_bytes_per_us, "measured",
                  machine->n_measured, "op_start_us", machine->op_start_us, "rates", rates);
    return json_write_line(self->ctx, answer, self->out);
}

static dt_status run_session(session *self, void *user) {
    static dt__machine machine;
    char error[DT__MACHINE_ERROR_BYTES];
    (void)user;
    if (!dt__machine_read(self->args->words[0], &machine, error, sizeof error))
        return dt__fail(self->ctx, DT_ERR_VALUE, "%s", error);
    return args_has(self->args, "json") ? print_json(self, &machine) : print_text(self, &machine);
}

static int run_machine(const arguments *args) { return session_run(args, 0, run_session, NULL); }

const command machine_command = {
    .name = "machine",
    .summary = "check a machine model and print it",
    .synopsis = "[OPTIONS] FILE",
    .about = "Checks a machine model that dtensor calibrate wrote, or one that was written by hand, and prints its "
             "links,\n"
             "rates, cores and memory. The form of the file is in dtensor-machine(1).",
    .options =
        (const command_option[]){
            {.name = "json", .help = "print a JSON object"},
            {0},
        },
    .examples = "  dtensor machine machine.txt\n  dtensor machine --json machine.txt",
    .min_words = 1,
    .max_words = 1,
    .operand = "a file",
    .run = run_machine,
};
