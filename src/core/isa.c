/* Instruction sets by name, and what this machine has of them (GCC/Clang cpu builtins). */
#include "core/isa.h"
#include <string.h>

/* What the kernels are compiled for that stand where the plain ones else do. */
#ifdef SPATE_AVX2_KERNELS
#define PLAIN_NAME "avx2"
#else
#define PLAIN_NAME "generic"
#endif

static const char *const names[] = {
    [ISA_GENERIC] = PLAIN_NAME, [ISA_AVX2] = "avx2", [ISA_AVX512] = "avx512"};

enum isa isa_detect(void) {
#if ISA_CHOICE
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return ISA_GENERIC;
    if (ISA_HAS_AVX512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        return ISA_AVX512;
    return ISA_AVX2;
#else
    return ISA_GENERIC;
#endif
}

enum isa isa_lowered(const char *wish) {
    enum isa best = isa_detect();
    for (enum isa isa = ISA_GENERIC; wish && isa < best; isa++)
        if (!strcmp(wish, names[isa])) return isa;
    return best;
}

const char *isa_name(enum isa isa) { return names[isa]; }
