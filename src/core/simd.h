/*
 * The one file that knows instruction sets.
 *
 * `wide` is eight reals, a lane a particle (or two grid nodes of four reals each), `quad` is four,
 * one grid node. Arithmetic is written with the operators of the GCC/Clang vector extensions; what
 * they lack is here as a dozen shims. The width is the same on every machine, each lane is computed
 * on its own, and sums over lanes are fixed trees, so AVX2 and AVX-512 give the same bits. Without
 * fused multiply-add (HAVE_FMA 0) results differ in the last bits and the build says so.
 */
#ifndef SPATE_CORE_SIMD_H
#define SPATE_CORE_SIMD_H

#include "core/real.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define HAVE_FMA 1
#elif defined(__ARM_NEON) || defined(__aarch64__)
#define HAVE_FMA 1
#else
#define HAVE_FMA 0
#endif

#if defined(__AVX2__) && defined(__FMA__) && !defined(SPATE_DOUBLE)
#define SIMD_AVX2 1
#else
#define SIMD_AVX2 0
#endif
/* WebAssembly: a `quad` is a register. Lanes in loops would go through memory. */
#if defined(__wasm_simd128__) && !defined(SPATE_DOUBLE)
#include <wasm_simd128.h>
#define SIMD_WASM 1
#else
#define SIMD_WASM 0
#endif

/* The value is formed here and not where it is used: left alone, clang loads all that a particle
 * needs first, and most of it waits in memory for its turn. */
#if SIMD_WASM
#define SIMD_NOW(v) __asm__("" : "+r"(v))
#else
#define SIMD_NOW(v) ((void)0)
#endif

enum { WIDE = 8, QUAD = 4 };

#ifdef SPATE_DOUBLE
typedef int64_t real_bits; /* an integer as wide as a real: lanes of masks and indices */
typedef uint64_t real_ubits;
#else
typedef int32_t real_bits;
typedef uint32_t real_ubits;
#endif

typedef real wide __attribute__((vector_size(8 * sizeof(real))));
typedef real quad __attribute__((vector_size(4 * sizeof(real))));
typedef real_bits wide_int __attribute__((vector_size(8 * sizeof(real)))); /* integers, or a mask */
typedef real_bits quad_int __attribute__((vector_size(4 * sizeof(real))));
typedef int32_t wide_index
    __attribute__((vector_size(8 * sizeof(int32_t)))); /* whatever a real is */

INLINE wide wide_load(const real *p) {
    wide v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void wide_store(real *p, wide v) { memcpy(p, &v, sizeof v); }
INLINE wide_int wide_load_int(const real_bits *p) {
    wide_int v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void wide_store_int(real_bits *p, wide_int v) { memcpy(p, &v, sizeof v); }
INLINE wide_index wide_load_index(const int32_t *p) {
    wide_index v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void wide_store_index(int32_t *p, wide_index v) { memcpy(p, &v, sizeof v); }
INLINE quad quad_load(const real *p) {
    quad v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void quad_store(real *p, quad v) { memcpy(p, &v, sizeof v); }

INLINE wide wide_splat(real s) { return (wide){s, s, s, s, s, s, s, s}; }
INLINE wide_int wide_splat_int(real_bits s) { return (wide_int){s, s, s, s, s, s, s, s}; }
INLINE wide_index wide_splat_index(int32_t s) { return (wide_index){s, s, s, s, s, s, s, s}; }
INLINE quad quad_splat(real s) { return (quad){s, s, s, s}; }

/* Two nodes side by side: lanes 0-3 from `a`, 4-7 from `b`. */
INLINE wide wide_join(quad a, quad b) {
#if SIMD_AVX2
    return (wide)_mm256_set_m128((__m128)b, (__m128)a);
#else
    return (wide){a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]};
#endif
}
INLINE quad wide_low(wide v) {
#if SIMD_AVX2
    return (quad)_mm256_castps256_ps128((__m256)v);
#else
    return (quad){v[0], v[1], v[2], v[3]};
#endif
}
INLINE quad wide_high(wide v) {
#if SIMD_AVX2
    return (quad)_mm256_extractf128_ps((__m256)v, 1);
#else
    return (quad){v[4], v[5], v[6], v[7]};
#endif
}
/* The same node twice. */
INLINE wide wide_twice(quad a) {
#if SIMD_AVX2
    return (wide)_mm256_set_m128((__m128)a, (__m128)a);
#else
    return wide_join(a, a);
#endif
}

/* a * b + c, rounded once where the machine can. */
INLINE wide wide_fma(wide a, wide b, wide c) {
#if SIMD_AVX2
    return (wide)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif HAVE_FMA && defined(SPATE_DOUBLE)
    wide r;
    for (int i = 0; i < WIDE; i++) r[i] = __builtin_fma(a[i], b[i], c[i]);
    return r;
#elif HAVE_FMA
    wide r;
    for (int i = 0; i < WIDE; i++) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return r;
#else
    return a * b + c;
#endif
}
INLINE quad quad_fma(quad a, quad b, quad c) {
#if SIMD_AVX2
    return (quad)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#elif HAVE_FMA && defined(SPATE_DOUBLE)
    quad r;
    for (int i = 0; i < QUAD; i++) r[i] = __builtin_fma(a[i], b[i], c[i]);
    return r;
#elif HAVE_FMA
    quad r;
    for (int i = 0; i < QUAD; i++) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return r;
#else
    return a * b + c;
#endif
}
/* The same for one number, so that plain reference code can match the wide one bit for bit. */
INLINE real real_fma(real a, real b, real c) {
#if HAVE_FMA && defined(SPATE_DOUBLE)
    return __builtin_fma(a, b, c);
#elif HAVE_FMA
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/* Where the mask is set (all ones) `a`, elsewhere `b`. Masks come from comparisons: a < b. */
INLINE wide wide_select(wide_int mask, wide a, wide b) {
#if SIMD_AVX2
    return (wide)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (wide)((mask & (wide_int)a) | (~mask & (wide_int)b));
#endif
}
INLINE wide wide_min(wide a, wide b) {
#if SIMD_AVX2
    return (wide)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return wide_select(a < b, a, b);
#endif
}
INLINE wide wide_max(wide a, wide b) {
#if SIMD_AVX2
    return (wide)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return wide_select(a > b, a, b);
#endif
}
INLINE wide wide_abs(wide a) {
    return (wide)((wide_int)a & wide_splat_int((real_bits)((real_ubits)-1 >> 1)));
}
INLINE wide wide_sqrt(wide a) {
#if SIMD_AVX2
    return (wide)_mm256_sqrt_ps((__m256)a);
#elif SIMD_WASM
    return wide_join((quad)wasm_f32x4_sqrt((v128_t)wide_low(a)),
                     (quad)wasm_f32x4_sqrt((v128_t)wide_high(a)));
#else
    wide r;
    for (int i = 0; i < WIDE; i++)
        r[i] = sizeof(real) == 4 ? (real)__builtin_sqrtf((float)a[i]) : (real)__builtin_sqrt(a[i]);
    return r;
#endif
}
INLINE quad quad_floor(quad a) {
#if SIMD_AVX2
    return (quad)_mm_floor_ps((__m128)a);
#elif SIMD_WASM
    return (quad)wasm_f32x4_floor((v128_t)a);
#else
    quad r;
    for (int i = 0; i < QUAD; i++)
        r[i] =
            sizeof(real) == 4 ? (real)__builtin_floorf((float)a[i]) : (real)__builtin_floor(a[i]);
    return r;
#endif
}
INLINE wide wide_floor(wide a) {
#if SIMD_AVX2
    return (wide)_mm256_floor_ps((__m256)a);
#elif SIMD_WASM
    return wide_join(quad_floor(wide_low(a)), quad_floor(wide_high(a)));
#else
    wide r;
    for (int i = 0; i < WIDE; i++)
        r[i] =
            sizeof(real) == 4 ? (real)__builtin_floorf((float)a[i]) : (real)__builtin_floor(a[i]);
    return r;
#endif
}
INLINE wide_int wide_to_int(wide a) { return __builtin_convertvector(a, wide_int); }
INLINE wide wide_from_int(wide_int a) { return __builtin_convertvector(a, wide); }

/* base[index[lane]] in every lane. */
INLINE wide wide_gather(const real *base, wide_int index) {
#if SIMD_AVX2
    return (wide)_mm256_i32gather_ps(base, (__m256i)index, 4);
#else
    wide r;
    for (int i = 0; i < WIDE; i++) r[i] = base[index[i]];
    return r;
#endif
}

INLINE bool wide_any(wide_int mask) {
#if SIMD_AVX2
    return _mm256_movemask_ps((__m256)mask) != 0;
#elif SIMD_WASM
    return wasm_v128_any_true((v128_t)(wide_low((wide)mask)) | (v128_t)wide_high((wide)mask));
#else
    real_bits any = 0;
    for (int i = 0; i < WIDE; i++) any |= mask[i];
    return any != 0;
#endif
}
/* A bit for each lane of the mask, the first lane's lowest. */
INLINE unsigned wide_bits(wide_int mask) {
#if SIMD_AVX2
    return (unsigned)_mm256_movemask_ps((__m256)mask);
#elif defined(__AVX2__) && defined(__FMA__)
    __m256d halves[2];
    memcpy(halves, &mask, sizeof mask);
    return (unsigned)(_mm256_movemask_pd(halves[0]) | _mm256_movemask_pd(halves[1]) << 4);
#elif SIMD_WASM
    return wasm_i32x4_bitmask((v128_t)wide_low((wide)mask)) |
           wasm_i32x4_bitmask((v128_t)wide_high((wide)mask)) << QUAD;
#else
    unsigned bits = 0;
    for (int i = 0; i < WIDE; i++) bits |= (unsigned)(mask[i] & 1) << i;
    return bits;
#endif
}
/* How many lanes of the mask are set. */
INLINE int wide_count(wide_int mask) { return __builtin_popcount(wide_bits(mask)); }
/* Lane lanes[i] of `v` in lane i. */
INLINE wide_index wide_permute_index(wide_index v, const uint8_t lanes[WIDE]) {
#if defined(__AVX2__) && defined(__FMA__)
    const __m256i from = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)lanes));
    return (wide_index)_mm256_permutevar8x32_epi32((__m256i)v, from);
#else
    wide_index r;
    for (int i = 0; i < WIDE; i++) r[i] = v[lanes[i]];
    return r;
#endif
}
INLINE bool wide_all(wide_int mask) { return !wide_any(~mask); }

/* Sum over the lanes, always as ((0+4)+(2+6)) + ((1+5)+(3+7)). */
INLINE real wide_sum(wide v) {
    quad s = wide_low(v) + wide_high(v);
    return (s[0] + s[2]) + (s[1] + s[3]);
}
INLINE real wide_largest(wide v) {
    real m = v[0];
    for (int i = 1; i < WIDE; i++) m = v[i] > m ? v[i] : m;
    return m;
}

#endif
