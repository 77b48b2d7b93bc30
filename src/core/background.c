/* A thread that does one task at a time; see background.h. */
#include "core/background.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>

enum { ROOM_ALIGNMENT = 16 };

/* Memory for a task, handed out from the front. A task gives back all it takes. */
typedef struct room {
    char *bytes;
    size_t size, used;
    int blocks;
} room;

struct background {
    spate_context *ctx;   /* the caller's */
    spate_context beside; /* the task's */
    room room;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wanted, done;
    background_task task; /* NULL: nothing to do */
    void *data;
    spate_status status;
    bool stop;
};

static void *room_allocate(size_t bytes, void *user) {
    room *r = user;
    const size_t rounded = (bytes + ROOM_ALIGNMENT - 1) / ROOM_ALIGNMENT * ROOM_ALIGNMENT;
    if (rounded < bytes || rounded > r->size - r->used) return NULL;
    void *block = r->bytes + r->used;
    r->used += rounded;
    r->blocks++;
    return block;
}

static void room_release(void *block, void *user) {
    room *r = user;
    (void)block;
    if (--r->blocks == 0) r->used = 0;
}

static void *background_main(void *argument) {
    background *b = argument;
    pthread_mutex_lock(&b->lock);
    for (;;) {
        while (!b->task && !b->stop) pthread_cond_wait(&b->wanted, &b->lock);
        if (!b->task) break;
        pthread_mutex_unlock(&b->lock);
        const spate_status status = b->task(&b->beside, b->data);
        pthread_mutex_lock(&b->lock);
        b->status = status;
        b->task = NULL;
        pthread_cond_signal(&b->done);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Signals belong to the program's own threads. */
static bool start_thread(background *b) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&b->thread, NULL, background_main, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !error;
}

spate_status background_create(spate_context *ctx, size_t room_bytes, background **out) {
    *out = NULL;
    background *b = take(ctx, 1, sizeof *b);
    char *bytes = b ? take(ctx, room_bytes, 1) : NULL;
    if (!bytes) {
        give(ctx, b);
        return SPATE_OUT_OF_MEMORY;
    }
    b->ctx = ctx;
    b->room = (room){.bytes = bytes, .size = room_bytes};
    b->beside.config = (spate_config){room_allocate, room_release, .user = &b->room};
    b->beside.c_locale = ctx->c_locale;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->wanted, NULL);
    pthread_cond_init(&b->done, NULL);
    b->has_thread = start_thread(b);
    *out = b;
    return SPATE_OK;
}

void background_start(background *b, background_task task, void *data) {
    if (!b->has_thread) {
        b->status = task(&b->beside, data);
        return;
    }
    pthread_mutex_lock(&b->lock);
    assert(!b->task);
    b->task = task;
    b->data = data;
    pthread_cond_signal(&b->wanted);
    pthread_mutex_unlock(&b->lock);
}

bool background_is_done(background *b) {
    pthread_mutex_lock(&b->lock);
    const bool done = !b->task;
    pthread_mutex_unlock(&b->lock);
    return done;
}

spate_status background_wait(background *b) {
    pthread_mutex_lock(&b->lock);
    while (b->task) pthread_cond_wait(&b->done, &b->lock);
    const spate_status status = b->status;
    b->status = SPATE_OK;
    pthread_mutex_unlock(&b->lock);
    return status ? fail(b->ctx, status, "%s", b->beside.message) : SPATE_OK;
}

void background_free(background *b) {
    if (!b) return;
    spate_context *ctx = b->ctx;
    if (b->has_thread) {
        pthread_mutex_lock(&b->lock);
        b->stop = true;
        pthread_cond_signal(&b->wanted);
        pthread_mutex_unlock(&b->lock);
        pthread_join(b->thread, NULL);
    }
    pthread_cond_destroy(&b->done);
    pthread_cond_destroy(&b->wanted);
    pthread_mutex_destroy(&b->lock);
    give(ctx, b->room.bytes);
    give(ctx, b);
}
