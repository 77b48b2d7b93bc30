/* Which instruction set the hot kernels run with: the best the machine has, found at run time. */
#ifndef SPATE_CORE_ISA_H
#define SPATE_CORE_ISA_H

/* In rising order; each includes the ones before it. */
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

enum isa { ISA_GENERIC, ISA_AVX2, ISA_AVX512 };

/* The best set of this machine. AVX2 stands for avx2 and fma, AVX-512 for f, vl, dq and bw. */
enum isa isa_detect(void);

/* isa_detect(), or less where `wish` (the environment variable SPATE_ISA) names a lower set. NULL
 * and names that are not known change nothing. */
enum isa isa_lowered(const char *wish);

/* "generic", "avx2" or "avx512". */
const char *isa_name(enum isa isa);

#endif
