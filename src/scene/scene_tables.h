/* The field tables of a scene that do not depend on solver or material, and what they fill. */
#ifndef SPATE_SCENE_TABLES_H
#define SPATE_SCENE_TABLES_H

#include "core/fields.h"
#include "scene/scene.h"

typedef struct scene_top {
    int64_t spate, dimension, seed;
    const char *name;
    int units;
    double gravity[3];
    double duration, fps;
} scene_top;

typedef struct solver_common {
    const char *type;
    double dt, cfl;
    int64_t max_steps;
} solver_common;

typedef struct output_common {
    int64_t checkpoint, surface_resolution, surface_smoothing;
    int volume; /* 0: vti, 1: none */
    int up;     /* up_axis */
    int surface_method;
} output_common;

typedef struct camera_key {
    double t, from[3], to[3], fov;
} camera_key;

extern const field_table scene_top_table, scene_domain_table, scene_walls_table,
    scene_wall_velocity_table, scene_solver_table, scene_material_table, scene_body_table,
    scene_flow_table, scene_collider_table, scene_source_table, scene_sink_table,
    scene_motion_table, scene_motion_key_table, scene_probe_table, scene_output_table,
    scene_camera_table, scene_camera_key_table, scene_shape_table, scene_fe_table,
    scene_cloth_table, scene_strands_table, scene_brush_table, scene_hair_table, scene_frames_table,
    scene_body_file_table, scene_hold_table, scene_coupling_table;

extern const field_table scene_contact_table;

/* Words in the order of their enums, closed by NULL. */
extern const char *const scene_wall_words[], *const scene_axis_words[];
/* Of material_look, all but the last, which no scene asks for. */
extern const char *const scene_look_words[];
extern const char *const *const scene_coupling_words;

/* A shape: `box: {min: ..., max: ...}`; its table fills a struct shape. */
typedef struct shape_declaration {
    const char *name;
    shape_kind kind;
    field_table table; /* no fields: the value is a list */
} shape_declaration;

/* What may stand beside the kind of a shape. */
typedef struct shape_placement {
    number_list scale; /* one factor, or one an axis */
    double translate[3];
} shape_placement;

enum { SHAPE_DECLARATIONS = 13, PROBE_DECLARATIONS = 13 };
extern const shape_declaration scene_shapes[SHAPE_DECLARATIONS];

/* A probe: `extent: {axis: x, side: max}`; its table fills a struct probe. */
typedef struct probe_declaration {
    const char *name;
    probe_kind kind;
    field_table table;
} probe_declaration;

extern const probe_declaration scene_probes[PROBE_DECLARATIONS];

/* The part of docs/scene.md that a table makes: heading, help and a row a field. */
void scene_describe_table(spate_context *context, const field_table *table,
                          void (*write)(const char *, void *), void *user);

#endif
