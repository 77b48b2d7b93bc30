/*
 * Probes: the measurements a scene asks for, columns of stats.csv. All of them look only at
 * particles that are still there, and at those of one body or source where `of` names it.
 *
 * extent          the farthest particle's surface (its centre plus or minus pscale) along an axis
 * height          the top (plus pscale) of the highest particle within half a cell of the position,
 *                 the domain's floor where there is none
 * depth           volume in a column over its area: each particle is a box of its volume, of which
 *                 the part inside the column counts. Closed sides mirror what reaches beyond them,
 *                 and the column ends at them; periodic ones continue it
 * pressure        mean of the particles nearer than dx, weighted by mass and 1 - r / dx; 0 where
 *                 there is none
 * velocity        the solver's at the point, or the same mean; one column a coordinate, empty where
 *                 there is none
 * center_of_mass  one column a coordinate
 * count           particles whose centre is inside a shape
 * mean_speed      sum m |v| / sum m, inside a shape where one is given
 * spread          sqrt(sum m |x - c|^2 / sum m), c the centre of mass. On a periodic axis c is
 *                 looked for around the circular mean and distances are to the nearest image
 * pieces          connected components of particles nearer than a gap (pieces.h)
 * largest_piece   share of the particles, by number, in the largest of them
 * mixing          share of the neighbours' order at the start that no linear map explains
 *                 (mixing.h)
 * contact_force   of a body on a collider, the mean over a frame; one column a coordinate
 */
#ifndef SPATE_MEASURE_PROBES_H
#define SPATE_MEASURE_PROBES_H

#include "solver/solver.h"

/* What probes work out once and keep beside the simulation, never part of its state. */
typedef struct probe_memory {
    spate_context *ctx;
    double (*start)[3]; /* where the particles of bodies began, by id; NULL until it is needed */
    int64_t start_count;
} probe_memory;

void probe_memory_free(probe_memory *m);

/* Writes its columns (probe_columns) to `out`; NAN where there is nothing to measure. */
spate_status probe_measure(spate_simulation *sim, const probe *p, probe_memory *memory,
                           double *out);

#endif
