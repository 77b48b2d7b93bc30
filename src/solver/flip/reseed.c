/*
 * Reseeding. Cells inside the liquid with too few particles split their heaviest, cells with too
 * many merge the two that are nearest to each other, until the target is met. A split particle
 * becomes two of half its mass, at equal ways to both sides of where it was; merged ones take the
 * mean by mass. So mass, momentum and centre of mass are kept.
 */
#include "core/random.h"
#include "solver/flip/sheets.h"

enum { CELL_MOST = 512 }; /* particles of a cell that are looked at in one step */

/* Particles are not split below this share of a full cell's mass. */
static const double lightest = 1.0 / 64;

typedef struct census {
    flip *f;
    uint16_t *counts; /* particles of each cell of each block */
} census;

static void count_cells(void *data, chunk items) {
    const census *c = data;
    const blocks *b = &c->f->sim->blocks;
    const int cells = block_nodes(b->dim);
    for (int64_t block = items.begin; block < items.end; block++) {
        uint16_t *counts = c->counts + block * cells;
        memset(counts, 0, (size_t)cells * sizeof *counts);
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            uint16_t *count = &counts[block_cell_of(&c->f->sim->particles, i, b->dim)];
            if (*count < UINT16_MAX) ++*count;
        }
    }
}

/* Whether the cells next to a cell of a block all hold particles, or lie behind a closed side. */
static bool is_inside(const census *c, int32_t block, int cell) {
    const blocks *b = &c->f->sim->blocks;
    const domain *d = c->f->domain;
    for (int n = 0; n < 2 * b->dim; n++) {
        const int a = n >> 1;
        int at[3];
        box_place(BLOCK_EDGE, cell, b->dim, at);
        at[a] += n & 1 ? 1 : -1;
        if (closed_side(d, a, b->coords[block][a] * BLOCK_EDGE + at[a])) continue;
        const int32_t other = b->neighbours[block][neighbour_code(BLOCK_EDGE, at, b->dim)];
        const int place = neighbour_index(BLOCK_EDGE, at, b->dim);
        if (other < 0 || !c->counts[(int64_t)other * block_nodes(b->dim) + place]) return false;
    }
    return true;
}

/* ---- Splitting ------------------------------------------------------------------------------- */

static spate_status split(flip *f, int32_t block, int64_t i) {
    spate_simulation *sim = f->sim;
    particles *p = &sim->particles;
    const int dim = sim->scene->dim;
    double g[3];
    real away[3] = {0}, half = p->mass[i] * (real)0.5;
    int64_t to;
    if (sim->next_id > UINT32_MAX) return SPATE_OK;
    /* as far as both stay in the cell */
    for (int a = 0; a < dim; a++) {
        real x = PLANE(p, position, a)[i], in = x - (real)floor((double)x);
        double room = (double)(in < (real)0.5 ? in : 1 - in);
        away[a] = (real)(0.98 * room *
                         (2 * random_unit(sim->scene->seed, p->id[i],
                                          (uint64_t)f->memory.split * 4 + (uint64_t)a) -
                          1));
    }
    blocks_position(&sim->blocks, p, block, i, g);
    for (int a = 0; a < dim; a++) g[a] += (double)away[a];
    TRY(blocks_add_like(&sim->blocks, p, i, g, &to));
    for (int a = 0; a < dim; a++) PLANE(p, position, a)[i] -= away[a];
    p->id[to] = sim->next_id++;
    p->mass[i] = p->mass[to] = half;
    f->memory.split++;
    return SPATE_OK;
}

static spate_status split_cell(flip *f, int32_t block, const int64_t *list, int count) {
    const int64_t target = f->options->reseed_target;
    const particles *p = &f->sim->particles;
    for (int64_t have = count; have < target; have++) {
        int64_t heaviest = list[0];
        for (int k = 1; k < count; k++)
            if (p->mass[list[k]] > p->mass[heaviest]) heaviest = list[k];
        if ((double)(p->mass[heaviest] * f->inverse_mass) < 2 * lightest) break;
        TRY(split(f, block, heaviest));
    }
    return SPATE_OK;
}

/* ---- Merging --------------------------------------------------------------------------------- */

/* `own` with a share of another. */
static void mean_quad(real4 own, const real4 other, double share) {
    for (int c = 0; c < COUNT_OF(*(real4 *)0); c++)
        own[c] = (real)((double)own[c] + share * ((double)other[c] - (double)own[c]));
}

static void merge(flip *f, int64_t i, int64_t j) {
    particles *p = &f->sim->particles;
    const int dim = f->sim->scene->dim;
    const double mass = (double)p->mass[i] + (double)p->mass[j], share = (double)p->mass[j] / mass;
    for (int a = 0; a < dim; a++) {
        real *x = PLANE(p, position, a);
        x[i] = (real)((double)x[i] + share * ((double)x[j] - (double)x[i]));
    }
    mean_quad(p->velocity[i], p->velocity[j], share);
    for (int a = 0; a < dim && p->affine; a++) mean_quad(p->affine[i][a], p->affine[j][a], share);
    p->mass[i] = (real)mass;
    p->group[j] = GROUP_REMOVED;
    sheets_forward(f, j, i);
    f->memory.merged++;
}

static void merge_cell(flip *f, int64_t *list, int count) {
    const particles *p = &f->sim->particles;
    const int dim = f->sim->scene->dim;
    while (count > f->options->reseed_target) {
        int one = 0, two = 1;
        double nearest = HUGE_VAL;
        for (int i = 0; i < count; i++)
            for (int j = i + 1; j < count; j++) {
                double distance2 = 0;
                for (int a = 0; a < dim; a++) {
                    const real *x = PLANE(p, position, a);
                    double away = (double)x[list[i]] - (double)x[list[j]];
                    distance2 += away * away;
                }
                if (distance2 < nearest) nearest = distance2, one = i, two = j;
            }
        merge(f, list[one], list[two]);
        list[two] = list[--count];
    }
}

/* ---- All cells ------------------------------------------------------------------------------- */

/* Particles of one cell, in storage order. */
static int list_cell(const flip *f, int32_t block, int cell, int64_t *list) {
    const blocks *b = &f->sim->blocks;
    int count = 0;
    for (int64_t i = b->first[block]; i < b->first[block + 1] && count < CELL_MOST; i++)
        if (block_cell_of(&f->sim->particles, i, b->dim) == cell) list[count++] = i;
    return count;
}

/* Sheets look after their particles themselves (sheets.h). */
static bool owned_by_sheet(const flip *f, int32_t block, int cell) {
    const blocks *b = &f->sim->blocks;
    if (!f->sheets) return false;
    for (int64_t i = b->first[block]; i < b->first[block + 1]; i++)
        if (sheets_owns(f, i) && block_cell_of(&f->sim->particles, i, b->dim) == cell) return true;
    return false;
}

static spate_status reseed_cells(const census *c) {
    flip *f = c->f;
    const blocks *b = &f->sim->blocks;
    const double *range = f->options->reseed_range;
    int64_t list[CELL_MOST];
    for (int32_t o = 0; o < b->occupied_count; o++)
        for (int cell = 0; cell < block_nodes(b->dim); cell++) {
            const int32_t block = b->occupied[o];
            const int count = c->counts[(int64_t)block * block_nodes(b->dim) + cell];
            if (owned_by_sheet(f, block, cell)) continue;
            if (count > range[1])
                merge_cell(f, list, list_cell(f, block, cell, list));
            else if (count && count < range[0] && is_inside(c, block, cell))
                TRY(split_cell(f, block, list, list_cell(f, block, cell, list)));
        }
    return SPATE_OK;
}

spate_status flip_reseed(void *solver) {
    flip *f = solver;
    spate_simulation *sim = f->sim;
    if (!f->options->reseed) return SPATE_OK;
    const int64_t before = f->memory.split + f->memory.merged, count = sim->blocks.count;
    census c = {.f = f};
    c.counts = scratch_take(&sim->scratch, "flip census",
                            (size_t)(count * block_nodes(sim->scene->dim)) + 1, sizeof *c.counts);
    if (!c.counts) return SPATE_OUT_OF_MEMORY;
    parallel_for(sim->ctx->pool, count, 16, count_cells, &c);
    spate_status status = reseed_cells(&c);
    scratch_give(&sim->scratch, "flip census");
    if (status || f->memory.split + f->memory.merged == before) return status;
    int64_t lost;
    return blocks_sort(&sim->blocks, &sim->particles, &sim->scratch, sim->ctx->pool, &lost);
}
