/*
 * Bodies that begin at rest under gravity (`at_rest`): the load that material at a place carries.
 *
 *   of its own body   a liquid's pressure is that of a level, rho g (top - h), h and the body's top along
 *                     gravity; a solid carries the column above it, rho g times the way up to the body's
 *                     surface
 *   of what is around where phases are coupled and a liquid at rest encloses the body, that liquid's load takes the place of its
 *                     own: it begins with the pressure around it, and rises or sinks from there
 *   of those above    rho g times the thickness of every other body at rest that begins above this one's
 *                     top, over the place
 *
 * Bodies stay as they are drawn, with the mass of their volume. So the load is balanced as
 * Kirchhoff stress, J sigma, which acts on the volume at rest: div tau + rho g = 0 on the particles
 * as they lie.
 */
#ifndef SPATE_SOLVER_REST_H
#define SPATE_SOLVER_REST_H

#include "solver/solver.h"

/* A body along and across gravity: from its particles and half of their spacing around them. */
typedef struct rest_body {
    double bottom, top;
    double low[2], high[2]; /* along the two directions across; 2D: one */
    double box[2][3];       /* along the axes */
    bool confined[3];       /* between walls or colliders, along an axis */
    int around; /* where phases are coupled: the smallest liquid at rest that encloses it; -1: none */
} rest_body;

typedef struct rest_state {
    const spate_simulation *sim;
    double g, up[3], across[2][3]; /* |gravity|, and directions */
    int axis;                      /* that gravity is along; -1: none */
    rest_body *bodies;             /* NULL: no body is at rest, or there is no gravity */
} rest_state;

/* Particles have been filled in. */
spate_status rest_create(const spate_simulation *sim, rest_state *r);
void rest_free(rest_state *r);
/* Whether particles of a group begin at rest. */
bool rest_holds(const rest_state *r, int group);
/* Pa at a place in a body. */
double rest_load(const rest_state *r, int b, const double x[3]);
/* Whether body `under` is at rest as well, and lies below the other at x. */
bool rest_is_below(const rest_state *r, int under, int b, const double x[3]);

#endif
