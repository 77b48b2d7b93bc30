/*
 * Points in layers below the surface of a collider, from its signed distance:
 *
 *   1. candidates   points of a lattice of half the spacing that lie in the layers, or just outside
 *                   of the surface; boxes of them that are far from it are skipped whole
 *   2. projection   each is moved along the gradient of the distance until it is at the depth of
 *                   its layer (Newton). Where the solid is too thin for the first layer, the way in
 *                   comes to face the other side: there the point stays half way between the sides
 *   3. choice       one after the other, those that have no chosen point of their layer nearby:
 *                   first the ones that were on the liquid's lattice and in place at once (so a
 *                   flat wall along the axes continues that lattice), then those in corners and
 *                   edges, that these be not cut off, then the others on that lattice, then those
 *                   between, then those from outside. Sharp tips, from which the first layer is
 *                   far, get what candidates there are in them
 *   4. volumes      as boundary.h says, from all points chosen; only then
 *   5. clipping     what is behind the closed sides of the domain or in another collider goes,
 *                   because those have points of their own there
 */
#include "solver/sph/boundary_sampling.h"

#include "core/random.h"
#include "core/vec.h"
#include "solver/sph/kernel.h"

/* In spacings. */
static const double OUTSIDE = 0.45;   /* no place is farther from the half lattice */
static const double IN_PLACE = 1e-4;  /* of a layer's depth: near enough */
static const double ACCEPTABLE = 0.1; /* the same where a rough distance allows no better */
static const double CROWDED = 0.85;   /* the least distance between two points of a layer */
static const double BACKED = 0.6;     /* the same between points behind opposite sides */
static const double LONELY = 1.1;     /* no part of the first layer is so far from a point */
static const double SHALLOW = 0.15;   /* depth that is too small for a point */
static const double OPPOSITE = -0.6;  /* cosine between the normals of two sides of a thin part */
static const double SAME = 0.9;       /* the same between what counts as one face */
static const double LARGEST = 1.5;    /* volume, in spacing^dim: a lonely point has no more */
enum { BRICK = 16, PROJECTIONS = 16, HALVINGS = 24 };

enum {
    RANK_ALIGNED,
    RANK_CORNER,
    RANK_EDGE,
    RANK_LATTICE,
    RANK_BETWEEN,
    RANK_OUTSIDE,
    RANKS,
};

typedef struct candidate {
    double x[3];
    float normal[3]; /* 0 in the middle of a thin part */
    float depth;
    int32_t start[3]; /* where on the half lattice it was */
    int16_t layer;    /* -1: none */
    int8_t rank;
    bool first; /* it was in the first layer, not outside */
} candidate;

typedef struct chosen {
    double x[3];
    double normal[3]; /* as the candidate's */
    double depth, volume;
    bool aligned; /* on the liquid's lattice */
    bool tip;     /* too far from the first layer to do without a point */
    int32_t layer, cell[3];
    int32_t next; /* of the same layer in the same cell, or -1 */
} chosen;

typedef struct sampler {
    spate_context *ctx;
    const boundary *still;
    int collider, dim;
    double spacing, support;
    int layers;
    bool exact;     /* ask the shape: what is baked does not reach as deep as the layers */
    bounds wanted;  /* where points are kept */
    bounds sampled; /* and made */
    candidate *candidates;
    int64_t candidate_count, candidate_capacity;
    chosen *points;
    int64_t point_count, point_capacity;
    int32_t *table; /* open hash: the first point of a cell and layer, or -1 */
    int64_t table_size;
} sampler;

static double power(double x, int n) { return n == 1 ? x : n == 2 ? x * x : x * x * x; }

/* How deep x is below the surface, and the outward normal. */
static double depth_at(const sampler *s, const double x[3], double normal[3]) {
    const boundary *b = s->still;
    if (s->exact) return -shape_normal(b->scene->colliders[s->collider].shape, s->dim, x, normal);
    return -boundary_distance(b, s->collider, x, normal, NULL);
}

/* ---- Where to look --------------------------------------------------------------------------- */

bool boundary_stays(const motion *m, int axis) {
    for (int k = 0; k < m->key_count; k++) {
        const motion_key *key = &m->keys[k];
        if (key->translate[axis] != 0) return false;
        if (key->angle != 0 && fabs(key->axis[axis]) != 1) return false;
    }
    return true;
}

static bool is_static(const spate_scene *scene, int c) {
    return scene->colliders[c].motion.key_count == 0;
}

/* How far from its pivot a moving collider can be in the domain at all. */
static double farthest_in_domain(const spate_scene *scene, const motion *m) {
    enum { PARTS = 16 };
    const domain *d = &scene->domain;
    double farthest = 0;
    for (int s = 0; s <= (m->key_count - 1) * PARTS; s++) {
        const motion_key *key = &m->keys[s / PARTS];
        double t = key->t;
        if (s % PARTS) t += (key[1].t - key[0].t) * (s % PARTS) / PARTS;
        const pose p = motion_pose(m, t);
        double corner[3] = {0};
        for (int a = 0; a < scene->dim; a++) {
            double from = d->origin[a] - p.pivot[a] - p.move[a];
            corner[a] = fmax(fabs(from), fabs(from + d->size[a]));
        }
        farthest = fmax(farthest, vec_length(corner));
    }
    return farthest;
}

/* Along an axis that the collider keeps to: the domain, and the layers beyond its open sides, where
 * the side has no points itself. Along others: all that may ever come into the domain, but of what
 * is longer than a periodic axis a period, which goes round. */
static bounds wanted_part(const sampler *s) {
    const spate_scene *scene = s->still->scene;
    const domain *d = &scene->domain;
    const motion *m = &scene->colliders[s->collider].motion;
    const bool driven = scene->colliders[s->collider].driven;
    const double layers = s->layers * s->spacing;
    bounds wanted = {{0}, {0}};
    for (int a = 0; a < s->dim; a++) {
        const bounds *own = &s->still->boxes[s->collider];
        const bool goes_round =
            d->walls[a][0] == WALL_PERIODIC && own->max[a] - own->min[a] >= d->size[a];
        if (driven) { /* all of it but of what has no end */
            const double most = 2 * vec_length(d->size) + layers + s->support;
            wanted.min[a] = fmax(own->min[a] - s->support, m->pivot[a] - most);
            wanted.max[a] = fmin(own->max[a] + s->support, m->pivot[a] + most);
        } else if (boundary_stays(m, a) || goes_round) {
            wanted.min[a] = d->origin[a] - (d->walls[a][0] == WALL_OPEN ? layers : 0);
            wanted.max[a] = d->origin[a] + d->size[a] + (d->walls[a][1] == WALL_OPEN ? layers : 0);
        } else {
            const double reach = farthest_in_domain(scene, m) + layers + s->support;
            wanted.min[a] = m->pivot[a] - reach, wanted.max[a] = m->pivot[a] + reach;
        }
    }
    return wanted;
}

static void find_bounds(sampler *s) {
    const bounds *own = &s->still->boxes[s->collider];
    s->wanted = wanted_part(s);
    s->sampled = s->wanted;
    for (int a = 0; a < s->dim; a++) { /* beyond, for the volumes at the border to be right */
        s->sampled.min[a] = fmax(s->wanted.min[a] - s->support, own->min[a] - s->spacing);
        s->sampled.max[a] = fmin(s->wanted.max[a] + s->support, own->max[a] + s->spacing);
    }
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* Points of the half lattice are numbered so that those with even numbers are the liquid's. */
static void lattice_point(const sampler *s, const int64_t k[3], double x[3]) {
    vec_set(x, 0, 0, 0);
    for (int a = 0; a < s->dim; a++)
        x[a] = s->still->scene->domain.origin[a] + (double)(k[a] + 1) * 0.5 * s->spacing;
}

static spate_status add_candidate(sampler *s, const int64_t k[3], const double x[3], double depth) {
    const double layer = floor(depth / s->spacing);
    if (layer >= s->layers || depth < -OUTSIDE * s->spacing) return SPATE_OK;
    bool lattice = true;
    for (int a = 0; a < s->dim; a++) lattice = lattice && k[a] % 2 == 0;
    TRY(GROW(s->ctx, s->candidates, s->candidate_capacity, s->candidate_count + 1));
    candidate *new = &s->candidates[s->candidate_count++];
    vec_copy(new->x, x);
    new->layer = (int16_t)fmax(layer, 0);
    new->rank = depth < 0 ? RANK_OUTSIDE : lattice ? RANK_LATTICE : RANK_BETWEEN;
    new->first = layer == 0;
    for (int a = 0; a < 3; a++) new->start[a] = (int32_t)k[a];
    return SPATE_OK;
}

/* `size` points a side from `low` on. A distance changes by no more than the way, so one in the
 * middle tells whether any of them can be in the layers. */
static spate_status visit(sampler *s, const int64_t low[3], int size) {
    double first[3], x[3], normal[3];
    const double half = 0.25 * (size - 1) * s->spacing;
    lattice_point(s, low, first);
    vec_copy(x, first);
    for (int a = 0; a < s->dim; a++) {
        x[a] += half;
        if (x[a] + half < s->sampled.min[a] || x[a] - half > s->sampled.max[a]) return SPATE_OK;
    }
    const double depth = depth_at(s, x, normal);
    if (size == 1) return add_candidate(s, low, x, depth);
    const baked *stored = s->exact ? NULL : s->still->baked[s->collider];
    const double reach = half * sqrt(s->dim) + (stored ? 2 * baked_error(stored) : 0);
    if (depth + reach < -OUTSIDE * s->spacing || depth - reach > s->layers * s->spacing)
        return SPATE_OK;
    for (int corner = 0; corner < 1 << s->dim; corner++) {
        int64_t part[3];
        for (int a = 0; a < 3; a++) part[a] = low[a] + (corner >> a & 1) * (size / 2);
        TRY(visit(s, part, size / 2));
    }
    return SPATE_OK;
}

static spate_status find_candidates(sampler *s) {
    int64_t low[3] = {0}, high[3] = {1, 1, 1}, k[3];
    for (int a = 0; a < s->dim; a++) {
        const double origin = s->still->scene->domain.origin[a], step = 0.5 * s->spacing;
        if (!(s->sampled.min[a] <= s->sampled.max[a])) return SPATE_OK;
        low[a] = (int64_t)floor((s->sampled.min[a] - origin) / step) - 1;
        high[a] = (int64_t)ceil((s->sampled.max[a] - origin) / step) + 1;
    }
    for (k[2] = low[2]; k[2] < high[2]; k[2] += BRICK)
        for (k[1] = low[1]; k[1] < high[1]; k[1] += BRICK)
            for (k[0] = low[0]; k[0] < high[0]; k[0] += BRICK) TRY(visit(s, k, BRICK));
    return SPATE_OK;
}

/* ---- Projection ------------------------------------------------------------------------------ */

/* Half way through a thin part: between x, where the surface behind is the nearest, and y, where it
 * is the one ahead. Returns the depth. */
static double find_middle(const sampler *s, double x[3], const double normal[3],
                          const double y[3]) {
    double from[3], to[3], m[3];
    vec_copy(from, x), vec_copy(to, y);
    for (int k = 0; k < HALVINGS; k++) {
        double middle[3];
        for (int a = 0; a < 3; a++) middle[a] = 0.5 * (from[a] + to[a]);
        depth_at(s, middle, m);
        vec_copy(vec_dot(normal, m) < OPPOSITE ? to : from, middle);
    }
    vec_copy(x, from);
    return depth_at(s, x, m);
}

/* Faces that a point has been moved away from. */
typedef struct faces {
    double normals[3][3];
    int count;
} faces;

static void add_face(faces *f, const double normal[3]) {
    for (int k = 0; k < f->count; k++)
        if (vec_dot(f->normals[k], normal) > SAME) return;
    if (f->count < 3) vec_copy(f->normals[f->count++], normal);
}

static void project(const sampler *s, candidate *at) {
    const double goal = (at->layer + 0.5) * s->spacing, close = IN_PLACE * s->spacing;
    double normal[3], missing = goal - depth_at(s, at->x, normal);
    faces met = {.count = 0};
    if (fabs(missing) < close && at->rank == RANK_LATTICE) at->rank = RANK_ALIGNED;
    for (int k = 0; k < PROJECTIONS && fabs(missing) >= close; k++) {
        double y[3], m[3];
        if (missing > 0 && missing < goal) add_face(&met, normal);
        vec_add_scaled(y, at->x, -missing, normal);
        const double next = goal - depth_at(s, y, m);
        if (missing > 0 && next >= close && vec_dot(normal, m) < OPPOSITE) {
            at->depth = (float)find_middle(s, at->x, normal, y);
            if (at->layer > 0 || !(at->depth > 0)) at->layer = -1;
            return;
        }
        vec_copy(at->x, y), vec_copy(normal, m);
        missing = next;
    }
    if (met.count > 1) at->rank = met.count == 2 ? RANK_EDGE : RANK_CORNER;
    at->depth = (float)(goal - missing);
    for (int a = 0; a < 3; a++) at->normal[a] = (float)normal[a];
    if (!(fabs(missing) < ACCEPTABLE * s->spacing)) at->layer = -1;
}

static void project_some(void *data, chunk items) {
    sampler *s = data;
    for (int64_t i = items.begin; i < items.end; i++) project(s, &s->candidates[i]);
}

/* ---- Choice ---------------------------------------------------------------------------------- */

/* Cells are as wide as the kernel, so all that is near is in the cells around. */
static void cell_of(const sampler *s, const double x[3], int32_t cell[3]) {
    for (int a = 0; a < 3; a++)
        cell[a] = a < s->dim ? (int32_t)floor((x[a] - s->sampled.min[a]) / s->support) : 0;
}

/* The place in the table of a cell's points of a layer. */
static int64_t table_slot(const sampler *s, const int32_t cell[3], int layer) {
    const uint64_t key = (uint64_t)(uint32_t)cell[0] | (uint64_t)(uint32_t)cell[1] << 32;
    const uint64_t mask = (uint64_t)s->table_size - 1;
    uint64_t at = random_bits(key, (uint64_t)(uint32_t)cell[2], (uint64_t)layer) & mask;
    for (; s->table[at] >= 0; at = (at + 1) & mask) {
        const chosen *p = &s->points[s->table[at]];
        if (p->layer == layer && p->cell[0] == cell[0] && p->cell[1] == cell[1] &&
            p->cell[2] == cell[2])
            break;
    }
    return (int64_t)at;
}

/* The first points, by cell, of a layer around a cell; -1 where there are none. Returns how many.
 * */
static int around(const sampler *s, const int32_t cell[3], int layer, int32_t firsts[27]) {
    const int cells = neighbour_count(s->dim);
    for (int code = 0; code < cells; code++) {
        const int32_t at[3] = {cell[0] + code % 3 - 1, cell[1] + code / 3 % 3 - 1,
                               cell[2] + (s->dim == 3 ? code / 9 - 1 : 0)};
        firsts[code] = s->table[table_slot(s, at, layer)];
    }
    return cells;
}

static bool is_crowded(const sampler *s, const chosen *p) {
    int32_t firsts[27];
    const int cells = around(s, p->cell, p->layer, firsts);
    for (int c = 0; c < cells; c++)
        for (int32_t k = firsts[c]; k >= 0; k = s->points[k].next) {
            const chosen *q = &s->points[k];
            double way[3];
            vec_sub(way, q->x, p->x);
            const bool back = vec_dot(p->normal, q->normal) < OPPOSITE;
            const double least = p->tip ? LONELY : back ? BACKED : CROWDED;
            if (vec_dot(way, way) < power(least * s->spacing, 2)) return true;
        }
    return false;
}

static spate_status add_point(sampler *s, chosen *new) {
    TRY(GROW(s->ctx, s->points, s->point_capacity, s->point_count + 1));
    const int64_t slot = table_slot(s, new->cell, new->layer);
    new->next = s->table[slot];
    s->table[slot] = (int32_t)s->point_count;
    s->points[s->point_count++] = *new;
    return SPATE_OK;
}

static spate_status choose(sampler *s, const candidate *at) {
    chosen new = {.layer = at->layer, .depth = (double)at->depth};
    vec_copy(new.x, at->x);
    for (int a = 0; a < 3; a++) new.normal[a] = (double)at->normal[a];
    cell_of(s, new.x, new.cell);
    new.aligned = at->rank == RANK_ALIGNED;
    return is_crowded(s, &new) ? SPATE_OK : add_point(s, &new);
}

/* Where it was, and not at any layer's depth. */
static spate_status choose_tip(sampler *s, const candidate *at) {
    chosen new = {.tip = true};
    const int64_t k[3] = {at->start[0], at->start[1], at->start[2]};
    lattice_point(s, k, new.x);
    cell_of(s, new.x, new.cell);
    if (is_crowded(s, &new)) return SPATE_OK;
    new.depth = depth_at(s, new.x, new.normal);
    return new.depth < SHALLOW * s->spacing ? SPATE_OK : add_point(s, &new);
}

static spate_status choose_points(sampler *s) {
    s->table_size = 64;
    while (s->table_size < 2 * s->candidate_count) s->table_size *= 2;
    s->table = take(s->ctx, (size_t)s->table_size, sizeof *s->table);
    if (!s->table) return SPATE_OUT_OF_MEMORY;
    for (int64_t k = 0; k < s->table_size; k++) s->table[k] = -1;
    for (int rank = 0; rank < RANKS; rank++)
        for (int64_t i = 0; i < s->candidate_count; i++) {
            const candidate *at = &s->candidates[i];
            if (at->rank == rank && at->layer >= 0) TRY(choose(s, at));
        }
    for (int64_t i = 0; i < s->candidate_count; i++)
        if (s->candidates[i].first) TRY(choose_tip(s, &s->candidates[i]));
    return SPATE_OK;
}

/* ---- Volumes --------------------------------------------------------------------------------- */

/* How much of q counts as a part of the sheet that p is in: all of it, unless it faces the other
 * way; of that the less, the farther it is below p, until it is a sheet of its own. */
static double same_sheet(const sampler *s, const chosen *p, const chosen *q, const double way[3]) {
    if (vec_dot(p->normal, q->normal) >= OPPOSITE) return 1;
    return fmax(0, 1 - fabs(vec_dot(way, p->normal)) / s->spacing);
}

static double volume_of(const sampler *s, const chosen *p) {
    int32_t firsts[27];
    double sum = 0;
    bool aligned = true;
    const int cells = around(s, p->cell, p->layer, firsts);
    for (int c = 0; c < cells; c++)
        for (int32_t k = firsts[c]; k >= 0; k = s->points[k].next) {
            const chosen *q = &s->points[k];
            double way[3];
            vec_sub(way, q->x, p->x);
            const double r = vec_length(way);
            if (r >= s->support) continue;
            aligned = aligned && q->aligned;
            sum += kernel_value(SPH_CUBIC, s->dim - 1, r, s->support) * same_sheet(s, p, q, way);
        }
    /* All around it is the liquid's lattice, be it flat or at an edge. */
    const double cell = power(s->spacing, s->dim);
    if (aligned) return cell;
    const double volume = fmin(s->spacing / sum, LARGEST * cell);
    return p->tip ? volume * fmin(1, p->depth / (0.5 * s->spacing)) : volume;
}

static void find_volumes(void *data, chunk items) {
    sampler *s = data;
    for (int64_t i = items.begin; i < items.end; i++)
        s->points[i].volume = volume_of(s, &s->points[i]);
}

/* ---- Clipping -------------------------------------------------------------------------------- */

/* Half open, so that of two that meet at a seam one is kept; with room for rounding. */
static bool is_wanted(const sampler *s, const double x[3]) {
    const double slack = 1e-6 * s->spacing;
    for (int a = 0; a < s->dim; a++)
        if (!(x[a] >= s->wanted.min[a] - slack && x[a] < s->wanted.max[a] - slack)) return false;
    return true;
}

/* Whether collider c is there whenever `other` is. */
static bool lasts(const spate_scene *scene, int c, int other) {
    const collider *a = &scene->colliders[c], *b = &scene->colliders[other];
    return a->from <= b->from && collider_end(a) >= collider_end(b);
}

/* In a collider whose points serve here: one that is there as long, and earlier in the list where
 * both come and go together. */
static bool is_in_another(const sampler *s, const double x[3]) {
    const boundary *b = s->still;
    if (!is_static(b->scene, s->collider)) return false;
    for (int c = 0; c < b->scene->collider_count; c++)
        if (is_static(b->scene, c) && lasts(b->scene, c, s->collider) &&
            (c < s->collider || !lasts(b->scene, s->collider, c)) &&
            bounds_gap(&b->boxes[c], s->dim, x) == 0 && boundary_distance(b, c, x, NULL, NULL) < 0)
            return true;
    return false;
}

static spate_status keep(const sampler *s, boundary_samples *out) {
    for (int64_t i = 0; i < s->point_count; i++) {
        const chosen *p = &s->points[i];
        if (!is_wanted(s, p->x) || is_in_another(s, p->x)) continue;
        TRY(GROW(s->ctx, out->list, out->capacity, out->count + 1));
        boundary_sample_point *new = &out->list[out->count++];
        *new =
            (boundary_sample_point){.depth = p->depth, .volume = p->volume, .owner = s->collider};
        vec_copy(new->x, p->x);
    }
    return SPATE_OK;
}

spate_status boundary_sample(const boundary *still, int c, boundary_samples *points) {
    const spate_scene *scene = still->scene;
    sampler s = {.ctx = scene->ctx,
                 .still = still,
                 .collider = c,
                 .dim = scene->dim,
                 .spacing = points->spacing,
                 .support = points->support,
                 .layers = points->layers};
    s.exact = still->baked[c] && (s.layers + 0.5) * s.spacing > baked_band(still->baked[c]);
    find_bounds(&s);
    spate_status status = find_candidates(&s);
    if (!status) {
        parallel_for(s.ctx->pool, s.candidate_count, 256, project_some, &s);
        status = choose_points(&s);
    }
    if (!status) {
        parallel_for(s.ctx->pool, s.point_count, 64, find_volumes, &s);
        status = keep(&s, points);
    }
    give(s.ctx, s.candidates), give(s.ctx, s.points), give(s.ctx, s.table);
    return status;
}
