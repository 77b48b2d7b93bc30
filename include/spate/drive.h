/*
 * Driving a simulation: reading what it holds and acting on it while it runs, from a program's own
 * loop. spate.h goes from a scene to a folder of frames; with this header another program, a
 * robot's controller, a game, a mouse or a script, is part of the simulation.
 *
 *     spate_reading water = spate_default_reading();   // P, as floats, by id
 *     water.values = positions, water.capacity = 3 * most;
 *     while (spate_simulation_time(sim) < 10) {
 *         spate_simulation_step(sim, 10);
 *         spate_simulation_read(sim, &water);          // water.particles of them
 *     }
 *
 * A call that cannot do what it is asked changes nothing, returns a status, and spate_message()
 * tells what to do. Option structs come from their spate_default_...(); one that does not is
 * refused. All numbers are in the scene's units. In 2D, z is 0. docs/library.md explains it by
 * example.
 */
#ifndef SPATE_DRIVE_H
#define SPATE_DRIVE_H

#include <spate/spate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reading: particles ---------------------------------------------------------------------- */

/* The type of numbers in memory. */
typedef enum spate_number {
    SPATE_FLOAT32,
    SPATE_FLOAT64,
    SPATE_UINT8,
    SPATE_UINT16,
    SPATE_UINT32,
    SPATE_UINT64
} spate_number;

/* The order of particles: by id, in which a particle stays ahead of all younger ones; or as they
 * lie in memory now, which is faster and changes with steps. */
typedef enum spate_order { SPATE_BY_ID, SPATE_AS_STORED } spate_order;

/* What is to be read, and where to. With `values` NULL only the last fields are filled in. */
typedef struct spate_reading {
    uint32_t cookie;       /* set by spate_default_reading() */
    const char *attribute; /* default "P", positions in the world, m; or "v", "id", "J", ... */
    spate_number type;     /* default SPATE_FLOAT32; whole numbers may be SPATE_UINT32 or 64 */
    spate_order order;     /* default SPATE_BY_ID */
    void *values;          /* components of a particle beside one another; default NULL */
    size_t capacity;       /* how many numbers fit there; default 0 */
    /* filled in */
    int components;    /* numbers of a particle */
    int64_t particles; /* how many there are */
    double origin[3];  /* of P as SPATE_UINT16, which is quantised: x = origin + spacing * number */
    double spacing[3]; /* m; the domain's size over 65535 */
} spate_reading;

SPATE_API spate_reading spate_default_reading(void);
SPATE_API spate_status spate_simulation_read(spate_simulation *simulation, spate_reading *reading);

/* The simulation's own memory of a field of its particles; nothing is copied. Number c of particle
 * i is at data + i * stride + c * component_stride bytes. It holds until the next step or write.
 * Particles whose `group` is 65535 are gone. */
typedef struct spate_view {
    const void *data;
    spate_number type;
    int components;             /* numbers of a particle */
    ptrdiff_t stride;           /* bytes from a particle to the next */
    ptrdiff_t component_stride; /* bytes from a component to the next */
    int64_t particles;          /* how many there are, with those that are gone */
    uint64_t generation;        /* of the simulation when the view was made */
} spate_view;

/* Fields are "id", "velocity", "mass", "group", ... as spate_simulation_list(SPATE_FIELDS) tells.
 * "position" is in cells from the corner of a particle's block: for places in the world read
 * "P". */
SPATE_API spate_status spate_simulation_view(spate_simulation *simulation, const char *field,
                                             spate_view *view);
/* Fails when a step, a stage of it or a write has come between. */
SPATE_API spate_status spate_simulation_check_view(spate_simulation *simulation,
                                                   const spate_view *view);
/* Grows with every step and every write; two equal ones: what was read is still true. */
SPATE_API uint64_t spate_simulation_generation(const spate_simulation *simulation);

/* ---- Reading: meshes ------------------------------------------------------------------------- */

/* Bodies that are meshes, by the particles that are their vertices: cloth as its triangles, finite
 * elements as their skin (in 2D their triangles and outline), strands as the segments of lines.
 * Numbers are places among the particles as spate_simulation_read gives them by id, until particles
 * come or go. A vertex that has left takes its triangles and segments along. */
typedef struct spate_mesh_reading {
    uint32_t cookie;          /* set by spate_default_mesh_reading() */
    uint32_t *triangles;      /* three places each, anticlockwise seen from outside; default NULL */
    uint32_t *segments;       /* two places each; default NULL */
    size_t triangle_capacity; /* how many numbers fit there; default 0 */
    size_t segment_capacity;
    /* filled in */
    int64_t triangles_found, segments_found; /* how many there are */
} spate_mesh_reading;

SPATE_API spate_mesh_reading spate_default_mesh_reading(void);
SPATE_API spate_status spate_simulation_read_meshes(spate_simulation *simulation,
                                                    spate_mesh_reading *reading);

/* ---- Reading: grids -------------------------------------------------------------------------- */

/* The cells of the domain along x, y and z; 1 along z in 2D. */
SPATE_API void spate_simulation_cells(const spate_simulation *simulation, int cells[3]);
/* How many points a field has along x, y and z, and where the first is (m); the others are dx
 * apart. Fields of flip and smoke are at the middles of cells; those of mpm are at their corners,
 * one more than cells along a side that is not periodic. */
SPATE_API spate_status spate_simulation_grid_size(spate_simulation *simulation, const char *field,
                                                  int size[3], double first[3]);
/* A field on these points, such as "velocity" or "pressure" of flip, "density" of smoke, "mass" of
 * mpm: components of a point beside one another, points with x fastest. `capacity`: how many floats
 * fit in `values`. Zero (phi: far) where the solver has no grid, and before its first step. */
SPATE_API spate_status spate_simulation_grid(spate_simulation *simulation, const char *field,
                                             float *values, size_t capacity);

/* ---- What there is to read ------------------------------------------------------------------- */

typedef enum spate_listing {
    SPATE_ATTRIBUTES, /* for spate_simulation_read */
    SPATE_FIELDS,     /* for spate_simulation_view */
    SPATE_QUANTITIES, /* for spate_simulation_quantity: columns of stats.csv and probes */
    SPATE_GRIDS       /* for spate_simulation_grid */
} spate_listing;

typedef struct spate_entry {
    char name[64];
    char unit[16]; /* "" of a pure number; in the scene's units */
    int components;
    spate_number type; /* as the simulation has it */
} spate_entry;

/* Writes at most `capacity` entries; *count is how many there are. */
SPATE_API spate_status spate_simulation_list(spate_simulation *simulation, spate_listing listing,
                                             spate_entry *entries, int capacity, int *count);

/* ---- What one must know to show it ----------------------------------------------------------- */

/* The scene as it is now, with what was added: domain, solver, materials with their colours, looks
 * and values, names of parts, as one JSON object handed to `write`. */
SPATE_API spate_status spate_simulation_portrait(spate_simulation *simulation,
                                                 void (*write)(const char *text, void *user),
                                                 void *user);

/* What a scene may say, as spate_scene_reference (spate.h) but for programs: one JSON object with a
 * list of fields for each of "scene", "domain", "solver", "solver mpm", "material liquid", "shape
 * box", ... A field has name, type, unit, required, default, min, max, choices, help, and fields of
 * its own where it is a mapping. */
SPATE_API spate_status spate_scene_fields(spate_context *context,
                                          void (*write)(const char *text, void *user), void *user);

/* Points in rows, x fastest. */
typedef struct spate_lattice {
    double first[3]; /* m */
    double spacing;  /* m */
    int size[3];     /* points along x, y and z; 1 along z in 2D */
    float *values;   /* one to a point */
    size_t capacity; /* how many fit there */
} spate_lattice;

/* The signed distance (m, negative inside) to the nearest collider that is there, as the last step
 * had them; infinite without one. */
SPATE_API spate_status spate_simulation_solid_distance(spate_simulation *simulation,
                                                       const spate_lattice *lattice);

/* ---- Acting: colliders ----------------------------------------------------------------------- */

/* Where a collider is and how it moves. */
typedef struct spate_pose {
    uint32_t cookie;    /* set by spate_default_pose() */
    double position[3]; /* of its pivot; m, default 0 */
    double rotation[4]; /* from how the scene has drawn it: unit quaternion x, y, z, w; default
                           0, 0, 0, 1. In 2D by an angle a: 0, 0, sin(a/2), cos(a/2) */
    double velocity[3]; /* of the pivot; m/s, default 0 */
    double spin[3];     /* angular velocity; rad/s, default 0 */
} spate_pose;

SPATE_API spate_pose spate_default_pose(void);
/* Puts a collider that the scene calls `driven: true` where the pose says at the present time. It
 * moves on with the velocity and spin until it is told otherwise. Liquid feels that velocity: it
 * should be the one with which the pose will change. */
SPATE_API spate_status spate_simulation_set_pose(spate_simulation *simulation, const char *collider,
                                                 const spate_pose *pose);
/* Where any collider is now. */
SPATE_API spate_status spate_simulation_pose(spate_simulation *simulation, const char *collider,
                                             spate_pose *pose);
/* What the material did to a collider in the last step: the mean force (N; in 2D N/m) and its
 * torque about the pivot (N m; in 2D N). In every solver. */
SPATE_API spate_status spate_simulation_force(spate_simulation *simulation, const char *collider,
                                              double force[3], double torque[3]);

/* ---- Acting: particles ----------------------------------------------------------------------- */

/* What is written to particles. */
typedef enum spate_target {
    SPATE_VELOCITY, /* m/s */
    SPATE_POSITION, /* m, inside the domain */
    SPATE_FORCE     /* N (in 2D N/m), for the next step alone; added to earlier ones for it */
} spate_target;

typedef struct spate_writing {
    uint32_t cookie;      /* set by spate_default_writing() */
    spate_target target;  /* default SPATE_VELOCITY */
    const uint64_t *ids;  /* of the particles, ascending; NULL (default): all there are, by id */
    int64_t particles;    /* how many of them; default 0, must be given */
    const double *values; /* three to a particle, z is 0 in 2D; default NULL, must be given */
} spate_writing;

SPATE_API spate_writing spate_default_writing(void);
SPATE_API spate_status spate_simulation_write(spate_simulation *simulation,
                                              const spate_writing *writing);

/* ---- Acting: force fields -------------------------------------------------------------------- */

/* What a force field does; `forces` of a scene has the same kinds (docs/scene.md). */
typedef enum spate_force_kind {
    SPATE_WIND,       /* the same acceleration everywhere */
    SPATE_ATTRACTOR,  /* strength r / (r^2 + softening^2)^(3/2) to the center */
    SPATE_VORTEX,     /* strength around the axis at the radius, less within and beyond */
    SPATE_TURBULENCE, /* eddies of a length, without divergence, strength their root mean square */
    SPATE_DRAG,       /* velocities near `velocity` as exp(-rate t) */
    SPATE_MOUSE       /* the same in a ball, less towards its radius */
} spate_force_kind;

typedef struct spate_force {
    uint32_t cookie;        /* set by spate_default_force() */
    spate_force_kind kind;  /* default SPATE_WIND */
    double acceleration[3]; /* wind: m/s^2, default 0 */
    double strength;        /* attractor: m^3/s^2; vortex, turbulence: m/s^2; default 0 */
    double center[3];       /* attractor, vortex, mouse: m, default 0, 0, 0 */
    double axis[3];         /* vortex: default z */
    double radius;          /* vortex, mouse: m, must be given */
    double softening;       /* attractor: m, must be given */
    double length;          /* turbulence: of its eddies, m, must be given */
    double period;          /* turbulence: in which they become others, s; default 0: never */
    uint64_t seed;          /* turbulence: default 0 */
    double velocity[3];     /* drag, mouse: m/s, default 0 */
    double rate;            /* drag, mouse: 1/s, default 50 */
    double from, until;     /* s; default 0, for ever */
    double min[3], max[3];  /* m; the box in which it acts, default everywhere */
} spate_force;

SPATE_API spate_force spate_default_force(void);
/* Lets a force field of this name begin, or puts it in the place of the one that has the name: a
 * mouse is set anew with every move. At most 64 at a time. */
SPATE_API spate_status spate_simulation_set_force(spate_simulation *simulation, const char *name,
                                                  const spate_force *force);

/* ---- Acting: parts of the scene -------------------------------------------------------------- */

/* Parts come and go while a simulation runs. Each of these calls makes it anew around its state,
 * which takes about as long as spate_simulation_create: not for every step. What moves in every
 * step is a driven collider or a force field. */

typedef enum spate_shape_kind {
    SPATE_BOX,      /* min, max */
    SPATE_SPHERE,   /* center, radius; in 2D a disc */
    SPATE_CYLINDER, /* from, to, radius; in 2D a bar */
    SPATE_CAPSULE   /* from, to, radius: with round ends */
} spate_shape_kind;

/* What a part fills. Of these fields, a kind has those that stand beside it above, and they must be
 * given; others are not looked at. All other shapes: as YAML, by spate_simulation_add. */
typedef struct spate_shape {
    spate_shape_kind kind; /* default SPATE_BOX */
    double min[3], max[3]; /* m; lowest and highest corner; default 0 */
    double center[3];      /* m; default 0 */
    double from[3], to[3]; /* m; ends of the axis; default 0 */
    double radius;         /* m; default 0 */
} spate_shape;

/* Material that is there from now on. There are no particles of it where others are already, or a
 * collider is. Smoke takes no bodies. */
typedef struct spate_body {
    uint32_t cookie;      /* set by spate_default_body() */
    const char *name;     /* default NULL: "body 2" or whichever it is */
    const char *material; /* name of one of the scene's; must be given */
    spate_shape shape;
    double velocity[3];        /* m/s; default 0 */
    double spin[3];            /* rad/s, about its middle; default 0; in 2D only z */
    double particles_per_cell; /* default 0: 8 in 3D, 4 in 2D */
} spate_body;

/* How material meets a collider: sticks to it, slips along it, or may also leave it. */
typedef enum spate_contact { SPATE_STICKY, SPATE_SLIP, SPATE_SEPARATE } spate_contact;

typedef struct spate_collider {
    uint32_t cookie;       /* set by spate_default_collider() */
    const char *name;      /* default NULL: "collider 2" or whichever it is */
    spate_shape shape;     /* its pivot is the middle of it */
    spate_contact contact; /* default SPATE_SEPARATE */
    double friction;       /* of slip and separate contact; default 0 */
    bool driven;           /* moves by spate_simulation_set_pose; default true */
} spate_collider;

/* Where material flows in. */
typedef struct spate_source {
    uint32_t cookie;      /* set by spate_default_source() */
    const char *name;     /* default NULL: "source 2" or whichever it is */
    const char *material; /* name of one of the scene's; must be given */
    spate_shape shape;
    double velocity[3];        /* m/s; default 0 */
    double from, until;        /* s; default 0, for ever */
    int64_t limit;             /* most particles that it makes; default 0: no limit */
    double particles_per_cell; /* default 0: 8 in 3D, 4 in 2D */
} spate_source;

/* Where material is taken away. */
typedef struct spate_sink {
    uint32_t cookie;  /* set by spate_default_sink() */
    const char *name; /* default NULL: "sink 2" or whichever it is */
    spate_shape shape;
    double from, until; /* s; default 0, for ever */
} spate_sink;

SPATE_API spate_body spate_default_body(void);
SPATE_API spate_collider spate_default_collider(void);
SPATE_API spate_source spate_default_source(void);
SPATE_API spate_sink spate_default_sink(void);
SPATE_API spate_status spate_simulation_add_body(spate_simulation *simulation,
                                                 const spate_body *body);
SPATE_API spate_status spate_simulation_add_collider(spate_simulation *simulation,
                                                     const spate_collider *collider);
SPATE_API spate_status spate_simulation_add_source(spate_simulation *simulation,
                                                   const spate_source *source);
SPATE_API spate_status spate_simulation_add_sink(spate_simulation *simulation,
                                                 const spate_sink *sink);
/* Adds materials, bodies, colliders, sources and sinks with all that a scene can say of them, as
 * YAML: "bodies: [{material: water, shape: {sphere: {center: [0.5, 0.8], radius: 0.1}}}]". */
SPATE_API spate_status spate_simulation_add(spate_simulation *simulation, const char *yaml);
/* Changes a field of the scene, "materials.water.viscosity=2": of materials, the solver (not its
 * type), gravity. */
SPATE_API spate_status spate_simulation_set(spate_simulation *simulation, const char *set);
/* Ends the force field, collider, source or sink of that name, or takes the particles of a body
 * away. */
SPATE_API spate_status spate_simulation_remove(spate_simulation *simulation, const char *name);

/* ---- What a run writes, from one's own loop -------------------------------------------------- */

/* The files of a frame as the scene's `output` asks, particles_0007.vtp and others, and the scene
 * as it is now, run.scene.yaml, in a folder that is made where there is none. spate_render
 * (spate.h, in libspate_pictures) makes pictures of such a folder, driven colliders in their
 * places: one of frame 7 with first = last = 7, or all and a film. */
SPATE_API spate_status spate_simulation_write_frame(spate_simulation *simulation,
                                                    const char *folder, int frame);
/* The surface of the liquids (in 2D their outline) as `path` ends: .ply, .obj or .vtp; by the
 * settings of the scene's `output`, which need not ask for it. */
SPATE_API spate_status spate_simulation_write_surface(spate_simulation *simulation,
                                                      const char *path);
/* A row of stats.csv with its line end, handed to `write` as one text; for a frame below 0 the
 * names of the columns. A collider that was added has columns of its own from then on. */
SPATE_API spate_status spate_simulation_statistics(spate_simulation *simulation, int frame,
                                                   void (*write)(const char *text, void *user),
                                                   void *user);
/* A checkpoint in memory. *length is how many bytes it has; with `bytes` NULL nothing more is done.
 * Restore it with the scene that the simulation was made from, also where parts were added since.
 * To and from files: spate_simulation_save and _restore (spate.h). */
SPATE_API spate_status spate_simulation_save_memory(spate_simulation *simulation, void *bytes,
                                                    size_t capacity, size_t *length);
SPATE_API spate_status spate_simulation_restore_memory(spate_scene *scene, const void *bytes,
                                                       size_t length,
                                                       spate_simulation **simulation);
/* Calls `call` after every stage of a step ("scatter", "pressure", ...; docs/architecture.md). In
 * it the simulation may be read, its grid too, and neither changed nor saved. NULL ends it. */
SPATE_API spate_status spate_simulation_on_stage(spate_simulation *simulation,
                                                 void (*call)(spate_simulation *simulation,
                                                              const char *stage, void *user),
                                                 void *user);

/* ---- Recording ------------------------------------------------------------------------------- */

/* Begins to take note of everything that is done to a simulation; before its first step. While it
 * does, steps also end at the frames of the scene, as those of a run. Noting allocates memory. */
SPATE_API spate_status spate_simulation_record(spate_simulation *simulation);
/* The scene with all that was done as its `events`: `spate run` of it, or a simulation of it that
 * is stepped to its frames, passes through the same states, bit for bit. */
SPATE_API spate_status spate_simulation_recorded(spate_simulation *simulation,
                                                 void (*write)(const char *text, void *user),
                                                 void *user);

#ifdef __cplusplus
}
#endif

#endif
