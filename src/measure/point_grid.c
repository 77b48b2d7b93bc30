#include "measure/point_grid.h"

#include "core/hash.h"
#include "core/vec.h"
#include "measure/attributes.h"

static bool is_in_groups(const spate_simulation *sim, int64_t i, int from, int to) {
    const int group = sim->particles.group[i];
    if (group == GROUP_REMOVED) return false;
    const int origin = scene_group_origin(sim->scene, group);
    return origin >= from && origin < to;
}

static void collect(point_grid *c, int from, int to) {
    const spate_simulation *sim = c->sim;
    for (int64_t k = 0; k < particle_range_count(sim); k++) {
        particle_range range = particle_range_at(sim, k);
        for (int64_t i = range.begin; i < range.end; i++) {
            if (!is_in_groups(sim, i, from, to)) continue;
            double *x = c->x[c->count];
            simulation_place(sim, range.coords, i, x);
            for (int a = 0; a < c->dim; a++) x[a] -= sim->scene->domain.origin[a];
            c->stored[c->count++] = i;
        }
    }
}

spate_status point_grid_create(const spate_simulation *sim, int from, int to, point_grid *c) {
    *c = (point_grid){.sim = sim, .ctx = sim->ctx, .dim = sim->scene->dim};
    for (int a = 0; a < c->dim; a++)
        if (sim->blocks.period[a]) c->period[a] = sim->scene->domain.size[a];
    int64_t count = 0;
    for (int64_t i = 0; i < sim->particles.count; i++) count += is_in_groups(sim, i, from, to);
    c->x = take(c->ctx, (size_t)count + 1, sizeof *c->x);
    c->stored = take(c->ctx, (size_t)count + 1, sizeof *c->stored);
    if (!c->x || !c->stored) {
        point_grid_free(c);
        return SPATE_OUT_OF_MEMORY;
    }
    collect(c, from, to);
    return SPATE_OK;
}

void point_grid_free(point_grid *c) {
    give(c->ctx, c->x), give(c->ctx, c->stored), give(c->ctx, c->cells);
    give(c->ctx, c->next), give(c->ctx, c->table);
    *c = (point_grid){.ctx = c->ctx};
}

/* ---- Cells ---- */

/* The place of a cell in the table: where it is, or the free one where it would be. */
static uint64_t table_place(const point_grid *c, const int64_t at[3]) {
    uint64_t place = hash_bytes(at, 3 * sizeof *at, 0) & (c->table_size - 1);
    while (c->table[place] >= 0 && memcmp(c->cells[c->table[place]].at, at, 3 * sizeof *at) != 0)
        place = (place + 1) & (c->table_size - 1);
    return place;
}

static void cell_of(const point_grid *c, const double x[3], int64_t at[3]) {
    at[2] = 0;
    for (int a = 0; a < c->dim; a++) {
        at[a] = (int64_t)floor(x[a] / c->edge[a]);
        /* at the very end of a periodic axis rounding may give one too many */
        if (c->around[a]) at[a] = (at[a] % c->around[a] + c->around[a]) % c->around[a];
    }
}

static void put_into_cell(point_grid *c, int64_t i) {
    int64_t at[3];
    cell_of(c, c->x[i], at);
    uint64_t place = table_place(c, at);
    if (c->table[place] < 0) {
        c->table[place] = c->cell_count;
        c->cells[c->cell_count] = (point_grid_cell){.first = -1};
        memcpy(c->cells[c->cell_count++].at, at, sizeof at);
    }
    point_grid_cell *cell = &c->cells[c->table[place]];
    c->next[i] = cell->first;
    cell->first = i;
}

spate_status point_grid_sort(point_grid *c, double edge) {
    for (int a = 0; a < c->dim; a++) {
        c->edge[a] = edge;
        if (!(c->period[a] > 0)) continue;
        c->around[a] = (int64_t)fmax(ceil(c->period[a] / edge), 1);
        c->edge[a] = c->period[a] / (double)c->around[a];
    }
    c->table_size = 16;
    while (c->table_size < 2 * (uint64_t)c->count) c->table_size *= 2;
    c->cells = take(c->ctx, (size_t)c->count + 1, sizeof *c->cells);
    c->next = take(c->ctx, (size_t)c->count + 1, sizeof *c->next);
    c->table = take(c->ctx, c->table_size, sizeof *c->table);
    if (!c->cells || !c->next || !c->table) return SPATE_OUT_OF_MEMORY;
    memset(c->table, 0xff, c->table_size * sizeof *c->table); /* -1 */
    for (int64_t i = 0; i < c->count; i++) put_into_cell(c, i);
    return SPATE_OK;
}

/* ---- Neighbours ---- */

/* Whether two cells this far apart can hold particles nearer than the radius. */
static bool is_within(const point_grid *c, const int64_t offset[3], double radius) {
    double least2 = 0;
    for (int a = 0; a < c->dim; a++) {
        int64_t steps = offset[a] < 0 ? -offset[a] : offset[a];
        if (c->around[a] && c->around[a] - steps < steps) steps = c->around[a] - steps;
        double between = steps > 1 ? (double)(steps - 1) * c->edge[a] : 0;
        least2 += between * between;
    }
    return least2 < radius * radius;
}

void point_grid_reach_of(const point_grid *c, double radius, point_grid_reach *reach) {
    int64_t low[3] = {0}, high[3] = {0}, o[3];
    reach->count = 0;
    for (int a = 0; a < c->dim; a++) {
        double cells = ceil(radius / c->edge[a]);
        /* Where the cells on both sides meet round a periodic axis, go once round it. */
        bool all_round = c->around[a] && 2 * cells + 1 > (double)c->around[a];
        low[a] = all_round ? 0 : -(int64_t)cells;
        high[a] = all_round ? c->around[a] - 1 : (int64_t)cells;
    }
    for (o[0] = low[0]; o[0] <= high[0]; o[0]++)
        for (o[1] = low[1]; o[1] <= high[1]; o[1]++)
            for (o[2] = low[2]; o[2] <= high[2]; o[2]++)
                if (is_within(c, o, radius) && reach->count < CLOUD_REACH_MAX)
                    memcpy(reach->offsets[reach->count++], o, sizeof o);
}

int64_t point_grid_neighbour(const point_grid *c, const point_grid_cell *cell,
                             const int64_t offset[3]) {
    int64_t at[3] = {0};
    for (int a = 0; a < c->dim; a++) {
        at[a] = cell->at[a] + offset[a];
        if (!c->around[a]) continue;
        if (at[a] < 0) at[a] += c->around[a];
        if (at[a] >= c->around[a]) at[a] -= c->around[a];
    }
    return c->table[table_place(c, at)];
}

int point_grid_near(const point_grid *c, int64_t cell, const point_grid_reach *reach,
                    int64_t near[CLOUD_REACH_MAX]) {
    int count = 0;
    for (int k = 0; k < reach->count; k++) {
        near[count] = point_grid_neighbour(c, &c->cells[cell], reach->offsets[k]);
        count += near[count] >= 0;
    }
    return count;
}
