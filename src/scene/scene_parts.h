/* The parts of the scene reader, each of which reads one part of the tree into reader.scene. */
#ifndef SPATE_SCENE_PARTS_H
#define SPATE_SCENE_PARTS_H

#include "scene/reader.h"

spate_status scene_read_domain(reader *r, const yaml_value *v);
/* What of the domain the solver decides, once that is known: periods, velocities of walls. */
spate_status scene_read_domain_for_solver(reader *r, const yaml_value *v);
spate_status scene_read_solver(reader *r, const yaml_value *v);
spate_status scene_read_materials(reader *r, const yaml_value *v);
spate_status scene_read_output(reader *r, const yaml_value *v);
spate_status scene_read_camera(reader *r, const yaml_value *v);

spate_status scene_read_bodies(reader *r, const yaml_value *v);
spate_status scene_read_colliders(reader *r, const yaml_value *v);
spate_status scene_read_sources(reader *r, const yaml_value *v);
spate_status scene_read_sinks(reader *r, const yaml_value *v);
spate_status scene_read_probes(reader *r, const yaml_value *v);
spate_status scene_read_forces(reader *r, const yaml_value *v);
spate_status scene_read_events(reader *r, const yaml_value *v);
/* Phases of bodies and sources, and how they meet; NULL: the scene does not say (scene_coupling.c).
 */
spate_status scene_read_coupling(reader *r, const yaml_value *v);
/* Of an entry of the couplings: whether a fixed step can follow its rates; and of all of them: the
 * phases that mix (scene_mixtures.c). */
spate_status scene_check_steps(reader *r, const yaml_value *v, const phase_coupling *c);
spate_status scene_read_mixtures(reader *r, const yaml_value *v);

/* A body as a mesh, where it is one: after its shape, which it replaces. */
spate_status scene_read_mesh(reader *r, const yaml_value *mapping, body *b);
/* Its contact elements: defaults that depend on the mesh. */
spate_status scene_check_contact(reader *r, const yaml_value *mapping, body *b);
/* Warns of meshes that begin so close that the grid moves them as one (scene_close.c). */
spate_status scene_warn_of_close(reader *r);
/* Whether it needs a shape. */
bool scene_body_has_shape(const yaml_value *mapping);

/* Whether a side has a length, and whether two, `along` and `across`, have two directions. */
spate_status scene_check_side(reader *r, const yaml_value *v, const char *name,
                              const double side[3]);
spate_status scene_check_sides(reader *r, const yaml_value *v, const double along[3],
                               const double across[3]);
/* Holds of a body, and after all colliders were read, the grips of those that are no meshes
 * (scene_holds.c). */
spate_status scene_read_holds(reader *r, const yaml_value *v, body *b);
spate_status scene_add_grips(reader *r, const yaml_value *root);
/* Where the mesh of a file is put, and reading it (scene_body_files.c); the fields are those of
 * scene_body_file_table, besides a kind's own. */
typedef struct body_file {
    double scale, translate[3];
} body_file;
spate_status scene_read_body_file(reader *r, const yaml_value *v, mesh_kind kind,
                                  const body_file *at, mesh_body *out);
/* For the random places of the body that is read. */
uint64_t scene_body_seed(const reader *r);
/* Strands: in rows, a brush, hair or a file (scene_strands.c). */
spate_status scene_read_strands(reader *r, const yaml_value *v, body *b);

/* Reads the file that the field `file` of a mapping names, once for each parser, by the parser.
 * It must lie below the scene's folder unless `outside` is allowed. */
spate_status scene_read_file(reader *r, const yaml_value *mapping, bool outside, file_parser parse,
                             void **out);
/* A file is named from the scene's folder and lies below it. */
spate_status scene_check_file_name(reader *r, const yaml_value *v, const char *file);
/* Reads one of several files that a field names; the parser finds `content` in *out. */
spate_status scene_read_numbered_file(reader *r, const yaml_value *v, const char *file,
                                      file_parser parse, void *content);
/* A mesh that deforms (scene_sequences.c): `frames` beside its file. Such a shape is refused with a
 * name of what it was to be, where shapes do not change. */
spate_status scene_read_sequence(reader *r, const yaml_value *mapping, shape *s);
spate_status scene_refuse_sequence(reader *r, const yaml_value *at, const shape *s,
                                   const char *noun);
/* Its vertices as the shape is placed, which then has no placement of its own. */
spate_status scene_place_sequence(reader *r, shape *s);
spate_status scene_read_shape(reader *r, const yaml_value *v, shape **out);
spate_status scene_read_motion(reader *r, const yaml_value *v, motion *out);
/* 2D: degrees about z; 3D: [x, y, z, degrees]. The axis becomes a unit vector, the angle radians.
 */
spate_status scene_read_rotation(reader *r, const yaml_value *v, double axis[3], double *angle);

#endif
