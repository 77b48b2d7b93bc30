/*
 * Force fields: what acts on matter besides gravity, as `forces:` of a scene or from outside. Each
 * has one of these kinds, a region and a time; all are added up.
 *
 *    wind        the same acceleration everywhere
 *    attractor   a = -mu r / (r^2 + s^2)^(3/2) to its centre (Plummer 1911); the potential of a unit of
 *                mass is -mu / sqrt(r^2 + s^2)
 *    vortex      a = A (axis x r) / |r| min(r / R, R / r): around its axis, strongest at the radius R
 *    turbulence  a = A' curl of a smooth random potential that changes in time: without divergence
 *                (Bridson, Hourihan and Nordenstam 2007, "Curl-noise for procedural fluid flow"), A its
 *                root mean square
 *    drag        dv/dt = -rate (v - velocity): v nears the medium's velocity as exp(-rate t)
 *    mouse       a drag to the velocity of a ball, rate (1 - r^2 / R^2)^2 within its radius
 *
 * Drag and mouse are integrated exactly, so that what they do does not depend on the time step.
 */
#ifndef SPATE_SCENE_FORCES_H
#define SPATE_SCENE_FORCES_H

#include "core/context.h"

typedef enum force_kind {
    FORCE_WIND,
    FORCE_ATTRACTOR,
    FORCE_VORTEX,
    FORCE_TURBULENCE,
    FORCE_DRAG,
    FORCE_MOUSE,
    FORCE_KINDS
} force_kind;

enum { FORCE_NAME = 40, FORCES_MAX = 64 };

/* Numbers alone, so that a checkpoint and the state hash take it as it is. */
typedef struct force_field {
    char name[FORCE_NAME];  /* closed and filled up by zeros */
    int64_t kind;           /* force_kind */
    double acceleration[3]; /* wind, m/s^2 */
    double strength;        /* attractor: mu, m^3/s^2; vortex, turbulence: m/s^2 */
    double center[3];       /* attractor, vortex, mouse: m */
    double axis[3];         /* vortex: unit */
    double radius;          /* vortex: R; mouse; m */
    double softening;       /* attractor: s, m */
    double length, period;  /* turbulence: of its eddies, m, and of their change, s; 0: none */
    uint64_t seed;          /* turbulence */
    double velocity[3];     /* drag, mouse: of the medium, m/s */
    double rate;            /* drag, mouse: 1/s */
    double from, until;     /* s */
    double min[3], max[3];  /* only in this box */
    int64_t region;         /* and in the shape of this entry of scene.forces; -1: everywhere */
} force_field;

typedef struct force_list {
    int64_t count;
    force_field list[FORCES_MAX];
} force_list;

/* Without a kind: everywhere and always. */
force_field force_default(void);

static inline bool force_is_on(const force_field *f, double t) {
    return t >= f->from && t < f->until;
}
/* Whether it is a drag: changes velocities by what they are. */
static inline bool force_is_drag(const force_field *f) {
    return f->kind == FORCE_DRAG || f->kind == FORCE_MOUSE;
}
/* Of one that is not a drag, at x and time t, m/s^2. */
void force_acceleration(const force_field *f, int dim, const double x[3], double t, double a[3]);
/* Of a drag at x, 1/s. */
double force_rate(const force_field *f, const double x[3]);
/* No more than this anywhere, m/s^2; 0 of a drag. */
double force_most(const force_field *f);

#endif
