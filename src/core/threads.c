/*
 * A pool of threads behind parallel_for.
 *
 * One atomic word, the gate, says all there is to know about the current job: its number, whether
 * it is closed, and how many workers are inside. The caller opens the gate, works along as worker
 * 0, closes the gate when no chunk is left and waits for those inside to leave. A worker that wakes
 * up late finds the gate closed and goes back to sleep, so nobody ever waits for it. Chunks are
 * handed out by one counter per share; a worker empties its own share, then the others'. Where the
 * system has no threads (port/thread.h) the pool is the caller alone.
 */
#include "core/threads.h"
#include "core/text.h"
#include "port/clock.h"
#include "port/thread.h"
#include <assert.h>
#include <stdatomic.h>
#include <string.h>

_Static_assert((int)THREADS_MOST <= (int)MAX_THREADS, "arrays by worker have room for all");

/* Layout of the gate, from the lowest bit: workers inside, two flags, the job's number. */
#define GATE_INSIDE ((uint64_t)0xffff)
#define GATE_CLOSED ((uint64_t)1 << 16)
#define GATE_STOP   ((uint64_t)1 << 17)
enum { GATE_JOB_SHIFT = 18 };

enum { SPIN_NANOSECONDS = 20000, PAUSES_A_LOOK = 16, SUM_PARTS = 8192 };

/* Chunks next..end-1 are still to be done; a cache line each. */
typedef struct share {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
} share;

typedef struct job {
    int64_t begin, end, grain;
    chunk_task task;
    void *data;
} job;

typedef struct worker_thread {
    pool *pool;
    int index;
    thread_handle thread;
} worker_thread;

struct pool {
    _Alignas(64) _Atomic uint64_t gate;
    _Alignas(64) _Atomic int sleepers;
    thread_lock lock;
    thread_condition opened, emptied; /* a new job; the last worker left a closed one */
    int size;                         /* workers, the caller included */
    int started;                      /* threads that run: workers 1..started */
    int64_t spin;                     /* how long to look before sleeping, nanoseconds */
    bool busy;                        /* a job is running; only the caller's thread looks at it */
    job job;
    share *shares;
    worker_thread *threads;
    double *parts; /* of parallel_sum, SUM_PARTS numbers */
};

/* ---- Waiting -------------------------------------------------------------------------- */

static void pause_briefly(void) {
    for (int i = 0; i < PAUSES_A_LOOK; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
}

static uint64_t job_number(uint64_t gate) { return gate >> GATE_JOB_SHIFT; }

/* Waits for a job other than number `seen`: looks for a moment, then sleeps. */
static void wait_for_job(pool *p, uint64_t seen) {
    const int64_t until = p->spin ? clock_nanoseconds() + p->spin : 0;
    do {
        if (job_number(atomic_load_explicit(&p->gate, memory_order_acquire)) != seen) return;
        pause_briefly();
    } while (p->spin && clock_nanoseconds() < until);

    /* Either the caller sees this sleeper after opening the gate, or the gate is seen open here:
     * both sides write one and then read the other, sequentially consistent. */
    thread_lock_take(&p->lock);
    atomic_fetch_add(&p->sleepers, 1);
    while (job_number(atomic_load(&p->gate)) == seen) thread_condition_wait(&p->opened, &p->lock);
    atomic_fetch_sub(&p->sleepers, 1);
    thread_lock_give(&p->lock);
}

static void open_gate(pool *p, uint64_t flags) {
    uint64_t number = job_number(atomic_load_explicit(&p->gate, memory_order_relaxed)) + 1;
    atomic_store(&p->gate, number << GATE_JOB_SHIFT | flags);
    if (atomic_load(&p->sleepers) == 0) return;
    thread_lock_take(&p->lock);
    thread_condition_wake_all(&p->opened);
    thread_lock_give(&p->lock);
}

/* Lets nobody else in and waits until the job's last worker has left. */
static void close_gate(pool *p) {
    atomic_fetch_or_explicit(&p->gate, GATE_CLOSED, memory_order_acq_rel);
    const int64_t until = p->spin ? clock_nanoseconds() + p->spin : 0;
    do {
        if (!(atomic_load_explicit(&p->gate, memory_order_acquire) & GATE_INSIDE)) return;
        pause_briefly();
    } while (p->spin && clock_nanoseconds() < until);
    thread_lock_take(&p->lock);
    while (atomic_load_explicit(&p->gate, memory_order_acquire) & GATE_INSIDE)
        thread_condition_wait(&p->emptied, &p->lock);
    thread_lock_give(&p->lock);
}

/* Goes into the current job if it is open; *seen becomes its number. *stop says that the pool ends:
 * it comes from the same look as the number, since what has been seen is never waited for again. */
static bool enter(pool *p, uint64_t *seen, bool *stop) {
    uint64_t gate = atomic_load_explicit(&p->gate, memory_order_acquire);
    do {
        *seen = job_number(gate);
        *stop = gate & GATE_STOP;
        if (gate & GATE_CLOSED) return false;
    } while (!atomic_compare_exchange_weak_explicit(&p->gate, &gate, gate + 1, memory_order_acq_rel,
                                                    memory_order_acquire));
    return true;
}

static void leave(pool *p) {
    uint64_t before = atomic_fetch_sub_explicit(&p->gate, 1, memory_order_acq_rel);
    if (!(before & GATE_CLOSED) || (before & GATE_INSIDE) != 1) return;
    thread_lock_take(&p->lock);
    thread_condition_wake_one(&p->emptied);
    thread_lock_give(&p->lock);
}

/* ---- Working -------------------------------------------------------------------------- */

/* Chunk k of items begin..end-1. */
static chunk chunk_at(int64_t begin, int64_t end, int64_t grain, int64_t k, int worker) {
    int64_t first = begin + k * grain;
    return (chunk){first, end - first > grain ? first + grain : end, worker};
}

static void run_chunk(const job *j, int64_t k, int worker) {
    j->task(j->data, chunk_at(j->begin, j->end, j->grain, k, worker));
}

static void work(pool *p, int worker) {
    for (int i = 0; i < p->size; i++) {
        share *s = &p->shares[(worker + i) % p->size];
        while (atomic_load_explicit(&s->next, memory_order_relaxed) < s->end) {
            int64_t k = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
            if (k < s->end) run_chunk(&p->job, k, worker);
        }
    }
}

static void *worker_main(void *argument) {
    const worker_thread *w = argument;
    pool *p = w->pool;
    uint64_t seen = 0;
    for (;;) {
        bool stop;
        wait_for_job(p, seen);
        if (enter(p, &seen, &stop)) {
            work(p, w->index);
            leave(p);
        } else if (stop)
            return NULL;
    }
}

/* Which worker the calling thread is, or -1 when it is not in a job of this pool. */
static int current_worker(const pool *p) {
    for (int i = 1; i <= p->started; i++)
        if (thread_is_current(&p->threads[i].thread)) return i;
    return p->busy ? 0 : -1;
}

static void run(pool *p, job j) {
    assert(j.grain > 0);
    if (j.end <= j.begin) return;
    const int64_t chunks = (j.end - j.begin - 1) / j.grain + 1;
    const int worker = current_worker(p);
    if (p->size == 1 || chunks == 1 || worker >= 0) {
        for (int64_t c = 0; c < chunks; c++) run_chunk(&j, c, worker > 0 ? worker : 0);
        return;
    }

    p->job = j;
    const int64_t each = chunks / p->size, more = chunks % p->size;
    for (int i = 0; i < p->size; i++) {
        int64_t first = i * each + (i < more ? i : more);
        atomic_store_explicit(&p->shares[i].next, first, memory_order_relaxed);
        p->shares[i].end = first + each + (i < more);
    }
    p->busy = true;
    open_gate(p, 0);
    work(p, 0);
    close_gate(p);
    p->busy = false;
}

void parallel_for(pool *p, int64_t count, int64_t grain, chunk_task task, void *data) {
    run(p, (job){0, count, grain, task, data});
}

void parallel_colours(pool *p, const int64_t *starts, int colours, int64_t grain, chunk_task task,
                      void *data) {
    for (int c = 0; c < colours; c++) run(p, (job){starts[c], starts[c + 1], grain, task, data});
}

/* ---- Sums ----------------------------------------------------------------------------- */

typedef struct sum_job {
    sum_task task;
    void *data;
    int64_t first_item, last_item, grain; /* of the batch */
    int values;
    double *parts;
} sum_job;

/* Sums chunks of a batch, each into its own part. */
static void sum_chunks(void *data, chunk items) {
    const sum_job *s = data;
    for (int64_t k = items.begin; k < items.end; k++) {
        /* Added up here and then copied, as neighbours among the parts share cache lines. */
        double part[SUM_VALUES] = {0};
        s->task(s->data, chunk_at(s->first_item, s->last_item, s->grain, k, items.worker), part);
        memcpy(s->parts + k * s->values, part, (size_t)s->values * sizeof *part);
    }
}

/* Goes through the chunks in batches that fit the pool's parts, so that nothing is allocated. */
spate_status parallel_sum(spate_context *ctx, int64_t count, int64_t grain, sum_task task,
                          void *data, int values, double *sums) {
    pool *p = ctx->pool;
    assert(values > 0 && values <= SUM_VALUES && grain > 0 && current_worker(p) < 0);
    for (int v = 0; v < values; v++) sums[v] = 0;
    const int64_t chunks = count > 0 ? (count - 1) / grain + 1 : 0, batch = SUM_PARTS / values;
    for (int64_t first = 0; first < chunks; first += batch) {
        int64_t here = chunks - first < batch ? chunks - first : batch;
        sum_job s = {task, data, first * grain, count, grain, values, p->parts};
        parallel_for(p, here, 1, sum_chunks, &s);
        for (int64_t c = 0; c < here; c++)
            for (int v = 0; v < values; v++) sums[v] += p->parts[c * values + v];
    }
    return SPATE_OK;
}

/* ---- Making and freeing --------------------------------------------------------------- */

/* Starts workers 1..size-1. */
static spate_status start_workers(spate_context *ctx, pool *p) {
    int error = 0;
    while (!error && p->started + 1 < p->size) {
        worker_thread *w = &p->threads[p->started + 1];
        w->pool = p;
        w->index = p->started + 1;
        error = thread_start(&w->thread, worker_main, w);
        if (!error) p->started++;
    }
    if (!error) return SPATE_OK;
    return fail(ctx, SPATE_OUT_OF_MEMORY, "cannot start thread %d of %d: %s; use fewer threads",
                p->started + 1, p->size, text_of_errno(ctx, error));
}

spate_status pool_create(spate_context *ctx, int threads, pool **out) {
    *out = NULL;
    const int cores = thread_cores();
    int size = threads > 0 ? threads : cores;
    if (size > THREADS_MOST) size = THREADS_MOST;
    pool *p = take(ctx, 1, sizeof *p);
    if (!p) return SPATE_OUT_OF_MEMORY;
    atomic_init(&p->gate, GATE_CLOSED);
    atomic_init(&p->sleepers, 0);
    thread_lock_create(&p->lock);
    thread_condition_create(&p->opened);
    thread_condition_create(&p->emptied);
    p->size = size;
    /* With more threads than cores, looking would only keep others from working. */
    p->spin = size <= cores ? SPIN_NANOSECONDS : 0;

    spate_status status = SPATE_OUT_OF_MEMORY;
    p->shares = take(ctx, (size_t)size, sizeof *p->shares);
    p->threads = p->shares ? take(ctx, (size_t)size, sizeof *p->threads) : NULL;
    p->parts = p->threads ? take(ctx, SUM_PARTS, sizeof *p->parts) : NULL;
    if (p->parts) status = start_workers(ctx, p);
    if (status) {
        pool_free(ctx, p);
        return status;
    }
    *out = p;
    return SPATE_OK;
}

void pool_free(spate_context *ctx, pool *p) {
    if (!p) return;
    open_gate(p, GATE_CLOSED | GATE_STOP);
    for (int i = 1; i <= p->started; i++) thread_join(&p->threads[i].thread);
    thread_condition_free(&p->emptied);
    thread_condition_free(&p->opened);
    thread_lock_free(&p->lock);
    give(ctx, p->parts);
    give(ctx, p->threads);
    give(ctx, p->shares);
    give(ctx, p);
}

int pool_size(const pool *p) { return p->size; }
