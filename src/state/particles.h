/*
 * Particles: a structure of arrays, each field declared once in PARTICLE_FIELDS. Allocation,
 * sorting, checkpoints and the state hash come from that list, by the flags of a field; what frames
 * hold is listed in measure/attributes.c.
 *
 * Positions are kept in cells relative to the particle's block (blocks.h), so they are as precise
 * far from the origin as near it. Strains are kept as differences from rest (J - 1, b - I), so that
 * a nearly incompressible liquid keeps its pressure's digits.
 */
#ifndef SPATE_STATE_PARTICLES_H
#define SPATE_STATE_PARTICLES_H

#include "core/context.h"
#include "core/real.h"
#include "core/simd.h"

/* Four reals that vector code loads at once: x y z and a fourth. */
typedef real real4[4];
typedef real4 real4x3[3];
enum { POLY_MODES_MAX = 23 };
typedef real4 poly_modes[POLY_MODES_MAX];

/* What is done with a field. */
enum {
    FIELD_BASIC = 1,  /* every particle has it, whatever the solver */
    FIELD_SORTED = 2, /* follows its particle in a sort; the others are zero between steps */
    FIELD_SAVED = 4,  /* a checkpoint holds it */
    FIELD_HASHED = 8, /* the state hash counts it */
    FIELD_RESET = 16, /* remembers what happened to the particle: zero while a source holds it */
    FIELD_LASTING = FIELD_SORTED | FIELD_SAVED | FIELD_HASHED,
    FIELD_MEMORY = FIELD_LASTING | FIELD_RESET,
};

/* A field is one or more planes, each with an element a particle: element i of plane c is
 * field[c * capacity + i], see PLANE.
 *
 *    id        stays with the particle for ever; also the key of its random numbers
 *    position  cells from its block's corner, the shift of half a cell included (blocks.h);
 *              written by the solver's move and by the sort. The hash counts its grid coordinates
 *    velocity  (v, 1); written by the solver's gather
 *    affine    by axis a (dx * dv/dx_a, 0), the change of velocity over a cell along a, or what the
 *              solver keeps in its place; written by the gather. Only where the solver carries it
 *    mass      never changes in a step
 *    group     body or source it came from (scene_group_*), with dissolving solids also what is
 *              dissolved of it; GROUP_REMOVED: dropped by the next sort
 *    dilation  J - 1; written by the material's update
 *    strain    b - I for left Cauchy-Green b, as xx yy zz yz xz xy (of the linear and
 *              hypoelastic solids their strain e); written by the material's update
 *    hardening of the material's own kind, 0 at the start, see materials/; written by the update
 *    flow      how often over the deviator of the elastic strain has been renewed by plastic flow since
 *              volumes were last smoothed; written by the update, emptied by that (mpm/plastic_volume.c)
 *    modes     higher velocity modes of PolyPIC, in the order of the solver's list; written by the
 *              gather
 *    moment    D / dx^2 of kernels linear and gimp, by axis, where the affine part was gathered: what
 *              is scattered next is their product; written by the gather
 *    density   over that at rest; written by SPH's sums
 *    pressure  Pa; written by SPH's equation of state or solver
 *    velocity_pressure  Pa, of the solver that keeps the velocity free of divergence (DFSPH)
 *    reference position when the neighbour lists were made, where they serve several steps (SPH)
 *    gradient  F - I for the deformation gradient F, row by row; only where the output asks for it,
 *              nothing else reads it; written after the gather
 *    role      what kind of particle it is (particle_role); in flip how many it was merged of
 *    thinness  1 less the least over the largest eigenvalue of the covariance of the particles around:
 *              1 in a plane, 0 inside and where it is not looked for; written by flip's sheets
 *    generation  0, or how many times over it was inserted into a sheet; flip's sheets (ancestry.h)
 *    concentration  mass fractions of the scene's species (scene.h); 0 in what does not mix. Written
 *              by mpm's mixing (mpm/mixing.h); only where something mixes
 *    temperature  K above the surroundings; liquids of mpm, only where a material has one
 *              (mpm/heat.c)
 *    foreign   share of the volume around the particle that liquids of other velocity fields have, as the
 *              grid saw it in the last step; written by mpm's phases (mpm/phases.h)
 *    force     (f, 0) in N that others than the material exert on it: any module adds to it after the
 *              sort and before the scatter, which empties it
 *    force_moment  by axis a (sum f (x_a - xp_a), 0) in N m, the first moments about the particle of
 *              forces that others exert around it; as `force`
 */
#define PARTICLE_FIELDS(X)                                                 \
    X(id, uint64_t, 1, FIELD_BASIC | FIELD_LASTING, "")                    \
    X(position, real, 3, FIELD_BASIC | FIELD_SORTED | FIELD_SAVED, "cell") \
    X(velocity, real4, 1, FIELD_BASIC | FIELD_MEMORY, "m/s")               \
    X(affine, real4x3, 1, FIELD_MEMORY, "m/s")                             \
    X(mass, real, 1, FIELD_BASIC | FIELD_LASTING, "kg")                    \
    X(group, uint16_t, 1, FIELD_BASIC | FIELD_LASTING, "")                 \
    X(dilation, real, 1, FIELD_MEMORY, "")                                 \
    X(strain, real, 6, FIELD_MEMORY, "")                                   \
    X(hardening, real, 1, FIELD_MEMORY, "")                                \
    X(flow, real, 1, FIELD_MEMORY, "")                                     \
    X(modes, poly_modes, 1, FIELD_MEMORY, "m/s")                           \
    X(moment, real, 3, FIELD_MEMORY, "")                                   \
    X(density, real, 1, FIELD_LASTING, "")                                 \
    X(pressure, real, 1, FIELD_LASTING, "Pa")                              \
    X(velocity_pressure, real, 1, FIELD_LASTING, "Pa")                     \
    X(reference, real, 3, FIELD_LASTING, "cell")                           \
    X(gradient, real, 9, FIELD_SORTED | FIELD_SAVED | FIELD_RESET, "")     \
    X(role, uint8_t, 1, FIELD_LASTING, "")                                 \
    X(thinness, real, 1, FIELD_LASTING, "")                                \
    X(generation, uint8_t, 1, FIELD_LASTING, "")                           \
    X(concentration, real4, 1, FIELD_LASTING, "")                          \
    X(force, real4, 1, 0, "N")                                             \
    X(force_moment, real4x3, 1, 0, "N m")                                  \
    X(temperature, real, 1, FIELD_LASTING, "K")                            \
    X(foreign, real, 1, FIELD_MEMORY, "")

typedef enum particle_role { ROLE_MATTER, ROLE_VERTEX, ROLE_HELD } particle_role;

enum { GROUP_REMOVED = 0xffff };

typedef enum particle_field {
#define X(name, element, planes, flags, unit) PARTICLE_##name,
    PARTICLE_FIELDS(X)
#undef X
        PARTICLE_FIELD_COUNT
} particle_field;

#define PARTICLE_BIT(name) (1u << PARTICLE_##name)
/* The fields with one of some flags. */
unsigned particle_fields_with(unsigned flags);
#define PARTICLE_BASICS particle_fields_with(FIELD_BASIC)

typedef struct particle_field_info {
    const char *name;
    size_t bytes;  /* of an element */
    size_t scalar; /* bytes of one of its numbers */
    bool is_real;  /* they are reals, else unsigned integers */
    int planes;
    unsigned flags;
    const char *unit;
} particle_field_info;

extern const particle_field_info particle_fields[PARTICLE_FIELD_COUNT];

/* Numbers of a particle in a field. */
static inline int field_components(const particle_field_info *info) {
    return info->planes * (int)(info->bytes / info->scalar);
}

typedef struct particles {
    spate_context *ctx;
    int64_t count;
    int64_t
        capacity;    /* a multiple of 64, always more than count: wide code may read past the end */
    unsigned fields; /* PARTICLE_BIT of those that exist; the others are NULL */
#define X(name, element, planes, flags, unit) element *name;
    PARTICLE_FIELDS(X)
#undef X
} particles;

void *particles_field(const particles *p, particle_field f);
/* Where a field of a store is kept. */
void **particles_slot(particles *p, particle_field f);
/* Element i of a plane of a field that exists. */
void *particles_element(const particles *p, particle_field f, int plane, int64_t i);
/* Room for at least `capacity` particles; content is kept. */
spate_status particles_reserve(particles *p, int64_t capacity);
void particles_free(particles *p);
/* Fields (PARTICLE_BIT) that the store did not have, zero in all particles. */
spate_status particles_add_fields(particles *p, unsigned fields);
/* Copies `count` particles from `from` on to `to` on, between stores with the same fields. */
void particles_copy(particles *to, int64_t to_index, const particles *from, int64_t from_index,
                    int64_t count);
/* Zero in these fields (PARTICLE_BIT) of `count` particles, but velocity (0, 1). */
void particles_clear(particles *p, const int64_t *items, int64_t count, unsigned fields);

/* A batch of WIDE particles on the stack: the tail of a block that does not fill a wide, worked on
 * where no other thread's particles are. */
typedef struct particle_batch {
    particles p;
#define X(name, element, planes, flags, unit) \
    element name[planes * WIDE] __attribute__((aligned(64)));
    PARTICLE_FIELDS(X)
#undef X
} particle_batch;

/* An empty batch with the fields of `like`. */
void batch_prepare(particle_batch *h, const particles *like);

/* One plane of a field, e.g. PLANE(p, position, 1)[i]. */
#define PLANE(p, field, c) ((p)->field + (int64_t)(c) * (p)->capacity)

#endif
