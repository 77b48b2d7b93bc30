/*
 * Particles: a structure of arrays, each field declared once in PARTICLE_FIELDS. Allocation,
 * sorting, checkpoints, the state hash and export all come from that list.
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

/* PLANAR: component c of particle p is field[c * capacity + p]. RECORD: field[p * components + c].
 *
 *    id        stays with the particle for ever; also the key of its random numbers
 *    position  cells from its block's corner, the shift of half a cell included (blocks.h);
 *              written by the solver's move and by the sort
 *    motion    (v, 1 | c_x, 0 | c_y, 0 | c_z, 0): velocity, and c_a = dx * dv/dx_a, the change of
 *              velocity over a cell along axis a; written by the solver's gather. Where a store's
 *              motion is short, (v, 1) alone
 *    mass      never changes in a step
 *    group     body or source it came from (scene_group_*); GROUP_REMOVED: dropped by the next sort
 *    dilation  J - 1; written by the material's update
 *    strain    b - I for left Cauchy-Green b, as xx yy zz yz xz xy (of the linear solid its
 *              strain e); written by the material's update
 *    hardening of the material's own kind, 0 at the start, see materials/; written by the update
 *    flow      how often over the deviator of the elastic strain has been renewed by plastic flow since
 *              volumes were last evened out; written by the update, emptied by that (mpm/plastic_volume.c)
 *    modes     higher velocity modes of PolyPIC, a quad each, in the order of the solver's list;
 *              written by the gather
 *    density   over that at rest; written by SPH's sums
 *    pressure  Pa; written by SPH's equation of state or solver
 *    velocity_pressure  Pa, of the solver that keeps the velocity free of divergence (DFSPH)
 *    reference position when the neighbour lists were made, where they serve several steps (SPH)
 *    moment    D / dx^2 of the linear kernel, by axis, where the motion's slopes were gathered: what
 *              is scattered next is their product; written by the gather
 *    gradient  F - I for the deformation gradient F, row by row; only where the output asks for it,
 *              nothing else reads it; written after the gather
 */
#define PARTICLE_FIELDS(X)                      \
    X(id, uint32_t, 1, PLANAR, "")              \
    X(position, real, 3, PLANAR, "cell")        \
    X(motion, real, 16, RECORD, "m/s")          \
    X(mass, real, 1, PLANAR, "kg")              \
    X(group, uint16_t, 1, PLANAR, "")           \
    X(dilation, real, 1, PLANAR, "")            \
    X(strain, real, 6, PLANAR, "")              \
    X(hardening, real, 1, PLANAR, "")           \
    X(flow, real, 1, PLANAR, "")                \
    X(modes, real, 92, RECORD, "m/s")           \
    X(moment, real, 3, PLANAR, "")              \
    X(density, real, 1, PLANAR, "")             \
    X(pressure, real, 1, PLANAR, "Pa")          \
    X(velocity_pressure, real, 1, PLANAR, "Pa") \
    X(reference, real, 3, PLANAR, "cell")       \
    X(gradient, real, 9, PLANAR, "")

enum { GROUP_REMOVED = 0xffff };

typedef enum particle_field {
#define X(name, type, components, layout, unit) PARTICLE_##name,
    PARTICLE_FIELDS(X)
#undef X
        PARTICLE_FIELD_COUNT
} particle_field;

#define PARTICLE_BIT(name) (1u << PARTICLE_##name)
/* What every particle has, whatever the solver. */
#define PARTICLE_BASICS                                                                      \
    (PARTICLE_BIT(id) | PARTICLE_BIT(position) | PARTICLE_BIT(motion) | PARTICLE_BIT(mass) | \
     PARTICLE_BIT(group))

typedef enum field_layout { PLANAR, RECORD } field_layout;

typedef struct particle_field_info {
    const char *name;
    size_t size;  /* bytes of a component */
    bool is_real; /* real, else an unsigned integer */
    int components;
    field_layout layout;
    const char *unit;
} particle_field_info;

extern const particle_field_info particle_fields[PARTICLE_FIELD_COUNT];

typedef struct particles {
    spate_context *ctx;
    int64_t count;
    int64_t
        capacity;    /* a multiple of 64, always more than count: wide code may read past the end */
    unsigned fields; /* PARTICLE_BIT of those that exist; the others are NULL */
    bool short_motion; /* motion records are (v, 1) */
#define X(name, type, components, layout, unit) type *name;
    PARTICLE_FIELDS(X)
#undef X
} particles;

/* Reals of a motion record, and the record of particle i. */
static inline int motion_length(const particles *p) { return p->short_motion ? 4 : 16; }
static inline real *motion_of(const particles *p, int64_t i) {
    return p->motion + i * motion_length(p);
}

void *particles_field(const particles *p, particle_field f);
/* Components of a field as this store has it. */
int particles_components(const particles *p, particle_field f);
/* Room for at least `capacity` particles; content is kept. */
spate_status particles_reserve(particles *p, int64_t capacity);
void particles_free(particles *p);
/* Copies `count` particles from `from` on to `to` on, between stores with the same fields. */
void particles_copy(particles *to, int64_t to_index, const particles *from, int64_t from_index,
                    int64_t count);

/* A handful of particles on the stack: the tail of a block that does not fill a wide, worked on
 * where no other thread's particles are. */
typedef struct particle_handful {
    particles p;
#define X(name, type, components, layout, unit) \
    type name[components * WIDE] __attribute__((aligned(64)));
    PARTICLE_FIELDS(X)
#undef X
} particle_handful;

/* An empty handful with the fields of `like`. */
void handful_prepare(particle_handful *h, const particles *like);

/* One component of a planar field, e.g. PLANE(p, position, 1)[i]. */
#define PLANE(p, field, c) ((p)->field + (int64_t)(c) * (p)->capacity)

#endif
