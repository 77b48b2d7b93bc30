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
/* Whether it needs a shape. */
bool scene_body_has_shape(const yaml_value *mapping);

spate_status scene_read_shape(reader *r, const yaml_value *v, shape **out);
spate_status scene_read_motion(reader *r, const yaml_value *v, motion *out);
/* 2D: degrees about z; 3D: [x, y, z, degrees]. The axis becomes a unit vector, the angle radians.
 */
spate_status scene_read_rotation(reader *r, const yaml_value *v, double axis[3], double *angle);

#endif
