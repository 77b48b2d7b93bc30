/* A hash table of keys with linear probing, and a radix sort. */
#include "state/sparse_lattice.h"

#include <string.h>

enum { KEY_BITS = 21, KEY_BIAS = 1 << (KEY_BITS - 1), KEY_MASK = (1 << KEY_BITS) - 1 };

static uint64_t spread_bits(uint64_t x) {
    x &= KEY_MASK;
    x = (x | x << 32) & 0x001f00000000ffffu;
    x = (x | x << 16) & 0x001f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    x = (x | x << 2) & 0x1249249249249249u;
    return x;
}

static uint32_t gather_bits(uint64_t x) {
    x &= 0x1249249249249249u;
    x = (x | x >> 2) & 0x10c30c30c30c30c3u;
    x = (x | x >> 4) & 0x100f00f00f00f00fu;
    x = (x | x >> 8) & 0x001f0000ff0000ffu;
    x = (x | x >> 16) & 0x001f00000000ffffu;
    x = (x | x >> 32) & KEY_MASK;
    return (uint32_t)x;
}

/* Keys are ordered as sites are numbered: along the Z curve, or in rows. */
static uint64_t key_of(const sparse_lattice *s, const int32_t c[3]) {
    uint64_t biased[3];
    for (int a = 0; a < 3; a++) biased[a] = (uint64_t)(c[a] + KEY_BIAS);
    if (s->in_rows) return (biased[0] << KEY_BITS | biased[1]) << KEY_BITS | biased[2];
    return spread_bits(biased[0]) << 2 | spread_bits(biased[1]) << 1 | spread_bits(biased[2]);
}

static void coords_of(const sparse_lattice *s, uint64_t key, int32_t c[3]) {
    for (int a = 0; a < 3; a++)
        c[a] = (int32_t)(s->in_rows ? key >> (2 - a) * KEY_BITS & KEY_MASK
                                    : gather_bits(key >> (2 - a))) -
               KEY_BIAS;
}

void sparse_lattice_neighbour(const sparse_lattice *s, const int32_t coords[3], int code,
                              int32_t out[3]) {
    for (int a = s->dim - 1; a >= 0; a--, code /= 3) {
        out[a] = coords[a] + code % 3 - 1;
        if (s->period[a]) out[a] = (out[a] + s->period[a]) % s->period[a];
    }
    if (s->dim == 2) out[2] = 0;
}

void sparse_lattice_create(spate_context *ctx, int dim, const int period[3], sparse_lattice *s) {
    *s = (sparse_lattice){.ctx = ctx, .dim = dim, .period = {period[0], period[1], period[2]}};
}

void sparse_lattice_free(sparse_lattice *s) {
    if (!s->ctx) return;
    give(s->ctx, s->coords), give(s->ctx, s->neighbours), give(s->ctx, s->keys);
    give(s->ctx, s->table_keys), give(s->ctx, s->table_numbers);
    *s = (sparse_lattice){0};
}

/* ---- The table ------------------------------------------------------------------------------- */

static const uint64_t golden_ratio = 0x9e3779b97f4a7c15u; /* times 2^64; Knuth's hash */

static int64_t table_slot(const sparse_lattice *s, uint64_t key) {
    /* the upper bits of the product: all bits of a key count there, in rows too */
    uint64_t at = (key * golden_ratio) >> (__builtin_clzll((uint64_t)s->table_size) + 1);
    for (;; at++) {
        at &= (uint64_t)s->table_size - 1;
        if (s->table_keys[at] == key + 1 || s->table_keys[at] == 0) return (int64_t)at;
    }
}

int32_t sparse_lattice_find(const sparse_lattice *s, const int32_t coords[3]) {
    if (!s->table_size) return -1;
    int64_t at = table_slot(s, key_of(s, coords));
    return s->table_keys[at] ? s->table_numbers[at] : -1;
}

/* An empty table for at least `entries` sites. */
static spate_status table_reserve(sparse_lattice *s, int64_t entries) {
    int64_t size = s->table_size ? s->table_size : 256;
    while (size < entries * 2) size *= 2;
    if (size == s->table_size) {
        memset(s->table_keys, 0, (size_t)size * sizeof *s->table_keys);
        return SPATE_OK;
    }
    uint64_t *keys = take(s->ctx, (size_t)size, sizeof *keys);
    int32_t *numbers = take(s->ctx, (size_t)size, sizeof *numbers);
    if (!keys || !numbers) {
        give(s->ctx, keys);
        give(s->ctx, numbers);
        return SPATE_OUT_OF_MEMORY;
    }
    give(s->ctx, s->table_keys);
    give(s->ctx, s->table_numbers);
    s->table_keys = keys, s->table_numbers = numbers, s->table_size = size;
    return SPATE_OK;
}

/* ---- A new set ------------------------------------------------------------------------------- */

spate_status sparse_lattice_begin(sparse_lattice *s) {
    s->keys_count = 0;
    return table_reserve(s, s->count + 1);
}

spate_status sparse_lattice_insert(sparse_lattice *s, const int32_t coords[3]) {
    uint64_t key = key_of(s, coords);
    int64_t at = table_slot(s, key), count = s->keys_count;
    if (s->table_keys[at]) return SPATE_OK;
    if ((count + 1) * 2 > s->table_size) {
        TRY(table_reserve(s, count + 2));
        for (int64_t i = 0; i < count; i++)
            s->table_keys[table_slot(s, s->keys[i])] = s->keys[i] + 1;
        at = table_slot(s, key);
    }
    TRY(GROW(s->ctx, s->keys, s->keys_capacity, (count + 1) * 2));
    s->table_keys[at] = key + 1;
    s->keys[s->keys_count++] = key;
    return SPATE_OK;
}

spate_status sparse_lattice_widen(sparse_lattice *s) {
    for (int64_t i = 0, before = s->keys_count; i < before; i++) {
        int32_t c[3], next[3];
        coords_of(s, s->keys[i], c);
        for (int code = 0; code < neighbour_count(s->dim); code++) {
            sparse_lattice_neighbour(s, c, code, next);
            TRY(sparse_lattice_insert(s, next));
        }
    }
    return SPATE_OK;
}

/* Ascending, eight bits at a time; passes in which all keys agree are skipped. */
static void sort_keys(uint64_t *keys, uint64_t *other, int64_t count) {
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t starts[257] = {0};
        for (int64_t i = 0; i < count; i++) starts[(keys[i] >> shift & 255) + 1]++;
        if (count == 0 || starts[(keys[0] >> shift & 255) + 1] == count) continue;
        for (int i = 0; i < 256; i++) starts[i + 1] += starts[i];
        for (int64_t i = 0; i < count; i++) other[starts[keys[i] >> shift & 255]++] = keys[i];
        memcpy(keys, other, (size_t)count * sizeof *keys);
    }
}

void sparse_lattice_number(sparse_lattice *s) {
    sort_keys(s->keys, s->keys + s->keys_count, s->keys_count);
    for (int64_t i = 0; i < s->keys_count; i++)
        s->table_numbers[table_slot(s, s->keys[i])] = (int32_t)i;
}

spate_status sparse_lattice_reserve(sparse_lattice *s, int64_t capacity) {
    if (capacity <= s->capacity) return SPATE_OK;
    capacity += capacity / 2 + 16;
    int32_t(*coords)[3] = take(s->ctx, (size_t)capacity, sizeof *coords);
    int32_t(*neighbours)[NEIGHBOURS_MAX] = take(s->ctx, (size_t)capacity, sizeof *neighbours);
    if (!coords || !neighbours) {
        give(s->ctx, coords), give(s->ctx, neighbours);
        return SPATE_OUT_OF_MEMORY;
    }
    give(s->ctx, s->coords), give(s->ctx, s->neighbours);
    s->coords = coords, s->neighbours = neighbours, s->capacity = capacity;
    return SPATE_OK;
}

static void find_neighbours(void *data, chunk items) {
    sparse_lattice *s = data;
    for (int64_t i = items.begin; i < items.end; i++)
        for (int code = 0; code < neighbour_count(s->dim); code++) {
            int32_t c[3];
            sparse_lattice_neighbour(s, s->coords[i], code, c);
            s->neighbours[i][code] = sparse_lattice_find(s, c);
        }
}

spate_status sparse_lattice_finish(sparse_lattice *s, pool *threads) {
    TRY(sparse_lattice_reserve(s, s->keys_count));
    s->count = (int32_t)s->keys_count;
    for (int32_t i = 0; i < s->count; i++) coords_of(s, s->keys[i], s->coords[i]);
    parallel_for(threads, s->count, 64, find_neighbours, s);
    return SPATE_OK;
}

spate_status sparse_lattice_link(sparse_lattice *s, pool *threads) {
    TRY(table_reserve(s, s->count + 1));
    for (int32_t i = 0; i < s->count; i++) {
        uint64_t key = key_of(s, s->coords[i]);
        int64_t at = table_slot(s, key);
        s->table_keys[at] = key + 1;
        s->table_numbers[at] = i;
    }
    parallel_for(threads, s->count, 64, find_neighbours, s);
    return SPATE_OK;
}
