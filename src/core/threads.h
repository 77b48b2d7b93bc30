/*
 * One small parallel-for over a pool of threads.
 *
 * Work is cut into chunks of `grain` items whose borders do not depend on the number of threads, so
 * whatever is computed a chunk at a time is the same for every number of threads. Each worker first
 * takes the chunks of its own contiguous share (which it also had in the last call, so its cache is
 * warm) and then helps the others.
 */
#ifndef SPATE_CORE_THREADS_H
#define SPATE_CORE_THREADS_H

#include "core/context.h"

/* Items begin..end-1, worked on by one of the workers 0..pool_size-1. */
typedef struct chunk {
    int64_t begin, end;
    int worker;
} chunk;

typedef void (*chunk_task)(void *data, chunk items);

enum { MAX_THREADS = 256 };

/* `threads` 0: one for each core this process may use. */
spate_status pool_create(spate_context *ctx, int threads, pool **out);
void pool_free(spate_context *ctx, pool *p);
int pool_size(const pool *p);

/* Returns when all is done. Inside a task it runs on the calling worker alone. */
void parallel_for(pool *p, int64_t count, int64_t grain, chunk_task task, void *data);

/* Items sorted by colour: colour c is items starts[c]..starts[c+1]-1. Items of one colour run at
 * the same time, colours one after the other. */
void parallel_colours(pool *p, const int64_t *starts, int colours, int64_t grain, chunk_task task,
                      void *data);

/* Sums `values` numbers over all chunks. The task adds the chunk's part to part[0..values-1]; the
 * parts are then added in chunk order, so the result does not depend on threads. Allocates nothing;
 * not for use inside a task. */
typedef void (*sum_task)(void *data, chunk items, double *part);
enum { SUM_VALUES = 32 };
spate_status parallel_sum(spate_context *ctx, int64_t count, int64_t grain, sum_task task,
                          void *data, int values, double *sums);

#endif
