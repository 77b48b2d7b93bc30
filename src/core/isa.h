/* Which instruction set the hot kernels run with: the best the machine has, found at run time. */
#ifndef SPATE_CORE_ISA_H
#define SPATE_CORE_ISA_H

/* Whether kernels are there for more than the plain instruction set. */
#if defined(__x86_64__) && !defined(SPATE_PLAIN_KERNELS)
#define ISA_CHOICE 1
#else
#define ISA_CHOICE 0
#endif
#if ISA_CHOICE && !defined(SPATE_NO_AVX512)
#define ISA_HAS_AVX512 1
#else
#define ISA_HAS_AVX512 0
#endif

/* In rising order; each includes the ones before it. */
enum isa { ISA_GENERIC, ISA_AVX2, ISA_AVX512 };

/* Tables of kernels, compiled once for each set as NAME_generic, NAME_avx2, NAME_avx512:
 *     ISA_TABLES(sph_sums, sph_sums);        declares them
 *     ISA_CHOOSE(sph_sums, ctx->isa)           points to the one of a set */
#if ISA_HAS_AVX512
#define ISA_TABLES(type, name) extern const type name##_generic, name##_avx2, name##_avx512
#define ISA_CHOOSE(name, isa) \
    ((isa) == ISA_AVX512 ? &name##_avx512 : (isa) == ISA_AVX2 ? &name##_avx2 : &name##_generic)
#elif ISA_CHOICE
#define ISA_TABLES(type, name) extern const type name##_generic, name##_avx2
#define ISA_CHOOSE(name, isa)  ((isa) == ISA_AVX2 ? &name##_avx2 : &name##_generic)
#else
#define ISA_TABLES(type, name) extern const type name##_generic
#define ISA_CHOOSE(name, isa)  ((void)(isa), &name##_generic)
#endif

/* The best set of this machine. AVX2 stands for avx2 and fma, AVX-512 for f, vl, dq and bw. */
enum isa isa_detect(void);

/* isa_detect(), or less where `wish` (the environment variable SPATE_ISA) names a lower set. NULL
 * and names that are not known change nothing. */
enum isa isa_lowered(const char *wish);

/* "generic", "avx2" or "avx512". */
const char *isa_name(enum isa isa);

#endif
