/*
 * Velocities that are given instead of computed: tests of advection, of sheets and of surfaces.
 *
 *    enright  (3D) x, y, z in lengths L of the box from its corner; u in L/s:
 *                u =  2 sin^2(pi x) sin(2 pi y) sin(2 pi z)
 *                v = -sin(2 pi x) sin^2(pi y) sin(2 pi z)
 *                w = -sin(2 pi x) sin(2 pi y) sin^2(pi z)     (LeVeque 1996, Enright et al. 2002)
 *    vortex      u = -sin^2(pi x) sin(2 pi y),  v = sin(2 pi x) sin^2(pi y)  (Rider and Kothe 1998)
 *             both times cos(pi t/T): at t = T everything is back where it was
 *    zalesak     a turn about the middle of the box in the time T            (Zalesak 1979)
 *    parts       a sum of motions linear in x, each with its time and fading as t0/(t - from + t0)
 *
 * With `reverse` all of it runs backwards after that time: u(x, t) = -u(x, 2 reverse - t).
 *
 * Between two events (a part begins or ends, or all is reversed) a field is smooth in time; a step
 * does not go beyond the next one, and a moment before it (`inside`) tells which parts there are.
 */
#ifndef SPATE_SOLVER_PRESCRIBED_H
#define SPATE_SOLVER_PRESCRIBED_H

#include "scene/scene.h"

typedef enum prescribed_kind {
    PRESCRIBED_PARTS,
    PRESCRIBED_ENRIGHT,
    PRESCRIBED_VORTEX,
    PRESCRIBED_ZALESAK,
} prescribed_kind;

/* A motion linear in x during a time. */
typedef struct prescribed_part {
    double translate[3];
    double rotate[3], strain[3], shear; /* 1/s */
    int along, across;                  /* axes of the shear */
    double center[3];                   /* NAN: the domain's middle */
    double from, until;                 /* s */
    double decay;                       /* t0; 0: does not fade */
} prescribed_part;

/* What the scene says. */
typedef struct prescribed_flow {
    int field;          /* prescribed_kind */
    double period;      /* T; NAN: the field's own */
    double reverse;     /* s; HUGE_VAL: never */
    double corner[3];   /* of the box; NAN: the domain's */
    double length;      /* L of the box, m; NAN: the domain's along x */
    struct_list motion; /* of prescribed_part */
} prescribed_flow;

extern const field_table prescribed_table;
/* Checks the fields together, as solver.FIELD; `at` names the group. */
bool prescribed_check(const prescribed_flow *flow, int dim, field_report *report);

/* A field with its defaults filled in, during the time up to the next event. */
typedef struct prescribed {
    const prescribed_flow *flow;
    double corner[3], length, period;
    double middle[3]; /* of the domain */
    int dim;
    double inside; /* a moment before `next` */
    double next;   /* event, HUGE_VAL: none */
} prescribed;

/* From time t on. */
prescribed prescribed_from(const prescribed_flow *flow, const spate_scene *scene, double t);
/* The velocity at x and t. */
void prescribed_velocity(const prescribed *p, const double x[3], double t, double v[3]);
/* The same without the factor cos(pi t/T): how fast it is at other times. */
void prescribed_amplitude(const prescribed *p, const double x[3], double t, double v[3]);

#endif
