/* A camera between its keys. */
#include "scene/camera.h"
#include "core/vec.h"

/* Of a camera that a scene places, and of the view of the whole domain, which stands farther off.
 * */
static const double placed_fov = 35, whole_fov = 30;

static void follow(const motion *m, double t, const double rest[3], double out[3]) {
    if (m->key_count)
        vec_copy(out, motion_pose(m, t).move);
    else
        vec_copy(out, rest);
}

camera_pose camera_at(const camera *c, double t) {
    camera_pose p = {.given = c->given};
    const double fallback = c->given ? placed_fov : whole_fov;
    const double lens[3] = {c->fov > 0 ? c->fov : fallback};
    double angle[3];
    follow(&c->path, t, c->from, p.from);
    follow(&c->aim, t, c->to, p.to);
    follow(&c->lens, t, lens, angle);
    p.fov = angle[0];
    p.orbits = c->orbit != 0 && c->orbit_time > 0;
    if (p.orbits) p.orbit = c->orbit * (M_PI / 180) * t / c->orbit_time;
    return p;
}
