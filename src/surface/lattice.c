/* Bricks where particles are, and the particles sorted into them; see lattice.h. */
#include "surface/lattice.h"
#include "core/threads.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BITS = 20, KEY_BIAS = 1 << (KEY_BITS - 1), PARTICLE_GRAIN = 16384, BRICK_GRAIN = 32 };

/* A half-space filled evenly, weighted by (1 - r^2 / reach^2)^3, has its centre this share of the
 * reach below a point of its surface: half of the integrals of r^3 and r^2 times the weight. */
static const double flat_share = 0.24609375;

lattice lattice_create(spate_context *ctx, const int last[3], double particle_spacing) {
    lattice l = {.ctx = ctx, .last = {last[0], last[1], last[2]}};
    /* Wide enough to be smooth, and for a thin sheet or drop to be met by lattice points; within
     * the bricks around one's own. */
    double span = fmax(particle_spacing, 1);
    l.reach = (real)fmin(3 * span, BRICK_EDGE);
    l.radius = (real)(flat_share * (double)l.reach);
    l.cut = (real)fmin(2 * span, BRICK_EDGE - 1.5);
    return l;
}

void lattice_free(lattice *l) {
    void *const all[] = {l->keys,         l->coords, l->around, l->table_keys,
                         l->table_bricks, l->filled, l->deep,   l->first,
                         l->particles,    l->values, l->inside};
    for (int i = 0; i < COUNT_OF(all); i++) give(l->ctx, all[i]);
    *l = (lattice){.ctx = l->ctx};
}

/* ---- Bricks by their coordinates ------------------------------------------------------------- */

static uint64_t key_of(const int32_t c[3]) {
    uint64_t key = 0;
    for (int a = 2; a >= 0; a--) key = key << KEY_BITS | (uint64_t)(c[a] + KEY_BIAS);
    return key;
}

/* Where a key is in the table, or the free place where it would be. */
static int64_t table_place(const lattice *l, uint64_t key) {
    uint64_t mask = (uint64_t)l->table_size - 1;
    uint64_t at = (key * 0x9e3779b97f4a7c15u) >> 32 & mask;
    while (l->table_keys[at] && l->table_keys[at] != key + 1) at = (at + 1) & mask;
    return (int64_t)at;
}

static spate_status make_table(lattice *l, int64_t size) {
    give(l->ctx, l->table_keys);
    give(l->ctx, l->table_bricks);
    l->table_size = size;
    l->table_keys = take(l->ctx, (size_t)size, sizeof *l->table_keys);
    l->table_bricks = take(l->ctx, (size_t)size, sizeof *l->table_bricks);
    if (!l->table_keys || !l->table_bricks) return SPATE_OUT_OF_MEMORY;
    for (int64_t b = 0; b < l->brick_count; b++) {
        int64_t at = table_place(l, l->keys[b]);
        l->table_keys[at] = l->keys[b] + 1;
        l->table_bricks[at] = (int32_t)b;
    }
    return SPATE_OK;
}

int32_t lattice_find(const lattice *l, const int32_t coords[3]) {
    int64_t at = l->table_size ? table_place(l, key_of(coords)) : 0;
    return l->table_size && l->table_keys[at] ? l->table_bricks[at] : -1;
}

spate_status lattice_add_brick(lattice *l, const int32_t coords[3]) {
    if (2 * (l->brick_count + 1) > l->table_size)
        TRY(make_table(l, l->table_size ? 2 * l->table_size : 1024));
    uint64_t key = key_of(coords);
    int64_t at = table_place(l, key);
    if (l->table_keys[at]) return SPATE_OK;
    TRY(GROW(l->ctx, l->keys, l->brick_capacity, l->brick_count + 1));
    l->table_keys[at] = key + 1;
    l->table_bricks[at] = (int32_t)l->brick_count;
    l->keys[l->brick_count++] = key;
    return SPATE_OK;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void find_around(void *data, chunk items) {
    lattice *l = data;
    for (int64_t b = items.begin; b < items.end; b++)
        for (int k = 0; k < AROUND; k++) {
            int32_t c[3] = {l->coords[b][0] + k % 3 - 1, l->coords[b][1] + k / 3 % 3 - 1,
                            l->coords[b][2] + k / 9 - 1};
            l->around[b][k] = lattice_find(l, c);
        }
}

spate_status lattice_order(lattice *l) {
    size_t count = (size_t)l->brick_count;
    if (count) qsort(l->keys, count, sizeof *l->keys, compare_keys);
    l->coords = take(l->ctx, count + 1, sizeof *l->coords);
    l->around = take(l->ctx, count + 1, sizeof *l->around);
    l->filled = take(l->ctx, count + 1, sizeof *l->filled);
    l->deep = take(l->ctx, count + 1, sizeof *l->deep);
    l->values = take(l->ctx, count * BRICK_POINTS + 1, sizeof *l->values);
    l->inside = take(l->ctx, count + 1, sizeof *l->inside);
    if (!l->coords || !l->around || !l->filled || !l->deep || !l->values || !l->inside)
        return SPATE_OUT_OF_MEMORY;
    for (int64_t b = 0; b < l->brick_count; b++)
        for (int a = 0; a < 3; a++)
            l->coords[b][a] =
                (int32_t)(l->keys[b] >> (a * KEY_BITS) & ((1u << KEY_BITS) - 1)) - KEY_BIAS;
    TRY(make_table(l, l->table_size ? l->table_size : 2));
    parallel_for(l->ctx->pool, l->brick_count, BRICK_GRAIN, find_around, l);
    return SPATE_OK;
}

static void mark_bricks(void *data, chunk items) {
    lattice *l = data;
    for (int64_t b = items.begin; b < items.end; b++)
        for (int z = 0; z < BRICK_EDGE; z++) {
            const real *layer = l->values + b * BRICK_POINTS + z * 64;
            uint64_t bits = 0;
            for (int i = 0; i < 64; i++) bits |= (uint64_t)(layer[i] < 0) << i;
            l->inside[b][z] = bits;
        }
}

void lattice_mark_inside(lattice *l) {
    parallel_for(l->ctx->pool, l->brick_count, BRICK_GRAIN, mark_bricks, l);
}

/* ---- Particles ------------------------------------------------------------------------------- */

typedef struct build_job {
    lattice *l;
    lattice_particle *list; /* particles and their images, in the order given */
    int64_t count, capacity;
    int32_t *cell; /* of each: 64 brick + cell */
} build_job;

/* A little outside is fine: walls are soft, and open sides let particles go. */
static bool is_near(const lattice *l, const real x[3]) {
    for (int a = 0; a < 3; a++)
        if (!(x[a] >= -2 && x[a] <= (real)(l->last[a] + 2))) return false;
    return true;
}

static spate_status list_particles(build_job *job, const surface_particle *particles,
                                   int64_t count) {
    TRY(GROW(job->l->ctx, job->list, job->capacity, count + 1));
    for (int64_t i = 0; i < count; i++) {
        if (!is_near(job->l, particles[i].x)) continue;
        lattice_particle *p = &job->list[job->count++];
        memcpy(p->x, particles[i].x, sizeof p->x);
        p->index = (int32_t)i;
    }
    return SPATE_OK;
}

/* Images of what is near a side, axis after axis, so that edges and corners get theirs too. */
static spate_status add_images(build_job *job, const bool periodic[3]) {
    const lattice *l = job->l;
    for (int side = 0; side < 6; side++) {
        int axis = side / 2, upper = side % 2;
        real far = (real)l->last[axis], wall = upper ? far : 0;
        /* A period's images are those of the other end; they are made from what was there before.
         * */
        real from = periodic[axis] && !upper ? far : periodic[axis] ? 0 : wall;
        for (int64_t i = 0, n = job->count; i < n; i++) {
            real x = job->list[i].x[axis];
            bool image = upper && periodic[axis] && x < 0;
            if (image || (x > from ? x - from : from - x) > l->reach) continue;
            TRY(GROW(l->ctx, job->list, job->capacity, job->count + 1));
            lattice_particle *p = &job->list[job->count++];
            *p = job->list[i];
            p->x[axis] = periodic[axis] ? x + (upper ? far : -far) : 2 * wall - x;
        }
    }
    return SPATE_OK;
}

static int32_t brick_of(real x) { return (int32_t)floor((double)x / BRICK_EDGE); }

/* Bricks of all points that can be inside because of some particle, and of those next to them. */
static spate_status add_bricks(build_job *job) {
    real margin = job->l->cut + (real)1.01;
    int32_t before[6] = {0};
    for (int64_t i = 0; i < job->count; i++) {
        int32_t range[6];
        for (int a = 0; a < 3; a++) {
            range[a] = brick_of(job->list[i].x[a] - margin);
            range[3 + a] = brick_of(job->list[i].x[a] + margin);
        }
        if (i && !memcmp(range, before, sizeof range)) continue;
        memcpy(before, range, sizeof before);
        int32_t c[3];
        for (c[2] = range[2]; c[2] <= range[5]; c[2]++)
            for (c[1] = range[1]; c[1] <= range[4]; c[1]++)
                for (c[0] = range[0]; c[0] <= range[3]; c[0]++) TRY(lattice_add_brick(job->l, c));
    }
    if (job->l->brick_count >= INT32_MAX / BRICK_CELLS)
        return fail(
            job->l->ctx, SPATE_BAD_INPUT,
            "the liquid's surface needs too fine a lattice; lower output.surface_resolution");
    return SPATE_OK;
}

static void find_cells(void *data, chunk items) {
    build_job *job = data;
    for (int64_t i = items.begin; i < items.end; i++) {
        int32_t brick[3];
        int cell = 0;
        for (int a = 2; a >= 0; a--) {
            real x = job->list[i].x[a];
            brick[a] = brick_of(x);
            int inner = (int)((x - (real)(brick[a] * BRICK_EDGE)) / 2);
            cell = 4 * cell + (inner > 3 ? 3 : inner);
        }
        job->cell[i] = lattice_find(job->l, brick) * BRICK_CELLS + cell;
    }
}

/* Whether the cell at c (-1..4) of a brick's neighbourhood holds particles. */
static bool is_filled(const lattice *l, int64_t brick, const int c[3]) {
    int k = 0, bit = 0;
    for (int a = 2; a >= 0; a--) {
        k = 3 * k + (c[a] < 0 ? 0 : c[a] > 3 ? 2 : 1);
        bit = 4 * bit + (c[a] & 3);
    }
    int32_t b = l->around[brick][k];
    return b >= 0 && l->filled[b] >> bit & 1;
}

static uint64_t deep_cells(const lattice *l, int64_t brick) {
    bool filled[6][6][6];
    uint64_t deep = l->filled[brick];
    for (int i = 0; i < 216 && deep; i++) {
        int c[3] = {i % 6 - 1, i / 6 % 6 - 1, i / 36 - 1};
        filled[i / 36][i / 6 % 6][i % 6] = is_filled(l, brick, c);
    }
    for (int cell = 0; cell < BRICK_CELLS && deep; cell++) {
        int x = cell & 3, y = cell >> 2 & 3, z = cell >> 4;
        bool all = true;
        for (int k = 0; k < AROUND; k++) all &= filled[z + k / 9][y + k / 3 % 3][x + k % 3];
        if (!all) deep &= ~(UINT64_C(1) << cell);
    }
    return deep;
}

static void find_deep(void *data, chunk items) {
    lattice *l = ((build_job *)data)->l;
    for (int64_t b = items.begin; b < items.end; b++) l->deep[b] = deep_cells(l, b);
}

/* Particles of a brick that is deep amid deep ones are not needed. */
static bool is_needed(const lattice *l, int64_t brick) {
    for (int k = 0; k < AROUND; k++) {
        int32_t b = l->around[brick][k];
        if (b >= 0 && ~l->deep[b]) return true;
    }
    return false;
}

/* A counting sort, by particle: within a cell they keep their order. */
static spate_status sort_particles(build_job *job) {
    lattice *l = job->l;
    int64_t cells = l->brick_count * BRICK_CELLS;
    l->first = take(l->ctx, (size_t)cells + 2, sizeof *l->first);
    if (!l->first) return SPATE_OUT_OF_MEMORY;
    int64_t *next =
        l->first + 1; /* where the next particle of a cell goes, then where the cell ends */
    for (int64_t i = 0; i < job->count; i++) {
        next[job->cell[i]]++;
        l->filled[job->cell[i] / BRICK_CELLS] |= UINT64_C(1) << job->cell[i] % BRICK_CELLS;
    }
    parallel_for(l->ctx->pool, l->brick_count, BRICK_GRAIN, find_deep, job);
    int64_t sum = 0;
    for (int64_t b = 0; b < l->brick_count; b++) {
        bool needed = is_needed(l, b);
        for (int64_t c = b * BRICK_CELLS; c < (b + 1) * BRICK_CELLS; c++) {
            int64_t held = needed ? next[c] : 0;
            next[c] = needed ? sum : -1;
            sum += held;
        }
    }
    l->particles = take(l->ctx, (size_t)sum + 1, sizeof *l->particles);
    if (!l->particles) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < job->count; i++)
        if (next[job->cell[i]] >= 0) l->particles[next[job->cell[i]]++] = job->list[i];
    for (int64_t c = 0, end = 0; c < cells; c++) next[c] = end = next[c] < 0 ? end : next[c];
    return SPATE_OK;
}

spate_status lattice_build(lattice *l, const surface_particle *particles, int64_t count,
                           const bool periodic[3]) {
    build_job job = {.l = l};
    spate_status status;
    TRY_OR_DONE(status, list_particles(&job, particles, count));
    TRY_OR_DONE(status, add_images(&job, periodic));
    TRY_OR_DONE(status, add_bricks(&job));
    TRY_OR_DONE(status, lattice_order(l));
    job.cell = take(l->ctx, (size_t)job.count + 1, sizeof *job.cell);
    if (!job.cell) TRY_OR_DONE(status, SPATE_OUT_OF_MEMORY);
    parallel_for(l->ctx->pool, job.count, PARTICLE_GRAIN, find_cells, &job);
    status = sort_particles(&job);
done:
    give(l->ctx, job.list);
    give(l->ctx, job.cell);
    return status;
}
