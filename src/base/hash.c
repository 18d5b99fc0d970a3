/* SPDX-License-Identifier: Apache-2.0
 *
 * The hash map. A removed entry leaves a tombstone that probing skips; the table is rebuilt when live entries and
 * tombstones fill half of it.
 */
#include "base/hash.h"

#include <string.h>

struct dt__map_entry {
    uint64_t hash;
    void *value; /* NULL: never used */
};

static const char removed_mark = 0;
#define REMOVED ((void *)(uintptr_t)&removed_mark)

uint64_t dt__hash(const void *bytes, size_t n, uint64_t seed) {
    const unsigned char *at = bytes;
    uint64_t hash = dt__hash_u64(n, seed);
    for (; n >= 8; n -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = dt__hash_u64(word, hash);
    }
    uint64_t rest = 0;
    if (!n)
        return hash; /* bytes may be NULL then */
    memcpy(&rest, at, n);
    return dt__hash_u64(rest, hash);
}

/* The start of probing. Keys may be small integers, which differ in few bits; the product spreads them. */
static size_t first_slot(uint64_t hash, size_t capacity) {
    return (size_t)(hash * 0x9e3779b97f4a7c15u >> 32) & (capacity - 1);
}

dt__map dt__map_new(dt_ctx *ctx) { return (dt__map){.ctx = ctx}; }

void dt__map_free(dt__map *map) {
    dt__free(map->ctx, map->entries, map->capacity * sizeof *map->entries);
    *map = dt__map_new(map->ctx);
}

void *dt__map_get(const dt__map *map, uint64_t hash, dt__map_same *same, const void *probe) {
    if (!map->capacity)
        return NULL;
    for (size_t i = first_slot(hash, map->capacity);; i = (i + 1) & (map->capacity - 1)) {
        const struct dt__map_entry *entry = &map->entries[i];
        if (!entry->value)
            return NULL;
        if (entry->value != REMOVED && entry->hash == hash && (!same || same(entry->value, probe)))
            return entry->value;
    }
}

static void insert(struct dt__map_entry *entries, size_t capacity, uint64_t hash, void *value) {
    size_t i = first_slot(hash, capacity);
    while (entries[i].value)
        i = (i + 1) & (capacity - 1);
    entries[i] = (struct dt__map_entry){hash, value};
}

/* Makes space for one more entry; the error is not recorded. */
static bool rebuild(dt__map *map) {
    size_t capacity = 16;
    while (capacity < map->n_entries * 4)
        capacity *= 2;
    struct dt__map_entry *entries = dt__alloc_zeroed(map->ctx, capacity * sizeof *entries);
    if (!entries)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].value && map->entries[i].value != REMOVED)
            insert(entries, capacity, map->entries[i].hash, map->entries[i].value);
    dt__free(map->ctx, map->entries, map->capacity * sizeof *entries);
    map->entries = entries;
    map->capacity = capacity;
    map->n_used = map->n_entries;
    return true;
}

static bool fail_memory(const dt__map *map) {
    dt__fail_memory(map->ctx, map->n_entries * 4 * sizeof *map->entries, "a hash map");
    return false;
}

bool dt__map_reserve(dt__map *map) { return rebuild(map) || fail_memory(map); }

bool dt__map_add(dt__map *map, uint64_t hash, void *value) {
    return dt__map_try_add(map, hash, value) || fail_memory(map);
}

bool dt__map_try_add(dt__map *map, uint64_t hash, void *value) {
    if ((map->n_used + 1) * 2 > map->capacity && !rebuild(map))
        return false;
    insert(map->entries, map->capacity, hash, value);
    map->n_entries++;
    map->n_used++;
    return true;
}

bool dt__map_remove(dt__map *map, uint64_t hash, const void *value) {
    if (!map->capacity)
        return false;
    for (size_t i = first_slot(hash, map->capacity); map->entries[i].value; i = (i + 1) & (map->capacity - 1))
        if (map->entries[i].value == value) {
            map->entries[i].value = REMOVED;
            map->n_entries--;
            return true;
        }
    return false;
}

void *dt__map_next(const dt__map *map, size_t *at) {
    while (*at < map->capacity) {
        void *value = map->entries[(*at)++].value;
        if (value && value != REMOVED)
            return value;
    }
    return NULL;
}
