/*
 * Hashes of bytes: XXH3, 64 bits (https://xxhash.com). The value depends on the bytes and the seed
 * alone, not on the machine's vector instructions. The library is compiled in, so that a streaming
 * state can live on the stack whatever version is installed.
 */
#ifndef SPATE_CORE_HASH_H
#define SPATE_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t hash_bytes(const void *bytes, size_t length, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, length, seed);
}

/* The same piece by piece: however the bytes are cut, hash_end gives the value of hash_bytes. */
typedef struct hash_state {
    XXH3_state_t inner;
} hash_state;

static inline void hash_begin(hash_state *h, uint64_t seed) {
    XXH3_INITSTATE(&h->inner);
    XXH3_64bits_reset_withSeed(&h->inner, seed);
}
static inline void hash_add(hash_state *h, const void *bytes, size_t length) {
    if (length) XXH3_64bits_update(&h->inner, bytes, length);
}
static inline uint64_t hash_end(const hash_state *h) { return XXH3_64bits_digest(&h->inner); }

#endif
