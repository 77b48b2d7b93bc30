/*
 * Surface tension: the pressure at the surface is sigma kappa (Young and Laplace), put there by the
 * ghost fluid method (Kang et al. 2000). The projection takes it as 0; what the difference does to
 * a face between a liquid and an air cell, the surface at the share theta of the way between them,
 * is
 *     u -= dt sigma kappa / (density dx theta)
 * towards the air. A drop at rest gets the same kappa all around, and the projection then finds the
 * pressure sigma kappa inside and no velocity at all, whatever the thetas are.
 *
 * What is left is to find kappa from particles without doing work that the surface's energy does
 * not give. The liquid's share F of a cell is smoothed, F = H share, by passes of the filter (1, 2,
 * 1) / 4 along each axis, and read as a cubic B-spline. The surface is F = 1/2. Then
 *
 *   kappa  = -div (grad F / |grad F|), in every cell near the surface taken at the nearest point of
 *            F = 1/2. Taken in the cell itself it would be less the farther out the cell is, and ripples
 *            too short for F to see would be drawn out into fingers.
 *   K f    = H (w f) / H w, the mean along the surface; w is 1 there and 0 from `reach` cells on.
 *   jump   = sigma (3 K - 2 K^2) kappa. The force from an energy of the smoothed surface is smoothed by
 *            the same H once more (its adjoint); a force that is not does net work on particles that go
 *            round in ripples, and these grow. If H leaves a share a of a wave, F has a of it and the
 *            jump a^2 (3 - 2 a): waves of several cells have their full tension, to (1 - a)^2.
 *
 * Ripples would last for ever, for the liquid has no viscosity. As in semi-implicit schemes (Hysing
 * 2006) the jump is that of the near future, here only for waves that H weakens:
 *     jump  += sigma (K - K^2) D,   D = what u will have changed kappa by in a time `ahead`
 * damps a wave of frequency omega by a^2 (1 - a) omega^2 ahead / 2. With `ahead` a multiple of the
 * time sqrt(density dx^3 / sigma) of a wave of a cell this does not depend on the step and vanishes
 * with dx.
 *
 * The tension of a surface that encloses a body does not move it as a whole: what the jumps of
 * bodies that touch nothing sum up to is taken off (balance_bodies).
 *
 * Walls and colliders are mirrors to F: the surface meets them at a right angle. The force is
 * explicit, so a step must not outrun the shortest waves (Brackbill et al. 1992).
 */
#include "solver/flip/flip.h"

/* Passes of the filter; steps towards F = 1/2. */
enum { PASSES = 4, NEWTON = 4 };

/* Least theta, as in the projection. */
static const double least_theta = 1e-3;

/* `ahead` over sqrt(density dx^3 / sigma), and the most cells that the liquid moves in it. D is
 * found from a fifth of that, in which F changes little. */
static const double ahead_share = 5, ahead_most = 1, probed = 0.2;

/* Cells from the surface where w ends, and the least H w at which K is taken. */
static const double reach = 1.5, least_weight = 0.05;

/* Of the tent that gives the shares, the filter and the spline, cells^2. */
static const double variance = 1.0 / 6 + PASSES / 2.0 + 1.0 / 3;

/* Where F is this flat there is no surface near: drops and sheets that the filter has dissolved. */
static const double flattest2 = 1e-4;

/* What is summed up over the surface of a brick's liquid, and of all that it is connected with. */
typedef struct liquid_body {
    int32_t first;       /* brick of the same liquid_body */
    bool liquid, held;   /* has any; touches what is not liquid or air */
    double force[3];     /* sum of jump n, n the direction of the face outwards */
    double moment[3][3]; /* sum of x n */
    double slope[3];     /* what is taken off the jump, times x */
    double size;         /* sum of |jump| */
} liquid_body;

typedef struct tension {
    const flip *f;
    real *open;          /* 0 in solids, else 1 */
    real *F, *next;      /* now, and a little later */
    real *spare;         /* where a pass of the filter goes */
    real *weight;        /* w */
    real *weights;       /* H w */
    real *once;          /* w (3 kappa + D), H of it, then the jump over sigma, 1/cells */
    real *twice;         /* w (2 kappa + D), H of it, then w H of its mean */
    real *jump[3];       /* of faces that the surface crosses; takes the room of others */
    liquid_body *bodies; /* by brick */
    double ahead;        /* s */
} tension;

typedef struct filtered {
    const tension *t;
    const real *from;
    real *to;
    int axis;
} filtered;

static void each_brick(const tension *t, chunk_task task) {
    parallel_for(t->f->threads, t->f->grid.bricks.count, 8, task, (void *)t);
}

/* ---- The smoothed share ---------------------------------------------------------------------- */

static bool is_solid(const flip *f, int64_t brick, const int at[3], int64_t cell) {
    const domain *d = f->domain;
    for (int a = 0; a < f->grid.dim; a++)
        if (closed_side(d, a, f->grid.bricks.coords[brick][a] * BRICK_EDGE + at[a])) return true;
    return f->grid.solid_phi[0][cell] < 0;
}

/* The particles' share of a cell's surroundings, a tent of two cells, as far as it is not in a
 * collider (surface.c). It is linear in the particles, whatever `surface` is. */
static real share_of(const flip *f, int64_t cell) {
    const real past = 1 - f->grid.solid_phi[0][cell];
    const real taken = past > 0 ? past * past / 2 : 0; /* by the collider */
    const real share = f->filled[cell] / (1 - (taken < (real)0.5 ? taken : (real)0.5));
    return share < 1 ? share : 1;
}

static void fill_shares(void *data, chunk items) {
    const tension *t = data;
    const mac *m = &t->f->grid;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            int at[3];
            mac_place(c, m->dim, at);
            t->F[here] = share_of(t->f, here);
            t->open[here] = !is_solid(t->f, brick, at, here);
        }
}

/* The particles' velocity along an axis in a cell. */
static double velocity_in(const mac *m, int axis, int64_t here, int64_t after) {
    double mass = (double)m->mass[axis][here], sum = mass * (double)m->velocity_old[axis][here];
    if (after >= 0) {
        mass += (double)m->mass[axis][after];
        sum += (double)m->mass[axis][after] * (double)m->velocity_old[axis][after];
    }
    return mass > 0 ? sum / mass : 0;
}

/* What the shares will be: share - time u . grad share. */
static void advance_shares(void *data, chunk items) {
    const tension *t = data;
    const mac *m = &t->f->grid;
    const double cells = probed * t->ahead / t->f->domain->dx;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            const double own = (double)t->F[here];
            double change = 0;
            int at[3];
            mac_place(c, m->dim, at);
            for (int a = 0; a < m->dim; a++) {
                const int64_t low = mac_beside(m, brick, c, at, a, -1),
                              high = mac_beside(m, brick, c, at, a, 1);
                const double before = low < 0 ? 0 : !(t->open[low] > 0) ? own : (double)t->F[low];
                const double after = high < 0 ? 0 : !(t->open[high] > 0) ? own : (double)t->F[high];
                if (before != after)
                    change += velocity_in(m, a, here, high) * 0.5 * (after - before);
            }
            t->next[here] = (real)(own - cells * change);
        }
}

/* Eight cells and those before and after them along an axis. */
typedef struct filter_row {
    const real *own, *before, *after;
    const real *open_before, *open_after;
} filter_row;

/* (1, 2, 1) / 4; beside a solid a cell has its own value there. */
static void filter_eight(const filter_row *r, real *to) {
    for (int k = 0; k < BRICK_EDGE; k++) {
        const real own = r->own[k];
        to[k] = own + (real)0.25 * (r->open_before[k] * (r->before[k] - own) +
                                    r->open_after[k] * (r->after[k] - own));
    }
}

/* Eight values with the one before and the one after them; rows of bricks that are not there are
 * air. */
static void extend_row(const real *values, const real *before, const real *after, real missing,
                       real out[BRICK_EDGE + 2]) {
    out[0] = before ? before[BRICK_EDGE - 1] : missing;
    for (int k = 0; k < BRICK_EDGE; k++) out[k + 1] = values[k];
    out[BRICK_EDGE + 1] = after ? after[0] : missing;
}

/* A brick along its rows. */
static void filter_along(const filtered *p, int64_t brick, const int64_t beside[2]) {
    const int cells = mac_cells(p->t->f->grid.dim);
    for (int c = 0; c < cells; c += BRICK_EDGE) {
        real values[BRICK_EDGE + 2], open[BRICK_EDGE + 2];
        const int64_t here = brick * cells + c;
        const int64_t low = beside[0] < 0 ? -1 : beside[0] * cells + c;
        const int64_t high = beside[1] < 0 ? -1 : beside[1] * cells + c;
        extend_row(p->from + here, low < 0 ? NULL : p->from + low, high < 0 ? NULL : p->from + high,
                   0, values);
        extend_row(p->t->open + here, low < 0 ? NULL : p->t->open + low,
                   high < 0 ? NULL : p->t->open + high, 1, open);
        filter_eight(&(filter_row){values + 1, values, values + 2, open, open + 2}, p->to + here);
    }
}

/* A brick across its rows. */
static void filter_across(const filtered *p, int64_t brick, const int64_t beside[2], int stride) {
    static const real nothing[BRICK_EDGE] = {0}, ones[BRICK_EDGE] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int cells = mac_cells(p->t->f->grid.dim), last = (BRICK_EDGE - 1) * stride;
    for (int c = 0; c < cells; c += BRICK_EDGE) {
        const int64_t here = brick * cells + c;
        const int in = c / stride & (BRICK_EDGE - 1);
        const int64_t low = in > 0          ? here - stride
                            : beside[0] < 0 ? -1
                                            : beside[0] * cells + c + last;
        const int64_t high = in < BRICK_EDGE - 1 ? here + stride
                             : beside[1] < 0     ? -1
                                                 : beside[1] * cells + c - last;
        const filter_row row = {
            p->from + here, low < 0 ? nothing : p->from + low, high < 0 ? nothing : p->from + high,
            low < 0 ? ones : p->t->open + low, high < 0 ? ones : p->t->open + high};
        filter_eight(&row, p->to + here);
    }
}

static void filter_bricks(void *data, chunk items) {
    const filtered *p = data;
    const mac *m = &p->t->f->grid;
    const int stride = box_stride(BRICK_EDGE, p->axis, m->dim);
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        const int32_t *near = m->bricks.neighbours[brick];
        const int64_t beside[2] = {near[neighbour_beside(p->axis, -1, m->dim)],
                                   near[neighbour_beside(p->axis, 1, m->dim)]};
        if (stride > 1)
            filter_across(p, brick, beside, stride);
        else
            filter_along(p, brick, beside);
    }
}

/* H of a field, in place: by way of `spare`, an even number of times. */
static void smooth(const tension *t, real *values) {
    const int dim = t->f->grid.dim;
    _Static_assert(PASSES % 2 == 0, "the result must end in `values`");
    for (int n = 0; n < PASSES * dim; n++) {
        const filtered p = {t, n & 1 ? t->spare : values, n & 1 ? values : t->spare, n % dim};
        parallel_for(t->f->threads, t->f->grid.bricks.count, 8, filter_bricks, (void *)&p);
    }
}

/* F in colliders, as far as the spline looks: the mean of the nearest cells outside. */
static void extend_into_colliders(void *data, chunk items) {
    enum { FAR = 2, EDGE = 2 * FAR + 1 };
    const tension *t = data;
    const mac *m = &t->f->grid;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            if (t->open[here] > 0) continue;
            int at[3], nearest = 3 * FAR * FAR + 1, count = 0;
            double sum = 0, next = 0;
            mac_place(c, m->dim, at);
            for (int n = 0; n < (m->dim == 3 ? EDGE * EDGE * EDGE : EDGE * EDGE); n++) {
                /* the first axis runs fastest: sums are in this order */
                const int way[3] = {n % EDGE - FAR, n / EDGE % EDGE - FAR,
                                    m->dim == 3 ? n / (EDGE * EDGE) - FAR : 0};
                const int far2 = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
                const int64_t other = mac_cell_at(m, brick, at, way);
                if (far2 > nearest || other < 0 || !(t->open[other] > 0)) continue;
                if (far2 < nearest) nearest = far2, sum = 0, next = 0, count = 0;
                sum += (double)t->F[other], next += (double)t->next[other], count++;
            }
            t->F[here] = count ? (real)(sum / count) : 0;
            t->next[here] = count ? (real)(next / count) : 0;
        }
}

/* ---- Curvature ------------------------------------------------------------------------------- */

/* F at a point, with its derivatives. */
typedef struct jet {
    double value, slope[3], bend[3][3];
} jet;

/* Four cells in a row from `first` on, counted from a brick's corner, mirrored at closed sides of
 * the domain: the offset of the brick that has them, as in its neighbours' numbers, and where they
 * are in it. */
typedef struct four_cells {
    int side[4], in[4];
} four_cells;

static four_cells four_from(const tension *t, int64_t brick, int axis, int first) {
    const domain *d = t->f->domain;
    const int corner = t->f->grid.bricks.coords[brick][axis] * BRICK_EDGE, cells = d->cells[axis];
    four_cells out;
    for (int n = 0; n < 4; n++) {
        int g = corner + first + n;
        if (g < 0 && wall_is_closed(d->walls[axis][0])) g = -1 - g;
        if (g >= cells && wall_is_closed(d->walls[axis][1])) g = 2 * cells - 1 - g;
        const int from_neighbour = g - corner + BRICK_EDGE;
        out.side[n] = from_neighbour / BRICK_EDGE, out.in[n] = from_neighbour % BRICK_EDGE;
    }
    return out;
}

/* The cubic B-spline's weights at x of the cells from `first` on, and their derivatives. */
static int spline_weights(double x, double w[3][4]) {
    const double from = x - 0.5, whole = floor(from), f = from - whole, g = 1 - f;
    w[0][0] = g * g * g / 6, w[0][3] = f * f * f / 6;
    w[0][1] = (4 - 3 * f * f * (2 - f)) / 6, w[0][2] = (4 - 3 * g * g * (2 - g)) / 6;
    w[1][0] = -g * g / 2, w[1][3] = f * f / 2;
    w[1][1] = (3 * f - 4) * f / 2, w[1][2] = (4 - 3 * g) * g / 2;
    w[2][0] = g, w[2][1] = 3 * f - 2, w[2][2] = 3 * g - 2, w[2][3] = f;
    return (int)whole - 1;
}

/* Sums over axis after axis, the last first: of value, slope and bend along each only those whose
 * orders add up to two or less are formed. */
static jet jet_at(const tension *t, const real *shares, int64_t brick, const double x[3]) {
    const int dim = t->f->grid.dim, deep = dim == 3 ? 4 : 1;
    double w[3][3][4] = {{{0}}}, sum[3][3][3] = {{{0}}};
    const int32_t *near = t->f->grid.bricks.neighbours[brick];
    four_cells cells[3] = {{{0}, {0}}};
    for (int a = 0; a < dim; a++) cells[a] = four_from(t, brick, a, spline_weights(x[a], w[a]));
    if (dim == 2) w[2][0][0] = 1;
    for (int i = 0; i < 4; i++) {
        double in_y[3][3] = {{0}};
        for (int j = 0; j < 4; j++) {
            double in_z[3] = {0};
            for (int k = 0; k < deep; k++) {
                const int code = cells[0].side[i] * 3 + cells[1].side[j],
                          in = cells[0].in[i] * BRICK_EDGE + cells[1].in[j];
                const int32_t other = near[dim == 3 ? code * 3 + cells[2].side[k] : code];
                if (other < 0) continue;
                const double F = (double)shares[(int64_t)other * mac_cells(dim) +
                                                (dim == 3 ? in * BRICK_EDGE + cells[2].in[k] : in)];
                for (int n = 0; n < 3; n++) in_z[n] += w[2][n][k] * F;
            }
            for (int b = 0; b < 3; b++)
                for (int n = 0; n + b < 3; n++) in_y[b][n] += w[1][b][j] * in_z[n];
        }
        for (int a = 0; a < 3; a++)
            for (int b = 0; a + b < 3; b++)
                for (int n = 0; n + a + b < 3; n++) sum[a][b][n] += w[0][a][i] * in_y[b][n];
    }
    return (jet){.value = sum[0][0][0],
                 .slope = {sum[1][0][0], sum[0][1][0], sum[0][0][1]},
                 .bend = {{sum[2][0][0], sum[1][1][0], sum[1][0][1]},
                          {sum[1][1][0], sum[0][2][0], sum[0][1][1]},
                          {sum[1][0][1], sum[0][1][1], sum[0][0][2]}}};
}

static double steepness2(const jet *j) {
    return j->slope[0] * j->slope[0] + j->slope[1] * j->slope[1] + j->slope[2] * j->slope[2];
}

/* Curvature of the liquid's surface, positive where it bulges out; nothing on the grid is rounder
 * than a cell. A filter of variance s^2 draws F = 1/2 in by s^2 kappa / 2, and the surface outside
 * it is less round: kappa_i becomes kappa_i / (1 + kappa_i s^2 kappa / 2). Of that 2/3 are taken:
 * all of it is right for a drop at rest, but slows waves around it by 3/4 s^2 / R^2. */
static double curvature_of(const jet *j, int dim) {
    const double steep2 = steepness2(j);
    double trace = 0, along = 0, square = 0, square_along = 0;
    if (!(steep2 > flattest2)) return 0;
    for (int a = 0; a < dim; a++) {
        double row = 0;
        for (int b = 0; b < dim; b++) {
            row += j->bend[a][b] * j->slope[b];
            square += j->bend[a][b] * j->bend[a][b];
        }
        trace += j->bend[a][a];
        along += j->slope[a] * row / steep2;
        square_along += row * row / steep2;
    }
    /* kappa, and the sum of kappa_i^2 */
    const double kappa = (along - trace) / sqrt(steep2),
                 squares = (square - 2 * square_along + along * along) / steep2;
    return fmin(fmax(kappa / (1 + variance / 3 * fmax(squares, 0)), 1 - dim), dim - 1);
}

/* Curvature of F = 1/2 where it is nearest to a point, how much it will change there, and the
 * distance to it, which is less than `reach`; false if it is not. */
static bool curvature_near(const tension *t, int64_t brick, const double at[3], double *kappa,
                           double *change, double *distance) {
    const double close = 1e-3;
    double x[3] = {at[0], at[1], at[2]}, way2 = 0;
    jet j = jet_at(t, t->F, brick, x);
    for (int n = 0; n < NEWTON && fabs(j.value - 0.5) > close; n++) {
        const double steep = steepness2(&j);
        if (!(steep > flattest2)) return false;
        way2 = 0;
        for (int a = 0; a < t->f->grid.dim; a++) {
            x[a] += (0.5 - j.value) * j.slope[a] / steep;
            way2 += (x[a] - at[a]) * (x[a] - at[a]);
        }
        if (!(way2 < 2 * reach * reach)) return false;
        j = jet_at(t, t->F, brick, x);
    }
    *kappa = curvature_of(&j, t->f->grid.dim);
    *distance = sqrt(way2);
    if (!(*distance < reach && fabs(j.value - 0.5) < 10 * close)) return false;
    j = jet_at(t, t->next, brick, x);
    *change = (curvature_of(&j, t->f->grid.dim) - *kappa) / probed;
    return true;
}

static void find_curvatures(void *data, chunk items) {
    const tension *t = data;
    const mac *m = &t->f->grid;
    const real far = (real)0.15; /* F beyond `reach` of a surface */
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            double kappa = 0, change = 0, distance = 0, w = 0;
            int at[3];
            mac_place(c, m->dim, at);
            const double x[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
            if (t->open[here] > 0 && t->F[here] > far && t->F[here] < 1 - far &&
                curvature_near(t, brick, x, &kappa, &change, &distance))
                w = 1 - distance * distance / (reach * reach);
            t->weight[here] = t->weights[here] = (real)(w * w);
            t->once[here] = (real)(w * w * (3 * kappa + change));
            t->twice[here] = (real)(w * w * (2 * kappa + change));
        }
}

/* ---- The mean along the surface -------------------------------------------------------------- */

/* w f from H (w f), where there is a surface. */
static void weight_mean(void *data, chunk items) {
    const tension *t = data;
    const int cells = mac_cells(t->f->grid.dim);
    for (int64_t c = items.begin * cells; c < items.end * cells; c++)
        t->twice[c] = t->weight[c] > 0 ? t->weight[c] * t->twice[c] / t->weights[c] : 0;
}

static void combine(void *data, chunk items) {
    const tension *t = data;
    const int cells = mac_cells(t->f->grid.dim);
    for (int64_t c = items.begin * cells; c < items.end * cells; c++)
        t->once[c] =
            t->weights[c] > (real)least_weight ? (t->once[c] - t->twice[c]) / t->weights[c] : 0;
}

static void find_jump(const tension *t) {
    each_brick(t, fill_shares);
    each_brick(t, advance_shares);
    smooth(t, t->F);
    smooth(t, t->next);
    if (t->f->sim->scene->collider_count) each_brick(t, extend_into_colliders);
    each_brick(t, find_curvatures);
    smooth(t, t->weights);
    smooth(t, t->once);
    smooth(t, t->twice);
    each_brick(t, weight_mean);
    smooth(t, t->twice);
    each_brick(t, combine);
}

/* The jump over sigma at a point of the surface, 1/cells. What is too small for a mean has the
 * curvature of F where it is. */
static double jump_at(const tension *t, int64_t brick, const double x[3]) {
    const int dim = t->f->grid.dim;
    double sum = 0, weight = 0;
    for (int n = 0; n < 1 << dim; n++) {
        int at[3] = {0};
        double w = 1;
        for (int a = 0; a < dim; a++) {
            const double whole = floor(x[a] - 0.5), share = x[a] - 0.5 - whole;
            at[a] = (int)whole + (n >> a & 1);
            w *= n >> a & 1 ? share : 1 - share;
        }
        const int64_t cell = mac_cell(&t->f->grid, brick, at);
        if (cell < 0 || !(t->open[cell] > 0) || !(t->weights[cell] > (real)least_weight)) continue;
        w *= (double)t->weights[cell];
        sum += w * (double)t->once[cell], weight += w;
    }
    if (weight > 0) return sum / weight;
    const jet j = jet_at(t, t->F, brick, x);
    return curvature_of(&j, dim);
}

/* ---- The force ------------------------------------------------------------------------------- */

/* The surface's crossing of face `axis` of a cell. */
typedef struct crossing {
    double x[3];  /* cells from the brick's corner */
    double theta; /* share of the way from the liquid cell */
    int outwards; /* 1 where the air is behind the face, -1 where it is before */
} crossing;

static bool find_crossing(const flip *f, int64_t brick, int c, int axis, crossing *out) {
    const mac *m = &f->grid;
    const int64_t here = brick * mac_cells(m->dim) + c;
    int at[3];
    if (!(m->face_fraction[axis][here] > 0) || mac_is_prescribed(m, axis, here)) return false;
    mac_place(c, m->dim, at);
    const int64_t before = mac_beside(m, brick, c, at, axis, -1);
    const double high = (double)m->phi[0][here];
    const double low = before < 0 ? 1 : (double)m->phi[0][before];
    if ((low < 0) == (high < 0)) return false;
    const double inside = low < 0 ? low : high, outside = low < 0 ? high : low;
    const double share = inside / (inside - outside);
    for (int a = 0; a < 3; a++) out->x[a] = at[a] + 0.5;
    out->x[axis] += low < 0 ? share - 1 : -share;
    out->theta = f->options->surface_order == 2 ? fmax(share, least_theta) : 1;
    out->outwards = low < 0 ? 1 : -1;
    return true;
}

/* Whether a liquid cell has a face that is not wholly open, or prescribed. */
static bool is_held(const mac *m, int64_t brick, int c) {
    int at[3];
    mac_place(c, m->dim, at);
    for (int n = 0; n < 2 * m->dim; n++) {
        const mac_side s = mac_side_of(m, brick, c, at, n);
        if (s.face < 0) continue;
        if (m->face_fraction[s.axis][s.face] < 1 || mac_is_prescribed(m, s.axis, s.face))
            return true;
    }
    return false;
}

static void find_jumps(void *data, chunk items) {
    const tension *t = data;
    const mac *m = &t->f->grid;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        liquid_body own = {.first = (int32_t)brick};
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            crossing cross;
            if (m->phi[0][here] < 0) own.liquid = true, own.held |= is_held(m, brick, c);
            for (int a = 0; a < m->dim; a++) {
                if (!find_crossing(t->f, brick, c, a, &cross)) continue;
                const double jump = jump_at(t, brick, cross.x);
                t->jump[a][here] = (real)jump;
                own.force[a] += cross.outwards * jump;
                own.size += fabs(jump);
                for (int e = 0; e < m->dim; e++)
                    own.moment[e][a] += cross.outwards * (cross.x[e] + m->bricks.coords[brick][e] *
                                                                           (double)BRICK_EDGE);
            }
        }
        t->bodies[brick] = own;
    }
}

/* ---- Bodies that nothing holds --------------------------------------------------------------- */

/* What the jumps sum up to is taken off as a pressure of constant slope, which accelerates all of a
 * body alike. Bodies are bricks with liquid, side by side. */

static int32_t body_of(liquid_body *bodies, int32_t brick) {
    while (bodies[brick].first != brick) {
        bodies[brick].first = bodies[bodies[brick].first].first;
        brick = bodies[brick].first;
    }
    return brick;
}

static bool has_surface(const liquid_body *b) {
    bool any = b->liquid;
    for (int a = 0; a < 3; a++) any |= b->force[a] != 0;
    return any;
}

/* Across the seam of a periodic axis x is not continuous. */
static bool at_seam(const flip *f, int64_t brick) {
    const domain *d = f->domain;
    for (int a = 0; a < f->grid.dim; a++) {
        const int at = f->grid.bricks.coords[brick][a] * BRICK_EDGE;
        if (d->walls[a][0] == WALL_PERIODIC && (at <= 0 || at + BRICK_EDGE >= d->cells[a]))
            return true;
    }
    return false;
}

static void join_bodies(const tension *t) {
    const sparse_lattice *bricks = &t->f->grid.bricks;
    for (int32_t brick = 0; brick < bricks->count; brick++) {
        if (!has_surface(&t->bodies[brick])) continue;
        for (int code = 0; code < neighbour_count(bricks->dim); code++) {
            const int32_t other = bricks->neighbours[brick][code];
            if (other < 0 || other == brick || !has_surface(&t->bodies[other])) continue;
            const int32_t one = body_of(t->bodies, brick), two = body_of(t->bodies, other);
            t->bodies[one > two ? one : two].first = one < two ? one : two;
        }
    }
    for (int32_t brick = 0; brick < bricks->count; brick++) {
        liquid_body *own = &t->bodies[brick], *all = &t->bodies[body_of(t->bodies, brick)];
        own->held |= has_surface(own) && at_seam(t->f, brick);
        if (own == all) continue;
        all->held |= own->held;
        all->size += own->size;
        for (int a = 0; a < 3; a++) {
            all->force[a] += own->force[a];
            for (int e = 0; e < 3; e++) all->moment[e][a] += own->moment[e][a];
        }
    }
}

/* Solves sum_e slope_e moment_ea = force_a. Only what may be noise is taken off: where necks and
 * cusps are not resolved the sum of jumps is not the force on the liquid. */
static void balance(liquid_body *b, int dim) {
    const double noise = 0.003; /* of the sum of |jump| */
    double n[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int e = 0; e < dim; e++)
        for (int a = 0; a < dim; a++) n[e][a] = b->moment[e][a];
    double cofactor[3][3], det = 0;
    for (int e = 0; e < 3; e++)
        for (int a = 0; a < 3; a++) {
            const int p = (e + 1) % 3, q = (e + 2) % 3, r = (a + 1) % 3, s = (a + 2) % 3;
            cofactor[e][a] = n[p][r] * n[q][s] - n[p][s] * n[q][r];
        }
    for (int a = 0; a < 3; a++) det += n[0][a] * cofactor[0][a];
    if (b->held || !(det > 0)) return;
    const double length =
        sqrt(b->force[0] * b->force[0] + b->force[1] * b->force[1] + b->force[2] * b->force[2]);
    const double taken = length > noise * b->size ? noise * b->size / length : 1;
    for (int e = 0; e < dim; e++)
        for (int a = 0; a < dim; a++) b->slope[e] += cofactor[e][a] * taken * b->force[a] / det;
}

static void balance_bodies(const tension *t) {
    join_bodies(t);
    for (int32_t brick = 0; brick < t->f->grid.bricks.count; brick++)
        if (t->bodies[brick].first == brick) balance(&t->bodies[brick], t->f->grid.dim);
}

static void accelerate_faces(void *data, chunk items) {
    const tension *t = data;
    const flip *f = t->f;
    const mac *m = &f->grid;
    const double dx = f->domain->dx;
    const double force = f->sim->dt * f->tension / (f->density * dx * dx);
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        int32_t root = (int32_t)brick;
        while (t->bodies[root].first != root) root = t->bodies[root].first;
        for (int c = 0; c < mac_cells(m->dim); c++)
            for (int a = 0; a < m->dim; a++) {
                const int64_t here = brick * mac_cells(m->dim) + c;
                crossing cross;
                if (!find_crossing(f, brick, c, a, &cross)) continue;
                double jump = (double)t->jump[a][here];
                for (int e = 0; e < m->dim; e++)
                    jump -= t->bodies[root].slope[e] *
                            (cross.x[e] + m->bricks.coords[brick][e] * (double)BRICK_EDGE);
                m->velocity[a][here] -= (real)(cross.outwards * force * jump / cross.theta);
            }
    }
}

/* Less where the liquid is fast, of which ripples are a small part. */
static double time_ahead(const flip *f) {
    const double dx = f->domain->dx, speed = f->sim->max_speed;
    const double ahead = ahead_share * sqrt(f->density * dx * dx * dx / f->tension);
    return speed * ahead > ahead_most * dx ? ahead_most * dx / speed : ahead;
}

spate_status flip_keep_filled(flip *f) {
    const int64_t cells = f->grid.bricks.count * mac_cells(f->grid.dim);
    if (!(f->tension > 0)) return SPATE_OK;
    TRY(GROW(f->sim->ctx, f->filled, f->filled_capacity, cells + 1));
    memcpy(f->filled, f->grid.phi[0], (size_t)cells * sizeof *f->filled);
    return SPATE_OK;
}

spate_status flip_tension(flip *f) {
    enum { FIELDS = 8 };
    scratch *s = &f->sim->scratch;
    const size_t cells = (size_t)(f->grid.bricks.count * mac_cells(f->grid.dim));
    if (!(f->tension > 0) || !cells) return SPATE_OK;
    real *memory = scratch_take(s, "tension", FIELDS * cells, sizeof *memory);
    if (!memory) return SPATE_OUT_OF_MEMORY;
    tension t = {.f = f, .F = memory, .ahead = time_ahead(f)};
    t.next = t.F + cells, t.spare = t.next + cells, t.open = t.spare + cells;
    t.weight = t.open + cells, t.weights = t.weight + cells;
    t.once = t.weights + cells, t.twice = t.once + cells;
    t.jump[0] = t.spare, t.jump[1] = t.weight, t.jump[2] = t.twice;
    t.bodies = scratch_take(s, "tension bodies", (size_t)f->grid.bricks.count, sizeof *t.bodies);
    if (t.bodies) {
        find_jump(&t);
        each_brick(&t, find_jumps);
        balance_bodies(&t);
        each_brick(&t, accelerate_faces);
        scratch_give(s, "tension bodies");
    }
    scratch_give(s, "tension");
    return t.bodies ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

double flip_tension_limit(const flip *f) {
    const double dx = f->domain->dx;
    if (!(f->tension > 0)) return HUGE_VAL;
    return sqrt(f->density * dx * dx * dx / (4 * M_PI * f->tension));
}
