/*
 * The liquid's velocity beyond the liquid: layer by layer, a face takes the mean of its neighbours
 * of the layer before (same component). So particles at the surface see the liquid's motion, and
 * those that leave it in a step go on with it. Spray farther than a cell from any liquid is in free
 * flight. Faces closed by colliders are filled in the same way and then lose what runs through the
 * collider's surface (Batty et al. 2007), so particles slide along it.
 */
#include "core/vec.h"
#include "solver/flip/cell_bits.h"
#include "solver/flip/flip.h"

typedef struct extrapolation {
    flip *f;
    uint8_t *fresh;  /* bits of faces that this layer reached */
    cell_bits valid; /* a set an axis: cells whose face is valid */
} extrapolation;

/* What a face takes from one beside it: where both have particles the change of velocity in this
 * step, else the velocity. So the rim of what turns, and drops about to fall into a pool, keep
 * their own. */
static real carried(const mac *m, int axis, int64_t to, int64_t from) {
    real u = m->velocity[axis][from];
    if (m->mass[axis][to] > 0 && m->mass[axis][from] > 0)
        u += m->velocity_old[axis][to] - m->velocity_old[axis][from];
    return u;
}

/* The faces of cell c that are not settled take the mean of those beside them. */
static void fill_cell(const extrapolation *e, int64_t brick, int c) {
    const mac *m = &e->f->grid;
    const int dim = m->dim;
    const int64_t here = brick * mac_cells(dim) + c;
    const int settled = mac_settled(m, here);
    int at[3];
    real sums[3] = {0}, counts[3] = {0};
    mac_place(c, dim, at);
    for (int n = 0; n < 2 * dim; n++) {
        const int64_t other = mac_side_of(m, brick, c, at, n).beyond;
        const int wanted = other < 0 ? 0 : m->valid[0][other] & ~settled;
        for (int a = 0; a < dim; a++)
            if (wanted >> a & 1) sums[a] += carried(m, a, here, other), counts[a] += 1;
    }
    for (int a = 0; a < dim; a++) {
        if (!(counts[a] > 0)) continue;
        m->velocity[a][here] = sums[a] / counts[a];
        e->fresh[here] |= (uint8_t)(1 << a);
    }
}

static void fill_layer(void *data, chunk items) {
    const extrapolation *e = data;
    const int dim = e->f->grid.dim, cells = mac_cells(dim), all = (1 << dim) - 1;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        memset(e->fresh + brick * cells, 0, (size_t)cells);
        for (int slab = 0; slab < slabs_of(dim); slab++) {
            uint64_t reached = 0;
            for (int a = 0; a < dim; a++)
                reached |= cell_bits_beside(&e->valid, brick, slab, a, 0) &
                           ~*cell_bits_word(&e->valid, brick, slab, a);
            for (; reached; reached &= reached - 1) {
                const int c = slab * SLAB_CELLS + __builtin_ctzll(reached);
                if (mac_settled(&e->f->grid, brick * cells + c) != all) fill_cell(e, brick, c);
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

/* Bit `bit` of eight bytes, the first byte's lowest. */
static uint64_t column_of_bits(const uint8_t bytes[BRICK_EDGE], int bit) {
    const uint64_t to_last_byte =
        0x0102040810204080u; /* byte i, times 2^(56 - 7 i), to bit 56 + i */
    uint64_t eight;
    memcpy(&eight, bytes, sizeof eight);
    return (eight >> bit & FIRST_COLUMN) * to_last_byte >> 56;
}

static void note_valid(void *data, chunk items) {
    const extrapolation *e = data;
    const int dim = e->f->grid.dim, slabs = slabs_of(dim);
    for (int64_t slab = items.begin * slabs; slab < items.end * slabs; slab++) {
        const uint8_t *valid = e->f->grid.valid[0] + slab * SLAB_CELLS;
        for (int a = 0; a < dim; a++) {
            uint64_t cells = 0;
            for (int row = 0; row < SLAB_CELLS; row += BRICK_EDGE)
                cells |= column_of_bits(valid + row, a) << row;
            e->valid.words[slab * dim + a] = cells;
        }
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
    extrapolation e = {.f = f, .valid = {.bricks = &f->grid.bricks, .sets = f->grid.dim}};
    e.fresh =
        scratch_take(&sim->scratch, "flip layer", (size_t)(bricks * mac_cells(f->grid.dim)) + 1, 1);
    e.valid.words =
        scratch_take(&sim->scratch, "flip valid cells",
                     (size_t)(bricks * slabs_of(f->grid.dim) * f->grid.dim) + 1, sizeof(uint64_t));
    if (!e.fresh || !e.valid.words) {
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
    scratch_give(&sim->scratch, "flip valid cells");
    scratch_give(&sim->scratch, "flip layer");
    return SPATE_OK;
}
