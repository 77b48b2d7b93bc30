/*
 * What a scene may name: solvers, material models and attributes of particles. They declare
 * themselves by these structs; the reader is handed a registry of them, and so src/scene knows none
 * by its name.
 */
#ifndef SPATE_SCENE_REGISTRY_H
#define SPATE_SCENE_REGISTRY_H

#include "core/fields.h"

/* How the particles of a material are drawn in 3D. */
typedef enum material_look {
    LOOK_SURFACE, /* one clear surface, with what is behind it */
    LOOK_SKIN,    /* bodies with an opaque skin */
    LOOK_GRAINS,  /* each for itself */
    LOOK_SMOKE,   /* no particles: a veil */
} material_look;

/* What light does on a skin. */
typedef enum material_finish {
    FINISH_MATT,
    FINISH_GLOSS, /* the sun glints on it */
    FINISH_JELLY, /* gloss, and light goes some way into it */
    FINISH_METAL, /* mirrors its surroundings in its own colour */
} material_finish;

/* What a material is, as far as solvers differ in it. Bits. */
typedef enum matter_kind {
    MATTER_LIQUID = 1, /* a surface of it can be meshed */
    MATTER_SOLID = 2,  /* keeps a shape, or remembers a strain: grains, clay and snow too */
    MATTER_GAS = 4,    /* fills the domain; on a grid */
} matter_kind;

/* A material model: `model: liquid`. */
typedef struct material_type {
    const char *name;
    matter_kind matter;
    field_table table;
    /* Checks the parameters together and derives what can be derived (moduli, per dimension). */
    bool (*prepare)(void *parameters, int dim, field_report *report);
    /* Offset of the double `density` (kg/m^3), which every model has. */
    size_t density_offset;
    /* In pictures, unless the scene says otherwise. */
    material_look look;
    material_finish finish;
    unsigned color; /* 0xRRGGBB of screens */
    /* Particles leave their neighbours for others: bodies of it are sampled irregularly where the
     * solver allows it, for the rows of a lattice would show. */
    bool flows;
} material_type;

/* A solver as the scene reader sees it: `solver: {type: mpm, ...}`. */
typedef struct solver_declaration {
    const char *name;
    field_table table;
    bool (*prepare)(void *options, int dim, field_report *report);
    unsigned matter; /* what it can run: bits of matter_kind */
    int period;      /* a periodic domain is a multiple of this many cells along */
    /* Whether the whole scene is one it can run; NULL: every scene is. */
    bool (*check)(const spate_scene *scene, field_report *report);
    const char *scheme;    /* its field whose choices are its schemes, as benchmarks compare them */
    double cfl, cfl_most;  /* default of solver.cfl, and the most that it can do */
    bool moves_walls;      /* it knows sides with a velocity (domain.wall_velocity) */
    bool on_grid;          /* its matter is on a grid: bodies and sources make no particles */
    bool contacts;         /* it knows what a body does to a collider (probe contact_force) */
    bool irregular;        /* it can do without a lattice: what flows is sampled as a glass */
    bool meshes;           /* it knows bodies as meshes */
    bool follows_gradient; /* it can keep the deformation gradient of particles */
    bool couples;          /* it knows phases with velocities of their own (coupling) */
} solver_declaration;

typedef struct registry {
    const solver_declaration *const *solvers; /* the first is the default */
    int solver_count;
    const material_type *const *materials;
    int material_count;
    /* Attributes of particles that `output.fields` may list, and those among them that are made of
     * the deformation gradient; closed by NULL. */
    const char *const *attributes;
    const char *const *gradient_attributes;
    /* Columns that every stats.csv has, whose names no probe may take; closed by NULL. */
    const char *const *columns;
} registry;

static inline bool solver_runs(const solver_declaration *s, const material_type *m) {
    return (s->matter & m->matter) != 0;
}

/* Names for a message, as many as it has room for. */
typedef struct name_text {
    char text[256];
} name_text;

void name_add(name_text *out, const char *between, const char *name);

/* The solvers that can do something: "sph or smoke". */
name_text solvers_that(const registry *all, bool (*can)(const solver_declaration *));
bool solver_moves_walls(const solver_declaration *s);
bool solver_knows_contacts(const solver_declaration *s);
bool solver_follows_gradient(const solver_declaration *s);
bool solver_couples(const solver_declaration *s);

#endif
