/* Merging: mutual nearest pairs of a block's deep particles (adaptive.h). */
#include "core/kernel_table.h"
#include "solver/flip/adaptive.h"
#include "solver/flip/ancestry.h"

/* Particles of a block that are looked at, how often at most, and in which of so many steps: fewer
 * come down from the surface in a step than there are pairs to be looked for. */
enum { CANDIDATES_MOST = 2048, PASSES_MOST = 8, NOBODY = -1, STEPS_BETWEEN = 4 };

/* Farther apart than any two of a block, squared. */
static const real nowhere2 = (real)1e6;

typedef struct candidate {
    real x[3];
    real size;     /* share^(1/dim) */
    real share;    /* of a full cell's mass */
    int32_t count; /* of the start's particles; 0: another has taken it in */
    int64_t index;
    uint64_t id;
    /* the nearest that it may be merged with, so far */
    int nearest;
    real distance2;
    bool seeks;   /* looks for the nearest in this pass */
    bool changed; /* taken in, or has taken in, in this pass */
    uint8_t cell;
} candidate;

/* The deep particles of a block that may yet grow. */
typedef struct merging {
    const flip *f;
    int count;
    candidate list[CANDIDATES_MOST];
    /* those that may be merged with some other, by cell, and behind the last some that are far
     * away */
    real x[3][CANDIDATES_MOST + WIDE], size[CANDIDATES_MOST + WIDE], share[CANDIDATES_MOST + WIDE],
        pieces[CANDIDATES_MOST + WIDE];
    real_bits id[CANDIDATES_MOST + WIDE];   /* in the order of ids */
    real_bits told[CANDIDATES_MOST + WIDE]; /* -1: does not look for itself */
    int16_t who[CANDIDATES_MOST + WIDE];    /* in the list */
    int16_t starts[BLOCK_NODES_MAX + 1];
    real largest;                /* size of those */
    real known[PIECES_MOST + 1]; /* shares by count whose size is known */
    real sizes[PIECES_MOST + 1];
} merging;

/* Particles of as many pieces mostly have one share. */
INLINE real size_of(merging *m, int count, real share, int dim) {
    if (m->known[count] != share) {
        m->known[count] = share;
        m->sizes[count] = (real)(dim == 3 ? cbrt((double)share) : sqrt((double)share));
    }
    return m->sizes[count];
}

INLINE int cell_of(const real x[3], int dim) {
    int at[3] = {0};
    for (int a = 0; a < dim; a++) {
        at[a] = (int)x[a];
        if (at[a] > BLOCK_EDGE - 1) at[a] = BLOCK_EDGE - 1;
    }
    return box_index(BLOCK_EDGE, at, dim);
}

/* Which cells of a block are deep, a bit each. */
_Static_assert(BLOCK_NODES_MAX == 64, "a block's cells are the bits of a word");
static uint64_t deep_cells(const flip *f, int32_t block) {
    const int dim = f->grid.dim, rows = block_nodes(dim) / BLOCK_EDGE;
    int corner[3];
    const int64_t brick = flip_brick_of_block(f, f->sim->blocks.coords[block], corner);
    const uint8_t *near = f->adaptive->near + brick * (mac_cells(dim) / BRICK_EDGE);
    uint64_t deep = 0;
    for (int r = 0; r < rows; r++) {
        const int i = corner[0] + (dim == 3 ? r / BLOCK_EDGE : r);
        const int row = dim == 3 ? i * BRICK_EDGE + corner[1] + r % BLOCK_EDGE : i;
        const uint64_t cells = (uint8_t)~near[row] >> corner[dim - 1] & ((1 << BLOCK_EDGE) - 1);
        deep |= cells << r * BLOCK_EDGE;
    }
    return deep;
}

INLINE void list_candidates(merging *m, int32_t block, uint64_t deep, int dim) {
    const flip *f = m->f;
    const blocks *b = &f->sim->blocks;
    const particles *p = &f->sim->particles;
    const int largest = (int)f->options->adaptive->largest;
    m->count = 0;
    for (int64_t i = b->first[block]; i < b->first[block + 1] && m->count < CANDIDATES_MOST; i++) {
        candidate *c = &m->list[m->count];
        c->count = pieces_of(p, i);
        if (c->count >= largest || p->group[i] == GROUP_REMOVED) continue;
        if (p->generation && particle_generation(p, i))
            continue; /* inserted: others own its mass */
        for (int a = 0; a < 3; a++) c->x[a] = a < dim ? PLANE(p, position, a)[i] : 0;
        c->cell = (uint8_t)cell_of(c->x, dim);
        if (!(deep >> c->cell & 1)) continue;
        c->share = p->mass[i] * f->inverse_mass;
        c->size = size_of(m, c->count, c->share, dim);
        c->index = i, c->id = p->id[i];
        c->changed = false, c->seeks = 2 * c->count <= largest; /* of a pair one does */
        c->nearest = NOBODY, c->distance2 = nowhere2;
        m->count++;
    }
}

/* Whether it is there, and not too large even for the smallest. */
INLINE bool may_merge(const candidate *c, int least, int largest) {
    return c->count && c->count + least <= largest;
}

/* Ids are below 2^32; lanes have a sign. */
INLINE real_bits signed_id(uint64_t id) { return (int32_t)((uint32_t)id ^ 0x80000000u); }

/* Returns whether there is anything to look for. */
INLINE bool sort_by_cell(merging *m, int dim) {
    const int largest = (int)m->f->options->adaptive->largest;
    int16_t places[BLOCK_NODES_MAX];
    int least = largest;
    bool any = false;
    for (int i = 0; i < m->count; i++) {
        const candidate *c = &m->list[i];
        if (c->count && c->count < least) least = c->count;
        any |= c->count && c->seeks;
    }
    if (!any) return false;
    memset(m->starts, 0, sizeof m->starts);
    for (int i = 0; i < m->count; i++)
        m->starts[m->list[i].cell + 1] += may_merge(&m->list[i], least, largest);
    for (int c = 0; c < BLOCK_NODES_MAX; c++)
        m->starts[c + 1] = (int16_t)(m->starts[c + 1] + m->starts[c]), places[c] = m->starts[c];
    m->largest = 0;
    for (int i = 0; i < m->count; i++) {
        const candidate *c = &m->list[i];
        if (!may_merge(c, least, largest)) continue;
        const int at = places[c->cell]++;
        for (int a = 0; a < dim; a++) m->x[a][at] = c->x[a];
        m->size[at] = c->size, m->share[at] = c->share, m->pieces[at] = (real)c->count;
        m->id[at] = signed_id(c->id), m->told[at] = c->seeks ? 0 : -1;
        m->who[at] = (int16_t)i;
        if (c->size > m->largest) m->largest = c->size;
    }
    const int last = m->starts[BLOCK_NODES_MAX];
    for (int a = 0; a < dim; a++) wide_store(m->x[a] + last, wide_splat(nowhere2));
    wide_store(m->size + last, wide_splat(0)), wide_store(m->share + last, wide_splat(0));
    wide_store(m->pieces + last, wide_splat(0));
    return last > 1;
}

/* The nearest so far, in each lane by itself: its distance squared, id and place. */
typedef struct lane_nearest {
    wide distance2;
    wide_int id, at;
} lane_nearest;

/* In each lane the nearer of two. */
INLINE void take_nearer(lane_nearest *best, wide_int may, wide distance2, wide_int id,
                        wide_int at) {
    const wide_int nearer =
        may & ((distance2 < best->distance2) | ((distance2 == best->distance2) & (id < best->id)));
    best->distance2 = wide_select(nearer, distance2, best->distance2);
    best->id = (nearer & id) | (~nearer & best->id);
    best->at = (nearer & at) | (~nearer & best->at);
}

/* In all lanes the nearest of all. */
INLINE void join_lanes(lane_nearest *best) {
    const wide_int all = ~wide_splat_int(0);
#define TAKE_FROM(...)                                                                             \
    take_nearer(best, all, __builtin_shufflevector(best->distance2, best->distance2, __VA_ARGS__), \
                __builtin_shufflevector(best->id, best->id, __VA_ARGS__),                          \
                __builtin_shufflevector(best->at, best->at, __VA_ARGS__))
    TAKE_FROM(4, 5, 6, 7, 0, 1, 2, 3);
    TAKE_FROM(2, 3, 0, 1, 6, 7, 4, 5);
    TAKE_FROM(1, 0, 3, 2, 5, 4, 7, 6);
#undef TAKE_FROM
}

/* Whether `other` is nearer than what was found. */
INLINE void consider(const merging *m, candidate *own, int other, real distance2) {
    if (distance2 > own->distance2) return;
    if (distance2 == own->distance2 && own->nearest >= 0 &&
        m->list[own->nearest].id < m->list[other].id)
        return;
    own->nearest = other, own->distance2 = distance2;
}

/* What a candidate compares others with. */
typedef struct seeker {
    wide x[3], size, share, pieces; /* pieces: most that another may have */
    wide_int id;
} seeker;

INLINE seeker seeker_of(const merging *m, const candidate *c, int dim) {
    seeker s = {.size = wide_splat(c->size),
                .share = wide_splat(c->share),
                .pieces = wide_splat((real)(m->f->options->adaptive->largest - c->count)),
                .id = wide_splat_int(signed_id(c->id))};
    for (int a = 0; a < dim; a++) s.x[a] = wide_splat(c->x[a]);
    return s;
}

/* Most of a full cell: sums of eight eighths are rounded. */
static const real full_share = (real)1.001;

/* Those of a row of cells that a candidate may be merged with; who does not look for himself is
 * told of it. What lies behind the row is either far, or in a row of its own. */
INLINE void seek_in_row(merging *m, int i, const seeker *own, wide reach, int first, int last,
                        lane_nearest *best, int dim) {
    for (int n = first; n < last; n += WIDE) {
        wide distance2 = wide_splat(0);
        for (int a = 0; a < dim; a++) {
            const wide way = wide_load(m->x[a] + n) - own->x[a];
            distance2 += way * way;
        }
        const wide limit = reach * (own->size + wide_load(m->size + n));
        const wide_int other = wide_load_int(m->id + n);
        const wide_int may =
            (distance2 < limit * limit) & (wide_load(m->pieces + n) <= own->pieces) &
            (own->share + wide_load(m->share + n) <= wide_splat(full_share)) & (other != own->id);
        take_nearer(best, may, distance2, other,
                    wide_splat_int(n) + (wide_int){0, 1, 2, 3, 4, 5, 6, 7});
        for (unsigned told = wide_bits(may & wide_load_int(m->told + n)); told; told &= told - 1) {
            const int lane = __builtin_ctz(told);
            consider(m, &m->list[m->who[n + lane]], i, distance2[lane]);
        }
    }
}

INLINE void seek(merging *m, int i, int dim) {
    const real reach = (real)(0.5 * m->f->options->adaptive->reach);
    const real farthest = reach * (m->list[i].size + m->largest);
    int low[3] = {0}, high[3] = {0}, at[3] = {0};
    for (int a = 0; a < dim; a++) {
        const real x = m->list[i].x[a];
        low[a] = x > farthest ? (int)(x - farthest) : 0;
        high[a] = (int)(x + farthest);
        if (high[a] > BLOCK_EDGE - 1) high[a] = BLOCK_EDGE - 1;
    }
    const seeker own = seeker_of(m, &m->list[i], dim);
    lane_nearest best = {wide_splat(nowhere2), wide_splat_int(0), wide_splat_int(NOBODY)};
    /* rows of cells along the last axis follow each other */
    for (at[0] = low[0]; at[0] <= high[0]; at[0]++)
        for (int k = dim == 3 ? low[1] : 0; k <= (dim == 3 ? high[1] : 0); k++) {
            if (dim == 3) at[1] = k;
            at[dim - 1] = low[dim - 1];
            const int first = box_index(BLOCK_EDGE, at, dim);
            seek_in_row(m, i, &own, wide_splat(reach), m->starts[first],
                        m->starts[first + high[dim - 1] - low[dim - 1] + 1], &best, dim);
        }
    join_lanes(&best);
    if (best.at[0] >= 0) consider(m, &m->list[i], m->who[best.at[0]], best.distance2[0]);
}

/* `own` with a share of another. */
INLINE void mean_quad(real4 own, const real4 other, double share) {
    for (int c = 0; c < COUNT_OF(*(real4 *)0); c++)
        own[c] = (real)((double)own[c] + share * ((double)other[c] - (double)own[c]));
}

/* The one with the smaller id takes the other in. */
INLINE void merge_pair(merging *m, candidate *own, candidate *other, int dim) {
    particles *p = &m->f->sim->particles;
    const int64_t i = own->index, j = other->index;
    const double mass = (double)p->mass[i] + (double)p->mass[j], share = (double)p->mass[j] / mass;
    for (int a = 0; a < dim; a++) {
        own->x[a] = (real)((double)own->x[a] + share * ((double)other->x[a] - (double)own->x[a]));
        PLANE(p, position, a)[i] = own->x[a];
    }
    mean_quad(p->velocity[i], p->velocity[j], share);
    for (int a = 0; a < dim && p->affine; a++) mean_quad(p->affine[i][a], p->affine[j][a], share);
    own->cell = (uint8_t)cell_of(own->x, dim);
    own->count += other->count;
    p->mass[i] = (real)mass;
    p->role[i] = (uint8_t)own->count;
    own->share = p->mass[i] * m->f->inverse_mass;
    own->size = size_of(m, own->count, own->share, dim);
    p->group[j] = GROUP_REMOVED;
    p->mass[j] = 0;
    if (m->f->adaptive->into) m->f->adaptive->into[j] = i;
    other->count = 0;
    own->changed = other->changed = true;
}

/* Those that were merged, and those whose nearest was, look anew; to others only what has changed
 * can be nearer, which tells them. */
INLINE void choose_seekers(merging *m) {
    for (int i = 0; i < m->count; i++) {
        candidate *c = &m->list[i];
        c->seeks = c->changed || (c->nearest >= 0 && m->list[c->nearest].changed);
        if (c->seeks) c->nearest = NOBODY, c->distance2 = nowhere2;
    }
}

/* Those that were taken in leave the list. */
INLINE void close_up(merging *m) {
    int16_t places[CANDIDATES_MOST];
    int count = 0;
    for (int i = 0; i < m->count; i++) {
        places[i] = (int16_t)count;
        if (m->list[i].count) m->list[count++] = m->list[i];
    }
    m->count = count;
    for (int i = 0; i < count; i++) {
        candidate *c = &m->list[i];
        c->changed = false;
        if (c->nearest >= 0) c->nearest = places[c->nearest];
    }
}

/* All mutual nearest pairs; returns how many. */
INLINE int merge_once(merging *m, int dim) {
    int merged = 0;
    if (!sort_by_cell(m, dim)) return 0;
    for (int n = 0; n < m->starts[BLOCK_NODES_MAX]; n++)
        if (m->list[m->who[n]].seeks) seek(m, m->who[n], dim);
    for (int i = 0; i < m->count; i++) {
        candidate *own = &m->list[i];
        const int j = own->nearest;
        if (j < 0 || m->list[j].nearest != i || own->id > m->list[j].id) continue;
        merge_pair(m, own, &m->list[j], dim);
        merged++;
    }
    choose_seekers(m);
    close_up(m);
    return merged;
}

/* Blocks take turns, each at the same steps wherever a run is taken up. */
INLINE bool is_its_turn(const flip *f, int32_t block) {
    const int32_t *c = f->sim->blocks.coords[block];
    return (c[0] + c[1] + c[2] + f->sim->step) % STEPS_BETWEEN == 0;
}

INLINE void merge_chunk(void *data, chunk items, int dim) {
    const flip *f = data;
    merging m;
    m.f = f;
    memset(m.known, 0, sizeof m.known);
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = f->sim->blocks.occupied[o];
        const uint64_t deep = is_its_turn(f, block) ? deep_cells(f, block) : 0;
        if (!deep) continue;
        list_candidates(&m, block, deep, dim);
        for (int pass = 0; pass < PASSES_MOST && m.count > 1; pass++) {
            const int merged = merge_once(&m, dim);
            f->adaptive->merged[items.worker] += merged;
            if (!merged) break;
        }
    }
}

MERGE_KERNELS(TASK_BY_DIM)

const merge_kernels ISA_NAME(flip_merging) = {MERGE_KERNELS(FIELD_BY_DIM)};
