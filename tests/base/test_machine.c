/* SPDX-License-Identifier: Apache-2.0
 *
 * Machine models as files: what is written reads back with the same bits, and a malformed file is one error that names
 * the file, the line, what was expected and what was found.
 */
#include "support/check.h"

#include "base/machine.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/dtensor_machine_XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static void write_text(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void write_model(const dt__machine *machine) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(dt__machine_write(machine, file));
    assert_int_equal(fclose(file), 0);
}

static dt__machine read_back(void) {
    dt__machine machine;
    char error[DT__MACHINE_ERROR_BYTES] = "";
    if (!dt__machine_read(path, &machine, error, sizeof error))
        fail_msg("%s", error);
    return machine;
}

static void assert_same_link(const dt__link *a, const dt__link *b) { assert_memory_equal(a, b, sizeof *a); }

static void assert_same(const dt__machine *a, const dt__machine *b) {
    assert_int_equal(a->ranks_per_host, b->ranks_per_host);
    assert_same_link(&a->within, &b->within);
    assert_same_link(&a->between, &b->between);
    assert_memory_equal(&a->copy_bytes_per_us, &b->copy_bytes_per_us, sizeof(double));
    assert_int_equal(a->n_measured, b->n_measured);
    for (int i = 0; i < a->n_measured; i++) {
        const dt__measured_step *x = &a->measured[i], *y = &b->measured[i];
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->strided, y->strided);
        assert_int_equal(x->group, y->group);
        assert_int_equal(x->ranks, y->ranks);
        assert_memory_equal(&x->start_us, &y->start_us, sizeof(double));
        assert_memory_equal(&x->bytes_per_us, &y->bytes_per_us, sizeof(double));
        assert_memory_equal(&x->cache_bytes, &y->cache_bytes, sizeof(double));
        assert_memory_equal(&x->memory_bytes_per_us, &y->memory_bytes_per_us, sizeof(double));
    }
    assert_same_link(&a->min_within, &b->min_within);
    assert_same_link(&a->min_between, &b->min_between);
    assert_memory_equal(&a->min_copy_bytes_per_us, &b->min_copy_bytes_per_us, sizeof(double));
    assert_int_equal(a->fingerprint, b->fingerprint);
}

/* As many measured steps as fit, with numbers that need all their digits. */
static dt__machine full_model(void) {
    dt__machine machine = dt__machine_builtin;
    machine.ranks_per_host = 0;
    machine.within.start_us = 1.0 / 3;
    machine.between.bytes_per_us = 1e12;
    machine.copy_bytes_per_us = 12345.678901234567;
    for (int i = 0; i < DT__MACHINE_MAX_MEASURED; i++) {
        dt__step_kind kind = (dt__step_kind)(i % DT__N_STEP_KINDS);
        int64_t group = kind == DT__STEP_NONE ? 1 : 2 + i % 7;
        machine.measured[i] = (dt__measured_step){.kind = kind,
                                                  .strided = i % 3 == 0,
                                                  .group = group,
                                                  .ranks = 1000 - i,
                                                  .start_us = 0.1 * (double)i,
                                                  .bytes_per_us = 1 + exp((double)i / 17),
                                                  .cache_bytes = i % 2 ? 0 : 1 + exp((double)i / 13),
                                                  .memory_bytes_per_us = i % 2 ? 0 : 1.0 / (i + 3)};
    }
    machine.n_measured = DT__MACHINE_MAX_MEASURED;
    dt__machine_derive(&machine);
    return machine;
}

static void machine__reads_what_it_writes(void **state) {
    (void)state;
    dt__machine full = full_model(), builtin = dt__machine_builtin;
    write_model(&full);
    dt__machine again = read_back();
    assert_same(&full, &again);
    write_model(&builtin);
    again = read_back();
    assert_same(&builtin, &again);
}

static void machine__reads_alike_in_every_locale(void **state) {
    (void)state;
    dt__machine full = full_model();
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) /* decimal commas, where this locale is installed */
        setlocale(LC_NUMERIC, "de_DE");
    write_model(&full);
    dt__machine again = read_back();
    setlocale(LC_NUMERIC, "C");
    assert_same(&full, &again);
}

static void machine__accepts_comments_and_any_order(void **state) {
    (void)state;
    write_text("# made by hand\n\ndtensor-machine 1 # format\r\n"
               "measured all_to_all bytes_per_us=3e3 ranks=4 group=2 start_us=0\n"
               "\twithin bytes_per_us=4000 start_us=1.5 peer_us=0.25\n"
               "copy bytes_per_us=8000");
    dt__machine machine = read_back();
    assert_int_equal(machine.ranks_per_host, 0);
    assert_true(machine.within.start_us == 1.5 && machine.within.peer_us == 0.25);
    assert_same_link(&machine.between, &machine.within);
    assert_int_equal(machine.n_measured, 1);
    assert_int_equal(machine.measured[0].kind, DT__STEP_ALL_TO_ALL);
    assert_true(machine.min_within.start_us == 0 && machine.min_copy_bytes_per_us == 8000);
}

static void fingerprint__is_that_of_the_numbers(void **state) {
    (void)state;
    dt__machine first = full_model(), second = full_model();
    assert_int_equal(dt__machine_builtin.fingerprint, 0);
    assert_true(first.fingerprint != 0);
    for (int i = 0; i < second.n_measured / 2; i++) { /* the order of the lines does not matter */
        dt__measured_step step = second.measured[i];
        second.measured[i] = second.measured[second.n_measured - 1 - i];
        second.measured[second.n_measured - 1 - i] = step;
    }
    dt__machine_derive(&second);
    assert_same(&first, &second);
    double *const numbers[] = {&second.within.start_us,      &second.within.peer_us,
                               &second.between.bytes_per_us, &second.copy_bytes_per_us,
                               &second.measured[3].start_us, &second.measured[9].bytes_per_us};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double before = *numbers[i];
        *numbers[i] = nextafter(before, INFINITY);
        dt__machine_derive(&second);
        assert_true(second.fingerprint != first.fingerprint);
        *numbers[i] = before;
    }
    second.measured[5].group++;
    dt__machine_derive(&second);
    assert_true(second.fingerprint != first.fingerprint);
}

#define HEAD "dtensor-machine 1\n"
#define BASE HEAD "copy bytes_per_us=1\nwithin start_us=1 peer_us=0 bytes_per_us=1\n"

static void machine__refuses_malformed_files(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", ": expected the line \"dtensor-machine 1\" first, got an empty file"},
        {"# nothing\n", ": expected the line \"dtensor-machine 1\" first, got an empty file"},
        {"{\"within\": 1}\n", ":1: expected the line \"dtensor-machine 1\", got \"{\"within\": 1}\""},
        {"dtensor-machine 2\n", ":1: expected the line \"dtensor-machine 1\", got \"dtensor-machine 2\""},
        {"dtensor-machine 1 2\n", ":1: expected the line \"dtensor-machine 1\", got"},
        {"copy bytes_per_us=1\n", ":1: expected the line \"dtensor-machine 1\", got \"copy bytes_per_us=1\""},
        {HEAD, ": expected a line \"copy\", got none"},
        {HEAD "copy bytes_per_us=1\n", ": expected a line \"within\", got none"},
        {BASE "coppy bytes_per_us=1\n", ":4: expected ranks_per_host, copy, within, between, measured, node, op or "
                                        "rate, got \"coppy\"; did you mean copy?"},
        {BASE "copy bytes_per_us=1\n", ":4: expected one line \"copy\", got a second one"},
        {BASE "ranks_per_host\n", ":4: ranks_per_host: expected an integer from 0 to 1048576, got \"\""},
        {BASE "ranks_per_host -1\n", ":4: ranks_per_host: expected an integer from 0 to 1048576, got \"-1\""},
        {BASE "ranks_per_host 1.5\n", "got \"1.5\""},
        {BASE "ranks_per_host 8 9\n", ":4: ranks_per_host: expected"},
        {BASE "between start_us=1 peer_us=0\n", ":4: between: expected the field bytes_per_us, got none"},
        {BASE "between start_us=1 start_us=2\n", ":4: between: expected start_us once, got it twice"},
        {BASE "between start=1\n",
         ":4: between: unknown field: expected start_us, peer_us, bytes_per_us, got \"start\""},
        {BASE "between start_su=1\n", "did you mean start_us?"},
        {BASE "between start_us\n", ":4: between: expected a field such as start_us=1, got \"start_us\""},
        {BASE "between start_us=soon\n", ":4: start_us: expected microseconds from 0 to 1e9, got \"soon\""},
        {BASE "between start_us=\n", "got \"\""},
        {BASE "between start_us=1us\n", "got \"1us\""},
        {BASE "between start_us=-1\n", "got \"-1\""},
        {BASE "between start_us=nan\n", "got \"nan\""},
        {BASE "between bytes_per_us=inf\n", ":4: bytes_per_us: expected a rate from 1e-6 to 1e12, got \"inf\""},
        {BASE "between bytes_per_us=0\n", "got \"0\""},
        {BASE "measured\n", ":4: measured: expected copy, all_gather, all_reduce, reduce_scatter or all_to_all, got"},
        {BASE "measured allgather group=2\n", "got \"allgather\"; did you mean all_gather?"},
        {BASE "measured all_gather group=2 ranks=2 start_us=1\n",
         ":4: measured: expected the field bytes_per_us, got none"},
        {BASE "measured all_gather group=1 ranks=2 start_us=1 bytes_per_us=1\n",
         ":4: measured all_gather: group: expected 2 or more, got 1"},
        {BASE "measured copy group=2 ranks=2 start_us=1 bytes_per_us=1\n",
         ":4: measured copy: group: expected 1, got 2"},
        {BASE "measured all_gather group=4 ranks=2 start_us=1 bytes_per_us=1\n",
         ":4: measured all_gather: expected at least as many ranks as in a group, got group=4 ranks=2"},
        {BASE "measured all_gather group=2.5 ranks=4 start_us=1 bytes_per_us=1\n",
         ":4: group: expected an integer from 1 to 1048576, got \"2.5\""},
        {BASE "measured all_gather group=2 ranks=2 start_us=1 bytes_per_us=1 cache_bytes=1\n",
         ":4: measured all_gather: expected both cache_bytes and memory_bytes_per_us or neither, got one"},
        {BASE "measured all_gather group=2 ranks=2 start_us=1 bytes_per_us=1 cache_bytes=1 memory_bytes_per_us=2\n",
         ":4: measured all_gather: memory_bytes_per_us: expected at most bytes_per_us, 1, got 2"},
        {BASE "measured all_gather strided strided\n",
         ":4: measured: expected a field such as start_us=1, got \"strided\""},
        {BASE "between strided\n", ":4: between: expected a field such as start_us=1, got \"strided\""},
        {BASE "measured copy group=1 ranks=2 start_us=1 bytes_per_us=1\n"
              "measured copy strided group=1 ranks=2 start_us=1 bytes_per_us=1\n"
              "measured copy strided group=1 ranks=2 start_us=1 bytes_per_us=1\n",
         ":6: measured copy strided: expected group=1 ranks=2 once, got it twice"},
        {BASE "measured copy group=1 ranks=2 start_us=1 bytes_per_us=1\n"
              "measured copy group=1 ranks=2 start_us=1 bytes_per_us=1\n",
         ":5: measured copy: expected group=1 ranks=2 once, got it twice"},
    };
    dt__machine machine = full_model(), before = machine;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char error[DT__MACHINE_ERROR_BYTES] = "";
        write_text(cases[i].text);
        assert_false(dt__machine_read(path, &machine, error, sizeof error));
        assert_memory_equal(error, path, strlen(path));
        if (!strstr(error, cases[i].error))
            fail_msg("expected \"%s\" in \"%s\"", cases[i].error, error);
        assert_same(&machine, &before);
    }
}

static void machine__refuses_long_files_and_lines(void **state) {
    (void)state;
    char error[DT__MACHINE_ERROR_BYTES];
    dt__machine machine;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(BASE, file);
    for (int i = 0; i <= DT__MACHINE_MAX_MEASURED; i++)
        fprintf(file, "measured all_gather group=2 ranks=%d start_us=1 bytes_per_us=1\n", i + 2);
    fclose(file);
    assert_false(dt__machine_read(path, &machine, error, sizeof error));
    assert_non_null(strstr(error, ":260: expected at most 256 measured lines, got more"));
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%*s\n", HEAD, 2000, "copy");
    fclose(file);
    assert_false(dt__machine_read(path, &machine, error, sizeof error));
    assert_non_null(strstr(error, ":2: expected lines of at most 510 characters, got a longer one"));
}

static void machine__refuses_what_is_no_file(void **state) {
    (void)state;
    char error[DT__MACHINE_ERROR_BYTES], tiny[8], name[5000];
    dt__machine machine;
    assert_false(dt__machine_read("/nowhere/m.txt", &machine, error, sizeof error));
    assert_string_equal(error, "/nowhere/m.txt: cannot open the file: No such file or directory");
    assert_false(dt__machine_read("/tmp", &machine, error, sizeof error));
    assert_non_null(strstr(error, "/tmp: cannot open the file: expected a regular file, got a folder"));
    assert_false(dt__machine_read("/nowhere/m.txt", &machine, tiny, sizeof tiny));
    assert_true(strlen(tiny) < sizeof tiny);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    assert_false(dt__machine_read(name, &machine, error, sizeof error));
    assert_non_null(strstr(error, "File name too long"));
}

static void environment__names_the_file(void **state) {
    (void)state;
    char error[DT__MACHINE_ERROR_BYTES];
    dt__machine machine, full = full_model(), builtin = dt__machine_builtin;
    write_model(&full);
    setenv("DTENSOR_MACHINE", path, 1);
    assert_true(dt__machine_from_environment(&machine, error, sizeof error));
    assert_same(&machine, &full);
    setenv("DTENSOR_MACHINE", "/nowhere/m.txt", 1);
    assert_false(dt__machine_from_environment(&machine, error, sizeof error));
    assert_string_equal(error, "DTENSOR_MACHINE: /nowhere/m.txt: cannot open the file: No such file or directory");
    setenv("DTENSOR_MACHINE", "", 1);
    assert_true(dt__machine_from_environment(&machine, error, sizeof error));
    assert_same(&machine, &builtin);
    unsetenv("DTENSOR_MACHINE");
    assert_true(dt__machine_from_environment(&machine, error, sizeof error));
    assert_same(&machine, &builtin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine__reads_what_it_writes),
        cmocka_unit_test(machine__reads_alike_in_every_locale),
        cmocka_unit_test(machine__accepts_comments_and_any_order),
        cmocka_unit_test(fingerprint__is_that_of_the_numbers),
        cmocka_unit_test(machine__refuses_malformed_files),
        cmocka_unit_test(machine__refuses_long_files_and_lines),
        cmocka_unit_test(machine__refuses_what_is_no_file),
        cmocka_unit_test(environment__names_the_file),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
