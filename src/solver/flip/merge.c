/* Merging: mutual nearest pairs of a block's deep particles (adaptive.h). */
#include "solver/flip/adaptive.h"
#include "solver/flip/ancestry.h"

/* Particles of a block that are looked at, how often at most, and in which of so many steps: fewer
 * come down from the surface in a step than there are pairs to be looked for. */
enum { CANDIDATES_MOST = 2048, PASSES_MOST = 8, NOBODY = -1, STEPS_BETWEEN = 4 };

typedef struct candidate {
    real x[3];
    real size;     /* share^(1/dim) */
    real share;    /* of a full cell's mass */
    int32_t count; /* of the start's particles */
    int64_t index;
    uint64_t id;
} candidate;

/* The deep particles of a block that may yet grow, by cell. */
typedef struct merging {
    const flip *f;
    int dim, count;
    candidate list[CANDIDATES_MOST];
    int16_t order[CANDIDATES_MOST]; /* by cell */
    int16_t starts[BLOCK_NODES_MAX + 1];
    int16_t nearest[CANDIDATES_MOST];
    real largest; /* size in the list */
} merging;

static real size_of(real share, int dim) {
    return (real)(dim == 3 ? cbrt((double)share) : sqrt((double)share));
}

static int cell_of(const real x[3], int dim) {
    int at[3] = {0};
    for (int a = 0; a < dim; a++) {
        at[a] = (int)x[a];
        if (at[a] > BLOCK_EDGE - 1) at[a] = BLOCK_EDGE - 1;
    }
    return box_index(BLOCK_EDGE, at, dim);
}

/* Which cells of a block are deep; returns whether any is. */
static bool find_deep_cells(const flip *f, int32_t block, bool deep[BLOCK_NODES_MAX]) {
    const int dim = f->grid.dim, least = (int)f->options->adaptive->deep;
    int corner[3];
    const int32_t brick = flip_brick_of_block(f, f->sim->blocks.coords[block], corner);
    const uint8_t *depth = f->adaptive->depth + (int64_t)brick * mac_cells(dim);
    const bool all = f->adaptive->is_deep[brick];
    bool any = all;
    for (int c = 0; c < block_nodes(dim); c++) {
        int at[3];
        box_place(BLOCK_EDGE, c, dim, at);
        for (int a = 0; a < dim; a++) at[a] += corner[a];
        deep[c] = all || depth[box_index(BRICK_EDGE, at, dim)] >= least;
        any |= deep[c];
    }
    return any;
}

static void list_candidates(merging *m, int32_t block, const bool deep[BLOCK_NODES_MAX]) {
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
        for (int a = 0; a < 3; a++) c->x[a] = a < m->dim ? PLANE(p, position, a)[i] : 0;
        if (!deep[cell_of(c->x, m->dim)]) continue;
        c->share = p->mass[i] * f->inverse_mass;
        c->size = size_of(c->share, m->dim);
        c->index = i, c->id = p->id[i];
        m->count++;
    }
}

/* Those that are too large even for the smallest leave the list. */
static void drop_large(merging *m) {
    const int largest = (int)m->f->options->adaptive->largest;
    int least = largest, kept = 0;
    for (int i = 0; i < m->count; i++)
        if (m->list[i].count && m->list[i].count < least) least = m->list[i].count;
    for (int i = 0; i < m->count; i++)
        if (m->list[i].count && m->list[i].count + least <= largest) m->list[kept++] = m->list[i];
    m->count = kept;
    m->largest = 0;
    for (int i = 0; i < kept; i++)
        if (m->list[i].size > m->largest) m->largest = m->list[i].size;
}

static void sort_by_cell(merging *m) {
    int16_t places[BLOCK_NODES_MAX] = {0};
    memset(m->starts, 0, sizeof m->starts);
    for (int i = 0; i < m->count; i++) m->starts[cell_of(m->list[i].x, m->dim) + 1]++;
    for (int c = 0; c < BLOCK_NODES_MAX; c++)
        m->starts[c + 1] = (int16_t)(m->starts[c + 1] + m->starts[c]), places[c] = m->starts[c];
    for (int i = 0; i < m->count; i++)
        m->order[places[cell_of(m->list[i].x, m->dim)]++] = (int16_t)i;
}

/* A partner so far, and how far it is. */
typedef struct found {
    int who;
    real distance2;
} found;

/* Whether two may be merged, and are nearer than what was found. */
INLINE void consider(const merging *m, int i, int j, real reach, int largest, found *best) {
    const candidate *a = &m->list[i], *b = &m->list[j];
    const real most = (real)1.001; /* of a full cell: sums of eight eighths are rounded */
    real distance2 = 0;
    for (int k = 0; k < m->dim; k++) distance2 += (a->x[k] - b->x[k]) * (a->x[k] - b->x[k]);
    const real limit = reach * (a->size + b->size);
    if (distance2 > best->distance2 || distance2 >= limit * limit) return;
    if (i == j || a->count + b->count > largest || a->share + b->share > most) return;
    if (distance2 == best->distance2 && best->who >= 0 && m->list[best->who].id < b->id) return;
    *best = (found){j, distance2};
}

static int nearest_of(const merging *m, int i) {
    const real reach = (real)(0.5 * m->f->options->adaptive->reach);
    const int largest = (int)m->f->options->adaptive->largest, dim = m->dim;
    int low[3] = {0}, high[3] = {0}, at[3] = {0};
    found best = {NOBODY, 2};
    const real farthest = reach * (m->list[i].size + m->largest);
    for (int a = 0; a < dim; a++) {
        const real x = m->list[i].x[a];
        low[a] = x > farthest ? (int)(x - farthest) : 0;
        high[a] = (int)(x + farthest);
        if (high[a] > BLOCK_EDGE - 1) high[a] = BLOCK_EDGE - 1;
    }
    /* rows of cells along the last axis follow each other */
    for (at[0] = low[0]; at[0] <= high[0]; at[0]++)
        for (int k = dim == 3 ? low[1] : 0; k <= (dim == 3 ? high[1] : 0); k++) {
            if (dim == 3) at[1] = k;
            at[dim - 1] = low[dim - 1];
            const int first = box_index(BLOCK_EDGE, at, dim);
            const int last = first + high[dim - 1] - low[dim - 1];
            for (int n = m->starts[first]; n < m->starts[last + 1]; n++)
                consider(m, i, m->order[n], reach, largest, &best);
        }
    return best.who;
}

/* `own` with a share of another. */
static void mean_quad(real4 own, const real4 other, double share) {
    for (int c = 0; c < COUNT_OF(*(real4 *)0); c++)
        own[c] = (real)((double)own[c] + share * ((double)other[c] - (double)own[c]));
}

/* The one with the smaller id takes the other in. */
static void merge_pair(merging *m, candidate *own, candidate *other) {
    particles *p = &m->f->sim->particles;
    const int64_t i = own->index, j = other->index;
    const double mass = (double)p->mass[i] + (double)p->mass[j], share = (double)p->mass[j] / mass;
    for (int a = 0; a < m->dim; a++) {
        own->x[a] = (real)((double)own->x[a] + share * ((double)other->x[a] - (double)own->x[a]));
        PLANE(p, position, a)[i] = own->x[a];
    }
    mean_quad(p->velocity[i], p->velocity[j], share);
    for (int a = 0; a < m->dim && p->affine; a++)
        mean_quad(p->affine[i][a], p->affine[j][a], share);
    own->count += other->count;
    p->mass[i] = (real)mass;
    p->role[i] = (uint8_t)own->count;
    own->share = p->mass[i] * m->f->inverse_mass;
    own->size = size_of(own->share, m->dim);
    p->group[j] = GROUP_REMOVED;
    p->mass[j] = 0;
    if (m->f->adaptive->into) m->f->adaptive->into[j] = i;
    other->count = 0;
}

/* All mutual nearest pairs; returns how many. */
static int merge_once(merging *m) {
    int merged = 0;
    drop_large(m);
    if (m->count < 2) return 0;
    sort_by_cell(m);
    for (int i = 0; i < m->count; i++) m->nearest[i] = (int16_t)nearest_of(m, i);
    for (int i = 0; i < m->count; i++) {
        const int j = m->nearest[i];
        if (j < 0 || m->nearest[j] != i || m->list[i].id > m->list[j].id) continue;
        merge_pair(m, &m->list[i], &m->list[j]);
        merged++;
    }
    return merged;
}

/* Blocks take turns, each at the same steps wherever a run is taken up. */
static bool is_its_turn(const flip *f, int32_t block) {
    const int32_t *c = f->sim->blocks.coords[block];
    return (c[0] + c[1] + c[2] + f->sim->step) % STEPS_BETWEEN == 0;
}

void merge_blocks(void *data, chunk items) {
    const flip *f = data;
    merging m = {.f = f, .dim = f->grid.dim};
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = f->sim->blocks.occupied[o];
        bool deep[BLOCK_NODES_MAX];
        if (!is_its_turn(f, block) || !find_deep_cells(f, block, deep)) continue;
        list_candidates(&m, block, deep);
        for (int pass = 0; pass < PASSES_MOST && m.count > 1; pass++) {
            const int merged = merge_once(&m);
            f->adaptive->merged[items.worker] += merged;
            if (!merged) break;
        }
    }
}
