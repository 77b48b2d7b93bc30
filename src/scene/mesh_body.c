#include "scene/mesh_body.h"

#include "core/vec.h"

/* How many pieces of about this length; at least one. */
static int64_t pieces(double length, double spacing) {
    const double count = round(length / spacing);
    return count < 1 ? 1 : count > MESH_VERTICES_MOST ? MESH_VERTICES_MOST : (int64_t)count;
}

/* Two triangles of the square with corners a b / c d, cut from a to d or from b to c. */
static void cut_square(int32_t (*out)[4], int64_t a, int64_t b, int64_t c, int64_t d, bool from_a) {
    const int64_t first[2][3] = {{a, b, d}, {a, d, c}}, second[2][3] = {{a, b, c}, {b, d, c}};
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < 3; k++) out[t][k] = (int32_t)(from_a ? first[t][k] : second[t][k]);
}

spate_status mesh_of_cloth(arena *a, const cloth_fields *g, mesh_body *out) {
    const int64_t n[2] = {pieces(vec_length(g->along), g->spacing),
                          pieces(vec_length(g->across), g->spacing)};
    *out = (mesh_body){
        .kind = MESH_CLOTH,
        .vertex_count = (n[0] + 1) * (n[1] + 1),
        .element_count = 2 * n[0] * n[1],
        .thickness = g->thickness,
        .spacing = fmin(vec_length(g->along) / (double)n[0], vec_length(g->across) / (double)n[1]),
        .bending = (mesh_bending)g->bending};
    if (out->vertex_count > MESH_VERTICES_MOST) return SPATE_OK;
    out->vertices = arena_take(a, (size_t)out->vertex_count, sizeof *out->vertices);
    out->elements = arena_take(a, (size_t)out->element_count, sizeof *out->elements);
    if (!out->vertices || !out->elements) return SPATE_OUT_OF_MEMORY;
    for (int64_t j = 0, v = 0; j <= n[1]; j++)
        for (int64_t i = 0; i <= n[0]; i++, v++) {
            double *x = out->vertices[v];
            vec_add_scaled(x, g->corner, (double)i / (double)n[0], g->along);
            vec_add_scaled(x, x, (double)j / (double)n[1], g->across);
        }
    for (int64_t j = 0, e = 0; j < n[1]; j++)
        for (int64_t i = 0; i < n[0]; i++, e += 2) {
            const int64_t at = j * (n[0] + 1) + i, above = at + n[0] + 1;
            cut_square(out->elements + e, at, at + 1, above, above + 1,
                       g->diagonals == DIAGONALS_ONE || (i + j) % 2 == 0);
        }
    return SPATE_OK;
}

/* Two unit vectors across a direction. */
static void across(const double direction[3], double u[3], double v[3]) {
    double t[3], axis[3] = {0};
    int least = 0;
    vec_copy(t, direction);
    vec_normalise(t);
    for (int a = 1; a < 3; a++)
        if (fabs(t[a]) < fabs(t[least])) least = a;
    axis[least] = 1;
    vec_cross(u, t, axis);
    vec_normalise(u);
    vec_cross(v, t, u);
}

/* A point of a strand, s of its length from the root: on a line, or on a helix that begins on it;
 * in 2D a wave. */
static void strand_point(const strands_fields *g, int dim, double s, const double u[3],
                         const double v[3], double x[3]) {
    vec_add_scaled(x, x, s, g->direction);
    if (!(g->curl_radius > 0)) return;
    const double turn = 2 * 3.14159265358979323846 * s * vec_length(g->direction) / g->curl_length;
    vec_add_scaled(x, x, g->curl_radius * sin(turn), dim == 2 ? v : u);
    if (dim == 3) vec_add_scaled(x, x, g->curl_radius * (1 - cos(turn)), v);
}

spate_status mesh_of_strands(arena *a, const strands_fields *g, int dim, mesh_body *out) {
    const int64_t segments = pieces(vec_length(g->direction), g->spacing);
    const double most = (double)g->count[0] * (double)g->count[1] * (double)(segments + 1);
    *out = (mesh_body){.kind = MESH_STRANDS,
                       .strand_count = g->count[0] * g->count[1],
                       .vertex_count = most > MESH_VERTICES_MOST ? (int64_t)MESH_VERTICES_MOST + 1
                                                                 : (int64_t)most,
                       .radius = g->radius,
                       .spacing = vec_length(g->direction) / (double)segments};
    if (out->vertex_count > MESH_VERTICES_MOST) return SPATE_OK;
    out->vertices = arena_take(a, (size_t)out->vertex_count, sizeof *out->vertices);
    out->strand_first = arena_take(a, (size_t)out->strand_count + 1, sizeof *out->strand_first);
    if (!out->vertices || !out->strand_first) return SPATE_OUT_OF_MEMORY;
    double u[3], v[3];
    across(g->direction, u, v);
    if (dim == 2) vec_set(v, -g->direction[1], g->direction[0], 0), vec_normalise(v);
    int64_t at = 0;
    for (int64_t s = 0; s < out->strand_count; s++) {
        const int64_t i = s % g->count[0], j = s / g->count[0];
        const double along = g->count[0] > 1 ? (double)i / (double)(g->count[0] - 1) : 0;
        const double up = g->count[1] > 1 ? (double)j / (double)(g->count[1] - 1) : 0;
        for (int64_t k = 0; k <= segments; k++, at++) {
            double *x = out->vertices[at];
            vec_add_scaled(x, g->root, along, g->row);
            vec_add_scaled(x, x, up, g->rows);
            strand_point(g, dim, (double)k / (double)segments, u, v, x);
        }
        out->strand_first[s + 1] = at;
    }
    return SPATE_OK;
}
