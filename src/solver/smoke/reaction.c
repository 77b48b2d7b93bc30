/*
 * What the gas does to colliders: the momentum that it loses to them, stage by stage.
 *
 * The momentum of the gas is the sum over faces f of m_f u_f, m_f = density dx^dim w_f, w_f the
 * open share. Each stage's change of it is known exactly:
 *
 *   project   u_f -= dt / (density dx) (p_high - p_low) on open faces. Summed by parts, what is
 *             lost is the sum over cells of p A dt, A = dx^(dim - 1) (w_low - w_high) by axis: the
 *             pressure on the piece of surface that closes what the cell's faces leave open.
 *   diffuse   w_f (u_f - u_before) = a w_f sum over neighbours (u_n - u_f). A sticky value takes
 *             a w_f (u_f - u_wall) / gap. Two gas values of different shares do not take from one
 *             what the other gets; what is left of each pair, a (w_f - w_n) (u_f - u_n), is lost
 *             too.
 *   advect    tracing back is not conservative: it loses
 *                 dt (inflow of momentum by the fluxes u_b u_a) - (m_f u_after - m_f u_before),
 *             and beside a wall most: it is friction on that wall as far as the flow is concerned.
 *             Which flux is taken between two faces does not matter (one gets what the other gives)
 *             but at the rim, and none goes into solids: it is the mean of those by the velocities
 *             that a step begins and ends with, which are what others see. Faces within
 *             CONTROL_CELLS cells count to the nearest collider, unless a closed side is nearer.
 *
 * The sum is then the balance of momentum of a control volume around the collider by construction:
 * flux of momentum, pressure and viscous stress on its surface less what is stored. Viscous stress
 * is here mu grad u, as the Laplacian has it. A surface that turns with angular velocity W needs
 * the other half, mu (grad u)^T n = -mu W x n (a cylinder in still gas feels twice the torque).
 *
 * With `reflection` the flow feels the first pressure twice; `pressure` knows
 * (smoke_keep_pressure).
 */
#include "core/vec.h"
#include "solver/smoke/smoke.h"

enum { CONTROL_CELLS = 8, TOUCH = 2, PIECE = 512 };

/* ---- Cells near colliders -------------------------------------------------------------------- */

/* How far x is from the nearest closed side. */
static double side_distance(const domain *d, int dim, const double x[3]) {
    double nearest = HUGE_VAL;
    for (int a = 0; a < dim; a++)
        for (int end = 0; end < 2; end++)
            if (d->walls[a][end] != WALL_OPEN && d->walls[a][end] != WALL_PERIODIC)
                nearest = fmin(nearest, fabs(x[a] - d->origin[a] - end * d->size[a]));
    return nearest;
}

/* What a cell counts to: smoke_control_volumes. What touches a collider always does. */
static int32_t owner_of(const smoke *s, const boundary_part *part, const int cell[3]) {
    const domain *d = &s->scene->domain;
    double x[3];
    int nearest = -1;
    smoke_world(s, PLACE_MIDDLE, cell, x);
    const double distance = boundary_part_nearest(part, x, &nearest) / d->dx;
    const bool apart = distance > TOUCH;
    if (distance > CONTROL_CELLS || distance < -TOUCH) return -1;
    if (apart && side_distance(d, s->layout.dim, x) < distance * d->dx) return -1;
    return 2 * nearest + apart;
}

static void find_owners(void *data, chunk items) {
    smoke *s = data;
    const layout *l = &s->layout;
    const domain *d = &s->scene->domain;
    const int cells = mac_cells(l->dim);
    const double half = 0.5 * BRICK_EDGE, reach = d->dx * (half * sqrt(l->dim) + CONTROL_CELLS);
    for (int64_t b = items.begin; b < items.end; b++) {
        const int32_t *corner = s->grid.bricks.coords[b];
        double middle[3] = {0};
        for (int a = 0; a < l->dim; a++)
            middle[a] = d->origin[a] + (corner[a] * BRICK_EDGE + half) * d->dx;
        const boundary_part part = boundary_around(&s->sim->boundary, middle, reach);
        s->control.near[b] = part.count > 0;
        for (int c = 0; c < cells && part.count; c++) {
            int at[3], cell[3] = {0};
            bool inside = true;
            mac_place(c, l->dim, at);
            for (int a = 0; a < l->dim; a++) {
                cell[a] = corner[a] * BRICK_EDGE + at[a];
                inside &= cell[a] < l->n[a];
            }
            s->control.owner[b * cells + c] = inside ? owner_of(s, &part, cell) : -1;
        }
    }
}

/* Dense index of cell c of a brick. */
static int32_t dense_index(const smoke *s, int64_t b, int c) {
    const int32_t *corner = s->grid.bricks.coords[b];
    int at[3];
    mac_place(c, s->layout.dim, at);
    return (int32_t)layout_at(&s->layout, corner[0] * BRICK_EDGE + at[0],
                              corner[1] * BRICK_EDGE + at[1], corner[2] * BRICK_EDGE + at[2]);
}

/* How many cells each owner has, in first[owner + 1]. */
static int64_t count_owned(const smoke *s) {
    const smoke_control_volumes *v = &s->control;
    const int cells = mac_cells(s->layout.dim);
    int64_t count = 0;
    memset(v->first, 0, (2 * (size_t)s->scene->collider_count + 1) * sizeof *v->first);
    for (int64_t b = 0; b < s->grid.bricks.count; b++)
        for (int c = 0; c < cells && v->near[b]; c++) {
            const int32_t owner = v->owner[b * cells + c];
            if (owner >= 0) v->first[owner + 1]++, count++;
        }
    return count;
}

/* Cells owner by owner, from first[owner] on, which moves to their end. */
static void list_owned(const smoke *s) {
    const smoke_control_volumes *v = &s->control;
    const int cells = mac_cells(s->layout.dim);
    for (int64_t b = 0; b < s->grid.bricks.count; b++)
        for (int c = 0; c < cells && v->near[b]; c++) {
            const int32_t owner = v->owner[b * cells + c];
            if (owner >= 0) v->cells[v->first[owner]++] = dense_index(s, b, c);
        }
}

/* A counting sort by owner; each one's cells are summed in pieces, whose borders do not depend on
 * the number of threads. */
spate_status smoke_find_control_volumes(smoke *s) {
    smoke_control_volumes *v = &s->control;
    spate_context *ctx = s->sim->ctx;
    const int owners = 2 * s->scene->collider_count;
    if (!v->owner) return SPATE_OK;
    v->inflow_known = false;
    parallel_for(ctx->pool, s->grid.bricks.count, 2, find_owners, s);
    int64_t pieces = 0;
    TRY(GROW(ctx, v->cells, v->capacity, count_owned(s) + 1));
    for (int k = 0; k < owners; k++) {
        pieces += (v->first[k + 1] + PIECE - 1) / PIECE;
        v->first[k + 1] += v->first[k];
    }
    TRY(GROW(ctx, v->pieces, v->piece_capacity, pieces + 1));
    v->piece_count = 0;
    for (int k = 0; k < owners; k++)
        for (int64_t at = v->first[k]; at < v->first[k + 1]; at += PIECE)
            v->pieces[v->piece_count++] =
                (smoke_piece){.collider = k / 2,
                              .apart = k % 2,
                              .begin = at,
                              .end = at + PIECE < v->first[k + 1] ? at + PIECE : v->first[k + 1]};
    list_owned(s);
    return SPATE_OK;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

typedef struct cell_spot {
    int64_t at;
    double arm[3]; /* of its lowest corner, from the point that torques are about */
    bool apart;
    int collider;
} cell_spot;

typedef struct reaction_job reaction_job;
struct reaction_job {
    smoke *s;
    void (*add)(const reaction_job *job, const cell_spot *c, double sums[6]);
    double unit;   /* what `add` gives, in N s */
    bool touching; /* only cells that touch a collider */
    const real *share[3], *velocity[3];
};

/* Adds what acts along axis a, `off` of a's face of a cell along b. */
static inline void give_along(const reaction_job *job, const cell_spot *c, int a, int b, double off,
                              double lost, double sums[6]) {
    const double dx = job->s->dx;
    const int up = (a + 1) % 3, down = (a + 2) % 3;
    const double half = 0.5 * dx;
    const double arm_up = c->arm[up] + (up < job->s->layout.dim ? half : 0) + (b == up ? off : 0);
    const double arm_down =
        c->arm[down] + (down < job->s->layout.dim ? half : 0) + (b == down ? off : 0);
    sums[a] += lost;
    sums[3 + up] += arm_down * lost;
    sums[3 + down] -= arm_up * lost;
}

static cell_spot spot_of(const smoke *s, const smoke_piece *piece, int64_t at) {
    const layout *l = &s->layout;
    const domain *d = &s->scene->domain;
    const pose *p = &s->sim->boundary.poses[piece->collider];
    const uint32_t from = (uint32_t)(at - l->first), across = (uint32_t)l->stride[0];
    const uint32_t rest = from % across, along = (uint32_t)l->stride[1];
    const uint32_t cell[3] = {from / across, rest / along, rest % along};
    cell_spot c = {.at = at, .apart = piece->apart, .collider = piece->collider};
    for (int a = 0; a < l->dim; a++)
        c.arm[a] = d->origin[a] + cell[a] * d->dx - p->pivot[a] - p->move[a];
    return c;
}

static void sum_pieces(void *data, chunk items) {
    const reaction_job *job = data;
    const smoke *s = job->s;
    for (int64_t p = items.begin; p < items.end; p++) {
        smoke_piece *piece = &s->control.pieces[p];
        double sums[6] = {0};
        for (int64_t i = piece->begin; i < piece->end && !(job->touching && piece->apart); i++) {
            const cell_spot c = spot_of(s, piece, s->control.cells[i]);
            job->add(job, &c, sums);
        }
        for (int k = 0; k < 6; k++) piece->sums[k] = job->unit * sums[k];
    }
}

/* Adds to six values of each collider. */
static void sum_into(const reaction_job *job, double *values) {
    smoke *s = job->s;
    parallel_for(s->threads, s->control.piece_count, 1, sum_pieces, (void *)job);
    for (int64_t p = 0; p < s->control.piece_count; p++) {
        const smoke_piece *piece = &s->control.pieces[p];
        double *sums = values + 6 * (ptrdiff_t)piece->collider;
        for (int i = 0; i < 6; i++) sums[i] += piece->sums[i];
    }
}

static void sum_up(const reaction_job *job) { sum_into(job, impulses_of(&job->s->impulses, 0)); }

static double mass_of_face(const smoke *s) { return s->density * pow(s->dx, s->layout.dim); }

/* ---- Advection ------------------------------------------------------------------------------- */

/* Whether momentum may pass: in the gas, and where it is blown in. */
static bool lets_pass(const smoke *s, int a, int64_t at) {
    return s->face_fraction[a][at] > 0 || s->depth[a][at] == DEPTH_HELD;
}

/* The flux u_b u_a between face `low` of axis a and the one above it along b. None through an edge
 * that has a solid at it: so u's along y is v's along x, which torques need. */
static inline double flux(const smoke *s, bool apart, int a, int b, int64_t low) {
    const int64_t up = s->layout.stride[b], high = low + up;
    int64_t one = low, two = high; /* faces of axis b whose velocity carries */
    if (a != b) one = high, two = high - s->layout.stride[a];
    if (!apart && (!lets_pass(s, a, low) || !lets_pass(s, a, high) || !lets_pass(s, b, one) ||
                   !lets_pass(s, b, two)))
        return 0;
    const double speed = (double)s->velocity[b][one] + (double)s->velocity[b][two];
    return 0.25 * speed * ((double)s->velocity[a][low] + (double)s->velocity[a][high]);
}

/* What flows in, by the velocity as it is. */
static void add_inflow(const reaction_job *job, const cell_spot *c, double sums[6]) {
    const smoke *s = job->s;
    for (int a = 0; a < s->layout.dim; a++) {
        double inflow = 0;
        if (!(s->face_fraction[a][c->at] > 0)) continue;
        for (int b = 0; b < s->layout.dim; b++)
            inflow += flux(s, c->apart, a, b, c->at - s->layout.stride[b]) -
                      flux(s, c->apart, a, b, c->at);
        give_along(job, c, a, a, 0, inflow, sums);
    }
}

/* What the gas has, of which some is to be taken off. */
static void add_momentum(const reaction_job *job, const cell_spot *c, double sums[6]) {
    const layout *l = &job->s->layout;
    for (int a = 0; a < l->dim; a++) {
        const double share = (double)job->share[a][c->at];
        if (share > 0) give_along(job, c, a, a, 0, share * (double)job->velocity[a][c->at], sums);
    }
}

/* Over half a step. That of a step's end is that of the next one's beginning, if no face has
 * changed. */
static void sum_inflow(smoke *s) {
    smoke_control_volumes *v = &s->control;
    const int values = 6 * s->scene->collider_count;
    if (!v->inflow_known) {
        memset(v->inflow, 0, (size_t)values * sizeof *v->inflow);
        sum_into(&(reaction_job){.s = s, .add = add_inflow, .unit = mass_of_face(s) / s->dx},
                 v->inflow);
    }
    double *impulse = impulses_of(&s->impulses, 0);
    for (int i = 0; i < values; i++) impulse[i] += 0.5 * s->sim->dt * v->inflow[i];
}

void smoke_before_advection(smoke *s) {
    reaction_job job = {.s = s, .add = add_momentum, .unit = mass_of_face(s)};
    if (!s->control.piece_count) return;
    for (int a = 0; a < s->layout.dim; a++) {
        job.share[a] = s->face_fraction_before[a];
        job.velocity[a] = s->reflected ? s->next[a] : s->velocity[a];
    }
    if (s->part == 0) sum_inflow(s);
    sum_up(&job);
}

/* Adds what the gas has, or takes it off. */
static void sum_momentum(smoke *s, double sign, bool touching) {
    reaction_job job = {
        .s = s, .add = add_momentum, .unit = sign * mass_of_face(s), .touching = touching};
    for (int a = 0; a < s->layout.dim; a++)
        job.share[a] = s->face_fraction[a], job.velocity[a] = s->velocity[a];
    if (s->control.piece_count) sum_up(&job);
}

void smoke_after_advection(smoke *s) { sum_momentum(s, -1, false); }

/* ---- Viscosity ------------------------------------------------------------------------------- */

/* Of the value at c across a: to what is beside it along b. */
static void add_friction(const reaction_job *job, const cell_spot *c, int a, int b, int way,
                         double sums[6]) {
    const smoke *s = job->s;
    const int64_t beside = c->at + way * s->layout.stride[b];
    const uint8_t depth = s->depth[a][beside];
    const double share = (double)s->face_fraction[a][c->at];
    const double here = (double)s->velocity[a][c->at], there = (double)s->velocity[a][beside];
    if (depth == DEPTH_STICKY) {
        const real gap = smoke_gap(s->distance[a][c->at], s->distance[a][beside]);
        const smoke_turning turning = smoke_turning_of(s, a);
        const double surface = (double)smoke_wall(&turning, (real)there, beside, b, way, gap);
        const double off = way * (double)gap * s->dx;
        give_along(job, c, a, b, off, share * (here - surface) / (double)gap, sums);
    } else if (depth == DEPTH_GAS) {
        const double left = share - (double)s->face_fraction[a][beside];
        if (left != 0) give_along(job, c, a, a, 0, 0.5 * left * (here - there), sums);
    }
}

static void add_all_friction(const reaction_job *job, const cell_spot *c, double sums[6]) {
    const smoke *s = job->s;
    for (int a = 0; a < s->layout.dim; a++)
        for (int b = 0; b < s->layout.dim && s->depth[a][c->at] == DEPTH_GAS; b++)
            for (int way = -1; way <= 1; way += 2) add_friction(job, c, a, b, way, sums);
}

void smoke_before_diffusion(smoke *s) {
    if (!s->distance[0]) return;
    sum_momentum(s, 1, true);
    smoke_stick(s);
    sum_momentum(s, -1, true);
}

void smoke_after_diffusion(smoke *s) {
    const double dx = s->dx;
    const reaction_job job = {.s = s,
                              .add = add_all_friction,
                              .touching = true,
                              .unit = s->viscosity * s->dt * pow(dx, s->layout.dim - 2)};
    if (s->control.piece_count && s->viscosity > 0) sum_up(&job);
}

/* ---- Pressure -------------------------------------------------------------------------------- */

/* The surface of colliders in a cell, out of the gas. Sides and sources do not count. */
static bool surface_in_cell(const smoke *s, int64_t at, double area[3]) {
    bool any = false;
    vec_set(area, 0, 0, 0);
    for (int a = 0; a < s->layout.dim; a++)
        for (int way = 0; way < 2; way++) {
            const int64_t face = at + way * s->layout.stride[a];
            if (s->depth[a][face] == DEPTH_HELD) continue;
            const double closed = 1 - (double)s->face_fraction[a][face];
            any |= closed > 0;
            area[a] += way ? closed : -closed;
        }
    return any;
}

/* The pressure on it, and what a sticky one that turns feels of its own turning. */
static void add_pressure(const reaction_job *job, const cell_spot *c, double sums[6]) {
    const smoke *s = job->s;
    const spate_simulation *sim = s->sim;
    const double half = 0.5 * sim->scene->domain.dx;
    double area[3], lost[3], turn[3], arm[3] = {0};
    if (!surface_in_cell(s, c->at, area)) return;
    vec_scale(lost, (double)s->pressure[c->at], area);
    if (sim->scene->colliders[c->collider].contact == CONTACT_STICKY) {
        vec_cross(turn, sim->boundary.poses[c->collider].spin, area);
        vec_add_scaled(lost, lost, s->viscosity, turn);
    }
    for (int a = 0; a < s->layout.dim; a++) arm[a] = c->arm[a] + half;
    vec_cross(turn, arm, lost);
    vec_add(sums, sums, lost);
    vec_add(sums + 3, sums + 3, turn);
}

void smoke_after_projection(smoke *s) {
    const double dx = s->dx;
    const reaction_job job = {.s = s,
                              .add = add_pressure,
                              .touching = true,
                              .unit = s->sim->dt * pow(dx, s->layout.dim - 1)};
    if (!s->control.piece_count || !smoke_last_part(s)) return;
    sum_up(&job);
    s->control.inflow_known = false;
    sum_inflow(s);
    s->control.inflow_known = true;
}

/* ---- The answer ------------------------------------------------------------------------------ */

void smoke_force_on(const spate_simulation *sim, int c, double force[3], double torque[3]) {
    const smoke *s = sim->solver;
    impulses_mean(&s->impulses, c, force, torque);
}
