/*
 * Meshes meet on the grid only, and have no thickness there: two that begin nearer than about .6 of
 * a cell share nearly all of their motion from the start. Vertices are put into a hashed grid with
 * cells of that size, and those of different bodies compared.
 */
#include "core/random.h"
#include "core/vec.h"
#include "scene/scene_parts.h"

#define CLOSE 0.6 /* cells */

typedef struct close_search {
    const spate_scene *scene;
    double reach;
    uint64_t mask;
    int64_t *head, *next; /* a vertex's number + 1, 0: none */
    int *body;            /* of vertices */
    const double **x;
    int64_t count;
} close_search;

static uint64_t slot_of(const close_search *s, const int64_t c[3]) {
    uint64_t key = 0;
    for (int a = 0; a < 3; a++) key = random_mix(key ^ (uint64_t)c[a]);
    return key & s->mask;
}

static void cell_of(const close_search *s, const double x[3], int64_t c[3]) {
    for (int a = 0; a < 3; a++) c[a] = a < s->scene->dim ? (int64_t)floor(x[a] / s->reach) : 0;
}

/* A vertex of another body within reach of x, or -1. */
static int64_t find_close(const close_search *s, const double x[3], int of) {
    int64_t at[3], c[3];
    const int depth = s->scene->dim == 3;
    cell_of(s, x, at);
    for (c[2] = at[2] - depth; c[2] <= at[2] + depth; c[2]++)
        for (c[1] = at[1] - 1; c[1] <= at[1] + 1; c[1]++)
            for (c[0] = at[0] - 1; c[0] <= at[0] + 1; c[0]++)
                for (int64_t v = s->head[slot_of(s, c)]; v; v = s->next[v - 1]) {
                    double d[3];
                    vec_sub(d, x, s->x[v - 1]);
                    if (s->body[v - 1] != of && vec_dot(d, d) < s->reach * s->reach) return v - 1;
                }
    return -1;
}

static void add(close_search *s, const double x[3], int of) {
    int64_t c[3];
    cell_of(s, x, c);
    const uint64_t slot = slot_of(s, c);
    s->x[s->count] = x, s->body[s->count] = of;
    s->next[s->count] = s->head[slot];
    s->head[slot] = ++s->count;
}

/* Of each body the first that is close to one before it. */
static void search(close_search *s) {
    for (int b = 0; b < s->scene->body_count; b++) {
        const mesh_body *m = &s->scene->bodies[b].mesh;
        int64_t found = -1;
        for (int64_t v = 0; v < m->vertex_count && found < 0 && s->count; v++) {
            double d[3];
            found = find_close(s, m->vertices[v], b);
            if (found < 0) continue;
            vec_sub(d, m->vertices[v], s->x[found]);
            warn(s->scene->ctx, "close meshes",
                 "%s: bodies '%s' and '%s' begin %.3g apart at (%.4g, %.4g, %.4g), less than %.1f "
                 "of a cell: the grid moves them as one there; move them apart or use a smaller "
                 "dx",
                 s->scene->path, s->scene->bodies[s->body[found]].name, s->scene->bodies[b].name,
                 vec_length(d), m->vertices[v][0], m->vertices[v][1], m->vertices[v][2], CLOSE);
        }
        for (int64_t v = 0; v < m->vertex_count; v++) add(s, m->vertices[v], b);
    }
}

spate_status scene_warn_of_close(reader *r) {
    close_search s = {.scene = r->scene, .reach = CLOSE * r->scene->domain.dx, .mask = 1};
    int64_t vertices = 0;
    int meshes = 0;
    for (int b = 0; b < r->scene->body_count; b++) {
        vertices += r->scene->bodies[b].mesh.vertex_count;
        meshes += r->scene->bodies[b].mesh.kind != MESH_NONE;
    }
    if (meshes < 2) return SPATE_OK;
    while (s.mask < 2 * (uint64_t)vertices) s.mask = 2 * s.mask + 1;
    s.head = take(r->ctx, (size_t)s.mask + 1, sizeof *s.head);
    s.next = take(r->ctx, (size_t)vertices, sizeof *s.next);
    s.body = take(r->ctx, (size_t)vertices, sizeof *s.body);
    s.x = take(r->ctx, (size_t)vertices, sizeof *s.x);
    const bool fine = s.head && s.next && s.body && s.x;
    if (fine) search(&s);
    give(r->ctx, s.head), give(r->ctx, s.next), give(r->ctx, s.body), give(r->ctx, s.x);
    return fine ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}
