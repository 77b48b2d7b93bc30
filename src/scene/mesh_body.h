/*
 * Bodies as meshes: what a body with `fe`, `cloth` or `strands` is made of at rest. Vertices become
 * particles, in their order; elements are what holds them together (solver/lagrangian).
 *
 *   fe       a shape as triangles in 2D, tetrahedra in 3D (fe_mesh.c)
 *   cloth    a parallelogram of triangles in 3D
 *   strands  polylines, straight or curled: in rows, as a brush, as hair on a surface (strands.h)
 *
 * `contact` makes its surface resist being pressed, and rub on others. `hold` fixes some of the
 * vertices: they stay, or move with keys.
 */
#ifndef SPATE_SCENE_MESH_BODY_H
#define SPATE_SCENE_MESH_BODY_H

#include "core/arena.h"
#include "scene/motion.h"
#include "scene/shape.h"

typedef enum mesh_kind { MESH_NONE, MESH_FE, MESH_CLOTH, MESH_STRANDS } mesh_kind;
typedef enum mesh_diagonals { DIAGONALS_ALTERNATING, DIAGONALS_ONE } mesh_diagonals;
typedef enum mesh_bending { BENDING_SHAPE_OPERATOR, BENDING_HINGE } mesh_bending;

typedef enum mesh_stepping { STEP_EXPLICIT, STEP_IMPLICIT } mesh_stepping;

/* How the elements' forces are advanced in time (solver/lagrangian/mesh_step.h). */
typedef struct stepping_fields {
    int step;
    double damping;
} stepping_fields;

/* What a scene gives. */
typedef struct fe_fields {
    double spacing;
    int diagonals;
    stepping_fields stepping;
} fe_fields;

typedef struct cloth_fields {
    double corner[3], along[3], across[3];
    double spacing, thickness;
    int diagonals, bending;
    stepping_fields stepping;
} cloth_fields;

/* Which vertices a hold may have: the first two of a strand, its last two, both; those on the edge
 * of a cloth, or the surface of finite elements. */
typedef enum hold_part { HOLD_ALL, HOLD_ROOTS, HOLD_TIPS, HOLD_ENDS, HOLD_RIM } hold_part;

/* Contact elements (solver/lagrangian/contact_element.h). */
typedef struct contact_moduli {
    double stiffness, shear; /* Pa */
    double friction_angle;   /* degrees */
    double thickness;        /* m */
} contact_moduli;

typedef struct mesh_hold {
    shape *shape; /* NULL: anywhere */
    int of;       /* hold_part */
    motion motion;
    double until; /* s; HUGE_VAL by default */
} mesh_hold;

typedef struct mesh_body {
    mesh_kind kind;
    int64_t vertex_count;
    double (*vertices)[3];
    int64_t element_count;
    int32_t (*elements)[4]; /* fe: dim + 1 corners with a positive volume; cloth: 3 */
    int64_t strand_count;
    int64_t *strand_first; /* strand s: vertices strand_first[s] .. strand_first[s + 1] - 1 */
    double thickness, radius;
    double spacing;
    mesh_bending bending;
    stepping_fields stepping;
    const shape *solid; /* fe: what it fills */
    mesh_hold *holds;
    int hold_count;
    int32_t *held; /* by vertex: the first hold that has it, or -1; NULL: there are none */
} mesh_body;

/* The most vertices of one body. */
enum { MESH_VERTICES_MOST = 100000000 };

/* Memory from the arena. A mesh that has no element, or too many vertices, is left without
 * vertices (fe) or with vertex_count beyond MESH_VERTICES_MOST. */
spate_status mesh_from_shape(arena *a, const shape *s, int dim, const fe_fields *g, mesh_body *out);
spate_status mesh_of_cloth(arena *a, const cloth_fields *g, mesh_body *out);
/* Faces of fe elements that one element alone has, outwards; 2D: edges, [2] is -1. */
spate_status mesh_body_skin(arena *a, const mesh_body *m, int dim, int32_t (**faces)[3],
                            int64_t *count);
/* How many pieces of about this length make another; at least one. */
int64_t mesh_pieces(double length, double spacing);

#endif
