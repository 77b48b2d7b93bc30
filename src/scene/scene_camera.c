/* Reading the camera of a scene and its keys. */
#include "core/vec.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

static bool is_given(const double place[3]) { return !isnan(place[0]); }

/* A flat picture has corners, one of the other kind a line of sight. */
static spate_status check_view(reader *r, const yaml_value *v, const double from[3],
                               const double to[3]) {
    double view[3];
    const yaml_value *at = yaml_find(v, "to");
    if (!at) at = yaml_find(v, "from");
    if (!at) at = v;
    vec_sub(view, to, from);
    if (r->dim == 2 && !(view[0] != 0 && view[1] != 0))
        return reader_fail_field(r, at, "to",
                                 "no area lies between it and from; in 2D they are opposite "
                                 "corners of what is shown");
    if (!(vec_length(view) > 0))
        return reader_fail_field(r, at, "to", "is where the camera stands; move it");
    return SPATE_OK;
}

/* A flat picture has no angle of view, and nothing to circle. */
static spate_status refuse_in_2d(reader *r, const yaml_value *v, const char *name) {
    const yaml_value *given = yaml_find(v, name);
    if (!given || r->dim == 3) return SPATE_OK;
    return reader_fail_field(r, given, name,
                             "a 2D picture is flat; leave it out, from and to are the corners of "
                             "what is shown");
}

/* Both ends of the view, or neither. */
static spate_status check_ends(reader *r, const yaml_value *v, const camera_key *k, bool *given) {
    *given = is_given(k->from) && is_given(k->to);
    if (*given) return check_view(r, v, k->from, k->to);
    if (!is_given(k->from) && !is_given(k->to)) return SPATE_OK;
    return reader_fail_field(r, v, is_given(k->from) ? "to" : "from", "is missing; add it (%s)",
                             r->dim == 2 ? "the opposite corner of what is shown"
                                         : "a camera stands at from and looks at to");
}

/* What a key does not say is as it was before. */
static spate_status read_key(reader *r, const yaml_value *v, const camera_key *before,
                             bool is_first, camera_key *key) {
    TRY(reader_table(r, v, &scene_camera_key_table, key));
    TRY(refuse_in_2d(r, v, "fov"));
    if (!is_first && !(key->t > before->t))
        return reader_fail_field(r, reader_at(v, "t"), "t",
                                 "%.10g is not after the key before (%.10g); put keys in order",
                                 key->t, before->t);
    if (!is_given(key->from)) vec_copy(key->from, before->from);
    if (!is_given(key->to)) vec_copy(key->to, before->to);
    if (isnan(key->fov)) key->fov = before->fov;
    bool given, was = is_given(before->from);
    TRY(check_ends(r, v, key, &given));
    if (!is_first && given != was)
        return reader_fail_field(r, v, "from",
                                 "the keys before have no from and to; give them in the first key");
    return SPATE_OK;
}

static spate_status take_keys(reader *r, int count, motion *m) {
    m->keys = arena_take(r->arena, (size_t)count, sizeof *m->keys);
    m->key_count = count;
    return m->keys ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static void set_key(motion *m, int i, double t, const double place[3]) {
    if (!m->key_count) return;
    m->keys[i] = (motion_key){.t = t, .axis = {0, 0, 1}};
    vec_copy(m->keys[i].translate, place);
}

/* Keys as the motions of the two ends, and of the angle where any of them says one. */
static spate_status spread_keys(reader *r, const camera_key *keys, int count, camera *c) {
    c->given = is_given(keys[0].from);
    c->aim.interpolation = c->lens.interpolation = c->path.interpolation;
    if (c->given) TRY(take_keys(r, count, &c->path));
    if (c->given) TRY(take_keys(r, count, &c->aim));
    const double usual = camera_at(&(camera){.given = c->given}, 0).fov;
    if (!isnan(keys[count - 1].fov)) TRY(take_keys(r, count, &c->lens));
    for (int i = 0; i < count; i++) {
        const double lens[3] = {isnan(keys[i].fov) ? usual : keys[i].fov};
        set_key(&c->path, i, keys[i].t, keys[i].from);
        set_key(&c->aim, i, keys[i].t, keys[i].to);
        set_key(&c->lens, i, keys[i].t, lens);
    }
    return SPATE_OK;
}

static spate_status read_keys(reader *r, const yaml_value *v, camera *c) {
    TRY(reader_list(r, v));
    if (v->count == 0) return reader_fail(r, v, "has no keys; add one such as {t: 0}");
    camera_key *keys = arena_take(r->arena, (size_t)v->count, sizeof *keys),
               before = {.fov = c->fov};
    if (!keys) return SPATE_OUT_OF_MEMORY;
    vec_copy(before.from, c->from);
    vec_copy(before.to, c->to);
    int i = 0;
    for (const yaml_entry *e = v->first; e; e = e->next, i++) {
        int back = reader_enter_index(r, i);
        TRY(read_key(r, e->value, &before, i == 0, &keys[i]));
        before = keys[i];
        reader_leave(r, back);
    }
    return spread_keys(r, keys, i, c);
}

spate_status scene_read_camera(reader *r, const yaml_value *v) {
    camera *c = &r->scene->camera;
    TRY(reader_table(r, v, &scene_camera_table, c));
    TRY(refuse_in_2d(r, v, "fov"));
    TRY(refuse_in_2d(r, v, "orbit"));
    c->orbit_time = r->scene->duration;
    const yaml_value *keys = yaml_find(v, "keys");
    if (keys) {
        int back = reader_enter(r, "keys");
        TRY(read_keys(r, keys, c));
        reader_leave(r, back);
        return SPATE_OK;
    }
    camera_key rest = {.fov = c->fov};
    vec_copy(rest.from, c->from);
    vec_copy(rest.to, c->to);
    return check_ends(r, v, &rest, &c->given);
}
