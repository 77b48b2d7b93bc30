/*
 * Particle attributes by name, as other tools know them, and the order in which they are exported:
 * by id, so that a particle keeps its place from frame to frame however it is stored.
 *
 *    name      components  what
 *    P         3   position in the scene's units; z is 0 in 2D
 *    v         3   velocity
 *    id        1   stays with the particle for ever
 *    pscale    1   radius: half the spacing of particles at rest, (m / rho0)^(1/d) / 2
 *    material  1   index into the scene's materials, in the order of the file
 *    group     1   body or source it came from: bodies first, then sources
 *    role      1   0: matter; 1: vertex of a mesh (particle_role)
 *    J         1   volume over volume at rest
 *    density   1   rho0 / J
 *    pressure  1   -tr(sigma) / d
 *    stress    6   Cauchy stress sigma = tau / J as xx yy zz xy yz xz (VTK's order)
 *    C         9   velocity gradient dv_i/dx_j, row by row
 *    speed     1   |v|
 *    energy    1   strain energy a volume at rest, J/m^3
 *    thinness  1   of the liquid around: 1 in a plane, 0 inside (solver flip with sheets)
 *    concentration  4   mass fractions of the phases that mix: liquids first, then what dissolves in
 *                  them, both by the alphabet; 0 in what does not mix
 *    phase     1   index of its phase by the alphabet; of a dissolved particle the liquid's
 *    temperature    1   K above the surroundings, of liquids under mpm that have one
 *    inserted  1   0, or the generation of a particle that was inserted into a sheet
 *
 * and from the deformation gradient, which a solver follows only where output.fields asks:
 *
 *    F              9   dx_i/dX_j, row by row; X: where the particle began
 *    green_strain   6   E = (F^T F - I) / 2 as xx yy zz xy yz xz
 *    linear_strain  6   (F + F^T) / 2 - I, the same order
 */
#ifndef SPATE_MEASURE_ATTRIBUTES_H
#define SPATE_MEASURE_ATTRIBUTES_H

#include "solver/solver.h"

enum { ATTRIBUTE_COMPONENTS_MAX = 9, ATTRIBUTE_COUNT = 22 };

/* Reals are stored as `real`, whole numbers as uint32_t. */
typedef enum attribute_type { ATTRIBUTE_REAL, ATTRIBUTE_WHOLE } attribute_type;

/* A particle as an attribute sees it. */
typedef struct particle_view {
    const spate_simulation *sim;
    const int32_t *coords; /* of its block */
    int64_t index;         /* in storage */
} particle_view;

typedef struct attribute {
    const char *name;
    int components;
    attribute_type type;
    const char *component_names; /* closed words, e.g. "xx xy ..."; NULL for a scalar or x y z */
    void (*value)(const particle_view *p, double *out);
} attribute;

extern const attribute attributes[ATTRIBUTE_COUNT];
/* Their names, and those among them that are made of the deformation gradient; closed by NULL. */
extern const char *const attribute_names[];
extern const char *const gradient_attribute_names[];

/* NULL when there is none of that name. */
const attribute *attribute_find(const char *name);

/* The one of that name, which must exist in this simulation. */
spate_status attribute_choose(const spate_simulation *sim, const char *name, const attribute **out);

/* A run of particles that belong to one block. Storage is cut into the occupied blocks and then the
 * particles that were added since the last sort, one by one. */
typedef struct particle_range {
    const int32_t *coords;
    int64_t begin, end;
} particle_range;

static inline int64_t particle_range_count(const spate_simulation *sim) {
    return sim->blocks.occupied_count + sim->blocks.pending_count;
}
static inline particle_range particle_range_at(const spate_simulation *sim, int64_t k) {
    const blocks *b = &sim->blocks;
    if (k < b->occupied_count) {
        int32_t block = b->occupied[k];
        return (particle_range){b->coords[block], b->first[block], b->first[block + 1]};
    }
    k -= b->occupied_count;
    return (particle_range){b->pending[k], b->sorted + k, b->sorted + k + 1};
}
static inline bool particle_is_removed(const spate_simulation *sim, int64_t i) {
    return sim->particles.group[i] == GROUP_REMOVED;
}
/* How many there are without those that the next sort will drop. */
static inline int64_t particle_living(const spate_simulation *sim) {
    int64_t living = 0;
    for (int64_t i = 0; i < sim->particles.count; i++) living += !particle_is_removed(sim, i);
    return living;
}
/* Of its material, at rest, or by what is mixed in it. */
static inline double particle_rest_density(const spate_simulation *sim, int64_t i) {
    const spate_scene *s = sim->scene;
    if (sim->particles.concentration && scene_group_mixes(s, sim->particles.group[i])) {
        double volume = 0;
        for (int k = 0; k < s->species_count; k++)
            volume += (double)sim->particles.concentration[i][k] /
                      s->materials[s->species[k].material].density;
        return 1 / volume;
    }
    return sim->scene->materials[scene_group_material(sim->scene, sim->particles.group[i])].density;
}
static inline double particle_rest_volume(const spate_simulation *sim, int64_t i) {
    return (double)sim->particles.mass[i] / particle_rest_density(sim, i);
}
double particle_radius(const spate_simulation *sim, int64_t i);
/* As it is now, J times that at rest. */
double particle_volume(const spate_simulation *sim, int64_t i);
/* -tr(sigma) / d, 0 when the solver knows no stress. */
double particle_pressure(const spate_simulation *sim, int64_t i);

/* Place of every stored particle when they are ordered by id; removed ones have none. */
typedef struct id_order {
    spate_context *ctx;
    int64_t count;
    uint32_t *place; /* by storage index; UINT32_MAX for a removed one */
} id_order;

spate_status id_order_create(spate_simulation *sim, id_order *order);
void id_order_free(id_order *order);

/* Copies an attribute out in id order: `components` numbers to a particle. The first as doubles,
 * the second in the attribute's own type. */
void attribute_copy(const spate_simulation *sim, const id_order *order, const attribute *a,
                    double *values);
void attribute_store(const spate_simulation *sim, const id_order *order, const attribute *a,
                     void *values);
static inline size_t attribute_size(const attribute *a) {
    return a->type == ATTRIBUTE_REAL ? sizeof(real) : sizeof(uint32_t);
}

#endif
