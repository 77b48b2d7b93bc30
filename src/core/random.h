/*
 * Counter-based random numbers: a value depends on (seed, id, stream) alone, never on the order of
 * calls or the number of threads. The mixing function is the finaliser of SplitMix64 (Steele et al.
 * 2014, "Fast splittable pseudorandom number generators"), applied to each key in turn.
 */
#ifndef SPATE_CORE_RANDOM_H
#define SPATE_CORE_RANDOM_H

#include <stdint.h>

static inline uint64_t random_mix(uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t random_bits(uint64_t seed, uint64_t id, uint64_t stream) {
    return random_mix(random_mix(random_mix(seed) ^ id) ^ stream);
}

/* Evenly spread over [0, 1). */
static inline double random_unit(uint64_t seed, uint64_t id, uint64_t stream) {
    return (double)(random_bits(seed, id, stream) >> 11) * 0x1p-53;
}

#endif
