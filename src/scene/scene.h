/*
 * A checked scene: what will be simulated, in the scene's own units, with every default filled in.
 * Reading and checking it: yaml.c (document tree), reader.c (field tables), scene_tables.c (what
 * may be written), scene.c and scene_*.c (the parts).
 */
#ifndef SPATE_SCENE_SCENE_H
#define SPATE_SCENE_SCENE_H

#include "core/arena.h"
#include "scene/camera.h"
#include "scene/forces.h"
#include "scene/glass.h"
#include "scene/mesh_body.h"
#include "scene/motion.h"
#include "scene/registry.h"
#include "scene/shape.h"
#include "scene/surface_method.h"
#include <string.h>

typedef enum wall { WALL_SLIP, WALL_STICKY, WALL_SEPARATE, WALL_OPEN, WALL_PERIODIC } wall;

typedef struct domain {
    double origin[3];
    double size[3]; /* whole cells; z is one cell in 2D */
    double dx;
    int cells[3];     /* size / dx */
    wall walls[3][2]; /* [axis][0: min side, 1: max side]; z is open in 2D */
    double wall_friction;
    double wall_velocity[3][2][3]; /* of sticky sides, along themselves: a lid, a conveyor belt */
} domain;

typedef struct material {
    const char *name; /* the user's */
    const material_type *type;
    void *parameters; /* struct of type->table */
    double density;
    field_color color;
    int look;          /* material_look */
    const char *phase; /* what its bodies belong to, where they do not say; NULL: its own name */
    double pic_time;   /* s in which motion that the grid does not hold fades; NAN: solver's own */
} material;

typedef enum sampling { SAMPLE_REGULAR, SAMPLE_JITTERED, SAMPLE_GLASS, SAMPLE_POISSON } sampling;

/* A part of a body's motion at the start (flow.h). */
typedef struct flow_part {
    double translate[3];
    double rotate[3], strain[3], shear; /* 1/s */
    int along, across;                  /* axes of the shear */
    double vortices[2];
    double center[3]; /* NAN: the body's own */
} flow_part;

typedef struct body {
    const char *name;
    int material;      /* index into scene.materials */
    field_color color; /* instead of the material's */
    shape *shape;
    double particles_per_cell; /* 8 in 3D, 4 in 2D by default */
    sampling sampling;
    double jitter; /* share of the spacing, for SAMPLE_JITTERED */
    double velocity[3];
    double spin[3];     /* rad/s about the body's centre of mass; 2D: z only */
    double vortices[2]; /* speed and wave length of Taylor-Green vortices at the start; 0: none */
    bool at_rest;       /* begins in balance with gravity */
    flow_part *flow;    /* more of its motion at the start, added to these */
    int flow_count;
    const char *phase;       /* NULL: the material's */
    mesh_body mesh;          /* of a body as a mesh: its shape then is the list of its vertices */
    contact_moduli *contact; /* of its surface; NULL: none */
} body;

typedef enum contact { CONTACT_STICKY, CONTACT_SLIP, CONTACT_SEPARATE } contact;

typedef struct collider {
    const char *name;
    shape *shape;
    field_color color;
    contact contact;
    double friction;
    motion motion;
    bool grip;   /* a hold of a body: matter begins inside of it, and moves with it */
    bool driven; /* moves as the program or events say: motion has one key, at rest */
    double from,
        until; /* seconds: there from the first on, and no longer at the second; 0: for ever */
} collider;

static inline double collider_end(const collider *c) { return c->until > 0 ? c->until : HUGE_VAL; }
static inline bool collider_is_present(const collider *c, double t) {
    return t >= c->from && t < collider_end(c);
}
/* Whether it comes or goes while a scene is played. */
static inline bool collider_is_temporary(const collider *c) {
    return c->from > 0 || collider_end(c) < HUGE_VAL;
}

typedef struct source {
    const char *name;
    int material;
    field_color color; /* instead of the material's */
    shape *shape;
    double velocity[3];
    double from, until; /* seconds; until HUGE_VAL by default */
    int64_t limit;      /* particles in all; INT64_MAX by default */
    double particles_per_cell;
    sampling sampling; /* not SAMPLE_POISSON */
    double jitter;
    const char *phase; /* NULL: the material's */
} source;

/* Where material is taken away. */
typedef struct sink {
    const char *name;
    shape *shape;
    double from, until; /* seconds; until HUGE_VAL by default */
} sink;

/* How two phases meet. */
typedef enum coupling_kind {
    COUPLING_GLUED,      /* one velocity: they are as one */
    COUPLING_CONTACT,    /* they do not go into each other, and part freely */
    COUPLING_IMMISCIBLE, /* the same of two liquids */
    COUPLING_PUBLISHED,  /* contact by the rule of the article, to compare with */
    COUPLING_MISCIBLE,   /* of liquids: one velocity, and they diffuse into each other */
    COUPLING_DISSOLVES,  /* contact of a solid with a liquid that dissolves it */
} coupling_kind;

/* Whether two phases have one velocity. */
static inline bool coupling_is_one(coupling_kind k) {
    return k == COUPLING_GLUED || k == COUPLING_MISCIBLE;
}

typedef struct phase_coupling {
    coupling_kind kind;
    double friction;    /* Coulomb's */
    double beta;        /* share of the speed of approach that goes in a step; NAN: by tau */
    double tau;         /* s in which all but 1/e of it goes; NAN: by beta */
    double diffusion;   /* m^2/s; NAN: not given */
    double dissolution; /* 1/s, of Noyes and Whitney; NAN: not given */
    double saturation;  /* mass fraction of the solid that the liquid takes at the most */
} phase_coupling;

/* A phase that mixes: a liquid that others are miscible with, or a solid that dissolves. Phases
 * that mix, directly or through others, make a mixture. Particles keep the mass fractions of all
 * species of a scene (particles.h). */
enum { SPECIES_MAX = 4 };
typedef struct species {
    int phase, material;
    int mixture;
    bool solid;
    double dissolution, saturation; /* of a solid */
} species;

typedef enum probe_kind {
    PROBE_EXTENT,
    PROBE_HEIGHT,
    PROBE_DEPTH,
    PROBE_PRESSURE,
    PROBE_CENTER_OF_MASS,
    PROBE_COUNT,
    PROBE_MEAN_SPEED,
    PROBE_SPREAD,
    PROBE_PIECES,
    PROBE_LARGEST_PIECE,
    PROBE_MIXING,
    PROBE_VELOCITY,
    PROBE_CONTACT_FORCE,
} probe_kind;

/* Directions of a spread besides the axes 0..2. */
enum { AXIS_HORIZONTAL = 3, AXIS_ALL = 4 };

typedef struct probe {
    const char *name;
    probe_kind kind;
    int group;        /* body or source (bodies first); -1: everything */
    int collider;     /* contact_force */
    int axis;         /* extent, mixing: 0..2; spread: AXIS_* too */
    int side;         /* extent: 0 min, 1 max */
    double at[3];     /* height, depth: at[0] = x, at[2] = z (2D: 0); else: position */
    double width;     /* depth: of the column */
    shape *shape;     /* count, mean_speed: what is inside; NULL: everywhere */
    double gap;       /* pieces, largest_piece: particles nearer than this hang together */
    int64_t at_least; /* pieces: particles of the smallest that counts */
} probe;

enum { OUTPUT_VTP = 1, OUTPUT_PLY = 2, OUTPUT_BGEO = 4, OUTPUT_OBJ = 8 };

/* Which axis of the files points up. */
typedef enum up_axis { UP_AS_SCENE, UP_Y, UP_Z } up_axis;

typedef struct output_settings {
    unsigned particles;  /* OUTPUT_* bits */
    const char **fields; /* extra attributes by name, e.g. "J" */
    int field_count;
    bool gradient;          /* whether one of these needs the deformation gradient */
    int checkpoint;         /* frames between checkpoints; 0: only at the end */
    unsigned surface;       /* OUTPUT_* bits: meshes of the liquids' surface */
    int surface_resolution; /* lattice cells a grid cell along an axis */
    int surface_smoothing;  /* passes over the mesh */
    surface_method surface_method;
    bool volumes; /* fields of solvers that have a grid, as vti */
    up_axis up;
    unsigned meshes; /* OUTPUT_* bits: files of bodies that are meshes */
} output_settings;

typedef struct scene_event scene_event; /* events.h */

/* A mesh file of a scene. */
typedef struct scene_file {
    const char *name; /* below the folder of the scene, and of a run */
    const char *path; /* where it is */
} scene_file;

struct spate_scene {
    spate_context *ctx;
    arena arena;
    const char *path;   /* as given, for messages */
    const char *folder; /* where its meshes are */
    const char *name;
    bool named; /* by itself, not after its file */
    int dim;
    uint64_t seed;
    unit_system units;
    domain domain;
    double gravity[3];
    double duration, fps;
    double dt;         /* solver.dt: fixed step, 0 for adaptive */
    double cfl;        /* solver.cfl: of the speed limit */
    int64_t max_steps; /* solver.max_steps: 0 for none */
    const solver_declaration *solver;
    void *solver_options; /* struct of solver->table */
    material *materials;
    int material_count;
    body *bodies;
    int body_count;
    collider *colliders; /* the grips of bodies first, then those of the list */
    int collider_count, grip_count;
    source *sources;
    int source_count;
    sink *sinks;
    int sink_count;
    probe *probes;
    int probe_count;
    force_field *forces;
    shape **force_regions; /* of each, or NULL */
    int force_count;
    scene_event *events; /* in the order they are applied */
    int event_count;
    bool coupled;        /* the scene says how phases meet */
    const char **phases; /* their names, in the order of the alphabet */
    int phase_count;
    phase_coupling *couplings; /* of phases a and b: [a * phase_count + b] */
    int *group_phase;          /* of bodies, then sources; then of what is dissolved of them */
    species species[SPECIES_MAX];
    int species_count;
    double diffusion[SPECIES_MAX]; /* by mixture, m^2/s */
    int mixture_count;
    int *dissolved_material; /* of bodies and sources that dissolve: what they become; else NULL */
    glass glass;             /* where a body or source is sampled by it */
    output_settings output;
    camera camera;
    uint64_t hash;         /* of what decides the course of a run, mesh files included: all but
                               name, duration, solver.max_steps, output, camera, colours and looks;
                               with overrides */
    uint64_t full_hash;    /* of everything */
    const char *canonical; /* the scene with all overrides applied, as YAML, kept with a run */
    const char **sets;     /* the overrides, "path=value" */
    int set_count;
    int64_t particle_count; /* after spate_scene_summarise; -1 before */
    int64_t cell_count;     /* that bodies fill, where the solver's matter is on a grid; as above */
    int64_t left_out;       /* of bodies, in colliders and earlier bodies; as above */
    double body_volume;     /* that particles stand for; as above */
    int64_t warnings; /* given while reading, by spate_scene_summarise and spate_scene_review */
    bool looked_over; /* by scene_warn_of_slips */
    scene_file *mesh_files; /* that it names */
    int mesh_file_count;
};

/* A scene as text, before it is read. */
typedef struct scene_document {
    const char *bytes;
    size_t length;
    const char *name;        /* for messages; NULL: "scene" */
    const char *folder;      /* where its meshes are; NULL: "." */
    const char *const *sets; /* path=value, applied to it */
    int set_count;
} scene_document;

/* Reads and checks it by what the registry has. */
spate_status scene_parse(spate_context *ctx, const registry *all, const scene_document *given,
                         spate_scene **scene);
spate_status scene_load(spate_context *ctx, const registry *all, const char *path,
                        const char *const *sets, int set_count, spate_scene **scene);
/* Writes docs/scene.md, piece by piece. */
spate_status scene_reference(spate_context *ctx, const registry *all,
                             void (*write)(const char *, void *), void *user);

/* A particle's group: bodies come first, then sources. */
static inline int scene_group_count(const spate_scene *s) {
    return s->body_count + s->source_count;
}
/* What is dissolved of group g is group g + scene_group_count. */
static inline int scene_group_slots(const spate_scene *s) {
    return (s->dissolved_material ? 2 : 1) * scene_group_count(s);
}
/* The body or source that it came from. */
static inline int scene_group_origin(const spate_scene *s, int group) {
    const int count = scene_group_count(s);
    return group < count ? group : group - count;
}
static inline int scene_group_material(const spate_scene *s, int group) {
    const int count = scene_group_count(s);
    if (group >= count && s->dissolved_material) return s->dissolved_material[group - count];
    return group < s->body_count ? s->bodies[group].material
                                 : s->sources[group - s->body_count].material;
}
/* The species that a group's particles are made of at the start, -1: none that mixes. */
static inline int scene_group_species(const spate_scene *s, int group) {
    for (int k = 0; k < s->species_count; k++)
        if (s->species[k].phase == s->group_phase[group]) return k;
    return -1;
}
/* Whether a group's particles are a liquid whose density follows what is mixed in it. */
static inline bool scene_group_mixes(const spate_scene *s, int group) {
    const int k = s->species_count ? scene_group_species(s, group) : -1;
    return k >= 0 && !s->species[k].solid;
}
/* The axis against gravity; y without any. */
static inline int scene_up_axis(const spate_scene *s) {
    int up = 1;
    for (int a = 0; a < 3; a++)
        if (fabs(s->gravity[a]) > fabs(s->gravity[up])) up = a;
    return up;
}
/* The colour of its own, which need not be given. */
static inline const field_color *scene_group_color(const spate_scene *s, int group) {
    return group < s->body_count ? &s->bodies[group].color
                                 : &s->sources[group - s->body_count].color;
}
/* Whether a body or source has one. */
static inline bool scene_colors_groups(const spate_scene *s) {
    bool any = false;
    for (int g = 0; g < scene_group_count(s); g++) any |= scene_group_color(s, g)->given;
    return any;
}
/* How many columns of stats.csv a probe has: a vector has one for each axis. */
static inline int probe_columns(const spate_scene *s, const probe *p) {
    const bool is_vector = p->kind == PROBE_CENTER_OF_MASS || p->kind == PROBE_VELOCITY ||
                           p->kind == PROBE_CONTACT_FORCE;
    return is_vector ? s->dim : 1;
}
/* Whether its matter is on the grid's cells, without particles. */
static inline bool scene_on_grid(const spate_scene *s) { return s->solver && s->solver->on_grid; }
/* Whether a material is meshed as a liquid. */
static inline bool material_is_liquid(const material *m) {
    return m->type->matter == MATTER_LIQUID;
}
static inline const char *scene_group_name(const spate_scene *s, int group) {
    return group < s->body_count ? s->bodies[group].name : s->sources[group - s->body_count].name;
}

#endif
