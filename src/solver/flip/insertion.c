/*
 * Particles that are inserted into thin sheets and removed again (sheets.h). Neighbours, densities
 * and thinness are those of the stage `thin`; removals come first, and what is removed has no mass
 * and stands for no particle from then on, so that no place is taken by one about to vanish.
 */
#include "solver/flip/insertion.h"

#include <stdlib.h>

/* Particles that stand for more than this many are merged ones. */
static const real small = (real)1.5;

static double squared(double x) { return x * x; }

/* ---- Momentum that is made ------------------------------------------------------------------- */

static void add_momentum(sheets *s, int64_t i, double sign) {
    const particles *p = &s->f->sim->particles;
    for (int a = 0; a < s->f->sim->scene->dim; a++)
        s->memory.momentum[a] += sign * (double)p->mass[i] * (double)p->velocity[i][a];
}

/* `own` with a share of another's. */
static void mix(real4 own, const real4 other, double share) {
    for (int c = 0; c < 3; c++)
        own[c] = (real)((double)own[c] + share * ((double)other[c] - (double)own[c]));
}

static void mix_motion(const particles *p, int64_t i, int64_t other, double share) {
    mix(p->velocity[i], p->velocity[other], share);
    for (int a = 0; a < 3 && p->affine; a++) mix(p->affine[i][a], p->affine[other][a], share);
}

/* ---- Removal: eq. 15 ------------------------------------------------------------------------- */

/* Calls for every particle of the spans with its squared distance to a point. */
#define EACH_AROUND(s, list, point, j, distance2)                                            \
    for (int span_ = 0; span_ < (list)->count; span_++)                                      \
        for (int64_t j = (list)->spans[span_].first; j < (list)->spans[span_].last; j++)     \
            for (double distance2 = way2((s), &(list)->spans[span_], (point), j), once_ = 1; \
                 once_ > 0; once_ = 0)

static double way2(const sheets *s, const span *own, const real x[3], int64_t j) {
    const particles *p = s->view.around.particles;
    double sum = 0;
    for (int a = 0; a < s->view.around.blocks->dim; a++)
        sum += squared((double)PLANE(p, position, a)[j] + own->corner[a] - (double)x[a]);
    return sum;
}

static void list_point(const sheets *s, double reach, int32_t block, const real x[3],
                       span_list *list) {
    if (s->view.around.blocks->dim == 3)
        list_near(&s->view.around, reach, block, x, list, 3);
    else
        list_near(&s->view.around, reach, block, x, list, 2);
}

/* Whether one that stays is nearer than a_dist: of two inserted ones the younger goes. */
static bool is_crowded(const sheets *s, int32_t block, int64_t i) {
    const particles *p = &s->f->sim->particles;
    const double reach = s->options->remove_distance * s->size;
    real x[3] = {0};
    span_list list;
    for (int a = 0; a < s->f->sim->scene->dim; a++) x[a] = PLANE(p, position, a)[i];
    list_point(s, reach, block, x, &list);
    EACH_AROUND(s, &list, x, j, distance2) {
        if (j == i || !(s->counts[j] > 0) || !(distance2 < reach * reach)) continue;
        if (particle_generation(p, j) == 0 || p->id[j] < p->id[i]) return true;
    }
    return false;
}

static bool is_to_go(const sheets *s, int32_t block, int64_t i) {
    const particles *p = &s->f->sim->particles;
    const bool dense = (double)s->view.density[i] > s->options->remove_density &&
                       (double)p->thinness[i] < s->f->thin_from;
    return dense || is_crowded(s, block, i);
}

typedef struct removal {
    uint64_t id;
    int64_t particle;
    int32_t block;
} removal;

static int youngest_first(const void *a, const void *b) {
    const removal *one = a, *two = b;
    return one->id > two->id ? -1 : one->id < two->id;
}

typedef struct removal_job {
    const sheets *s;
    uint8_t *goes; /* by particle */
} removal_job;

static void find_removals(void *data, chunk items) {
    const removal_job *job = data;
    const spate_simulation *sim = job->s->f->sim;
    const particles *p = &sim->particles;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = sim->blocks.occupied[o];
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++)
            job->goes[i] = particle_generation(p, i) && p->group[i] != GROUP_REMOVED &&
                           is_to_go(job->s, block, i);
    }
}

/* Those that go, as many as there is room for; the others wait for the next step. */
static int64_t list_removals(const sheets *s, const uint8_t *goes, removal *list, int64_t most) {
    const spate_simulation *sim = s->f->sim;
    const particles *p = &sim->particles;
    int64_t count = 0;
    for (int32_t o = 0; o < sim->blocks.occupied_count; o++) {
        const int32_t block = sim->blocks.occupied[o];
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
            if (!goes[i] || count == most) continue;
            const descent *d = ancestry_find(&s->ancestry, p->id[i]);
            if (!d || sim->step - d->born < s->options->min_age) continue;
            list[count++] = (removal){p->id[i], i, block};
        }
    }
    return count;
}

static void find_heirs(const sheets *s, heir_table *t, const removal *list, int64_t count) {
    const particles *p = &s->f->sim->particles;
    memset(t->slots, 0, (size_t)(t->mask + 1) * sizeof *t->slots);
    for (int64_t k = 0; k < count; k++)
        heirs_of(&s->ancestry, ancestry_find(&s->ancestry, list[k].id), t);
    for (int64_t i = 0; i < p->count; i++) {
        if (!(p->generation[i] & GENERATION_PARENT) || p->group[i] == GROUP_REMOVED) continue;
        heir *h = heir_find(t, p->id[i]);
        if (h->id) h->index = i;
    }
}

/* The nearest particle within a_rho d0, that of the lowest id among equals; -1: none. */
static int64_t find_nearest(const sheets *s, const removal *r) {
    const particles *p = &s->f->sim->particles;
    const double reach = s->f->options->density_radius * s->size;
    double least = reach * reach;
    int64_t nearest = -1;
    real x[3] = {0};
    span_list list;
    for (int a = 0; a < s->f->sim->scene->dim; a++) x[a] = PLANE(p, position, a)[r->particle];
    list_point(s, reach, r->block, x, &list);
    EACH_AROUND(s, &list, x, j, distance2) {
        if (j == r->particle || !(s->counts[j] > 0) || distance2 > least) continue;
        if (distance2 == least && nearest >= 0 && p->id[j] > p->id[nearest]) continue;
        least = distance2, nearest = j;
    }
    return nearest;
}

/* Mass, with its motion where momentum is to be kept. */
static void give_mass(sheets *s, int64_t from, int64_t to, double mass) {
    particles *p = &s->f->sim->particles;
    const double sum = (double)p->mass[to] + mass;
    add_momentum(s, to, -1);
    if (s->options->weighting == WEIGHTING_MASS && sum > 0) mix_motion(p, to, from, mass / sum);
    p->mass[to] = (real)sum;
    add_momentum(s, to, 1);
}

static void remove_one(sheets *s, const removal *r, heir_table *t) {
    particles *p = &s->f->sim->particles;
    descent *d = ancestry_find(&s->ancestry, r->id);
    share_list shares;
    ancestry_share(&s->ancestry, d, t, &shares);
    if (!shares.count) {
        const int64_t nearest = find_nearest(s, r);
        if (nearest < 0) {
            s->memory.kept++;
            return;
        }
        s->memory.nearest++;
        shares.count = 1, shares.index[0] = nearest, shares.share[0] = 1;
    }
    s->memory.through += shares.through, s->memory.aside += shares.aside;
    for (int k = 0; k < shares.count; k++)
        give_mass(s, r->particle, shares.index[k], shares.share[k] * (double)p->mass[r->particle]);
    add_momentum(s, r->particle, -1);
    p->mass[r->particle] = 0;
    p->group[r->particle] = GROUP_REMOVED;
    s->counts[r->particle] = 0;
    heir *own = heir_find(t, r->id);
    if (own->id) own->index = -1;
    ancestry_remove(&s->ancestry, d);
    s->memory.removed++;
    s->changed = true;
}

/* With room for the list and for flags. */
static spate_status remove_listed(sheets *s, const uint8_t *goes, removal *list, int64_t most) {
    scratch *memory = &s->f->sim->scratch;
    const int64_t count = list_removals(s, goes, list, most);
    if (!count) return SPATE_OK;
    const uint64_t slots = heir_slots(&s->ancestry, count);
    heir_table heirs = {scratch_take(memory, "sheet heirs", (size_t)slots, sizeof(heir)),
                        slots - 1};
    if (!heirs.slots) return SPATE_OUT_OF_MEMORY;
    qsort(list, (size_t)count, sizeof *list, youngest_first);
    find_heirs(s, &heirs, list, count);
    for (int64_t k = 0; k < count; k++) remove_one(s, &list[k], &heirs);
    ancestry_compact(&s->ancestry);
    scratch_give(memory, "sheet heirs");
    return SPATE_OK;
}

spate_status sheets_remove(sheets *s) {
    spate_simulation *sim = s->f->sim;
    scratch *memory = &sim->scratch;
    const int64_t most = s->ancestry.count - s->ancestry.dropped;
    if (most == 0) return SPATE_OK;
    removal *list = scratch_take(memory, "sheet removals", (size_t)most, sizeof *list);
    removal_job job = {s, scratch_take(memory, "sheet goes", (size_t)sim->particles.count + 1, 1)};
    spate_status status = SPATE_OUT_OF_MEMORY;
    if (list && job.goes) {
        parallel_for(sim->ctx->pool, sim->blocks.occupied_count, 16, find_removals, &job);
        status = remove_listed(s, job.goes, list, most);
    }
    if (list) scratch_give(memory, "sheet removals");
    if (job.goes) scratch_give(memory, "sheet goes");
    return status;
}

/* ---- Candidates: eq. 12 ---------------------------------------------------------------------- */

typedef struct pair_job {
    sheets *s;
    real *splits;
    pair_search search;
} pair_job;

static bool may_split(const sheets *s, int64_t i) {
    const flip *f = s->f;
    const particles *p = &f->sim->particles;
    const double usual =
        (double)p->mass[i] * (double)f->inverse_mass * (double)f->options->full_cell;
    return (double)p->thinness[i] >= f->thin_from && s->counts[i] > 0 && s->counts[i] < small &&
           particle_generation(p, i) < s->options->generations && usual >= s->options->lightest;
}

/* The block that a point near another block is in, and the point seen from there. */
static int32_t block_of_point(const blocks *b, int32_t block, real x[3]) {
    int at[3] = {0};
    for (int a = 0; a < b->dim; a++) at[a] = (int)floor((double)x[a]);
    const int code = neighbour_code(BLOCK_EDGE, at, b->dim);
    for (int a = 0; a < b->dim; a++) x[a] -= (real)(at[a] & ~(BLOCK_EDGE - 1));
    return b->neighbours[block][code];
}

static real density_of_candidate(const sheets *s, const candidate *c) {
    const double reach2 = (double)s->view.reach2;
    double sum = 0;
    span_list list;
    list_point(s, sqrt(reach2), c->block, c->x, &list);
    EACH_AROUND(s, &list, c->x, j, distance2) {
        if (distance2 < reach2)
            sum += (1 - distance2 / reach2) * (double)s->f->sim->particles.mass[j];
    }
    return (real)sum;
}

/* Seen from the block that the midpoint is in, and with the density there. */
static void finish_candidates(void *data, chunk items) {
    const pair_job *job = data;
    for (int64_t c = items.begin; c < items.end; c++) {
        candidate *own = &job->search.list[c];
        own->block = block_of_point(&job->s->f->sim->blocks, own->block, own->x);
        own->density = density_of_candidate(job->s, own);
    }
}

static void find_splits(void *data, chunk items) {
    const pair_job *job = data;
    for (int64_t i = items.begin; i < items.end; i++) job->splits[i] = may_split(job->s, i);
}

/* From counts to where each block's begin; returns how many in all. */
static int64_t sum_counts(int64_t *counts, int64_t occupied) {
    int64_t sum = 0;
    for (int64_t o = 0; o <= occupied; o++) {
        const int64_t count = o < occupied ? counts[o] : 0;
        counts[o] = sum;
        sum += count;
    }
    return sum;
}

static spate_status list_pairs(pair_job *job, int64_t *count) {
    sheets *s = job->s;
    spate_simulation *sim = s->f->sim;
    pair_search *q = &job->search;
    const chunk_task task = s->kernels->find_pairs[sim->scene->dim - 2];
    const int64_t occupied = sim->blocks.occupied_count;
    parallel_for(sim->ctx->pool, sim->particles.count, 4096, find_splits, job);
    parallel_for(sim->ctx->pool, occupied, 4, task, q);
    *count = sum_counts(q->counts, occupied);
    q->list = scratch_take(&sim->scratch, "sheet candidates", (size_t)*count + 1, sizeof *q->list);
    if (!q->list) return SPATE_OUT_OF_MEMORY;
    if (!*count) return SPATE_OK;
    parallel_for(sim->ctx->pool, occupied, 4, task, q);
    parallel_for(sim->ctx->pool, *count, 64, finish_candidates, job);
    candidates_sort(q->list, *count);
    return SPATE_OK;
}

spate_status sheets_candidates(sheets *s, candidate **list, int64_t *count) {
    scratch *memory = &s->f->sim->scratch;
    const size_t room = (size_t)s->f->sim->particles.count + WIDE;
    pair_job job = {.s = s};
    pair_search *q = &job.search;
    job.splits = scratch_take(memory, "sheet splits", room, sizeof *job.splits);
    q->counts = scratch_take(memory, "sheet candidate counts",
                             (size_t)s->f->sim->blocks.occupied_count + 1, sizeof *q->counts);
    q->found = scratch_take(memory, "sheet found", room, 1);
    q->view = &s->view, q->splits = job.splits;
    q->near = (real)(s->options->distance[0] * s->size);
    q->far = (real)(s->options->distance[1] * s->size);
    spate_status status =
        job.splits && q->counts && q->found ? list_pairs(&job, count) : SPATE_OUT_OF_MEMORY;
    if (job.splits) scratch_give(memory, "sheet splits");
    if (q->counts) scratch_give(memory, "sheet candidate counts");
    if (q->found) scratch_give(memory, "sheet found");
    *list = q->list;
    return status;
}

/* ---- Insertion ------------------------------------------------------------------------------- */

/* A third of both masses at the midpoint. */
static spate_status insert_one(sheets *s, const candidate *c) {
    spate_simulation *sim = s->f->sim;
    particles *p = &sim->particles;
    const int64_t i = c->particle[0], j = c->particle[1];
    double g[3] = {0};
    int64_t k;
    if (!may_split(s, i) || !may_split(s, j)) return SPATE_OK;
    for (int a = 0; a < sim->scene->dim; a++)
        g[a] = (double)sim->blocks.coords[c->block][a] * BLOCK_EDGE + (double)c->x[a];
    TRY(blocks_add_like(&sim->blocks, p, i, g, &k));
    const real taken[2] = {p->mass[i] / 3, p->mass[j] / 3};
    const double sum = (double)taken[0] + (double)taken[1];
    const double share = s->options->weighting == WEIGHTING_MASS ? (double)taken[1] / sum : 0.5;
    const descent d = {.id = sim->next_id++,
                       .parent = {p->id[i], p->id[j]},
                       .taken = {(double)taken[0], (double)taken[1]},
                       .born = sim->step};
    add_momentum(s, i, -1), add_momentum(s, j, -1);
    mix_motion(p, k, j, share);
    p->id[k] = d.id;
    p->mass[k] = (real)sum;
    p->mass[i] -= taken[0], p->mass[j] -= taken[1];
    const int elder = particle_generation(p, i), other = particle_generation(p, j);
    p->generation[k] = (uint8_t)((elder > other ? elder : other) + 1);
    p->generation[i] |= GENERATION_PARENT, p->generation[j] |= GENERATION_PARENT;
    add_momentum(s, i, 1), add_momentum(s, j, 1), add_momentum(s, k, 1);
    s->memory.inserted++;
    s->changed = true;
    return ancestry_add(sim->ctx, &s->ancestry, &d);
}

static spate_status insert_chosen(sheets *s, const candidate *list, const int64_t *chosen,
                                  int64_t picked) {
    spate_simulation *sim = s->f->sim;
    const int64_t most = s->options->limit;
    if (picked > most) {
        s->memory.stopped++;
        warn(sim->ctx, "insertion limit",
             "step %lld: %lld particles would be inserted into thin sheets, more than "
             "solver.sheets.limit (%lld); the others wait",
             (long long)sim->step, (long long)picked, (long long)most);
    }
    for (int64_t n = 0; n < picked && n < most && sim->next_id < UINT32_MAX; n++)
        TRY(insert_one(s, &list[chosen[n]]));
    return SPATE_OK;
}

static spate_status choose_and_insert(sheets *s, const candidate *list, int64_t count) {
    spate_simulation *sim = s->f->sim;
    const walk w = {.blocks = &sim->blocks,
                    .list = list,
                    .count = count,
                    .near = s->options->distance[0] * s->size,
                    .far = s->options->distance[1] * s->size};
    int64_t picked = 0;
    int64_t *chosen =
        scratch_take(&sim->scratch, "sheet chosen", (size_t)count + 1, sizeof *chosen);
    if (!chosen) return SPATE_OUT_OF_MEMORY;
    spate_status status = walk_choose(&w, &sim->scratch, sim->ctx->pool, chosen, &picked);
    if (!status) status = insert_chosen(s, list, chosen, picked);
    scratch_give(&sim->scratch, "sheet chosen");
    return status;
}

spate_status sheets_insert(sheets *s) {
    candidate *list;
    int64_t count;
    spate_status status = sheets_candidates(s, &list, &count);
    if (!status && count) status = choose_and_insert(s, list, count);
    if (list) scratch_give(&s->f->sim->scratch, "sheet candidates");
    return status;
}
