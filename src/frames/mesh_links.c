#include "frames/mesh_links.h"

/* The first particle whose id is not below this one. */
static int64_t first_from(const mesh_vertices *v, uint64_t id) {
    int64_t low = 0, high = v->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (v->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Vertices of a body are in the order of their ids, as the particles. */
static void find_rows(mesh_links *l, const mesh_vertices *v, const mesh_cells_body *b) {
    const uint64_t first = v->first[b->body];
    int64_t at = first_from(v, first);
    for (int64_t k = b->first_vertex; k < b->first_vertex + b->vertex_count; k++) {
        const uint64_t id = first + (uint64_t)l->cells.vertices[k];
        while (at < v->count && v->ids[at] < id) at++;
        l->rows[k] = at < v->count && v->ids[at] == id ? at : -1;
    }
}

static void link_triangles(mesh_links *l) {
    l->triangle_count = 0;
    for (int64_t t = 0; t < l->cells.triangle_count; t++) {
        int64_t row[3];
        bool whole = true;
        for (int k = 0; k < 3; k++) {
            row[k] = l->rows[l->cells.triangles[t][k]];
            whole &= row[k] >= 0;
        }
        for (int k = 0; k < 3 && whole; k++) l->triangles[l->triangle_count][k] = (uint32_t)row[k];
        l->triangle_count += whole;
    }
}

static void link_segments(mesh_links *l) {
    l->segment_count = 0;
    for (int64_t line = 0; line < l->cells.line_count; line++)
        for (int64_t c = l->cells.line_first[line]; c + 1 < l->cells.line_first[line + 1]; c++) {
            const int64_t from = l->rows[l->cells.line_corners[c]];
            const int64_t to = l->rows[l->cells.line_corners[c + 1]];
            if (from < 0 || to < 0) continue;
            l->segments[l->segment_count][0] = (uint32_t)from;
            l->segments[l->segment_count++][1] = (uint32_t)to;
        }
}

spate_status mesh_links_update(const spate_scene *scene, const mesh_vertices *v, mesh_links *l) {
    mesh_cells *c = &l->cells;
    c->ctx = l->ctx;
    TRY(mesh_cells_update(scene, c));
    const int64_t corners = c->line_count ? c->line_first[c->line_count] : 0;
    TRY(ENSURE(l->ctx, l->row_room, c->vertex_count, EACH(l->rows, 1)));
    TRY(ENSURE(l->ctx, l->triangle_room, c->triangle_count, EACH(l->triangles, 1)));
    TRY(ENSURE(l->ctx, l->segment_room, corners, EACH(l->segments, 1)));
    for (int b = 0; b < c->body_count; b++) find_rows(l, v, &c->bodies[b]);
    link_triangles(l);
    link_segments(l);
    return SPATE_OK;
}

void mesh_links_free(mesh_links *l) {
    mesh_cells_free(&l->cells);
    give(l->ctx, l->rows), give(l->ctx, l->triangles), give(l->ctx, l->segments);
    *l = (mesh_links){.ctx = l->ctx};
}
