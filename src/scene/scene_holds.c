/*
 * Reading holds. Of a mesh they fix vertices. Of another body they are grips: colliders that matter
 * may begin in, and that it moves with.
 */
#include "core/vec.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

#include <stdio.h>
#include <string.h>

static const char *const of_words[] = {"all", "roots", "tips", "ends", "rim", NULL};

static const field hold_fields[] = {
    CHOICE_FIELD(mesh_hold, of, HOLD_ALL, of_words,
                 "of a mesh, which vertices: all; of each strand the first two, the last two, or "
                 "both; those on the edge of a cloth or the surface of finite elements"),
    PART_FIELD("shape", "mapping", false,
               "only what begins in it is held; see shapes. Needed with `of: all`"),
    PART_FIELD("motion", "mapping", false,
               "how they move, from where they are at t = 0 on; see motion. Default: not at all"),
    NUMBER_FIELD(mesh_hold, until, "s", HUGE_VAL, 0, ANY_MAX, "when they are let go"),
};
const field_table scene_hold_table = FIELD_TABLE(
    "bodies.hold",
    "Each entry holds vertices of a body with fe, cloth or strands. Of a strand whose first or "
    "last two vertices are held, the end does not turn either: it is clamped. Of another body "
    "(solver mpm) it holds what is in the shape, which moves: there the grid has the motion's "
    "velocity, also for others that come there. Its force has columns like a collider's, named "
    "after the body: BODY_hold_force_x, of further ones BODY_hold_2_force_x.",
    hold_fields, mesh_hold);

/* ---- Which vertices -------------------------------------------------------------------------- */

/* Marks with 1 the ends of edges that one triangle has, or of faces that one element has. */
static spate_status mark_rim(arena *a, const mesh_body *m, int dim, uint8_t *rim) {
    const int corners = m->kind == MESH_CLOTH ? 2 : dim;
    int32_t(*faces)[3];
    int64_t count;
    TRY(mesh_body_skin(a, m, corners, &faces, &count));
    for (int64_t f = 0; f < count; f++)
        for (int k = 0; k < corners; k++) rim[faces[f][k]] = 1;
    return SPATE_OK;
}

static void mark_ends(const mesh_body *m, int of, uint8_t *marked) {
    for (int64_t s = 0; s < m->strand_count; s++)
        for (int k = 0; k < 2; k++) {
            if (of != HOLD_TIPS) marked[m->strand_first[s] + k] = 1;
            if (of != HOLD_ROOTS) marked[m->strand_first[s + 1] - 1 - k] = 1;
        }
}

static spate_status mark_vertices(reader *r, const mesh_hold *h, const mesh_body *m,
                                  uint8_t *marked) {
    memset(marked, h->of == HOLD_ALL, (size_t)m->vertex_count);
    if (h->of == HOLD_RIM) return mark_rim(r->arena, m, r->dim, marked);
    if (h->of != HOLD_ALL) mark_ends(m, h->of, marked);
    return SPATE_OK;
}

/* Gives hold `index` the vertices that no other has; says how many it would have. */
static spate_status hold_vertices(reader *r, mesh_body *m, int index, int64_t *count) {
    const mesh_hold *h = &m->holds[index];
    uint8_t *marked = take(r->ctx, (size_t)m->vertex_count + 1, 1);
    *count = 0;
    spate_status status = marked ? mark_vertices(r, h, m, marked) : SPATE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < m->vertex_count && !status; i++) {
        if (!marked[i] || (h->shape && shape_distance(h->shape, r->dim, m->vertices[i]) > 0))
            continue;
        ++*count;
        if (m->held[i] < 0) m->held[i] = index;
    }
    give(r->ctx, marked);
    return status;
}

/* ---- Where they are taken -------------------------------------------------------------------- */

/* The vertices of a hold as a ball, which is looked at before each of them is. */
typedef struct held_ball {
    const mesh_body *m;
    int index;
    double middle[3], radius;
} held_ball;

static held_ball ball_of(const mesh_body *m, int index) {
    held_ball b = {m, index, {0}, 0};
    int64_t count = 0;
    for (int64_t i = 0; i < m->vertex_count; i++) {
        if (m->held[i] != index) continue;
        vec_add(b.middle, b.middle, m->vertices[i]);
        count++;
    }
    if (count) vec_scale(b.middle, 1 / (double)count, b.middle);
    for (int64_t i = 0; i < m->vertex_count; i++) {
        double arm[3];
        vec_sub(arm, m->vertices[i], b.middle);
        if (m->held[i] == index) b.radius = fmax(b.radius, vec_length(arm));
    }
    return b;
}

/* How far two poses put any of the vertices apart, at most about. */
static double apart(const held_ball *b, const pose *p, const pose *q) {
    double most = 0;
    for (int k = 0; k < 6; k++) {
        double rest[3], x[3], y[3];
        vec_copy(rest, b->middle);
        rest[k / 2] += (k % 2 ? 1 : -1) * b->radius;
        pose_to_world(p, rest, x), pose_to_world(q, rest, y);
        vec_sub(x, x, y);
        most = fmax(most, vec_length(x));
    }
    return most;
}

/* An axis along which x lies within `radius` of a closed side, or beyond it; -1: none. */
static int axis_outside(const domain *d, int dim, const double x[3], double radius) {
    for (int a = 0; a < dim; a++) {
        const double slack = 1e-9 * d->size[a] - radius;
        const double low = d->origin[a] - slack, high = d->origin[a] + d->size[a] + slack;
        if (x[a] < low && d->walls[a][0] != WALL_OPEN) return a;
        if (x[a] > high && d->walls[a][1] != WALL_OPEN) return a;
    }
    return -1;
}

static spate_status check_place(reader *r, const yaml_value *v, const held_ball *b, double t) {
    const domain *d = &r->scene->domain;
    const pose at = motion_pose(&b->m->holds[b->index].motion, t);
    double x[3];
    pose_to_world(&at, b->middle, x);
    if (axis_outside(d, r->dim, x, b->radius) < 0) return SPATE_OK;
    for (int64_t i = 0; i < b->m->vertex_count; i++) {
        if (b->m->held[i] != b->index) continue;
        pose_to_world(&at, b->m->vertices[i], x);
        const int a = axis_outside(d, r->dim, x, 0);
        if (a < 0) continue;
        return reader_fail(r, v,
                           "takes vertex %lld out of the domain: at t = %.4g s its %s is %.6g, the "
                           "domain's from %.6g to %.6g; shorten the way or enlarge the domain",
                           (long long)i, t, scene_axis_words[a], x[a], d->origin[a],
                           d->origin[a] + d->size[a]);
    }
    return SPATE_OK;
}

/* How often a way is looked at in some time: half a cell apart, within bounds. */
static int count_looks(const spate_scene *s, const held_ball *b, double time) {
    const motion *moves = &b->m->holds[b->index].motion;
    double arm[3];
    vec_sub(arm, b->middle, moves->pivot);
    const double way = time * motion_max_speed(moves, vec_length(arm) + b->radius);
    return (int)clamp(ceil(2 * way / s->domain.dx), 16, 4096);
}

/* Vertices go from where they are at rest, without jumps, and stay within closed sides. */
static spate_status check_way(reader *r, const yaml_value *v, const mesh_body *m, int index) {
    const motion *moves = &m->holds[index].motion;
    const double until = m->holds[index].until, jump = 1e-3 * r->scene->domain.dx;
    const held_ball b = ball_of(m, index);
    const motion_key *last = &moves->keys[moves->key_count - 1];
    const pose begin = motion_pose(moves, 0), rest = {.turn = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    motion once = *moves;
    once.repeat = false;
    const pose first = motion_pose(&once, moves->keys[0].t), end = motion_pose(&once, last->t);
    if (apart(&b, &begin, &rest) > jump)
        return reader_fail(
            r, v,
            "is not at rest at t = 0, so the vertices would jump there; let it begin "
            "with {t: 0}, and move from there");
    if (moves->repeat && last->t < until && apart(&b, &first, &end) > jump)
        return reader_fail(r, v,
                           "does not end where it begins, so the vertices would jump when it "
                           "repeats; add a key that takes them back");
    for (int k = 0; k + 1 < moves->key_count; k++) {
        const double from = moves->keys[k].t, to = moves->keys[k + 1].t;
        const int looks = count_looks(r->scene, &b, to - from);
        for (int n = 1; n <= looks; n++) {
            const double t = from + (to - from) * n / looks;
            if (t > 0 && t <= until) TRY(check_place(r, v, &b, fmin(t, nextafter(last->t, 0))));
        }
    }
    return SPATE_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static spate_status check_part(reader *r, const yaml_value *v, const mesh_hold *h,
                               const mesh_body *m) {
    const char *problem = NULL;
    const bool strands = m->kind == MESH_STRANDS;
    if (h->of == HOLD_ALL && !yaml_find(v, "shape"))
        return reader_fail_field(r, v, "shape", "is missing; add it, or `of: roots` or another");
    if (h->of == HOLD_RIM && m->kind != MESH_CLOTH && m->kind != MESH_FE)
        problem = "is of cloth and fe; use roots, tips or ends, or a shape";
    if (h->of != HOLD_ALL && h->of != HOLD_RIM && !strands)
        problem = "is of strands; use a shape, or for a cloth the rim";
    return problem
               ? reader_fail_field(r, reader_at(v, "of"), "of", "'%s' %s", of_words[h->of], problem)
               : SPATE_OK;
}

static spate_status read_hold_shape(reader *r, const yaml_value *given, mesh_hold *h) {
    if (!given) return SPATE_OK;
    int back = reader_enter(r, "shape");
    TRY(scene_read_shape(r, given, &h->shape));
    if (h->shape->kind == SHAPE_POINTS)
        return reader_fail(r, given, "points have no inside; use a solid such as a box");
    TRY(scene_refuse_sequence(r, given, h->shape, "hold"));
    reader_leave(r, back);
    return SPATE_OK;
}

static spate_status read_hold(reader *r, const yaml_value *v, mesh_body *m, int index) {
    mesh_hold *h = &m->holds[index];
    const yaml_value *moves = yaml_find(v, "motion");
    TRY(reader_table(r, v, &scene_hold_table, h));
    h->shape = NULL;
    TRY(check_part(r, v, h, m));
    TRY(read_hold_shape(r, yaml_find(v, "shape"), h));
    if (m->kind) {
        const char *place = h->shape ? "shape" : "of";
        int64_t count;
        TRY(hold_vertices(r, m, index, &count));
        if (count == 0)
            return reader_fail_field(r, reader_at(v, place), place,
                                     "holds none of the body's vertices; move or enlarge it");
    }
    if (!moves) return SPATE_OK;
    int back = reader_enter(r, "motion");
    TRY(scene_read_motion(r, moves, &h->motion));
    if (m->kind) TRY(check_way(r, moves, m, index));
    reader_leave(r, back);
    return SPATE_OK;
}

spate_status scene_read_holds(reader *r, const yaml_value *v, body *b) {
    mesh_body *m = &b->mesh;
    int back = reader_enter(r, "hold");
    TRY(reader_list(r, v));
    if (m->kind == MESH_NONE && !r->scene->solver->meshes)
        return reader_fail(r, v, "solver %s holds no bodies; use solver.type mpm, or a collider",
                           r->scene->solver->name);
    m->holds = arena_take(r->arena, (size_t)v->count + 1, sizeof *m->holds);
    m->held = arena_take(r->arena, (size_t)m->vertex_count + 1, sizeof *m->held);
    if (!m->holds || !m->held) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < m->vertex_count; i++) m->held[i] = -1;
    for (const yaml_entry *e = v->first; e; e = e->next) {
        int entry = reader_enter_index(r, m->hold_count);
        TRY(read_hold(r, e->value, m, m->hold_count));
        m->hold_count++;
        reader_leave(r, entry);
    }
    reader_leave(r, back);
    return SPATE_OK;
}

/* ---- Grips ----------------------------------------------------------------------------------- */

static spate_status make_grip(reader *r, const body *b, int index, collider *out) {
    const mesh_hold *h = &b->mesh.holds[index];
    char name[256];
    const int length = index ? snprintf(name, sizeof name, "%.200s_hold_%d", b->name, index + 1)
                             : snprintf(name, sizeof name, "%.200s_hold", b->name);
    *out = (collider){.name = arena_text(r->arena, name, (size_t)length),
                      .shape = h->shape,
                      .contact = CONTACT_STICKY,
                      .motion = h->motion,
                      .grip = true,
                      .until = isfinite(h->until) ? h->until : 0};
    return out->name ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

/* A grip's name is that of a collider, and of its columns. Colliders are from `first` on. */
static spate_status refuse_taken(reader *r, const yaml_value *root, int first, const char *name) {
    const spate_scene *s = r->scene;
    for (int c = first; c < s->collider_count; c++)
        if (!strcmp(s->colliders[c].name, name))
            return reader_fail_field(r, reader_at(root, "colliders"), "colliders",
                                     "one is named '%s', as a hold of a body is; name it otherwise",
                                     name);
    return SPATE_OK;
}

/* They come before all colliders, so that those keep their places when others are added. */
spate_status scene_add_grips(reader *r, const yaml_value *root) {
    spate_scene *s = r->scene;
    int grips = 0;
    for (int b = 0; b < s->body_count; b++)
        if (!s->bodies[b].mesh.kind) grips += s->bodies[b].mesh.hold_count;
    if (grips == 0) return SPATE_OK;
    collider *all = arena_take(r->arena, (size_t)(s->collider_count + grips) + 1, sizeof *all);
    if (!all) return SPATE_OUT_OF_MEMORY;
    for (int c = 0; c < s->collider_count; c++) all[grips + c] = s->colliders[c];
    s->colliders = all;
    s->collider_count += grips;
    for (int b = 0; b < s->body_count; b++) {
        const body *of = &s->bodies[b];
        for (int h = 0; h < of->mesh.hold_count && !of->mesh.kind; h++) {
            TRY(make_grip(r, of, h, &all[s->grip_count++]));
            TRY(refuse_taken(r, root, grips, all[s->grip_count - 1].name));
        }
    }
    return SPATE_OK;
}
