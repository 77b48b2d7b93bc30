/* Arena and scratch memory, both on top of take(). */
#include "core/arena.h"
#include <assert.h>
#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 64, BLOCK_BYTES = 64 * 1024 };

/* The head of a block; what is handed out follows it. */
struct arena_block {
    _Alignas(ALIGNMENT) arena_block *next;
    size_t used, bytes; /* of what follows */
};

arena arena_create(spate_context *ctx) { return (arena){.ctx = ctx}; }

/* A new block with room for `bytes`. A block of ordinary size becomes the one that is filled next;
 * a large one goes behind it, so that the room left there is not lost. */
static arena_block *add_block(arena *a, size_t bytes) {
    const bool large = bytes > BLOCK_BYTES / 2;
    const size_t room = large ? bytes : BLOCK_BYTES;
    arena_block *block = take(a->ctx, 1, sizeof *block + room);
    if (!block) return NULL;
    block->bytes = room;
    arena_block **place = large && a->blocks ? &a->blocks->next : &a->blocks;
    block->next = *place;
    *place = block;
    return block;
}

void *arena_take(arena *a, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - BLOCK_BYTES)
        return take(a->ctx, SIZE_MAX, 1); /* refused, with the usual message */
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes == 0) bytes = ALIGNMENT;
    arena_block *block = a->blocks;
    if (!block || block->bytes - block->used < bytes) block = add_block(a, bytes);
    if (!block) return NULL;
    void *memory = (char *)(block + 1) + block->used;
    block->used += bytes;
    return memory;
}

char *arena_text(arena *a, const char *text, size_t length) {
    char *copy = length < SIZE_MAX ? arena_take(a, length + 1, 1) : NULL;
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void arena_free(arena *a) {
    while (a->blocks) {
        arena_block *next = a->blocks->next;
        give(a->ctx, a->blocks);
        a->blocks = next;
    }
}

static scratch_slot *slot_named(scratch *s, const char *name) {
    for (int i = 0; i < SCRATCH_SLOTS; i++)
        if (s->slots[i].name && !strcmp(s->slots[i].name, name)) return &s->slots[i];
    return NULL;
}

static scratch_slot *slot_new(scratch *s, const char *name) {
    for (int i = 0; i < SCRATCH_SLOTS; i++)
        if (!s->slots[i].name) {
            s->slots[i].name = name;
            return &s->slots[i];
        }
    return NULL;
}

void *scratch_take(scratch *s, const char *name, size_t count, size_t size) {
    scratch_slot *slot = slot_named(s, name);
    if (!slot) slot = slot_new(s, name);
    assert(slot && "SCRATCH_SLOTS is too small");
    assert(!slot->in_use && "a scratch buffer is taken twice");
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return take(s->ctx, count, size);
    if (!slot->memory || bytes > slot->bytes) {
        /* A quarter more than asked for when it grows, as particles from a source come bit by bit.
         */
        size_t room = slot->memory && bytes <= SIZE_MAX / 2 ? bytes + bytes / 4 : bytes;
        give(s->ctx, slot->memory);
        slot->memory = take(s->ctx, room, 1);
        slot->bytes = slot->memory ? room : 0;
        if (!slot->memory) return NULL;
    }
    slot->in_use = true;
    return slot->memory;
}

void scratch_give(scratch *s, const char *name) {
    scratch_slot *slot = slot_named(s, name);
    assert(slot && slot->in_use && "a scratch buffer is returned that was not taken");
    slot->in_use = false;
}

bool scratch_is_empty(const scratch *s) {
    for (int i = 0; i < SCRATCH_SLOTS; i++)
        if (s->slots[i].in_use) return false;
    return true;
}

void scratch_free(scratch *s) {
    for (int i = 0; i < SCRATCH_SLOTS; i++) {
        give(s->ctx, s->slots[i].memory);
        s->slots[i] = (scratch_slot){0};
    }
}
