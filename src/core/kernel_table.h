/*
 * For files that are compiled once for each instruction set (*_kernels.c, isa.h): a kernel
 * NAME_chunk(data, items, dim) is written once and becomes the tasks NAME_2d and NAME_3d, in which
 * the dimension is a literal; a table holds them under the name of the instruction set. From a list
 * LIST(TASK, SUM) of kernels:
 *
 *     typedef struct passes { LIST(TASK_FIELD, SUM_FIELD) } passes;
 *     LIST(TASK_BY_DIM, SUM_BY_DIM)
 *     const passes ISA_NAME(passes) = {LIST(FIELD_BY_DIM, FIELD_BY_DIM)};
 */
#ifndef SPATE_CORE_KERNEL_TABLE_H
#define SPATE_CORE_KERNEL_TABLE_H

#include "core/threads.h"

/* name_generic, name_avx2 or name_avx512. */
#define ISA_NAME(name)            JOIN_NAMES(name, SPATE_ISA)
#define JOIN_NAMES(name, ending)  JOIN_NAMES_(name, ending)
#define JOIN_NAMES_(name, ending) name##_##ending

#define TASK_OF_DIM(name, dim) \
    static void name##_##dim##d(void *data, chunk items) { name##_chunk(data, items, dim); }
#define SUM_OF_DIM(name, dim)                                            \
    static void name##_##dim##d(void *data, chunk items, double *part) { \
        name##_chunk(data, items, part, dim);                            \
    }
#define TASK_BY_DIM(name) TASK_OF_DIM(name, 2) TASK_OF_DIM(name, 3)
#define SUM_BY_DIM(name)  SUM_OF_DIM(name, 2) SUM_OF_DIM(name, 3)

#define TASK_FIELD(name)   chunk_task name[2];
#define SUM_FIELD(name)    sum_task name[2];
#define FIELD_BY_DIM(name) .name = {name##_2d, name##_3d},

#endif
