/*
 * What a program sees of the grid: mass and velocity of nodes, of all velocity fields together.
 * Mass is there after the stage `scatter`, velocity (v* of mpm.h) after `grid`; both until
 * particles are sorted again, and zero where no particle reaches.
 */
#include "solver/mpm/mpm.h"
#include "solver/mpm/tiles.h"

enum { FIELD_MASS, FIELD_VELOCITY, GRID_FIELDS };

int mpm_grid_fields(const spate_simulation *sim, volume_field *out, int capacity) {
    static const volume_field all[GRID_FIELDS] = {
        [FIELD_MASS] = {"mass", 1}, [FIELD_VELOCITY] = {"velocity", 3}};
    (void)sim;
    for (int i = 0; i < GRID_FIELDS && i < capacity; i++) out[i] = all[i];
    return GRID_FIELDS;
}

/* Nodes of the domain along an axis, x_i = origin + i dx. */
static int64_t nodes_along(const mpm_view *m, int a) {
    if (a >= m->dim) return 1;
    return m->domain->cells[a] + (m->period[a] ? 0 : 1);
}

/* Where node n of a block is in the values; -1: outside the domain. Nodes of blocks begin at one
 * before its corner. */
static int64_t place_of(const mpm_view *m, int32_t block, int n) {
    int64_t at[3] = {0};
    for (int a = m->dim - 1; a >= 0; a--, n /= BLOCK_EDGE) {
        at[a] = (int64_t)m->coords[block][a] * BLOCK_EDGE + n % BLOCK_EDGE - 1;
        if (m->period[a] && at[a] < 0) at[a] += m->domain->cells[a];
        if (at[a] < 0 || at[a] >= nodes_along(m, a)) return -1;
    }
    return (at[2] * nodes_along(m, 1) + at[1]) * nodes_along(m, 0) + at[0];
}

static void add_node(const mpm_view *m, int f, int32_t block, int n, real mass, bool velocity,
                     float *to) {
    const real *v =
        m->velocities[f] + block * block_reals(m->dim, m->node_reals) + m->node_reals * n;
    if (!velocity)
        to[0] += (float)mass;
    else
        for (int a = 0; a < m->dim; a++) to[a] += (float)(mass * v[a]);
}

/* Sums of mass, or of momentum; `masses` has room for those of all nodes. */
static void add_block(const mpm_view *m, int32_t block, bool velocity, float *values) {
    real sum[BLOCK_NODES_MAX * 8];
    for (int f = 0; f < m->field_count; f++) {
        sum_tiles(m->neighbours[block], m->tile[f], m->tiles, sum, m->node_reals, m->dim);
        for (int n = 0; n < block_nodes(m->dim); n++) {
            const real mass = sum[m->node_reals * n + 3];
            const int64_t at = place_of(m, block, n);
            if (at < 0 || !(mass > m->negligible)) continue;
            add_node(m, f, block, n, mass, velocity, values + at * (velocity ? 3 : 1));
        }
    }
}

/* Momentum to velocity, by the mass of all fields. */
static void divide_block(const mpm_view *m, int32_t block, float *values) {
    real sum[BLOCK_NODES_MAX * 8], mass[BLOCK_NODES_MAX] = {0};
    for (int f = 0; f < m->field_count; f++) {
        sum_tiles(m->neighbours[block], m->tile[f], m->tiles, sum, m->node_reals, m->dim);
        for (int n = 0; n < block_nodes(m->dim); n++) {
            const real part = sum[m->node_reals * n + 3];
            if (part > m->negligible) mass[n] += part;
        }
    }
    for (int n = 0; n < block_nodes(m->dim); n++) {
        const int64_t at = place_of(m, block, n);
        for (int a = 0; a < m->dim && at >= 0 && mass[n] > 0; a++)
            values[3 * at + a] /= (float)mass[n];
    }
}

void mpm_grid_field(const spate_simulation *sim, int which, float *values) {
    const mpm *m = sim->solver;
    const mpm_view *v = &m->view;
    const bool velocity = which == FIELD_VELOCITY;
    const int64_t nodes = nodes_along(v, 0) * nodes_along(v, 1) * nodes_along(v, 2);
    memset(values, 0, (size_t)nodes * (velocity ? 3 : 1) * sizeof *values);
    const int64_t sorted = sim->blocks.sorts;
    if (m->tiles_sort != sorted || (velocity && m->velocities_sort != sorted)) return;
    for (int32_t b = 0; b < sim->blocks.count; b++) add_block(v, b, velocity, values);
    for (int32_t b = 0; b < sim->blocks.count && velocity; b++) divide_block(v, b, values);
}
