/*
 * Where sources are. A source's shape is fixed, or a mesh that deforms (mesh_sequence.h); then its
 * matter has the velocity of the surface next to it besides the source's own.
 */
#ifndef SPATE_SOLVER_SOURCE_SHAPES_H
#define SPATE_SOLVER_SOURCE_SHAPES_H

#include "solver/solver.h"

/* A place of a source's lattice that may get a particle; first those with the fewest around. */
typedef struct source_site {
    int64_t k[3];
    double
        crowd; /* particles at it and its neighbours, over those places of them that are inside */
    uint64_t key; /* decides between equals */
} source_site;

typedef struct source_shapes {
    struct deforming **of; /* by source; NULL: it does not deform */
    /* room for filling one (sources.c): by place of its lattice, and sites */
    uint8_t *counts, *inside;
    source_site *sites;
    int64_t count_capacity, inside_capacity, site_capacity;
} source_shapes;

/* Makes sim->source_shapes, which stays NULL where no source deforms. */
spate_status source_shapes_create(spate_simulation *sim);
void source_shapes_free(spate_simulation *sim);
/* How they are at time t. */
spate_status source_shapes_move(spate_simulation *sim, double t);

bool source_deforms(const spate_scene *scene, int s);
/* Distance of x from source s, and, unless v is NULL, the velocity of its matter there. */
double source_distance(const spate_simulation *sim, int s, const double x[3], double v[3]);
bounds source_box(const spate_simulation *sim, int s);
/* The fastest that matter in it ever is, m/s. */
double source_speed(const spate_scene *scene, int s);

#endif
