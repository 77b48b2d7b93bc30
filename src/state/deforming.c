#include "state/deforming.h"

#include "core/threads.h"
#include "core/vec.h"
#include "scene/mesh_tree.h"

enum {
    EDGE = 4,  /* cells of a brick */
    SLOTS = 3, /* keys that are kept: a step asks for its beginning and its end */
    GRAIN = 16,
    MOST_BRICKS = 1 << 26,
};
#define FINER    0.5 /* spacing of samples, of a cell */
#define BAND     3.0 /* spacings around the surface that are sampled */
#define PART     1.0 /* spacings that the surface goes from a key to the next, at most */
#define FAR_AWAY (-1)

typedef float sample[4]; /* distance, velocity */

/* A brick as seen from its middle. */
typedef struct brick_middle {
    float distance, normal[3], velocity[3];
    int32_t first; /* of its samples, or FAR_AWAY */
} brick_middle;

typedef struct distance_key {
    int64_t number; /* -1: none yet */
    int64_t used;   /* when it was last asked for */
    bounds box;
    brick_middle *bricks;
    sample *samples;
    int64_t capacity;
} distance_key;

struct deforming {
    spate_context *ctx;
    const mesh_sequence *sequence;
    int dim;
    deforming_use use;
    double spacing;
    double origin[3];
    int64_t count[3], bricks;
    int64_t *first_key; /* of each file; the way to the next has a key at both ends */
    mesh shown;         /* as at the key that is sampled */
    double (*velocities)[3];
    arena arena;
    int32_t *twins;
    distance_key keys[SLOTS];
    int64_t clock;
    /* now */
    const distance_key *from, *to;
    double share;
    bool moving;
    int64_t sampled;
};

/* ---- Sampling a key -------------------------------------------------------------------------- */

/* How fast a triangle grows, over its area: the trace of W G^-1 E^T, with edges E, their velocities
 * W and G = E^T E. In 2D, where the plane cuts it: how fast the cut does, over its length. */
static double growth(const deforming *d, int64_t triangle, const double normal[3]) {
    const mesh_corner *e = &d->shown.corners[triangle];
    const int32_t *c = d->shown.triangles[triangle];
    double w[2][3], t[3] = {-normal[1], normal[0], 0};
    for (int k = 0; k < 2; k++) vec_sub(w[k], d->velocities[c[k + 1]], d->velocities[c[0]]);
    const double bb = vec_dot(e->ab, e->ab), bc = vec_dot(e->ab, e->ac), cc = vec_dot(e->ac, e->ac);
    const double det = bb * cc - bc * bc;
    if (!(det > 1e-12 * bb * cc)) return 0;
    if (d->dim == 3)
        return (cc * vec_dot(w[0], e->ab) - bc * (vec_dot(w[0], e->ac) + vec_dot(w[1], e->ab)) +
                bb * vec_dot(w[1], e->ac)) /
               det;
    const double tb = vec_dot(t, e->ab), tc = vec_dot(t, e->ac), tt = vec_dot(t, t);
    const double along_b = (cc * tb - bc * tc) / det, along_c = (bb * tc - bc * tb) / det;
    return tt > 0 ? (along_b * vec_dot(w[0], t) + along_c * vec_dot(w[1], t)) / tt : 0;
}

/* Velocity at x, at a distance from the nearest point of a triangle: that of the point, less what
 * the surface grows by on the way there. So it has no divergence near the surface, and what flows
 * out of a cell that the surface cuts is what the surface pushes out of it. */
static void velocity_at(const deforming *d, int64_t triangle, const double x[3], double distance,
                        const double normal[3], double out[3]) {
    const int32_t *c = d->shown.triangles[triangle];
    double share[3];
    mesh_nearest_shares(&d->shown, triangle, x, share);
    vec_set(out, 0, 0, 0);
    for (int k = 0; k < 3; k++) vec_add_scaled(out, out, share[k], d->velocities[c[k]]);
    if (d->use == DEFORMING_CARRIES) return;
    const double speed = vec_length(out), change = -distance * growth(d, triangle, normal);
    vec_add_scaled(out, out, fmin(fmax(change, -speed), speed), normal);
}

static void middle_of(const deforming *d, int64_t brick, double x[3]) {
    const int64_t at[3] = {brick % d->count[0], brick / d->count[0] % d->count[1],
                           brick / d->count[0] / d->count[1]};
    for (int a = 0; a < 3; a++)
        x[a] = a < d->dim ? d->origin[a] + EDGE * d->spacing * ((double)at[a] + 0.5) : 0;
}

typedef struct key_job {
    const deforming *d;
    distance_key *key;
} key_job;

/* What lies beyond the mesh's box and the band is not looked for. */
static bool middle_beyond(const key_job *j, const double x[3], double near, brick_middle *b) {
    const deforming *d = j->d;
    const double gap = bounds_gap(&j->key->box, d->dim, x);
    if (!(gap > near)) return false;
    *b = (brick_middle){.distance = (float)gap, .first = FAR_AWAY};
    for (int a = 0; a < d->dim; a++) {
        const double below = j->key->box.min[a] - x[a], above = x[a] - j->key->box.max[a];
        b->normal[a] = (float)(below > 0 ? -below / gap : above > 0 ? above / gap : 0);
    }
    return true;
}

static void look_at_middles(void *data, chunk items) {
    const key_job *j = data;
    const deforming *d = j->d;
    const double half = EDGE * d->spacing / 2 * sqrt(d->dim), near = half + BAND * d->spacing;
    mesh_hint hint = {0};
    for (int64_t i = items.begin; i < items.end; i++) {
        brick_middle *b = &j->key->bricks[i];
        double x[3], normal[3], velocity[3];
        middle_of(d, i, x);
        if (middle_beyond(j, x, near, b)) continue;
        const double distance = mesh_distance_near(&d->shown, x, &hint, normal);
        velocity_at(d, hint.triangle, x, distance, normal, velocity);
        *b = (brick_middle){.distance = (float)distance,
                            .first = fabs(distance) <= near ? 0 : FAR_AWAY};
        for (int a = 0; a < 3; a++)
            b->normal[a] = (float)normal[a], b->velocity[a] = (float)velocity[a];
    }
}

/* What the middle makes of a sample of its brick. */
static void guess_sample(const deforming *d, const brick_middle *b, const int at[3], sample out) {
    out[0] = b->distance;
    for (int a = 0; a < d->dim; a++)
        out[0] += b->normal[a] * (float)d->spacing * (float)(at[a] - EDGE / 2);
    for (int a = 0; a < 3; a++) out[a + 1] = b->velocity[a];
}

/* Whether a sample is so far from the surface, as seen from the middle, that it is in no band. */
static bool is_beyond_band(const deforming *d, const brick_middle *b, const int at[3]) {
    double squared = 0;
    for (int a = 0; a < d->dim; a++) squared += (at[a] - EDGE / 2) * (at[a] - EDGE / 2);
    return fabs((double)b->distance) > (sqrt(squared) + BAND) * d->spacing;
}

static int samples_of(int dim) { return dim == 3 ? EDGE * EDGE * EDGE : EDGE * EDGE; }

static void sample_bricks(void *data, chunk items) {
    const key_job *j = data;
    const deforming *d = j->d;
    mesh_hint hint = {0};
    for (int64_t i = items.begin; i < items.end; i++) {
        const brick_middle *b = &j->key->bricks[i];
        double corner[3];
        if (b->first == FAR_AWAY) continue;
        middle_of(d, i, corner);
        for (int a = 0; a < d->dim; a++) corner[a] -= EDGE * d->spacing / 2;
        for (int n = 0; n < samples_of(d->dim); n++) {
            const int at[3] = {n % EDGE, n / EDGE % EDGE, n / EDGE / EDGE};
            float *out = j->key->samples[b->first + n];
            double x[3], normal[3], velocity[3];
            if (is_beyond_band(d, b, at)) {
                guess_sample(d, b, at, out);
                continue;
            }
            for (int a = 0; a < 3; a++) x[a] = a < d->dim ? corner[a] + d->spacing * at[a] : 0;
            const double distance = mesh_distance_near(&d->shown, x, &hint, normal);
            velocity_at(d, hint.triangle, x, distance, normal, velocity);
            out[0] = (float)distance;
            for (int a = 0; a < 3; a++) out[a + 1] = (float)velocity[a];
        }
    }
}

/* The mesh as it is at a key, and its vertices' velocities on the way that the key belongs to. */
static void show_key(deforming *d, int from, double share) {
    const mesh_sequence *s = d->sequence;
    mesh_sequence_blend(s, from, share, d->shown.vertices);
    mesh_refit(&d->shown, d->twins);
    for (int64_t v = 0; v < d->shown.vertex_count; v++) {
        vec_sub(d->velocities[v], s->vertices[from + 1][v], s->vertices[from][v]);
        vec_scale(d->velocities[v], s->fps, d->velocities[v]);
    }
}

static spate_status sample_key(deforming *d, distance_key *key, int from, double share) {
    pool *threads = d->ctx->pool;
    key_job job = {d, key};
    int64_t next = 0;
    show_key(d, from, share);
    for (int a = 0; a < 3; a++)
        key->box.min[a] = d->shown.min[a], key->box.max[a] = d->shown.max[a];
    parallel_for(threads, d->bricks, GRAIN, look_at_middles, &job);
    for (int64_t i = 0; i < d->bricks; i++) {
        if (key->bricks[i].first == FAR_AWAY) continue;
        key->bricks[i].first = (int32_t)next;
        next += samples_of(d->dim);
    }
    TRY(GROW(d->ctx, key->samples, key->capacity, next + 1));
    parallel_for(threads, d->bricks, GRAIN, sample_bricks, &job);
    d->sampled++;
    return SPATE_OK;
}

/* ---- Keys in time ---------------------------------------------------------------------------- */

/* How many parts the way from a file to the next has. */
static int64_t parts_of(const deforming *d, int from) {
    const double parts = ceil(d->sequence->way[from] / (PART * d->spacing));
    return parts > 1 ? (int64_t)parts : 1;
}

static spate_status find_key(deforming *d, int from, int64_t part, const distance_key **out) {
    const int64_t number = d->first_key[from] + part;
    distance_key *oldest = &d->keys[0];
    for (int k = 0; k < SLOTS; k++) {
        distance_key *key = &d->keys[k];
        if (key->used < oldest->used) oldest = key;
        if (key->number != number) continue;
        key->used = ++d->clock;
        *out = key;
        return SPATE_OK;
    }
    oldest->number = -1; /* until it is whole */
    TRY(sample_key(d, oldest, from, (double)part / (double)parts_of(d, from)));
    oldest->number = number;
    oldest->used = ++d->clock;
    *out = oldest;
    return SPATE_OK;
}

spate_status deforming_move(deforming *d, double t) {
    const sequence_place at = mesh_sequence_at(d->sequence, t);
    const int64_t parts = parts_of(d, at.from);
    const double place = at.share * (double)parts;
    int64_t part = (int64_t)place;
    if (part > parts - 1) part = parts - 1;
    d->share = place - (double)part;
    d->moving = at.moving;
    TRY(find_key(d, at.from, part, &d->from));
    return find_key(d, at.from, part + 1, &d->to);
}

bounds deforming_box(const deforming *d) {
    bounds box = d->from->box;
    for (int a = 0; a < 3; a++) {
        box.min[a] = fmin(box.min[a], d->to->box.min[a]);
        box.max[a] = fmax(box.max[a], d->to->box.max[a]);
    }
    return box;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* A sample of a key, blended into `sum` with a weight; of a far brick by its middle. Of the four
 * numbers the first `parts` are wanted. */
static void add_sample(const deforming *d, const distance_key *key, const int64_t at[3], float w,
                       int parts, float sum[4]) {
    int64_t brick[3] = {0, 0, 0};
    int in[3] = {0, 0, 0};
    bool own = true;
    for (int a = 0; a < d->dim; a++) {
        brick[a] = at[a] / EDGE;
        if (brick[a] >= d->count[a]) brick[a] = d->count[a] - 1; /* the last corner */
        in[a] = (int)(at[a] - EDGE * brick[a]);
        own &= in[a] < EDGE;
    }
    const brick_middle *b =
        &key->bricks[brick[0] + d->count[0] * (brick[1] + d->count[1] * brick[2])];
    sample guess;
    const float *s = guess;
    if (own && b->first != FAR_AWAY)
        s = key->samples[b->first + in[0] + EDGE * (in[1] + EDGE * in[2])];
    else
        guess_sample(d, b, in, guess);
    for (int k = 0; k < parts; k++) sum[k] += w * s[k];
}

/* Corners of the cell of x, blended in time; false where there is no lattice. */
static bool load_corners(const deforming *d, const double x[3], int parts, float corner[8][4],
                         float share[3]) {
    int64_t cell[3] = {0, 0, 0};
    for (int a = 0; a < d->dim; a++) {
        const double at = (x[a] - d->origin[a]) / d->spacing;
        if (!(at >= 0 && at < (double)(EDGE * d->count[a]))) return false;
        cell[a] = (int64_t)at;
        share[a] = (float)(at - (double)cell[a]);
    }
    for (int k = 0; k < 1 << d->dim; k++) {
        const int64_t at[3] = {cell[0] + (k & 1), cell[1] + (k >> 1 & 1), cell[2] + (k >> 2)};
        for (int c = 0; c < parts; c++) corner[k][c] = 0;
        add_sample(d, d->from, at, (float)(1 - d->share), parts, corner[k]);
        if (d->share > 0) add_sample(d, d->to, at, (float)d->share, parts, corner[k]);
    }
    return true;
}

static double beyond(const deforming *d, const double x[3], double normal[3]) {
    const bounds box = deforming_box(d);
    if (normal) {
        vec_set(normal, 0, 0, 0);
        for (int a = 0; a < d->dim; a++) normal[a] = x[a] - (box.min[a] + box.max[a]) / 2;
        if (!vec_normalise(normal)) vec_set(normal, 1, 0, 0);
    }
    return fmax(bounds_gap(&box, d->dim, x), BAND * d->spacing);
}

/* Weights of a cell's corners, and of their differences along an axis (-1: none). */
static float corner_weight(const float share[3], int dim, int k, int along) {
    float w = 1;
    for (int a = 0; a < dim; a++) {
        const bool high = k >> a & 1;
        if (a == along)
            w *= high ? 1 : -1;
        else
            w *= high ? share[a] : 1 - share[a];
    }
    return w;
}

double deforming_distance(const deforming *d, const double x[3], double normal[3],
                          double velocity[3]) {
    float corner[8][4], share[3] = {0};
    if (velocity) vec_set(velocity, 0, 0, 0);
    if (!load_corners(d, x, velocity ? 4 : 1, corner, share)) return beyond(d, x, normal);
    double distance = 0;
    for (int k = 0; k < 1 << d->dim; k++) {
        const float w = corner_weight(share, d->dim, k, -1);
        distance += (double)(w * corner[k][0]);
        for (int a = 0; a < d->dim && velocity && d->moving; a++)
            velocity[a] += (double)(w * corner[k][a + 1]);
    }
    if (!normal) return distance;
    vec_set(normal, 0, 0, 0);
    for (int a = 0; a < d->dim; a++)
        for (int k = 0; k < 1 << d->dim; k++)
            normal[a] += (double)(corner_weight(share, d->dim, k, a) * corner[k][0]);
    if (!vec_normalise(normal)) vec_set(normal, 1, 0, 0);
    return distance;
}

double deforming_error(const deforming *d) { return 0.25 * d->spacing; }

int64_t deforming_keys(const deforming *d) { return d->sampled; }

/* ---- Making one ------------------------------------------------------------------------------ */

/* Bricks that cover what of the sequence and its band lies in reach; false: too many. */
static bool lay_bricks(deforming *d, const bounds *reach) {
    const double side = EDGE * d->spacing, band = (BAND + 1) * d->spacing;
    double all = 1;
    for (int a = 0; a < 3; a++) d->count[a] = 1;
    for (int a = 0; a < d->dim; a++) {
        const double low = fmax(d->sequence->box.min[a] - band, reach->min[a]);
        const double high = fmin(d->sequence->box.max[a] + band, reach->max[a]);
        const double count = high > low ? ceil((high - low) / side) : 1;
        all *= count;
        if (!(all <= MOST_BRICKS)) return false;
        d->count[a] = (int64_t)count;
        d->origin[a] = low;
    }
    d->bricks = (int64_t)all;
    return true;
}

static spate_status copy_mesh(deforming *d) {
    static const double same[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    mesh *copy;
    d->arena = arena_create(d->ctx);
    TRY(mesh_map(&d->arena, d->sequence->mesh, same, &copy));
    d->shown = *copy;
    TRY(mesh_pair_edges(d->ctx, &d->shown, &d->twins));
    d->velocities = take(d->ctx, (size_t)d->shown.vertex_count, sizeof *d->velocities);
    return d->velocities ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static spate_status take_keys(deforming *d) {
    d->first_key = take(d->ctx, (size_t)d->sequence->count, sizeof *d->first_key);
    if (!d->first_key) return SPATE_OUT_OF_MEMORY;
    for (int k = 0; k + 1 < d->sequence->count; k++)
        d->first_key[k + 1] = d->first_key[k] + parts_of(d, k) + 1;
    for (int k = 0; k < SLOTS; k++) {
        d->keys[k].number = -1;
        d->keys[k].bricks = take(d->ctx, (size_t)d->bricks, sizeof *d->keys[k].bricks);
        if (!d->keys[k].bricks) return SPATE_OUT_OF_MEMORY;
    }
    return SPATE_OK;
}

spate_status deforming_create(spate_context *ctx, const mesh_sequence *s, int dim, double cell,
                              const bounds *reach, deforming_use use, deforming **out) {
    *out = NULL;
    deforming *d = take(ctx, 1, sizeof *d);
    if (!d) return SPATE_OUT_OF_MEMORY;
    *d = (deforming){.ctx = ctx,
                     .sequence = s,
                     .dim = dim,
                     .spacing = FINER * cell,
                     .use = use,
                     .arena = arena_create(ctx)};
    if (!lay_bricks(d, reach)) {
        deforming_free(d);
        return SPATE_OK;
    }
    spate_status status = copy_mesh(d);
    if (!status) status = take_keys(d);
    if (!status) status = deforming_move(d, 0);
    if (status)
        deforming_free(d);
    else
        *out = d;
    return status;
}

void deforming_free(deforming *d) {
    if (!d) return;
    for (int k = 0; k < SLOTS; k++) {
        give(d->ctx, d->keys[k].bricks);
        give(d->ctx, d->keys[k].samples);
    }
    give(d->ctx, d->first_key), give(d->ctx, d->twins), give(d->ctx, d->velocities);
    arena_free(&d->arena);
    give(d->ctx, d);
}
