/*
 * Pockets: small bubbles amid the liquid, which particles that lie unevenly leave between them.
 * All points of air that hang together along lattice edges are one pocket; one that has no way to
 * a brick without particles and fewer than POCKET_POINTS points becomes liquid.
 *
 * A layer of a brick is a word, so air spreads through 64 points at a time. The order in which it
 * does so does not change what is found.
 */
#include "surface/lattice.h"
#include <string.h>

enum { POCKET_POINTS = 1000, SIDES = 6, LAST = BRICK_EDGE - 1 };

typedef uint64_t brick_bits[BRICK_EDGE];

typedef struct pocket_job {
    lattice *l;
    brick_bits *air;   /* points of air in the domain */
    brick_bits *seen;  /* those of pockets that are known */
    brick_bits *found; /* those of the present pocket */
    int32_t *waiting;  /* bricks into which it may spread */
    int32_t *touched;  /* bricks that it has points of */
    int64_t waiting_count, touched_count;
    bool *is_waiting, *is_touched;
    bool open;
    int64_t points;
} pocket_job;

/* Whether the bricks across side 2 axis + end are beyond the domain: no air comes from there. */
static bool is_wall(const lattice *l, int64_t brick, int side) {
    int a = side / 2;
    return side & 1 ? lattice_point(l, brick, a, BRICK_EDGE) > l->last[a]
                    : lattice_point(l, brick, a, 0) <= 0;
}

static void wait_for(pocket_job *job, int32_t brick) {
    if (!job->is_waiting[brick]) job->waiting[job->waiting_count++] = brick;
    job->is_waiting[brick] = true;
}

/* Adds points to the pocket; true when some are new. */
static bool add_points(pocket_job *job, int32_t brick, int z, uint64_t bits) {
    bits &= job->air[brick][z] & ~job->found[brick][z];
    if (!bits) return false;
    job->found[brick][z] |= bits;
    job->points += __builtin_popcountll(bits);
    if (!job->is_touched[brick]) job->touched[job->touched_count++] = brick;
    job->is_touched[brick] = true;
    return true;
}

/* Spreads within a brick until nothing is new. */
static void spread_inside(pocket_job *job, int32_t brick) {
    const uint64_t first = layer_column, last = first << LAST;
    uint64_t *found = job->found[brick];
    for (bool more = true; more;) {
        more = false;
        for (int z = 0; z < BRICK_EDGE; z++) {
            uint64_t f = found[z], near = (f & ~last) << 1 | (f & ~first) >> 1 | f << BRICK_EDGE |
                                          f >> BRICK_EDGE;
            if (z > 0) near |= found[z - 1];
            if (z < LAST) near |= found[z + 1];
            more |= add_points(job, brick, z, near);
        }
    }
}

/* Spreads over a side of a brick into the next one. */
static void spread_across(pocket_job *job, int32_t brick, int side) {
    const uint64_t first = layer_column;
    const uint64_t *found = job->found[brick];
    int32_t next = lattice_beside(job->l, brick, side / 2, side & 1 ? 1 : -1);
    brick_bits over = {0};
    uint64_t any = 0;
    for (int z = 0; z < BRICK_EDGE; z++) {
        if (side == 0) over[z] = (found[z] & first) << LAST;
        if (side == 1) over[z] = found[z] >> LAST & first;
        if (side == 2) over[z] = found[z] << layer_bit(0, LAST);
        if (side == 3) over[z] = found[z] >> layer_bit(0, LAST);
    }
    if (side == 4) over[LAST] = found[0];
    if (side == 5) over[0] = found[LAST];
    for (int z = 0; z < BRICK_EDGE; z++) any |= over[z];
    if (!any || is_wall(job->l, brick, side)) return;
    job->open |= next < 0;
    bool more = false;
    for (int z = 0; z < BRICK_EDGE && next >= 0; z++) more |= add_points(job, next, z, over[z]);
    if (more) wait_for(job, next);
}

/* Finds all of the pocket that the points `bits` of a layer are in. */
static void follow(pocket_job *job, int32_t brick, int z, uint64_t bits) {
    job->open = false, job->points = 0, job->touched_count = 0;
    add_points(job, brick, z, bits);
    wait_for(job, brick);
    while (job->waiting_count) {
        int32_t b = job->waiting[--job->waiting_count];
        job->is_waiting[b] = false;
        spread_inside(job, b);
        for (int side = 0; side < SIDES; side++) spread_across(job, b, side);
    }
}

/* Makes the pocket liquid when it is small, and forgets it. */
static void settle(pocket_job *job) {
    lattice *l = job->l;
    bool fill = !job->open && job->points < POCKET_POINTS;
    for (int64_t k = 0; k < job->touched_count; k++) {
        int32_t b = job->touched[k];
        for (int z = 0; z < BRICK_EDGE; z++) {
            uint64_t bits = job->found[b][z];
            job->seen[b][z] |= bits;
            job->found[b][z] = 0;
            if (fill) l->inside[b][z] |= bits;
            for (; fill && bits; bits &= bits - 1)
                l->values[(int64_t)b * BRICK_POINTS + z * BRICK_LAYER + __builtin_ctzll(bits)] =
                    -l->radius;
        }
        job->is_touched[b] = false;
    }
}

/* Points of a layer of a brick that are in the domain. */
static uint64_t layer_in_domain(const lattice *l, int64_t brick, int z) {
    uint64_t row = 0, bits = 0;
    const int32_t depth = lattice_point(l, brick, 2, z);
    if (depth < 0 || depth > l->last[2]) return 0;
    for (int k = 0; k < BRICK_EDGE; k++) {
        const int32_t x = lattice_point(l, brick, 0, k);
        row |= (uint64_t)(x >= 0 && x <= l->last[0]) << k;
    }
    for (int k = 0; k < BRICK_EDGE; k++) {
        const int32_t y = lattice_point(l, brick, 1, k);
        if (y >= 0 && y <= l->last[1]) bits |= row << layer_bit(0, k);
    }
    return bits;
}

static void find_air(pocket_job *job) {
    const lattice *l = job->l;
    for (int64_t b = 0; b < l->bricks.count; b++)
        for (int z = 0; z < BRICK_EDGE; z++)
            job->air[b][z] = layer_in_domain(l, b, z) & ~l->inside[b][z];
}

static void settle_all(pocket_job *job) {
    find_air(job);
    for (int32_t b = 0; b < job->l->bricks.count; b++)
        for (int z = 0; z < BRICK_EDGE; z++)
            for (uint64_t rest; (rest = job->air[b][z] & ~job->seen[b][z]);) {
                follow(job, b, z, rest & -rest);
                settle(job);
            }
}

spate_status lattice_fill_pockets(lattice *l) {
    spate_context *ctx = l->ctx;
    size_t room = (size_t)l->bricks.count + 1;
    pocket_job job = {.l = l};
    job.air = take(ctx, room, sizeof *job.air);
    job.seen = take(ctx, room, sizeof *job.seen);
    job.found = take(ctx, room, sizeof *job.found);
    job.waiting = take(ctx, room, sizeof *job.waiting);
    job.touched = take(ctx, room, sizeof *job.touched);
    job.is_waiting = take(ctx, room, sizeof *job.is_waiting);
    job.is_touched = take(ctx, room, sizeof *job.is_touched);
    bool taken = job.air && job.seen && job.found && job.waiting && job.touched && job.is_waiting &&
                 job.is_touched;
    if (taken) settle_all(&job);
    void *const all[] = {job.air,     job.seen,       job.found,     job.waiting,
                         job.touched, job.is_waiting, job.is_touched};
    for (int i = 0; i < COUNT_OF(all); i++) give(ctx, all[i]);
    return taken ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}
