/* Skins, outlines and lines of meshes; see mesh_cells.h. */
#include "frames/mesh_cells.h"
#include "core/hash.h"
#include <string.h>

bool mesh_cells_are_in(const spate_scene *scene) {
    for (int b = 0; b < scene->body_count; b++)
        if (scene->bodies[b].mesh.kind) return true;
    return false;
}

/* ---- Sides that one element has --------------------------------------------------------------- */

/* Sides of an element by its corners, outward: of a tetrahedron, and of a triangle. */
static const int tetrahedron_sides[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
static const int triangle_sides[3][3] = {{0, 1}, {1, 2}, {2, 0}};

typedef struct mesh_side {
    int32_t corner[3]; /* as the element has them; in 2D two */
    bool inner;        /* two elements have it */
} mesh_side;

static mesh_side side_of(const mesh_body *m, int dim, int64_t element, int k) {
    const int *of = dim == 3 ? tetrahedron_sides[k] : triangle_sides[k];
    mesh_side s = {.corner = {0, 0, -1}};
    for (int c = 0; c < dim; c++) s.corner[c] = m->elements[element][of[c]];
    return s;
}

static int32_t least_corner(const mesh_side *s, int dim) {
    int32_t least = s->corner[0];
    for (int c = 1; c < dim; c++) least = s->corner[c] < least ? s->corner[c] : least;
    return least;
}

static bool is_same(const mesh_side *a, const mesh_side *b, int dim) {
    int shared = 0;
    for (int i = 0; i < dim; i++)
        for (int k = 0; k < dim; k++) shared += a->corner[i] == b->corner[k];
    return shared == dim;
}

/* Sides are listed by their least corner; of those few, equal ones are two elements' own. */
static spate_status find_sides(spate_context *ctx, const mesh_body *m, int dim, mesh_side **out,
                               int64_t *out_count) {
    const int64_t count = m->element_count * (dim + 1);
    mesh_side *sides = take(ctx, (size_t)count + 1, sizeof *sides);
    int64_t *first = take(ctx, (size_t)m->vertex_count + 2, sizeof *first);
    *out = sides, *out_count = 0;
    if (!sides || !first) {
        give(ctx, first);
        return SPATE_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        const mesh_side s = side_of(m, dim, i / (dim + 1), (int)(i % (dim + 1)));
        first[least_corner(&s, dim) + 2]++;
    }
    for (int64_t v = 2; v < m->vertex_count + 2; v++) first[v] += first[v - 1];
    for (int64_t i = 0; i < count; i++) {
        const mesh_side s = side_of(m, dim, i / (dim + 1), (int)(i % (dim + 1)));
        sides[first[least_corner(&s, dim) + 1]++] = s;
    }
    for (int64_t v = 0; v < m->vertex_count; v++)
        for (int64_t i = first[v]; i < first[v + 1]; i++)
            for (int64_t k = i + 1; k < first[v + 1]; k++)
                if (is_same(&sides[i], &sides[k], dim)) sides[i].inner = sides[k].inner = true;
    for (int64_t i = 0; i < count; i++)
        if (!sides[i].inner) sides[(*out_count)++] = sides[i];
    give(ctx, first);
    return SPATE_OK;
}

/* ---- Lists ------------------------------------------------------------------------------------ */

/* A body that is being entered. `place` tells where its vertices are in the list, less one. */
typedef struct cell_job {
    mesh_cells *out;
    const mesh_body *mesh;
    int32_t *place;
    int64_t vertex_room, corner_room, first_room, triangle_room;
} cell_job;

static spate_status make_room(cell_job *j, int64_t lines, int64_t corners, int64_t triangles) {
    mesh_cells *c = j->out;
    const int64_t used = c->line_count ? c->line_first[c->line_count] : 0;
    TRY(GROW(c->ctx, c->vertices, j->vertex_room, c->vertex_count + j->mesh->vertex_count));
    TRY(GROW(c->ctx, c->line_corners, j->corner_room, used + corners));
    TRY(GROW(c->ctx, c->line_first, j->first_room, c->line_count + lines + 1));
    c->line_first[0] = 0;
    return GROW(c->ctx, c->triangles, j->triangle_room, c->triangle_count + triangles);
}

static void add_triangle(cell_job *j, const int32_t corners[3]) {
    mesh_cells *c = j->out;
    for (int k = 0; k < 3; k++) c->triangles[c->triangle_count][k] = corners[k];
    for (int k = 0; k < 3; k++) j->place[corners[k]] = 1;
    c->triangle_count++;
}

static void add_corner(cell_job *j, int64_t at, int32_t corner) {
    j->out->line_corners[at] = corner;
    j->place[corner] = 1;
}

static void add_side(cell_job *j, const mesh_side *s, int dim) {
    mesh_cells *c = j->out;
    if (dim == 3) {
        add_triangle(j, s->corner);
        return;
    }
    const int64_t at = c->line_first[c->line_count];
    for (int k = 0; k < 2; k++) add_corner(j, at + k, s->corner[k]);
    c->line_first[++c->line_count] = at + 2;
}

static spate_status add_fe(cell_job *j, int dim) {
    mesh_side *sides;
    int64_t count;
    spate_status status = find_sides(j->out->ctx, j->mesh, dim, &sides, &count);
    if (!status)
        status = dim == 3 ? make_room(j, 0, 0, count)
                          : make_room(j, count, 2 * count, j->mesh->element_count);
    for (int64_t i = 0; i < count && !status; i++) add_side(j, &sides[i], dim);
    for (int64_t e = 0; e < j->mesh->element_count && !status && dim == 2; e++)
        add_triangle(j, j->mesh->elements[e]);
    give(j->out->ctx, sides);
    return status;
}

static spate_status add_cloth(cell_job *j) {
    TRY(make_room(j, 0, 0, j->mesh->element_count));
    for (int64_t e = 0; e < j->mesh->element_count; e++) add_triangle(j, j->mesh->elements[e]);
    return SPATE_OK;
}

static spate_status add_strands(cell_job *j) {
    const mesh_body *m = j->mesh;
    mesh_cells *c = j->out;
    TRY(make_room(j, m->strand_count, m->vertex_count, 0));
    for (int64_t s = 0; s < m->strand_count; s++) {
        int64_t at = c->line_first[c->line_count];
        for (int64_t v = m->strand_first[s]; v < m->strand_first[s + 1]; v++)
            add_corner(j, at++, (int32_t)v);
        c->line_first[++c->line_count] = at;
    }
    return SPATE_OK;
}

/* Lists the vertices that cells have, and names them by their place in the list. */
static void number_vertices(cell_job *j, mesh_cells_body *b) {
    mesh_cells *c = j->out;
    for (int64_t v = 0; v < j->mesh->vertex_count; v++) {
        if (!j->place[v]) continue;
        c->vertices[c->vertex_count] = (int32_t)v;
        j->place[v] = (int32_t)c->vertex_count++;
    }
    b->vertex_count = c->vertex_count - b->first_vertex;
    b->line_count = c->line_count - b->first_line;
    b->triangle_count = c->triangle_count - b->first_triangle;
    for (int64_t t = b->first_triangle; t < c->triangle_count; t++)
        for (int k = 0; k < 3; k++) c->triangles[t][k] = j->place[c->triangles[t][k]];
    for (int64_t i = c->line_first[b->first_line]; i < c->line_first[c->line_count]; i++)
        c->line_corners[i] = j->place[c->line_corners[i]];
}

static spate_status add_body(cell_job *j, const spate_scene *scene, int index) {
    mesh_cells *c = j->out;
    mesh_cells_body *b = &c->bodies[c->body_count++];
    *b = (mesh_cells_body){.body = index,
                           .first_vertex = c->vertex_count,
                           .first_line = c->line_count,
                           .first_triangle = c->triangle_count};
    j->mesh = &scene->bodies[index].mesh;
    if (c->vertex_count + j->mesh->vertex_count > INT32_MAX)
        return fail(c->ctx, SPATE_BAD_INPUT,
                    "the meshes have more than %d vertices, which their files cannot number; use "
                    "output.meshes: none",
                    INT32_MAX);
    j->place = take(c->ctx, (size_t)j->mesh->vertex_count + 1, sizeof *j->place);
    if (!j->place) return SPATE_OUT_OF_MEMORY;
    spate_status status = SPATE_OK;
    switch (j->mesh->kind) {
    case MESH_FE: status = add_fe(j, scene->dim); break;
    case MESH_CLOTH: status = add_cloth(j); break;
    case MESH_STRANDS: status = add_strands(j); break;
    case MESH_NONE: break;
    }
    if (!status) number_vertices(j, b);
    give(c->ctx, j->place);
    return status;
}

/* ---- All of a scene --------------------------------------------------------------------------- */

static uint64_t key_of(const spate_scene *scene) {
    uint64_t key = 1;
    for (int b = 0; b < scene->body_count; b++) {
        const mesh_body *m = &scene->bodies[b].mesh;
        if (!m->kind) continue;
        const int64_t counts[] = {b, m->kind, m->vertex_count, m->element_count, m->strand_count};
        key = hash_bytes(counts, sizeof counts, key);
        if (m->elements)
            key = hash_bytes(m->elements, (size_t)m->element_count * sizeof *m->elements, key);
        if (m->strand_first)
            key = hash_bytes(m->strand_first,
                             (size_t)(m->strand_count + 1) * sizeof *m->strand_first, key);
    }
    return key ? key : 1;
}

spate_status mesh_cells_update(const spate_scene *scene, mesh_cells *c) {
    const uint64_t key = key_of(scene);
    if (c->key == key) return SPATE_OK;
    mesh_cells_free(c);
    cell_job job = {.out = c};
    c->bodies = take(c->ctx, (size_t)scene->body_count + 1, sizeof *c->bodies);
    spate_status status = c->bodies ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    for (int b = 0; b < scene->body_count && !status; b++)
        if (scene->bodies[b].mesh.kind) status = add_body(&job, scene, b);
    if (status)
        mesh_cells_free(c);
    else
        c->key = key;
    return status;
}

void mesh_cells_free(mesh_cells *c) {
    spate_context *ctx = c->ctx;
    if (!ctx) return;
    give(ctx, c->bodies);
    give(ctx, c->vertices);
    give(ctx, c->line_corners);
    give(ctx, c->line_first);
    give(ctx, c->triangles);
    *c = (mesh_cells){.ctx = ctx};
}
