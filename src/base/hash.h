/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash map from a 64-bit key to a pointer, and the hash function for such keys. Values with equal hashes are
 * distinguished by the caller's compare function. Open addressing, power-of-two table, at most half full.
 */
#ifndef DT_BASE_HASH_H
#define DT_BASE_HASH_H

#include "base/ctx.h"

/* Hash of bytes, continuing from seed; the same on every machine and in every run. */
uint64_t dt__hash(const void *bytes, size_t n, uint64_t seed);
static inline uint64_t dt__hash_u64(uint64_t value, uint64_t seed) {
    uint64_t x = (value ^ seed) + 0x9e3779b97f4a7c15u + (seed << 6);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct dt__map_entry;

typedef struct dt__map {
    dt_ctx *ctx;
    struct dt__map_entry *entries;
    size_t n_entries, n_used, capacity; /* live; live and deleted; size of the table */
} dt__map;

/* Whether the stored value is the one that probe describes; NULL: equal hashes mean equal values. */
typedef bool dt__map_same(const void *value, const void *probe);

dt__map dt__map_new(dt_ctx *ctx);
void dt__map_free(dt__map *map);
void *dt__map_get(const dt__map *map, uint64_t hash, dt__map_same *same, const void *probe);
/* Adds a value that is not in the map; false, with the error recorded, when out of memory. value must not be NULL. */
bool dt__map_add(dt__map *map, uint64_t hash, void *value);
/* Adds a value, or returns false without an error when out of memory: for caches, which may lack values. */
bool dt__map_try_add(dt__map *map, uint64_t hash, void *value);
/* Makes space for the first few values of an empty map; false, with the error recorded, when out of memory. */
bool dt__map_reserve(dt__map *map);
/* Removes this value; false if it is not in the map. */
bool dt__map_remove(dt__map *map, uint64_t hash, const void *value);
/* Iterates over all values: start with *at = 0; NULL at the end. Removing the value just returned is allowed. */
void *dt__map_next(const dt__map *map, size_t *at);

#endif
