/*
 * The liquid's velocity beyond the liquid: layer by layer, a face takes the mean of its neighbours
 * of the layer before (same component). So particles at the surface see the liquid's motion, and
 * those that leave it in a step go on with it. Spray farther than a cell from any liquid is in free
 * flight. Faces closed by colliders are filled in the same way and then lose what runs through the
 * collider's surface (Batty et al. 2007), so particles slide along it.
 */
#include "core/vec.h"
#include "solver/flip/flip.h"

typedef struct extrapolation {
    flip *f;
    uint8_t *fresh; /* bits of faces that this layer reached */
    uint8_t *valid; /* of each brick: bits of its faces that are valid, all together */
} extrapolation;

/* Whether a brick or one beside it has any face that is valid. */
static bool is_near_valid(const extrapolation *e, int64_t brick) {
    const sparse_lattice *bricks = &e->f->grid.bricks;
    for (int code = 0; code < neighbour_count(bricks->dim); code++) {
        const int32_t other = bricks->neighbours[brick][code];
        if (other >= 0 && e->valid[other]) return true;
    }
    return false;
}

/* What a face takes from one beside it: where both have particles the change of velocity in this
 * step, else the velocity. So the rim of what turns, and drops about to fall into a pool, keep
 * their own. */
static real carried(const mac *m, int axis, int64_t to, int64_t from) {
    real u = m->velocity[axis][from];
    if (m->mass[axis][to] > 0 && m->mass[axis][from] > 0)
        u += m->velocity_old[axis][to] - m->velocity_old[axis][from];
    return u;
}

/* A brick and the cells beside it, a row along the last axis after the other; without those at its
 * edges and corners. */
enum { PADDED = BRICK_EDGE + 2, PADDED_MOST = PADDED * PADDED * PADDED };

static int padded_index(const int at[3], int dim) {
    int index = 0;
    for (int a = 0; a < dim; a++) index = index * PADDED + at[a] + 1;
    return index;
}

/* `valid` of a brick and of the cells beside it. */
static void load_valid(const mac *m, int64_t brick, uint8_t *padded) {
    const int dim = m->dim, cells = mac_cells(dim), side = cells / BRICK_EDGE;
    const uint8_t *own = m->valid[0] + brick * cells;
    int at[3];
    memset(padded, 0, PADDED_MOST);
    for (int c = 0; c < cells; c += BRICK_EDGE) {
        mac_place(c, dim, at);
        memcpy(padded + padded_index(at, dim), own + c, BRICK_EDGE);
    }
    for (int n = 0; n < 2 * dim; n++) {
        const int axis = n >> 1, stride = box_stride(BRICK_EDGE, axis, dim);
        int beyond[3] = {0};
        beyond[axis] = n & 1 ? BRICK_EDGE : -1;
        const int32_t other = m->bricks.neighbours[brick][neighbour_code(BRICK_EDGE, beyond, dim)];
        if (other < 0) continue;
        for (int k = 0; k < side; k++) {
            const int c = k / stride * stride * BRICK_EDGE + k % stride; /* of the low side */
            const int from = n & 1 ? c : c + (BRICK_EDGE - 1) * stride;
            mac_place(c, dim, at);
            at[axis] = beyond[axis];
            padded[padded_index(at, dim)] = m->valid[0][(int64_t)other * cells + from];
        }
    }
}

/* What is valid of the cells beside each. */
static void gather_valid(const mac *m, int64_t brick, uint8_t *beside) {
    const int count = m->dim == 3 ? PADDED_MOST : PADDED * PADDED;
    uint8_t padded[PADDED_MOST];
    load_valid(m, brick, padded);
    memset(beside, 0, PADDED_MOST);
    for (int a = 0, stride = 1; a < m->dim; a++, stride *= PADDED)
        for (int i = stride; i < count - stride; i++)
            beside[i] |= padded[i - stride] | padded[i + stride];
}

/* The faces `wanted` of a cell that are not settled, but some beside them are. */
static void fill_cell(const extrapolation *e, int64_t brick, int c, const int at[3], int wanted) {
    const mac *m = &e->f->grid;
    const int64_t here = brick * mac_cells(m->dim) + c;
    real sums[3] = {0}, counts[3] = {0};
    for (int n = 0; n < 2 * m->dim; n++) {
        const int64_t other = mac_side_of(m, brick, c, at, n).beyond;
        const int valid = other < 0 ? 0 : m->valid[0][other] & wanted;
        for (int a = 0; a < m->dim; a++)
            if (valid >> a & 1) sums[a] += carried(m, a, here, other), counts[a] += 1;
    }
    for (int a = 0; a < m->dim; a++)
        if (wanted >> a & 1) m->velocity[a][here] = sums[a] / counts[a];
    e->fresh[here] = (uint8_t)wanted;
}

static void fill_layer(void *data, chunk items) {
    const extrapolation *e = data;
    const mac *m = &e->f->grid;
    const int dim = m->dim, all = (1 << dim) - 1;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        uint8_t beside[PADDED_MOST];
        memset(e->fresh + brick * mac_cells(dim), 0, (size_t)mac_cells(dim));
        if (!is_near_valid(e, brick)) continue;
        gather_valid(m, brick, beside);
        for (int row = 0; row < mac_cells(dim); row += BRICK_EDGE) {
            int at[3];
            mac_place(row, dim, at);
            const uint8_t *valid = m->valid[0] + brick * mac_cells(dim) + row;
            const uint8_t *near = beside + padded_index(at, dim);
            for (int k = 0; k < BRICK_EDGE; k++) {
                const int wanted = near[k] & ~(valid[k] | valid[k] >> PRESCRIBED_SHIFT) & all;
                at[dim - 1] = k;
                if (wanted) fill_cell(e, brick, row + k, at, wanted);
            }
        }
    }
}

static void keep_layer(void *data, chunk items) {
    const extrapolation *e = data;
    const int cells = mac_cells(e->f->grid.dim);
    for (int64_t c = items.begin * cells; c < items.end * cells; c++)
        e->f->grid.valid[0][c] |= e->fresh[c];
}

static void note_valid(void *data, chunk items) {
    const extrapolation *e = data;
    const int cells = mac_cells(e->f->grid.dim);
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        int valid = 0;
        for (int c = 0; c < cells; c++) valid |= e->f->grid.valid[0][brick * cells + c];
        e->valid[brick] = (uint8_t)(valid & ((1 << e->f->grid.dim) - 1));
    }
}

/* Faces that particles reach but the first layer does not are in free flight: spray and thin
 * sheets, which keep the velocity they have. */
static void keep_flight(void *data, chunk items) {
    const mac *m = &((const extrapolation *)data)->f->grid;
    for (int64_t c = items.begin * mac_cells(m->dim); c < items.end * mac_cells(m->dim); c++)
        for (int a = 0; a < m->dim; a++)
            if (m->mass[a][c] > 0 && !mac_is_prescribed(m, a, c)) mac_set_valid(m, a, c);
}

/* ---- Along colliders ------------------------------------------------------------------------- */

/* All components at face `axis` of a cell: its own, and the means of the four faces around. */
static void velocity_at_face(const mac *m, int64_t brick, int c, const int at[3], int axis,
                             double v[3]) {
    v[2] = 0;
    for (int a = 0; a < m->dim; a++) {
        v[a] = (double)m->velocity[a][brick * mac_cells(m->dim) + c];
        if (a == axis) continue;
        double sum = 0;
        int count = 0;
        for (int n = 0; n < 4; n++) {
            int next[3] = {at[0], at[1], at[2]};
            next[axis] -= n & 1;
            next[a] += n >> 1;
            int64_t other = mac_cell(m, brick, next);
            if (other >= 0) sum += (double)m->velocity[a][other], count++;
        }
        v[a] = sum / count;
    }
}

/* What is left of a velocity in a collider: nothing across its surface but the collider's own. */
static double along_collider(const flip *f, const boundary_part *part, const double x[3], int axis,
                             double v[3]) {
    int c;
    double normal[3], speed[3];
    boundary_part_nearest(part, x, &c);
    boundary_distance(&f->sim->boundary, c, x, normal, speed);
    contact_apply(f->sim->scene->colliders[c].contact == CONTACT_STICKY ? CONTACT_STICKY
                                                                        : CONTACT_SLIP,
                  0, normal, speed, v);
    return v[axis];
}

/* Faces closed by colliders; the results go to solid_velocity, which nobody needs any more, so that
 * all of them are formed from the same velocities. */
static void constrain_brick(const flip *f, const boundary_part *near, int64_t brick) {
    const mac *m = &f->grid;
    for (int c = 0; c < mac_cells(m->dim); c++) {
        const int64_t here = brick * mac_cells(m->dim) + c;
        int at[3], cell[3];
        mac_place(c, m->dim, at);
        for (int a = 0; a < 3; a++) cell[a] = m->bricks.coords[brick][a] * BRICK_EDGE + at[a];
        for (int a = 0; a < m->dim; a++) {
            const bool asked = m->face_fraction[a][here] == 0 && mac_is_valid(m, a, here);
            if (!asked || mac_is_prescribed(m, a, here)) continue;
            double x[3], v[3];
            face_position(f->domain, m->dim, cell, a, x);
            velocity_at_face(m, brick, c, at, a, v);
            m->solid_velocity[a][here] = (real)along_collider(f, near, x, a, v);
        }
    }
}

static void constrain(void *data, chunk items) {
    const flip *f = ((const extrapolation *)data)->f;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        const boundary_part near = colliders_near_brick(f->sim, &f->grid, brick);
        if (near.count) constrain_brick(f, &near, brick);
    }
}

static void take_constrained(void *data, chunk items) {
    const mac *m = &((const extrapolation *)data)->f->grid;
    for (int64_t c = items.begin * mac_cells(m->dim); c < items.end * mac_cells(m->dim); c++)
        for (int a = 0; a < m->dim; a++)
            if (m->face_fraction[a][c] == 0 && mac_is_valid(m, a, c))
                m->velocity[a][c] = m->solid_velocity[a][c];
}

spate_status flip_extrapolate(void *solver) {
    flip *f = solver;
    spate_simulation *sim = f->sim;
    pool *threads = sim->ctx->pool;
    const int64_t bricks = f->grid.bricks.count;
    const int layers = (int)ceil(sim->scene->cfl) + 2;
    extrapolation e = {.f = f};
    e.fresh =
        scratch_take(&sim->scratch, "flip layer", (size_t)(bricks * mac_cells(f->grid.dim)) + 1, 1);
    e.valid = scratch_take(&sim->scratch, "flip valid bricks", (size_t)bricks + 1, 1);
    if (!e.fresh || !e.valid) {
        if (e.fresh) scratch_give(&sim->scratch, "flip layer");
        return SPATE_OUT_OF_MEMORY;
    }
    for (int layer = 0; layer < layers; layer++) {
        parallel_for(threads, bricks, 32, note_valid, &e);
        parallel_for(threads, bricks, 4, fill_layer, &e);
        parallel_for(threads, bricks, 32, keep_layer, &e);
        if (layer == 0) parallel_for(threads, bricks, 32, keep_flight, &e);
    }
    if (sim->scene->collider_count) {
        parallel_for(threads, bricks, 4, constrain, &e);
        parallel_for(threads, bricks, 32, take_constrained, &e);
    }
    scratch_give(&sim->scratch, "flip valid bricks");
    scratch_give(&sim->scratch, "flip layer");
    return SPATE_OK;
}
