/* Reading shapes and motions of a scene, with the checks that a table cannot express. */
#include "core/vec.h"
#include "scene/mesh.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"
#include "scene/stretch.h"

#include <string.h>

static const double degree = 3.14159265358979323846 / 180;

spate_status scene_read_rotation(reader *r, const yaml_value *v, double axis[3], double *angle) {
    double numbers[4] = {0, 0, 1, 0};
    if (r->dim == 2) {
        if (v->kind == YAML_LIST)
            return reader_fail(r, v, "a list in a 2D scene; give one angle in degrees");
        TRY(reader_number(r, v, &numbers[3]));
    } else {
        TRY(reader_numbers(r, v, 4, numbers));
    }
    vec_copy(axis, numbers);
    *angle = numbers[3] * degree;
    if (!vec_normalise(axis) || !isfinite(vec_length(axis)))
        return reader_fail(r, v, "the axis has no direction; give one such as [0, 1, 0, 90]");
    return SPATE_OK;
}

/* ---- Single shapes --------------------------------------------------------------------------- */

static spate_status check_box(reader *r, const yaml_value *v, shape *s) {
    double shortest = HUGE_VAL;
    for (int i = 0; i < r->dim; i++) {
        if (!(s->b[i] > s->a[i]))
            return reader_fail_field(r, reader_at(v, "max"), "max",
                                     "%s is %.10g, not above min (%.10g); swap or change them",
                                     scene_axis_words[i], s->b[i], s->a[i]);
        shortest = fmin(shortest, s->b[i] - s->a[i]);
    }
    if (s->kind == SHAPE_ROUNDED_BOX && s->radius > shortest / 2)
        return reader_fail_field(r, reader_at(v, "radius"), "radius",
                                 "%.10g is more than half the shortest side; use at most %.10g",
                                 s->radius, shortest / 2);
    return SPATE_OK;
}

static spate_status check_rod(reader *r, const yaml_value *v, shape *s) {
    double along[3];
    vec_sub(along, s->b, s->a);
    if (vec_length(along) > 0) return SPATE_OK;
    return reader_fail_field(r, reader_at(v, "to"), "to", "is the same point as from; move one");
}

static spate_status check_torus(reader *r, const yaml_value *v, shape *s) {
    const yaml_value *axis = yaml_find(v, "axis");
    if (axis && r->dim == 2)
        return reader_fail_field(r, axis, "axis", "has no meaning in a 2D scene; remove it");
    if (!axis) vec_set(s->b, 0, r->dim == 3, r->dim == 2);
    if (!vec_normalise(s->b))
        return reader_fail_field(r, axis, "axis", "has no direction; give one such as [0, 1, 0]");
    if (s->thickness < s->radius) return SPATE_OK;
    return reader_fail_field(r, reader_at(v, "thickness"), "thickness",
                             "%.10g closes the hole; use less than the radius (%.10g)",
                             s->thickness, s->radius);
}

static spate_status check_plane(reader *r, const yaml_value *v, shape *s) {
    if (vec_normalise(s->b)) return SPATE_OK;
    return reader_fail_field(r, reader_at(v, "normal"), "normal",
                             "has no direction; give one such as [0, 1, 0]");
}

static spate_status read_points(reader *r, const yaml_value *v, shape *s) {
    TRY(reader_list(r, v));
    int least = s->kind == SHAPE_POLYGON ? 3 : 1;
    if (v->count < least) return reader_fail(r, v, "%d points; give at least %d", v->count, least);
    s->points = arena_take(r->arena, (size_t)v->count, sizeof *s->points);
    if (!s->points) return SPATE_OUT_OF_MEMORY;
    for (const yaml_entry *e = v->first; e; e = e->next) {
        int back = reader_enter_index(r, (int)s->point_count);
        TRY(reader_vector(r, e->value, s->points[s->point_count++]));
        reader_leave(r, back);
    }
    return SPATE_OK;
}

static spate_status read_polygon(reader *r, const yaml_value *v, shape *s) {
    if (r->dim == 3) return reader_fail(r, v, "is a shape of 2D scenes; in 3D use a box or a mesh");
    TRY(read_points(r, v, s));
    double area = 0;
    for (int64_t i = 0; i < s->point_count; i++) {
        const double *p = s->points[i], *q = s->points[(i + 1) % s->point_count];
        area += (p[0] * q[1] - q[0] * p[1]) / 2;
    }
    if (area != 0) return SPATE_OK;
    return reader_fail(r, v, "its corners enclose nothing; give them in order round the outline");
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

static spate_status parse_mesh(arena *a, const char *name, const char *bytes, size_t length,
                               void **out) {
    mesh *m;
    TRY(mesh_read(a, name, bytes, length, &m));
    *out = m;
    return SPATE_OK;
}

static spate_status read_mesh(reader *r, const yaml_value *mapping, shape *s) {
    void *content;
    const yaml_value *file = yaml_find(mapping, "file");
    if (yaml_find(mapping, "frames")) return scene_read_sequence(r, mapping, s);
    if (file && file->kind == YAML_WORD && strchr(file->text, '#'))
        return reader_fail_field(r, file, "file",
                                 "# stands for numbers of a sequence; add frames: {fps: 25}, or "
                                 "name one file");
    TRY(scene_read_file(r, mapping, s->outside, parse_mesh, &content));
    s->mesh = content;
    return SPATE_OK;
}

/* ---- The tree of shapes ---------------------------------------------------------------------- */

static spate_status read_children(reader *r, const yaml_value *v, shape *s) {
    TRY(reader_list(r, v));
    if (v->count == 0) return reader_fail(r, v, "has no shapes; give at least one");
    s->children = arena_take(r->arena, (size_t)v->count, sizeof(shape *));
    if (!s->children) return SPATE_OUT_OF_MEMORY;
    for (const yaml_entry *e = v->first; e; e = e->next) {
        int back = reader_enter_index(r, s->child_count);
        shape **child = &s->children[s->child_count++];
        TRY(scene_read_shape(r, e->value, child));
        TRY(scene_refuse_sequence(r, e->value, *child, "part of another shape"));
        if ((*child)->kind == SHAPE_POINTS)
            return reader_fail(r, e->value, "points have no inside to combine; make them a body");
        reader_leave(r, back);
    }
    return SPATE_OK;
}

static spate_status read_kind(reader *r, const shape_declaration *d, const yaml_value *v,
                              shape *s) {
    if (d->table.count > 0) TRY(reader_table(r, v, &d->table, s));
    switch (d->kind) {
    case SHAPE_POINTS: return read_points(r, v, s);
    case SHAPE_POLYGON: return read_polygon(r, v, s);
    case SHAPE_BOX:
    case SHAPE_ROUNDED_BOX: return check_box(r, v, s);
    case SHAPE_SPHERE:
    case SHAPE_ELLIPSOID: return SPATE_OK;
    case SHAPE_CYLINDER:
    case SHAPE_CAPSULE: return check_rod(r, v, s);
    case SHAPE_TORUS: return check_torus(r, v, s);
    case SHAPE_PLANE: return check_plane(r, v, s);
    case SHAPE_MESH: return read_mesh(r, v, s);
    case SHAPE_UNION:
    case SHAPE_DIFFERENCE:
    case SHAPE_INTERSECTION: return read_children(r, v, s);
    }
    return SPATE_OK;
}

/* The one kind that a shape's mapping names. */
static spate_status find_kind(reader *r, const yaml_value *v, const shape_declaration **out,
                              const yaml_value **value) {
    *out = NULL;
    for (const yaml_entry *e = v->first; e; e = e->next)
        for (int i = 0; i < SHAPE_DECLARATIONS; i++) {
            if (strcmp(e->key->text, scene_shapes[i].name) != 0) continue;
            if (*out)
                return reader_fail(r, e->key,
                                   "both '%s' and '%s'; keep one, or make a union of "
                                   "them",
                                   (*out)->name, e->key->text);
            *out = &scene_shapes[i];
            *value = e->value;
        }
    if (*out) return SPATE_OK;
    return reader_fail(r, v,
                       "no kind of shape; add one such as sphere: {center: ..., radius: ...}");
}

/* One factor is part of the placement; one for each axis changes the shape itself. */
static spate_status scale_shape(reader *r, const yaml_value *v, const number_list *scale,
                                shape *s) {
    s->scale = scale->values[0];
    if (scale->count == 1) return SPATE_OK;
    int back = reader_enter(r, "scale");
    if (s->sequence)
        return reader_fail(r, v, "%d numbers; a mesh that deforms has one factor", scale->count);
    if (scale->count != r->dim)
        return reader_fail(r, v, "%d numbers; give one, or one for each of the %d axes",
                           scale->count, r->dim);
    double by[3][3];
    const char *why = NULL;
    mat_identity(by);
    for (int i = 0; i < r->dim; i++) by[i][i] = scale->values[i];
    TRY(shape_stretch(r->arena, s, r->dim, by, &why));
    if (why) return reader_fail(r, v, "%s; use one factor, or a mesh of the stretched shape", why);
    reader_leave(r, back);
    return SPATE_OK;
}

spate_status scene_read_shape(reader *r, const yaml_value *v, shape **out) {
    shape_placement placement;
    const shape_declaration *kind;
    const yaml_value *value = NULL, *rotate;
    TRY(reader_table(r, v, &scene_shape_table, &placement));
    TRY(find_kind(r, v, &kind, &value));
    shape *s = shape_create(r->arena, kind->kind);
    if (!s) return SPATE_OUT_OF_MEMORY;
    if ((rotate = yaml_find(v, "rotate"))) {
        double axis[3], angle;
        int back = reader_enter(r, "rotate");
        TRY(scene_read_rotation(r, rotate, axis, &angle));
        reader_leave(r, back);
        mat_rotation(s->turn, axis, angle);
    }
    int back = reader_enter(r, kind->name);
    TRY(read_kind(r, kind, value, s));
    reader_leave(r, back);
    vec_copy(s->move, placement.translate);
    *out = s;
    return scale_shape(r, yaml_find(v, "scale"), &placement.scale, s);
}

/* ---- Motion ---------------------------------------------------------------------------------- */

static spate_status read_key(reader *r, const yaml_value *v, const motion_key *before,
                             motion_key *key) {
    const yaml_value *rotate = NULL;
    TRY(reader_table(r, v, &scene_motion_key_table, key));
    if (before && !(key->t > before->t))
        return reader_fail_field(r, reader_at(v, "t"), "t",
                                 "%.10g is not after the key before (%.10g); put keys in order",
                                 key->t, before->t);
    if (!yaml_find(v, "translate"))
        for (int i = 0; i < 3; i++) key->translate[i] = before ? before->translate[i] : 0;
    if ((rotate = yaml_find(v, "rotate"))) {
        int back = reader_enter(r, "rotate");
        TRY(scene_read_rotation(r, rotate, key->axis, &key->angle));
        reader_leave(r, back);
    } else if (before) {
        vec_copy(key->axis, before->axis);
        key->angle = before->angle;
    } else {
        vec_set(key->axis, 0, 0, 1);
    }
    return SPATE_OK;
}

/* Keys before the first rotation take its axis, so that they turn about it from the start. */
static void spread_axis(const yaml_value *keys, motion *m) {
    int i = 0;
    for (const yaml_entry *e = keys->first; e; e = e->next, i++) {
        if (!yaml_find(e->value, "rotate")) continue;
        for (int j = 0; j < i; j++) vec_copy(m->keys[j].axis, m->keys[i].axis);
        return;
    }
}

spate_status scene_read_motion(reader *r, const yaml_value *v, motion *out) {
    TRY(reader_table(r, v, &scene_motion_table, out));
    const yaml_value *keys = yaml_find(v, "keys");
    int back = reader_enter(r, "keys");
    TRY(reader_list(r, keys));
    if (keys->count == 0) return reader_fail(r, keys, "has no keys; add one such as {t: 0}");
    out->keys = arena_take(r->arena, (size_t)keys->count, sizeof *out->keys);
    if (!out->keys) return SPATE_OUT_OF_MEMORY;
    for (const yaml_entry *e = keys->first; e; e = e->next) {
        int i = out->key_count;
        int inner = reader_enter_index(r, i);
        TRY(read_key(r, e->value, i > 0 ? &out->keys[i - 1] : NULL, &out->keys[i]));
        out->key_count++;
        reader_leave(r, inner);
    }
    spread_axis(keys, out);
    reader_leave(r, back);
    return SPATE_OK;
}
