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

enum { POCKET_POINTS = 1000, SIDES = 6 };

typedef uint64_t brick_bits[8];

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

/* The brick next to one across side 2 axis + end; -1: there is none. */
static int32_t brick_beside(const lattice *l, int64_t brick, int side) {
    static const int step[3] = {1, 3, 9};
    return l->around[brick][AROUND_SELF + (side & 1 ? step[side / 2] : -step[side / 2])];
}

/* Whether the bricks across a side are beyond the domain: no air comes from there. */
static bool is_wall(const lattice *l, int64_t brick, int side) {
    int a = side / 2;
    int32_t x = l->coords[brick][a] * BRICK_EDGE;
    return side & 1 ? x + BRICK_EDGE > l->last[a] : x <= 0;
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
    const uint64_t first = 0x0101010101010101, last = first << 7;
    uint64_t *found = job->found[brick];
    for (bool more = true; more;) {
        more = false;
        for (int z = 0; z < 8; z++) {
            uint64_t f = found[z], near = (f & ~last) << 1 | (f & ~first) >> 1 | f << 8 | f >> 8;
            if (z > 0) near |= found[z - 1];
            if (z < 7) near |= found[z + 1];
            more |= add_points(job, brick, z, near);
        }
    }
}

/* Spreads over a side of a brick into the next one. */
static void spread_across(pocket_job *job, int32_t brick, int side) {
    const uint64_t first = 0x0101010101010101;
    const uint64_t *found = job->found[brick];
    int32_t next = brick_beside(job->l, brick, side);
    brick_bits over = {0};
    uint64_t any = 0;
    for (int z = 0; z < 8; z++) {
        if (side == 0) over[z] = (found[z] & first) << 7;
        if (side == 1) over[z] = found[z] >> 7 & first;
        if (side == 2) over[z] = found[z] << 56;
        if (side == 3) over[z] = found[z] >> 56;
    }
    if (side == 4) over[7] = found[0];
    if (side == 5) over[0] = found[7];
    for (int z = 0; z < 8; z++) any |= over[z];
    if (!any || is_wall(job->l, brick, side)) return;
    job->open |= next < 0;
    bool more = false;
    for (int z = 0; z < 8 && next >= 0; z++) more |= add_points(job, next, z, over[z]);
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
        for (int z = 0; z < 8; z++) {
            uint64_t bits = job->found[b][z];
            job->seen[b][z] |= bits;
            job->found[b][z] = 0;
            if (fill) l->inside[b][z] |= bits;
            for (; fill && bits; bits &= bits - 1)
                l->values[(int64_t)b * BRICK_POINTS + z * 64 + __builtin_ctzll(bits)] = -l->radius;
        }
        job->is_touched[b] = false;
    }
}

static void find_air(pocket_job *job) {
    const lattice *l = job->l;
    for (int64_t i = 0; i < l->brick_count * BRICK_POINTS; i++) {
        int64_t b = i / BRICK_POINTS;
        int p[3] = {(int)(i & 7), (int)(i >> 3 & 7), (int)(i >> 6 & 7)};
        int32_t x[3];
        for (int a = 0; a < 3; a++) x[a] = l->coords[b][a] * BRICK_EDGE + p[a];
        if (lattice_has(l, x) && !(l->inside[b][p[2]] >> (8 * p[1] + p[0]) & 1))
            job->air[b][p[2]] |= UINT64_C(1) << (8 * p[1] + p[0]);
    }
}

static void settle_all(pocket_job *job) {
    find_air(job);
    for (int32_t b = 0; b < job->l->brick_count; b++)
        for (int z = 0; z < 8; z++)
            for (uint64_t rest; (rest = job->air[b][z] & ~job->seen[b][z]);) {
                follow(job, b, z, rest & -rest);
                settle(job);
            }
}

spate_status lattice_fill_pockets(lattice *l) {
    spate_context *ctx = l->ctx;
    size_t room = (size_t)l->brick_count + 1;
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
