/* Gathering the meshes of one moment; see mesh_frame.h. Their files: mesh_files.c. */
#include "frames/mesh_frame.h"
#include "core/vec.h"
#include "solver/drive.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

bool mesh_is_wanted(const spate_simulation *sim) {
    return sim->scene->output.meshes && sim->type->mesh_first_id && mesh_cells_are_in(sim->scene);
}

/* ---- Vertices --------------------------------------------------------------------------------- */

typedef struct mesh_job {
    const spate_simulation *sim;
    const particle_frame *particles;
    const mesh_cells *cells;
    int64_t *rows;  /* by vertex of the cells: its particle in the frame, or -1 */
    int32_t *place; /* and its place among the vertices that are there, or -1 */
    mesh_frame *out;
} mesh_job;

static const frame_array *array_of(const particle_frame *f, const char *name) {
    for (int i = 0; i < f->array_count; i++)
        if (!strcmp(f->arrays[i].attribute->name, name)) return &f->arrays[i];
    return NULL;
}

/* Particles are in the order of their ids, as the vertices of a body are. */
static void find_rows(mesh_job *j, const mesh_cells_body *b) {
    const uint64_t first = j->sim->type->mesh_first_id(j->sim, b->body);
    const uint32_t *ids = array_of(j->particles, "id")->values;
    int64_t low = 0, high = j->particles->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (ids[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (int64_t v = b->first_vertex; v < b->first_vertex + b->vertex_count; v++) {
        const uint64_t id = first + (uint64_t)j->cells->vertices[v];
        while (low < j->particles->count && ids[low] < id) low++;
        const bool there = low < j->particles->count && ids[low] == id;
        j->rows[v] = there ? low : -1;
        j->place[v] = there ? (int32_t)j->out->vertex_count++ : -1;
    }
}

static spate_status copy_array(const mesh_job *j, const frame_array *from) {
    mesh_frame *f = j->out;
    const size_t size = (size_t)from->attribute->components * attribute_size(from->attribute);
    char *to = take(f->ctx, (size_t)f->vertex_count + 1, size);
    if (!to) return SPATE_OUT_OF_MEMORY;
    f->arrays[f->array_count++] = (frame_array){from->attribute, to};
    for (int64_t v = 0; v < j->cells->vertex_count; v++)
        if (j->rows[v] >= 0)
            memcpy(to + (size_t)j->place[v] * size,
                   (const char *)from->values + (size_t)j->rows[v] * size, size);
    return SPATE_OK;
}

static void set_radii(const mesh_job *j, real *radii) {
    for (int k = 0; k < j->cells->body_count; k++) {
        const mesh_cells_body *b = &j->cells->bodies[k];
        const mesh_body *m = &j->sim->scene->bodies[b->body].mesh;
        const double radius = m->kind == MESH_STRANDS ? m->radius
                              : m->kind == MESH_CLOTH ? m->thickness / 2
                                                      : 0;
        for (int64_t v = b->first_vertex; v < b->first_vertex + b->vertex_count; v++)
            if (j->place[v] >= 0) radii[j->place[v]] = (real)radius;
    }
}

static spate_status take_vertices(mesh_job *j) {
    for (int k = 0; k < j->cells->body_count; k++) find_rows(j, &j->cells->bodies[k]);
    for (int i = 0; i < j->particles->array_count; i++)
        if (strcmp(j->particles->arrays[i].attribute->name, "role"))
            TRY(copy_array(j, &j->particles->arrays[i]));
    for (int i = 0; i < j->out->array_count; i++)
        if (!strcmp(j->out->arrays[i].attribute->name, "pscale"))
            set_radii(j, j->out->arrays[i].values);
    return SPATE_OK;
}

/* ---- Cells ------------------------------------------------------------------------------------ */

static void place_now(const mesh_job *j, int32_t vertex, double x[3]) {
    const real(*P)[3] = j->out->arrays[0].values;
    for (int a = 0; a < 3; a++) x[a] = (double)P[j->place[vertex]][a];
}

static double area(const double x[3][3]) {
    double u[3], v[3], n[3];
    vec_sub(u, x[1], x[0]), vec_sub(v, x[2], x[0]);
    vec_cross(n, u, v);
    return vec_length(n) / 2;
}

static double length(const double a[3], const double b[3]) {
    double way[3];
    vec_sub(way, b, a);
    return vec_length(way);
}

static void set_cell(const mesh_job *j, int64_t cell, const mesh_cells_body *b, double now,
                     double rest) {
    mesh_frame *f = j->out;
    f->groups[cell] = (uint32_t)b->body;
    f->kinds[cell] = (uint32_t)j->sim->scene->bodies[b->body].mesh.kind;
    f->stretches[cell] = rest > 0 ? (float)fmin(now / rest, 1e30) : 1;
}

/* Stretches of a line without gaps, each a line of its own: most lines are one. */
static void add_line(mesh_job *j, const mesh_cells_body *b, int64_t line) {
    const mesh_cells *c = j->cells;
    const double(*rest)[3] = (const double(*)[3])j->sim->scene->bodies[b->body].mesh.vertices;
    mesh_frame *f = j->out;
    const int64_t begin = c->line_first[line], end = c->line_first[line + 1];
    int64_t used = f->line_count ? f->line_ends[f->line_count - 1] : 0, i = begin;
    while (i < end) {
        double now = 0, before = 0;
        const int64_t first = used;
        for (; i < end && j->place[c->line_corners[i]] >= 0; i++) {
            const int32_t v = c->line_corners[i];
            f->line_corners[used++] = j->place[v];
            if (used - first < 2) continue;
            double x[2][3];
            place_now(j, c->line_corners[i - 1], x[0]), place_now(j, v, x[1]);
            now += length(x[0], x[1]);
            before += length(rest[c->vertices[c->line_corners[i - 1]]], rest[c->vertices[v]]);
        }
        for (; i < end && j->place[c->line_corners[i]] < 0; i++) {
        }
        if (used - first < 2) {
            used = first;
            continue;
        }
        set_cell(j, f->line_count, b, now, before);
        f->line_ends[f->line_count++] = (int32_t)used;
    }
}

static void add_triangle(mesh_job *j, const mesh_cells_body *b, int64_t triangle) {
    const mesh_cells *c = j->cells;
    const mesh_body *m = &j->sim->scene->bodies[b->body].mesh;
    mesh_frame *f = j->out;
    double x[3][3], X[3][3];
    for (int k = 0; k < 3; k++) {
        const int32_t v = c->triangles[triangle][k];
        if (j->place[v] < 0) return;
        f->triangles[f->triangle_count][k] = j->place[v];
        place_now(j, v, x[k]);
        vec_copy(X[k], m->vertices[c->vertices[v]]);
    }
    set_cell(j, f->line_count + f->triangle_count, b, area(x), area(X));
    f->triangle_count++;
}

/* A line that is cut has more pieces than before, but each has two of its corners. */
static spate_status take_cell_room(mesh_job *j) {
    const mesh_cells *c = j->cells;
    mesh_frame *f = j->out;
    const int64_t corners = c->line_count ? c->line_first[c->line_count] : 0,
                  lines = corners / 2 + 1, cells = lines + c->triangle_count;
    bool fine = (f->line_corners = take(f->ctx, (size_t)corners + 1, sizeof *f->line_corners));
    fine = fine && (f->line_ends = take(f->ctx, (size_t)lines, sizeof *f->line_ends));
    fine =
        fine && (f->triangles = take(f->ctx, (size_t)c->triangle_count + 1, sizeof *f->triangles));
    fine = fine && (f->groups = take(f->ctx, (size_t)cells, sizeof *f->groups));
    fine = fine && (f->kinds = take(f->ctx, (size_t)cells, sizeof *f->kinds));
    fine = fine && (f->stretches = take(f->ctx, (size_t)cells, sizeof *f->stretches));
    fine = fine && (f->bodies = take(f->ctx, (size_t)c->body_count + 1, sizeof *f->bodies));
    return fine ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static spate_status take_cells(mesh_job *j) {
    const mesh_cells *c = j->cells;
    mesh_frame *f = j->out;
    TRY(take_cell_room(j));
    f->body_count = c->body_count;
    for (int k = 0; k < c->body_count; k++) {
        const mesh_cells_body *b = &c->bodies[k];
        f->bodies[k].first_line = f->line_count;
        for (int64_t i = 0; i < b->line_count; i++) add_line(j, b, b->first_line + i);
    }
    for (int k = 0; k < c->body_count; k++) {
        const mesh_cells_body *b = &c->bodies[k];
        const char *name = j->sim->scene->bodies[b->body].name;
        if (name && *name)
            snprintf(f->bodies[k].name, MESH_NAME_SIZE, "%s", name);
        else
            snprintf(f->bodies[k].name, MESH_NAME_SIZE, "body_%d", b->body);
        f->bodies[k].first_triangle = f->triangle_count;
        for (int64_t i = 0; i < b->triangle_count; i++) add_triangle(j, b, b->first_triangle + i);
    }
    f->bodies[c->body_count] =
        (mesh_frame_body){.first_line = f->line_count, .first_triangle = f->triangle_count};
    return SPATE_OK;
}

/* ---- All -------------------------------------------------------------------------------------- */

static spate_status gather(mesh_job *j) {
    const size_t n = (size_t)j->cells->vertex_count + 1;
    j->rows = take(j->out->ctx, n, sizeof *j->rows);
    j->place = take(j->out->ctx, n, sizeof *j->place);
    spate_status status = j->rows && j->place ? take_vertices(j) : SPATE_OUT_OF_MEMORY;
    if (!status) status = take_cells(j);
    give(j->out->ctx, j->rows);
    give(j->out->ctx, j->place);
    return status;
}

spate_status mesh_frame_create(spate_simulation *sim, const particle_frame *from, mesh_cells *cells,
                               mesh_frame *out) {
    particle_frame own = {.ctx = sim->ctx};
    *out = (mesh_frame){
        .ctx = sim->ctx, .scene_name = drive_given_scene(sim)->name, .time = sim->time};
    TRY(mesh_cells_update(sim->scene, cells));
    if (!from) TRY(frame_create(sim, &own));
    mesh_job job = {.sim = sim, .particles = from ? from : &own, .cells = cells, .out = out};
    spate_status status = gather(&job);
    frame_free(&own);
    if (status) mesh_frame_free(out);
    return status;
}

void mesh_frame_free(mesh_frame *f) {
    spate_context *ctx = f->ctx;
    if (!ctx) return;
    for (int i = 0; i < f->array_count; i++) give(ctx, f->arrays[i].values);
    void *lists[] = {f->line_corners, f->line_ends, f->triangles, f->groups,
                     f->kinds,        f->stretches, f->bodies};
    for (int i = 0; i < COUNT_OF(lists); i++) give(ctx, lists[i]);
    *f = (mesh_frame){0};
}
