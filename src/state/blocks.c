/*
 * The sparse grid and the sort of particles into it.
 *
 * The sort is stable and has one outcome whatever the number of threads:
 *   1. classify   a block at a time, each particle finds which of its 3^dim neighbours it is in now
 *   2. list       the new set of blocks: those that hold particles, and all their neighbours
 *   3. count      block by block in the old order, how many go from where to where
 *   4. scatter    each old block writes its particles' numbers into their new blocks' ranges
 *   5. by cell    each new block orders its own by cell (stable counting sort), unless nobody asks
 *   6. permute    every field of the list follows
 * Particles added since the last sort come after the others, in the order they were added.
 */
#include "state/blocks.h"

#include <math.h>

enum { CODE_REMOVED = 255, SORT_GRAIN = 8 };

/* ---- The block list -------------------------------------------------------------------------- */

/* The list's own arrays have moved or changed length. */
static void follow_sites(blocks *b) {
    b->count = b->lattice.count;
    b->coords = b->lattice.coords;
    b->neighbours = b->lattice.neighbours;
}

int32_t blocks_find(const blocks *b, const int32_t coords[3]) {
    return sparse_lattice_find(&b->lattice, coords);
}

spate_status blocks_reserve(blocks *b, int64_t capacity) {
    TRY(sparse_lattice_reserve(&b->lattice, capacity));
    follow_sites(b);
    if (capacity <= b->capacity) return SPATE_OK;
    capacity += capacity / 2 + 16;
    int64_t *first = take(b->ctx, (size_t)capacity + 1, sizeof *first);
    int32_t *occupied = take(b->ctx, (size_t)capacity, sizeof *occupied);
    int32_t *tile = take(b->ctx, (size_t)capacity, sizeof *tile);
    if (!first || !occupied || !tile) {
        give(b->ctx, first), give(b->ctx, occupied), give(b->ctx, tile);
        return SPATE_OUT_OF_MEMORY;
    }
    give(b->ctx, b->first), give(b->ctx, b->occupied), give(b->ctx, b->tile);
    b->first = first, b->occupied = occupied, b->tile = tile, b->capacity = capacity;
    return SPATE_OK;
}

spate_status blocks_create(spate_context *ctx, int dim, const int period[3], blocks *b) {
    *b = (blocks){.ctx = ctx,
                  .dim = dim,
                  .period = {period[0], period[1], period[2]},
                  .exchanged = PARTICLE_BIT(velocity) | PARTICLE_BIT(affine)};
    sparse_lattice_create(ctx, dim, period, &b->lattice);
    return blocks_reserve(b, 64);
}

void blocks_free(blocks *b) {
    if (!b->ctx) return;
    sparse_lattice_free(&b->lattice);
    give(b->ctx, b->first), give(b->ctx, b->occupied), give(b->ctx, b->tile);
    give(b->ctx, b->pending), give(b->ctx, b->order);
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) give(b->ctx, b->spare[f]);
    *b = (blocks){0};
}

static void list_occupied(blocks *b) {
    b->occupied_count = 0;
    for (int32_t i = 0; i < b->count; i++) {
        bool holds = b->first[i + 1] > b->first[i];
        b->tile[i] = holds ? b->occupied_count : -1;
        if (holds) b->occupied[b->occupied_count++] = i;
    }
}

spate_status blocks_rebuild(blocks *b, pool *threads) {
    b->lattice.count = b->count;
    TRY(sparse_lattice_link(&b->lattice, threads));
    list_occupied(b);
    b->sorted = b->count ? b->first[b->count] : 0;
    return SPATE_OK;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

spate_status blocks_add(blocks *b, particles *p, const double g[3], int64_t *at) {
    if (p->count + 1 + WIDE > p->capacity) TRY(particles_reserve(p, p->count * 2 + 64));
    TRY(GROW(b->ctx, b->pending, b->pending_capacity, b->pending_count + 1));
    int64_t i = p->count++;
    int32_t *block = b->pending[b->pending_count++];
    for (int a = 0; a < 3; a++) {
        double corner = a < b->dim ? floor(g[a] / BLOCK_EDGE) : 0;
        real local = a < b->dim ? (real)(g[a] - corner * BLOCK_EDGE) : 0;
        if (local >= BLOCK_EDGE) local = 0, corner += 1; /* rounded up to the next block */
        block[a] = (int32_t)corner;
        if (a < b->dim && b->period[a])
            block[a] = ((block[a] % b->period[a]) + b->period[a]) % b->period[a];
        PLANE(p, position, a)[i] = local;
    }
    particles_clear(p, &i, 1, p->fields & ~PARTICLE_BIT(position));
    *at = i;
    return SPATE_OK;
}

spate_status blocks_add_like(blocks *b, particles *p, int64_t i, const double g[3], int64_t *at) {
    real local[3];
    TRY(blocks_add(b, p, g, at));
    for (int a = 0; a < 3; a++) local[a] = PLANE(p, position, a)[*at];
    particles_copy(p, *at, p, i, 1);
    for (int a = 0; a < 3; a++) PLANE(p, position, a)[*at] = local[a];
    return SPATE_OK;
}

spate_status blocks_carry(blocks *b, particles *p, int32_t block, int64_t i) {
    double g[3];
    int64_t to;
    blocks_position(b, p, block, i, g);
    TRY(blocks_add_like(b, p, i, g, &to));
    p->group[i] = GROUP_REMOVED;
    return SPATE_OK;
}

/* ---- The sort -------------------------------------------------------------------------------- */

typedef struct sorter {
    blocks *b;
    particles *p;
    pool *threads;
    uint8_t *code; /* where each particle went: neighbour code, or CODE_REMOVED */
    uint32_t (
        *moves)[NEIGHBOURS_MAX]; /* old occupied block -> neighbour: how many, then where to */
    int32_t (*target)[NEIGHBOURS_MAX]; /* the new number of that neighbour */
    int64_t *ranges;                   /* first and last + 1 particle of each old occupied block */
    int32_t *pending_target; /* the new number of each new particle's block, and its place there */
    uint32_t *pending_place;
    int64_t lost[MAX_THREADS]; /* lowest lost particle, a place for each worker */
    uint32_t *by_block;        /* new index -> old one, by block; blocks.order is by cell too */
    /* the plane being permuted: `bytes` of every element, which are `stride` apart */
    char *from, *to;
    size_t bytes, stride;
} sorter;

static void classify(void *data, chunk items) {
    sorter *s = data;
    blocks *b = s->b;
    particles *p = s->p;
    for (int64_t o = items.begin; o < items.end; o++) {
        int32_t block = b->occupied[o];
        memset(s->moves[o], 0, sizeof s->moves[o]);
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            if (p->group[i] == GROUP_REMOVED) {
                s->code[i] = CODE_REMOVED;
                continue;
            }
            int code = 0;
            for (int a = 0; a < b->dim; a++) {
                real *x = PLANE(p, position, a) + i;
                int step = (*x >= BLOCK_EDGE) - (*x < 0); /* no branch: either is likely */
                real moved = *x - (real)(step * BLOCK_EDGE);
                if (step < 0 && moved >= BLOCK_EDGE) moved = 0, step = 0; /* -0.0000001 + 4 = 4 */
                if (!(moved >= 0 && moved < BLOCK_EDGE)) {
                    if (s->lost[items.worker] < 0 || i < s->lost[items.worker])
                        s->lost[items.worker] = i;
                    step = 0, moved = *x;
                }
                *x = moved;
                code = code * 3 + step + 1;
            }
            s->code[i] = (uint8_t)code;
            s->moves[o][code]++;
        }
    }
}

/* The new set of blocks: those that hold particles, and all neighbours of these. */
static spate_status list_blocks(sorter *s) {
    blocks *b = s->b;
    TRY(sparse_lattice_begin(&b->lattice));
    for (int64_t o = 0; o < b->occupied_count; o++)
        for (int code = 0; code < neighbour_count(b->dim); code++) {
            if (!s->moves[o][code]) continue;
            int32_t c[3];
            sparse_lattice_neighbour(&b->lattice, b->coords[b->occupied[o]], code, c);
            TRY(sparse_lattice_insert(&b->lattice, c));
        }
    for (int64_t i = 0; i < b->pending_count; i++)
        TRY(sparse_lattice_insert(&b->lattice, b->pending[i]));
    TRY(sparse_lattice_widen(&b->lattice));
    sparse_lattice_number(&b->lattice);
    return SPATE_OK;
}

/* Sizes of the new blocks, and where in them each old block's particles begin. */
static void count_moves(sorter *s, int64_t old_occupied) {
    blocks *b = s->b;
    memset(b->first, 0, ((size_t)b->count + 1) * sizeof *b->first);
    for (int64_t o = 0; o < old_occupied; o++)
        for (int code = 0; code < neighbour_count(b->dim); code++) {
            uint32_t moving = s->moves[o][code];
            if (!moving) continue;
            int64_t *size = &b->first[s->target[o][code] + 1];
            s->moves[o][code] = (uint32_t)*size;
            *size += moving;
        }
    for (int64_t i = 0; i < b->pending_count; i++) {
        int64_t *size = &b->first[s->pending_target[i] + 1];
        s->pending_place[i] = (uint32_t)(*size)++;
    }
    for (int32_t i = 0; i < b->count; i++) b->first[i + 1] += b->first[i];
}

static void scatter_numbers(void *data, chunk items) {
    sorter *s = data;
    for (int64_t o = items.begin; o < items.end; o++)
        for (int64_t i = s->ranges[2 * o]; i < s->ranges[2 * o + 1]; i++) {
            if (s->code[i] == CODE_REMOVED) continue;
            int32_t block = s->target[o][s->code[i]];
            s->by_block[s->b->first[block] + s->moves[o][s->code[i]]++] = (uint32_t)i;
        }
}

static void order_by_cell(void *data, chunk items) {
    sorter *s = data;
    const blocks *b = s->b;
    const particles *p = s->p;
    for (int64_t o = items.begin; o < items.end; o++) {
        int32_t block = b->occupied[o];
        int64_t from = b->first[block], to = b->first[block + 1];
        uint32_t starts[BLOCK_NODES_MAX + 1] = {0};
        for (int pass = 0; pass < 2; pass++) {
            for (int64_t k = from; k < to; k++) {
                uint32_t i = s->by_block[k];
                int cell = 0;
                for (int a = 0; a < b->dim; a++)
                    cell = cell * BLOCK_EDGE + (int)PLANE(p, position, a)[i];
                if (pass == 0)
                    starts[cell + 1]++;
                else
                    b->order[from + starts[cell]++] = i;
            }
            for (int c = 0; pass == 0 && c < BLOCK_NODES_MAX; c++) starts[c + 1] += starts[c];
        }
    }
}

/* Part of the elements to the other buffer, in their new order; a copy of a length that the
 * compiler knows is several times as fast. */
static void permute_chunk(void *data, chunk items) {
    const sorter *s = data;
    const uint32_t *order = s->b->order;
    const size_t stride = s->stride, bytes = s->bytes;
    switch (bytes) {
#define CASE(n)                                                                                  \
    case n:                                                                                      \
        for (int64_t k = items.begin; k < items.end; k++)                                        \
            memcpy(s->to + (size_t)k * (n), s->from + order[k] * (stride == (n) ? (n) : stride), \
                   n);                                                                           \
        break
        CASE(1);
        CASE(2);
        CASE(4);
        CASE(8);
        CASE(16);
        CASE(32);
        CASE(48);
#undef CASE
    default:
        for (int64_t k = items.begin; k < items.end; k++)
            memcpy(s->to + (size_t)k * bytes, s->from + order[k] * stride, bytes);
    }
}

static void copy_back(void *data, chunk items) {
    const sorter *s = data;
    if (s->bytes == s->stride) {
        memcpy(s->from + (size_t)items.begin * s->bytes, s->to + (size_t)items.begin * s->bytes,
               (size_t)(items.end - items.begin) * s->bytes);
        return;
    }
    for (int64_t k = items.begin; k < items.end; k++)
        memcpy(s->from + (size_t)k * s->stride, s->to + (size_t)k * s->bytes, s->bytes);
}

/* Planes that hold something: in 2D the third of positions is 0 for all. */
static int used_planes(const sorter *s, particle_field f) {
    return f == PARTICLE_position ? s->b->dim : particle_fields[f].planes;
}

/* To the field's second buffer, which takes its place. */
static void exchange_field(sorter *s, particle_field f, int64_t count) {
    void **slot = particles_slot(s->p, f), *old = *slot;
    s->bytes = s->stride = particle_fields[f].bytes;
    for (int c = 0; c < used_planes(s, f); c++) {
        s->from = particles_element(s->p, f, c, 0);
        s->to = (char *)s->b->spare[f] + (size_t)(c * s->p->capacity) * s->bytes;
        parallel_for(s->threads, count, 4096, permute_chunk, s);
    }
    *slot = s->b->spare[f];
    s->b->spare[f] = old;
}

/* To a second buffer of others and back; elements longer than these go in slices. */
static void permute_field(sorter *s, particle_field f, int64_t count) {
    const bool has_affine = s->p->affine;
    const size_t stride = particle_fields[f].bytes,
                 most = has_affine ? sizeof(real4x3) : sizeof(real4);
    s->to = s->b->spare[has_affine ? PARTICLE_affine : PARTICLE_velocity];
    s->stride = stride;
    for (int c = 0; c < used_planes(s, f); c++)
        for (size_t at = 0; at < stride; at += most) {
            s->bytes = stride - at < most ? stride - at : most;
            s->from = (char *)particles_element(s->p, f, c, 0) + at;
            parallel_for(s->threads, count, 4096, permute_chunk, s);
            parallel_for(s->threads, count, 65536, copy_back, s);
        }
}

static void permute_fields(sorter *s, int64_t count) {
    const unsigned sorted = particle_fields_with(FIELD_SORTED) & s->p->fields;
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        if (!(sorted & 1u << f)) continue;
        if (s->b->exchanged & 1u << f)
            exchange_field(s, (particle_field)f, count);
        else
            permute_field(s, (particle_field)f, count);
    }
    s->p->count = count;
}

/* Second buffers, at the capacity that the particles have now. */
static spate_status reserve_spare(blocks *b, const particles *p) {
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        if (!(b->exchanged & p->fields & 1u << f)) continue;
        size_t elements = (size_t)p->capacity * (size_t)particle_fields[f].planes,
               bytes = elements * particle_fields[f].bytes;
        if (b->spare_bytes[f] == bytes) continue;
        give(b->ctx, b->spare[f]);
        b->spare_bytes[f] = 0;
        b->spare[f] = take(b->ctx, elements, particle_fields[f].bytes);
        if (!b->spare[f]) return SPATE_OUT_OF_MEMORY;
        b->spare_bytes[f] = bytes;
    }
    return GROW(b->ctx, b->order, b->order_capacity, p->count + 1);
}

/* Where the old blocks' particles and the new ones go, while the old list is still there. */
static void find_targets(sorter *s) {
    blocks *b = s->b;
    for (int64_t o = 0; o < b->occupied_count; o++) {
        int32_t block = b->occupied[o];
        s->ranges[2 * o] = b->first[block];
        s->ranges[2 * o + 1] = b->first[block + 1];
        for (int code = 0; code < neighbour_count(b->dim); code++) {
            int32_t c[3];
            if (!s->moves[o][code]) continue;
            sparse_lattice_neighbour(&b->lattice, b->coords[block], code, c);
            s->target[o][code] = blocks_find(b, c);
        }
    }
    for (int64_t i = 0; i < b->pending_count; i++)
        s->pending_target[i] = blocks_find(b, b->pending[i]);
}

/* Steps 2 to 6, once every particle knows where it goes. */
static spate_status rebuild(sorter *s) {
    blocks *b = s->b;
    int64_t old_occupied = b->occupied_count;
    TRY(list_blocks(s));
    find_targets(s);
    TRY(sparse_lattice_finish(&b->lattice, s->threads));
    TRY(blocks_reserve(b, b->lattice.count));
    count_moves(s, old_occupied);
    list_occupied(b);
    parallel_for(s->threads, old_occupied, SORT_GRAIN, scatter_numbers, s);
    for (int64_t i = 0; i < b->pending_count; i++)
        s->by_block[b->first[s->pending_target[i]] + s->pending_place[i]] =
            (uint32_t)(b->sorted + i);
    if (!b->unordered) parallel_for(s->threads, b->occupied_count, SORT_GRAIN, order_by_cell, s);
    b->order_before = s->p->count;
    permute_fields(s, b->first[b->count]);
    b->sorted = s->p->count;
    b->pending_count = 0;
    if (b->pending_capacity > 1 << 16) { /* the bodies were filled: never again so many at once */
        give(b->ctx, b->pending);
        b->pending = NULL, b->pending_capacity = 0;
    }
    b->sorts++;
    return SPATE_OK;
}

spate_status blocks_sort(blocks *b, particles *p, scratch *memory, pool *threads, int64_t *lost) {
    size_t old = (size_t)b->occupied_count + 1;
    size_t fresh = (size_t)b->pending_count + 1;
    sorter s = {.b = b, .p = p, .threads = threads};
    const struct {
        const char *name;
        void **to;
        size_t count, size;
    } needs[] = {
        {"sort moves", (void **)&s.moves, old, sizeof *s.moves},
        {"sort targets", (void **)&s.target, old, sizeof *s.target},
        {"sort ranges", (void **)&s.ranges, 2 * old, sizeof *s.ranges},
        {"sort new blocks", (void **)&s.pending_target, fresh, sizeof *s.pending_target},
        {"sort new places", (void **)&s.pending_place, fresh, sizeof *s.pending_place},
    };
    spate_status status = reserve_spare(b, p);
    int taken = 0;
    *lost = -1;
    for (; taken < COUNT_OF(needs) && !status; taken++) {
        *needs[taken].to =
            scratch_take(memory, needs[taken].name, needs[taken].count, needs[taken].size);
        if (*needs[taken].to) continue;
        status = SPATE_OUT_OF_MEMORY;
        break;
    }
    if (!status) {
        /* Until the fields are permuted this buffer is free for what only the steps before need. */
        uint32_t *free_room = b->spare[PARTICLE_velocity];
        s.by_block = b->unordered ? b->order : free_room;
        s.code = (uint8_t *)(free_room + p->capacity);
        for (int w = 0; w < COUNT_OF(s.lost); w++) s.lost[w] = -1;
        parallel_for(threads, b->occupied_count, SORT_GRAIN, classify, &s);
        for (int w = 0; w < COUNT_OF(s.lost); w++)
            if (s.lost[w] >= 0 && (*lost < 0 || s.lost[w] < *lost)) *lost = s.lost[w];
        if (*lost < 0) status = rebuild(&s);
    }
    while (taken > 0) scratch_give(memory, needs[--taken].name);
    return status;
}

void blocks_moved(const blocks *b, uint32_t *to) {
    memset(to, 0xff, (size_t)b->order_before * sizeof *to);
    for (int64_t k = 0; k < b->first[b->count]; k++) to[b->order[k]] = (uint32_t)k;
}
