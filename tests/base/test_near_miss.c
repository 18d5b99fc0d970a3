/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "base/near_miss.h"

#include <string.h>

static void near_miss__suggests_the_nearest_name(void **state) {
    (void)state;
    static const struct {
        const char *word, *names, *hint;
    } cases[] = {
        {"matmull", "addmm, bmm, matmul, mm", "; did you mean matmul?"},
        {"mamtul", "addmm, bmm, matmul, mm", "; did you mean matmul?"},
        {"Matmul", "addmm, bmm, matmul, mm", "; did you mean matmul?"},
        {"f23", "f16, f32, f64", "; did you mean f32?"},
        {"sumn", "sum, avg, product", "; did you mean sum?"},
        {"prod", "sum, avg, product", "; did you mean product?"},
        {"min-cost", "greedy, graph, direct, min_cost", "; did you mean min_cost?"},
        {"layernorm", "layer_norm, softmax", "; did you mean layer_norm?"},
        {"oops", "self, shm or fake", ""},
        {"on", "self, shm or fake", ""}, /* "or" is not a name */
        {"x", "y, z", ""},
        {"", "self, shm", ""},
        {"ab", "", ""},
        {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
         "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__near_miss near = dt__near_miss_new(cases[i].word);
        dt__near_miss_add_list(&near, cases[i].names);
        assert_string_equal(dt__near_miss_hint(&near), cases[i].hint);
    }
}

/* The edit distance by its recursive definition. */
static size_t fewest_edits(const char *a, const char *b) {
    size_t n_a = strlen(a), n_b = strlen(b), best;
    if (!n_a || !n_b)
        return n_a + n_b;
    if (*a == *b)
        return fewest_edits(a + 1, b + 1);
    best = fewest_edits(a + 1, b + 1);
    size_t without_a = fewest_edits(a + 1, b), without_b = fewest_edits(a, b + 1);
    best = without_a < best ? without_a : best;
    best = without_b < best ? without_b : best;
    if (n_a > 1 && n_b > 1 && a[0] == b[1] && a[1] == b[0]) {
        size_t swapped = fewest_edits(a + 2, b + 2);
        best = swapped < best ? swapped : best;
    }
    return best + 1;
}

/* Every pair of words of up to five letters a and b: there is a hint exactly if the distance is small enough. */
static void near_miss__counts_edits(void **state) {
    (void)state;
    char words[62][6];
    int n = 0;
    for (int length = 1; length <= 5; length++)
        for (int bits = 0; bits < 1 << length; bits++, n++) {
            for (int i = 0; i < length; i++)
                words[n][i] = bits >> i & 1 ? 'b' : 'a';
            words[n][length] = 0;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            size_t length = strlen(words[i]);
            bool begins = length >= 3 && !strncmp(words[j], words[i], length);
            bool near = fewest_edits(words[i], words[j]) <= (length + 1) / 3 || begins;
            dt__near_miss miss = dt__near_miss_new(words[i]);
            dt__near_miss_add(&miss, words[j], strlen(words[j]));
            if (near != (*dt__near_miss_hint(&miss) != 0))
                fail_msg("%s and %s: %zu edits, got the hint \"%s\"", words[i], words[j],
                         fewest_edits(words[i], words[j]), dt__near_miss_hint(&miss));
        }
}

static void near_miss__suggests_the_first_of_equally_near_names(void **state) {
    (void)state;
    dt__near_miss near = dt__near_miss_of("axxx", 2);
    dt__near_miss_add_list(&near, "ay, ax, az");
    assert_string_equal(dt__near_miss_hint(&near), "; did you mean ax?");
    near = dt__near_miss_new("aq");
    dt__near_miss_add_list(&near, "ay, ax, az");
    assert_string_equal(dt__near_miss_hint(&near), "; did you mean ay?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_miss__suggests_the_nearest_name),
        cmocka_unit_test(near_miss__counts_edits),
        cmocka_unit_test(near_miss__suggests_the_first_of_equally_near_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
