/*
 * One task at a time on a thread of its own, while the caller goes on.
 *
 * A task gets a context of its own: its message cannot meet one of the caller's, and its memory
 * comes from room that was taken beforehand, so that allocation hooks are only ever called by the
 * caller's thread. It has no pool: parallel_for is not for it. Where no thread can be had, tasks
 * are done at once, in place; so they are, with the caller's own context, where its files are
 * hooks.
 */
#ifndef SPATE_CORE_BACKGROUND_H
#define SPATE_CORE_BACKGROUND_H

#include "core/context.h"

typedef struct background background;
typedef spate_status (*background_task)(spate_context *beside, void *data);

/* `room` bytes are all the memory that a task may hold at a time. */
spate_status background_create(spate_context *ctx, size_t room, background **out);
/* Waits for the task under way. NULL is fine. */
void background_free(background *b);

/* The task before must have been waited for. `data` belongs to the task until then. */
void background_start(background *b, background_task task, void *data);
/* Whether background_wait would return at once. */
bool background_is_done(background *b);
/* What became of the task; its message becomes the caller's. */
spate_status background_wait(background *b);

#endif
