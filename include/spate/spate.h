/*
 * Spate: liquids, sand, clay, snow, metal, elastic solids and smoke on particles and grids.
 *
 * This is the whole public interface. How it is used:
 *
 *     spate_context *ctx;
 *     spate_open(NULL, &ctx);                        // or with hooks, see spate_config
 *     spate_scene *scene;
 *     if (spate_scene_load(ctx, "dam.yaml", NULL, 0, &scene)) puts(spate_message(ctx));
 *     spate_simulation *sim;
 *     spate_simulation_create(scene, &sim);
 *     while (spate_simulation_time(sim) < 1 && !spate_simulation_step(sim, 1)) ...  // up to t = 1 s
 *     spate_simulation_free(sim); spate_scene_free(scene); spate_close(ctx);
 *
 * Every call that can fail returns a status; the message behind it is in the context. The library
 * never exits, never prints and keeps no mutable globals. A context and what was made from it
 * belong to one thread at a time; several contexts may be used side by side. Lengths are in the
 * scene's units (SI, or cm/g/s where the scene says `units: cgs`).
 *
 * Two libraries share this header. libspate_pictures holds what draws: spate_render,
 * spate_default_render_options and spate_compare. All else is in libspate.
 */
#ifndef SPATE_H
#define SPATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SPATE_API __attribute__((visibility("default")))
#else
#define SPATE_API
#endif

#define SPATE_VERSION_MAJOR 0
#define SPATE_VERSION_MINOR 1
#define SPATE_VERSION_PATCH 0
#define SPATE_VERSION       "0.1.0"

/* The outcome of a call. The command exits with the same numbers. */
typedef enum spate_status {
    SPATE_OK = 0,
    SPATE_BAD_INPUT = 2,     /* a scene, mesh, checkpoint, option or call that is wrong */
    SPATE_UNSTABLE = 3,      /* the simulation became unstable (NaN, escape, collapsed step) */
    SPATE_NOT_CONVERGED = 4, /* a solver did not converge */
    SPATE_IO_ERROR = 5,      /* a file could not be read or written */
    SPATE_OUT_OF_MEMORY = 6,
    SPATE_INTERRUPTED = 130 /* stopped on request, after a checkpoint */
} spate_status;

typedef struct spate_context spate_context;
typedef struct spate_scene spate_scene;
typedef struct spate_simulation spate_simulation;

/* ---- Context: hooks, threads, messages ------------------------------------------------------ */

typedef enum spate_log_level { SPATE_LOG_INFO, SPATE_LOG_WARNING } spate_log_level;

/* Files by the program's own functions instead of the system's: all in memory, from a browser... A
 * path names a whole file, as Spate has put it together: "run/stats.csv". All functions are given,
 * or none; they are called in the caller's thread only. A build without files (-DSPATE_FILES=OFF)
 * has no others. */
typedef struct spate_files {
    /* Bytes of a file; -1: there is none. */
    int64_t (*size)(const char *path, void *user);
    /* Copies the whole file, `length` bytes, to `bytes`; false: it could not be read. */
    bool (*read)(const char *path, void *bytes, size_t length, void *user);
    /* Replaces the file, or adds to its end; `bytes` may be NULL when `length` is 0. False: it
     * could not be written, and is as it was. */
    bool (*write)(const char *path, const void *bytes, size_t length, bool append, void *user);
    /* False: it is still there. */
    bool (*remove)(const char *path, void *user);
    /* Calls visit(name, visitor) for "folder/name" of every file, those in folders below it as
     * "sub/name"; for none where there are none. False: that could not be told. */
    bool (*list)(const char *folder, void (*visit)(const char *name, void *visitor), void *visitor,
                 void *user);
    void *user; /* handed to each */
} spate_files;

/* Hooks and settings of a context; start from spate_default_config(). */
typedef struct spate_config {
    void *(*allocate)(size_t bytes, void *user); /* default malloc; may return NULL */
    void (*release)(void *block, void *user);    /* default free */
    void (*log)(spate_log_level level, const char *message, void *user); /* default: nothing */
    void *user;                                                          /* handed to every hook */
    int threads;       /* worker threads; 0 (default): one per core */
    spate_files files; /* default: the system's */
} spate_config;

SPATE_API spate_config spate_default_config(void);

/* Opens a context; NULL for `config` means the defaults. */
SPATE_API spate_status spate_open(const spate_config *config, spate_context **context);
SPATE_API void spate_close(spate_context *context);

/* What went wrong in the last call that failed: file, line, field and what to do. Never NULL. */
SPATE_API const char *spate_message(const spate_context *context);
SPATE_API int spate_threads(const spate_context *context);
SPATE_API const char *spate_version(void);
/* Version, precision, compiler and the instruction set in use, in one line. */
SPATE_API const char *spate_build(const spate_context *context);

/* ---- Scene ---------------------------------------------------------------------------------- */

/* Reads and checks a scene file. `sets` are "path=value" overrides, e.g. "solver.cfl=0.3". */
SPATE_API spate_status spate_scene_load(spate_context *context, const char *path,
                                        const char *const *sets, int set_count,
                                        spate_scene **scene);
/* The same from memory; `name` stands for the file in messages, meshes are found from `folder`. */
SPATE_API spate_status spate_scene_parse(spate_context *context, const char *text, size_t length,
                                         const char *name, const char *folder,
                                         const char *const *sets, int set_count,
                                         spate_scene **scene);
SPATE_API void spate_scene_free(spate_scene *scene);

/* What a scene will do, for a summary. Strings live as long as the scene. */
typedef struct spate_scene_summary {
    const char *name;
    const char *solver;
    int dimension;
    int cells[3]; /* grid cells along each axis of the domain */
    double dx;
    double duration;   /* seconds */
    double fps;        /* frames a second */
    int frames;        /* whole frames in `duration` */
    int64_t particles; /* sampled at the start */
    int materials, bodies, colliders, sources, probes;
    int warnings;  /* things the reader should look at; each was logged */
    uint64_t hash; /* of the scene with all overrides applied */
    int on_grid;   /* 1 where the solver's matter is on the grid's cells: there are no particles */
    int64_t filled_cells; /* by bodies at the start, where on_grid; a cell counts for each body */
    int64_t left_out;     /* particles or cells of bodies that lie in colliders or earlier bodies */
} spate_scene_summary;

/* Samples the bodies to count particles or cells, so it may fail and may take a moment. */
SPATE_API spate_status spate_scene_summarise(spate_scene *scene, spate_scene_summary *summary);

/* What a run of a scene will cost, about: for most scenes within a factor of two. */
typedef struct spate_review {
    spate_scene_summary summary;
    double dt;            /* seconds of a step, on average */
    const char *dt_limit; /* what sets it, as in spate_simulation_dt_limit */
    double steps;
    double particles;    /* at the end, with what sources bring; nothing is taken off for sinks */
    int threads;         /* that the time is for: those of the context */
    double seconds;      /* of wall time, with the machine to itself */
    double memory_bytes; /* at the peak */
    double disk_bytes;   /* of the finished folder */
} spate_review;

/* Looks a scene over before it is run. It counts without storing particles, so that a scene far too
 * large for the machine can be looked at too, and warns of what is probably a slip: gravity that
 * points upwards, a density in g/cm^3, a mesh in millimetres... */
SPATE_API spate_status spate_scene_review(spate_scene *scene, spate_review *review);

/* Writes the reference of every scene field (Markdown) by calling `write` piece by piece. */
SPATE_API spate_status spate_scene_reference(spate_context *context,
                                             void (*write)(const char *text, void *user),
                                             void *user);

/* ---- Simulation ----------------------------------------------------------------------------- */

SPATE_API spate_status spate_simulation_create(spate_scene *scene, spate_simulation **simulation);
SPATE_API void spate_simulation_free(spate_simulation *simulation);

/* One step, as long as the solver allows but never beyond `until` (seconds). */
SPATE_API spate_status spate_simulation_step(spate_simulation *simulation, double until);

SPATE_API double spate_simulation_time(const spate_simulation *simulation);
SPATE_API int64_t spate_simulation_steps(const spate_simulation *simulation);
SPATE_API int64_t spate_simulation_particles(const spate_simulation *simulation);
SPATE_API double spate_simulation_dt(const spate_simulation *simulation);
/* Which limit set the last time step: "speed", "wave", "fixed", "frame", ... */
SPATE_API const char *spate_simulation_dt_limit(const spate_simulation *simulation);
/* A hash of the whole state in particle id order; the same for every number of threads. */
SPATE_API uint64_t spate_simulation_hash(spate_simulation *simulation);

/* A particle attribute, copied out in id order: "P", "v", "id", "pscale", "material", "J",
 * "density", "stress", "C", ... The values are doubles, `components` to a particle. With values
 * NULL it only tells the number of components and particles. */
SPATE_API spate_status spate_simulation_attribute(spate_simulation *simulation, const char *name,
                                                  double *values, int *components,
                                                  int64_t *particles);

/* A named number of the current state: a column of stats.csv such as "mass" or "kinetic_energy"
 * (all but frame, dt_limit and wall_seconds), or a probe. NAN for what the solver does not have. */
SPATE_API spate_status spate_simulation_quantity(spate_simulation *simulation, const char *name,
                                                 double *value);

SPATE_API spate_status spate_simulation_save(spate_simulation *simulation, const char *path);
/* Makes a simulation that continues from a checkpoint; the scene must be the one it came from,
 * except for its duration and output. */
SPATE_API spate_status spate_simulation_restore(spate_scene *scene, const char *path,
                                                spate_simulation **simulation);

/* ---- Run: from a scene to a folder of frames --------------------------------------------------
 */

/* How far a run is; strings live until the callback returns. */
typedef struct spate_progress {
    int frame, frames;
    double time; /* simulated seconds */
    int64_t steps, particles;
    double steps_per_second; /* since the run began */
    double eta_seconds;      /* wall seconds to go, from the pace so far; < 0 unknown */
    double dt;               /* of the last step */
    const char *dt_limit;    /* the limit that has set most steps of this frame */
    const char *worst_phase; /* the stage that took most of the time */
    double worst_share;      /* its share, 0 to 1 */
    double done;             /* share of the run's time, 0 to 1 */
} spate_progress;

typedef struct spate_run_options {
    uint32_t cookie;    /* set by spate_default_run_options() */
    const char *folder; /* where the run is written; NULL: named after the scene */
    int frames;         /* stop after this many frames; 0 (default): by duration */
    double until;       /* stop with the frame that reaches this time; 0: by duration */
    bool resume;        /* go on from the folder's checkpoint */
    bool force;         /* replace the run that is in the folder */
    bool step_log;      /* steps.jsonl: a JSON line for every step */
    bool step_full;     /* the same with statistics and state hash in every line, which may take
                           longer than the steps */
    void (*progress)(const spate_progress *progress,
                     void *user); /* after every step; may be NULL */
    void *user;
    const volatile int *interrupt; /* when it becomes non-zero: checkpoint and stop; may be NULL */
} spate_run_options;

typedef struct spate_run_report {
    char folder[4096];
    int frames;
    int64_t steps, particles;
    double wall_seconds;
    double particle_steps_per_second;
    uint64_t state_hash;
    int64_t warnings;
} spate_run_report;

SPATE_API spate_run_options spate_default_run_options(void);
/* The scene of a run that is to go on in `folder` (NULL: named after the scene): the file `path`
 * with the overrides that the run was made with, then `sets`. With `path` NULL it is the scene as
 * the folder keeps it. A folder without a run adds nothing. */
SPATE_API spate_status spate_run_scene(spate_context *context, const char *folder, const char *path,
                                       const char *const *sets, int set_count, spate_scene **scene);
/* Runs to the end and leaves a complete folder however it ends; `report` may be NULL. Frames are
 * written by a thread that lives as long as the run, unless spate_config.files are given; hooks and
 * callbacks are the caller's thread's. */
SPATE_API spate_status spate_run(spate_scene *scene, const spate_run_options *options,
                                 spate_run_report *report);

/* ---- Files and pictures ------------------------------------------------------------------------
 */

/* Describes a scene, mesh, checkpoint, frame, picture, film or the folder of a run in a few lines
 * through `write`. */
SPATE_API spate_status spate_describe_file(spate_context *context, const char *path,
                                           void (*write)(const char *text, void *user), void *user);
/* The same as one JSON object (docs/output.md). */
SPATE_API spate_status spate_describe_file_json(spate_context *context, const char *path,
                                                void (*write)(const char *text, void *user),
                                                void *user);

typedef struct spate_mesh_options {
    uint32_t cookie;    /* set by spate_default_mesh_options() */
    const char *method; /* "isotropic", "anisotropic" or "sheets"; NULL (default): the scene's */
    const char
        *formats;       /* "ply", "obj", "vtp", or several with commas; NULL (default): the scene's,
                            or ply */
    int resolution;     /* lattice cells a grid cell; 0 (default): the scene's */
    int smoothing;      /* passes over the mesh; < 0 (default): the scene's */
    int first, last;    /* frames; last < 0 (default): up to the last one */
    const char *output; /* folder for the files; NULL (default): the run's own */
    bool force;         /* replace surfaces that are there (default false) */
    void (*progress)(int done, int total, const char *file, void *user); /* may be NULL */
    void *user;
    const volatile int *interrupt; /* may be NULL */
} spate_mesh_options;

SPATE_API spate_mesh_options spate_default_mesh_options(void);
/* Surfaces of liquids from the frames of particles (vtp) in a run's folder: surface_NNNN.ply ... */
SPATE_API spate_status spate_mesh(spate_context *context, const char *folder,
                                  const spate_mesh_options *options);

typedef struct spate_render_options {
    uint32_t cookie;   /* set by spate_default_render_options() */
    int width, height; /* pixels; default 1280 x 720 */
    const char
        *colour; /* attribute to colour by; NULL: by material, or by speed what fills all of a 2D
                           domain or is the same everywhere */
    double range[2];    /* of the colour scale; equal numbers (default): from the data */
    int first, last;    /* frames; last < 0 (default): up to the last one */
    const char *camera; /* "x,y,z:x,y,z", where it stands and what it looks at; 2D: "x,y:x,y",
                           corners of what is shown; NULL (default): the scene's */
    double fov;         /* degrees, vertical; 0 (default): the scene's */
    double orbit;       /* degrees round what it looks at, over the whole run; NAN (default): the
                           scene's */
    const char *const *sets; /* "path=value" overrides of fields that pictures are made by, e.g.
                                "camera.fov=50"; NULL (default): none */
    int set_count;
    bool film;          /* also write film.mp4 with ffmpeg (default true) */
    double fps;         /* pictures a second of the film; 0 (default): as the frames pass */
    double speed;       /* simulated seconds a second of the film; 0 (default): 1, or slower where
                           the film would be shorter than 4 s */
    int loops;          /* how often the film shows the run; default 1 */
    bool pingpong;      /* forth and back each time; default false */
    bool points;        /* in 2D, liquid as points instead of an area (default false) */
    int samples;        /* rays a pixel in 3D; default 4 */
    const char *plot;   /* instead of pictures: columns of stats.csv, "a,b", over time */
    const char *output; /* folder for the pictures; NULL (default): DIR/pictures */
    void (*progress)(int done, int total, const char *file, void *user); /* may be NULL */
    void *user;
    const volatile int *interrupt; /* may be NULL */
} spate_render_options;

SPATE_API spate_render_options spate_default_render_options(void);
/* Pictures, film or plot from a run's folder. In libspate_pictures. */
SPATE_API spate_status spate_render(spate_context *context, const char *folder,
                                    const spate_render_options *options);

/* ---- Comparisons: variants of a scene side by side ----------------------------------------------
 */

/* The whole path of a field, as `sets` take it: a bare name that is not one at the top of a scene
 * is one of the solver's, so "integrator" gives "solver.integrator". False when it does not fit. */
SPATE_API bool spate_scene_field(const char *name, char *path, size_t size);

/* The folder that holds a comparison: `given`, or named after the scene when NULL. It is refused
 * when it is not empty, unless `reuse`. Nothing is made. */
SPATE_API spate_status spate_compare_folder(const spate_scene *scene, const char *given, bool reuse,
                                            char *folder, size_t size);

/* One of the runs that are compared. */
typedef struct spate_variant {
    const char *name;    /* in tables */
    const char *label;   /* in pictures; NULL (default): the name */
    const char *folder;  /* of its run */
    const char *trouble; /* how it ended when not well, e.g. "unstable"; NULL (default): well */
    double total_energy; /* set by spate_compare: at the last frame; NAN when there is none */
} spate_variant;

typedef struct spate_compare_options {
    uint32_t cookie;    /* set by spate_default_compare_options() */
    const char *folder; /* where the files go; must be given */
    const char *title;  /* over the pictures, behind the scene's name; NULL (default): nothing */
    int times;          /* columns of the sheet; default 4 */
    int cell;           /* about the width of a picture in it; default 480 pixels */
    int samples;        /* rays a pixel in 3D; default 4 */
    void (*wrote)(const char *file, void *user); /* after every file; may be NULL */
    void *user;
    const volatile int *interrupt; /* may be NULL */
} spate_compare_options;

SPATE_API spate_compare_options spate_default_compare_options(void);
/* From the folders of several runs: compare.csv, a row a frame of every variant. */
SPATE_API spate_status spate_compare_table(spate_context *context, spate_variant *variants,
                                           int count, const spate_compare_options *options);
/* The same and, from libspate_pictures: compare.png, the energies and probes over time, a curve a
 * variant; sheet.png, a row of pictures a variant. A run without frames in vtp has no row of
 * pictures. */
SPATE_API spate_status spate_compare(spate_context *context, spate_variant *variants, int count,
                                     const spate_compare_options *options);

/* ---- Benchmarks --------------------------------------------------------------------------------
 */

typedef struct spate_bench_phase {
    const char *name;
    double seconds;
} spate_bench_phase;

/* One row of `spate bench`; strings live until the callback returns. */
typedef struct spate_bench_row {
    const char *name, *solver, *variant;
    const char *integrator; /* "": the scene's own */
    int dimension, threads;
    int64_t particles, cells, steps;
    double seconds;
    double particle_steps_per_second;
    double bytes_per_particle;
    double bandwidth_share; /* of the copy bandwidth measured with as many threads; < 0 unknown */
    const spate_bench_phase *phases;
    int phase_count;
} spate_bench_row;

typedef struct spate_bench_options {
    uint32_t cookie;        /* set by spate_default_bench_options() */
    const char *name;       /* which benchmark; NULL: all */
    int64_t particles;      /* about how many; 0 (default): as the benchmark says */
    int threads;            /* 0 (default): one, then two */
    int rounds;             /* best of; default 3 */
    const char *variant;    /* of the benchmark, "liquid" or "dam"; NULL: all */
    const char *integrator; /* one, or several with commas: stepped in turn; NULL: the variant's */
    const char *scene;      /* a scene file instead of the variants; NULL (default) */
    int dimension;          /* 2, 3; 0: both */
    double domain_scale;    /* edge length of the domain in bodies; default 2 */
    void (*row)(const spate_bench_row *row, void *user);
    void *user;
} spate_bench_options;

SPATE_API spate_bench_options spate_default_bench_options(void);
SPATE_API spate_status spate_bench(spate_context *context, const spate_bench_options *options);

#ifdef __cplusplus
}
#endif

#endif
