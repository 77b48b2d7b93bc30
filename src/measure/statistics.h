/*
 * Statistics: one row of numbers about the present state, the columns of stats.csv. First the
 * columns every run has, then the solver's own, then what acts on the colliders where the solver
 * knows it (NAME_force_x, ..., NAME_torque_x, ...; in 2D one NAME_torque, about z), then meters of
 * phases where the scene couples some (phase_meters.h), then the scene's probes. A quantity that
 * does not exist is NAN here and left empty in the file.
 *
 * Mass, momenta, energies, volume and speed are sums over the particles, but for those that the
 * solver knows itself (solver_numbers), as one with its matter on a grid does.
 *
 * Sums are in double, over fixed chunks of blocks added in order: they do not depend on threads.
 * Angular momentum is about the origin and holds the affine part, m axial(C D), where the scheme
 * has one. What the probes mean: probes.h.
 */
#ifndef SPATE_MEASURE_STATISTICS_H
#define SPATE_MEASURE_STATISTICS_H

#include "core/text.h"
#include "measure/probes.h"
#include "solver/solver.h"

/* The columns every run has, in the file's order. */
/* clang-format off */
#define STATISTICS_COLUMNS(X)                                                        \
    X(frame) X(time) X(steps) X(dt) X(dt_limit) X(particles) X(mass)                 \
    X(momentum_x) X(momentum_y) X(momentum_z) X(angular_x) X(angular_y) X(angular_z) \
    X(kinetic_energy) X(potential_energy) X(elastic_energy) X(volume)                \
    X(max_speed) X(max_divergence) X(iterations) X(residual)                         \
    X(penetration_max) X(penetration_count) X(wall_seconds)
/* clang-format on */

typedef enum statistics_column {
#define X(name) COLUMN_##name,
    STATISTICS_COLUMNS(X)
#undef X
        COLUMN_COUNT
} statistics_column;

/* Their names, closed by NULL. */
extern const char *const statistics_names[];

typedef struct statistics {
    spate_simulation *sim;
    arena arena;
    int count; /* columns */
    int solver_columns;
    int force_columns; /* of all colliders, behind the solver's; 0 where they are not known */
    int meter_columns; /* of phases that meet (phase_meters.h), behind those */
    const char **names;
    double *values; /* of the last evaluation; dt_limit's is NAN, it is text */
    probe_memory memory;
    double rest_volume; /* what `volume` would be at J = 1 */
} statistics;

spate_status statistics_create(spate_simulation *sim, statistics *s);
/* With the columns of the scene that the simulation was given: what was added since has none. */
spate_status statistics_create_for(spate_simulation *sim, const spate_scene *scene, statistics *s);
void statistics_free(statistics *s);
/* The phase meters of the last evaluation, NULL where the scene has none. */
const double *statistics_meters(const statistics *s);
/* Only what costs nothing: time, step and how it was solved. */
void statistics_glance(statistics *s, int64_t frame, double wall_seconds);
spate_status statistics_evaluate(statistics *s, int64_t frame, double wall_seconds);

/* The file's first line, and a row of it, each with its line end. */
void statistics_header(const statistics *s, text *line);
void statistics_row(const statistics *s, const char *dt_limit, text *line);

#endif
