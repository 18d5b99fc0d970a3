/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_config: a JSON file of settings as a sorted table from paths ("rope_parameters.rope_theta") to texts. Reading is
 * strict, and a setting that does not have the requested type is an error, because a misread setting changes what a
 * model computes.
 */
#include "dtensor/params.h"

#include "base/c_locale.h"
#include "base/json_reader.h"
#include "base/public_call.h"
#include "base/regular_file.h"
#include "tensor/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20, MAX_KEY = 512 };

typedef struct setting {
    const char *key, *text; /* text NULL: null */
    char kind;              /* as dt__json_kind */
} setting;

struct dt_config {
    dt_ctx *ctx;
    int n;
    setting *settings; /* sorted by key */
};

/* Reading. */

struct reading {
    dt__json_reader json;
    int n, capacity;
    setting *settings;
    char prefix[MAX_KEY];
};

static bool add(struct reading *r, const char *key, char kind, const char *text) {
    if (r->n == r->capacity) {
        const int capacity = 2 * r->capacity + 64;
        setting *settings = DT__NEW_ARRAY(r->json.arena, setting, capacity);
        if (!settings)
            return dt__json_fail(&r->json, "out of memory");
        if (r->n)
            memcpy(settings, r->settings, (size_t)r->n * sizeof *settings);
        r->settings = settings;
        r->capacity = capacity;
    }
    const size_t n = strlen(r->prefix) + strlen(key) + 1;
    char *full = dt__arena_alloc(r->json.arena, n, 1);
    if (!full)
        return dt__json_fail(&r->json, "out of memory");
    (void)snprintf(full, n, "%s%s", r->prefix, key);
    r->settings[r->n++] = (setting){full, text, kind};
    return true;
}

static bool read_object(struct reading *r);

/* A value other than a string or an object: its characters. */
static bool read_value(struct reading *r, const char *key) {
    const char kind = dt__json_kind(&r->json), *text;
    const size_t used = strlen(r->prefix);
    if (kind == '"')
        return dt__json_take_string(&r->json, &text) && add(r, key, kind, text);
    if (kind == '{') {
        if (used + strlen(key) + 2 > MAX_KEY)
            return dt__json_fail(&r->json, "a key has more than %d characters", MAX_KEY - 1);
        (void)snprintf(r->prefix + used, MAX_KEY - used, "%s.", key);
        bool ok = read_object(r);
        r->prefix[used] = 0;
        return ok;
    }
    const char *start = r->json.at;
    if (!dt__json_skip(&r->json))
        return false;
    text = kind == 'n' ? NULL : dt__arena_copy_chars(r->json.arena, start, (size_t)(r->json.at - start));
    return kind == 'n' || text ? add(r, key, kind, text) : dt__json_fail(&r->json, "out of memory");
}

static bool read_object(struct reading *r) {
    const char *key;
    if (!dt__json_enter(&r->json, '{'))
        return false;
    while (dt__json_next_key(&r->json, &key))
        if (!read_value(r, key))
            return false;
    return !r->json.failed;
}

static int compare_settings(const void *a, const void *b) {
    return strcmp(((const setting *)a)->key, ((const setting *)b)->key);
}

static bool sort(struct reading *r) {
    if (r->n)
        qsort(r->settings, (size_t)r->n, sizeof *r->settings, compare_settings);
    for (int i = 1; i < r->n; i++)
        if (!strcmp(r->settings[i - 1].key, r->settings[i].key))
            return dt__json_fail(&r->json, "the key '%.100s' occurs twice", r->settings[i].key);
    return true;
}

/* One block with all of it, which ends with the context. */
static dt_config *pack(dt_ctx *ctx, const struct reading *r) {
    size_t bytes = sizeof(dt_config) + (size_t)r->n * sizeof(setting);
    for (int i = 0; i < r->n; i++)
        bytes += strlen(r->settings[i].key) + 1 + (r->settings[i].text ? strlen(r->settings[i].text) + 1 : 0);
    dt_config *self = dt__owned_new(ctx, bytes, "a configuration");
    if (!self)
        return NULL;
    self->ctx = ctx;
    self->n = r->n;
    self->settings = (setting *)(self + 1);
    char *chars = (char *)(self->settings + r->n);
    for (int i = 0; i < r->n; i++) {
        const setting *from = &r->settings[i];
        self->settings[i] = (setting){strcpy(chars, from->key), NULL, from->kind};
        chars += strlen(chars) + 1;
        if (!from->text)
            continue;
        self->settings[i].text = strcpy(chars, from->text);
        chars += strlen(chars) + 1;
    }
    return self;
}

static dt_config *parse(dt_ctx *ctx, const char *path, const char *text, size_t n) {
    dt__arena arena = dt__arena_new(ctx);
    struct reading reading = {.json = dt__json_reader_new(&arena, text, n)};
    dt_config *self = NULL;
    if (read_object(&reading) && dt__json_end(&reading.json) && sort(&reading))
        self = pack(ctx, &reading);
    else if (!dt_failed(ctx))
        (void)dt__fail_local(ctx, DT_ERR_VALUE, "%.400s: %s", path, reading.json.error);
    dt__arena_free(&arena);
    return self;
}

dt_config *dt_config_open_site(dt_ctx *ctx, const char *path, const dt_site *site) {
    char error[DT__REGULAR_ERROR_BYTES];
    DT__ENTER(ctx, "config_open", site);
    if (DT__REFUSAL() != DT_OK || !ctx)
        return NULL;
    if (!path) {
        (void)dt__fail(ctx, DT_ERR_VALUE, "argument 2 is NULL: expected a path");
        return NULL;
    }
    char *text = dt__alloc(ctx, MAX_BYTES);
    if (!text) {
        (void)dt__fail_memory(ctx, MAX_BYTES, "a configuration");
        return NULL;
    }
    FILE *file = dt__regular_file_read(path, MAX_BYTES, error);
    dt_config *self = NULL;
    if (file)
        self = parse(ctx, path, text, fread(text, 1, MAX_BYTES, file));
    else
        (void)dt__fail_local(ctx, DT_ERR_SYSTEM, "%.400s: %s", path, error);
    if (file)
        (void)fclose(file);
    dt__free(ctx, text, MAX_BYTES);
    return self;
}

/* Asking. */

static const setting *find(const dt_config *self, const char *key) {
    const setting probe = {.key = key};
    return self && key && self->n ? bsearch(&probe, self->settings, (size_t)self->n, sizeof probe, compare_settings)
                                  : NULL;
}

int dt_config_n(const dt_config *config) { return config ? config->n : 0; }

const char *dt_config_key(const dt_config *config, int i) {
    return config && i >= 0 && i < config->n ? config->settings[i].key : NULL;
}

const char *dt_config_text(const dt_config *config, const char *key) {
    const setting *found = find(config, key);
    return found ? found->text : NULL;
}

double dt_config_real_site(const dt_config *config, const char *key, double absent, const dt_site *site) {
    DT__ENTER(config ? config->ctx : NULL, "config_real", site);
    const setting *found = find(config, key);
    if (!found || !found->text)
        return absent;
    if (found->kind == '\0')
        return dt__real_read(found->text, NULL);
    (void)dt__fail(config->ctx, DT_ERR_VALUE, "%.100s: expected a number, got %.100s", key, found->text);
    return absent;
}

int64_t dt_config_int_site(const dt_config *config, const char *key, int64_t absent, const dt_site *site) {
    DT__ENTER(config ? config->ctx : NULL, "config_int", site);
    const setting *found = find(config, key);
    if (!found || !found->text)
        return absent;
    const double value = dt__real_read(found->text, NULL);
    if (found->kind == '\0' && value == floor(value) && fabs(value) <= 0x1p53)
        return (int64_t)value;
    (void)dt__fail(config->ctx, DT_ERR_VALUE, "%.100s: expected an integer, got %.100s", key, found->text);
    return absent;
}

bool dt_config_bool_site(const dt_config *config, const char *key, bool absent, const dt_site *site) {
    DT__ENTER(config ? config->ctx : NULL, "config_bool", site);
    const setting *found = find(config, key);
    if (!found || !found->text)
        return absent;
    if (found->kind == 't' || found->kind == 'f')
        return found->kind == 't';
    (void)dt__fail(config->ctx, DT_ERR_VALUE, "%.100s: expected true or false, got %.100s", key, found->text);
    return absent;
}
