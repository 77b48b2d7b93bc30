/*
 * Boxes and meshes are their own triangles. Every other shape is sampled on a lattice about as fine
 * as the grid: marching cubes in 3D, in 2D the part of each square that is inside. Vertices are
 * then moved onto the shape along its normal, which makes spheres round.
 */
#include "server/solids.h"

#include "surface/cases.h"
#include <math.h>

enum { LATTICE_LEAST = 8, LATTICE_MOST_3D = 40, LATTICE_MOST_2D = 160, SQUARE = 4, CLIPPED = 8 };

typedef struct solid {
    spate_context *ctx;
    const shape *shape;
    int dim;
    float (*vertices)[6]; /* position, normal */
    int64_t count, capacity;
} solid;

/* ---- Vertices -------------------------------------------------------------------------------- */

static spate_status add_vertex(solid *s, const double x[3], const double normal[3]) {
    TRY(GROW(s->ctx, s->vertices, s->capacity, s->count + 1));
    float *to = s->vertices[s->count++];
    for (int a = 0; a < 3; a++) to[a] = (float)x[a], to[3 + a] = (float)normal[a];
    return SPATE_OK;
}

/* Moved onto the shape by two steps of Newton's method. */
static spate_status add_on_shape(solid *s, const double x[3]) {
    double at[3] = {x[0], x[1], x[2]}, normal[3] = {0, 0, 1};
    for (int k = 0; k < 2; k++) {
        const double d = shape_normal(s->shape, s->dim, at, normal);
        for (int a = 0; a < s->dim; a++) at[a] -= d * normal[a];
    }
    if (s->dim == 2) normal[0] = normal[1] = 0, normal[2] = 1;
    return add_vertex(s, at, normal);
}

/* ---- Boxes and meshes ------------------------------------------------------------------------ */

static void place(const shape *s, const double x[3], double out[3]) {
    for (int a = 0; a < 3; a++) {
        out[a] = s->move[a];
        for (int b = 0; b < 3; b++) out[a] += s->turn[a][b] * s->scale * x[b];
    }
}

static spate_status add_triangle(solid *s, const double x[3][3]) {
    double n[3];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        n[a] =
            (x[1][b] - x[0][b]) * (x[2][c] - x[0][c]) - (x[1][c] - x[0][c]) * (x[2][b] - x[0][b]);
    }
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int a = 0; a < 3; a++) n[a] = length > 0 ? n[a] / length : 0;
    for (int k = 0; k < 3; k++) TRY(add_vertex(s, x[k], n));
    return SPATE_OK;
}

/* Corner c of a box is at (c & 1, c >> 1 & 1, c >> 2 & 1). */
static spate_status add_box(solid *s) {
    static const int faces[6][SQUARE] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    const shape *b = s->shape;
    double corners[8][3];
    for (int c = 0; c < 8; c++) {
        double x[3];
        for (int a = 0; a < 3; a++) x[a] = a >= s->dim ? 0 : c >> a & 1 ? b->b[a] : b->a[a];
        place(b, x, corners[c]);
    }
    for (int f = s->dim == 2 ? 5 : 0; f < 6; f++)
        for (int half = 0; half < 2; half++) {
            double x[3][3];
            const int *face = faces[f], order[3] = {face[0], face[1 + half], face[2 + half]};
            for (int k = 0; k < 3; k++) memcpy(x[k], corners[order[k]], sizeof x[k]);
            TRY(add_triangle(s, x));
        }
    return SPATE_OK;
}

static spate_status add_mesh(solid *s) {
    const mesh *m = s->shape->mesh;
    for (int64_t t = 0; t < m->triangle_count; t++) {
        double x[3][3];
        for (int k = 0; k < 3; k++) place(s->shape, m->vertices[m->triangles[t][k]], x[k]);
        TRY(add_triangle(s, x));
    }
    return SPATE_OK;
}

/* ---- Any other shape ------------------------------------------------------------------------- */

typedef struct sampling_lattice {
    double first[3], spacing[3];
    int cells[3];
    double *values; /* one more point than cells along each axis, x fastest; 2D: one layer */
} sampling_lattice;

/* Around the shape, but not beyond the domain; a little larger, so that the shape ends in it. */
static bool lay_out(const solid *s, const domain *d, sampling_lattice *l) {
    const bounds b = shape_bounds(s->shape, s->dim);
    const int most = s->dim == 3 ? LATTICE_MOST_3D : LATTICE_MOST_2D;
    for (int a = 0; a < 3; a++) {
        l->cells[a] = a < s->dim ? 1 : 0;
        if (a >= s->dim) continue;
        const double low = fmax(b.min[a], d->origin[a]) - d->dx;
        const double high = fmin(b.max[a], d->origin[a] + d->size[a]) + d->dx;
        if (!(high > low)) return false;
        const double fine = s->dim == 3 ? 1 : 2, cells = ceil(fine * (high - low) / d->dx);
        l->cells[a] = cells < LATTICE_LEAST ? LATTICE_LEAST : cells > most ? most : (int)cells;
        l->first[a] = low;
        l->spacing[a] = (high - low) / l->cells[a];
    }
    return true;
}

static double *value_at(const sampling_lattice *l, int i, int j, int k) {
    return &l->values[((size_t)k * (size_t)(l->cells[1] + 1) + (size_t)j) *
                          (size_t)(l->cells[0] + 1) +
                      (size_t)i];
}

static void point_at(const sampling_lattice *l, int i, int j, int k, double x[3]) {
    const int at[3] = {i, j, k};
    for (int a = 0; a < 3; a++) x[a] = l->first[a] + at[a] * l->spacing[a];
}

/* Distances at the lattice points. */
static void sample(const solid *s, sampling_lattice *l) {
    shape_hints hints = {0};
    for (int k = 0; k <= l->cells[2]; k++)
        for (int j = 0; j <= l->cells[1]; j++)
            for (int i = 0; i <= l->cells[0]; i++) {
                double x[3];
                point_at(l, i, j, k, x);
                *value_at(l, i, j, k) = shape_distance_near(s->shape, s->dim, x, &hints);
            }
}

static double crossing(double a, double b) { return a == b ? 0.5 : a / (a - b); }

/* One cube of 3D. */
static spate_status add_cube(solid *s, const sampling_lattice *l, const marching_cases *cases,
                             const int at[3]) {
    double value[8];
    int inside = 0;
    for (int c = 0; c < 8; c++) {
        value[c] = *value_at(l, at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2 & 1));
        inside |= (value[c] < 0) << c;
    }
    for (int k = 0; k < cases->corners[inside]; k++) {
        const int edge = cases->edges[inside][k], axis = edge / 4;
        const int low = marching_edge_corner(edge), high = low | 1 << axis;
        double x[3];
        point_at(l, at[0] + (low & 1), at[1] + (low >> 1 & 1), at[2] + (low >> 2 & 1), x);
        x[axis] += l->spacing[axis] * crossing(value[low], value[high]);
        TRY(add_on_shape(s, x));
    }
    return SPATE_OK;
}

/* The part of one square of 2D that is inside: a polygon with at most six corners. */
static spate_status add_square(solid *s, const sampling_lattice *l, int i, int j) {
    static const int around[SQUARE][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    double polygon[CLIPPED][3];
    int corners = 0;
    for (int c = 0; c < SQUARE; c++) {
        const int *here = around[c], *next = around[(c + 1) % SQUARE];
        const double a = *value_at(l, i + here[0], j + here[1], 0);
        const double b = *value_at(l, i + next[0], j + next[1], 0);
        double x[3], y[3];
        point_at(l, i + here[0], j + here[1], 0, x), point_at(l, i + next[0], j + next[1], 0, y);
        if (a < 0) memcpy(polygon[corners++], x, sizeof x);
        if ((a < 0) == (b < 0)) continue;
        const double t = crossing(a, b);
        for (int d = 0; d < 3; d++) polygon[corners][d] = x[d] + t * (y[d] - x[d]);
        corners++;
    }
    const double up[3] = {0, 0, 1};
    for (int k = 2; k < corners; k++)
        for (int v = 0; v < 3; v++) TRY(add_vertex(s, polygon[v == 0 ? 0 : k - 2 + v], up));
    return SPATE_OK;
}

static spate_status add_cells(solid *s, const sampling_lattice *l) {
    marching_cases *cases = take(s->ctx, 1, sizeof *cases);
    spate_status status = cases ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (cases) marching_cases_fill(cases);
    for (int k = 0; !status && k < (s->dim == 3 ? l->cells[2] : 1); k++)
        for (int j = 0; !status && j < l->cells[1]; j++)
            for (int i = 0; !status && i < l->cells[0]; i++)
                status = s->dim == 3 ? add_cube(s, l, cases, (const int[3]){i, j, k})
                                     : add_square(s, l, i, j);
    give(s->ctx, cases);
    return status;
}

static spate_status add_sampled(solid *s, const domain *d) {
    sampling_lattice l = {0};
    if (!lay_out(s, d, &l)) return SPATE_OK;
    l.values =
        take(s->ctx, (size_t)(l.cells[0] + 1) * (size_t)(l.cells[1] + 1) * (size_t)(l.cells[2] + 1),
             sizeof *l.values);
    if (!l.values) return SPATE_OUT_OF_MEMORY;
    sample(s, &l);
    const spate_status status = add_cells(s, &l);
    give(s->ctx, l.values);
    return status;
}

/* ---- A section ------------------------------------------------------------------------------- */

static void pack_one(const collider *c, int index, const solid *s, packing *p) {
    const size_t corners = (size_t)s->count, bytes = corners * sizeof(float[6]);
    packed_solid *head =
        packing_section(p, PACKED_SOLID, sizeof *head + bytes + corners * sizeof(uint32_t));
    if (!head) return;
    *head = (packed_solid){.collider = (uint32_t)index,
                           .vertices = (uint32_t)corners,
                           .triangles = (uint32_t)(corners / 3),
                           .given = c->color.given};
    for (int a = 0; a < 3; a++) head->color[a] = (float)c->color.rgb[a];
    float *positions = (float *)(head + 1), *normals = positions + 3 * corners;
    uint32_t *order = (uint32_t *)(normals + 3 * corners);
    for (size_t v = 0; v < corners; v++) {
        for (int a = 0; a < 3; a++) {
            positions[3 * v + (size_t)a] = s->vertices[v][a] - (float)c->motion.pivot[a];
            normals[3 * v + (size_t)a] = s->vertices[v][3 + a];
        }
        order[v] = (uint32_t)v;
    }
}

spate_status solids_pack(const spate_scene *scene, packing *p) {
    for (int i = 0; i < scene->collider_count; i++) {
        const collider *c = &scene->colliders[i];
        if (c->grip) continue;
        solid s = {.ctx = scene->ctx, .shape = c->shape, .dim = scene->dim};
        spate_status status = SPATE_OK;
        if (c->shape->kind == SHAPE_BOX)
            status = add_box(&s);
        else if (c->shape->kind == SHAPE_MESH && scene->dim == 3)
            status = add_mesh(&s);
        else
            status = add_sampled(&s, &scene->domain);
        if (!status) pack_one(c, i, &s, p);
        give(scene->ctx, s.vertices);
        TRY(status);
    }
    return SPATE_OK;
}
