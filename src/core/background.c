/* A thread that does one task at a time; see background.h. */
#include "core/background.h"
#include "core/file_hooks.h"
#include "port/thread.h"
#include <assert.h>
#include <string.h>

enum { ROOM_ALIGNMENT = 16 };

/* Memory for a task, handed out from the front. A task gives back all it takes. */
typedef struct room {
    char *bytes;
    size_t size, used;
    int blocks;
} room;

struct background {
    spate_context *ctx;   /* the caller's */
    spate_context beside; /* the task's, on a thread */
    spate_context
        *tasks; /* the one they get: the caller's where file hooks keep them in its thread */
    room room;
    thread_handle thread;
    bool has_thread;
    thread_lock lock; /* of all below */
    thread_condition wanted, done;
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
    thread_lock_take(&b->lock);
    for (;;) {
        while (!b->task && !b->stop) thread_condition_wait(&b->wanted, &b->lock);
        if (!b->task) break;
        thread_lock_give(&b->lock);
        const spate_status status = b->task(b->tasks, b->data);
        thread_lock_take(&b->lock);
        b->status = status;
        b->task = NULL;
        thread_condition_wake_one(&b->done);
    }
    thread_lock_give(&b->lock);
    return NULL;
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
    thread_lock_create(&b->lock);
    thread_condition_create(&b->wanted);
    thread_condition_create(&b->done);
    b->tasks = has_file_hooks(ctx) ? ctx : &b->beside;
    b->has_thread = b->tasks != ctx && !thread_start(&b->thread, background_main, b);
    *out = b;
    return SPATE_OK;
}

void background_start(background *b, background_task task, void *data) {
    if (!b->has_thread) {
        b->status = task(b->tasks, data);
        /* the caller's next message must not take its place */
        if (b->status && b->tasks != &b->beside)
            memcpy(b->beside.message, b->tasks->message, sizeof b->beside.message);
        return;
    }
    thread_lock_take(&b->lock);
    assert(!b->task);
    b->task = task;
    b->data = data;
    thread_condition_wake_one(&b->wanted);
    thread_lock_give(&b->lock);
}

bool background_is_done(background *b) {
    thread_lock_take(&b->lock);
    const bool done = !b->task;
    thread_lock_give(&b->lock);
    return done;
}

spate_status background_wait(background *b) {
    thread_lock_take(&b->lock);
    while (b->task) thread_condition_wait(&b->done, &b->lock);
    const spate_status status = b->status;
    b->status = SPATE_OK;
    thread_lock_give(&b->lock);
    return status ? fail(b->ctx, status, "%s", b->beside.message) : SPATE_OK;
}

void background_free(background *b) {
    if (!b) return;
    spate_context *ctx = b->ctx;
    if (b->has_thread) {
        thread_lock_take(&b->lock);
        b->stop = true;
        thread_condition_wake_one(&b->wanted);
        thread_lock_give(&b->lock);
        thread_join(&b->thread);
    }
    thread_condition_free(&b->done);
    thread_condition_free(&b->wanted);
    thread_lock_free(&b->lock);
    give(ctx, b->room.bytes);
    give(ctx, b);
}
