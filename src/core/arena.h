/*
 * Arena: memory that lives and dies together (a scene, a parsed document).
 * Scratch: named buffers for one stage of a step. They keep their memory between steps, so a steady
 * step allocates nothing; every one must have been returned when the step ends.
 */
#ifndef SPATE_CORE_ARENA_H
#define SPATE_CORE_ARENA_H

#include "core/context.h"

typedef struct arena_block arena_block;

typedef struct arena {
    spate_context *ctx;
    arena_block *blocks; /* newest first */
} arena;

arena arena_create(spate_context *ctx);
/* Zeroed, 64-byte aligned; NULL with the message recorded when there is no memory. */
void *arena_take(arena *a, size_t count, size_t size);
/* A copy of `length` bytes of text with a closing zero. */
char *arena_text(arena *a, const char *text, size_t length);
void arena_free(arena *a);

enum { SCRATCH_SLOTS = 64 };

typedef struct scratch_slot {
    const char *name; /* a literal */
    void *memory;
    size_t bytes;
    bool in_use;
} scratch_slot;

typedef struct scratch {
    spate_context *ctx;
    scratch_slot slots[SCRATCH_SLOTS];
} scratch;

/* A buffer of at least count * size bytes. Its content is not defined. */
void *scratch_take(scratch *s, const char *name, size_t count, size_t size);
void scratch_give(scratch *s, const char *name);
/* Whether every buffer has been given back. */
bool scratch_is_empty(const scratch *s);
void scratch_free(scratch *s);

#endif
