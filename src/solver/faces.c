#include "solver/faces.h"

#include "core/vec.h"
#include "solver/sources.h"

enum { CORNERS = 9 }; /* along an edge of a brick */

/* Faces that are open by less count as closed: they would hardly let anything through, and make the
 * pressure's equations stiff. */
static const double least_open = 0.01;

typedef struct brick_place {
    const faces *f;
    int64_t first;      /* index of its first cell */
    int32_t corner[3];  /* its first cell in the domain */
    double middle[3];   /* world */
    boundary_part part; /* colliders near it */
    bool nozzle;        /* a source is near */
} brick_place;

/* ---- Sides of the domain --------------------------------------------------------------------- */

static void close_face(const mac *m, int axis, int64_t cell, double velocity) {
    m->open[axis][cell] = 0;
    m->wall[axis][cell] = (real)velocity;
    m->known[0][cell] |= (uint8_t)(1 << (axis + 4));
}

/* Faces on closed sides, and all of the cells behind them. */
static void close_sides(const brick_place *b, int dim) {
    const mac *m = b->f->grid;
    const domain *d = &b->f->sim->scene->domain;
    bool touches = false;
    for (int a = 0; a < dim; a++)
        touches |= is_behind_side(d, a, b->corner[a] - 1) ||
                   is_behind_side(d, a, b->corner[a] + BRICK_EDGE);
    if (!touches) return;
    for (int c = 0; c < mac_cells(dim); c++) {
        int at[3], behind = 0;
        mac_place(c, dim, at);
        for (int a = 0; a < dim; a++) behind += is_behind_side(d, a, b->corner[a] + at[a]);
        for (int a = 0; a < dim; a++)
            if (behind || is_behind_side(d, a, b->corner[a] + at[a] - 1))
                close_face(m, a, b->first + c, 0);
    }
}

/* ---- Colliders ------------------------------------------------------------------------------- */

/* The part of an edge, and of a triangle, where a linear function with these corner values is
 * positive. */
static double open_edge(double a, double b) {
    if (a >= 0 && b >= 0) return 1;
    if (a < 0 && b < 0) return 0;
    return a >= 0 ? a / (a - b) : b / (b - a);
}
static double open_triangle(double a, double b, double c) {
    int inside = (a < 0) + (b < 0) + (c < 0);
    if (inside == 0) return 1;
    if (inside == 3) return 0;
    /* the corner that is on its own */
    bool alone = inside == 1;
    double p = (a < 0) == alone ? a : (b < 0) == alone ? b : c;
    double q = (a < 0) == alone ? b : a, r = (c < 0) == alone && p == c ? b : c;
    double share = p * p / ((p - q) * (p - r));
    return alone ? 1 - share : share;
}
/* Of a square, as four triangles around its middle. */
static double open_square(double a, double b, double c, double d) {
    double e = 0.25 * (a + b + c + d);
    return 0.25 * (open_triangle(a, b, e) + open_triangle(b, c, e) + open_triangle(c, d, e) +
                   open_triangle(d, a, e));
}

/* The open share of the low face along `axis` of the cell at (i, j, k), from distances at corners. */
static double open_face(const double *corners, int dim, int axis, int i, int j, int k) {
    if (dim == 2) {
        const double *at = corners + i * CORNERS + j;
        return open_edge(at[0], axis == 0 ? at[1] : at[CORNERS]);
    }
    static const int steps[3] = {CORNERS * CORNERS, CORNERS, 1};
    const double *at = corners + (i * CORNERS + j) * CORNERS + k;
    int u = steps[axis == 0 ? 1 : 0], v = steps[axis == 2 ? 1 : 2];
    return open_square(at[0], at[u], at[u + v], at[v]);
}

static void world_of(const brick_place *b, const double local[3], double x[3]) {
    const domain *d = &b->f->sim->scene->domain;
    x[2] = 0;
    for (int a = 0; a < b->f->sim->scene->dim; a++)
        x[a] = d->origin[a] + (b->corner[a] + local[a]) * d->dx;
}

static double distance_at(const brick_place *b, double i, double j, double k, int *which) {
    double x[3], local[3] = {i, j, k};
    world_of(b, local, x);
    return boundary_part_nearest(&b->part, x, which) / b->f->sim->scene->domain.dx;
}

/* Where the nearest collider moves, its velocity across the middle of a face. */
static double wall_at(const brick_place *b, int axis, const int at[3]) {
    double local[3], x[3], velocity[3];
    for (int a = 0; a < 3; a++) local[a] = at[a] + (a == axis ? 0 : 0.5);
    int nearest;
    distance_at(b, local[0], local[1], local[2], &nearest);
    if (!b->f->sim->scene->colliders[nearest].motion.key_count) return 0;
    world_of(b, local, x);
    boundary_distance(&b->f->sim->boundary, nearest, x, NULL, velocity);
    return velocity[axis];
}

static void corner_distances(const brick_place *b, int dim, double *corners) {
    int unused;
    for (int i = 0; i < CORNERS; i++)
        for (int j = 0; j < CORNERS; j++)
            for (int k = 0; k < (dim == 3 ? CORNERS : 1); k++)
                *corners++ = distance_at(b, i, j, k, &unused);
}

/* Voxels: a cell is solid as a whole when its middle is, and so are its faces. */
static double voxel_open(const brick_place *b, int axis, const int at[3], double here) {
    double low[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
    int unused;
    low[axis] -= 1;
    return here < 0 || distance_at(b, low[0], low[1], low[2], &unused) < 0 ? 0 : 1;
}

static void cut_faces(const brick_place *b, int dim) {
    const mac *m = b->f->grid;
    const bool voxels = b->f->voxels;
    double corners[CORNERS * CORNERS * CORNERS];
    if (!voxels) corner_distances(b, dim, corners);
    for (int c = 0; c < mac_cells(dim); c++) {
        int at[3], unused;
        int64_t cell = b->first + c;
        mac_place(c, dim, at);
        double here = distance_at(b, at[0] + 0.5, at[1] + 0.5, at[2] + 0.5, &unused);
        if (m->solid[0]) m->solid[0][cell] = (real)fmin(fmax(here, -SOLID_FAR), SOLID_FAR);
        for (int a = 0; a < dim; a++) {
            if (m->known[0][cell] >> (a + 4) & 1) continue;
            double open = voxels ? voxel_open(b, a, at, here)
                                 : open_face(corners, dim, a, at[0], at[1], at[2]);
            m->open[a][cell] = open < least_open ? 0 : (real)open;
            if (open < 1) m->wall[a][cell] = (real)wall_at(b, a, at);
        }
    }
}

/* ---- Sources --------------------------------------------------------------------------------- */

static void fill_nozzles(const brick_place *b, int dim) {
    const mac *m = b->f->grid;
    for (int c = 0; c < mac_cells(dim); c++) {
        int at[3];
        double x[3], v[3];
        mac_place(c, dim, at);
        for (int a = 0; a < dim; a++) {
            double local[3];
            for (int e = 0; e < 3; e++) local[e] = at[e] + (e == a ? 0 : 0.5);
            world_of(b, local, x);
            if (!sources_velocity(b->f->sim, x, v)) continue;
            if (b->f->sources == FACES_ALL_SOURCES || vec_length(v) > 0)
                close_face(m, a, b->first + c, v[a]);
        }
    }
}

/* ---- A brick --------------------------------------------------------------------------------- */

static void clear_brick(const mac *m, int64_t first, int dim) {
    const size_t cells = (size_t)mac_cells(dim);
    for (int a = 0; a < dim; a++) {
        memset(m->velocity[a] + first, 0, cells * sizeof(real));
        if (m->mass[a]) memset(m->mass[a] + first, 0, cells * sizeof(real));
        memset(m->wall[a] + first, 0, cells * sizeof(real));
        for (size_t c = 0; c < cells; c++) m->open[a][first + (int64_t)c] = 1;
    }
    memset(m->known[0] + first, 0, cells);
    memset(m->phi[0] + first, 0, cells * sizeof(real));
    if (m->swell[0]) memset(m->swell[0] + first, 0, cells * sizeof(real));
    for (size_t c = 0; c < cells && m->solid[0]; c++) m->solid[0][first + (int64_t)c] = SOLID_FAR;
}

static void prepare_bricks(void *data, chunk items) {
    const faces *f = data;
    const spate_simulation *sim = f->sim;
    const int dim = sim->scene->dim;
    const double half = 0.5 * BRICK_EDGE,
                 reach = sim->scene->domain.dx * (half * sqrt(dim) + SOLID_FAR);
    for (int64_t i = items.begin; i < items.end; i++) {
        brick_place b = {.f = f, .first = i * mac_cells(dim)};
        for (int a = 0; a < dim; a++) b.corner[a] = f->grid->bricks.coords[i][a] * BRICK_EDGE;
        world_of(&b, (double[3]){half, half, half}, b.middle);
        b.part = boundary_around(&sim->boundary, b.middle, reach);
        b.nozzle = f->sources != FACES_NO_SOURCES && sim->scene->source_count &&
                   sources_near(sim, b.middle, reach);
        clear_brick(f->grid, b.first, dim);
        close_sides(&b, dim);
        if (b.part.count) cut_faces(&b, dim);
        if (b.nozzle) fill_nozzles(&b, dim);
    }
}

void faces_prepare(const faces *f) {
    parallel_for(f->sim->ctx->pool, f->grid->bricks.count, 2, prepare_bricks, (void *)f);
}
