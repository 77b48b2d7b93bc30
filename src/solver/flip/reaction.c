/*
 * What the liquid does to colliders: the momentum that they took from it in a step, face by face.
 *
 * A face in the midst of liquid carries the mass rho dx^d and is changed by the pressure of the two
 * cells beside it, which is what these cells lose: sums over all faces leave nothing. A face near a
 * collider carries less, m, or is closed. The cells beside it lose as much, so the collider gets
 * the difference:
 *
 *     rho dx^d (p_low - p_high)  +  m (u* - u),       p in m/s (mac.h),
 *
 * where u* is the velocity before the projection and u the one after. At an open face u* - u =
 * p_high - p_low (or p / theta at the surface), at a closed one it is what the particles brought,
 * sped up by gravity, less what they may keep along the collider. At rest the sum over a collider
 * is the weight of the liquid that is not there (Archimedes); where a jet is turned, the momentum
 * that it lost.
 *
 * Viscosity pulls at the faces that move with a sticky collider: by -s (K u) there (viscosity.h),
 * which is what its equations take from all other faces.
 *
 * What a particle loses when it is put beside a collider, having been carried into it, counts too.
 *
 * The pressure of a region of liquid without a surface is known but for a constant
 * (solver/pressure), and so is what it does to one of several colliders around it.
 */
#include "solver/flip/reaction.h"

#include "core/vec.h"

typedef struct brick_share {
    boundary_part near;
    double sums[BOUNDARY_LIST][6]; /* impulse and its moment, by place in near.list */
} brick_share;

typedef struct reaction {
    const flip *f;
    face_impulse *impulse;
    const void *data;
    double scale;        /* rho dx^d */
    brick_share *shares; /* by brick */
} reaction;

static void add_impulse(const flip *f, int c, const double more[6]) {
    double *sums = impulses_of(&f->impulses, c);
    for (int v = 0; v < 6; v++) sums[v] += more[v];
}

/* Where collider c is in the sums of a part. */
static int place_of(const boundary_part *part, int c) {
    int k = 0;
    if (part->all) return c;
    while (part->list[k] != c) k++;
    return k;
}

static void add_brick(const reaction *job, const boundary_part *near, int64_t brick, double *sums) {
    const flip *f = job->f;
    const int dim = f->grid.dim;
    for (int c = 0; c < mac_cells(dim); c++) {
        face_place place = {.brick = brick, .cell = c, .here = brick * mac_cells(dim) + c};
        if (f->grid.solid_phi[0][place.here] >= SOLID_FAR) continue;
        mac_place(c, dim, place.at);
        int cell[3];
        for (int a = 0; a < 3; a++)
            cell[a] = f->grid.bricks.coords[brick][a] * BRICK_EDGE + place.at[a];
        for (place.axis = 0; place.axis < dim; place.axis++) {
            double part[3] = {0}, x[3];
            part[place.axis] = job->scale * job->impulse(f, job->data, &place);
            if (part[place.axis] == 0) continue;
            face_position(f->domain, dim, cell, place.axis, x);
            int which;
            boundary_part_nearest(near, x, &which);
            double *sum = sums + 6 * (ptrdiff_t)place_of(near, which);
            simulation_add_force(f->sim, which, x, part, sum, sum + 3);
        }
    }
}

static void share_bricks(void *data, chunk items) {
    const reaction *job = data;
    const flip *f = job->f;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        brick_share *share = &job->shares[brick];
        share->near = colliders_near_brick(f->sim, &f->grid, brick);
        if (!share->near.count || share->near.all) continue;
        memset(share->sums, 0, (size_t)share->near.count * sizeof *share->sums);
        add_brick(job, &share->near, brick, share->sums[0]);
    }
}

/* Adds what all faces near colliders give to them. In the order of bricks, so that threads do not
 * matter; those near very many colliders, which have no room for their own sums, one by one. */
static spate_status react(flip *f, face_impulse *impulse, const void *data) {
    spate_simulation *sim = f->sim;
    const int64_t bricks = f->grid.bricks.count;
    reaction job = {.f = f,
                    .impulse = impulse,
                    .data = data,
                    .scale = f->density * pow(sim->scene->domain.dx, f->grid.dim)};
    job.shares =
        scratch_take(&sim->scratch, "flip reaction", (size_t)bricks + 1, sizeof *job.shares);
    if (!job.shares) return SPATE_OUT_OF_MEMORY;
    parallel_for(sim->ctx->pool, bricks, 4, share_bricks, &job);
    for (int64_t brick = 0; brick < bricks; brick++) {
        const brick_share *share = &job.shares[brick];
        if (share->near.all) add_brick(&job, &share->near, brick, impulses_of(&f->impulses, 0));
        for (int k = 0; k < share->near.count && !share->near.all; k++)
            add_impulse(f, share->near.list[k], share->sums[k]);
    }
    scratch_give(&sim->scratch, "flip reaction");
    return SPATE_OK;
}

/* ---- Pressure and contact -------------------------------------------------------------------- */

/* What the projection took from the velocity at an open face, with phi and p of the cells beside
 * it. */
static double taken(const flip *f, const double phi[2], const double p[2]) {
    if (phi[0] < 0 && phi[1] < 0) return p[1] - p[0];
    if (!(phi[0] < 0) && !(phi[1] < 0)) return 0;
    const int liquid = phi[1] < 0;
    double theta = 1;
    if (f->options->surface_order == 2)
        theta = fmax(phi[liquid] / (phi[liquid] - phi[!liquid]), 1e-3);
    return (liquid ? p[1] : -p[0]) / theta;
}

/* The velocity that particles brought to a face, and gravity. */
static double brought(const flip *f, const face_place *face) {
    return (double)f->grid.velocity_old[face->axis][face->here] +
           f->sim->scene->gravity[face->axis] * f->sim->dt;
}

static double pressure_impulse(const flip *f, const void *data, const face_place *face) {
    const mac *m = &f->grid;
    const int a = face->axis;
    const int64_t here = face->here;
    (void)data;
    if (mac_is_prescribed(m, a, here)) return 0;
    const int64_t low = mac_beside(m, face->brick, face->cell, face->at, a, -1);
    const double solid[2] = {low < 0 ? SOLID_FAR : (double)m->solid_phi[0][low],
                             (double)m->solid_phi[0][here]};
    /* The kernel of a face farther off reaches no collider. */
    if (m->face_fraction[a][here] == 1 && 0.5 * (solid[0] + solid[1]) >= 1) return 0;
    const double phi[2] = {low < 0 ? 1 : (double)m->phi[0][low], (double)m->phi[0][here]};
    const double p[2] = {phi[0] < 0 ? m->pressure[0][low] : 0,
                         phi[1] < 0 ? m->pressure[0][here] : 0};
    const double mass = (double)m->mass[a][here] * (double)f->inverse_mass;
    double lost = 0;
    if (m->face_fraction[a][here] > 0)
        lost = taken(f, phi, p);
    else if (mass > 0)
        lost = brought(f, face) - (double)m->velocity[a][here];
    return p[0] - p[1] + mass * lost;
}

spate_status flip_reaction(void *solver) {
    flip *f = solver;
    if (!f->sim->scene->collider_count || !f->grid.bricks.count) return SPATE_OK;
    return react(f, pressure_impulse, NULL);
}

/* ---- Viscosity ------------------------------------------------------------------------------- */

typedef struct viscous_state {
    const viscous_level *level;
    const uint8_t *kinds;
} viscous_state;

/* The velocity that the viscosity ended with; where it is none, weights are 0. */
static double viscous_velocity(const mac *m, const viscous_state *v, int64_t cell, int axis) {
    const int kind = viscous_kind(v->kinds, cell, axis);
    if (kind == FIXED) return (double)m->solid_velocity[axis][cell];
    return kind == FREE ? (double)m->velocity[axis][cell] : 0;
}

static int64_t cell_beside(const mac *m, const face_place *face, const int step[3]) {
    return mac_cell_at(m, face->brick, face->at, step);
}

/* 2 W d_a u_a in the cell after the face, or the one before it. */
static double normal_stress(const mac *m, const viscous_state *v, const face_place *face, int way) {
    int step[3] = {0};
    step[face->axis] = way;
    const int64_t other = cell_beside(m, face, step), cell = way < 0 ? other : face->here;
    if (other < 0) return 0;
    return 2 * way * (double)v->level->normal[face->axis][cell] *
           (viscous_velocity(m, v, other, face->axis) -
            viscous_velocity(m, v, face->here, face->axis));
}

/* W (d_b u_a + d_a u_b) at the edge of the face that is `after` the cell along b, or before it. */
static double shear_stress(const mac *m, const viscous_state *v, const face_place *face, int b,
                           int after) {
    const int a = face->axis;
    int at[3] = {0}, low_a[3] = {0}, low_b[3] = {0};
    at[b] = low_a[b] = after;
    low_a[a] = -1;
    low_b[b] = after - 1;
    const int64_t edge = cell_beside(m, face, at), one = cell_beside(m, face, low_a),
                  other = cell_beside(m, face, low_b);
    if (edge < 0 || one < 0 || other < 0) return 0;
    return (double)v->level->shear[viscous_edge(m->dim, a, b)][edge] *
           (viscous_velocity(m, v, edge, a) - viscous_velocity(m, v, other, a) +
            viscous_velocity(m, v, edge, b) - viscous_velocity(m, v, one, b));
}

static double viscous_impulse(const flip *f, const void *data, const face_place *face) {
    const viscous_state *v = data;
    const mac *m = &f->grid;
    const int a = face->axis;
    if (viscous_kind(v->kinds, face->here, a) != FIXED || mac_is_prescribed(m, a, face->here))
        return 0;
    double sum = normal_stress(m, v, face, 1) - normal_stress(m, v, face, -1);
    for (int b = 0; b < m->dim; b++)
        if (b != a) sum += shear_stress(m, v, face, b, 1) - shear_stress(m, v, face, b, 0);
    /* What an open face that is made to move with the collider had; closed ones:
     * pressure_impulse. */
    const double had = m->face_fraction[a][face->here] > 0
                           ? brought(f, face) - (double)m->solid_velocity[a][face->here]
                           : 0;
    return v->level->scale * sum + (double)m->mass[a][face->here] * (double)f->inverse_mass * had;
}

spate_status flip_viscous_reaction(flip *f, const viscous_level *level, const uint8_t *kinds) {
    if (!f->sim->scene->collider_count) return SPATE_OK;
    return react(f, viscous_impulse, &(viscous_state){level, kinds});
}

/* ---- Particles ------------------------------------------------------------------------------- */

void flip_touch(const flip *f, const boundary_part *solid, block_touches *touches,
                const double x[3], const double lost[3]) {
    int which;
    boundary_part_nearest(solid, x, &which);
    touches_note(f->sim, touches, which, x, lost);
}

void flip_force(const spate_simulation *sim, int c, double force[3], double torque[3]) {
    const flip *f = sim->solver;
    impulses_mean(&f->impulses, c, force, torque);
}
