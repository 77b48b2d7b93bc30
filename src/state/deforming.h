/*
 * Signed distance and velocity of a mesh that deforms, on a lattice around its surface.
 *
 * The way from one file of the sequence to the next is cut into parts of at most half a cell. At
 * their ends ("keys") distance and velocity are sampled; in between both are blended in time. Keys
 * depend on the sequence and the cell alone, so nothing depends on time steps, and a resumed run
 * finds the same. A key is sampled when it is first needed: in bricks that the surface comes near
 * to; of the others, the middle has a distance, a direction and a velocity.
 *
 * Only deforming_move writes.
 */
#ifndef SPATE_STATE_DEFORMING_H
#define SPATE_STATE_DEFORMING_H

#include "scene/mesh_sequence.h"

typedef struct deforming deforming;

/* What velocities beside the surface are: those of the nearest point of it, or, for what it pushes
 * away, these less what the surface grows by on the way, so that they have no divergence. */
typedef enum deforming_use { DEFORMING_PUSHES, DEFORMING_CARRIES } deforming_use;

/* For a grid with cells of this size. `reach`: what may be asked for. *out is NULL where that spans
 * too many cells. */
spate_status deforming_create(spate_context *ctx, const mesh_sequence *s, int dim, double cell,
                              const bounds *reach, deforming_use use, deforming **out);
void deforming_free(deforming *d);
/* How it is at time t. */
spate_status deforming_move(deforming *d, double t);

/* Around it now. */
bounds deforming_box(const deforming *d);
/* Distance at x and, unless NULL, the outward normal there and the velocity of the surface next to
 * it. Far from the surface a bound of the distance. */
double deforming_distance(const deforming *d, const double x[3], double normal[3],
                          double velocity[3]);
/* How far off a distance near the surface may be. */
double deforming_error(const deforming *d);
/* Keys sampled so far. */
int64_t deforming_keys(const deforming *d);

#endif
