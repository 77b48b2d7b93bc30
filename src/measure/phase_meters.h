/*
 * Meters of what is known to go wrong where phases meet: columns of stats.csv of scenes with
 * coupled phases. "Foreign" are particles of a phase with another velocity, spacings are those at
 * rest.
 *
 *    interface_gap          mean distance of the nearest foreign particles, over those that are each
 *                           other's nearest, less one spacing, in spacings
 *    interface_penetration  share of particles of whose neighbours 80 % are foreign
 *    close_pairs            share of liquid particles at free surfaces with another within half a
 *                           spacing: beads
 *    volume_gain            volume over volume at rest, less 1, of the liquid phase that is worst, by
 *                           where its particles are: at places with nothing else around
 *    fraction_scatter       root mean square of what mass fractions differ from the mean around, in
 *                           liquids that mix: null modes of the grid
 *    empty_cells            grid cells without particles between two of one solid body: torn
 *
 * Neighbours are within 2.5 spacings, means around weighted by W = (R^2 - r^2)^3.
 */
#ifndef SPATE_MEASURE_PHASE_METERS_H
#define SPATE_MEASURE_PHASE_METERS_H

#include "solver/solver.h"

/* clang-format off */
#define PHASE_METERS(X)                                          \
    X(interface_gap) X(interface_penetration) X(close_pairs)     \
    X(volume_gain) X(fraction_scatter) X(empty_cells)
/* clang-format on */

typedef enum phase_meter {
#define X(name) METER_##name,
    PHASE_METERS(X)
#undef X
        METER_COUNT
} phase_meter;

extern const char *const phase_meter_names[METER_COUNT];

/* Whether a scene has them. */
static inline bool phase_meters_exist(const spate_scene *s) {
    return s->coupled && s->phase_count > 1;
}

/* NAN where there is nothing to measure. */
spate_status phase_meters_measure(const spate_simulation *sim, double out[METER_COUNT]);

/* The meter that is furthest beyond its healthy range, -1: none is; and that range's end. */
int phase_meters_worst(const double values[METER_COUNT], double *limit);

#endif
