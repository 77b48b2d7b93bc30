/* Which instruction set the hot kernels run with: the best the machine has, found at run time. */
#ifndef SPATE_CORE_ISA_H
#define SPATE_CORE_ISA_H

/* In rising order; each includes the ones before it. */
enum isa { ISA_GENERIC, ISA_AVX2, ISA_AVX512 };

/* The best set of this machine. AVX2 stands for avx2 and fma, AVX-512 for f, vl, dq and bw. */
enum isa isa_detect(void);

/* isa_detect(), or less where `wish` (the environment variable SPATE_ISA) names a lower set. NULL
 * and names that are not known change nothing. */
enum isa isa_lowered(const char *wish);

/* "generic", "avx2" or "avx512". */
const char *isa_name(enum isa isa);

#endif
