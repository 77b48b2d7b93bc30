#include "scene/mesh_body.h"

#include "core/vec.h"

int64_t mesh_pieces(double length, double spacing) {
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
    const int64_t n[2] = {mesh_pieces(vec_length(g->along), g->spacing),
                          mesh_pieces(vec_length(g->across), g->spacing)};
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
