#include "solver/prescribed.h"

#include "core/vec.h"
#include "scene/motion_fields.h"

static const double pi = 3.14159265358979323846;

/* ---- What a user may set --------------------------------------------------------------------- */

static const char *const kinds[] = {"parts", "enright", "vortex", "zalesak", NULL};
static const char *const axes[] = {"x", "y", "z", NULL};

static const field part_fields[] = {
    LINEAR_MOTION_FIELDS(prescribed_part, axes,
                         "rate of stretching along each axis, from the centre"),
    VECTOR_FIELD(prescribed_part, center, "m", NAN, ANY_MIN, ANY_MAX,
                 "where rotation, strain and shear are at rest; default: the middle of the domain"),
    NUMBER_FIELD(prescribed_part, from, "s", 0, 0, ANY_MAX, "when it begins"),
    NUMBER_FIELD(prescribed_part, until, "s", HUGE_VAL, 0, ANY_MAX, "when it ends"),
    NUMBER_FIELD(prescribed_part, decay, "s", 0, 0, ANY_MAX,
                 "time t0 with which it fades as t0/(t - from + t0); 0: it does not. `strain: [10, "
                 "10, -20], decay: 0.1` is (x, y, -2 z)/(t + 0.1), the exact motion of a disc that "
                 "spreads without gravity"),
};
static const field_table part_table =
    FIELD_TABLE("solver.flow.motion",
                "Each entry is a motion during a time, and all are added up: `motion: [{rotate: 2, "
                "until: 1}, {strain: [-1, 1], from: 1}]`.",
                part_fields, prescribed_part);

static const field flow_fields[] = {
    CHOICE_FIELD(prescribed_flow, field, PRESCRIBED_PARTS, kinds,
                 "the velocity: what `motion` adds up to, Enright's deformation of a sphere (3D), "
                 "a vortex in a box, or Zalesak's rotation"),
    NUMBER_FIELD(prescribed_flow, period, "s", NAN, SMALLEST, ANY_MAX,
                 "time T of the factor cos(pi t/T), after which all is back at the start, or of a "
                 "turn of zalesak; default: 3 for enright, 8 for vortex, 628 for zalesak, none "
                 "for parts"),
    NUMBER_FIELD(prescribed_flow, reverse, "s", HUGE_VAL, 0, ANY_MAX,
                 "when all begins to run backwards: u(t) = -u(2 reverse - t)"),
    VECTOR_FIELD(prescribed_flow, corner, "m", NAN, ANY_MIN, ANY_MAX,
                 "corner of the box of enright, vortex and zalesak; default: the domain's"),
    NUMBER_FIELD(prescribed_flow, length, "m", NAN, SMALLEST, ANY_MAX,
                 "edge of that box; default: the domain's along x"),
    LIST_FIELD(prescribed_flow, motion, &part_table,
               "the motions of `field: parts`; see solver.flow.motion"),
};
const field_table prescribed_table =
    FIELD_TABLE("solver.flow",
                "A velocity that is given instead of computed, for tests of advection, sheets and "
                "surfaces: `flow: {field: enright}`. Particles move through the exact field with "
                "`advection`; there is no grid, no pressure and no gravity, and colliders are not "
                "allowed. The time step lets the fastest particle cross `cfl` cells.",
                flow_fields, prescribed_flow);

static bool check_part(const prescribed_part *p, int dim, field_report *report) {
    if (p->shear != 0 && p->along == p->across)
        return field_complain(report, "flow.motion",
                              "a shear moves along the axis that it grows across; choose another, "
                              "or use strain");
    if (dim == 2 && p->shear != 0 && (p->along == 2 || p->across == 2))
        return field_complain(report, "flow.motion",
                              "a shear along or across z in a 2D scene; use x or y");
    if (p->until <= p->from)
        return field_complain(report, "flow.motion",
                              "a part ends at %.10g s, not after its begin at %.10g s; raise "
                              "until or lower from",
                              p->until, p->from);
    return true;
}

bool prescribed_check(const prescribed_flow *flow, int dim, field_report *report) {
    const prescribed_part *parts = flow->motion.items;
    if (flow->field == PRESCRIBED_ENRIGHT && dim == 2)
        return field_complain(report, "flow.field", "enright is a 3D field; use vortex in 2D");
    if (flow->field == PRESCRIBED_PARTS && !flow->motion.count)
        return field_complain(report, "flow.motion",
                              "nothing moves; add motion: [{translate: ...}], or choose field: "
                              "enright, vortex or zalesak");
    if (flow->field != PRESCRIBED_PARTS && flow->motion.count)
        return field_complain(report, "flow.motion",
                              "is for `field: parts`; leave it out, or leave out field");
    for (int i = 0; i < flow->motion.count; i++)
        if (!check_part(&parts[i], dim, report)) return false;
    return true;
}

/* ---- Time ------------------------------------------------------------------------------------ */

static void meet_event(double event, double t, double *next) {
    if (event > t + 1e-12 * fabs(t) && event < *next) *next = event;
}

prescribed prescribed_from(const prescribed_flow *flow, const spate_scene *scene, double t) {
    static const double periods[] = {HUGE_VAL, 3, 8, 628};
    const prescribed_part *parts = flow->motion.items;
    prescribed p = {.flow = flow, .dim = scene->dim, .next = HUGE_VAL};
    p.length = isnan(flow->length) ? scene->domain.size[0] : flow->length;
    p.period = isnan(flow->period) ? periods[flow->field] : flow->period;
    vec_copy(p.corner, isnan(flow->corner[0]) ? scene->domain.origin : flow->corner);
    for (int a = 0; a < scene->dim; a++)
        p.middle[a] = scene->domain.origin[a] + 0.5 * scene->domain.size[a];
    meet_event(flow->reverse, t, &p.next);
    for (int i = 0; i < flow->motion.count; i++) {
        meet_event(parts[i].from, t, &p.next), meet_event(parts[i].until, t, &p.next);
        if (!(flow->reverse < HUGE_VAL)) continue;
        meet_event(2 * flow->reverse - parts[i].from, t, &p.next);
        meet_event(2 * flow->reverse - parts[i].until, t, &p.next);
    }
    p.inside = p.next < HUGE_VAL ? 0.5 * (t + p.next) : t + 1;
    return p;
}

/* The time that the field runs at: backwards after `reverse`. */
static double field_time(const prescribed *p, double t, double *sign) {
    const bool back = p->inside > p->flow->reverse;
    *sign = back ? -1 : 1;
    return back ? 2 * p->flow->reverse - t : t;
}

/* ---- The fields ------------------------------------------------------------------------------ */

static void add_part(const prescribed *p, const prescribed_part *part, const double x[3], double t,
                     double v[3]) {
    double arm[3], turn[3], sum[3];
    vec_sub(arm, x, isnan(part->center[0]) ? p->middle : part->center);
    vec_cross(turn, part->rotate, arm);
    vec_add(sum, part->translate, turn);
    for (int a = 0; a < p->dim; a++) sum[a] += part->strain[a] * arm[a];
    sum[part->along] += part->shear * arm[part->across];
    const double fade = part->decay > 0 ? part->decay / (t - part->from + part->decay) : 1;
    vec_add_scaled(v, v, fade, sum);
}

static void add_parts(const prescribed *p, const double x[3], double t, double v[3]) {
    const prescribed_part *parts = p->flow->motion.items;
    double sign;
    const double inside = field_time(p, p->inside, &sign);
    for (int i = 0; i < p->flow->motion.count; i++)
        if (inside >= parts[i].from && inside < parts[i].until) add_part(p, &parts[i], x, t, v);
}

/* sin^2(pi x) and sin(2 pi x). */
typedef struct wave {
    double square, twice;
} wave;
static wave wave_at(double x) {
    const double s = sin(pi * x), c = cos(pi * x);
    return (wave){s * s, 2 * s * c};
}

static void field_at(const prescribed *p, const double x[3], double t, double v[3]) {
    double r[3] = {0};
    vec_set(v, 0, 0, 0);
    if (p->flow->field == PRESCRIBED_PARTS) {
        add_parts(p, x, t, v);
        return;
    }
    for (int a = 0; a < p->dim; a++) r[a] = (x[a] - p->corner[a]) / p->length;
    const double L = p->length, turn = 2 * pi / p->period;
    if (p->flow->field == PRESCRIBED_ZALESAK) {
        vec_set(v, -turn * L * (r[1] - 0.5), turn * L * (r[0] - 0.5), 0);
        return;
    }
    const wave a = wave_at(r[0]), b = wave_at(r[1]);
    if (p->flow->field == PRESCRIBED_VORTEX) {
        vec_set(v, -L * a.square * b.twice, L * a.twice * b.square, 0);
        return;
    }
    const wave c = wave_at(r[2]);
    vec_set(v, 2 * L * a.square * b.twice * c.twice, -L * a.twice * b.square * c.twice,
            -L * a.twice * b.twice * c.square);
}

void prescribed_amplitude(const prescribed *p, const double x[3], double t, double v[3]) {
    double sign;
    const double then = field_time(p, t, &sign);
    field_at(p, x, then, v);
    vec_scale(v, sign, v);
}

void prescribed_velocity(const prescribed *p, const double x[3], double t, double v[3]) {
    double sign;
    const double then = field_time(p, t, &sign);
    field_at(p, x, then, v);
    const bool swings = p->flow->field != PRESCRIBED_ZALESAK && p->period < HUGE_VAL;
    vec_scale(v, swings ? sign * cos(pi * then / p->period) : sign, v);
}
