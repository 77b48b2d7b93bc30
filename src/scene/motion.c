/*
 * Poses between keys. Translation and the angle about a common axis are interpolated as numbers,
 * linearly or by cubic Hermite segments with Catmull-Rom tangents, so whole turns count; velocity
 * and spin are the derivatives of those very formulas. Where two keys turn about different axes the
 * shortest rotation from one to the other runs at a constant rate (Shoemake 1985, slerp).
 *
 * Tangents at the two ends are zero, because the pose is held beyond them; with `repeat` the ends
 * are joined and share one tangent.
 */
#include "scene/motion.h"
#include "core/vec.h"

typedef struct quaternion {
    double w, v[3];
} quaternion;

static quaternion quaternion_of(const motion_key *k) {
    quaternion q = {.w = cos(k->angle / 2)};
    vec_scale(q.v, sin(k->angle / 2), k->axis);
    return q;
}

/* Rotation vector (axis times angle, at most half a turn) that leads from pose a to pose b. */
static void rotation_between(const motion_key *a, const motion_key *b, double out[3]) {
    quaternion p = quaternion_of(b), q = quaternion_of(a), r;
    vec_scale(q.v, -1, q.v);
    r.w = p.w * q.w - vec_dot(p.v, q.v);
    vec_cross(r.v, p.v, q.v);
    for (int i = 0; i < 3; i++) r.v[i] += p.w * q.v[i] + q.w * p.v[i];
    double sine = vec_length(r.v), angle = 2 * atan2(sine, fabs(r.w));
    vec_scale(out, sine > 0 ? copysign(angle / sine, r.w) : 0, r.v);
}

/* ---- One number between two keys
 * ------------------------------------------------------------------ */

/* A cubic from p to q in h seconds with slopes a and b at its ends. */
typedef struct hermite {
    double p, q, a, b, h;
} hermite;

static double hermite_value(const hermite *c, double s) {
    double r = 1 - s;
    return c->p * r * r * (1 + 2 * s) + c->q * s * s * (1 + 2 * r) +
           c->h * s * r * (c->a * r - c->b * s);
}

static double hermite_slope(const hermite *c, double s) {
    double r = 1 - s;
    return 6 * s * r * (c->q - c->p) / c->h + c->a * r * (1 - 3 * s) + c->b * s * (1 - 3 * r);
}

/* Three numbers whose range the slope does not leave from s to s + step: it is a quadratic there,
 * and these are its Bezier points. */
static void hermite_slope_hull(const hermite *c, double s, double step, double hull[3]) {
    hull[0] = hermite_slope(c, s);
    hull[2] = hermite_slope(c, s + step);
    hull[1] = 2 * hermite_slope(c, s + step / 2) - (hull[0] + hull[2]) / 2;
}

/* ---- Segments
 * --------------------------------------------------------------------------------------- */

/* From key i to key i + 1: translation by component, and the angle about `axis`, or else a rotation
 * vector from key i on. */
typedef struct segment {
    hermite move[3];
    hermite angle;
    double axis[3];
    bool slerp;
    double rotation[3];
} segment;

/* The angle of a key about `axis`; false when it turns about another one. */
static bool angle_about(const motion_key *k, const double axis[3], double *angle) {
    *angle = 0;
    if (k->angle == 0) return true;
    double across[3];
    vec_cross(across, k->axis, axis);
    *angle = vec_dot(k->axis, axis) < 0 ? -k->angle : k->angle;
    return vec_length(across) < 1e-9;
}

static int segment_count(const motion *m) { return m->key_count - 1; }

/* The segment before (-1) or after (+1) segment i, or -1 where the pose is held. */
static int neighbour(const motion *m, int i, int step) {
    int j = i + step, n = segment_count(m);
    if (j >= 0 && j < n) return j;
    return m->repeat ? (j + n) % n : -1;
}

/* What a number (translation component 0-2, or 3: the angle about `axis`) gains over segment i. */
static bool gain(const motion *m, int i, int component, const double axis[3], double *change) {
    const motion_key *k = &m->keys[i];
    if (component < 3) {
        *change = k[1].translate[component] - k[0].translate[component];
        return true;
    }
    double from, to;
    bool same = angle_about(&k[0], axis, &from) && angle_about(&k[1], axis, &to);
    *change = same ? to - from : 0;
    return same;
}

static double span(const motion *m, int i) { return m->keys[i + 1].t - m->keys[i].t; }

/* Slope at the side of segment i that faces segment j. */
static double tangent(const motion *m, int i, int j, int component, const double axis[3]) {
    double own, other;
    gain(m, i, component, axis, &own);
    if (m->interpolation == MOTION_LINEAR) return own / span(m, i);
    if (j < 0) return 0;
    /* beside a rotation about another axis the angle goes straight on */
    if (!gain(m, j, component, axis, &other)) return own / span(m, i);
    return (own + other) / (span(m, i) + span(m, j));
}

static hermite curve(const motion *m, int i, int component, const double axis[3], double from) {
    hermite c = {.p = from, .h = span(m, i)};
    double change;
    gain(m, i, component, axis, &change);
    c.q = from + change;
    c.a = tangent(m, i, neighbour(m, i, -1), component, axis);
    c.b = tangent(m, i, neighbour(m, i, +1), component, axis);
    return c;
}

static segment segment_of(const motion *m, int i) {
    segment s = {.slerp = false};
    const motion_key *from = &m->keys[i], *to = from + 1;
    vec_copy(s.axis, from->angle != 0 ? from->axis : to->axis);
    for (int c = 0; c < 3; c++) s.move[c] = curve(m, i, c, s.axis, from->translate[c]);
    double start, end;
    if (angle_about(from, s.axis, &start) && angle_about(to, s.axis, &end)) {
        s.angle = curve(m, i, 3, s.axis, start);
    } else {
        s.slerp = true;
        rotation_between(from, to, s.rotation);
    }
    return s;
}

/* ---- Poses
 * ------------------------------------------------------------------------------------------- */

static pose pose_of_key(const motion *m, const motion_key *k) {
    pose p = {.velocity = {0, 0, 0}};
    vec_copy(p.pivot, m->pivot);
    mat_identity(p.turn);
    if (!k) return p;
    vec_copy(p.move, k->translate);
    mat_rotation(p.turn, k->axis, k->angle);
    return p;
}

static pose pose_within(const motion *m, int i, double t) {
    segment s = segment_of(m, i);
    double h = span(m, i), share = (t - m->keys[i].t) / h;
    pose p = pose_of_key(m, &m->keys[i]);
    for (int c = 0; c < 3; c++) {
        p.move[c] = hermite_value(&s.move[c], share);
        p.velocity[c] = hermite_slope(&s.move[c], share);
    }
    if (!s.slerp) {
        mat_rotation(p.turn, s.axis, hermite_value(&s.angle, share));
        vec_scale(p.spin, hermite_slope(&s.angle, share), s.axis);
        return p;
    }
    double axis[3], turn[3][3], angle = vec_length(s.rotation);
    vec_copy(axis, s.rotation);
    if (!vec_normalise(axis)) return p;
    mat_rotation(turn, axis, share * angle);
    mat_multiply(p.turn, (const double(*)[3])turn, (const double(*)[3])p.turn);
    vec_scale(p.spin, 1 / h, s.rotation);
    return p;
}

pose motion_pose(const motion *m, double t) {
    if (m->key_count == 0) return pose_of_key(m, NULL);
    const motion_key *first = &m->keys[0], *last = &m->keys[m->key_count - 1];
    if (t < first->t || !(last->t > first->t)) return pose_of_key(m, first);
    if (m->repeat) t = first->t + fmod(t - first->t, last->t - first->t);
    if (t >= last->t) return pose_of_key(m, m->repeat ? first : last);
    /* the last key that is not later than t */
    int low = 0, high = m->key_count - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (m->keys[middle].t <= t)
            low = middle;
        else
            high = middle;
    }
    return pose_within(m, low, t);
}

void pose_to_rest(const pose *p, const double x[3], double rest[3]) {
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = x[i] - p->pivot[i] - p->move[i];
    mat_apply_transposed(d, p->turn, d);
    vec_add(rest, d, p->pivot);
}

void pose_to_world(const pose *p, const double rest[3], double x[3]) {
    double d[3];
    vec_sub(d, rest, p->pivot);
    mat_apply(d, p->turn, d);
    for (int i = 0; i < 3; i++) x[i] = d[i] + p->pivot[i] + p->move[i];
}

void pose_turn(const pose *p, const double rest_vector[3], double world_vector[3]) {
    mat_apply(world_vector, p->turn, rest_vector);
}

void pose_velocity(const pose *p, const double x[3], double v[3]) {
    double d[3], turning[3];
    for (int i = 0; i < 3; i++) d[i] = x[i] - p->pivot[i] - p->move[i];
    vec_cross(turning, p->spin, d);
    vec_add(v, p->velocity, turning);
}

/* Over the part of a segment from s to s + step. */
static double part_max_speed(const segment *g, double s, double step, double radius) {
    double hull[4][3] = {{0}}, speed = 0, spin = 0;
    for (int c = 0; c < 3; c++) hermite_slope_hull(&g->move[c], s, step, hull[c]);
    if (g->slerp)
        spin = vec_length(g->rotation) / g->move[0].h;
    else
        hermite_slope_hull(&g->angle, s, step, hull[3]);
    for (int k = 0; k < 3; k++) {
        double v[3] = {hull[0][k], hull[1][k], hull[2][k]};
        speed = fmax(speed, vec_length(v));
        spin = fmax(spin, fabs(hull[3][k]));
    }
    return speed + spin * radius;
}

double motion_max_speed(const motion *m, double radius) {
    enum { PARTS = 8 };
    double fastest = 0;
    for (int i = 0; i < segment_count(m); i++) {
        segment g = segment_of(m, i);
        for (int k = 0; k < PARTS; k++)
            fastest = fmax(fastest, part_max_speed(&g, (double)k / PARTS, 1.0 / PARTS, radius));
    }
    return fastest;
}
