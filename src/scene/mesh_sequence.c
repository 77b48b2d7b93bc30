#include "scene/mesh_sequence.h"

#include "core/vec.h"

#include <limits.h>
#include <string.h>

sequence_place mesh_sequence_at(const mesh_sequence *s, double t) {
    double at = (t - s->start) * s->fps;
    const double last = s->count - 1;
    if (s->repeat && at > 0) at = fmod(at, last);
    if (!(at >= 0)) return (sequence_place){0, 0, false};
    if (at >= last) return (sequence_place){s->count - 2, 1, false};
    const int from = (int)at;
    return (sequence_place){from, at - from, true};
}

void mesh_sequence_blend(const mesh_sequence *s, int from, double share, double (*out)[3]) {
    const double(*a)[3] = (const double(*)[3])s->vertices[from];
    const double(*b)[3] = (const double(*)[3])s->vertices[from + 1];
    for (int64_t v = 0; v < s->mesh->vertex_count; v++)
        for (int i = 0; i < 3; i++) out[v][i] = a[v][i] + share * (b[v][i] - a[v][i]);
}

spate_status mesh_sequence_shape(arena *a, const shape *s, double t, const shape **out) {
    static const double same[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    *out = s;
    if (!s->sequence) return SPATE_OK;
    shape *shown = arena_take(a, 1, sizeof *shown);
    mesh *moved;
    if (!shown) return SPATE_OUT_OF_MEMORY;
    *shown = *s;
    TRY(mesh_map(a, s->sequence->mesh, same, &moved));
    const sequence_place at = mesh_sequence_at(s->sequence, t);
    mesh_sequence_blend(s->sequence, at.from, at.share, moved->vertices);
    TRY(mesh_map(a, moved, same, &shown->mesh)); /* the hierarchy of the moved ones */
    *out = shown;
    return SPATE_OK;
}

void mesh_sequence_drift(const mesh_sequence *s, double t, double v[3]) {
    const sequence_place at = mesh_sequence_at(s, t);
    vec_sub(v, s->middle[at.from + 1], s->middle[at.from]);
    vec_scale(v, at.moving ? s->fps : 0, v);
}

bounds mesh_sequence_bounds(const shape *s, int dim) {
    return s->sequence ? s->sequence->box : shape_bounds(s, dim);
}

double mesh_sequence_speed(const mesh_sequence *s) {
    double farthest = 0;
    for (int k = 0; k + 1 < s->count; k++) farthest = fmax(farthest, s->way[k]);
    return farthest * s->fps;
}

double mesh_sequence_speed_within(const mesh_sequence *s, double t, double way) {
    const int ways = s->count - 1;
    const int first = (int)fmin(fmax((t - s->start) * s->fps, 0), s->repeat ? INT_MAX / 2 : ways);
    double most = 0;
    for (int k = first; k < first + ways; k++) {
        double until = s->start + k / s->fps - t; /* the way to file k + 1 begins */
        if (until < 1e-6 / s->fps) until = 0;     /* rounding */
        if (!s->repeat && k >= ways) break;
        if (most > 0 && way / most <= until) break;
        const double speed = s->way[k % ways] * s->fps;
        if (until > 0 && speed > most && way / speed < until) return way / until;
        most = fmax(most, speed);
    }
    return most;
}

/* Preparing keeps, of vertices at one place, the first, and all in their order: the next one that
 * is at the place of the next kept one is it. */
static void find_kept(const mesh *raw, const mesh *prepared, int32_t *kept) {
    int64_t next = 0;
    for (int64_t v = 0; v < raw->vertex_count && next < prepared->vertex_count; v++) {
        const double *x = raw->vertices[v], *y = prepared->vertices[next];
        if (x[0] == y[0] && x[1] == y[1] && x[2] == y[2]) kept[next++] = (int32_t)v;
    }
}

spate_status mesh_sequence_begin(arena *a, int count, const mesh *raw, mesh *prepared,
                                 int32_t **kept, mesh_sequence **out) {
    mesh_sequence *s = arena_take(a, 1, sizeof *s);
    *kept = arena_take(a, (size_t)prepared->vertex_count, sizeof **kept);
    if (!s || !*kept) return SPATE_OUT_OF_MEMORY;
    s->vertices = arena_take(a, (size_t)count, sizeof *s->vertices);
    s->way = arena_take(a, (size_t)count, sizeof *s->way);
    s->middle = arena_take(a, (size_t)count, sizeof *s->middle);
    if (!s->vertices || !s->way || !s->middle) return SPATE_OUT_OF_MEMORY;
    s->count = count;
    s->mesh = prepared;
    find_kept(raw, prepared, *kept);
    *out = s;
    return SPATE_OK;
}

spate_status mesh_sequence_add(arena *a, mesh_sequence *s, int k, const int32_t *kept,
                               const mesh *first, const mesh *raw) {
    if (raw->vertex_count != first->vertex_count || raw->triangle_count != first->triangle_count)
        return fail(a->ctx, SPATE_BAD_INPUT,
                    "it has %lld vertices and %lld triangles, the first one %lld and %lld; all "
                    "must have the same, so export it without remeshing",
                    (long long)raw->vertex_count, (long long)raw->triangle_count,
                    (long long)first->vertex_count, (long long)first->triangle_count);
    for (int64_t t = 0; t < raw->triangle_count; t++)
        if (memcmp(raw->triangles[t], first->triangles[t], sizeof *raw->triangles))
            return fail(a->ctx, SPATE_BAD_INPUT,
                        "triangle %lld has other corners than in the first one; all must have the "
                        "same, so export with the order of vertices kept",
                        (long long)t + 1);
    const int64_t count = s->mesh->vertex_count;
    s->vertices[k] = arena_take(a, (size_t)count, sizeof *s->vertices[k]);
    if (!s->vertices[k]) return SPATE_OUT_OF_MEMORY;
    for (int64_t v = 0; v < count; v++) vec_copy(s->vertices[k][v], raw->vertices[kept[v]]);
    return SPATE_OK;
}

void mesh_sequence_finish(mesh_sequence *s) {
    for (int i = 0; i < 3; i++) s->box.min[i] = HUGE_VAL, s->box.max[i] = -HUGE_VAL;
    for (int k = 0; k < s->count; k++) {
        s->way[k] = 0;
        vec_set(s->middle[k], 0, 0, 0);
        for (int64_t v = 0; v < s->mesh->vertex_count; v++) {
            const double *x = s->vertices[k][v];
            double step[3] = {0};
            vec_add_scaled(s->middle[k], s->middle[k], 1 / (double)s->mesh->vertex_count, x);
            if (k + 1 < s->count) vec_sub(step, s->vertices[k + 1][v], x);
            s->way[k] = fmax(s->way[k], vec_length(step));
            for (int i = 0; i < 3; i++) {
                s->box.min[i] = fmin(s->box.min[i], x[i]);
                s->box.max[i] = fmax(s->box.max[i], x[i]);
            }
        }
    }
}
