#include "solver/faces.h"

#include "core/vec.h"
#include "solver/sources.h"

enum { CORNERS = BRICK_EDGE + 1 }; /* along an edge of a brick */

/* Faces that are open by less count as closed: they would hardly let anything through, and make the
 * pressure's equations stiff. */
static const double least_fraction = 0.01;

typedef struct brick_place {
    const faces *f;
    int64_t first;      /* index of its first cell */
    int corner[3];      /* its first cell in the domain */
    boundary_part part; /* colliders near it */
} brick_place;

/* ---- Places ---------------------------------------------------------------------------------- */

void brick_middle(const spate_simulation *sim, const mac *m, int64_t brick, double x[3]) {
    double cells[3];
    for (int a = 0; a < 3; a++) cells[a] = (m->bricks.coords[brick][a] + 0.5) * BRICK_EDGE;
    cells_to_world(&sim->scene->domain, m->dim, cells, x);
}

boundary_part colliders_near_brick(const spate_simulation *sim, const mac *m, int64_t brick) {
    double middle[3];
    brick_middle(sim, m, brick, middle);
    return boundary_around(&sim->boundary, middle, sim->scene->domain.dx * brick_reach(m->dim));
}

/* ---- Sides of the domain --------------------------------------------------------------------- */

/* Prescribes the velocity at a face. */
static void close_face(const mac *m, int axis, int64_t cell, double velocity) {
    m->face_fraction[axis][cell] = 0;
    m->solid_velocity[axis][cell] = (real)velocity;
    m->valid[0][cell] |= (uint8_t)(1 << (axis + PRESCRIBED_SHIFT));
}

/* Faces on closed sides, and all of the cells behind them. */
static void close_sides(const brick_place *b, int dim) {
    const mac *m = b->f->grid;
    const domain *d = &b->f->sim->scene->domain;
    bool touches = false;
    for (int a = 0; a < dim; a++)
        touches |=
            closed_side(d, a, b->corner[a] - 1) || closed_side(d, a, b->corner[a] + BRICK_EDGE);
    if (!touches) return;
    for (int c = 0; c < mac_cells(dim); c++) {
        int at[3], behind = 0;
        mac_place(c, dim, at);
        for (int a = 0; a < dim; a++) behind += closed_side(d, a, b->corner[a] + at[a]) != NULL;
        for (int a = 0; a < dim; a++)
            if (behind || closed_side(d, a, b->corner[a] + at[a] - 1))
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

/* The open share of the low face along `axis` of the cell at `at`, from distances at corners. */
static double face_fraction(const double *corners, int dim, int axis, const int at[3]) {
    const double *low = corners + box_index(CORNERS, at, dim);
    if (dim == 2) return open_edge(low[0], low[box_stride(CORNERS, !axis, dim)]);
    const int u = box_stride(CORNERS, axis == 0 ? 1 : 0, dim);
    const int v = box_stride(CORNERS, axis == 2 ? 1 : 2, dim);
    return open_square(low[0], low[u], low[u + v], low[v]);
}

/* Distance to the nearest collider, and which it is, of a point in cells from the brick's
 * corner. */
static double distance_at(const brick_place *b, const double local[3], int *which) {
    const spate_scene *scene = b->f->sim->scene;
    double x[3], cells[3];
    for (int a = 0; a < 3; a++) cells[a] = b->corner[a] + local[a];
    cells_to_world(&scene->domain, scene->dim, cells, x);
    return boundary_part_nearest(&b->part, x, which) / scene->domain.dx;
}

/* Where the nearest collider moves, its velocity across the middle of a face. */
static double solid_velocity_at(const brick_place *b, int axis, const int at[3]) {
    const spate_simulation *sim = b->f->sim;
    const int cell[3] = {b->corner[0] + at[0], b->corner[1] + at[1], b->corner[2] + at[2]};
    double x[3], velocity[3];
    int nearest;
    face_position(&sim->scene->domain, sim->scene->dim, cell, axis, x);
    boundary_part_nearest(&b->part, x, &nearest);
    const collider *solid = &sim->scene->colliders[nearest];
    if (!solid->motion.key_count && !solid->shape->sequence) return 0;
    boundary_distance(&sim->boundary, nearest, x, NULL, velocity);
    return velocity[axis];
}

static void corner_distances(const brick_place *b, int dim, double *corners) {
    int unused;
    for (int i = 0; i < CORNERS; i++)
        for (int j = 0; j < CORNERS; j++)
            for (int k = 0; k < (dim == 3 ? CORNERS : 1); k++)
                *corners++ = distance_at(b, (const double[3]){i, j, k}, &unused);
}

/* Voxels: a cell is solid as a whole when its middle is, and so are its faces. */
static double voxel_fraction(const brick_place *b, int axis, const int at[3], double here) {
    double low[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
    int unused;
    low[axis] -= 1;
    return here < 0 || distance_at(b, low, &unused) < 0 ? 0 : 1;
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
        const double middle[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
        const double here = distance_at(b, middle, &unused);
        if (m->solid_phi[0]) m->solid_phi[0][cell] = (real)clamp(here, -SOLID_FAR, SOLID_FAR);
        for (int a = 0; a < dim; a++) {
            if (mac_is_prescribed(m, a, cell)) continue;
            double fraction =
                voxels ? voxel_fraction(b, a, at, here) : face_fraction(corners, dim, a, at);
            m->face_fraction[a][cell] = fraction < least_fraction ? 0 : (real)fraction;
            if (fraction < 1) m->solid_velocity[a][cell] = (real)solid_velocity_at(b, a, at);
        }
    }
}

/* ---- Sources --------------------------------------------------------------------------------- */

static void fill_nozzles(const brick_place *b, int dim) {
    const spate_simulation *sim = b->f->sim;
    for (int c = 0; c < mac_cells(dim); c++) {
        int cell[3];
        double x[3], v[3];
        mac_place(c, dim, cell);
        for (int a = 0; a < dim; a++) cell[a] += b->corner[a];
        for (int a = 0; a < dim; a++) {
            face_position(&sim->scene->domain, dim, cell, a, x);
            if (!sources_velocity(sim, x, v)) continue;
            if (b->f->sources == FACES_ALL_SOURCES || vec_length(v) > 0)
                close_face(b->f->grid, a, b->first + c, v[a]);
        }
    }
}

/* ---- A brick --------------------------------------------------------------------------------- */

static void clear_brick(const mac *m, int64_t first, int dim) {
    const size_t cells = (size_t)mac_cells(dim);
    for (int a = 0; a < dim; a++) {
        memset(m->velocity[a] + first, 0, cells * sizeof(real));
        if (m->mass[a]) memset(m->mass[a] + first, 0, cells * sizeof(real));
        memset(m->solid_velocity[a] + first, 0, cells * sizeof(real));
        for (size_t c = 0; c < cells; c++) m->face_fraction[a][first + (int64_t)c] = 1;
    }
    memset(m->valid[0] + first, 0, cells);
    memset(m->phi[0] + first, 0, cells * sizeof(real));
    if (m->target_divergence[0]) memset(m->target_divergence[0] + first, 0, cells * sizeof(real));
    for (size_t c = 0; c < cells && m->solid_phi[0]; c++)
        m->solid_phi[0][first + (int64_t)c] = SOLID_FAR;
}

static bool is_near_source(const faces *f, int64_t brick) {
    double middle[3];
    if (f->sources == FACES_NO_SOURCES || !f->sim->scene->source_count) return false;
    brick_middle(f->sim, f->grid, brick, middle);
    return sources_near(f->sim, middle, f->sim->scene->domain.dx * brick_reach(f->grid->dim));
}

static void prepare_bricks(void *data, chunk items) {
    const faces *f = data;
    const int dim = f->grid->dim;
    for (int64_t i = items.begin; i < items.end; i++) {
        brick_place b = {
            .f = f, .first = i * mac_cells(dim), .part = colliders_near_brick(f->sim, f->grid, i)};
        for (int a = 0; a < dim; a++) b.corner[a] = f->grid->bricks.coords[i][a] * BRICK_EDGE;
        clear_brick(f->grid, b.first, dim);
        close_sides(&b, dim);
        if (b.part.count) cut_faces(&b, dim);
        if (is_near_source(f, i)) fill_nozzles(&b, dim);
    }
}

void faces_prepare(const faces *f) {
    parallel_for(f->sim->ctx->pool, f->grid->bricks.count, 2, prepare_bricks, (void *)f);
}
