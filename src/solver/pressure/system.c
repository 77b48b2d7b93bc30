/* Assembly of the system, and the levels above it. Arrays only ever grow, so a steady step
 * allocates nothing. */
#include "solver/pressure/system.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A larger array in place of the old one, whose content is lost. */
static bool renew(spate_context *ctx, void *array, size_t count, size_t size) {
    void **at = array;
    give(ctx, *at);
    *at = take(ctx, count, size);
    return *at;
}
#define RENEW(l, array, count) renew((l)->ctx, &(array), (size_t)(count), sizeof *(array))

static int64_t more(int64_t needed) { return needed + needed / 8 + 8; }

static spate_status reserve_bricks(level *l) {
    const int64_t needed = (int64_t)l->count + 1, cells = checker_cells(l->dim);
    if (needed > l->brick_capacity) {
        const int64_t n = more(needed);
        l->brick_capacity = 0;
        if (!RENEW(l, l->near, n) || !RENEW(l, l->children, n) || !RENEW(l, l->originals, n) ||
            !RENEW(l, l->stencil_class, n) || !RENEW(l, l->transfer_class, n) ||
            !RENEW(l, l->b, n * cells) || !RENEW(l, l->z, n * cells) ||
            !RENEW(l, l->sums, n * sums_reals(l->dim)) || !RENEW(l, l->rows, n * cells))
            return SPATE_OUT_OF_MEMORY;
        l->brick_capacity = n;
    }
    /* the empty brick is its own neighbour */
    for (int s = 0; s < CHECKER_SLOTS; s++) l->near[l->count][s] = l->count;
    l->stencil_class[l->count] = STENCIL_EMPTY, l->transfer_class[l->count] = TRANSFER_UNIFORM;
    for (int c = RED; c <= BLACK; c++) {
        const int64_t at = half_at(l, l->count, c, l->dim);
        memset(l->b + at, 0, (size_t)cells / 2 * sizeof *l->b);
        memset(l->z + at, 0, (size_t)cells / 2 * sizeof *l->z);
    }
    memset(l->rows + l->count * cells, 0, (size_t)cells * sizeof *l->rows);
    memset(l->sums + (int64_t)l->count * sums_reals(l->dim), 0,
           (size_t)sums_reals(l->dim) * sizeof *l->sums);
    return SPATE_OK;
}

/* What the empty and the uniform stencil hold. */
static void fill_shared_stencils(level *l) {
    const int cells = checker_cells(l->dim), wides = stencil_wides(l->dim);
    const real inverse = 1 / (2 * l->dim * l->scale);
    l->uniform_wides[STENCIL_EMPTY][RED] = l->uniform_wides[STENCIL_EMPTY][BLACK] = 0;
    l->uniform_wides[STENCIL_UNIFORM][RED] = l->uniform_wides[STENCIL_UNIFORM][BLACK] = UINT32_MAX;
    for (int c = 0; c < 2 * cells; c++) {
        const bool uniform = c >= cells;
        for (int a = 0; a < l->dim; a++) l->face[a][c] = uniform ? l->scale : 0;
        l->surface[c] = 0;
        l->inverse[c] = uniform ? inverse : 0;
        real *w = l->stencil + (int64_t)c / WIDE * WIDE * wides + c % WIDE;
        for (int s = 0; s < 2 * l->dim; s++) w[s * WIDE] = uniform ? l->scale : 0;
        w[2 * l->dim * WIDE] = uniform ? inverse : 0;
        w[(2 * l->dim + 1) * WIDE] = 0;
    }
}

static spate_status reserve_stencils(level *l) {
    const int64_t cells = checker_cells(l->dim);
    if (l->stencil_classes > l->stencil_capacity) {
        const int64_t n = more(l->stencil_classes);
        l->stencil_capacity = 0;
        for (int a = 0; a < l->dim; a++)
            if (!RENEW(l, l->face[a], n * cells)) return SPATE_OUT_OF_MEMORY;
        if (!RENEW(l, l->surface, n * cells) || !RENEW(l, l->inverse, n * cells) ||
            !RENEW(l, l->stencil, n * stencil_reals(l->dim)) || !RENEW(l, l->owner, n) ||
            !RENEW(l, l->uniform_wides, n))
            return SPATE_OUT_OF_MEMORY;
        l->stencil_capacity = n;
    }
    fill_shared_stencils(l);
    return SPATE_OK;
}

static spate_status reserve_transfers(level *l) {
    if (l->transfer_classes <= l->transfer_capacity) return SPATE_OK;
    const int64_t n = more(l->transfer_classes);
    l->transfer_capacity = 0;
    if (!RENEW(l, l->transfer, n * transfer_reals(l->dim))) return SPATE_OUT_OF_MEMORY;
    l->transfer_capacity = n;
    return SPATE_OK;
}

/* Vectors lie as the fields of level 0 do. */
static spate_status reserve_vectors(pressure *p) {
    const level *l = &p->levels[0];
    const int64_t n = l->brick_capacity, cells = checker_cells(p->dim);
    if (n != p->vector_capacity) {
        p->vector_capacity = 0;
        if (!RENEW(p, p->x, n * cells) || !RENEW(p, p->rhs, n * cells) ||
            !RENEW(p, p->p, n * cells) || !RENEW(p, p->largest, n))
            return SPATE_OUT_OF_MEMORY;
        p->vector_capacity = n;
    }
    for (int c = RED; c <= BLACK; c++) {
        const int64_t at = half_at(l, l->count, c, p->dim);
        memset(p->x + at, 0, (size_t)cells / 2 * sizeof *p->x);
        memset(p->p + at, 0, (size_t)cells / 2 * sizeof *p->p);
    }
    return SPATE_OK;
}

static spate_status reserve_grid(pressure *p, int32_t bricks) {
    if (bricks <= p->grid_capacity) return SPATE_OK;
    const int64_t n = more(bricks);
    p->grid_capacity = 0;
    if (!RENEW(p, p->number, n) || !RENEW(p, p->active, n) || !RENEW(p, p->coords, n))
        return SPATE_OUT_OF_MEMORY;
    p->grid_capacity = n;
    return SPATE_OK;
}

static void level_free(level *l) {
    if (!l->ctx) return;
    spate_context *ctx = l->ctx;
    sparse_lattice_free(&l->bricks);
    give(ctx, l->originals), give(ctx, l->near), give(ctx, l->children),
        give(ctx, l->stencil_class), give(ctx, l->transfer_class);
    give(ctx, l->owner), give(ctx, l->surface), give(ctx, l->inverse), give(ctx, l->stencil);
    for (int a = 0; a < 3; a++) give(ctx, l->face[a]);
    give(ctx, l->transfer), give(ctx, l->b), give(ctx, l->z), give(ctx, l->sums);
    give(ctx, l->rows), give(ctx, l->uniform_wides);
    *l = (level){0};
}

void system_free(pressure *p) {
    for (int i = 0; i < LEVELS_MAX; i++) level_free(&p->levels[i]);
    give(p->ctx, p->x), give(p->ctx, p->rhs), give(p->ctx, p->p);
    give(p->ctx, p->largest), give(p->ctx, p->number), give(p->ctx, p->active);
    give(p->ctx, p->coords);
    p->x = p->rhs = NULL;
    p->p = p->largest = NULL;
    p->number = p->active = NULL, p->coords = NULL;
    p->vector_capacity = p->grid_capacity = 0;
}

size_t system_bytes(const pressure *p) {
    size_t bytes = (size_t)p->grid_capacity * (2 * sizeof *p->number + sizeof *p->coords) +
                   (size_t)p->vector_capacity * (size_t)checker_cells(p->dim ? p->dim : 2) *
                       (2 * sizeof(double) + sizeof(real));
    for (int i = 0; i < LEVELS_MAX; i++) {
        const level *l = &p->levels[i];
        if (!l->ctx) continue;
        const size_t cells = (size_t)checker_cells(l->dim), dim = (size_t)l->dim;
        bytes += (size_t)l->brick_capacity *
                 (sizeof *l->near + sizeof *l->children + 2 * sizeof *l->stencil_class +
                  (3 * cells + (size_t)sums_reals(l->dim)) * sizeof(real));
        bytes += (size_t)l->stencil_capacity * ((dim + 2) * cells + (size_t)stencil_reals(l->dim)) *
                 sizeof(real);
        bytes += (size_t)l->transfer_capacity * (size_t)transfer_reals(l->dim) * sizeof(real);
    }
    return bytes;
}

/* ---- Level 0 --------------------------------------------------------------------------------- */

/* Another dimension or another period: begin anew. */
static void match_grid(pressure *p, const mac *m) {
    const int *period = m->bricks.period, *was = p->period;
    if (p->dim == m->dim && period[0] == was[0] && period[1] == was[1] && period[2] == was[2])
        return;
    system_free(p);
    p->dim = m->dim;
    memcpy(p->period, period, sizeof p->period);
    int size[3] = {period[0], period[1], period[2]}, doublings = 0;
    p->levels_most = LEVELS_MAX;
    for (int i = 0; i < LEVELS_MAX; i++) {
        level *l = &p->levels[i];
        *l = (level){.ctx = p->ctx, .dim = m->dim};
        l->scale = m->dim == 2 ? 1 : (real)(1 << i);
        bool doubled = false;
        for (int a = 0; a < 3 && i > 0; a++) {
            l->doubled[a] = size[a] % 2;
            doubled |= l->doubled[a];
            if (!l->doubled[a]) size[a] /= 2;
        }
        doublings += doubled;
        if (doublings > DOUBLINGS_MAX && p->levels_most > i) p->levels_most = i;
        sparse_lattice_create(p->ctx, m->dim, size, &l->bricks);
    }
}

/* Numbers the bricks with liquid, and finds those at their sides. */
static spate_status number_bricks(pressure *p, const mac *m) {
    level *l = &p->levels[0];
    l->count = 0;
    for (int32_t b = 0; b < m->bricks.count; b++) {
        if (p->number[b] < 0) continue;
        p->active[l->count] = b;
        memcpy(p->coords[l->count], m->bricks.coords[b], sizeof p->coords[0]);
        p->number[b] = l->count++;
    }
    TRY(reserve_bricks(l));
    for (int32_t b = 0; b < l->count; b++)
        for (int s = 0; s < 2 * p->dim; s++) {
            const int32_t near = m->bricks.neighbours[p->active[b]][side_code(s, p->dim)];
            l->near[b][s] = near < 0 || p->number[near] < 0 ? l->count : p->number[near];
        }
    return SPATE_OK;
}

/* Bricks marked STENCIL_OWN get classes of their own. */
static spate_status number_stencils(level *l) {
    l->stencil_classes = STENCIL_OWN;
    for (int32_t b = 0; b < l->count; b++)
        if (l->stencil_class[b] != STENCIL_UNIFORM) l->stencil_class[b] = l->stencil_classes++;
    TRY(reserve_stencils(l));
    for (int32_t b = 0; b < l->count; b++)
        if (l->stencil_class[b] != STENCIL_UNIFORM) l->owner[l->stencil_class[b]] = b;
    return SPATE_OK;
}

/* Stencils from the rows of faces; counts unknowns. */
static void finish_stencils(pressure *p, level *l) {
    const int64_t own = l->stencil_classes - STENCIL_OWN, uniform = l->count - own;
    const double in_own = pass_sum(p, p->passes->pack_stencils, own, &(pass_data){.fine = l});
    l->unknowns = (int64_t)in_own + uniform * checker_cells(l->dim);
}

spate_status system_assemble(pressure *p, mac *m, const pressure_options *options,
                             const double *given) {
    match_grid(p, m);
    level *l = &p->levels[0];
    const pass_data data = {
        .p = p, .m = m, .fine = l, .second_order = options->second_order, .given = given};
    TRY(reserve_grid(p, m->bricks.count));
    pass(p, p->passes->find_liquid, m->bricks.count, &data);
    TRY(number_bricks(p, m));
    TRY(reserve_vectors(p));
    pass(p, p->passes->classify, l->count, &data);
    TRY(number_stencils(l));
    pass(p, p->passes->face_rows, l->stencil_classes - STENCIL_OWN, &data);
    finish_stencils(p, l);
    pass(p, p->passes->right_side, l->count, &data);
    p->level_count = 1;
    return SPATE_OK;
}

/* ---- Coarse levels --------------------------------------------------------------------------- */

/* Where a brick is on the next level, and in which octant of the brick there. */
static int to_coarse(const int32_t coords[3], int dim, int32_t parent[3]) {
    const int half[3] = {coords[0] & 1, coords[1] & 1, coords[2] & 1};
    for (int a = 0; a < 3; a++) parent[a] = coords[a] >> 1;
    return box_index(2, half, dim);
}

/* Where the copy of a brick is along the axes of which a bit is set in `copy`; false if the next
 * level has no such copy. */
static bool copy_at(const level *l, const level *c, const int32_t coords[3], int copy,
                    int32_t out[3]) {
    for (int a = 0; a < 3; a++) {
        const bool moved = copy >> a & 1;
        if (moved && !c->doubled[a]) return false;
        out[a] = coords[a] + (moved ? l->bricks.period[a] : 0);
    }
    return true;
}

static spate_status insert_parents(const level *l, const int32_t (*coords)[3], level *c) {
    int32_t at[3], parent[3];
    TRY(sparse_lattice_begin(&c->bricks));
    for (int32_t b = 0; b < l->count; b++)
        for (int copy = 0; copy < 8; copy++) {
            if (!copy_at(l, c, coords[b], copy, at)) continue;
            to_coarse(at, l->dim, parent);
            TRY(sparse_lattice_insert(&c->bricks, parent));
        }
    sparse_lattice_number(&c->bricks);
    return sparse_lattice_finish(&c->bricks, l->ctx->pool);
}

static void find_children(const level *l, const int32_t (*coords)[3], level *c) {
    int32_t at[3], parent[3];
    for (int32_t b = 0; b <= c->count; b++) {
        for (int o = 0; o < 8; o++) c->children[b][o] = l->count;
        c->originals[b] = 0;
    }
    for (int32_t b = 0; b < l->count; b++)
        for (int copy = 0; copy < 8; copy++) {
            if (!copy_at(l, c, coords[b], copy, at)) continue;
            const int octant = to_coarse(at, l->dim, parent);
            const int32_t number = sparse_lattice_find(&c->bricks, parent);
            c->children[number][octant] = b;
            if (copy == 0) c->originals[number] |= (uint8_t)(1 << octant);
        }
}

/* Along a periodic axis with an odd number of bricks the next level cannot have half of them. It
 * has as many instead and holds the domain twice, side by side. All that it is given comes twice
 * too, so both copies stay the same to the bit, and only the first is read. This goes on three
 * times at most; a period then is an odd number of different cells, and coarsening ends. */
static spate_status place_bricks(pressure *p, const level *l, const int32_t (*coords)[3],
                                 level *c) {
    TRY(insert_parents(l, coords, c));
    c->count = c->bricks.count;
    TRY(reserve_bricks(c));
    find_children(l, coords, c);
    for (int32_t b = 0; b < c->count; b++)
        for (int s = 0; s < 2 * p->dim; s++) {
            const int32_t near = c->bricks.neighbours[b][side_code(s, p->dim)];
            c->near[b][s] = near < 0 ? c->count : near;
        }
    return SPATE_OK;
}

/* A brick that is uniform with uniform ones at all its sides has a uniform transfer. */
static spate_status number_transfers(level *l) {
    l->transfer_classes = TRANSFER_OWN;
    for (int32_t b = 0; b < l->count; b++) {
        bool uniform = l->stencil_class[b] == STENCIL_UNIFORM;
        for (int s = 0; s < 2 * l->dim; s++)
            uniform &= l->stencil_class[l->near[b][s]] == STENCIL_UNIFORM;
        l->transfer_class[b] = uniform ? TRANSFER_UNIFORM : l->transfer_classes++;
    }
    return reserve_transfers(l);
}

/* Marks the coarse bricks that are uniform. */
static void mark_uniform(const level *l, level *c) {
    for (int32_t b = 0; b < c->count; b++) {
        bool uniform = true;
        for (int o = 0; o < 1 << c->dim; o++) {
            const int32_t child = c->children[b][o];
            uniform &= child != l->count && l->transfer_class[child] == TRANSFER_UNIFORM;
        }
        c->stencil_class[b] = uniform ? STENCIL_UNIFORM : STENCIL_OWN;
    }
}

spate_status system_coarsen(pressure *p) {
    for (int i = 0; i + 1 < p->levels_most && p->levels[i].unknowns > 8; i++) {
        level *l = &p->levels[i], *c = l + 1;
        const pass_data data = {.p = p, .fine = l, .coarse = c};
        const void *coords = i ? l->bricks.coords : p->coords;
        TRY(place_bricks(p, l, coords, c));
        TRY(number_transfers(l));
        mark_uniform(l, c);
        TRY(number_stencils(c));
        pass(p, p->passes->coarsen, c->stencil_classes - STENCIL_OWN, &data);
        pass(p, p->passes->drop_isolated, c->stencil_classes - STENCIL_OWN,
             &(pass_data){.fine = c});
        finish_stencils(p, c);
        if (c->unknowns == 0) return SPATE_OK;
        p->level_count = i + 2;
    }
    return SPATE_OK;
}
