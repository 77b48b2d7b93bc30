/* The field tables of a scene: what may be written, with unit, default, range and help. */
#include "scene/scene_tables.h"
#include "scene/motion_fields.h"

/* In the order of material_look; smoke is not for particles. */
const char *const scene_look_words[] = {"surface", "skin", "grains", NULL};
static const char *const unit_words[] = {"si", "cgs", NULL};
static const char *const sampling_words[] = {"regular", "jittered", "glass", "poisson", NULL};
static const char *const source_sampling_words[] = {"regular", "jittered", "glass", NULL};
static const char *const contact_words[] = {"sticky", "slip", "separate", NULL};
static const char *const interpolation_words[] = {"linear", "smooth", NULL};
static const char *const side_words[] = {"min", "max", NULL};
static const char *const volume_words[] = {"vti", "none", NULL};
static const char *const surface_method_words[] = {"isotropic", "anisotropic", "sheets", NULL};
static const char *const up_words[] = {"scene", "y", "z", NULL};
static const char *const spread_words[] = {"x", "y", "z", "horizontal", "all", NULL};
const char *const scene_axis_words[] = {"x", "y", "z", NULL};
const char *const scene_wall_words[] = {"slip", "sticky", "separate", "open", "periodic", NULL};

/* ---- The scene ------------------------------------------------------------------------------- */

/* More than anything here is about, and small enough that a float holds the squares. */
#define SPEED_MOST        1e9
#define ACCELERATION_MOST 1e12

static const field top_fields[] = {
    {.name = "spate",
     .type = FIELD_INTEGER,
     .offset = offsetof(scene_top, spate),
     .unit = "",
     .required = true,
     .min = ANY_MIN,
     .max = ANY_MAX,
     .help = "version of the scene format, 1"},
    TEXT_FIELD(scene_top, name, "name of the scene; default: the file's name without its ending"),
    INTEGER_FIELD(scene_top, dimension, 3, 2, 3, "2 or 3"),
    INTEGER_FIELD(scene_top, seed, 1, 0, ANY_MAX, "all randomness comes from it"),
    CHOICE_FIELD(
        scene_top, units, UNITS_SI, unit_words,
        "metre, kilogram, second; or cm, g, s (densities in g/cm^3, pressures in dyne/cm^2); "
        "defaults are converted"),
    PART_FIELD("domain", "mapping", true, "the box in which everything happens, and its grid"),
    VECTOR_FIELD(scene_top, gravity, "m/s^2", NAN, -ACCELERATION_MOST, ACCELERATION_MOST,
                 "acceleration of everything; default: 9.81 m/s^2 downwards, along -y"),
    NUMBER_FIELD(scene_top, duration, "s", 1, SMALLEST, 1e9,
                 "simulated time; a run ends with the last whole frame in it"),
    NUMBER_FIELD(scene_top, fps, "1/s", 25, SMALLEST, 1e6, "frames written a simulated second"),
    PART_FIELD("solver", "mapping", false, "the method and its settings; default: {type: mpm}"),
    PART_FIELD("materials", "mapping", true, "materials by names of your choice"),
    PART_FIELD("bodies", "list", false, "what is there at the start"),
    PART_FIELD("colliders", "list", false, "solid obstacles, at rest or moving"),
    PART_FIELD("sources", "list", false, "where material flows in"),
    PART_FIELD("sinks", "list", false, "where material is taken away"),
    PART_FIELD("coupling", "word or list", false,
               "how phases meet (solver mpm): one word for all, or a list of pairs; default: all "
               "material is one"),
    PART_FIELD("probes", "list", false, "measurements, each a column of stats.csv"),
    PART_FIELD("forces", "list", false, "force fields that act besides gravity"),
    PART_FIELD("events", "list", false, "what is done to it while it runs"),
    PART_FIELD("output", "mapping", false, "what is written"),
    PART_FIELD("camera", "mapping", false, "where pictures are taken from"),
};
const field_table scene_top_table =
    FIELD_TABLE("scene", "The fields at the top of a scene file.", top_fields, scene_top);

static const field domain_fields[] = {
    VECTOR_FIELD(domain, origin, "m", 0, ANY_MIN, ANY_MAX, "lowest corner"),
    REQUIRED_VECTOR(domain, size, "m", SMALLEST, ANY_MAX,
                    "lengths of the sides, whole cells (rounded to the nearest)"),
    REQUIRED_NUMBER(domain, dx, "m", SMALLEST, ANY_MAX, "side of a grid cell"),
    PART_FIELD("walls", "word, list or mapping", false,
               "`slip` (default), `sticky`, `separate`, `open` or `periodic` for all sides; or a "
               "list in the order x_min, x_max, y_min, y_max, z_min, z_max; or a mapping of these"),
    NUMBER_FIELD(
        domain, wall_friction, "", 0, 0, 100,
        "Coulomb friction coefficient of slip and separate walls; slip walls with friction let "
        "go of material as separate ones do (solver mpm)"),
    PART_FIELD("wall_velocity", "mapping", false,
               "velocities of sticky sides along themselves, such as `{y_max: [1, 0]}` for a lid; "
               "default: at rest. Only solvers whose section says so know them"),
};
const field_table scene_domain_table =
    FIELD_TABLE("domain",
                "A box of cubic cells. Periodic sides come in pairs and need a multiple of 4 "
                "cells, of 8 with flip and smoke.",
                domain_fields, domain);

#define WALL_FIELD(side, axis_, end)                                                               \
    {                                                                                              \
        .name = (side), .type = FIELD_CHOICE,                                                      \
        .offset = offsetof(domain, walls) + (2 * (axis_) + (end)) * sizeof(wall), .unit = "",      \
        .fallback = WALL_SLIP, .choices = scene_wall_words, .help = "how material meets this side" \
    }
static const field walls_fields[] = {
    WALL_FIELD("x_min", 0, 0), WALL_FIELD("x_max", 0, 1), WALL_FIELD("y_min", 1, 0),
    WALL_FIELD("y_max", 1, 1), WALL_FIELD("z_min", 2, 0), WALL_FIELD("z_max", 2, 1),
};
const field_table scene_walls_table =
    FIELD_TABLE("domain.walls", "One side each; z only in 3D.", walls_fields, domain);

#define WALL_VELOCITY_FIELD(side, axis_, end)                                                  \
    {                                                                                          \
        .name = (side), .type = FIELD_VECTOR,                                                  \
        .offset = offsetof(domain, wall_velocity) + (2 * (axis_) + (end)) * sizeof(double[3]), \
        .unit = "m/s", .fallback = 0, .min = -SPEED_MOST, .max = SPEED_MOST,                   \
        .help = "of this side, which must be sticky; nothing across it"                        \
    }
static const field wall_velocity_fields[] = {
    WALL_VELOCITY_FIELD("x_min", 0, 0), WALL_VELOCITY_FIELD("x_max", 0, 1),
    WALL_VELOCITY_FIELD("y_min", 1, 0), WALL_VELOCITY_FIELD("y_max", 1, 1),
    WALL_VELOCITY_FIELD("z_min", 2, 0), WALL_VELOCITY_FIELD("z_max", 2, 1),
};
const field_table scene_wall_velocity_table = FIELD_TABLE(
    "domain.wall_velocity", "One side each; z only in 3D.", wall_velocity_fields, domain);

static const field solver_fields[] = {
    TEXT_FIELD(solver_common, type, "the method; default: mpm"),
    NUMBER_FIELD(solver_common, dt, "s", 0, SMALLEST, 1e9,
                 "fixed time step; default 0: as long as is stable"),
    NUMBER_FIELD(solver_common, cfl, "", NAN, SMALLEST, ANY_MAX,
                 "how far the fastest motion goes in a step, in cells (solvers without a grid: in "
                 "spacings of particles); default and upper limit are each solver's own, see its "
                 "section"),
    INTEGER_FIELD(solver_common, max_steps, 0, 0, ANY_MAX,
                  "end the run after this many steps; 0: do not"),
};
const field_table scene_solver_table =
    FIELD_TABLE("solver", "Fields that every solver has.", solver_fields, solver_common);

static const field material_fields[] = {
    PART_FIELD("model", "word", true, "the material model"),
    COLOR_FIELD(material, "in pictures; default: the model's own, of a second one without a colour "
                          "one of a palette"),
    CHOICE_FIELD(material, look, NAN, scene_look_words,
                 "how it is drawn in 3D: as a clear `surface`, as bodies with an opaque `skin`, or "
                 "as single `grains`; default: as suits the model. Not for gas"),
    TEXT_FIELD(material, phase,
               "what its bodies and sources belong to where `coupling` is given; default: the "
               "material's name"),
    NUMBER_FIELD(
        material, pic_time, "s", NAN, 0, 1e9,
        "time in which the share of particles' motion that the grid does not hold fades to "
        "1/e, in integrators that keep some; it then takes the place of solver.alpha. 0: at "
        "once. Materials with one velocity, as without `coupling`, all keep the smallest share of "
        "them, solver.alpha for those without a pic_time (solver mpm)"),
};
static const char *const coupling_words[] = {"glued",    "contact",   "immiscible", "published",
                                             "miscible", "dissolves", NULL};
static const field coupling_fields[] = {
    PART_FIELD("between", "two words", false,
               "names of two phases; without it, the entry is for all pairs that no other names"),
    {.name = "type",
     .type = FIELD_CHOICE,
     .offset = offsetof(phase_coupling, kind),
     .unit = "",
     .required = true,
     .choices = coupling_words,
     .help = "`glued`: one velocity for both, as without coupling. `contact`: they push each other "
             "but do not go into each other, and part freely. `immiscible`: the same for liquids. "
             "`published`: the rule of Yan et al. 2018, to compare with; then for all pairs. "
             "`miscible`: liquids with one velocity that diffuse into each other. `dissolves`: "
             "contact of a solid with a liquid that dissolves it"},
    NUMBER_FIELD(phase_coupling, friction, "", 0, 0, 1e6, "Coulomb friction between the two"),
    NUMBER_FIELD(
        phase_coupling, beta, "", NAN, 0, 1,
        "share of the speed of approach that is taken away in a step; default: 1 for `immiscible` "
        "and between two solids, which creep into each other with less, else 0.3"),
    NUMBER_FIELD(phase_coupling, tau, "s", NAN, SMALLEST, 1e9,
                 "instead of beta: time in which it falls to 1/e, whatever the step"),
    NUMBER_FIELD(phase_coupling, diffusion, "m^2/s", NAN, 0, 1e9,
                 "of `miscible`: how fast the liquids mix. Of `dissolves`: how fast what is "
                 "dissolved spreads; default: 0, it stays where it was dissolved"),
    NUMBER_FIELD(
        phase_coupling, dissolution, "1/s", NAN, 0, 1e9,
        "of `dissolves`: kappa of Noyes and Whitney, dC/dt = kappa (saturation - C), C the "
        "mass fraction of the solid in the liquid around it. A rate by time: what an "
        "article gives for a step must be divided by the step"),
    NUMBER_FIELD(phase_coupling, saturation, "", 0.5, 1e-3, 1,
                 "of `dissolves`: mass fraction of the solid in the liquid at which no more "
                 "dissolves. A particle of the solid that has fallen to it becomes liquid"),
};
const char *const *const scene_coupling_words = coupling_words;
const field_table scene_coupling_table = FIELD_TABLE(
    "coupling",
    "How phases meet (solver mpm): a word for all pairs, as in `coupling: contact`, or a "
    "list. A phase is what has one velocity on the grid: a material, unless `phase` of "
    "materials, bodies or sources groups them otherwise. Pairs that are not listed are "
    "in `contact`.",
    coupling_fields, phase_coupling);

const field_table scene_material_table =
    FIELD_TABLE("materials.NAME", "Fields that every material has; the model brings the others.",
                material_fields, material);

/* ---- What is in it --------------------------------------------------------------------------- */

#define SOLVERS_OWN (-1) /* choose_sampling() in scene_bodies.c knows it */
#define JITTER_FIELD(type_)                                                                        \
    NUMBER_FIELD(type_, jitter, "", 0.5, 0, 1,                                                     \
                 "how far points leave the lattice, as a share of its spacing; giving it implies " \
                 "`sampling: jittered`")

static const field body_fields[] = {
    TEXT_FIELD(body, name, "default: body 1, body 2, ...; unique among bodies and sources"),
    PART_FIELD("material", "word", true, "name of one of the materials"),
    PART_FIELD("shape", "mapping", false,
               "what it fills; see shapes. Needed, but for cloth and strands"),
    PART_FIELD("fe", "mapping", false, "its shape as a mesh; see bodies.fe"),
    PART_FIELD("cloth", "mapping", false, "a piece of cloth; see bodies.cloth"),
    PART_FIELD("strands", "mapping", false, "strands; see bodies.strands"),
    PART_FIELD("hold", "list", false, "vertices of a mesh that are held; see bodies.hold"),
    GROUP_FIELD(body, contact, &scene_contact_table,
                "how a mesh resists being pressed, and rubs; see bodies.contact"),
    COLOR_FIELD(body, "in pictures; default: the material's. Not on a grid"),
    NUMBER_FIELD(body, particles_per_cell, "", NAN, 0.001, 1000, "default: 8 in 3D, 4 in 2D"),
    CHOICE_FIELD(
        body, sampling, SOLVERS_OWN, sampling_words,
        "a lattice; one disturbed at random; points without rows, yet nearly as even as a lattice; "
        "or random points that keep their distance; default: the solver's, see its section"),
    JITTER_FIELD(body),
    TEXT_FIELD(body, phase,
               "where `coupling` is given: what it belongs to; default: the material's"),
    VECTOR_FIELD(body, velocity, "m/s", 0, -SPEED_MOST, SPEED_MOST, "at the start"),
    SPIN_FIELD(body, spin, SPEED_MOST,
               "angular velocity at the start about the centre of mass; 2D: one number"),
    PAIR_FIELD(body, vortices, "", 0, -SPEED_MOST, SPEED_MOST,
               "speed U (m/s) and wave length L (m) of Taylor-Green vortices that are added to the "
               "velocity at the start: U sin(2 pi x/L) cos(2 pi y/L) along x, -U cos(2 pi x/L) "
               "sin(2 pi y/L) along y, with x and y from the domain's origin"),
    FLAG_FIELD(
        body, at_rest, false,
        "begins in balance with gravity, under its own weight and that of other bodies at rest "
        "above it, instead of falling into it and ringing; see docs/methods.md. Solvers mpm and "
        "sph; in flip and smoke there is nothing to do"),
    PART_FIELD("flow", "list", false,
               "more of its velocity at the start, in parts that are added to these; see "
               "bodies.flow"),
};
static const field flow_fields[] = {
    LINEAR_MOTION_FIELDS(
        flow_part, scene_axis_words,
        "rate of stretching along each axis: [-A, A] is v = (-A x, A y) from the centre"),
    PAIR_FIELD(flow_part, vortices, "", 0, ANY_MIN, ANY_MAX,
               "speed and wave length, as in `vortices` of the body"),
    VECTOR_FIELD(
        flow_part, center, "m", NAN, ANY_MIN, ANY_MAX,
        "where rotation, strain and shear are at rest; default: the body's centre of mass"),
};
const field_table scene_flow_table = FIELD_TABLE(
    "bodies.flow",
    "Each entry is a motion, and all are added up: `flow: [{rotate: 2}, {strain: [-1, 1], center: "
    "[0, 0]}]`. Where a solver keeps the gradient of the velocity (apic and its kin), that begins "
    "with the exact one.",
    flow_fields, flow_part);
const field_table scene_body_table =
    FIELD_TABLE("bodies", "Each entry is a body.", body_fields, body);

static const field collider_fields[] = {
    TEXT_FIELD(collider, name, "default: collider 1, collider 2, ...; unique"),
    PART_FIELD("shape", "mapping", true, "its solid; see shapes"),
    COLOR_FIELD(collider, "in pictures; default: grey"),
    CHOICE_FIELD(collider, contact, CONTACT_SEPARATE, contact_words,
                 "material sticks to it, slips along it, or may also leave it"),
    NUMBER_FIELD(collider, friction, "", 0, 0, 100,
                 "Coulomb friction coefficient of slip and separate contact; slip contact with "
                 "friction lets "
                 "go of material as separate does (solvers mpm and flip)"),
    PART_FIELD("motion", "mapping", false, "how it moves; see motion"),
    FLAG_FIELD(
        collider, driven, false,
        "moves as the program says (spate_simulation_set_pose, docs/library.md) or `events`; "
        "until then it is at rest. Its pivot is that of `motion`, which may have one key, or "
        "else the middle of its shape"),
    NUMBER_FIELD(
        collider, from, "s", 0, 0, ANY_MAX,
        "when it appears; particles in its place are pushed out (flip), taken away (sph, column "
        "`drained`) or left to the contact (mpm)"),
    NUMBER_FIELD(collider, until, "s", HUGE_VAL, 0, ANY_MAX,
                 "when it vanishes, as a gate that opens"),
};
const field_table scene_collider_table =
    FIELD_TABLE("colliders", "Each entry is a collider.", collider_fields, collider);

static const field source_fields[] = {
    TEXT_FIELD(source, name, "default: source 1, source 2, ...; unique among bodies and sources"),
    PART_FIELD("material", "word", true, "name of one of the materials"),
    PART_FIELD("shape", "mapping", true, "where material appears; see shapes"),
    COLOR_FIELD(source, "in pictures; default: the material's. Not on a grid"),
    VECTOR_FIELD(source, velocity, "m/s", 0, -SPEED_MOST, SPEED_MOST,
                 "of the material that appears"),
    NUMBER_FIELD(source, from, "s", 0, 0, ANY_MAX, "when it begins"),
    NUMBER_FIELD(source, until, "s", HUGE_VAL, 0, ANY_MAX, "when it ends"),
    INTEGER_FIELD(source, limit, HUGE_VAL, 0, ANY_MAX, "most particles it makes in all"),
    NUMBER_FIELD(source, particles_per_cell, "", NAN, 0.001, 1000, "default: 8 in 3D, 4 in 2D"),
    CHOICE_FIELD(source, sampling, SOLVERS_OWN, source_sampling_words,
                 "as of bodies; default: the solver's, see its section"),
    JITTER_FIELD(source),
    TEXT_FIELD(source, phase, "as of bodies"),
};
const field_table scene_source_table =
    FIELD_TABLE("sources", "Each entry is a source.", source_fields, source);

static const field sink_fields[] = {
    TEXT_FIELD(sink, name, "default: sink 1, sink 2, ...; unique"),
    PART_FIELD("shape", "mapping", true, "where particles, or smoke, are taken away; see shapes"),
    NUMBER_FIELD(sink, from, "s", 0, 0, ANY_MAX, "when it begins"),
    NUMBER_FIELD(sink, until, "s", HUGE_VAL, 0, ANY_MAX, "when it ends"),
};
const field_table scene_sink_table = FIELD_TABLE(
    "sinks", "Each entry is a sink: particles or smoke that a step brings into it are gone.",
    sink_fields, sink);

static const field motion_fields[] = {
    VECTOR_FIELD(motion, pivot, "m", 0, ANY_MIN, ANY_MAX, "the point it turns about, at rest"),
    PART_FIELD("keys", "list", true, "poses in the order of their times; held before and after"),
    {.name = "interpolate",
     .type = FIELD_CHOICE,
     .offset = offsetof(motion, interpolation),
     .unit = "",
     .fallback = MOTION_LINEAR,
     .choices = interpolation_words,
     .help = "straight between keys, or with continuous velocity"},
    FLAG_FIELD(motion, repeat, false, "start again after the last key"),
};
const field_table scene_motion_table =
    FIELD_TABLE("motion", "Rigid motion through keys.", motion_fields, motion);

static const field motion_key_fields[] = {
    REQUIRED_NUMBER(motion_key, t, "s", ANY_MIN, ANY_MAX, "time of the pose"),
    VECTOR_FIELD(motion_key, translate, "m", NAN, ANY_MIN, ANY_MAX,
                 "how far from rest; default: as in the key before"),
    PART_FIELD("rotate", "number or list", false,
               "2D: degrees; 3D: [axis_x, axis_y, axis_z, degrees]; default: as in the key before"),
};
const field_table scene_motion_key_table =
    FIELD_TABLE("motion.keys", "Each entry is a pose.", motion_key_fields, motion_key);

static const field output_fields[] = {
    PART_FIELD("particles", "word or list", false,
               "formats of the particle files: `vtp` (default), `ply`, `bgeo`, or `none`"),
    PART_FIELD("fields", "word or list", false,
               "more attributes of particles, e.g. [J, density]; docs/output.md lists them"),
    PART_FIELD("meshes", "word or list", false,
               "files of the bodies that are meshes (cloth, strands, skins of finite elements): "
               "`vtp` (default, which pictures are drawn from), `ply`, `obj`, or `none`"),
    PART_FIELD("surface", "word or list", false,
               "meshes of the surface of all liquids, in 2D their outline: `none` (default), "
               "`ply`, `obj`, "
               "`vtp`"),
    CHOICE_FIELD(output_common, surface_method, SURFACE_ANISOTROPIC, surface_method_words,
                 "how particles become a surface, in files and pictures: by kernels that are "
                 "stretched along it, by balls, or by the nearest stretched particle"),
    INTEGER_FIELD(output_common, surface_resolution, 2, 1, 4,
                  "how much finer than the grid the surface's lattice is, along each axis"),
    INTEGER_FIELD(output_common, surface_smoothing, 10, 0, 100,
                  "passes that smooth the surface and keep its volume; 0: none"),
    CHOICE_FIELD(output_common, volume, 0, volume_words,
                 "files of the fields on the grid, by solvers that have any to show"),
    CHOICE_FIELD(output_common, up, UP_AS_SCENE, up_words,
                 "the axis that points up, against gravity, in files of particles, surfaces and "
                 "fields: as in the scene, or turned to y or z; 3D only"),
    INTEGER_FIELD(output_common, checkpoint, 10, 0, 1e9,
                  "frames between checkpoints; 0: only at the end"),
};
const field_table scene_output_table =
    FIELD_TABLE("output", "What a run writes.", output_fields, output_common);

#define FOV_LEAST 1
#define FOV_MOST  170
#define TURNS     36000 /* degrees: a hundred of them */

static const field camera_fields[] = {
    VECTOR_FIELD(
        camera, from, "m", NAN, ANY_MIN, ANY_MAX,
        "where it stands; 2D: a corner of what is shown; default: so that the whole domain "
        "is seen"),
    VECTOR_FIELD(camera, to, "m", NAN, ANY_MIN, ANY_MAX,
                 "what it looks at; 2D: the opposite corner; with `from`, or neither"),
    NUMBER_FIELD(
        camera, fov, "deg", NAN, FOV_LEAST, FOV_MOST,
        "vertical angle of view; default: 35, or 30 where the whole domain is seen; not in "
        "2D"),
    NUMBER_FIELD(camera, orbit, "deg", 0, -TURNS, TURNS,
                 "how far it circles what it looks at in the course of the run, counter-clockwise "
                 "from above; not in 2D"),
    PART_FIELD("keys", "list", false, "views in the order of their times; held before and after"),
    {.name = "interpolate",
     .type = FIELD_CHOICE,
     .offset = offsetof(camera, path.interpolation),
     .unit = "",
     .fallback = MOTION_SMOOTH,
     .choices = interpolation_words,
     .help = "between keys: with continuous velocity, at rest at the ends; or straight"},
};
const field_table scene_camera_table = FIELD_TABLE(
    "camera",
    "The view of `spate render`, which may be given another by its options: none of this "
    "changes a run.",
    camera_fields, camera);

static const field camera_key_fields[] = {
    REQUIRED_NUMBER(camera_key, t, "s", ANY_MIN, ANY_MAX, "simulated time of the view"),
    VECTOR_FIELD(camera_key, from, "m", NAN, ANY_MIN, ANY_MAX,
                 "where it stands; default: as in the key before, at first as in the camera"),
    VECTOR_FIELD(camera_key, to, "m", NAN, ANY_MIN, ANY_MAX, "what it looks at; default: likewise"),
    NUMBER_FIELD(camera_key, fov, "deg", NAN, FOV_LEAST, FOV_MOST,
                 "vertical angle of view; default: likewise"),
};
const field_table scene_camera_key_table = FIELD_TABLE(
    "camera.keys",
    "Each entry is a view: `keys: [{t: 0, from: [3, 1, 2], to: [0.5, 0.2, 0.5]}, {t: 1, "
    "from: [1, 1, 3], fov: 25}]`.",
    camera_key_fields, camera_key);

/* ---- Probes ---------------------------------------------------------------------------------- */

#define OF_FIELD PART_FIELD("of", "word", false, "name of a body or source; default: everything")
static const field probe_fields[] = {
    TEXT_FIELD(probe, name, "name of the column; default: probe 1, probe 2, ...; unique"),
    PART_FIELD("extent", "mapping", false, "how far material reaches along an axis"),
    PART_FIELD("height", "mapping", false, "the highest material above a point of the floor"),
    PART_FIELD("depth", "mapping", false, "volume of material in a column over its area"),
    PART_FIELD("pressure", "mapping", false, "pressure at a point"),
    PART_FIELD("velocity", "mapping", false, "velocity at a point, a column for each axis"),
    PART_FIELD("center_of_mass", "mapping", false, "centre of mass, a column for each axis"),
    PART_FIELD("count", "mapping", false, "particles inside a shape"),
    PART_FIELD("mean_speed", "mapping", false, "mean speed, of all or inside a shape"),
    PART_FIELD("spread", "mapping", false, "how far material lies from its centre of mass"),
    PART_FIELD("pieces", "mapping", false, "into how many pieces material has come apart"),
    PART_FIELD("largest_piece", "mapping", false, "share of particles in the largest piece"),
    PART_FIELD("mixing", "mapping", false, "how far the order along an axis has been lost"),
    PART_FIELD("contact_force", "mapping", false, "force of a body on a collider (solver mpm)"),
};
const field_table scene_probe_table = FIELD_TABLE(
    "probes",
    "Each entry has a name and one of the kinds. A probe is measured once a frame; where there is "
    "nothing to measure, its column is empty.",
    probe_fields, probe);

static const field extent_fields[] = {
    OF_FIELD,
    {.name = "axis",
     .type = FIELD_CHOICE,
     .offset = offsetof(probe, axis),
     .unit = "",
     .required = true,
     .choices = scene_axis_words,
     .help = "along which axis"},
    {.name = "side",
     .type = FIELD_CHOICE,
     .offset = offsetof(probe, side),
     .unit = "",
     .required = true,
     .choices = side_words,
     .help = "the lowest or the highest coordinate"},
};
static const field height_fields[] = {
    OF_FIELD,
    PART_FIELD("at", "number or list", true, "2D: x; 3D: [x, z]"),
};
static const field depth_fields[] = {
    OF_FIELD,
    PART_FIELD("at", "number or list", true, "2D: x; 3D: [x, z]: the middle of the column"),
    NUMBER_FIELD(probe, width, "m", NAN, SMALLEST, ANY_MAX,
                 "of the column, along x and in 3D along z; default: dx"),
};
static const field pressure_fields[] = {
    OF_FIELD,
    REQUIRED_VECTOR(probe, at, "m", ANY_MIN, ANY_MAX, "position"),
};
static const field velocity_fields[] = {
    REQUIRED_VECTOR(probe, at, "m", ANY_MIN, ANY_MAX, "position"),
};
static const field center_fields[] = {OF_FIELD};
static const field count_fields[] = {
    OF_FIELD,
    PART_FIELD("shape", "mapping", true, "where particles are counted, by their middles"),
};
static const field mean_speed_fields[] = {
    OF_FIELD,
    PART_FIELD("shape", "mapping", false, "only particles inside it; default: everywhere"),
};
static const field spread_fields[] = {
    OF_FIELD,
    CHOICE_FIELD(probe, axis, AXIS_ALL, spread_words,
                 "along an axis, in the horizontal plane (all but y), or in all directions"),
};
#define GAP_FIELD                                         \
    NUMBER_FIELD(probe, gap, "m", NAN, SMALLEST, ANY_MAX, \
                 "particles nearer than this hang together; default: dx")
static const field pieces_fields[] = {
    OF_FIELD,
    GAP_FIELD,
    INTEGER_FIELD(probe, at_least, 1, 1, ANY_MAX, "particles of the smallest piece that counts"),
};
static const field largest_piece_fields[] = {OF_FIELD, GAP_FIELD};
static const field mixing_fields[] = {
    PART_FIELD("of", "word", false, "name of a body; default: all bodies"),
    {.name = "axis",
     .type = FIELD_CHOICE,
     .offset = offsetof(probe, axis),
     .unit = "",
     .required = true,
     .choices = scene_axis_words,
     .help = "the order at the start was along it"},
};

static const field contact_force_fields[] = {
    PART_FIELD("of", "word", true, "name of a body or source"),
    PART_FIELD("on", "word", true, "name of a collider"),
};

const probe_declaration scene_probes[PROBE_DECLARATIONS] = {
    {"extent", PROBE_EXTENT,
     FIELD_TABLE("probes: extent", "How far material reaches along an axis.", extent_fields,
                 probe)},
    {"height", PROBE_HEIGHT,
     FIELD_TABLE("probes: height", "The highest material above a point of the floor.",
                 height_fields, probe)},
    {"depth", PROBE_DEPTH,
     FIELD_TABLE("probes: depth",
                 "How deep material lies above a point of the floor: its volume in a column, over "
                 "the column's area. Droplets and empty space count for what they are, where "
                 "`height` takes the highest particle.",
                 depth_fields, probe)},
    {"pressure", PROBE_PRESSURE,
     FIELD_TABLE("probes: pressure", "Pressure at a point.", pressure_fields, probe)},
    {"velocity", PROBE_VELOCITY,
     FIELD_TABLE(
         "probes: velocity",
         "Velocity at a point: columns NAME_x, NAME_y, NAME_z. Of the grid where the solver "
         "has one to ask, else the mean of the particles within dx.",
         velocity_fields, probe)},
    {"center_of_mass", PROBE_CENTER_OF_MASS,
     FIELD_TABLE("probes: center_of_mass", "Columns NAME_x, NAME_y, NAME_z.", center_fields,
                 probe)},
    {"count", PROBE_COUNT,
     FIELD_TABLE("probes: count", "How many particles are inside a shape.", count_fields, probe)},
    {"mean_speed", PROBE_MEAN_SPEED,
     FIELD_TABLE("probes: mean_speed", "Mean of the particles' speeds, weighted by mass.",
                 mean_speed_fields, probe)},
    {"spread", PROBE_SPREAD,
     FIELD_TABLE("probes: spread",
                 "Root of the mean square distance from the centre of mass, weighted by mass. "
                 "Across a periodic side it is the shorter way round.",
                 spread_fields, probe)},
    {"pieces", PROBE_PIECES,
     FIELD_TABLE("probes: pieces",
                 "How many pieces there are, where particles nearer than the gap hang together.",
                 pieces_fields, probe)},
    {"largest_piece", PROBE_LARGEST_PIECE,
     FIELD_TABLE("probes: largest_piece",
                 "The share of particles, by number, in the piece that has most of them.",
                 largest_piece_fields, probe)},
    {"mixing", PROBE_MIXING,
     FIELD_TABLE("probes: mixing",
                 "How far particles that are neighbours now have lost the order along an axis that "
                 "they had at the start: 0 where layers are only turned, sheared or flattened, 1 "
                 "where neighbours come from anywhere. Particles of bodies alone, and of those the "
                 "ones that have enough neighbours.",
                 mixing_fields, probe)},
    {"contact_force", PROBE_CONTACT_FORCE,
     FIELD_TABLE("probes: contact_force",
                 "What a body or source does to a collider, the mean over a frame: columns NAME_x, "
                 "NAME_y, NAME_z. Where bodies share a node of the grid, its force is shared by "
                 "their masses there; the forces of all are those on the collider. Up to four "
                 "bodies can be asked for. Solver mpm.",
                 contact_force_fields, probe)},
};

/* ---- Shapes ---------------------------------------------------------------------------------- */

#define SHAPE_VECTOR(name_, member, help_)                                                     \
    {                                                                                          \
        .name = (name_), .type = FIELD_VECTOR, .offset = offsetof(shape, member), .unit = "m", \
        .required = true, .min = ANY_MIN, .max = ANY_MAX, .help = (help_)                      \
    }
#define SHAPE_LENGTH(member, help_) REQUIRED_NUMBER(shape, member, "m", SMALLEST, ANY_MAX, help_)

static const field box_fields[] = {
    SHAPE_VECTOR("min", a, "lowest corner"),
    SHAPE_VECTOR("max", b, "highest corner"),
};
static const field rounded_box_fields[] = {
    SHAPE_VECTOR("min", a, "lowest corner"),
    SHAPE_VECTOR("max", b, "highest corner"),
    SHAPE_LENGTH(radius, "of the rounded edges, at most half the shortest side"),
};
static const field sphere_fields[] = {
    SHAPE_VECTOR("center", a, "its middle"),
    SHAPE_LENGTH(radius, "from the middle to the surface"),
};
static const field rod_fields[] = {
    SHAPE_VECTOR("from", a, "one end of the axis"),
    SHAPE_VECTOR("to", b, "the other end"),
    SHAPE_LENGTH(radius, "about the axis"),
};
static const field torus_fields[] = {
    SHAPE_VECTOR("center", a, "its middle"),
    {.name = "axis",
     .type = FIELD_VECTOR,
     .offset = offsetof(shape, b),
     .unit = "",
     .fallback = NAN,
     .min = ANY_MIN,
     .max = ANY_MAX,
     .help = "direction through the hole, of any length; default: [0, 1, 0]; not in 2D"},
    SHAPE_LENGTH(radius, "of the ring"),
    SHAPE_LENGTH(thickness, "radius of the tube, less than that of the ring"),
};
static const field plane_fields[] = {
    SHAPE_VECTOR("point", a, "any point of the plane"),
    {.name = "normal",
     .type = FIELD_VECTOR,
     .offset = offsetof(shape, b),
     .unit = "",
     .required = true,
     .min = ANY_MIN,
     .max = ANY_MAX,
     .help = "out of the solid, of any length"},
};
static const field mesh_fields[] = {
    PART_FIELD(
        "file", "word", true,
        "OBJ, PLY or STL, in the scene's folder or below it, e.g. meshes/rock.obj; `--set` may "
        "name any file"),
    FLAG_FIELD(shape, outside, false,
               "the file may lie outside the scene's folder; a run keeps a copy of it"),
    PART_FIELD(
        "frames", "mapping", false,
        "of a collider or source that deforms: the file is a numbered sequence; see mesh.frames"),
};

#define NO_FIELDS(title, about) \
    { .name = (title), .help = (about) }

const shape_declaration scene_shapes[SHAPE_DECLARATIONS] = {
    {"points", SHAPE_POINTS,
     NO_FIELDS("points", "A list of positions, one particle each: `points: [[0, 1, 0]]`.")},
    {"box", SHAPE_BOX, FIELD_TABLE("box", "A box along the axes.", box_fields, shape)},
    {"rounded_box", SHAPE_ROUNDED_BOX,
     FIELD_TABLE("rounded_box", "A box with round edges.", rounded_box_fields, shape)},
    {"sphere", SHAPE_SPHERE, FIELD_TABLE("sphere", "A ball; 2D: a disc.", sphere_fields, shape)},
    {"cylinder", SHAPE_CYLINDER,
     FIELD_TABLE("cylinder", "A cylinder with flat ends; 2D: a bar.", rod_fields, shape)},
    {"capsule", SHAPE_CAPSULE,
     FIELD_TABLE("capsule", "A cylinder with round ends.", rod_fields, shape)},
    {"torus", SHAPE_TORUS, FIELD_TABLE("torus", "A ring.", torus_fields, shape)},
    {"plane", SHAPE_PLANE, FIELD_TABLE("plane", "Everything behind a plane.", plane_fields, shape)},
    {"polygon", SHAPE_POLYGON,
     NO_FIELDS("polygon", "2D: a list of three corners or more, in order round it: `polygon: "
                          "[[0, 0], [1, 0], [0, 1]]`.")},
    {"mesh", SHAPE_MESH, FIELD_TABLE("mesh", "The inside of a triangle mesh.", mesh_fields, shape)},
    {"union", SHAPE_UNION, NO_FIELDS("union", "A list of shapes: what is in any of them.")},
    {"difference", SHAPE_DIFFERENCE,
     NO_FIELDS("difference", "A list of shapes: the first without the others.")},
    {"intersection", SHAPE_INTERSECTION,
     NO_FIELDS("intersection", "A list of shapes: what is in all of them.")},
};

static const field shape_fields[] = {
    PART_FIELD("points", "list", false, "positions"),
    PART_FIELD("box", "mapping", false, "a box along the axes"),
    PART_FIELD("rounded_box", "mapping", false, "a box with round edges"),
    PART_FIELD("sphere", "mapping", false, "a ball; 2D: a disc"),
    PART_FIELD("cylinder", "mapping", false, "a cylinder; 2D: a bar"),
    PART_FIELD("capsule", "mapping", false, "a cylinder with round ends"),
    PART_FIELD("torus", "mapping", false, "a ring"),
    PART_FIELD("plane", "mapping", false, "everything behind a plane"),
    PART_FIELD("polygon", "list", false, "2D: corners in order"),
    PART_FIELD("mesh", "mapping", false, "the inside of a triangle mesh"),
    PART_FIELD("union", "list", false, "what is in any of the shapes"),
    PART_FIELD("difference", "list", false, "the first shape without the others"),
    PART_FIELD("intersection", "list", false, "what is in all of the shapes"),
    NUMBERS_FIELD(shape_placement, scale, "", 1, SMALLEST, 1e9,
                  "about the origin, first; one factor for each axis stretches points, boxes, "
                  "spheres, planes, polygons, meshes, cylinders along themselves, and unions, "
                  "differences and intersections of these"),
    PART_FIELD("rotate", "number or list", false,
               "about the origin, second; 2D: degrees; 3D: [axis_x, axis_y, axis_z, degrees]"),
    VECTOR_FIELD(shape_placement, translate, "m", 0, ANY_MIN, ANY_MAX, "last"),
};
const field_table scene_shape_table =
    FIELD_TABLE("shape",
                "One of the kinds, and where wanted a placement beside it: `{sphere: {center: [0, "
                "0, 0], radius: 1}, scale: 2, translate: [1, 0, 0]}`.",
                shape_fields, shape_placement);
